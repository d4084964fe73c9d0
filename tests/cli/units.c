// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the command line is made of, by itself: percentiles, keyed arrays, output of
 * numbers and strings, layouts.  Prints TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../cli/trace/about/machine.h"
#include "../../cli/trace/class.h"
#include "../../cli/doctor/doctor_device.h"
#include "../../cli/base/grow.h"
#include "../../cli/base/keyed.h"
#include "../../cli/base/largest.h"
#include "../../cli/base/median.h"
#include "../../cli/base/proc.h"
#include "../../cli/base/union.h"
#include "../../cli/analysis/gpu/gap_pairs.h"
#include "../../cli/analysis/engine.h"
#include "../../cli/group/histogram.h"
#include "../../cli/group/rows.h"
#include "../../cli/analysis/losses.h"
#include "../../cli/capture/capture_machine.h"
#include "../../cli/capture/launch.h"
#include "../../cli/capture/ring.h"
#include "../../cli/capture/started.h"
#include "../../cli/base/out.h"
#include "../../cli/export/html/curve.h"
#include "../../cli/write/write_registry.h"
#include "../../cli/trace/directory.h"
#include "../../cli/trace/registry.h"
#include "../../cli/view/term.h"
#include "../tap.h"

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void percentiles(void)
{
	enum { MANY = 50000 };
	static uint64_t values[MANY];
	struct ct_histogram h = { 0 };
	double worst = 0;

	for (unsigned int i = 1000; i > 0; i--)
		ct_histogram_add(&h, i);
	ok(ct_histogram_value(&h, 500) == 500 && ct_histogram_value(&h, 950) == 950 &&
	   ct_histogram_value(&h, 990) == 990, "percentiles of 1000 values are exact");
	ok(h.min == 1 && h.max == 1000 && h.total == 500500, "least, most and sum");
	ct_histogram_free(&h);

	srand(1);
	for (unsigned int i = 0; i < MANY; i++) {
		values[i] = 1ull << rand() % 40;
		values[i] += rand() % values[i];
		ct_histogram_add(&h, values[i]);
	}
	qsort(values, MANY, sizeof(*values), compare);
	for (unsigned int p = 1; p < 1000; p++) {
		double right = values[(MANY * p + 999) / 1000 - 1];
		double error = (ct_histogram_value(&h, p) - right) / right;

		if (error < 0)
			error = -error;
		if (error > worst)
			worst = error;
	}
	ok(worst < 0.01, "percentiles of 50000 values are right to 1 %% (%.4f)", worst);
	ct_histogram_free(&h);
	ok(ct_histogram_value(&h, 500) == 0, "none of nothing");
}

static int by_square(const void *a, const void *b)
{
	uint64_t x = ((const uint64_t *)a)[1], y = ((const uint64_t *)b)[1];

	return x < y ? -1 : x > y;
}

static void keyed(void)
{
	struct one { uint64_t key, value; };
	struct two { uint64_t key, who, value; } *two;
	CT_KEYED(struct one) set = { 0 };
	CT_KEYED(struct two) pairs = { 0 };
	CT_KEYED(uint64_t) numbers = { 0 };
	unsigned int wrong = 0;

	ok(!ct_keyed_get(&set, 1), "a set without structs finds none");
	for (uint64_t i = 0; i < 20000; i++)
		ct_keyed_put(&set, i * 64)->value = i;
	for (uint64_t i = 0; i < 20000; i++)
		wrong += set.list[i].key != i * 64 || ct_keyed_put(&set, i * 64) != &set.list[i];
	ok(!wrong && set.count == 20000, "structs stand in the order in which they were made, each once");
	for (uint64_t i = 0; i < 20000; i += 2)
		ct_keyed_remove(&set, ct_keyed_get(&set, i * 64));
	for (uint64_t i = 0; i < 20000; i++) {
		struct one *one = ct_keyed_get(&set, i * 64);

		wrong += i % 2 ? !one || one->value != i : one != NULL;
	}
	ok(!wrong && set.count == 10000, "a set keeps the others when some are removed");
	for (size_t i = 0; i < set.count; i++)
		set.list[i].value = 1000000 - set.list[i].value;
	ct_keyed_sort(&set, by_square);
	for (size_t i = 0; i < set.count; i++)
		wrong += (i && set.list[i].value < set.list[i - 1].value) ||
			 ct_keyed_get(&set, set.list[i].key) != &set.list[i];
	ok(!wrong, "it is sorted, and each is found afterwards");
	for (uint64_t i = 0; i < 1000000; i++) {
		ct_keyed_put(&set, ~i)->value = 1;
		ct_keyed_remove(&set, ct_keyed_get(&set, ~i));
	}
	ok(set.keyed.room <= 32768 && !ct_keyed_put(&set, 1)->value,
	   "it doesn't grow by what comes and goes, and what is made is zero");
	ct_keyed_free(&set);
	for (uint64_t i = 0; i < 1000; i++)
		ct_keyed_put_pair(&pairs, i % 10, i / 10)->value = i;
	for (uint64_t i = 0; i < 1000; i += 3)
		ct_keyed_remove_pair(&pairs, ct_keyed_get_pair(&pairs, i % 10, i / 10));
	for (uint64_t i = 0; i < 1000; i++) {
		two = ct_keyed_get_pair(&pairs, i % 10, i / 10);
		wrong += i % 3 ? !two || two->value != i : two != NULL;
	}
	ok(!wrong, "a key of two numbers");
	ct_keyed_free(&pairs);
	for (uint64_t i = 0; i < 100; i++)
		ct_keyed_put(&numbers, i % 7);
	ok(numbers.count == 7 && ct_keyed_get(&numbers, 6) && !ct_keyed_get(&numbers, 7), "a set of numbers");
	ct_keyed_free(&numbers);
}

