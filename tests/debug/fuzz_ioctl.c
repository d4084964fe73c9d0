// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Every ioctl under fuzz: arguments that are nearly valid, sizes and pointers of all
 * kinds; and arrays of marks.
 */
#include <stdbool.h>
#include <stddef.h>

#include "fuzz.h"

/* Errors besides EFAULT, EINVAL and E2BIG, which any struct may cause, and EBADF (mode). */
struct expected {
	const char *name;
	unsigned long cmd;
	uint32_t size;
	int err[6];
};

#define ROW(name, ...)	{ #name, CT_IOC_##name, _IOC_SIZE(CT_IOC_##name), { __VA_ARGS__ } }
static const struct expected rows[] = {
	ROW(VERSION),
	ROW(DEFINE, ENOSPC, ENOMEM),
	ROW(DEFINE, ENOSPC, ENOMEM),
	ROW(STRING, ENOSPC, ENOMEM),
	ROW(GET_DEFINE, ENOENT),
	ROW(GET_STRING, ENOENT, ENOSPC),
	ROW(GET_PROBE, ENOENT),
	ROW(GET_SESSION, ENODATA),
	ROW(GET_FILTER),
	ROW(PROBE_SET, ENOENT, EPERM),
	ROW(TRIGGER, ENODATA, EPERM),
	ROW(RESUME, ENODATA, EPERM),
	ROW(WATERMARK),
	ROW(GET_LIMITS, ENODATA),
	ROW(ADOPT, ENODATA, EBUSY),
	ROW(COUNT_READ, ENOENT, ENOMEM),
	ROW(CLOCK, ENOMEM),
	ROW(THREADBUF, ENODATA, EDQUOT, ENOMEM),
	ROW(THREADBUF, ENODATA, EDQUOT, ENOMEM),
	ROW(THREADBUF_READ, ENOENT, ENOSPC, EPERM),
#define LIGHT	20
	ROW(START, EPERM, EBUSY, ENOMEM),
	ROW(LIMITS, ENODATA, EPERM, ENOMEM),
	ROW(STOP, ENODATA, EPERM),
	ROW(PAUSE, ENODATA, EPERM),
	ROW(FLUSH, ENODATA),
	ROW(FILTER, ENODATA, EPERM, ENOMEM),
	ROW(PROBE_ADD, EEXIST, ENOENT, EPERM, ENOMEM, ENOSPC),
	ROW(PROBE_REMOVE, ENOENT, EPERM),
	ROW(COUNT_ADD, ENODATA, EPERM, ENOMEM, ENOSPC),
};
#define ROWS	(sizeof(rows) / sizeof(rows[0]))

static const char *const functions[] = { "do_sys_openat2", "vfs_read", "vfs_write",
	"hrtimer_interrupt", "__x64_sys_getpriority", "nowhere", "kprobe_ftrace_handler", "*", "",
	"ct_ring_reserve_slow", "ct_record_process", "ct_control_start", "ct_json_record",
	"ct_probe_entry", "schedule" };
#define FUNCTIONS	(sizeof(functions) / sizeof(functions[0]))
static const char *const modules[] = { "", "", "", "", "nvidia", "cudatrace", "cudatrace", "9p",
	"a:b" };
#define MODULES		(sizeof(modules) / sizeof(modules[0]))

/* Classes that this process defined: a mark of one of them is valid if its size is. */
static struct { uint16_t id[64], size[64]; } class;

static void remember(const struct ct_define *d)
{
	static const uint8_t bytes[] = {
#define CT_TYPE_ROW(type, ctype, n)	n,
		CT_TYPES(CT_TYPE_ROW)
#undef CT_TYPE_ROW
	};
	uint32_t i, size = 0, n = below(64);

	for (i = 0; i < d->fields_count && i < CT_FIELDS_MAX; i++)
		size += d->fields[i].type < sizeof(bytes) ? bytes[d->fields[i].type] : 0;
	class.id[n] = d->id;
	class.size[n] = size;
}

