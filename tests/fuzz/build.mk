# SPDX-License-Identifier: LGPL-2.1-or-later
# The fuzzer of what reads a trace, with the address and undefined-behaviour sanitizers, into
# build/fuzz.  From the top folder: make -f tests/fuzz/build.mk
include quiet.mk
include cli/files.mk

CLANG ?= clang
B := build/fuzz
SRCS := $(filter-out cli/main.c,$(CLI_SRCS)) tests/fuzz/make_trace.c tests/fuzz/target.c
OBJS := $(patsubst %.c,$(B)/%.o,$(SRCS))
FLAGS := -std=gnu11 -D_GNU_SOURCE $(CLI_CPPFLAGS) -Wall -Wextra -g -O1 -fno-omit-frame-pointer \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined

$(B)/fuzz: $(OBJS)
	$(call run,LD,$@) $(CLANG) -fsanitize=fuzzer,address,undefined -o $@ $^ $(CLI_LIBS)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call run,CC,$<) $(CLANG) $(FLAGS) -MMD -MP -c -o $@ $<

-include $(OBJS:.o=.d)