static void grow(void)
{
	unsigned char *bytes = NULL, *small = NULL, room = 0;
	uint32_t *list = NULL, at = 0, wrong = 0;
	unsigned int count = 0;
	size_t bytes_room = 0;

	for (unsigned int i = 0; i < 10000; i++)
		if (ct_room(bytes, count, bytes_room))
			bytes[count++] = i;
	for (unsigned int i = 0; i < 10000; i++)
		wrong += bytes[i] != (i & 255);
	ok(count == 10000 && !wrong, "an array grows by one");
	ok(ct_room_at(list, 500, at) && at > 500, "and to an index");
	for (unsigned int i = 0; i < at; i++)
		wrong += list[i] != 0;
	list[3] = 7;
	ok(!wrong && ct_room_at(list, 5000, at) && list[3] == 7 && !list[at - 1], "whose new elements are zeros");
	count = 0;
	while (count < 1000 && ct_room(small, count, room))
		count++;
	ok(count == 255 && room == 255, "never to more than its number can say");
	free(bytes);
	free(list);
	free(small);
}

/* What @put wrote, as a string. */
static const char *written(struct ct_out *out)
{
	out->buffer[out->used] = 0;
	out->used = 0;
	return out->buffer;
}

static void output(void)
{
	static const struct {
		const char *in, *want;
	} strings[] = {
		{ "a\"b\\c\n\x7f", "\"a\\\"b\\\\c\\u000a\\u007f\"" },
		{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"" },
		{ "\xff\xc3", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },		/* overlong */
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },	/* surrogate */
	};
	static const struct {
		int64_t value;
		unsigned int digits;
		const char *want;
	} numbers[] = {
		{ 0, 6, "0.000000" }, { 1, 6, "0.000001" }, { 1234567, 6, "1.234567" },
		{ -5, 3, "-0.005" }, { INT64_MIN, 3, "-9223372036854775.808" },
		{ 100000, 3, "100.000" },
	};
	struct ct_out out;
	char text[64];

	ct_out_open(&out, -1);
	for (unsigned int i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		ct_out_json(&out, strings[i].in, strlen(strings[i].in));
		ok(!strcmp(written(&out), strings[i].want), "JSON string %u", i);
	}
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		ct_out_fixed(&out, numbers[i].value, numbers[i].digits);
		ok(!strcmp(written(&out), numbers[i].want), "%s", numbers[i].want);
	}
	ct_out_u64(&out, UINT64_MAX);
	ok(!strcmp(written(&out), "18446744073709551615"), "the largest number");
	ct_out_hex(&out, 0xdeadbeef);
	ok(!strcmp(written(&out), "0xdeadbeef"), "hexadecimal");
	free(out.buffer);
	ok(!strcmp(ct_term_count(text, 1234567), "1,234,567") &&
	   !strcmp(ct_term_count(text, 12), "12"), "thousands are marked");
	ok(!strcmp(ct_term_clean(text, sizeof(text), "a\033[31mb\xff", 20), "a?[31mb?"),
	   "no control character reaches the terminal");
	ok(!strcmp(ct_term_clean(text, sizeof(text), "caf\xc3\xa9s", 4), "caf~"), "cut by columns");
}

/* A registry that may not grow, or that somebody died in. */
static void registry(void)
{
	char dir[] = "/tmp/cudatrace-units.XXXXXX", path[64], longer[1000];
	struct rlimit limit, before;
	struct ct_registry_writer w;
	struct ct_error err;
	const uint8_t uuid[16] = { 0 };
	struct ct_registry reg;
	FILE *f;
	int rc;

	if (!mkdtemp(dir) || ct_registry_create(&w, dir, uuid, 1, 2, &err)) {
		ok(0, "a registry to write to");
		return;
	}
	snprintf(path, sizeof(path), "%s/%s", dir, CT_REGISTRY_FILE);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 500;
	setrlimit(RLIMIT_FSIZE, &limit);
	rc = ct_registry_add_info(&w, "long", longer);
	setrlimit(RLIMIT_FSIZE, &before);
	ok(rc < 0, "a line without room for it is refused (%d)", rc);
	ct_registry_add_info(&w, "short", "y");
	f = fopen(path, "a");
	fprintf(f, "class 99999 us");
	fclose(f);
	ct_registry_add_info(&w, "last", "z");
	ct_registry_close(&w);
	rc = ct_registry_read(&reg, dir, &err);
	ok(!rc && reg.infos_count == 2 && !strcmp(ct_registry_info(&reg, "short"), "y") &&
	   !strcmp(ct_registry_info(&reg, "last"), "z"),
	   "a line that was cut is void, no matter who cut it, and the next one is whole");
	ct_registry_free(&reg);

	/* Whatever the hash begins with, one of the infos has that of the class. */
	f = fopen(path, "a");
	fprintf(f, "class 16384 user init - - cuInit cuInit\ninfo iuInit cuInit\ninfo cuInit cuInit\n"
		   "info kernel x\nclass 16385 user init - - kernel x\n");
	fclose(f);
	rc = ct_registry_read(&reg, dir, &err);
	ok(!rc && reg.infos_count == 5 && ct_registry_class(&reg, 16384) &&
	   ct_registry_class(&reg, 16385),
	   "lines of two kinds whose texts have the same hash both count");
	ct_registry_free(&reg);
	unlink(path);
	rmdir(dir);
}

