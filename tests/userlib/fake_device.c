// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A module for tests, inside the process: linked into a copy of the library, it
 * stands in for the ioctls of /dev/cudatrace, holds every argument against the
 * ABI as the module would, and writes what it got as text to $FAKE_LOG.
 *
 *	FAKE_ABI=N	another version of the ABI
 *	FAKE_FULL=1	refuses every class
 *	FAKE_IDLE=1	no session runs: gives no op
 *	FAKE_CLOSING=1	gives thread buffers, and at once nobody reads them any more
 *	FAKE_SESSION=FILE	4096 bytes: the clock page, which a test writes; its word "session" gives thread buffers
 *
 * Must be as strict as the module: what it accepts wrongly, the module will not.
 */
#include <stdlib.h>

#include "../../userlib/backend/device.h"
#include "../../userlib/base/clock.h"
#include "../../userlib/base/process.h"

#define E_NOENT	2
#define E_BADF	9
#define E_INVAL	22
#define E_NOSPC	28

#define CLASSES	2048

static struct ct_define classes[CLASSES];
static unsigned class_count, string_count;
static u64 last_op, open_ops[1 << 16];

static void log_line(struct ct_text *t)
{
	const char *path = getenv("FAKE_LOG");
	int fd = ct_open(path ? path : "/dev/null", O_WRONLY | O_APPEND | O_CREAT, 0644);

	t->buf[t->len++] = '\n';
	ct_sys3(SYS_write, fd, t->buf, t->len);
	ct_close(fd);
}

static unsigned type_size(unsigned type)
{
	static const unsigned char sizes[] = {
#define CT_TYPE_ROW(t, ctype, bytes)	bytes,
		CT_TYPES(CT_TYPE_ROW)
#undef CT_TYPE_ROW
	};

	return type < CT_TYPE_COUNT ? sizes[type] : 0;
}

static long define(struct ct_define *d)
{
	unsigned at = 0;

	if (d->size != sizeof(*d) || d->layer != CT_LAYER_USER ||
	    d->category >= CT_CAT_COUNT || d->op >= CT_OP_COUNT ||
	    d->fields_count > CT_FIELDS_MAX || !*d->name || !*d->symbol)
		return -E_INVAL;
	for (unsigned i = 0; i < d->fields_count; i++) {
		unsigned size = type_size(d->fields[i].type);

		if (!size || at % size || !*d->fields[i].name)
			return -E_INVAL;
		at += size;
	}
	if (at % 8)
		return -E_INVAL;
	for (unsigned i = 0; i < class_count; i++) {
		if (strcmp(classes[i].symbol, d->symbol))
			continue;
		d->id = CT_CLASS_DYNAMIC + i;
		return 0;
	}
	if (class_count == CLASSES || getenv("FAKE_FULL"))
		return -E_NOSPC;
	d->id = CT_CLASS_DYNAMIC + class_count;
	classes[class_count++] = *d;
	return 0;
}

static long string(struct ct_string *s)
{
	static char buf[CT_STRING_MAX + 64];
	struct ct_text t = { buf, sizeof(buf), 0 };

	if (s->size != sizeof(*s) || !s->len || s->len > CT_STRING_MAX)
		return -E_INVAL;
	s->id = ++string_count;
	ct_put(&t, "string ");
	ct_put_u(&t, s->id);
	ct_put(&t, " ");
	ct_put_n(&t, (const char *)s->text, s->len);
	log_line(&t);
	return 0;
}

