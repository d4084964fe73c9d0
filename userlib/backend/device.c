// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The backend that hands records to the kernel module: in a thread buffer where the session
 * takes such, else by ioctls on /dev/cudatrace.  The protocol is in section 6 of cudatrace.h.
 *
 * The descriptor has a high number, so that those of the program stay what they
 * are without us, and may be closed by a program that closes all: then it is
 * opened again.  Must never let the program see an error of the device.
 */
#include "backend/device.h"

#include "base/clock.h"
#include "base/options.h"
#include "base/process.h"
#include "tracedir/lost.h"

#define PAGE		4096
#define FD_HIGH		1000
#define FD_LESS_HIGH	200

#define E_INTR		4
#define E_BADF		9
#define E_AGAIN		11
#define E_NOMEM		12
#define E_NFILE		23
#define E_MFILE		24
#define E_NOTTY		25
#define E_NOSPC		28
#define E_PROTO		71

static int fd = -1;
static bool opened;	/* else the recording was left, and fd stays closed */

static long real_ioctl(int file, unsigned long cmd, void *arg)
{
	return ct_sys3(SYS_ioctl, file, cmd, arg);
}

/* Tests put a module of their own in its place. */
ct_device_call *ct_device_ioctl = real_ioctl;

static int move_up(int low)
{
	static const int wishes[] = { FD_HIGH, FD_LESS_HIGH };

	for (int i = 0; i < 2; i++) {
		int high = (int)ct_sys3(SYS_fcntl, low, F_DUPFD_CLOEXEC, wishes[i]);

		if (high >= 0) {
			ct_close(low);
			return high;
		}
	}
	return low;
}

/* A descriptor of a device that speaks our version, or a negative errno; -EPROTO: it speaks v. */
static int open_version(struct ct_version *v)
{
	int file = ct_open(ct_options.device, O_WRONLY, 0);
	long err;

	if (file < 0)
		return file;
	memset(v, 0, sizeof(*v));
	v->size = sizeof(*v);
	err = ct_device_ioctl(file, CT_IOC_VERSION, v);
	if (err >= 0 && (v->abi != CT_ABI_VERSION || v->schema != CT_SCHEMA_VERSION))
		err = -E_PROTO;
	if (err < 0) {
		ct_close(file);
		return (int)err;
	}
	return file;
}

static int open_device(void)
{
	struct ct_version v;
	int file = open_version(&v);

	if (file == -E_PROTO) {
		bool older = v.abi != CT_ABI_VERSION ? v.abi < CT_ABI_VERSION :
						       v.schema < CT_SCHEMA_VERSION;

		ct_say_once(CT_ONCE_DEVICE, older ?
			    "the loaded module is older than this library, update the module; going on without " :
			    "the loaded module is newer than this library, update the library; going on without ",
			    ct_options.device);
	}
	return file < 0 ? file : move_up(file);
}

long ct_device_refused(void)
{
	struct ct_version v;
	int file = open_version(&v);

	if (file < 0)
		return file;
	ct_close(file);
	return 0;
}

/* A thread's memory; a third of a second of the busiest program fits the last. */
static const struct ct_producer_size sizes[] = {
	{ 4, 16u << 10 }, { 16, 64u << 10 }, { 32, 256u << 10 }, { 0, 0 },
};

/* Where the module has no page: every record by ioctl. */
static const struct ct_clock_page no_page = { .recording = 1 };

static const struct ct_clock_page *page = &no_page;

static struct ct_clock_page *mapped;	/* the module's; NULL: it gave none */
/* Of the recording that was left last: zeros, for who still reads it, until the next one takes its place. */
static struct ct_clock_page *left;
static u64 unread_since;		/* when it was first seen that no session runs; 0: one does */

void (*ct_device_unread)(void);

/* There is no descriptor or memory at the moment, or we were interrupted. */
static bool passes(long error)
{
	return error == -E_MFILE || error == -E_NFILE || error == -E_NOMEM ||
	       error == -E_INTR || error == -E_AGAIN;
}

bool ct_device_open(bool *passing)
{
	struct ct_clock_map map = { .size = sizeof(map) };
	long error;

	fd = open_device();
	*passing = passes(fd);
	if (fd < 0)
		return false;
	opened = true;
	if (!mapped && ct_device_ioctl(fd, CT_IOC_CLOCK, &map) >= 0) {
		struct ct_clock_page *p = (struct ct_clock_page *)map.address;

		p = left ? ct_map_move(p, left, PAGE) : p;
		ct_clock_use(p);
		ct_store(&mapped, p);
	}
	ct_store(&unread_since, 0ull);
	ct_store(&page, mapped && ct_options.threadbufs ? mapped : &no_page);
	/* The recorder made the directory, if there is one: for lines of info only. */
	if (*ct_options.dir)
		ct_registry_open(ct_options.dir, false, &error);
	else
		ct_registry_none();
	return true;
}