#define ADDRESSES	16
/* The begin of one of functions[], or 0. */
static uint64_t function_address(void)
{
	static uint64_t found[FUNCTIONS];
	static bool looked;
	unsigned long long address;
	char line[1024], name[512];
	FILE *in;
	size_t i;

	in = looked ? NULL : fopen("/proc/kallsyms", "re");
	looked = true;
	while (in && fgets(line, sizeof(line), in))
		for (i = 0; i < FUNCTIONS; i++)
			if (sscanf(line, "%llx %*c %511s", &address, name) == 2 &&
			    !strcmp(name, functions[i]))
				found[i] = address;
	if (in)
		fclose(in);
	return found[below(FUNCTIONS)];
}

static void make(const struct expected *row, uint64_t *buf)
{
	union {
		struct ct_session session;
		struct ct_define define;
		struct ct_string string;
		struct ct_probe_info info;
		struct ct_filter filter;
		struct ct_probe_add add;
		struct ct_count_add count_add;
		struct ct_count_read count_read;
		struct ct_trigger_set trigger;
		struct ct_watermark watermark;
		struct ct_limits limits;
		struct ct_threadbuf_new tb;
		struct ct_threadbuf_read threadbuf_read;
	} *u = (void *)buf;
	static __thread uint8_t threadbuf_buf[CT_THREADBUF_SUBBUF_MAX];
	static char controls[CT_STRING_MAX];
	static __thread struct ct_count_function where[ADDRESSES];
	static __thread struct ct_function_count counts[ADDRESSES];
	unsigned int i;

	memset(buf, 0, 8192);
	switch (row->cmd) {
	case CT_IOC_START:
		u->session.subbuf_size = 4096u << below(3);
		u->session.subbuf_count = 2u << below(4);
		u->session.flags = below(2) ? CT_SESSION_THREADBUFS : below(4);
		u->session.groups = below(2) ? ~0ull : 1u << CT_GROUP_ADDED;
		break;
	case CT_IOC_DEFINE:
		/* Few different ones, because ids are never freed. */
		u->define = define("fuzz", "fuzz");
		u->define.symbol[0] = 'a' + below(16);
		u->define.fields_count = below(CT_FIELDS_MAX + 1);
		for (i = 0; i < u->define.fields_count; i++) {
			sprintf(u->define.fields[i].name, i ? "f%u" : below(2) ? "uid" : "kernel",
				below(20) ? i : 1);
			u->define.fields[i].type = u->define.symbol[0] & 1 ? CT_TYPE_str :
						   below(CT_TYPE_COUNT);
		}
		break;
	case CT_IOC_STRING:
		/* Bytes that take the most characters when they are printed. */
		memset(controls, 1 + below(31), sizeof(controls));
		u->string.text = (uintptr_t)controls;
		u->string.len = below(2) ? sizeof(controls) : below(64);
		break;
	case CT_IOC_GET_STRING:
		u->string.len = sizeof(controls);
		u->string.id = below(100);
		break;
	case CT_IOC_GET_DEFINE:
	case CT_IOC_GET_PROBE:
		u->info.index = below(200);
		break;
	case CT_IOC_FILTER:
		u->filter.flags = below(2);
		u->filter.categories = below(2) ? 0 : rnd() >> 42;
		u->filter.pids = below(3);
		u->filter.uids = below(3);
		u->filter.comms = below(2);
		u->filter.cgroups = below(20) == 0;
		u->filter.pid[0] = getpid();
		u->filter.pid[1] = 1 + below(1000);
		u->filter.uid[1] = 1000;
		strcpy(u->filter.comm[0], "fuzz");
		u->filter.cgroup[0] = any_fd();
		break;
	case CT_IOC_PROBE_ADD:
	case CT_IOC_PROBE_REMOVE:
	case CT_IOC_PROBE_SET:
		strcpy(u->add.symbol, functions[below(FUNCTIONS)]);
		strcpy(u->add.module, modules[below(MODULES)]);
		u->add.sample = below(4);
		if (row->cmd != CT_IOC_PROBE_ADD)
			break;
		u->add.flags = below(2);
		u->add.args = below(CT_ARGS_MAX + 1);
		for (i = 0; i < u->add.args; i++) {
			u->add.arg[i].name[0] = 'a' + i;
			u->add.arg[i].type = below(CT_TYPE_x64 + 1);
			u->add.arg[i].number = below(8) ? below(6) : CT_ARG_RETURN;
		}
		break;
	case CT_IOC_COUNT_ADD:
		for (i = 0; i < ADDRESSES; i++) {
			where[i].address = below(8) ? function_address() : rnd();
			strcpy(where[i].module, below(2) ? "" : modules[below(MODULES)]);
		}
		u->count_add.count = below(20) ? 1 + below(ADDRESSES) : odd_number();
		u->count_add.functions = (uintptr_t)(below(20) ? where : bad_pointer());
		break;
	case CT_IOC_COUNT_READ:
		u->count_read.first = below(2 * ADDRESSES);
		u->count_read.count = below(8) ? 1 + below(ADDRESSES) : below(ADDRESSES);
		u->count_read.flags = !below(4) ? CT_COUNT_STOP : 0;
		u->count_read.counts = (uintptr_t)(below(20) ? counts : bad_pointer());
		break;
	case CT_IOC_TRIGGER:
		u->trigger.flags = below(16);
		u->trigger.slow_ns = 1 + below(100000);
		break;
	case CT_IOC_WATERMARK:
		u->watermark.bytes = below(2) ? 0 : below(10000);
		u->watermark.records = below(2) ? 0 : below(100);
		u->watermark.ns = below(2) ? 0 : below(20000000);
		break;
	case CT_IOC_LIMITS:
		u->limits.flags = below(3);
		u->limits.records = below(2) ? 0 : odd_number();
		u->limits.bytes = below(2) ? 0 : odd_number();
		u->limits.share = below(2) ? 0 : below(102);
		break;
	case CT_IOC_THREADBUF:
		threadbuf_make(&u->tb);
		break;
	case CT_IOC_THREADBUF_READ:
		u->threadbuf_read.buf = (uintptr_t)(below(20) ? threadbuf_buf : bad_pointer());
		u->threadbuf_read.len =
			below(8) ? sizeof(threadbuf_buf) : below(sizeof(threadbuf_buf));
		u->threadbuf_read.flags = below(3);
		break;
	}
}