static bool layout(const char *fields)
{
	const char *why;
	struct ct_class *class = ct_class_new(0x4000, 0, 0, 0, fields, "n", "s", &why);

	free(class);
	return class != NULL;
}

static bool known(const char *fields, enum ct_known field)
{
	const char *why;
	struct ct_class *class = ct_class_new(0x4000, 0, 0, 0, fields, "n", "s", &why);
	bool is = class && class->known[field] >= 0;

	free(class);
	return is;
}

static int larger(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return x > y ? -1 : x < y;
}

/* Of all numbers below 1000, each once and in no order, the largest ones. */
static void largest(void)
{
	unsigned int list[100], count, wrong = 0;

	for (unsigned int most = 0; most <= 100; most += most < 4 ? 1 : 12) {
		count = 0;
		for (unsigned int i = 0; i < 1000; i++)
			ct_largest_keep(list, &count, most, sizeof(*list), &(unsigned int){ i * 617 % 1000 }, larger);
		qsort(list, count, sizeof(*list), larger);
		wrong += count != most;
		for (unsigned int i = 0; i < count; i++)
			wrong += list[i] != 999 - i;
	}
	ok(!wrong, "the largest are kept");
}

/* What a class of the program with this category and name is. */
static uint32_t what(unsigned int category, unsigned int operation, const char *name)
{
	const char *why;
	struct ct_class *class = ct_class_new(0x4000, CT_LAYER_USER, category, operation, "ptr:x64,", name, name, &why);
	uint32_t bits = class ? class->what : 0;

	free(class);
	return bits;
}

static bool is_collective(const char *name)
{
	const char *why;
	struct ct_class *class = ct_class_new(0x4000, CT_LAYER_USER, CT_CAT_COLLECTIVE, CT_OP_NONE, "number:u32,rank:u32,", name, name, &why);
	bool is = class && ct_class_is(class, CT_IS_COLLECTIVE);

	free(class);
	return is;
}

static void classes(void)
{
	ok(is_collective("ncclAllReduce") && !is_collective("x") && !is_collective("ncc"), "a collective has a name of libnccl, whatever a trace says");
	ok(what(CT_CAT_QUERY, CT_OP_NONE, "ncclCommCount") == (CT_IS_API | CT_IS_NCCL | CT_IS_QUERY) &&
	   what(CT_CAT_QUERY, CT_OP_NONE, "cuCtxGetDevice") == (CT_IS_API | CT_IS_CUDA | CT_IS_QUERY),
	   "a getter is of the library that has it");
	ok(what(CT_CAT_MEMORY, CT_OP_ALLOC, "cuMemHostAlloc") == (CT_IS_API | CT_IS_CUDA | CT_IS_MEMORY | CT_IS_HOST | CT_IS_ALLOC) &&
	   what(CT_CAT_MEMORY, CT_OP_FREE, "cuMemFree") == (CT_IS_API | CT_IS_CUDA | CT_IS_MEMORY | CT_IS_FREE) &&
	   what(CT_CAT_MEMORY, CT_OP_NONE, "cuMemMap") == (CT_IS_API | CT_IS_CUDA | CT_IS_MEMORY), "calls on memory, and whose");
	ok(what(CT_CAT_MODULE, CT_OP_LOOKUP, "cuModuleGetFunction") == (CT_IS_API | CT_IS_CUDA | CT_IS_CODE) &&
	   what(CT_CAT_MODULE, CT_OP_LOAD, "cuModuleLoad") == (CT_IS_API | CT_IS_CUDA | CT_IS_CODE | CT_IS_LOAD), "calls on code");
}

static void layouts(void)
{
	ok(layout("-") && layout("") && layout("a:u64,") && layout("a:u32,b:u32,") &&
	   layout("a:u32,text:text,"), "layouts that are ones");
	ok(!layout("a:u32,"), "a size that is no multiple of 8 is refused");
	ok(!layout("a:u32,b:u64,c:u32,"), "so is a field that is not aligned");
	ok(!layout("t:text,a:u64,"), "a field behind a text");
	ok(!layout("a:u63,") && !layout("a,") && !layout(":u64,") && !layout("a b:u64,"),
	   "a field without type or name");
	ok(!layout("a:u64,a:u64,"), "two fields of one name");
	ok(!layout("a:u64,b:u64,c:u64,d:u64,e:u64,f:u64,g:u64,h:u64,i:u64,j:u64,k:u64,l:u64,"
		   "m:u64,n:u64,o:u64,p:u64,q:u64,"), "more than 16 fields");
	ok(!known("kernel:u64,", CT_KNOWN_KERNEL) && known("kernel:str,shared:u32,", CT_KNOWN_KERNEL) &&
	   !known("device:u32,cmd:u32,", CT_KNOWN_DEVICE) && known("size:u64,", CT_KNOWN_SIZE),
	   "a field is what its name says only if it has the type");
	for (unsigned int i = 0;; i++) {
		struct ct_class *class = ct_class_static(i);
		char spec[CT_SPEC_MAX];

		if (!class)
			break;
		ct_class_spec(class, spec);
		if (!layout(spec))
			ok(0, "static class %s", class->name);
		free(class);
	}
}