/*
 * Threads may be about to ask the device: without the descriptor they get an error, and by the page that
 * they read nobody records.
 */
void ct_device_forget(void)
{
	static const struct ct_clock_page nobody;
	int file;

	if (!opened)
		return;
	opened = false;
	ct_store(&page, mapped ? mapped : &nobody);
	ct_clock_use(NULL);
	if (mapped) {
		ct_map_over(mapped, PAGE, MAP_FIXED);
		left = mapped;
		ct_store(&mapped, NULL);
	}
	file = fd;
	ct_store(&fd, -1);
	ct_close(file);
}

static bool device_deserted(u64 now)
{
	const struct ct_clock_page *p = ct_load(&mapped);
	u64 since = ct_load(&unread_since);

	if (!p || *(const volatile u32 *)&p->running || *(const volatile u32 *)&p->recording) {
		ct_store(&unread_since, 0ull);
		return false;
	}
	if (!since)
		ct_store(&unread_since, now);
	return since && now > since && now - since > CT_RECORDER_GONE_NS;
}

/* Somebody closed our descriptor, or put a file of their own in its place. */
static cold bool reopen(int broken)
{
	u64 mask = ct_lock();
	bool ok = opened, was_left = !opened;

	if (ok && fd == broken) {
		int file = open_device();

		if (file >= 0)
			ct_store(&fd, file);
		ok = file >= 0;
	}
	ct_unlock(mask);
	if (!ok && !was_left)
		ct_say_once(CT_ONCE_BACKEND, "lost the device, records are lost: ",
			    ct_options.device);
	return ok;
}

/* The device is opened again if somebody closed it.  Not with the process's lock held. */
static long device_ask(unsigned long cmd, void *arg)
{
	int file = ct_load(&fd);
	long ret = ct_device_ioctl(file, cmd, arg);

	if (unlikely(ret == -E_BADF || ret == -E_NOTTY) && reopen(file))
		ret = ct_device_ioctl(ct_load(&fd), cmd, arg);
	return ret;
}

static u32 session_now(void)
{
	return *(const volatile u32 *)&page->session;
}

static bool device_map(struct ct_producer *s, const struct ct_producer_size *size,
		       struct ct_producer_memory *m)
{
	struct ct_threadbuf_new arg = {
		.size = sizeof(arg), .subbuf_size = size->bytes, .subbufs = size->count,
		.previous = s->m.map ? s->number : CT_THREADBUF_NONE,
	};
	/* The first one is asked for with the process's lock held. */
	long err = s->m.map ? device_ask(CT_IOC_THREADBUF, &arg) :
		   ct_device_ioctl(ct_load(&fd), CT_IOC_THREADBUF, &arg);
	struct ct_threadbuf_head *h;

	if (err < 0) {
		/* Somebody has closed the device: it is opened again with the next record. */
		if (!s->m.map && (err == -E_BADF || err == -E_NOTTY))
			s->session = 0;
		return false;
	}
	h = (struct ct_threadbuf_head *)arg.address;
	*m = (struct ct_producer_memory){
		.map = (u8 *)h, .length = arg.length,
		.inflight = (struct ct_inflight_page *)((u8 *)h + 4096),
		.subbufs = (u8 *)h + CT_THREADBUF_DATA,
		.size = { h->subbufs, h->subbuf_size }, .first = s->seq,
		.drained = &h->consumed, .begun = &h->produced, .lost = &h->lost,
	};
	/* Apart from those that the module gives, which have 12 bits of CPU. */
	if (!s->m.map)
		s->first_op = (1ull << 52 | (u64)(h->stream & 0xffff) << 36) + 1;
	s->number = h->stream;
	s->session = h->session;
	s->accepting = &page->session;
	s->lost = 0;
	return true;
}

static bool device_changed(const struct ct_producer *s)
{
	return s->session != session_now();
}

static bool device_renew(struct ct_producer *s)
{
	ct_producer_unmap(s);
	s->begins = true;
	s->session = session_now();
	return s->session && ct_producer_map(s, 0);
}

