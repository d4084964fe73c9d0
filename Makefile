# SPDX-License-Identifier: LGPL-2.1-or-later
#
# cudatrace.  `make help` lists the targets.  Everything is built into build/;
# nothing is written beside the sources.

VERSION := $(shell sed -n 's/^.define CT_VERSION.*"\(.*\)".*/\1/p' module/uapi/cudatrace.h)
PREFIX ?= /usr/local
DESTDIR ?=
# Where udev, systemd and modprobe look, whatever PREFIX is.
LIBDIR ?= /usr/lib
CONFDIR ?= /etc
B := build

CC ?= gcc
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra
# dlopen() is in a library of its own where glibc is older than 2.34.
LIBDL := $(shell echo 'int dlclose(void *); int main(void) { return dlclose(0); }' | \
	$(CC) -x c -o /dev/null - >/dev/null 2>&1 || echo -ldl)
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(WARN) $(CFLAGS)

# The kernel to build the module for: make module KDIR=DIR for another one.
RELEASE := $(shell uname -r)
KDIR ?= /lib/modules/$(RELEASE)/build

.PHONY: all programs
all: programs module-if-possible
programs: $(B)/cudatrace $(B)/libcudatrace.so
	@:

include quiet.mk
include cli/files.mk
-include cli/export/html/html.mk
include userlib/files.mk
include tests/sim/files.mk
include examples/files.mk
include tests/files.mk

# ----------------------------------------------------- command and library --
# Objects by source, with the headers that each includes.
CLI_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(CLI_SRCS))
USERLIB_OBJS := $(patsubst %,$(B)/obj/%.o,$(basename $(USERLIB_SRCS)))
PLUGIN_OBJS := $(foreach p,$(PLUGINS),$(call plugin_objs,$(p)))
PLUGIN_LIBS := $(PLUGINS:%=$(B)/libcudatrace-%.so)
programs: $(PLUGIN_LIBS)

$(B)/cudatrace: $(CLI_OBJS)
	$(call run,LD,$@) $(CC) $(LDFLAGS) -o $@ $^ $(CLI_LIBS) $(LIBDL)
	@$(if $(CLI_LEFT_OUT),printf '%s\n' $(CLI_LEFT_OUT))

$(B)/libcudatrace.so: $(USERLIB_OBJS) userlib/libcudatrace.map
	$(call run,LD,$@) $(CC) $(USERLIB_CFLAGS) $(USERLIB_LDFLAGS) -o $@ $(USERLIB_OBJS)

define plugin
$(B)/libcudatrace-$(1).so: $(call plugin_objs,$(1))
	$$(call run,LD,$$@) $$(CC) $$(USERLIB_CFLAGS) $$(PLUGIN_LDFLAGS) -o $$@ $$^
endef
$(foreach p,$(PLUGINS),$(eval $(call plugin,$(p))))

$(B)/obj/cli/%.o: cli/%.c
	@mkdir -p $(@D)
	$(call run,CC,$<) $(CC) $(ALL_CFLAGS) $(CLI_CPPFLAGS) -MMD -MP -c -o $@ $<