static void probes(void)
{
	unsigned int count[CT_PROBE_SHADOWED + 1] = { [CT_PROBE_IDLE] = 51 };
	char text[256];

	ct_doctor_probes(text, sizeof(text), count, CT_PROBE_SHADOWED + 1);
	ok(!strcmp(text, "51 probes: 51 idle"), "doctor names one state where there is one (%s)", text);
	count[CT_PROBE_ARMED] = 1;
	count[CT_PROBE_ABSENT] = 2;
	count[CT_PROBE_SHADOWED] = 3;
	count[CT_PROBE_FAILED] = 4;
	count[CT_PROBE_NO_MODULE] = 5;
	ct_doctor_probes(text, sizeof(text), count, CT_PROBE_SHADOWED + 1);
	ok(!strcmp(text, "66 probes: 1 armed, 51 idle, 2 absent, 3 under another name, 4 refused, 5 whose module is not loaded"),
	   "and all where there are all (%s)", text);
}

#define MIB	(1ull << 20)

static void put(const char *root, const char *file, const char *text)
{
	char command[512], path[256];
	FILE *f;

	snprintf(command, sizeof(command), "mkdir -p $(dirname %s%s)", root, file);
	snprintf(path, sizeof(path), "%s%s", root, file);
	f = system(command) ? NULL : fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		ok(0, "%s can be written", path);
}

/* How large rings are, by memory and CPUs. */
static void rings(void)
{
	char root[] = "/tmp/cudatrace-units.XXXXXX", command[64];

	ok(ct_ring_default(2048 * MIB, 2) == 16 * MIB && ct_ring_default(256 * MIB, 4) == 4 * MIB,
	   "a sixteenth of the memory, for all CPUs together");
	ok(ct_ring_default(0, 1) == MIB && ct_ring_default(64 * MIB, 64) == MIB, "at least 1 MiB each");
	ok(ct_ring_default(1ull << 40, 8) == 16 * MIB && ct_ring_default(1ull << 40, 256) == 4 * MIB,
	   "at most 16 MiB each, and 1 GiB together");
	ok(ct_ring_largest(2048 * MIB, 2) == 512 * MIB && ct_ring_largest(1ull << 40, 2) == 1ull << 30,
	   "who asks for more may have half of the memory, and 1 GiB each");

	if (!mkdtemp(root))
		return;
	put(root, "/proc/meminfo", "MemTotal:  9000 kB\nMemAvailable:    8192 kB\n");
	put(root, "/sys/devices/system/cpu/possible", "0-3,8,10-11\n");
	ok(ct_ring_memory(root) == 8 * MIB && ct_ring_cpus(root) == 7, "memory and CPUs of the machine");
	put(root, "/proc/self/cgroup", "1:cpu:/x\n0::/a/b\n");
	put(root, "/sys/fs/cgroup/a/b/memory.max", "max\n");
	put(root, "/sys/fs/cgroup/a/b/memory.current", "100\n");
	ok(ct_ring_memory(root) == 8 * MIB, "a cgroup without a limit takes nothing away");
	put(root, "/sys/fs/cgroup/a/memory.max", "4194304\n");
	put(root, "/sys/fs/cgroup/a/memory.current", "1048576\n");
	ok(ct_ring_memory(root) == 3 * MIB, "one around it that has one leaves what it does not use yet");
	put(root, "/sys/fs/cgroup/memory.max", "1000\n");
	put(root, "/sys/fs/cgroup/memory.current", "2000\n");
	ok(ct_ring_memory(root) == 0, "or nothing");
	put(root, "/proc/self/mountinfo", "25 30 0:23 / /proc rw - proc proc rw\n"
	    "99 30 0:27 / /other/place rw,nosuid - cgroup2 none rw\n");
	put(root, "/other/place/a/b/memory.max", "2097152\n");
	put(root, "/other/place/a/b/memory.current", "1048576\n");
	ok(ct_ring_memory(root) == MIB, "cgroups that are mounted elsewhere");
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ok(!system(command), "the files go");
}

static bool prints(const struct ct_losses *l, const char *text)
{
	char *said = NULL;
	size_t size;
	FILE *f = open_memstream(&said, &size);
	bool found;

	ct_losses_print(l, f);
	fclose(f);
	found = strstr(said, text) != NULL;
	if (!found)
		printf("# %s", said);
	free(said);
	return found;
}