/* Nobody else can know of it: it stands in no packet. */
static cold void refused(void)
{
	/* The recording was left meanwhile, and lost by that. */
	if (!ct_load(&opened))
		return;
	ct_lost_add();
	ct_say_once(CT_ONCE_LOST, "the module did not take a record; how many are lost "
		    "stands in the trace: ", ct_options.device);
}

struct field {
	const char *name;
	u8 type;
};

#define FIELD(type, name)	{ #name, CT_TYPE_##type },
#define CT_LAYOUT_ROW(layout)						\
	static const struct field fields_##layout[] = {			\
		CT_FIELDS_##layout(FIELD) { NULL, 0 }			\
	};
CT_LAYOUTS(CT_LAYOUT_ROW)
#undef CT_LAYOUT_ROW

static const struct field *const fields[] = {
#define CT_LAYOUT_ROW(layout)	fields_##layout,
	CT_LAYOUTS(CT_LAYOUT_ROW)
#undef CT_LAYOUT_ROW
};

static void copy_name(char *to, size_t size, const char *from)
{
	struct ct_text t = { to, size, 0 };

	ct_put(&t, from);
}

static u32 device_define(const struct ct_class_text *c)
{
	struct ct_define d;
	long ret;

	memset(&d, 0, sizeof(d));
	d.size = sizeof(d);
	d.layer = CT_LAYER_USER;
	d.category = c->category;
	d.op = c->op;
	copy_name(d.name, sizeof(d.name), c->name);
	copy_name(d.symbol, sizeof(d.symbol), c->symbol);
	for (const struct field *f = fields[c->layout]; f->name; f++) {
		struct ct_field *to = &d.fields[d.fields_count++];

		copy_name(to->name, sizeof(to->name), f->name);
		to->type = f->type;
	}
	ret = device_ask(CT_IOC_DEFINE, &d);
	if (ret < 0) {
		ct_say_once(CT_ONCE_REGISTRY, ret == -E_NOSPC ?
			    "the module has no room for more functions, not traced: " :
			    "the module refuses a function, not traced: ", c->symbol);
		return 0;
	}
	return d.id;
}

static u32 device_string(const char *s, size_t n)
{
	struct ct_string string = {
		.size = sizeof(string),
		.text = (u64)s,
		.len = (u32)n,
	};

	if (!n || device_ask(CT_IOC_STRING, &string) < 0)
		return 0;
	return string.id;
}

/* Payload behind its head, as the ioctls take it. */
struct message {
	struct ct_mark_head head;
	u64 payload[CT_RECORD_MAX / 8];
};

static u32 compose(struct message *m, const struct ct_record *e)
{
	u32 size = (u32)sizeof(m->head) + e->size;
	const u64 *from = e->payload;

	m->head.size = (u16)size;
	m->head.class = e->class;
	m->head.flags = e->flags;
	m->head.depth = e->depth;
	m->head.reserved = 0;
	m->head.op = e->flags & CT_F_HAS_BEGIN ? e->op : 0;
	m->head.begin = e->begin;
	m->head.result = (s64)e->result;
	for (u32 i = 0; i < e->size / 8; i++)
		m->payload[i] = from[i];
	return size;
}

static bool device_begin(struct ct_record *e)
{
	struct message m;
	u32 size;

	if (!*(const volatile u32 *)&page->recording)
		return false;
	size = compose(&m, e);
	if (unlikely(device_ask(CT_IOC_BEGIN(size), &m) < 0)) {
		refused();
		return false;
	}
	/* No session runs: there is nothing that the end could refer to. */
	if (!m.head.op)
		return false;
	e->op = m.head.op;
	e->begin = m.head.begin;
	return true;
}

static void device_mark(const struct ct_record *e)
{
	struct message m;
	u32 size;

	if (!*(const volatile u32 *)&page->recording) {
		void (*unread)(void) = ct_load(&ct_device_unread);

		if (unread)
			unread();
		return;
	}
	size = compose(&m, e);
	if (unlikely(device_ask(CT_IOC_MARK(size), &m) < 0))
		refused();
}

static const struct ct_producer_ops producers = {
	.sizes = sizes,
	.map = device_map,
	.dated = true,
};

const struct ct_backend ct_backend_device = {
	.name = "device",
	.producers = &producers,
	.define = device_define,
	.string = device_string,
	.info = ct_registry_info,
	.changed = device_changed,
	.renew = device_renew,
	.begin = device_begin,
	.mark = device_mark,
	.deserted = device_deserted,
};