$(B)/obj/userlib/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(call run,CC,$<) $(CC) $(USERLIB_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/obj/userlib/%.o: userlib/%.S
	@mkdir -p $(@D)
	$(call run,AS,$<) $(CC) $(USERLIB_CFLAGS) -MMD -MP -c -o $@ $<

# The page of HTML reports and SQLite's statements are built into the command.
$(B)/obj/cli/export/html/template.o: $(HTML_TEMPLATE)
$(B)/obj/cli/export/sqlite/schema.o $(B)/obj/cli/export/sqlite/views.o: $(wildcard cli/export/sqlite/*.sql)

-include $(CLI_OBJS:.o=.d) $(USERLIB_OBJS:.o=.d) $(PLUGIN_OBJS:.o=.d)

# ------------------------------------------------------------------ module --
.PHONY: module module-if-possible
# kbuild writes beside the sources, so it gets a copy, in build/RELEASE.
module:
	@test -e "$(KDIR)/Makefile" || { echo "No kernel headers at $(KDIR): apt-get install linux-headers-$(RELEASE), or give KDIR=DIR"; exit 1; }
	@release=$$(sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' $(KDIR)/include/generated/utsrelease.h) && \
	out=$(CURDIR)/$(B)/$$release && packaging/copy-module $$out && \
	$(if $(filter 1,$(V)),,echo "KO   $(B)/$$release/cudatrace.ko" && )\
	$(MAKE) $(if $(filter 1,$(V)),,-s) --no-print-directory -C $(KDIR) M=$$out $(if $(W),W=$(W)) modules

# For Secure Boot.  KEYS holds the key, which is made once.
KEYS ?= /var/lib/cudatrace
sign: module
	@release=$$(sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' $(KDIR)/include/generated/utsrelease.h) && \
	packaging/sign $(B)/$$release/cudatrace.ko $(KDIR) $(KEYS)

module-if-possible:
	@if [ -e $(KDIR)/Makefile ]; then $(MAKE) --no-print-directory module; \
	else echo "The module is not built: no headers of the running kernel (apt-get install linux-headers-$(RELEASE))"; fi

# ----------------------------------------------------------------- install --
# Man pages and completion, from what the command itself says with --help.
.PHONY: help-files
help-files: $(B)/man/cudatrace.1 $(B)/completion/cudatrace.bash
	@:
$(B)/man/cudatrace.1: $(B)/cudatrace packaging/help/man packaging/help/table
	$(call run,MAN,$(@D)) packaging/help/man $(B)/cudatrace $(VERSION) $(@D)
$(B)/completion/cudatrace.bash: $(B)/cudatrace packaging/help/completion packaging/help/table
	$(call run,SH,$(@D)) packaging/help/completion $(B)/cudatrace $(@D)

.PHONY: install install-programs uninstall dkms-install dkms-remove sign
install-programs: programs help-files
	install -D -m 755 $(B)/cudatrace $(DESTDIR)$(PREFIX)/bin/cudatrace
	install -D -m 755 $(B)/libcudatrace.so $(DESTDIR)$(PREFIX)/lib/cudatrace/libcudatrace.so
	install -m 755 $(PLUGIN_LIBS) $(DESTDIR)$(PREFIX)/lib/cudatrace/
	install -D -m 644 userlib/include/cudatrace/cudatrace.h $(DESTDIR)$(PREFIX)/include/cudatrace/cudatrace.h
	install -D -m 644 module/uapi/cudatrace.h $(DESTDIR)$(PREFIX)/include/cudatrace/uapi/cudatrace.h
	install -D -m 644 module/uapi/cudatrace_events.h $(DESTDIR)$(PREFIX)/include/cudatrace/uapi/cudatrace_events.h
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(B)/man/cudatrace*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -D -m 644 $(B)/completion/cudatrace.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/cudatrace
	install -D -m 644 $(B)/completion/_cudatrace $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_cudatrace
	install -D -m 644 $(B)/completion/cudatrace.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/cudatrace.fish

# And what lets the machine's users use the module.
install: install-programs
	install -D -m 644 packaging/60-cudatrace.rules $(DESTDIR)$(LIBDIR)/udev/rules.d/60-cudatrace.rules
	install -D -m 644 packaging/sysusers.conf $(DESTDIR)$(LIBDIR)/sysusers.d/cudatrace.conf
	install -D -m 644 packaging/modules-load.conf $(DESTDIR)$(LIBDIR)/modules-load.d/cudatrace.conf
	install -D -m 644 packaging/modprobe.conf $(DESTDIR)$(LIBDIR)/modprobe.d/cudatrace.conf
	install -D -m 755 packaging/service/cudatrace-recorder $(DESTDIR)$(PREFIX)/lib/cudatrace/cudatrace-recorder
	install -d $(DESTDIR)$(LIBDIR)/systemd/system
	sed 's,/usr/lib/cudatrace/,$(PREFIX)/lib/cudatrace/,; s,^StateDirectory=,Environment=CUDATRACE=$(PREFIX)/bin/cudatrace\n&,' \
		packaging/service/cudatrace-recorder.service >$(DESTDIR)$(LIBDIR)/systemd/system/cudatrace-recorder.service
	@test -e $(DESTDIR)$(CONFDIR)/cudatrace/recorder.conf || \
		install -D -m 644 packaging/service/recorder.conf $(DESTDIR)$(CONFDIR)/cudatrace/recorder.conf
ifeq ($(DESTDIR),)
	@getent group cudatrace >/dev/null || groupadd --system cudatrace
	@if command -v udevadm >/dev/null && udevadm control --reload 2>/dev/null; then \
		udevadm trigger --sysname-match=cudatrace; fi
endif

uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/bin/cudatrace $(DESTDIR)$(PREFIX)/lib/cudatrace $(DESTDIR)$(PREFIX)/include/cudatrace \
		$(DESTDIR)$(PREFIX)/share/man/man1/cudatrace.1 $(DESTDIR)$(PREFIX)/share/man/man1/cudatrace-*.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/cudatrace $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_cudatrace \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/cudatrace.fish \
		$(DESTDIR)$(LIBDIR)/udev/rules.d/60-cudatrace.rules $(DESTDIR)$(LIBDIR)/sysusers.d/cudatrace.conf \
		$(DESTDIR)$(LIBDIR)/modules-load.d/cudatrace.conf $(DESTDIR)$(LIBDIR)/modprobe.d/cudatrace.conf \
		$(DESTDIR)$(LIBDIR)/systemd/system/cudatrace-recorder.service $(DESTDIR)$(CONFDIR)/cudatrace

# What runs with glibc 2.31 and newer, for machines without a compiler: see packaging/portable.
.PHONY: tarball wheel deb rpm portable
DIST := $(B)/dist
portable:
	@rm -rf $(DIST)/portable
	@packaging/portable $(DIST)/portable

tarball: portable
	@packaging/make-tarball $(DIST)/portable $(VERSION) $(DIST)

wheel: portable
	@packaging/wheel/make-wheel $(DIST)/portable $(VERSION) $(DIST)

deb: portable
	@packaging/deb/make-deb $(DIST)/portable $(VERSION) $(DIST)

rpm: portable
	@packaging/rpm/make-rpm $(DIST)/portable $(VERSION) $(DIST)

DKMS ?= dkms
DKMS_SRC ?= /usr/src
# What DKMS builds from: the module's sources alone.
dkms-install:
	@command -v $(DKMS) >/dev/null || { echo "dkms is not installed: apt-get install dkms"; exit 1; }
	rm -rf $(DKMS_SRC)/cudatrace-$(VERSION)
	mkdir -p $(DKMS_SRC)/cudatrace-$(VERSION)
	cp -R Kbuild dkms.conf module $(DKMS_SRC)/cudatrace-$(VERSION)/
	-$(DKMS) remove $(DKMS_ARGS) cudatrace/$(VERSION) --all >/dev/null 2>&1
	$(DKMS) add $(DKMS_ARGS) cudatrace/$(VERSION)
	$(DKMS) install $(DKMS_ARGS) $(DKMS_KERNEL) --force cudatrace/$(VERSION)

dkms-remove:
	-$(DKMS) remove $(DKMS_ARGS) cudatrace/$(VERSION) --all
	rm -rf $(DKMS_SRC)/cudatrace-$(VERSION)

# -------------------------------------------------------------------- demo --
.PHONY: deps demo test test-all test-kernels test-long bench clean help
# Debian packages that the build, the demo and the tests need, where missing.
deps:
	@tests/deps

demo:
	@tests/deps --demo
	@tests/demo

# The suites that the changed files need; all of them in a fresh clone.
test: deps
	@tests/run --test

test-all: deps
	@tests/run --all

# Each kernel with its driver in full, and what else `make test-all` leaves out.
test-kernels: deps
	@tests/run --kernels

# Half an hour of stress, fuzz and failures, and the module's coverage, in a kernel that
# watches; building that one takes some 10 minutes more, once.
test-long:
	@tests/deps --long
	@tests/run --long

# Instructions of the kernel's side in a guest, and nanoseconds of the library here; then
# how fast a large trace is read and exported, and how fast the page of its HTML report is.
bench: deps
	@status=0; for bench in run user.sh stacks.sh reading.sh formats.sh page.sh metrics.sh; do \
		tests/bench/$$bench || status=1; echo; done; exit $$status

clean:
	find $(B) -mindepth 1 -maxdepth 1 ! -name cache -exec rm -rf {} + 2>/dev/null; true

help:
	@echo "make [V=1]        build/cudatrace, build/libcudatrace*.so, and the module if headers are there"
	@echo "make module KDIR=DIR   build/RELEASE/cudatrace.ko for those kernel headers"
	@echo "make sign KEYS=DIR     the same, signed for Secure Boot with a key that is made in DIR"
	@echo "make demo         record an inference program, with something to look at in demo/:"
	@echo "                  2 to 5 minutes on two cores without a GPU, later half a minute"
	@echo "make test         the tests that your changes need; in a fresh clone all"
	@echo "make test-all     all tests, those of the kernel on one kernel in full, on three in short"
	@echo "make test-kernels those of the kernel on each kernel and driver in full"
	@echo "                  (tests/run SUITE [PATTERN]: some of them; tests/run --list)"
	@echo "make test-long    stress, fuzz and fault injection at length, in a debug kernel"
	@echo "make bench        what an event costs, beside other tracers, and how fast a trace is"
	@echo "                  read and exported; also into build/bench/*.tsv"
	@echo "make install      command, libraries and headers into PREFIX ($(PREFIX))"
	@echo "make dkms-install the module, rebuilt with every kernel"
	@echo "make wheel tarball     build/dist/: for pip, and for any folder, with glibc 2.31 and newer"
	@echo "make deb rpm      build/dist/: packages for Debian and Ubuntu, or RHEL and SUSE, the module for DKMS among them"
	@echo "make clean        all of build/ but the cache of packages and guests"