/* What a trace that lacks records says. */
static void losses(void)
{
	struct ct_losses_cpu cpu = { .records = 1000, .bytes = 64000 };
	struct ct_losses l = { .module = true, .ring = 4 * MIB, .largest = 64 * MIB };

	ok(!ct_losses_needed(&cpu, 4 * MIB), "nothing lost: the ring was large enough");
	cpu.lost[CT_LOST_NESTED] = cpu.lost[CT_LOST_RATE] = 1000000;
	ok(!ct_losses_needed(&cpu, 4 * MIB), "no ring helps against a rate");
	/* 64 bytes each: 6.1 MiB, and half as much again. */
	cpu.lost[CT_LOST_FULL] = 100000;
	ok(ct_losses_needed(&cpu, 4 * MIB) == 16 * MIB, "the ring holds what was lost as well");
	cpu.lost[CT_LOST_SHARE] = 50000;
	ok(ct_losses_needed(&cpu, 4 * MIB) == 32 * MIB, "a producer's share of it, too");
	cpu.bytes = 640000;
	ok(ct_losses_needed(&cpu, 4 * MIB) == 256 * MIB, "larger records need more");
	cpu = (struct ct_losses_cpu){ .lost = { 100000 } };
	ok(ct_losses_needed(&cpu, 4 * MIB) == 16 * MIB, "a CPU that recorded nothing: usual records");
	cpu.lost[CT_LOST_FULL] = ~0ull;
	cpu.lost[CT_LOST_SHARE] = ~0ull;
	cpu.records = 1;
	cpu.bytes = ~0ull;
	ok(ct_losses_needed(&cpu, 4 * MIB) > 1ull << 40, "numbers of a damaged trace");

	l.lost[CT_LOST_FULL] = 430000;
	l.needed = 32 * MIB;
	ok(prints(&l, "why: 430,000: the ring of a CPU was full\n") &&
	   prints(&l, "do:  record again with --ring-size 32M (memory for each CPU; it had 4M)\n"),
	   "the ring's size, as the option takes it");
	l.needed = 2048 * MIB;
	l.hits[CT_GROUP_IOCTL] = 100;
	l.hits[CT_GROUP_SCHEDULER] = l.busiest_hits = 900;
	l.all_hits = 1000;
	strcpy(l.busiest, "nvidia:nv_queue");
	ok(prints(&l, "a ring would need 2G for each CPU; memory allows 64M (--ring-size 64M)\n") &&
	   prints(&l, "nvidia:nv_queue has the most hits (900), its group scheduler 90 % of all: "
		  "leave it out by --groups ioctl,memory,interrupt,context,uvm,added,fence,switch\n"),
	   "where memory does not allow it, what to leave out");
	l.hits[CT_GROUP_IOCTL] = 0;
	l.all_hits = 900;
	ok(prints(&l, "cudatrace session filter; most hits has nvidia:nv_queue\n"),
	   "but not all of it");
	l = (struct ct_losses){ .module = true, .lost[CT_LOST_RATE] = 7 };
	ok(prints(&l, "why: 7: a producer went beyond") && prints(&l, "do:  raise the limit: cudatrace session limit --rate"),
	   "a limit, and how it is raised");
	l = (struct ct_losses){ .threads = 7 };
	ok(prints(&l, "do:  give a directory with more space"), "without the module: the disk");
}

/* A range that took @ns, with this text. */
static int range_of(struct ct_grouping *g, const char *text, unsigned int len, uint64_t ns)
{
	static const struct ct_class class = { .name = "range_push", .symbol = "", .has_text = true, .size = 2 };
	static uint64_t number;
	char fields[64] = "";
	struct ct_record record = { .class = &class, .fields = (uint8_t *)fields, .text_len = len };
	struct ct_span span = {
		.kind = CT_SPAN_RANGE, .flags = CT_SPAN_TIMED, .class = &class, .record = &record,
		.number = ++number, .pop = 1, .duration = ns,
	};

	memcpy(fields + class.size, text, len);
	return ct_group_span(g, &span);
}

/* Texts that a trace may make up without end. */
static void groups(void)
{
	static const struct ct_group_spec spec = { .of = CT_OF_RANGES, .by = { CT_BY_RANGE }, .keys = 1 };
	struct ct_grouping g = { 0 };
	struct ct_texts texts = { 0 };
	unsigned int wrong = 0, count;
	const struct ct_column *columns;
	struct ct_table t;
	char text[32];
	const struct ct_cell *last;

	for (unsigned int round = 0; round < 2; round++)
		for (unsigned int i = 0; i < CT_TEXTS_MAX; i++) {
			int n = snprintf(text, sizeof(text), "step %u", i);

			wrong += ct_texts_put(&texts, text, n) != (int)i;
		}
	ok(!wrong && texts.count == CT_TEXTS_MAX && !ct_texts_full(&texts), "65,536 texts have as many numbers");
	ok(ct_texts_put(&texts, "step 7 and more", 6) == 7 && ct_texts_put(&texts, "step 7\0x", 8) == 7,
	   "a text has its length, or ends at a NUL");
	for (unsigned int i = 0; i < 10; i++)
		wrong += ct_texts_put(&texts, text, snprintf(text, sizeof(text), "one more %u", i)) != CT_TEXTS_MAX;
	ok(!wrong && ct_texts_full(&texts) && !strcmp(texts.list[CT_TEXTS_MAX].text, "(other)"), "all others are one");
	ct_texts_free(&texts);

	ct_group_begin(&g, &spec);
	for (unsigned int i = 0; i < CT_GROUPS_MAX + 1000; i++)
		wrong += range_of(&g, text, snprintf(text, sizeof(text), "range %u", i), i == 3 ? 50 : i == 9 ? 60 : 1) != 0;
	columns = ct_group_columns(&g, &count);
	ct_table_begin(&t, "by", "ranges", columns, count);
	wrong += ct_group_rows(&g, &t) != 0;
	wrong += ct_table_end(&t) != 0;
	last = &t.cells[(t.rows - 1) * count];
	ok(!wrong && t.rows == CT_GROUPS_MAX + 1 && !strcmp(t.cells[count - 1].text, "range 9") &&
	   !strcmp(t.cells[2 * count - 1].text, "range 3") && !strcmp(last[count - 1].text, "(other)") && last[2].u == 1000 &&
	   t.notes_count == 1, "all other groups are one, which is listed last, and a note says so");
	ct_table_free(&t);
	ct_group_free(&g);
}

/* More analysers than a pass may have are refused, with a line that says so. */
static void analysers(void)
{
	static struct ct_analyser many[CT_ANALYSERS_MAX + 1];
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1 } };
	struct ct_analysers list = { 0 };
	struct ct_trace empty = { 0 };
	struct ct_error err = { 0 };
	struct ct_engine *e;

	for (unsigned int i = 0; i < CT_ANALYSERS_MAX; i++) {
		ct_analysers_add(&list, &many[i]);
		ct_analysers_add(&list, &many[0]);
	}
	e = ct_engine_run(&empty, list.list, list.count, &options, &err);
	ok(e && list.count == CT_ANALYSERS_MAX, "a pass has as many analysers as it may, each once");
	ct_engine_free(e);
	ct_analysers_add(&list, &many[CT_ANALYSERS_MAX]);
	e = ct_engine_run(&empty, list.list, list.count, &options, &err);
	ok(!e && err.code == E2BIG && strstr(err.text, "126 analysers at most"), "one more is refused, and the line says why");
	ct_engine_free(e);
}

