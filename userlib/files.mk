# SPDX-License-Identifier: LGPL-2.1-or-later
# What libcudatrace.so is made of, for the top Makefile and for the tests.  Paths
# are relative to the top; includes of the ABI are relative to the sources.

USERLIB_SRCS := $(addprefix userlib/, \
	main.c call.c classify.c clock.c decode.c decode_copy.c decode_launch.c \
	decode_memory.c decode_misc.c device.c driver.c elf.c files.c got.c handover.c \
	interpose.c ioctl.c ioctl_decode.c kernels.c inject.c lane.c lost.c mark.c nvtx.c options.c \
	packet.c process.c registry.c \
	room.c sink.c slot.c string.c sys.c thread.c writer.c dlsym.S thunks.S)

USERLIB_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -fPIC -fvisibility=hidden -fno-semantic-interposition \
	-fno-strict-aliasing -fno-tree-slp-vectorize -fcf-protection=full -fno-stack-protector \
	-Wall -Wextra -Werror -Wno-address-of-packed-member

USERLIB_LDFLAGS := -shared -Wl,-soname,libcudatrace.so \
	-Wl,--version-script,userlib/libcudatrace.map -Wl,-z,now -Wl,-z,relro \
	-Wl,-z,initfirst -Wl,-z,noexecstack -Wl,-z,noseparate-code -Wl,--no-undefined
