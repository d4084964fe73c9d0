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
SIM_SOURCES := $(addprefix tests/sim/,activity.c alloc.c capture.c context.c copy.c \
	driver.c error.c event.c graph.c handle.c ioctls.c kernels.c knobs.c \
	launch.c memory.c module.c nodes.c proc_address.c queue.c set.c stream.c)
SIM_HEADERS := $(addprefix tests/sim/,activity.h calls.h cuda_sim.h ioctl_steps.h nccl.h sim.h)
SIM_CFLAGS := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -g $(SIM_EXTRA_CFLAGS)
# Bound to itself: a tracer that patches slots must not see calls of the
# library to its own functions. Never unloaded: its threads may still run.
SIM_LDFLAGS := -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,-z,defs \
	-Wl,-z,nodelete -Wl,--version-script=tests/sim/libcuda.map

# Only that of CUDA 13 or later has everything that is compared.
CUDA_H := $(firstword $(shell grep -ls 'define CUDA_VERSION 1[3-9]' \
	/usr/local/cuda/include/cuda.h /usr/include/cuda.h))

# The stand-in for libcupti: as that of CUDA 13, one of CUDA 11's functions, and one of CUDA 10's.
SIM_CUPTI := $(foreach d,cupti cupti-old cupti-ancient,$(SIM_OUT)/$(d)/libcupti.so.13)

# Only that of CUDA 13 or later has the newest records.
CUPTI_H := $(firstword $(wildcard $(addsuffix cupti.h,$(dir $(CUDA_H)) $(dir $(CUDA_H))../extras/CUPTI/include/)))

# The stand-in for libnccl: ranks that meet in shared memory.
SIM_NCCL := $(SIM_OUT)/nccl/libnccl.so.2

# The stand-in for libnvidia-ml: GPUs whose clocks, power and use are made up.
SIM_NVML := $(SIM_OUT)/nvml/libnvidia-ml.so.1

.PHONY: sim test-sim sim-check

sim: $(SIM_LIB) $(SIM_CUPTI) $(SIM_NCCL) $(SIM_NVML)
	@:

$(SIM_NVML): tests/sim/nvml.c cli/capture/nvml/abi.h
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(SIM_CFLAGS) -I. -fPIC -fvisibility=hidden -shared -Wl,-soname,libnvidia-ml.so.1 -Wl,-z,defs \
		-Wl,-Bsymbolic -o $@ $<

$(SIM_NCCL): tests/sim/nccl.c tests/sim/nccl.h tests/sim/cuda_sim.h
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(SIM_CFLAGS) -fPIC -fvisibility=hidden -shared -Wl,-soname,libnccl.so.2 -Wl,-z,defs \
		-Wl,-Bsymbolic -o $@ $<

$(SIM_OUT)/cupti-old/libcupti.so.13: SIM_CUPTI_FLAGS := -DCUPTISIM_OLD
$(SIM_OUT)/cupti-ancient/libcupti.so.13: SIM_CUPTI_FLAGS := -DCUPTISIM_ANCIENT
$(SIM_CUPTI): tests/sim/cupti.c tests/sim/activity.h userlib/plugins/gpu/cupti_abi.h
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(SIM_CFLAGS) $(SIM_CUPTI_FLAGS) -fPIC -fvisibility=hidden -shared \
		-Wl,-soname,libcupti.so.13 -Wl,-z,defs -Wl,-z,nodelete -Wl,-Bsymbolic -o $@ $< -lpthread

$(SIM_OUT)/libcuda.o: $(SIM_SOURCES) $(SIM_HEADERS)
	@mkdir -p $(SIM_OUT)
	$(call run,CC,$@) $(CC) $(SIM_CFLAGS) -fPIC -fvisibility=hidden -r -o $@ $(SIM_SOURCES)

# Its functions have the entries of a driver of today: see entries.S.
$(SIM_LIB): $(SIM_OUT)/libcuda.o tests/sim/link_libcuda tests/sim/entries.S tests/sim/libcuda.map \
		userlib/call/tables/param_counts.h
	$(call run,LD,$@) CC="$(CC)" tests/sim/link_libcuda 580 $@ $< $(SIM_LDFLAGS) -lm -lpthread $(LIBDL)
	@ln -sf libcuda.so.1 $(SIM_OUT)/libcuda.so

$(SIM_OUT)/test_%: tests/sim/test_%.c tests/sim/tap.h $(SIM_HEADERS) $(SIM_LIB)
	$(call run,LD,$@) $(CC) $(SIM_CFLAGS) -o $@ $< -L$(SIM_OUT) -lcuda \
		-Wl,-rpath,'$$ORIGIN' -lm -lpthread $(LIBDL)

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
	$(if $(CUPTI_H),$(call run,LD,$@) $(CC) -std=gnu11 -I$(dir $(CUDA_H)) -I$(dir $(CUPTI_H)) -fsyntax-only \
		tests/sim/check_cupti.c,@echo "sim-check: no cupti.h here, CUPTI is not compared")
endif

test-sim: $(SIM_OUT)/test_sim $(SIM_OUT)/test_order $(EXAMPLES_OUT)/inference \
		$(EXAMPLES_OUT)/inference-linked sim-check
	tests/sim/run $(SIM_OUT) $(EXAMPLES_OUT)