static void medians(void)
{
	uint64_t odd[] = { 9, 1, 5 }, even[] = { 8, 1, 4, 2 };
	double numbers[] = { 2.5, 0.5 };

	ok(ct_median(odd, 3) == 5 && odd[0] == 1 && odd[2] == 9, "a median, and the values are sorted");
	ok(ct_median(even, 4) == 3 && ct_median_double(numbers, 2) == 1.5, "of an even number the mean of two");
	ok(ct_median(NULL, 0) == 0, "none of nothing");
}

static int by_end(const void *a, const void *b)
{
	return compare((const uint64_t *)a + 1, (const uint64_t *)b + 1);
}

/* Calls of several threads: no moment counts twice. */
static void unions(void)
{
	enum { CALLS = 400, MOMENTS = 3000 };
	uint64_t call[CALLS][2], covered = 0, sum = 0;
	static bool moment[MOMENTS];
	struct ct_union u = { 0 };

	srand(3);
	for (int i = 0; i < CALLS; i++) {
		call[i][0] = rand() % (MOMENTS - 100);
		call[i][1] = call[i][0] + rand() % (i % 7 ? 10 : 100);
		sum += call[i][1] - call[i][0];
		for (uint64_t k = call[i][0]; k < call[i][1]; k++)
			moment[k] = true;
	}
	for (int i = 0; i < MOMENTS; i++)
		covered += moment[i];
	qsort(call, CALLS, sizeof(*call), by_end);
	for (int i = 0; i < CALLS; i++)
		ct_union_add(&u, call[i][0], call[i][1]);
	ok(u.total == covered && covered < sum, "union of intervals: %llu of %llu (%llu)", (unsigned long long)u.total,
	   (unsigned long long)sum, (unsigned long long)covered);
	u = (struct ct_union){ 0 };
	for (uint64_t i = 0; i < 1000; i++)
		ct_union_add(&u, 10 * i, 10 * i + 4);
	ct_union_add(&u, 9985, 10000);
	ok(u.total == 4 * 999 + 15, "of many that do not meet: %llu", (unsigned long long)u.total);
}

/* Medians of gaps: exact of few, right to 1 % of many. */
static void gaps(void)
{
	static const struct ct_class kernel = { .id = 5 }, copy = { .id = 6 };
	struct ct_gpu_work_name a = { &kernel, 1 }, b = { &copy, 2 };
	struct ct_gap_pairs pairs = { 0 };
	bool right = true;

	for (uint64_t i = 1; i <= 1000; i++)
		right &= !ct_gap_pairs_add(&pairs, &a, &b, i * i) && !ct_gap_pairs_add(&pairs, &b, &a, 7);
	ok(right && pairs.count == 2 && pairs.list[0].count == 1000 && pairs.list[0].longest == 1000000 &&
	   ct_gap_pair_median(&pairs.list[0]) == (500 * 500 + 501 * 501) / 2.0 && ct_gap_pair_median(&pairs.list[1]) == 7,
	   "gaps by what stands around them");
	for (uint64_t i = 1001; i <= 40001; i++)
		right &= !ct_gap_pairs_add(&pairs, &a, &b, i * i);
	ok(right && ct_gap_pair_median(&pairs.list[0]) > 20001.0 * 20001 * 0.99 &&
	   ct_gap_pair_median(&pairs.list[0]) < 20001.0 * 20001 * 1.01, "the median of many gaps: %.0f",
	   ct_gap_pair_median(&pairs.list[0]));
	for (uint64_t i = 0; i < 2 * CT_GAP_PAIRS_MAX; i++) {
		a.which = 100 + i;
		right &= !ct_gap_pairs_add(&pairs, &a, &b, 1);
	}
	ok(right && pairs.count == CT_GAP_PAIRS_MAX + 1, "more pairs than are told apart are one");
	ct_gap_pairs_free(&pairs);
}

/* A registry of these lines. */
static bool machine_of(struct ct_registry *reg, struct ct_machine *m, const char *const *lines)
{
	struct ct_error err;
	char line[512];
	int rc = 0;

	*reg = (struct ct_registry){ 0 };
	for (; *lines && !rc; lines++) {
		snprintf(line, sizeof(line), "%s", *lines);
		rc = ct_registry_line(reg, line, "test", &err);
	}
	return !rc && !ct_machine_read(m, reg);
}

