# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The page of `cudatrace export --format html`: one file without data, which the command holds.
# Included by cli/files.mk.  esbuild and uPlot come from npm, by the versions of the lock file.
# Where they cannot be had the file is empty, and the command says that this build lacks the
# format.  All builds share the file, so that npm is asked once.
HTML_TEMPLATE := build/html/template.html
HTML_SRCS := $(wildcard $(addprefix cli/export/html/page/,*.* make-template src/*.js src/*/*.js))

$(HTML_TEMPLATE): $(HTML_SRCS)
	$(call run,PAGE,$@) cli/export/html/page/make-template $@