/* The name of a class, NULL if there is none; its payload's size. */
static const char *class_of(unsigned id, unsigned *size, bool *exact)
{
	*size = 0;
	*exact = true;
#define CT_CLASS_ROW(cid, cname, layer, cat, op, layout)		\
	if (id == cid) {						\
		*size = sizeof(struct ct_##layout);			\
		*exact = !strstr(CT_LAYOUT_SPEC(layout), ":text,");	\
		return #cname;						\
	}
	CT_STATIC_CLASSES(CT_CLASS_ROW)
	if (id < CT_CLASS_DYNAMIC || id >= CT_CLASS_DYNAMIC + class_count)
		return NULL;
	for (unsigned i = 0; i < classes[id - CT_CLASS_DYNAMIC].fields_count; i++)
		*size += type_size(classes[id - CT_CLASS_DYNAMIC].fields[i].type);
	return classes[id - CT_CLASS_DYNAMIC].symbol;
}

static long one_mark(struct ct_mark_head *m, bool begin, unsigned max)
{
	static char buf[512];
	struct ct_text t = { buf, sizeof(buf) - 1, 0 };
	unsigned size;
	bool exact;
	const char *name = class_of(m->class, &size, &exact);
	u64 now = ct_clock_real();

	if (!name || m->size % 8 || m->size < sizeof(*m) || m->size > max ||
	    m->reserved || m->flags & ~(CT_F_HAS_BEGIN | CT_F_INSTANT | CT_F_NO_RESULT |
					CT_F_ABANDONED | CT_F_TRUNCATED))
		return -E_INVAL;
	if (exact ? m->size - sizeof(*m) != size : m->size - sizeof(*m) < size)
		return -E_INVAL;
	/* A text's count says where the mark ends. */
	if (!exact && m->size != sizeof(*m) + size + ((u16 *)((u8 *)(m + 1) + size))[-1])
		return -E_INVAL;
	if (m->flags & CT_F_HAS_BEGIN &&
	    (!m->op || open_ops[m->op % (1 << 16)] != m->op))
		return -E_INVAL;
	if (m->begin > now || (m->flags & CT_F_INSTANT && m->begin))
		return -E_INVAL;
	if (begin && !getenv("FAKE_IDLE")) {
		m->op = __atomic_add_fetch(&last_op, 1, __ATOMIC_RELAXED);
		m->begin = now;
		open_ops[m->op % (1 << 16)] = m->op;
	}
	ct_put(&t, begin ? "begin " : "mark ");
	ct_put_u(&t, (u64)ct_sys0(SYS_gettid));
	ct_put(&t, " ");
	ct_put(&t, name);
	ct_put(&t, " op=");
	ct_put_u(&t, m->op);
	ct_put(&t, " depth=");
	ct_put_u(&t, m->depth);
	ct_put(&t, " flags=");
	ct_put_u(&t, m->flags);
	ct_put(&t, " result=");
	ct_put_u(&t, (u64)m->result);
	for (unsigned i = 0; exact && i < size / 8; i++) {
		ct_put(&t, i ? "," : " ");
		ct_put_hex(&t, ((u64 *)(m + 1))[i], 16);
	}
	log_line(&t);
	return 0;
}

static struct ct_clock_page clock_page = {
	.magic = CT_MAGIC, .abi = CT_ABI_VERSION, .recording = 1,
};

/* A page of the test's. */
static struct ct_clock_page *session_page(void)
{
	int fd = ct_open(getenv("FAKE_SESSION"), O_RDONLY, 0);
	long at = ct_sys6(SYS_mmap, 0, 4096, PROT_READ, MAP_SHARED, fd, 0);

	ct_close(fd);
	return (struct ct_clock_page *)at;
}

static long thread_buffer(struct ct_threadbuf_new *b)
{
	struct ct_threadbuf_head *h;
	u32 session = clock_page.session;

	if (getenv("FAKE_SESSION")) {
		int fd = ct_open(getenv("FAKE_SESSION"), O_RDONLY, 0);

		ct_sys4(SYS_pread64, fd, &session, sizeof(session), offsetof(struct ct_clock_page, session));
		ct_close(fd);
		if (!session)
			return -61;	/* ENODATA */
	}

	b->length = CT_THREADBUF_DATA + (u64)b->subbufs * b->subbuf_size;
	h = ct_map_private(b->length);
	if (!h)
		return -12;
	h->stream = 1;
	h->session = session;
	h->subbufs = b->subbufs;
	h->subbuf_size = b->subbuf_size;
	b->address = (u64)h;
	/* Somebody begins to read the records as text. */
	ct_store(&clock_page.session, 0u);
	return 0;
}

static long fake_ioctl(int fd, unsigned long cmd, void *arg)
{
	const char *abi = getenv("FAKE_ABI");
	struct ct_version *v = arg;
	unsigned size = _IOC_SIZE(cmd);

	if (ct_sys2(SYS_fcntl, fd, F_GETFD) < 0)
		return -E_BADF;
	if (_IOC_TYPE(cmd) != CT_IOC_TYPE)
		return -25;
	if (cmd == CT_IOC_VERSION) {
		v->abi = abi ? (u32)atoi(abi) : CT_ABI_VERSION;
		v->schema = CT_SCHEMA_VERSION;
		return v->size == sizeof(*v) ? 0 : -E_INVAL;
	}
	if (cmd == CT_IOC_CLOCK && getenv("FAKE_CLOSING")) {
		clock_page.session = 1;
		((struct ct_clock_map *)arg)->address = (u64)&clock_page;
		return 0;
	}
	if (cmd == CT_IOC_CLOCK && getenv("FAKE_SESSION")) {
		((struct ct_clock_map *)arg)->address = (u64)session_page();
		return 0;
	}
	if (cmd == CT_IOC_THREADBUF && (getenv("FAKE_CLOSING") || getenv("FAKE_SESSION")))
		return thread_buffer(arg);
	if (cmd == CT_IOC_DEFINE)
		return define(arg);
	if (cmd == CT_IOC_STRING)
		return string(arg);
	if (size > CT_MARK_MAX)
		return -E_INVAL;
	if (cmd == CT_IOC_BEGIN(size))
		return one_mark(arg, true, size);
	if (cmd == CT_IOC_MARK(size))
		return one_mark(arg, false, size);
	return -25;
}

__attribute__((constructor)) static void take_over(void)
{
	ct_device_ioctl = fake_ioctl;
}
