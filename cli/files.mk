# SPDX-License-Identifier: LGPL-2.1-or-later
# The command line: every source below cli/ belongs to it.  Includes are relative to cli/,
# those of the ABI to the top folder.
CLI_SRCS := $(sort $(wildcard cli/*.c cli/*/*.c cli/*/*/*.c))
CLI_CPPFLAGS := -I. -Icli
# libiberty demangles kernels' names (Debian: libiberty-dev).
CLI_LIBS := -liberty -lm