/* Changes some bits or bytes of it. */
static void spoil(void *buf, uint32_t size)
{
	uint32_t i, n = below(3) ? 0 : 1 + below(4);

	for (i = 0; i < n; i++) {
		uint32_t at = 4 + below(size - 4);

		if (below(2))
			((uint8_t *)buf)[at] ^= 1u << below(8);
		else
			((uint8_t *)buf)[at] = below(256);
	}
}

void fuzz_ioctl(void)
{
	static char answer[CT_STRING_MAX];
	/* Mostly skip the ioctls that wait for all CPUs or for a grace period. */
	const struct expected *row = &rows[below(below(6) ? LIGHT : ROWS)];
	uint64_t buf[1024];
	unsigned long cmd = row->cmd;
	void *arg = buf;
	uint32_t size;
	int err;

	make(row, buf);
	size = below(8) ? row->size : below(2) ? below(4200) : odd_number();
	memcpy(buf, &size, sizeof(size));
	if (row->size > 8)
		spoil(buf, row->size);
	/* The answer must not go into this program's own memory. */
	if (row->cmd == CT_IOC_GET_STRING) {
		uint64_t text = (uintptr_t)(below(8) ? (void *)answer : bad_pointer());

		memcpy((char *)buf + offsetof(struct ct_string, text), &text, sizeof(text));
	}
	/* Likewise; and small, because one whose address is unknown is never unmapped. */
	if (row->cmd == CT_IOC_THREADBUF_READ || row->cmd == CT_IOC_COUNT_READ ||
	    (row->cmd == CT_IOC_THREADBUF && size < row->size)) {
		make(row, buf);
		memcpy(buf, &size, sizeof(size));
		if (row->cmd == CT_IOC_THREADBUF)
			memcpy((char *)buf + 4, (uint32_t[]){ CT_THREADBUF_SUBBUF_MIN, 2 }, 8);
	}
	if (!below(20))
		arg = bad_pointer();
	if (!below(30)) {
		/* Another size or number in the command: no valid ioctl, or another one. */
		static const int none[] = { ENOTTY, ENOENT, ENODATA, EPERM, EBUSY, EEXIST,
					    ENOSPC, ENOMEM, EDQUOT };

		cmd = _IOC(below(4), below(8) ? CT_IOC_TYPE : below(256), below(36), below(5000));
		err = call(any_fd(), cmd, arg);
		judge("a made-up command", err, none, 9);
		return;
	}
	err = call(any_fd(), cmd, arg);
	tally->starts += row->cmd == CT_IOC_START && !err;
	if (row->cmd == CT_IOC_DEFINE && !err && arg == buf)
		remember(arg);
	if (row->cmd == CT_IOC_CLOCK && !err && size >= sizeof(struct ct_clock_map)) {
		const struct ct_clock_map *clock = arg;

		(void)((volatile struct ct_clock_page *)(uintptr_t)clock->address)->newest;
		munmap((void *)(uintptr_t)clock->address, clock->length);
	}
	if (row->cmd == CT_IOC_THREADBUF && !err && arg == buf && size >= row->size)
		threadbuf_keep(arg);
	judge(row->name, err, row->err, 6);
}

