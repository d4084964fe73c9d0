# SPDX-License-Identifier: LGPL-2.1-or-later
# The command line: every source below cli/ belongs to it.  Includes are relative to cli/,
# those of the ABI to the top folder.
CLI_SRCS := $(sort $(wildcard cli/*.c cli/*/*.c cli/*/*/*.c))
CLI_CPPFLAGS := -I. -Icli
# libiberty demangles kernels' names (Debian: libiberty-dev).
CLI_LIBS := -liberty -lm

# zstd compresses Parquet files (Debian: libzstd-dev).  Where it is missing that format says so.
ifeq ($(shell echo 'int main(void) { return 0; }' | $(CC) -include zstd.h -x c -o /dev/null - -l:libzstd.a >/dev/null 2>&1 || echo none),)
CLI_CPPFLAGS += -DCT_HAVE_ZSTD
CLI_LIBS += -l:libzstd.a
endif
