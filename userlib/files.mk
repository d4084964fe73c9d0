# SPDX-License-Identifier: LGPL-2.1-or-later
# What libcudatrace.so is made of, for the top Makefile and for the tests.  Paths
# are relative to the top; includes of the ABI are relative to the sources.

USERLIB_SRCS := $(addprefix userlib/, init.c \
	$(addprefix base/, clock.c elf.c options.c process.c string.c sys.c) \
	$(addprefix tracedir/, lost.c preallocate.c registry.c) \
	$(addprefix backend/, backend.c device.c files.c producer.c) \
	$(addprefix record/, append.S attach.c packet.c record.c) \
	$(addprefix call/, call.c chosen.c classify.c collective.c decode.c extract.c function.c host.c ioctl.c kernels.c machine.c mark.c range.c stack.c) \
	$(addprefix hook/, announce.c ask.c begin.c dlsym.S driver.c got.c inject.c interpose.c libraries.c objects.c outside.c rank.c slot.c standby.c table.c thunks.S))

# What runs when any program starts lies together, so that it touches few pages; process.c is
# first, as its page begins .bss and splits that memory only once (MADV_WIPEONFORK).
USERLIB_EARLY := userlib/base/process.c userlib/init.c userlib/hook/begin.c \
	$(filter %/options.c %/elf.c %/string.c %/sys.c %/ioctl.c %/driver.c %/objects.c %/libraries.c \
		%/interpose.c %/got.c,$(USERLIB_SRCS))
USERLIB_SRCS := $(USERLIB_EARLY) $(filter-out $(USERLIB_EARLY),$(USERLIB_SRCS))

# Of libc nothing is called, so there is nothing to fortify, which some distributions do by default.
USERLIB_CFLAGS := -std=gnu11 -D_GNU_SOURCE -U_FORTIFY_SOURCE -iquote userlib -O2 -g -fPIC -fvisibility=hidden -fno-semantic-interposition \
	-fno-strict-aliasing -fno-tree-slp-vectorize -fcf-protection=full -fno-stack-protector \
	-Wall -Wextra -Werror -Wno-address-of-packed-member

USERLIB_LDFLAGS := -shared -nostartfiles -Wl,-soname,libcudatrace.so \
	-Wl,--version-script,userlib/libcudatrace.map -Wl,-z,now -Wl,-z,relro \
	-Wl,-z,initfirst -Wl,-z,noexecstack -Wl,-z,nodelete -Wl,-z,noseparate-code -Wl,--no-undefined

# A plugin is a shared object of its own beside the library: libcudatrace-NAME.so is made of
# the sources in plugins/NAME.  It may use libc as any program does.
PLUGINS := nvtx gpu stacks
plugin_objs = $(patsubst %.c,build/obj/%.o,$(wildcard userlib/plugins/$(1)/*.c))
PLUGIN_LDFLAGS = -shared -Wl,-soname,$(notdir $@) -Wl,-rpath,'$$ORIGIN' -Wl,-z,now -Wl,-z,relro \
	-Wl,-z,nodelete -Wl,-z,noexecstack -Wl,-z,noseparate-code -Wl,--no-undefined
