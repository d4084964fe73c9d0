# SPDX-License-Identifier: LGPL-2.1-or-later
#
# files.mk - how the examples are built, for inclusion by the top Makefile
# after tests/sim/files.mk. Builds into build/examples/ only; nothing here
# needs CUDA to build.
#
# inference finds libcuda.so.1 when it runs; inference-linked is linked with it
# (with the simulated one, since that is what every machine has: at run time
# the dynamic linker takes the libcuda.so.1 that it finds).

EXAMPLES_OUT ?= build/examples
EXAMPLES_CFLAGS := -std=gnu11 -Wall -Wextra -Werror -O2 -g
EXAMPLES := $(addprefix $(EXAMPLES_OUT)/,inference inference-linked markers reader)
# Each has one known problem, and a mended version.
PROBLEMS := $(patsubst examples/%.c,$(EXAMPLES_OUT)/%,$(sort $(wildcard examples/problems/*.c)))

.PHONY: examples

examples: $(EXAMPLES) $(PROBLEMS)
	@:

$(EXAMPLES_OUT)/inference: examples/inference.c examples/driver_api.h \
		examples/mlp_kernels.h
	@mkdir -p $(EXAMPLES_OUT)
	$(call run,LD,$@) $(CC) $(EXAMPLES_CFLAGS) -o $@ $< -lm -ldl

$(EXAMPLES_OUT)/inference-linked: examples/inference.c examples/driver_api.h \
		examples/mlp_kernels.h $(SIM_LIB)
	@mkdir -p $(EXAMPLES_OUT)
	$(call run,LD,$@) $(CC) $(EXAMPLES_CFLAGS) -DEXAMPLE_LINKED -o $@ $< -L$(SIM_OUT) -lcuda \
		-lm -ldl

$(EXAMPLES_OUT)/markers: examples/markers.c userlib/include/cudatrace/cudatrace.h
	@mkdir -p $(EXAMPLES_OUT)
	$(call run,LD,$@) $(CC) $(EXAMPLES_CFLAGS) -Iuserlib/include -o $@ $< -ldl

$(EXAMPLES_OUT)/reader: examples/reader.c module/uapi/cudatrace.h module/uapi/cudatrace_events.h
	@mkdir -p $(EXAMPLES_OUT)
	$(call run,LD,$@) $(CC) $(EXAMPLES_CFLAGS) -D_GNU_SOURCE -o $@ $<

$(PROBLEMS): $(EXAMPLES_OUT)/%: examples/%.c examples/problems/common.h examples/driver_api.h
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(EXAMPLES_CFLAGS) -D_GNU_SOURCE -o $@ $< -ldl -lpthread
