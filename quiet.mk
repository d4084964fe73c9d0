# SPDX-License-Identifier: LGPL-2.1-or-later
#
# One short line for each thing that make builds; make V=1 shows the commands instead, make -s
# neither.  For inclusion by the makefiles:
#
#	$(call run,CC,$<) $(CC) ... -o $@ $<
run = $(if $(filter 1,$(V)),,@$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,printf '%-4s %s\n' '$1' '$2'; ))
