# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds a command whose recorder has a sanitizer, into build/recorder-KIND, where it finds the libraries:
# make -f tests/record/recorder.mk KIND=address (with undefined behaviour) or KIND=thread.  What only reads traces is taken
# from build/obj, as make has built it.
include quiet.mk
include cli/files.mk

COMMA := ,
B := build/recorder-$(KIND)
FLAGS := -std=gnu11 -D_GNU_SOURCE $(CLI_CPPFLAGS) -Wall -Wextra -O1 -g1 -fno-omit-frame-pointer
SANITIZE := -fsanitize=$(if $(filter address,$(KIND)),address$(COMMA)undefined,$(KIND))
SANITIZED := $(filter cli/capture/% cli/base/% cli/write/%,$(CLI_SRCS))
OBJS := $(SANITIZED:%.c=$(B)/obj/%.o) $(patsubst %.c,build/obj/%.o,$(filter-out $(SANITIZED),$(CLI_SRCS)))

$(B)/cudatrace: $(OBJS)
	@ln -sf ../libcudatrace.so ../libcudatrace-stacks.so ../libcudatrace-gpu.so ../libcudatrace-nvtx.so $(B)/
	$(call run,LD,$@) $(CC) $(SANITIZE) -o $@ $^ $(CLI_LIBS) -ldl -pthread

$(B)/obj/%.o: %.c tests/record/recorder.mk
	@mkdir -p $(@D)
	$(call run,CC,$<) $(CC) $(FLAGS) $(SANITIZE) -MMD -MP -c -o $@ $<

-include $(SANITIZED:%.c=$(B)/obj/%.d)
