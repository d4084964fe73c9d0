# SPDX-License-Identifier: LGPL-2.1-or-later
# The command line: every source below cli/ belongs to it.  Includes are relative to cli/,
# those of the ABI to the top folder.
CLI_SRCS := $(sort $(wildcard cli/*.c cli/*/*.c cli/*/*/*.c))
CLI_CPPFLAGS := -I. -Icli
# libiberty demangles kernels' names (Debian: libiberty-dev).
CLI_LIBS := -liberty -lm

# A library that one format of export, or one command, uses: $(call cli_library,NAME,HEADER) is what links it,
# or nothing where it is missing.  The archive comes first, so that the command runs on machines
# that do not have the library.
cli_library = $(shell for lib in -l:lib$(1).a -l$(1); do echo 'int main(void) { return 0; }' | \
	$(CC) -include $(2) -x c -o /dev/null - $$lib -lm -pthread >/dev/null 2>&1 && echo $$lib && break; done)

# zstd compresses Parquet files (Debian: libzstd-dev).
LIBZSTD := $(call cli_library,zstd,zstd.h)
ifneq ($(LIBZSTD),)
CLI_CPPFLAGS += -DCT_HAVE_ZSTD
CLI_LIBS += $(LIBZSTD)
else
CLI_LEFT_OUT += "export --format parquet and cudatrace pack are left out: there is no zstd.h (apt-get install libzstd-dev)"
endif

# zlib compresses the data of HTML reports (Debian: zlib1g-dev).
LIBZ := $(call cli_library,z,zlib.h)
ifneq ($(LIBZ),)
CLI_CPPFLAGS += -DCT_HAVE_ZLIB
CLI_LIBS += $(LIBZ)
else
CLI_LEFT_OUT += "export --format html is left out: there is no zlib.h (apt-get install zlib1g-dev)"
endif

# SQLite (Debian: libsqlite3-dev), for one format of export, which is left out without it.
LIBSQLITE := $(call cli_library,sqlite3,sqlite3.h)
ifneq ($(LIBSQLITE),)
CLI_CPPFLAGS += -DCT_HAVE_SQLITE
CLI_LIBS += $(LIBSQLITE) -lm -pthread
else
CLI_SRCS := $(filter-out $(filter-out %/sqlite_missing.c,$(wildcard cli/export/sqlite/*.c)),$(CLI_SRCS))
CLI_LEFT_OUT += "export --format sqlite is left out: there is no sqlite3.h (apt-get install libsqlite3-dev)"
endif

# jansson reads the messages of cudatrace mcp (Debian: libjansson-dev).
LIBJANSSON := $(call cli_library,jansson,jansson.h)
ifneq ($(LIBJANSSON),)
CLI_CPPFLAGS += -DCT_HAVE_JANSSON
CLI_LIBS += $(LIBJANSSON)
else
CLI_LEFT_OUT += "cudatrace mcp is left out: there is no jansson.h (apt-get install libjansson-dev)"
endif
