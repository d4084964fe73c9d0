# SPDX-License-Identifier: LGPL-2.1-or-later
#
# files.mk - how the simulated libcuda and its own test are built and run.
#
# For inclusion by the top Makefile, which may set CC and CFLAGS; builds into
# build/tests/sim/ only and must never be part of an install. Targets:
#   sim         build/tests/sim/libcuda.so.1 (libcuda.so beside it, to link with)
#   test-sim    the library's own test, and the inference example with it
#   sim-check   prototypes and layouts against NVIDIA's cuda.h, where it is

SIM_OUT ?= build/tests/sim
EXAMPLES_OUT ?= build/examples
SIM_LIB := $(SIM_OUT)/libcuda.so.1
SIM_SOURCES := $(addprefix tests/sim/,alloc.c capture.c context.c copy.c \
	driver.c error.c event.c graph.c handle.c ioctls.c kernels.c knobs.c \
	launch.c memory.c module.c proc_address.c queue.c set.c stream.c)
SIM_HEADERS := $(addprefix tests/sim/,calls.h cuda_sim.h ioctl_steps.h sim.h)
SIM_CFLAGS := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -g $(SIM_EXTRA_CFLAGS)
# Bound to itself: a tracer that patches slots must not see calls of the
# library to its own functions. Never unloaded: its threads may still run.
SIM_LDFLAGS := -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,-z,defs \
	-Wl,-z,nodelete -Wl,--version-script=tests/sim/libcuda.map

# Only that of CUDA 13 or later has everything that is compared.
CUDA_H := $(firstword $(shell grep -ls 'define CUDA_VERSION 1[3-9]' \
	/usr/local/cuda/include/cuda.h /usr/include/cuda.h))

.PHONY: sim test-sim sim-check

sim: $(SIM_LIB)
	@:

$(SIM_LIB): $(SIM_SOURCES) $(SIM_HEADERS) tests/sim/libcuda.map
	@mkdir -p $(SIM_OUT)
	$(call run,LD,$@) $(CC) $(SIM_CFLAGS) -fPIC -fvisibility=hidden $(SIM_LDFLAGS) -o $@ \
		$(SIM_SOURCES) -lm -lpthread
	@ln -sf libcuda.so.1 $(SIM_OUT)/libcuda.so

$(SIM_OUT)/test_%: tests/sim/test_%.c tests/sim/tap.h $(SIM_HEADERS) $(SIM_LIB)
	$(call run,LD,$@) $(CC) $(SIM_CFLAGS) -o $@ $< -L$(SIM_OUT) -lcuda \
		-Wl,-rpath,'$$ORIGIN' -lm -lpthread

$(SIM_OUT)/layout-ours: tests/sim/check_layout.c tests/sim/cuda_sim.h
	@mkdir -p $(SIM_OUT)
	$(call run,LD,$@) $(CC) $(SIM_CFLAGS) -o $@ $<

$(SIM_OUT)/layout-cuda: tests/sim/check_layout.c
	@mkdir -p $(SIM_OUT)
	$(call run,LD,$@) $(CC) $(SIM_CFLAGS) -DCHECK_CUDA_H -I$(dir $(CUDA_H)) -o $@ $<

ifeq ($(CUDA_H),)
sim-check:
	@echo "sim-check: no cuda.h of CUDA 13 here, nothing compared"
else
sim-check: $(SIM_OUT)/layout-ours $(SIM_OUT)/layout-cuda
	$(call run,LD,$@) $(CC) $(SIM_CFLAGS) -I$(dir $(CUDA_H)) -fsyntax-only \
		tests/sim/check_prototypes.c
	$(SIM_OUT)/layout-ours >$(SIM_OUT)/layout-ours.txt
	$(SIM_OUT)/layout-cuda >$(SIM_OUT)/layout-cuda.txt
	cmp $(SIM_OUT)/layout-ours.txt $(SIM_OUT)/layout-cuda.txt
endif

test-sim: $(SIM_OUT)/test_sim $(SIM_OUT)/test_order $(EXAMPLES_OUT)/inference \
		$(EXAMPLES_OUT)/inference-linked sim-check
	tests/sim/run $(SIM_OUT) $(EXAMPLES_OUT)
