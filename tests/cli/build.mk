# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds what the tests of the command line use, into build/cli-dev: the command
# line with the address and undefined-behaviour sanitizers, the generator of
# traces, the unit tests.  From the top folder: make -f tests/cli/build.mk
include quiet.mk
include cli/files.mk

B := build/cli-dev
FLAGS := -std=gnu11 -D_GNU_SOURCE $(CLI_CPPFLAGS) -Wall -Wextra -Werror
# Lines, for what a sanitizer says; nothing else of debugging, which would be most of what is written.
# The command is started thousands of times, and a start is most of what it does: it is not relocated,
# and undefined behaviour is an illegal instruction (status 132) instead of 5 MB of texts, which each look
# for leaks would read.  make -f tests/cli/build.mk TRAP= has the texts.
TRAP := -fsanitize-undefined-trap-on-error
SANITIZE := -O1 -g1 -fno-pie -no-pie -fsanitize=address,undefined -fno-sanitize-recover=undefined $(TRAP)
ABI := module/uapi/cudatrace.h module/uapi/cudatrace_events.h
OBJS := $(patsubst %.c,$(B)/%.o,$(CLI_SRCS))
# All but main(), once, for the programs that test functions: each takes what it needs of it.
LIB := $(B)/cli.a

all: $(B)/cudatrace $(B)/make_trace $(B)/make_gpu $(B)/make_ranks $(B)/make_rules $(B)/hurt_trace $(B)/hostile_trace $(B)/make_hosts $(B)/replay $(B)/usage $(B)/many $(B)/units $(B)/rings $(B)/follow $(B)/tables $(B)/phases $(B)/live_text $(B)/ring $(B)/rate

$(B)/cudatrace: $(OBJS)
	$(call run,LD,$@) $(CC) $(SANITIZE) -o $@ $^ $(CLI_LIBS)

$(LIB): $(filter-out %/main.o,$(OBJS))
	@rm -f $@
	$(call run,AR,$@) $(AR) rcs $@ $^

# (After a change of the flags, too.)
$(B)/%.o: %.c tests/cli/build.mk
	@mkdir -p $(@D)
	$(call run,CC,$<) $(CC) $(FLAGS) $(SANITIZE) -MMD -MP -c -o $@ $<

# The page of HTML reports, as the command has it.
$(B)/cli/export/sqlite/schema.o $(B)/cli/export/sqlite/views.o: $(wildcard cli/export/sqlite/*.sql)
$(B)/cli/export/html/template.o: $(wildcard build/html/template.html)

$(B)/make_trace $(B)/make_gpu $(B)/make_ranks $(B)/make_rules $(B)/hurt_trace $(B)/hostile_trace: $(B)/%: tests/cli/%.c tests/cli/writer.h $(ABI)
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(FLAGS) -O2 -o $@ $<

$(B)/usage: tests/bench/usage.c
	@mkdir -p $(@D)
	$(call run,LD,$@) $(CC) $(FLAGS) -O2 -o $@ $<

# Many command lines in one start: it has the command in it.
$(B)/main_of_many.o: cli/main.c tests/cli/build.mk $(wildcard cli/cmd/*.h cli/base/*.h) $(ABI)
	@mkdir -p $(@D)
	$(call run,CC,$<) $(CC) $(FLAGS) $(SANITIZE) -Dmain=ct_main -c -o $@ $<

$(B)/many: tests/cli/many.c $(B)/main_of_many.o $(LIB)
	$(call run,LD,$@) $(CC) $(FLAGS) $(SANITIZE) -o $@ $^ $(CLI_LIBS)

# What the fuzzer runs, on inputs that it found once.
$(B)/replay: $(wildcard tests/fuzz/*.c tests/fuzz/*.h) $(LIB)
	$(call run,LD,$@) $(CC) $(FLAGS) $(SANITIZE) -o $@ $(filter-out %.h,$^) $(CLI_LIBS)

$(B)/units: tests/cli/units.c tests/tap.h $(LIB)
	$(call run,LD,$@) $(CC) $(FLAGS) $(SANITIZE) -o $@ $(filter-out %.h,$^) $(CLI_LIBS)

$(B)/rings: tests/cli/rings.c tests/tap.h $(ABI) $(LIB)
	$(call run,LD,$@) $(CC) $(FLAGS) $(SANITIZE) -o $@ $(filter-out %.h,$^) $(CLI_LIBS)

$(B)/follow: tests/cli/follow.c tests/cli/writer.h tests/tap.h $(ABI) $(LIB)
	$(call run,LD,$@) $(CC) $(FLAGS) $(SANITIZE) -o $@ $(filter-out %.h,$^) $(CLI_LIBS)

$(B)/tables: tests/cli/tables.c tests/tap.h $(LIB)
	$(call run,LD,$@) $(CC) $(FLAGS) $(SANITIZE) -o $@ $(filter-out %.h,$^) $(CLI_LIBS)

$(B)/phases: $(wildcard tests/cli/phases*.c) tests/cli/phases.h tests/cli/writer.h tests/tap.h $(ABI) $(LIB)
	$(call run,LD,$@) $(CC) $(FLAGS) $(SANITIZE) -o $@ $(filter-out %.h,$^) $(CLI_LIBS)

$(B)/make_hosts: tests/cli/make_hosts.c $(LIB)
	$(call run,LD,$@) $(CC) $(FLAGS) $(SANITIZE) -o $@ $^ $(CLI_LIBS)

$(B)/live_text: tests/cli/live_text.c $(LIB)
	$(call run,LD,$@) $(CC) $(FLAGS) $(SANITIZE) -o $@ $^ $(CLI_LIBS)

# The module's ring and its rates in programs.  Of the kernel's headers they get empty ones;
# kernel.h stands for them.
KERNEL := $(addprefix $(B)/kernel/,$(addprefix linux/,atomic.h build_bug.h compiler.h kernel.h ktime.h math64.h minmax.h \
	mm.h numa.h slab.h time64.h timekeeping.h topology.h vmalloc.h) \
	$(addprefix asm/,barrier.h local64.h) $(addprefix base/,clock.h compat.h))

IN_PROGRAM := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-sign-compare -g $(SANITIZE) \
	-iquote $(B)/kernel -iquote module -iquote module/uapi -I$(B)/kernel

$(KERNEL):
	@mkdir -p $(@D) && : >$@

$(B)/sim.o: tests/module/sim.c tests/cli/build.mk $(wildcard tests/module/*.h) module/base/ring.c module/base/ring.h module/base/pages.h $(ABI) $(KERNEL)
	$(call run,CC,$<) $(CC) $(IN_PROGRAM) -c -o $@ $<

$(B)/rate: tests/module/rate.c tests/module/kernel.h tests/tap.h module/core/rate.c module/core/rate.h module/core/producer.h $(KERNEL)
	$(call run,LD,$@) $(CC) $(IN_PROGRAM) -o $@ $<

$(B)/ring: tests/module/ring.c tests/module/sim.h tests/tap.h $(B)/sim.o $(LIB)
	$(call run,LD,$@) $(CC) $(FLAGS) $(SANITIZE) -o $@ $(filter-out %.h,$^) $(CLI_LIBS)

-include $(OBJS:.o=.d)
