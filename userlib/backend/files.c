// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The backend that needs neither root nor module: a stream of packets per thread,
 * in a file of the trace directory that the thread has mapped.
 *
 * A packet's room on disk is
 * allocated before it is mapped: a full disk costs records, never the program.
 * Must never keep a file descriptor: the program closes and counts its own.
 */
#include "backend/backend.h"

#include "backend/subbufs.h"
#include "base/options.h"
#include "record/packet.h"
#include "base/process.h"
#include "tracedir/registry.h"
#include "tracedir/preallocate.h"

static char dir[2048];

#define PACKET_FIRST	(64u << 10)
#define PACKET_LAST	(1u << 20)
#define BUSY		(256u << 10)	/* larger packets are made elsewhere: handover.c */

#define NO_STREAM	(~0u)	/* none could be created */

void ct_files_path_of(struct ct_text *t, const char *name)
{
	ct_put(t, dir);
	ct_put(t, name);
}

void ct_files_path(struct ct_text *t, const char *prefix, u32 n)
{
	ct_files_path_of(t, prefix);
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

/* Lets go of the packet, which stays as it is. */
static void drop_packet(struct ct_thread *t)
{
	struct ct_packet *old = t->packet;
	u32 size = t->packet_size;

	if (old == &ct_no_packet)
		return;
	ct_packet_none(t);
	barrier();
	if (!ct_subbufs_holds(t, old))
		ct_unmap(old, size);
}

/* Room for a packet of this size behind the stream's last. */
static void *map_packet(struct ct_thread *t, u32 size)
{
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	void *packet;
	int fd;

	ct_files_path(&path, "/u-", t->stream);
	fd = ct_open(name, O_RDWR, 0);
	if (fd < 0)
		return NULL;
	packet = ct_preallocate_map(fd, t->file_size, size);
	ct_close(fd);
	return packet;
}

/* A busy thread gets ever larger packets. */
static bool files_next(struct ct_thread *t, u64 op, u64 end)
{
	u32 first = ct_options.packet_size ? ct_options.packet_size : PACKET_FIRST;
	struct ct_packet *old = t->packet;
	u32 old_size = t->packet_size, size = first;
	void *packet;

	if (t->slots) {
		if (ct_subbufs_next(t, op, end))
			return true;
		no_room();
		return false;
	}
	if (!ct_options.packet_size && t->file_size)
		size = old_size * 2;
	if (t->stream == NO_STREAM)
		return false;
	if (size >= BUSY && ct_subbufs_begin(t) && ct_subbufs_next(t, op, end)) {
		ct_unmap(old, old_size);
		return true;
	}
	if (size < first || size > PACKET_LAST)
		size = first;
	packet = map_packet(t, size);
	if (!packet && size != first) {
		size = first;
		packet = map_packet(t, size);
	}
	if (!packet) {
		no_room();
		return false;
	}
	t->file_size += size;
	ct_packet_begin(t, packet, size, op, end);
	if (old != &ct_no_packet)
		ct_unmap(old, old_size);
	return true;
}

/*
 * Gives back what the last packet has too much.  A later record begins another.
 * Signals blocked.  False if the packet must stay where it is.
 */
static bool trim(struct ct_thread *t)
{
	struct ct_packet *p = t->packet;
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	u64 size;
	int fd;

	if (p == &ct_no_packet)
		return true;
	if (t->writer)
		return false;
	if (t->slots)
		return ct_subbufs_flush(t);
	size = (p->content_size / 8 + 4095) & ~4095ull;
	p->packet_size = size * 8;
	t->file_size -= t->packet_size - size;
	drop_packet(t);
	ct_files_path(&path, "/u-", t->stream);
	fd = ct_open(name, O_RDWR, 0);
	if (fd < 0)
		return true;
	ct_sys2(SYS_ftruncate, fd, t->file_size);
	ct_close(fd);
	return true;
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
		ct_files_path(&path, "/u-", t->stream);
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

static struct ct_inflight_page *create_open_page(struct ct_thread *t)
{
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	struct ct_inflight_page *p = NULL;
	int fd;

	ct_files_path(&path, "/.open-", t->stream);
	fd = ct_open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd >= 0) {
		p = ct_preallocate_map(fd, 0, 4096);
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
	t->file_size = 0;
	t->seq = 0;
	t->open = NULL;
	t->slots = NULL;
	if (create_stream(t)) {
		t->open = create_open_page(t);
		/* Ids are unique in the process: the stream's number leads. */
		t->ops = ((u64)t->stream << 40) + 1;
	}
	if (!t->open)
		t->open = ct_open_page_private(t);
	if (!t->open)
		return false;
	t->retry = 0;
	files_next(t, t->ops, 0);
	return true;
}

/*
 * In a child: the mappings are shared with the parent, whose packet it is.  Not unmapped,
 * since what this thread was doing when a handler forked goes on in the child, too.
 */
static void files_forget(struct ct_thread *t)
{
	struct ct_packet *packet = t->packet;
	u32 size = t->packet_size;

	ct_packet_none(t);
	if (packet != &ct_no_packet && !ct_subbufs_holds(t, packet))
		ct_map_over(packet, size, MAP_FIXED);
	if (t->slots)
		ct_map_over(t->slots, t->slot_count * t->slot_size, MAP_FIXED);
	t->slots = NULL;
	if (t->open)
		ct_map_over(t->open, 4096, MAP_FIXED);
}

static void files_detach(struct ct_thread *t)
{
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	bool idle = t->open && !t->open->depth;

	t->writer = 0;
	idle = trim(t) && idle;
	drop_packet(t);
	ct_subbufs_forget(t);
	if (t->open)
		ct_unmap(t->open, 4096);
	t->open = NULL;
	if (idle && t->stream != NO_STREAM) {
		ct_files_path(&path, "/.open-", t->stream);
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
	if (ct_registry_open(dir, true, &error))
		return true;
	ct_say_once(CT_ONCE_BACKEND, ct_registry_why(error), dir);
	return false;
}

const struct ct_backend ct_backend_files = {
	.name = "files",
	.attach = files_attach,
	.forget = files_forget,
	.detach = files_detach,
	.lose = ct_packet_lose,
	.end = files_end,
	.define = ct_registry_class,
	.string = ct_registry_string,
	.info = ct_registry_info,
	.next = files_next,
	.record = ct_packet_record,
};
