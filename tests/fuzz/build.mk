# SPDX-License-Identifier: LGPL-2.1-or-later
# The fuzzer of what reads a trace, with the address and undefined-behaviour sanitizers, into
# build/fuzz.  From the top folder: make -f tests/fuzz/build.mk
include quiet.mk
include cli/files.mk

CLANG ?= clang
B := build/fuzz
SRCS := $(filter-out cli/main.c,$(CLI_SRCS)) tests/fuzz/make_trace.c tests/fuzz/target.c
OBJS := $(patsubst %.c,$(B)/%.o,$(SRCS))
# Fewer ids of classes than there can be: tables by id are filled and freed for each input.
ABI := $(patsubst module/uapi/%,$(B)/include/module/uapi/%,$(wildcard module/uapi/*.h))
FLAGS := -std=gnu11 -D_GNU_SOURCE -I$(B)/include $(CLI_CPPFLAGS) -Wall -Wextra -g -O2 -fno-omit-frame-pointer \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined

$(B)/fuzz: $(OBJS)
	$(call run,LD,$@) $(CLANG) -fsanitize=fuzzer,address,undefined -o $@ $^ $(CLI_LIBS)

$(B)/include/%: %
	@mkdir -p $(@D)
	@sed 's/^\(#define CT_CLASS_MAX\t*\).*/\10x43ff/' $< >$@

$(B)/%.o: %.c $(ABI)
	@mkdir -p $(@D)
	$(call run,CC,$<) $(CLANG) $(FLAGS) -MMD -MP -c -o $@ $<

.SECONDARY: $(ABI)

-include $(OBJS:.o=.d)
