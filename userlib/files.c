// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The sink that needs neither root nor module: a stream of packets per thread,
 * in a file of the trace directory that the thread has mapped.
 *
 * Every instruction leaves a valid packet behind, so that a thread killed
 * anywhere loses no record that was finished.  A packet's room on disk is
 * allocated before it is mapped: a full disk costs records, never the program.
 * Must never keep a file descriptor: the program closes and counts its own.
 */
#include "sink.h"

#include "options.h"
#include "process.h"
#include "registry.h"
#include "room.h"
#include "writer.h"

static char dir[2048];

/* Room that only writers in signal handlers may use, so that one which
 * interrupts a writer finds some without changing the packet. */
#define SLACK	512u

/* A record's time has 48 bits: a packet of a thread that rests for days ends. */
#define SPAN_MAX	(1ull << 47)

#define PACKET_FIRST	(64u << 10)
#define PACKET_LAST	(1u << 20)

#define NO_STREAM	(~0u)	/* none could be created */
#define RETRY	256		/* records lost between two looks at a full disk */

static void stream_path(struct ct_text *t, const char *prefix, u32 n)
{
	ct_put(t, dir);
	ct_put(t, prefix);
	ct_put_u(t, ct_process->pid);
	ct_put(t, "-");
	ct_put_u(t, n);
}

static void no_room(void)
{
	ct_say_once(CT_ONCE_FULL,
		    "no room for records (disk full?), they are counted as lost: ",
		    dir);
}

/* end: of the record that the packet is for, 0 if it is not stamped yet. */
static void start_packet(struct ct_thread *t, u8 *packet, u64 op, u64 end)
{
	struct ct_packet *p = (void *)packet;
	u64 now = end && end >= t->last ? end : ct_clock();

	memset(p, 0, sizeof(*p));
	memcpy(p->uuid, ct_registry_uuid(), 16);
	p->stream_class = CT_STREAM_THREAD;
	p->ts_begin = now;
	p->ts_end = now;
	p->content_size = CT_PACKET_HEAD * 8;
	p->packet_size = (u64)t->packet_size * 8;
	p->seq = t->seq++;
	p->lost = t->lost;
	p->pid = ct_process->pid;
	p->tid = t->tid;
	/* Calls that are open now end in this packet, or later. */
	t->op_base = t->open->depth ? t->open->entry[0].op : op;
	if (t->op_base > op)
		t->op_base = op;
	p->op_base = t->op_base;
	barrier();
	p->magic = CT_MAGIC;	/* last: without it the packet is cut off */
	t->last = now;
	barrier();
	t->packet = packet;
	t->position = CT_PACKET_HEAD;
	t->limit = t->packet_size - SLACK;
	t->deadline = now + SPAN_MAX;
}

static void drop_packet(struct ct_thread *t)
{
	struct ct_packet *old = (void *)t->packet;

	if (!old)
		return;
	/* A handler that interrupted the caller may have left this to it. */
	if (old->content_size != t->position * 8) {
		t->last = old->ts_end = ct_clock();
		barrier();
		old->content_size = t->position * 8;
	}
	barrier();
	t->packet = NULL;
	t->limit = t->position = 0;
	ct_unmap(old, t->packet_size);
}

/* Room for a packet of this size behind the stream's last. */
static void *map_packet(struct ct_thread *t, u32 size)
{
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	void *packet;
	int fd;

	stream_path(&path, "/u-", t->stream);
	fd = ct_open(name, O_RDWR, 0);
	if (fd < 0)
		return NULL;
	packet = ct_room_map(fd, t->file_size, size);
	ct_close(fd);
	return packet;
}

/*
 * Signals blocked, no writer but the caller inside.  A busy thread gets ever
 * larger packets, since a new one costs some ten system calls and page faults.
 */
static bool next_packet(struct ct_thread *t, u64 op, u64 end)
{
	u32 first = ct_options.packet_size ? ct_options.packet_size : PACKET_FIRST;
	u32 size = first;
	void *packet;

	if (!ct_options.packet_size && t->file_size)
		size = t->packet_size < PACKET_LAST ? t->packet_size * 2 : PACKET_LAST;
	if (t->stream == NO_STREAM)
		return false;
	packet = map_packet(t, size);
	if (!packet && size != first) {
		size = first;
		packet = map_packet(t, size);
	}
	if (!packet) {
		t->retry = RETRY;
		no_room();
		return false;
	}
	drop_packet(t);
	t->retry = 0;
	t->packet_size = size;
	t->file_size += size;
	start_packet(t, packet, op, end);
	return true;
}