/* What a trace says of its machine: written, read, in words. */
static void machines(void)
{
	static const char *const two[] = {
		"cudatrace 1 uuid=91da63bf575c0243ce55688243282d79 start=1 realtime=2",
		"info driver NVRM%20version:%20NVIDIA%20UNIX%20Open%20Kernel%20Module%20for%20x86_64%20%20580.159.04%20%20Release",
		"info gpu_card 0000:1b:00.0%20GPU-11111111-0000-0000-0000-000000000000%200%20NVIDIA%20H100",
		"info gpu_card 0000:43:00.0%20GPU-22222222-0000-0000-0000-000000000000%201%20NVIDIA%20H100",
		"info cuda 13.0", "info device_name 0%20NVIDIA%20H100%2080GB%20HBM3", "info device_memory 0%2085520809984",
		"info device_uuid 0%2022222222-0000-0000-0000-000000000000",
		"info version torch%202.5.1+cu124", "info env CUDA_VISIBLE_DEVICES=1",
		"info thread_name 7%208%20python3", "info thread_name 7%207%20python3", "info thread_name 7%208%20pt_autograd_0",
		"info device_name 99%20none", "info device_memory x", "info thread_name 7", "info gpu_card x", NULL
	}, *const same[] = {
		"cudatrace 1 uuid=91da63bf575c0243ce55688243282d79 start=1 realtime=2",
		"info device_name 0%20H", "info device_name 1%20H", "info device_memory 0%201073741824",
		"info device_memory 1%201073741824", NULL
	};
	char root[] = "/tmp/cudatrace-units.XXXXXX", path[256], name[64], version[64], text[256], command[64];
	struct ct_machine *m = calloc(1, sizeof(*m));
	struct ct_registry reg;
	struct ct_registry_writer w;
	struct ct_error err;
	const char *got;

	if (!m || !mkdtemp(root))
		return;
	ok(machine_of(&reg, m, two), "the machine of a trace");
	ok(!strcmp(m->driver, "580.159.04") && !strcmp(m->cuda, "13.0"), "versions of driver and CUDA (%s, %s)", m->driver, m->cuda);
	ok(m->gpus_count == 3 && m->gpus[0].device == 0 && !strcmp(m->gpus[0].pci, "0000:43:00.0") && m->gpus[1].device == -1,
	   "CUDA's first device is the card of its UUID");
	ct_machine_gpus(m, text, sizeof(text));
	ok(!strcmp(text, "NVIDIA H100 80GB HBM3 (79.65 GiB, 0000:43:00.0)"), "the GPU in words: %s", text);
	got = ct_machine_thread(m, 7, 8);
	ok(got && !strcmp(got, "pt_autograd_0") && !ct_machine_thread(m, 7, 9), "the last name of a thread");
	ok(m->versions_count == 1 && m->env_count == 1 && m->threads_count == 2, "versions, environment, threads");
	ct_machine_free(m);
	ct_registry_free(&reg);
	ok(machine_of(&reg, m, same), "two devices that are alike");
	ct_machine_gpus(m, text, sizeof(text));
	ok(!strcmp(text, "2 x H (1.00 GiB each)"), "in words: %s", text);
	ct_machine_free(m);
	ct_registry_free(&reg);

	put(root, "/proc/driver/nvidia/gpus/0000:1b:00.0/information",
	    "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 16\nGPU UUID: \t GPU-1234\nDevice Minor: \t 3\n");
	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	setenv("SECRET", "CUDA_", 1);
	ok(!ct_registry_create(&w, root, (const uint8_t *)"0123456789abcdef", 1, 2, &err), "a registry");
	ct_machine_note(&w, root);
	ct_machine_environment(&w);
	put(root, "/site-packages/torch/lib/libtorch_cuda.so", "x");
	put(root, "/site-packages/torchvision-9.9.dist-info/METADATA", "x");
	put(root, "/site-packages/torch-2.5.1+cu124.dist-info/METADATA", "x");
	put(root, "/site-packages/nvidia/nccl/lib/libnccl.so.2", "x");
	put(root, "/site-packages/nvidia_nccl_cu12-2.21.5.dist-info/METADATA", "x");
	put(root, "/site-packages/jax_plugins/xla_cuda12/xla_cuda_plugin.so", "x");
	put(root, "/site-packages/jax_cuda12_plugin-0.4.38.dist-info/METADATA", "x");
	put(root, "/lib/libcudart.so.12.4.127", "x");
	snprintf(path, sizeof(path), "%s/site-packages/torch/lib/libtorch_cuda.so", root);
	ct_registry_add_info(&w, "library", path);
	ct_machine_versions(&w, root);
	ct_registry_close(&w);
	ok(!ct_registry_read(&reg, root, &err), "it is read");
	got = ct_registry_info(&reg, "gpu_card");
	ok(got && !strcmp(got, "0000:1b:00.0 GPU-1234 3 NVIDIA H100 80GB HBM3"), "a card of the driver: %s", got ? got : "none");
	got = ct_registry_info(&reg, "version");
	ok(got && !strcmp(got, "torch 2.5.1+cu124"), "PyTorch, by its folder: %s", got ? got : "none");
	ok(!ct_machine_read(m, &reg), "its machine");
	snprintf(text, sizeof(text), "%s", "");
	for (unsigned int i = 0; i < m->env_count; i++)
		if (!strcmp(m->env[i], "CUDA_MODULE_LOADING=EAGER") || strstr(m->env[i], "SECRET"))
			strcat(text, m->env[i]);
	ok(!strcmp(text, "CUDA_MODULE_LOADING=EAGER"), "of the environment what CUDA reads: %s", text);
	ct_machine_free(m);
	ct_registry_free(&reg);
	snprintf(path, sizeof(path), "%s/site-packages/nvidia/nccl/lib/libnccl.so.2", root);
	ok(ct_machine_library(path, name, version, sizeof(name)) && !strcmp(name, "nvidia_nccl_cu12") && !strcmp(version, "2.21.5"),
	   "NCCL from a package");
	snprintf(path, sizeof(path), "%s/site-packages/jax_plugins/xla_cuda12/xla_cuda_plugin.so", root);
	ok(ct_machine_library(path, name, version, sizeof(name)) && !strcmp(name, "jax_cuda12_plugin") && !strcmp(version, "0.4.38"),
	   "JAX");
	snprintf(path, sizeof(path), "%s/lib/libcudart.so.12", root);
	ok(!symlink("libcudart.so.12.4.127", path) && ct_machine_library(path, name, version, sizeof(name)) &&
	   !strcmp(name, "cudart") && !strcmp(version, "12.4.127"), "a library whose file says it");
	snprintf(path, sizeof(path), "%s/lib/libnone.so.1", root);
	ok(!ct_machine_library(path, name, version, sizeof(name)), "one that is not there");
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ok(!system(command), "the files go");
	free(m);
}

