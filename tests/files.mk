# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs that the tests run; the suites themselves are listed in tests/run.

TESTS := $(addprefix $(B)/tests/,test_decode replay device control clock readers limits hotplug cuinit \
	stress fuzz faults) \
	$(addprefix $(SIM_OUT)/,test_sim test_order)

.PHONY: tests
tests: $(TESTS)

NV_TABLES := $(wildcard cli/tables/*.c)

$(B)/tests/test_decode $(B)/tests/replay: $(B)/tests/%: tests/decode/%.c tests/decode/trace.h \
		cli/nv_decode.c cli/nv_decode.h $(NV_TABLES) module/nv_names.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< cli/nv_decode.c $(NV_TABLES)

$(addprefix $(B)/tests/,device control clock readers limits hotplug): $(B)/tests/%: tests/guest/%.c tests/guest/session.h tests/tap.h module/uapi/cudatrace.h module/uapi/cudatrace_events.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< -lpthread

STRESS := $(wildcard tests/debug/stress*.c)

$(B)/tests/stress: $(STRESS) tests/debug/stress.h tests/guest/session.h tests/tap.h module/uapi/cudatrace.h module/uapi/cudatrace_events.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $(STRESS) -lpthread

$(B)/tests/fuzz $(B)/tests/faults: $(B)/tests/%: tests/debug/%.c tests/guest/session.h tests/tap.h module/uapi/cudatrace.h module/uapi/cudatrace_events.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< -lpthread

$(B)/tests/cuinit: tests/guest/cuinit.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< -ldl

$(B)/tests/bench_kernel: tests/bench/kernel.c module/uapi/cudatrace.h module/uapi/cudatrace_events.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Wno-address-of-packed-member -o $@ $<
