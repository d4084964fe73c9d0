# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the preload library and everything that its tests run, into O.
#
#	make -f tests/userlib/build.mk [O=build/tests/userlib]

include quiet.mk
include userlib/files.mk

O ?= build/tests/userlib
T := tests/userlib
$(shell mkdir -p $(O))
TEST_CFLAGS := -std=gnu11 -iquote userlib -O2 -g -Wall -Wextra -Werror
# Those of the top Makefile, which are compiled in the same way.
LIB := build/obj/userlib
OBJS := $(patsubst %,build/obj/%.o,$(basename $(USERLIB_SRCS)))
HEADERS := $(wildcard userlib/*/*.h userlib/*/*/*.h module/uapi/*.h)

all: $(addprefix $(O)/, libcudatrace.so $(PLUGINS:%=libcudatrace-%.so) libcudatrace-fake.so libcudatrace-span.so \
	libcudatrace-back.so libcudatrace-still.so libcudatrace-uneven.so libcudatrace-reset.so libcudatrace-slow.so libcudatrace-oldlibc.so libcudatrace-late.so \
	libcuda.so.1 470/libcuda.so.1 595/libcuda.so.1 0/libcuda.so.1 simulated/libcuda.so.1 dump bindings bound/libcuda.so.1 \
	victim step grow registry surroundings linked-lazy linked-now libearly-lazy.so libearly-now.so plugin libplugin.so relocating librelocating.so throw bench_call bench_start test_clock test_elf test_kernels \
	libcudart.so.12 runtime libnccl.so.2 nccl_app marker_user descriptors nvtx_app nvtx_tool.so inject_app inject_tool.so libfake_driver.so libcudart_like.so \
	late.so inside refuse real locked)
	@:

$(O)/libcudatrace.so: $(OBJS) userlib/libcudatrace.map
	$(call run,LD,$@) $(CC) $(USERLIB_CFLAGS) $(USERLIB_LDFLAGS) -o $@ $(OBJS)

define plugin
$(O)/libcudatrace-$(1).so: $(call plugin_objs,$(1))
	$$(call run,LD,$$@) $$(CC) $$(USERLIB_CFLAGS) $$(PLUGIN_LDFLAGS) -o $$@ $$^
endef
$(foreach p,$(PLUGINS),$(eval $(call plugin,$(p))))

# As with a libc that knows nothing of struct rseq.
$(O)/libcudatrace-oldlibc.so: $(filter-out %/attach.o,$(OBJS)) $(O)/oldlibc.o
	$(call run,LD,$@) $(CC) $(USERLIB_CFLAGS) $(USERLIB_LDFLAGS) -o $@ $^

$(O)/oldlibc.o: userlib/record/attach.c $(HEADERS)
	$(call run,CC,$@) $(CC) $(USERLIB_CFLAGS) -DLIBC_RSEQ='"none_"' -c -o $@ $<

# Its packets end after 0.1 s instead of 39 hours.
$(O)/libcudatrace-span.so: $(filter-out %/packet.o,$(OBJS)) $(O)/span.o
	$(call run,LD,$@) $(CC) $(USERLIB_CFLAGS) $(USERLIB_LDFLAGS) -o $@ $^

$(O)/span.o: userlib/record/packet.c $(HEADERS)
	$(call run,CC,$@) $(CC) $(USERLIB_CFLAGS) -DSPAN_MAX=100000000ull -c -o $@ $<

# Their clock goes back, stands still, or has a counter that is not to be trusted.
$(O)/libcudatrace-back.so $(O)/libcudatrace-still.so $(O)/libcudatrace-uneven.so: $(O)/libcudatrace-%.so: $(filter-out %/clock.o,$(OBJS)) $(O)/clock-%.o
	$(call run,LD,$@) $(CC) $(USERLIB_CFLAGS) $(USERLIB_LDFLAGS) -o $@ $^

# Its counter is set back.
$(O)/libcudatrace-reset.so: $(filter-out %/clock.o %/call.o %/packet.o %/ioctl.o %/attach.o %/thunks.o,$(OBJS)) \
		$(addprefix $(O)/reset-,clock.o call.o ioctl.o packet.o attach.o thunks.o)
	$(call run,LD,$@) $(CC) $(USERLIB_CFLAGS) $(USERLIB_LDFLAGS) -o $@ $^

$(O)/reset-clock.o: $(T)/odd_clock.c userlib/base/clock.c $(T)/reset_counter.h $(HEADERS)
	$(call run,CC,$@) $(CC) $(USERLIB_CFLAGS) -DRESET -c -o $@ $<

$(O)/reset-%.o: userlib/record/%.c $(T)/reset_counter.h $(HEADERS)
	$(call run,CC,$@) $(CC) $(USERLIB_CFLAGS) -include $(T)/reset_counter.h -c -o $@ $<

$(O)/reset-%.o: userlib/call/%.c $(T)/reset_counter.h $(HEADERS)
	$(call run,CC,$@) $(CC) $(USERLIB_CFLAGS) -include $(T)/reset_counter.h -c -o $@ $<

$(O)/reset-thunks.o: userlib/hook/thunks.S $(HEADERS)
	$(call run,CC,$@) $(CC) $(USERLIB_CFLAGS) -DCT_RDTSC='rdtsc; subl test_back(%rip), %eax; sbbl test_back+4(%rip), %edx' -c -o $@ $<

# It takes 20 us between looking where the in-flight calls are and adding one.
$(O)/libcudatrace-late.so: $(filter-out %/thunks.o,$(OBJS)) $(O)/late-thunks.o
	$(call run,LD,$@) $(CC) $(USERLIB_CFLAGS) $(USERLIB_LDFLAGS) -o $@ $^

$(O)/late-thunks.o: userlib/hook/thunks.S $(HEADERS)
	$(call run,CC,$@) $(CC) $(USERLIB_CFLAGS) -DCT_OPEN_WAIT='pushq %rax; movl $$20000, %eax; 9: subl $$1, %eax; jnz 9b; popq %rax' -c -o $@ $<

# To append a record takes it some 20 us, so that most signals come meanwhile.
$(O)/libcudatrace-slow.so: $(filter-out %/append.o %/thunks.o,$(OBJS)) $(addprefix $(O)/slow-,append.o thunks.o)
	$(call run,LD,$@) $(CC) $(USERLIB_CFLAGS) $(USERLIB_LDFLAGS) -o $@ $^

$(O)/slow-append.o: userlib/record/append.S $(HEADERS)
$(O)/slow-thunks.o: userlib/hook/thunks.S $(HEADERS)
$(O)/slow-append.o $(O)/slow-thunks.o:
	$(call run,CC,$@) $(CC) $(USERLIB_CFLAGS) -DCT_APPEND_WAIT='movl $$20000, %ecx; 0: subl $$1, %ecx; jnz 0b' -c -o $@ $<

$(O)/clock-back.o: ODD := -DBACK
$(O)/clock-uneven.o: ODD := -DUNEVEN
$(O)/clock-back.o $(O)/clock-still.o $(O)/clock-uneven.o: $(T)/odd_clock.c userlib/base/clock.c $(HEADERS)
	$(call run,CC,$@) $(CC) $(USERLIB_CFLAGS) $(ODD) -c -o $@ $<

$(O)/libcudatrace-fake.so: $(OBJS) $(O)/fake_device.o
	$(call run,LD,$@) $(CC) $(USERLIB_CFLAGS) $(USERLIB_LDFLAGS) -o $@ $^

$(LIB)/%.o: userlib/%.c $(HEADERS) userlib/files.mk
	@mkdir -p $(@D)
	$(call run,CC,$<) $(CC) $(USERLIB_CFLAGS) -MMD -MP -c -o $@ $<

$(LIB)/%.o: userlib/%.S $(HEADERS) userlib/files.mk
	@mkdir -p $(@D)
	$(call run,AS,$<) $(CC) $(USERLIB_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/fake_device.o: $(T)/fake_device.c $(HEADERS)
	$(call run,CC,$<) $(CC) $(USERLIB_CFLAGS) -c -o $@ $<

# The entries of its functions are as those of drivers that servers have: tests/sim/entries.S.
ENTRIES := tests/sim/link_libcuda tests/sim/entries.S userlib/call/tables/param_counts.h
link_mock = CT_PARAMS=$(T)/mock.h CC="$(CC)" tests/sim/link_libcuda $(1) $@ $< -Wl,-soname,libcuda.so.1

$(O)/mock_libcuda.o $(O)/mock_simulated.o: $(T)/mock_libcuda.c $(T)/mock.h
	$(call run,CC,$@) $(CC) $(TEST_CFLAGS) $(if $(filter %simulated.o,$@),-DMOCK_SIMULATED) -fPIC -fexceptions \
		-fvisibility=hidden -c -o $@ $<

$(O)/libcuda.so.1: $(O)/mock_libcuda.o $(ENTRIES)
	$(call run,LD,$@) $(call link_mock,580)

$(O)/470/libcuda.so.1 $(O)/595/libcuda.so.1 $(O)/0/libcuda.so.1: $(O)/mock_libcuda.o $(ENTRIES)
	@mkdir -p $(@D)
	$(call run,LD,$@) $(call link_mock,$(notdir $(patsubst %/,%,$(@D))))

$(O)/simulated/libcuda.so.1: $(O)/mock_simulated.o $(ENTRIES)
	@mkdir -p $(@D)
	$(call run,LD,$@) $(call link_mock,580)

$(O)/bindings: $(T)/bindings.c $(T)/bindings.h userlib/call/arguments.h
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -o $@ $<

$(O)/bound/libcuda.so.1: $(T)/bindings.c $(T)/bindings.h
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -DMOCK -fPIC -shared -fvisibility=hidden \
		-Wl,-soname,libcuda.so.1 -o $@ $<

$(O)/grow $(O)/dump $(O)/plugin $(O)/bench_call $(O)/step $(O)/registry $(O)/surroundings: $(O)/%: $(T)/%.c $(T)/mock.h $(HEADERS)
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -pthread -o $@ $<

VICTIM := $(addprefix $(T)/, victim.c victim_calls.c victim_processes.c \
	victim_threads.c victim_losses.c victim_short.c victim_coroutines.c)

$(O)/victim: $(VICTIM) $(T)/victim.h $(T)/mock.h $(HEADERS)
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -pthread -o $@ $(VICTIM)

$(O)/test_clock: $(T)/test_clock.c userlib/base/clock.c userlib/base/clock.h $(addprefix $(LIB)/base/,elf.o process.o sys.o)
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -o $@ $< $(addprefix $(LIB)/base/,elf.o process.o sys.o)

$(O)/test_elf: $(T)/test_elf.c userlib/base/elf.c userlib/base/elf.h $(addprefix $(LIB)/base/,process.o sys.o)
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -o $@ $< $(addprefix $(LIB)/base/,process.o sys.o)

$(O)/test_kernels: $(T)/test_kernels.c userlib/call/kernels.c $(addprefix $(LIB)/base/,process.o sys.o)
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -pthread -o $@ $< $(addprefix $(LIB)/base/,process.o sys.o)

$(O)/inside: tests/guest/inside.c $(T)/mock.h
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -pthread -o $@ $<

$(O)/real: $(T)/real.c
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -o $@ $<

$(O)/locked: $(T)/locked.c tests/record/word_of.h $(T)/mock.h userlib/include/cudatrace/attach.h $(O)/libcuda.so.1
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -pthread -o $@ $< $(O)/libcuda.so.1 -ldl

$(O)/refuse: $(T)/refuse.c
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -o $@ $<

$(O)/marker_user: $(T)/marker_user.c userlib/include/cudatrace/cudatrace.h
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -o $@ $<

$(O)/descriptors: $(T)/descriptors.c userlib/include/cudatrace/cudatrace.h
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -pthread -o $@ $<

$(O)/bench_start: $(T)/bench_start.c
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -o $@ $< -lm

$(O)/libcudart.so.12: $(T)/mock_cudart.c $(T)/mock.h
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -fPIC -shared -Wl,-soname,libcudart.so.12 -o $@ $<

$(O)/runtime: $(T)/runtime.c $(O)/libcudart.so.12
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -o $@ $^

$(O)/libnccl.so.2: $(T)/mock_nccl.c $(T)/mock.h
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -Wno-missing-prototypes -fPIC -shared -Wl,-soname,libnccl.so.2 -o $@ $<

$(O)/nccl_app: $(T)/nccl_app.c $(O)/libnccl.so.2
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -o $@ $^

$(O)/nvtx_app $(O)/inject_app: $(O)/%: $(T)/%.c $(T)/mock.h userlib/plugins/nvtx/nvtx_abi.h
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -pthread -o $@ $<

$(O)/nvtx_tool.so $(O)/inject_tool.so: $(O)/%_tool.so: $(T)/%_app.c $(T)/mock.h userlib/plugins/nvtx/nvtx_abi.h
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -DTOOL -fPIC -shared -o $@ $<

$(O)/linked-lazy: $(T)/linked.c $(O)/libcuda.so.1
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -Wl,-z,lazy -Wl,-z,norelro -o $@ $^

$(O)/linked-now: $(T)/linked.c $(O)/libcuda.so.1
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -fPIE -pie -Wl,-z,now -Wl,-z,relro -o $@ $^

$(O)/relocating: $(T)/relocating.c $(T)/mock.h
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -o $@ $<

$(O)/librelocating.so: $(T)/relocating.c $(T)/mock.h $(O)/libcuda.so.1
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -DPLUGIN -D_GNU_SOURCE -fPIC -shared -Wl,-z,now -Wl,-z,relro -o $@ $< $(O)/libcuda.so.1

$(O)/libplugin.so: $(T)/linked.c $(O)/libcuda.so.1
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -DPLUGIN -fPIC -shared -Wl,-z,lazy -o $@ $^

$(O)/libearly-lazy.so $(O)/libearly-now.so: $(O)/libearly-%.so: $(T)/linked.c $(O)/libcuda.so.1
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -DEARLY -fPIC -shared -Wl,-z,$* -o $@ $^

$(O)/libfake_driver.so $(O)/libcudart_like.so: $(O)/lib%.so: $(T)/%.c
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -fPIC -shared -o $@ $<

$(O)/late.so: $(T)/late.c
	$(call run,LD,$@) $(CC) $(TEST_CFLAGS) -fPIC -shared -o $@ $<

$(O)/throw: $(T)/throw.cc $(T)/mock.h
	$(call run,LD,$@) $(CXX) -O2 -g -Wall -Wextra -Werror -pthread -rdynamic -o $@ $<

.PHONY: all