/* What an HTML report shows over time: a bounded number of points, the peaks among them, and the end. */
static void curves(void)
{
	struct ct_html_curve c = { 0 };
	uint64_t value = 0, peaks = 0, at = 0, most = 0;
	unsigned int ordered = 1;
	int rc = 0;

	for (uint64_t i = 0; i < 1000000 && !rc; i++) {
		value = i % 50000 == 777 ? 1000000 + i : i % 97;
		rc = ct_html_curve_add(&c, i, value);
		if (!rc)
			rc = ct_html_curve_add(&c, i, value);
	}
	for (unsigned int i = 0; i < c.count; i++) {
		ordered &= !i || c.points[i].ts > at;
		most = c.points[i].ts - at > most ? c.points[i].ts - at : most;
		at = c.points[i].ts;
		peaks += c.points[i].value >= 1000000;
	}
	ok(!rc && c.count > CT_HTML_CURVE_POINTS / 4 && c.count <= CT_HTML_CURVE_POINTS, "a curve of a million changes: %u points", c.count);
	ok(peaks == 20, "all its peaks are there: %llu", (unsigned long long)peaks);
	ok(most < 512, "all of the time is told: at most %llu changes are between two points", (unsigned long long)most);
	ok(ordered && at == 999999 && c.points[c.count - 1].value == value, "in the order of time, and it ends where it ended");
	ct_html_curve_free(&c);
}

/* In a child: its environment is from now on a TiB of zeros, as any process may arrange it.  False: not with this kernel. */
static bool environment_huge(void)
{
	const size_t size = 1ul << 40;
	char *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), line[2048], *word;
	unsigned long fields[64] = { 0 };
	FILE *f = fopen("/proc/self/stat", "re");
	struct prctl_mm_map m;

	if (zeros == MAP_FAILED || !f || !fgets(line, sizeof(line), f))
		return false;
	word = strtok(strrchr(line, ')') + 1, " ");
	for (unsigned int i = 3; word && i < 64; i++, word = strtok(NULL, " "))
		fields[i] = strtoul(word, NULL, 10);
	m = (struct prctl_mm_map){
		.start_code = fields[26], .end_code = fields[27], .start_stack = fields[28], .start_data = fields[45], .end_data = fields[46],
		.start_brk = fields[47], .brk = (uintptr_t)sbrk(0), .arg_start = fields[48], .arg_end = fields[49],
		.env_start = (uintptr_t)zeros, .env_end = (uintptr_t)zeros + size, .exe_fd = (uint32_t)-1,
	};
	return !prctl(PR_SET_MM, PR_SET_MM_MAP, &m, sizeof(m), 0);
}

/* A process may have any number of bytes as its environment: no more are read than are asked for. */
static void environments(void)
{
	enum { LONG = 100000, ENTRIES = 4 };
	static char entry[ENTRIES][LONG], mark[] = "CUDATRACE_STARTED=0123456789abcdef0123456789abcdef";
	char *argv[] = { "sleep", "600", NULL }, *env[ENTRIES + 2] = { NULL }, byte, *text;
	int ready[2], status;
	size_t size, few;
	pid_t pid;

	for (unsigned int i = 0; i < ENTRIES; i++) {
		memset(entry[i], 'a', LONG - 1);
		entry[i][1] = '=';
		env[i] = entry[i];
	}
	env[ENTRIES] = mark;
	if (pipe2(ready, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		execve("/bin/sleep", argv, env);
		_exit(1);
	}
	close(ready[1]);
	while (read(ready[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(ready[0]);
	text = ct_proc_environment(pid, CT_PROC_ENVIRONMENT_MOST, &size);
	ok(text && size == ENTRIES * LONG + sizeof(mark) && !strcmp(text + ENTRIES * LONG, mark), "a long environment (%zu bytes)", size);
	free(text);
	text = ct_proc_environment(pid, 20000, &few);
	ok(text && few == 20000 && text[few - 1] == 'a' && !text[few], "... and the begin of it (%zu bytes)", few);
	free(text);
	text = ct_proc_environment(-1, 1000, &few);
	ok(!text && !few, "none of a process that is not there");
	snprintf(ct_launch_mark, sizeof(ct_launch_mark), "%s", strchr(mark, '=') + 1);
	ok(ct_started_is(pid), "what record started is known by its mark, also behind a long environment");
	ct_launch_mark[31]++;
	ok(!ct_started_is(pid), "... but not by another one");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (pipe2(ready, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		if (!environment_huge() || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1) {
		text = ct_proc_environment(pid, CT_PROC_ENVIRONMENT_MOST, &size);
		ok(text && size == CT_PROC_ENVIRONMENT_MOST && !ct_started_is(pid), "of a TiB only the begin is read (%zu bytes)", size);
		free(text);
	} else {
		skip(1, "a process can't set where its environment is");
	}
	close(ready[0]);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

int main(void)
{
	curves();
	unions();
	gaps();
	machines();
	groups();
	rings();
	losses();
	percentiles();
	medians();
	analysers();
	keyed();
	grow();
	output();
	registry();
	layouts();
	classes();
	largest();
	probes();
	environments();
	return tap_done();
}