/*
 * Gives back what the last packet has too much.  A later record begins another.
 * Signals blocked.
 */
static void trim(struct ct_thread *t)
{
	struct ct_packet *p = (void *)t->packet;
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	u64 size;
	int fd;

	if (!p || t->nest)
		return;
	size = (t->position + 4095) & ~4095ull;
	p->packet_size = size * 8;
	t->file_size -= t->packet_size - size;
	drop_packet(t);
	stream_path(&path, "/u-", t->stream);
	fd = ct_open(name, O_RDWR, 0);
	if (fd < 0)
		return;
	ct_sys2(SYS_ftruncate, fd, t->file_size);
	ct_close(fd);
}

/*
 * The packet is full for this writer.  True if it may try again: the packet has
 * been changed, or, for a writer that interrupted another, the rest will do.
 */
static cold bool make_room(struct ct_thread *t, u32 size, const struct ct_record *e)
{
	bool ok;
	u64 mask;

	if (t->nest > 1)
		return t->packet && t->position + size <= t->packet_size;
	if (t->retry) {
		t->retry--;
		return false;
	}
	mask = ct_signals_block();
	ok = next_packet(t, e->op, e->end);
	ct_signals_restore(mask);
	return ok;
}

/*
 * A writer is inside although this one runs.  Normally a signal handler has
 * interrupted it; but one that was left by longjmp will never commit, and what it
 * reserved is given back.
 */
static cold void check_writer(struct ct_thread *t, u64 frame)
{
	if (ct_writer_lives(t->writer, t->writer_op, frame))
		return;
	if (t->packet)
		t->position = ((struct ct_packet *)t->packet)->content_size / 8;
	t->writer = 0;
	t->nest = 0;
}

/* Makes all that is written visible, if no interrupted writer is left inside. */
static inline void commit(struct ct_thread *t, u64 end, u64 ts, u64 frame)
{
	barrier();
	while (t->nest == 1 && t->packet) {
		/* Read anew each time round: a handler may have changed it. */
		struct ct_packet *p = (void *)t->packet;
		u64 position = t->position;

		if (unlikely(position != end))
			ts = ct_clock();	/* a handler wrote behind us */
		p->ts_end = ts;
		barrier();
		p->content_size = position * 8;
		t->last = ts;
		barrier();
		t->nest = 0;
		barrier();
		if (likely(t->position == position))
			return;
		/* A handler wrote after we looked and left it to us to commit. */
		t->writer = frame;
		barrier();
		t->nest = 1;
		end = position;
		barrier();
	}
	if (t->nest)
		t->nest--;
}

/* One more is lost; the last packet there is says how many. */
static cold void lose(struct ct_thread *t)
{
	struct ct_packet *p = (void *)t->packet;

	t->lost++;
	if (p)
		p->lost = t->lost;
}

/*
 * The time of a record: when the call returned, unless a signal handler has
 * written a record since, whose time is later.  Its records are committed, and
 * then t->last tells, or not yet, and then the packet's content does.
 */
static inline u64 stamp(const struct ct_thread *t, u64 end, u64 position)
{
	const struct ct_packet *p = (const void *)t->packet;

	if (likely(end && t->last <= end && p && p->content_size == position * 8))
		return end;
	return ct_clock();
}

static void files_record(struct ct_thread *t, const struct ct_record *e)
{
	u32 size = (u32)sizeof(struct ct_thread_record) + e->size;
	volatile u64 frame = e->op;	/* where it lies and what it holds */
	struct ct_thread_record *r;
	const u64 *from = e->payload;
	u64 ts, position, duration;
	u64 *to;

	if (unlikely(t->nest))
		check_writer(t, (u64)&frame);
	/*
	 * Who is inside must be known whenever nest says that somebody is.  Set
	 * twice: a handler that comes before nest is raised leaves its own.
	 */
	if (!t->nest) {
		t->writer_op = e->op;
		t->writer = (u64)&frame;
		barrier();
		t->nest = 1;
		barrier();
		t->writer_op = e->op;
		t->writer = (u64)&frame;
	} else {
		t->nest++;
	}
	barrier();
	for (;;) {
		position = *(volatile u64 *)&t->position;
		ts = stamp(t, e->end, position);
		if (unlikely(position + size > t->limit || ts > t->deadline)) {
			if (!make_room(t, size, e)) {
				lose(t);
				t->nest--;
				return;
			}
			if (t->nest == 1)
				continue;
		}
		if (likely(ct_local_cmpxchg(&t->position, position, position + size)))
			break;
	}

	r = (void *)(t->packet + position);
	r->stamp = CT_STAMP(ts, e->class);
	r->op = (u32)(e->op - t->op_base);
	r->depth = e->depth;
	r->flags = e->flags;
	r->result = (u16)e->result;
	duration = e->begin ? ts - e->begin : 0;
	if (unlikely(duration > CT_DURATION_MAX))
		duration = CT_DURATION_MAX;
	r->duration = duration | (u64)ct_cpu() << 48;
	to = (u64 *)(r + 1);
	for (u32 i = 0; i < e->size / 8; i++)
		to[i] = from[i];
	commit(t, position + size, ts, (u64)&frame);
}

