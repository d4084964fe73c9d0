# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs that the tests run; the suites themselves are listed in tests/run.

TESTS := $(addprefix $(B)/tests/,test_decode replay device rights text control clock threadbuf threadbuf_limits threadbuf_close namespaces readers limits hotplug nested week cuinit rm \
	lives permissions load stress fuzz faults record-busy record-gpu record-running record-moments record-ranged record-ranks record-ranks-one record-ranks-shapes record-ranks-exports record-ranks-library record-slow-reader record-slow-loader record-other-date record-uprobes record-in-session record-runtime) \
	$(addprefix $(B)/tests/other/,cudatrace-abi cudatrace-schema libcudatrace-abi.so) \
	$(addprefix $(SIM_OUT)/,test_sim test_order)

.PHONY: tests userlib-tests
tests: $(TESTS) userlib-tests
	@:

# Those of the preload library, which several suites use.
userlib-tests: $(B)/libcudatrace.so
	@$(MAKE) --no-print-directory -f tests/userlib/build.mk

NV_TABLES := $(wildcard cli/decode/tables/*.c)

$(B)/tests/test_decode $(B)/tests/replay: $(B)/tests/%: tests/decode/%.c tests/decode/trace.h tests/decode/ioctl.h \
		cli/decode/nv_decode.c cli/decode/nv_decode.h cli/decode/function_names.h userlib/call/tables/param_counts.h $(NV_TABLES) $(wildcard cli/decode/tables/*.h) module/uapi/nv_names.h module/uapi/nv_rows.h
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) $(CLI_CPPFLAGS) -o $@ $< cli/decode/nv_decode.c $(NV_TABLES)

$(addprefix $(B)/tests/,device rights text control clock threadbuf threadbuf_limits threadbuf_close namespaces readers limits hotplug lives nested week permissions load): $(B)/tests/%: tests/guest/%.c tests/guest/session.h tests/guest/clock_segment.h tests/guest/threadbuf.h tests/tap.h module/uapi/cudatrace.h module/uapi/cudatrace_events.h
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $< -lpthread

STRESS := $(wildcard tests/debug/stress*.c)

$(B)/tests/stress: $(STRESS) tests/debug/stress.h tests/guest/session.h tests/tap.h module/uapi/cudatrace.h module/uapi/cudatrace_events.h
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $(STRESS) -lpthread

$(B)/tests/fuzz: $(wildcard tests/debug/fuzz*.c) tests/debug/fuzz.h tests/guest/session.h tests/tap.h module/uapi/cudatrace.h module/uapi/cudatrace_events.h
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $(filter %.c,$^) -lpthread

$(B)/tests/faults: $(wildcard tests/debug/faults*.c) tests/debug/faults.h tests/guest/session.h tests/tap.h module/uapi/cudatrace.h module/uapi/cudatrace_events.h
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $(filter %.c,$^) -lpthread

$(B)/tests/record-busy: tests/record/busy.c
$(B)/tests/record-uprobes: tests/record/uprobes.c
$(B)/tests/record-busy $(B)/tests/record-uprobes:
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $< -ldl

$(B)/tests/cuinit: tests/guest/cuinit.c
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $< -ldl

# Linked to the stand-in for libcupti, as a profiler is.
$(B)/tests/record-moments: tests/record/moments.c $(SIM_LIB)
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $< -L$(SIM_OUT) -l:libcuda.so.1 -ldl -lpthread

$(B)/tests/record-ranged: tests/record/ranged.c userlib/include/cudatrace/cudatrace.h $(SIM_LIB)
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -fPIE -pie -o $@ $< -L$(SIM_OUT) -l:libcuda.so.1

# With the command's own objects.
$(B)/tests/record-in-session: tests/record/in_session.c $(B)/cudatrace
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) $(CLI_CPPFLAGS) -Wl,--wrap=ct_way_of,--wrap=ct_session_runs -o $@ $< $(filter-out %/cli/main.o,$(CLI_OBJS)) $(CLI_LIBS) $(LIBDL) -lpthread

# With a libcudart of its own.
$(B)/tests/record-runtime: tests/record/runtime.c tests/userlib/mock_cudart.c tests/userlib/mock.h $(SIM_LIB)
	@mkdir -p $(@D)
	$(call run,LD,$(@D)/libcudart.so.12) $(CC) $(ALL_CFLAGS) -U_GNU_SOURCE -Wno-missing-prototypes -fPIC -shared -Wl,-soname,libcudart.so.12 -o $(@D)/libcudart.so.12 tests/userlib/mock_cudart.c $(LIBDL)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $< $(@D)/libcudart.so.12 -Wl,-rpath,'$$ORIGIN' -L$(SIM_OUT) -l:libcuda.so.1

# For LD_PRELOAD.
$(B)/tests/record-slow-reader: tests/record/slow_reader.c
$(B)/tests/record-slow-loader: tests/record/slow_loader.c
$(B)/tests/record-other-date: tests/record/other_date.c
$(B)/tests/record-slow-reader $(B)/tests/record-slow-loader $(B)/tests/record-other-date:
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -fPIC -shared -o $@ $< -ldl

$(B)/tests/record-running: tests/record/running.c tests/record/word_of.h $(SIM_LIB)
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $< -L$(SIM_OUT) -l:libcuda.so.1 -lpthread

$(B)/tests/record-gpu: tests/record/gpu.c $(SIM_LIB) $(SIM_CUPTI)
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $< -L$(SIM_OUT) -l:libcuda.so.1 -L$(SIM_OUT)/cupti \
		-l:libcupti.so.13 -lpthread

# With the stand-in for libcupti, which --gpu takes where the program has it.
$(B)/tests/record-ranks: tests/record/ranks.c
$(B)/tests/record-ranks-one: tests/record/ranks_one.c
$(B)/tests/record-ranks-shapes: tests/record/ranks_shapes.c
$(B)/tests/record-ranks $(B)/tests/record-ranks-one $(B)/tests/record-ranks-shapes: tests/record/ranks_job.h $(SIM_LIB) $(SIM_NCCL) $(SIM_CUPTI)
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $(filter %.c,$^) -L$(SIM_OUT) -l:libcuda.so.1 -L$(SIM_OUT)/nccl \
		-l:libnccl.so.2 -Wl,--no-as-needed -L$(SIM_OUT)/cupti -l:libcupti.so.13 -ldl -lpthread

# The stand-in for libnccl linked statically: into the program itself, which calls it directly and exports it, and into
# a library that calls its own through its global offset table, as PyTorch's once did.  The library has main().
INSIDE := tests/record/ranks.c tests/sim/nccl.c
INSIDE_LIBS := -L$(SIM_OUT) -l:libcuda.so.1 -Wl,--no-as-needed -L$(SIM_OUT)/cupti -l:libcupti.so.13 -ldl -lpthread
$(B)/tests/record-ranks-exports $(B)/tests/librecord-ranks.so: $(INSIDE) tests/record/ranks_job.h tests/sim/nccl.h tests/sim/cuda_sim.h $(SIM_LIB) $(SIM_CUPTI)
$(B)/tests/record-ranks-exports:
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -rdynamic -o $@ $(INSIDE) $(INSIDE_LIBS)
$(B)/tests/librecord-ranks.so:
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -fPIC -shared -o $@ $(INSIDE) $(INSIDE_LIBS)
$(B)/tests/record-ranks-library: $(B)/tests/librecord-ranks.so
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $< -Wl,-rpath,'$$ORIGIN' -Wl,--no-as-needed -L$(SIM_OUT) -l:libcuda.so.1 \
		-L$(SIM_OUT)/cupti -l:libcupti.so.13

# A command and a library that believe in other versions of the ABI and of the schema:
# the file that compares them is compiled from a copy with another number.
OTHER := $(B)/tests/other
$(OTHER)/%/.copied: cli/capture/device.c userlib/backend/device.c module/uapi/cudatrace.h module/uapi/cudatrace_events.h
	@rm -rf $(OTHER)/$* && mkdir -p $(OTHER)/$*/module
	@cp -R cli userlib $(OTHER)/$*/ && cp -R module/uapi $(OTHER)/$*/module/
	@sed -i 's/^\(.define CT_$*_VERSION[[:space:]]*\).*/\1$(OTHER_$*)/' $(OTHER)/$*/module/uapi/cudatrace.h
	@touch $@
OTHER_ABI := 99
OTHER_SCHEMA := 0

$(OTHER)/cudatrace-abi: $(OTHER)/ABI/.copied $(CLI_OBJS)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -I$(OTHER)/ABI -I$(OTHER)/ABI/cli -o $@ $(OTHER)/ABI/cli/capture/device.c $(filter-out %/cli/capture/device.o,$(CLI_OBJS)) $(CLI_LIBS)

$(OTHER)/cudatrace-schema: $(OTHER)/SCHEMA/.copied $(CLI_OBJS)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -w -I$(OTHER)/SCHEMA -I$(OTHER)/SCHEMA/cli -o $@ $(OTHER)/SCHEMA/cli/capture/device.c $(filter-out %/cli/capture/device.o,$(CLI_OBJS)) $(CLI_LIBS)

$(OTHER)/libcudatrace-abi.so: $(OTHER)/ABI/.copied $(USERLIB_OBJS) userlib/libcudatrace.map
	$(call run,LD,$@) $(CC) -iquote $(OTHER)/ABI/userlib $(USERLIB_CFLAGS) $(USERLIB_LDFLAGS) -o $@ $(OTHER)/ABI/userlib/backend/device.c \
		$(filter-out %/userlib/backend/device.o,$(USERLIB_OBJS))

$(B)/tests/rm: tests/guest/rm.c
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(ALL_CFLAGS) -o $@ $<