void fuzz_mark(void)
{
	uint64_t buf[CT_MARK_MAX / 8 + 8];
	uint32_t at = 0, n = 1 + below(4), i, k, size, payload;
	struct ct_mark_head *m;
	void *arg = buf;
	int err;
	static const int slow[] = { ENOMEM };

	memset(buf, below(2) ? 1 : below(256), sizeof(buf));
	for (i = 0; i < n && at < 3000; i++, at += size) {
		m = (void *)((uint8_t *)buf + at);
		k = below(64);
		payload = below(3) ? class.size[k] : 8 * (1 + below(below(8) ? 32 : 280));
		size = sizeof(*m) + payload;
		if (at + size > CT_MARK_MAX)
			break;
		*m = (struct ct_mark_head){ .size = size, .flags = below(2) * CT_F_INSTANT,
					    .class = payload == class.size[k] ? class.id[k] :
						     below(8) ? CT_CLASS_mark : below(5000),
					    .begin = below(2) ? now() : odd_number(), .op = rnd() };
		if (m->class == CT_CLASS_mark) {
			((uint32_t *)(m + 1))[0] = rnd();
			((uint16_t *)(m + 1))[2] = payload - 6;
		} else {
			uint32_t *ids = (uint32_t *)(m + 1);

			for (k = 0; k < payload / 4; k++)
				ids[k] = below(40);
		}
		if (!below(6))
			spoil(m, size);
	}
	if (!at)
		at = 8 * below(512);
	if (!below(10))
		at = below(2) ? at + 8 * below(8) : below(4200);
	if (!below(20))
		arg = bad_pointer();
	else if (!below(20))
		arg = (uint8_t *)buf + below(8);
	else if (!below(20))	/* a page that is not there yet */
		arg = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	err = call(any_fd(), below(4) ? CT_IOC_MARK(at & 0x3fff) : CT_IOC_BEGIN(at & 0x3fff), arg);
	judge("MARK", err, slow, 1);
	if (arg > (void *)4096 && (uint8_t *)arg < (uint8_t *)buf && !((uintptr_t)arg & 4095))
		munmap(arg, 8192);
}

int fuzz_start(int fd)
{
	const struct expected *start = &rows[LIGHT];
	uint32_t size = start->size;
	uint64_t buf[1024];
	int err;

	make(start, buf);
	memcpy(buf, &size, sizeof(size));
	err = call(fd, CT_IOC_START, buf);
	judge("START", err, start->err, 6);
	tally->starts += !err;
	return err;
}

void fuzz_written(void)
{
	fuzz_threadbuf(class.id, class.size, 64);
}

void fuzz_define(int fd)
{
	const struct expected *row = &rows[1];
	uint32_t size = row->size;
	uint64_t buf[1024];
	int i;

	for (i = 0; i < 64; i++) {
		make(row, buf);
		memcpy(buf, &size, sizeof(size));
		if (!call(fd, row->cmd, buf))
			remember((void *)buf);
	}
}