static bool create_stream(struct ct_thread *t)
{
	char name[2112];
	int fd;

	/* Another process may have had this pid: before exec, or in its own
	 * namespace of pids. */
	for (int i = 0; i < 1 << 16; i++) {
		struct ct_text path = { name, sizeof(name), 0 };

		t->stream = ct_stream_number();
		stream_path(&path, "/u-", t->stream);
		fd = ct_open(name, O_RDWR | O_CREAT | O_EXCL, 0644);
		if (fd != -17)	/* EEXIST */
			break;
	}
	if (fd < 0) {
		t->stream = NO_STREAM;
		ct_say_once(CT_ONCE_STREAM, "cannot create, records are lost: ", name);
		return false;
	}
	ct_close(fd);
	return true;
}

static struct ct_open_page *create_open_page(struct ct_thread *t)
{
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	struct ct_open_page *p = NULL;
	int fd;

	stream_path(&path, "/.open-", t->stream);
	fd = ct_open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd >= 0) {
		p = ct_room_map(fd, 0, 4096);
		ct_close(fd);
	}
	if (!p)
		return NULL;
	p->abi = CT_ABI_VERSION;
	p->pid = ct_process->pid;
	p->tid = t->tid;
	p->depth = 0;
	barrier();
	p->magic = CT_MAGIC;
	return p;
}

static bool files_attach(struct ct_thread *t)
{
	t->packet_size = 0;
	t->packet = NULL;
	t->position = t->limit = 0;
	t->file_size = 0;
	t->seq = 0;
	t->open = NULL;
	if (create_stream(t)) {
		t->open = create_open_page(t);
		/* Ids are unique in the process: the stream's number leads. */
		t->ops = (u64)t->stream << 40;
	}
	if (!t->open)
		t->open = ct_open_page_private(t);
	if (!t->open)
		return false;
	t->retry = 0;
	t->last = 0;
	next_packet(t, t->ops, 0);
	return true;
}

/* In a child: the mapping is shared with the parent, whose packet it is. */
static void files_forget(struct ct_thread *t)
{
	if (t->packet)
		ct_unmap(t->packet, t->packet_size);
	if (t->open)
		ct_unmap(t->open, 4096);
	t->packet = NULL;
	t->open = NULL;
}

static void files_detach(struct ct_thread *t)
{
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	bool idle = t->open && !t->open->depth;

	t->nest = 0;
	trim(t);
	if (t->open)
		ct_unmap(t->open, 4096);
	t->open = NULL;
	if (idle && t->stream != NO_STREAM) {
		stream_path(&path, "/.open-", t->stream);
		ct_sys3(SYS_unlinkat, AT_FDCWD, name, 0);
	}
}

/* The process ends, in this thread; others may still run and call. */
static void files_end(struct ct_thread *t)
{
	u64 mask = ct_signals_block();

	trim(t);
	ct_signals_restore(mask);
}

static void make_own_dir(struct ct_text *t)
{
	char name[64];
	struct ct_text n = { name, sizeof(name), 0 };

	ct_put(&n, "cudatrace-");
	ct_put_u(&n, ct_process->pid);
	ct_path_absolute(t, name);
}

bool ct_files_open(void)
{
	struct ct_text t = { dir, sizeof(dir), 0 };
	long error = 0;

	if (*ct_options.dir)
		ct_put(&t, ct_options.dir);
	else
		make_own_dir(&t);
	ct_sys3(SYS_mkdirat, AT_FDCWD, dir, 0755);
	if (ct_registry_open(dir, true, &error))
		return true;
	ct_say_once(CT_ONCE_SINK, error == -28 ? "not tracing, the disk is full: " :
		    "not tracing, cannot use this as a trace directory: ", dir);
	return false;
}

const struct ct_sink ct_sink_files = {
	.name = "files",
	.attach = files_attach,
	.forget = files_forget,
	.detach = files_detach,
	.lose = lose,
	.end = files_end,
	.define = ct_registry_class,
	.string = ct_registry_string,
	.info = ct_registry_info,
	.record = files_record,
};
