// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The backend that needs neither root nor module: a stream of packets per thread, in a file
 * of the trace directory.
 *
 * The packets are made in sub-buffers behind the thread's in-flight page, in a file that the
 * thread has mapped (struct ct_subbufs in cudatrace.h): memory that stays in the caches, as
 * to touch new pages of a file costs more than to write the records.  A full one is drained by
 * the recorder, on another CPU, or by the thread itself, if there is none or it is late.
 *
 * A file's space is allocated before it is mapped: a full disk costs records, never the
 * program.  Must never keep a file descriptor, as the program closes and counts its own, nor
 * wait for the recorder, nor depend on its life.
 */
#include "backend/files.h"

#include <sys/stat.h>

#include "base/options.h"
#include "base/process.h"
#include "tracedir/preallocate.h"

#define E_AGAIN		11
#define E_NOMEM		12
#define E_NFILE		23
#define E_MFILE		24
#define E_FBIG		27
#define E_NOSPC		28
#define E_DQUOT		122
#define E_BOUNDED	4096	/* ours: the recorder does not allow it now */

static char dir[2048];

/*
 * A thread that makes few calls takes little space.  The last: with a recorder; without one
 * each packet is drained at once, and one sub-buffer is enough.
 */
static struct ct_producer_size sizes[] = {
	{ 1, 16u << 10 }, { 1, 64u << 10 }, { 4, 128u << 10 }, { 0, 0 },
};
#define LAST	2
static const struct ct_producer_size last_alone = { 1, 256u << 10 };
_Static_assert(CT_SUBBUFS_MAX >= 4, "the largest");

static struct ct_recorder_page *recorder;	/* NULL: none */
/* Of the recording that was left last: it stays mapped for a thread that is about to wake it, until the next one takes its place. */
static struct ct_recorder_page *left;

/* DIR/PREFIX, and PID-N of the stream. */
struct name {
	char text[2112];
};

static const char *files_name(struct name *name, const char *prefix, const struct ct_producer *s)
{
	struct ct_text t = { name->text, sizeof(name->text), 0 };

	ct_put(&t, dir);
	ct_put(&t, prefix);
	if (s) {
		ct_put_u(&t, ct_process->pid);
		ct_put(&t, "-");
		ct_put_u(&t, s->number);
	}
	return name->text;
}

/*
 * O_NONBLOCK: another program may hold a lease on the file (CAP_LEASE, an NFS or Samba server), and
 * the kernel would make us wait until that one gives it up, for 45 s at most.
 */
static int files_open(const char *path, int flags)
{
	return ct_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | flags, 0644);
}

static struct ct_subbufs *files_head(const struct ct_producer_memory *m)
{
	return (struct ct_subbufs *)(m->map + CT_INFLIGHT_SUBBUFS);
}

/* It stays mapped when another thread leaves the recording meanwhile.  NULL: there is none. */
static struct ct_recorder_page *files_recorder(void)
{
	u64 user = (u64)ct_sys0(SYS_geteuid);
	struct ct_recorder_page *page = ct_load(&recorder), *found;
	struct name name;
	struct stat st;
	int fd;

	if (page)
		return page;
	fd = files_open(files_name(&name, "/.recorder", NULL), 0);
	if (fd < 0)
		return NULL;
	/* Where it is shorter, a look at it would be SIGBUS; and its owner can cut it short. */
	if (!ct_sys2(SYS_fstat, fd, &st) && st.st_size == 4096 && (!st.st_uid || st.st_uid == user))
		page = ct_map(4096, MAP_SHARED, fd, 0);
	ct_close(fd);
	if (!page)
		return NULL;
	if (page->magic != CT_MAGIC || page->abi != CT_ABI_VERSION) {
		ct_unmap(page, 4096);
		return NULL;
	}
	if (left)
		page = ct_map_move(page, left, 4096);
	if (ct_cas(&recorder, NULL, page))
		return page;
	found = ct_load(&recorder);
	/* Both may have moved theirs to the same place. */
	if (page != found && page != ct_load(&left))
		ct_unmap(page, 4096);
	return found;
}

bool ct_files_room(u64 bytes)
{
	struct ct_recorder_page *page;

	if (likely(!ct_options.keep))
		return true;
	page = files_recorder();
	/* Without a recorder nobody drops anything. */
	if (!page)
		return false;
	if (__atomic_add_fetch(&page->written, bytes, __ATOMIC_RELAXED) <=
	    __atomic_load_n(&page->allowed, __ATOMIC_RELAXED))
		return true;
	__atomic_sub_fetch(&page->written, bytes, __ATOMIC_RELAXED);
	return false;
}

/* The recorder is to look for a thread with sub-buffers. */
static void files_adopt(struct ct_producer *s)
{
	struct ct_recorder_page *page = ct_load(&recorder);

	if (s->m.size.count > 1 && page)
		__atomic_fetch_add(&page->threads, 1, __ATOMIC_RELEASE);
}

static void files_wake_recorder(void)
{
	struct ct_recorder_page *page = ct_load(&recorder);

	if (!page)
		return;
	__atomic_fetch_add(&page->published, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&page->waiting, __ATOMIC_SEQ_CST))
		ct_sys3(SYS_futex, &page->published, 1 /* FUTEX_WAKE */, 1);
}

static void files_publish(struct ct_producer *s, u64 n, u64 bytes)
{
	struct ct_subbufs *h = files_head(&s->m);

	h->at[n % s->m.size.count].offset = s->file_size;
	h->at[n % s->m.size.count].size = bytes;
	s->file_size += bytes;
	ct_store(&h->published, n + 1);
	if (s->m.size.count > 1)
		files_wake_recorder();
}

/* False. */
static cold bool files_failed(long error)
{
	const char *text = "cannot write records, they are counted as lost: ";

	if (error == -E_NFILE || error == -E_MFILE)
		text = "no free file descriptor, records are counted as lost: ";
	else if (error == -E_AGAIN)
		text = "another program has a lease on a file, records are counted as lost: ";
	else if (error == -E_BOUNDED)
		text = "records come faster than the oldest are dropped (record --keep), they are counted as lost: ";
	else if (error == -E_FBIG)
		text = "a file would be larger than this process's may be (ulimit -f), records are counted as lost: ";
	else if (error == -E_NOSPC || error == -E_DQUOT)
		text = "no room for records (disk full?), they are counted as lost: ";
	ct_say_once(CT_ONCE_FULL, text, dir);
	return false;
}

static long files_write(int fd, const void *from, u64 size, u64 offset)
{
	const u8 *p = from;

	while (size) {
		long n = ct_sys4(SYS_pwrite64, fd, p, size, offset);

		if (n <= 0)
			return n ? n : -E_NOSPC;
		p += n;
		offset += (u64)n;
		size -= (u64)n;
	}
	return 0;
}

/*
 * Packet n goes to its place in the stream, its magic last: a process that is killed in
 * here, perhaps between two pages of a write, leaves it in its sub-buffer, and a tail without
 * a magic.
 */
static bool files_drain(struct ct_producer *s, u64 n)
{
	struct ct_subbufs *h = files_head(&s->m);
	u32 i = (u32)(n % s->m.size.count);
	u8 *p = s->m.subbufs + i * s->m.size.bytes;
	u64 offset = h->at[i].offset, size = h->at[i].size;
	struct name name;
	long error;
	int fd;

	if (ct_preallocate_beyond(offset + size))
		return files_failed(-E_FBIG);
	if (!ct_files_room(size))
		return files_failed(-E_BOUNDED);
	fd = files_open(files_name(&name, "/u-", s), 0);
	if (fd < 0)
		return files_failed(fd);
	((struct ct_packet *)p)->packet_size = size * 8;
	error = files_write(fd, p + 8, size - 8, offset + 8);
	if (!error)
		error = files_write(fd, p, 8, offset);
	/* Nothing follows, unless the recorder has drained this one after all. */
	if (error && s->m.size.count == 1)
		ct_sys2(SYS_ftruncate, fd, offset);
	ct_close(fd);
	if (error)
		return files_failed(error);
	ct_store(&h->drained, n + 1);
	return true;
}

/*
 * A stream that goes on has the number of the one before in its lower bits: numbers of threads are few, as ops
 * begin with them.
 */
#define NEXT_PART	(1u << 16)

static bool files_create(struct ct_producer *s)
{
	bool goes_on = s->number != CT_NO_STREAM;
	struct name name;
	int fd;

	/* Another process may have had this pid: before exec, or in its own namespace of pids. */
	for (int i = 0; i < 1 << 16; i++) {
		if (goes_on)
			s->number += NEXT_PART;
		else
			s->number = __atomic_fetch_add(&ct_process->streams, 1, __ATOMIC_RELAXED);
		fd = files_open(files_name(&name, "/u-", s), O_CREAT | O_EXCL);
		if (fd != -17)	/* EEXIST */
			break;
	}
	if (fd < 0) {
		s->number = CT_NO_STREAM;
		if (!goes_on)
			ct_say_once(CT_ONCE_STREAM, "cannot create, records are lost: ", name.text);
		return false;
	}
	ct_close(fd);
	return true;
}

bool ct_files_is_long(u64 size)
{
	return ct_options.keep && size >= CT_STREAM_LONG_FOR(ct_preallocate_limit());
}

static bool files_is_long(const struct ct_producer *s)
{
	return ct_files_is_long(s->file_size);
}

static void files_end(struct ct_producer *s, bool empty)
{
	struct name name;

	ct_sys3(SYS_unlinkat, AT_FDCWD, files_name(&name, empty ? "/u-" : "/.open-", s), 0);
}

static bool files_map(struct ct_producer *s, const struct ct_producer_size *size,
		      struct ct_producer_memory *m)
{
	u64 had = s->m.map ? s->m.length : 0;
	/* Nothing fails yet where there is other memory: that of a smaller size, or of the stream before. */
	bool none = s->inflight == s->own, goes_on = !had && !none;
	struct ct_recorder_page *shared = size == &sizes[LAST] && size->count > 1 ? files_recorder() : NULL;
	struct ct_subbufs *h;
	struct name name;
	long error;
	int fd;

	if (size == &sizes[LAST] && size->count > 1 && !shared)
		size = &last_alone;
	*m = (struct ct_producer_memory){
		.length = CT_INFLIGHT_PACKET + (u64)size->count * size->bytes, .size = *size,
	};
	/* In memory of another shape no packet has its place: all must be in the stream. */
	if (had ? !ct_producer_flush(s) : (s->number == CT_NO_STREAM || goes_on) && !files_create(s))
		return false;
	if (!ct_files_room(m->length - had))
		return none && files_failed(-E_BOUNDED);
	/* Never one that is there: its owner could cut it short while it is mapped. */
	fd = files_open(files_name(&name, "/.open-", s), had ? 0 : O_CREAT | O_EXCL);
	if (fd == -17) {	/* EEXIST: the next try takes another number */
		ct_sys3(SYS_unlinkat, AT_FDCWD, files_name(&name, "/u-", s), 0);
		s->number = CT_NO_STREAM;
		return false;
	}
	if (fd < 0)
		return none && files_failed(fd);
	error = ct_preallocate(fd, had, m->length - had);
	if (!error)
		m->map = ct_map(m->length, MAP_SHARED, fd, 0);
	ct_close(fd);
	if (!m->map) {
		/* Where there is memory already, its packets are still drained. */
		if (had)
			return false;
		ct_sys3(SYS_unlinkat, AT_FDCWD, name.text, 0);
		return none && files_failed(error ? error : -E_NOMEM);
	}
	m->inflight = (struct ct_inflight_page *)m->map;
	m->subbufs = m->map + CT_INFLIGHT_PACKET;
	h = files_head(m);
	m->drained = &h->drained;
	*(volatile u32 *)&h->subbufs = 0;
	barrier();
	h->subbuf_size = size->bytes;
	barrier();
	*(volatile u32 *)&h->subbufs = size->count;
	if (!had) {
		m->inflight->abi = CT_ABI_VERSION;
		m->inflight->pid = ct_process->pid;
		m->inflight->tid = s->tid;
		barrier();
		m->inflight->magic = CT_MAGIC;
		/* Ids are unique in the process: the stream's number leads. */
		s->first_op = ((u64)s->number << 40) + 1;
	}
	if (shared)
		__atomic_fetch_add(&shared->threads, 1, __ATOMIC_RELEASE);
	return true;
}

static void files_make_own_dir(struct ct_text *t)
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
		files_make_own_dir(&t);
	/* A thread that looked for it while the recording before was left may have found that one's. */
	ct_files_forget();
	if (ct_options.packet_size) {
		sizes[0].bytes = ct_options.packet_size;
		sizes[1].bytes = 0;
	}
	if (ct_registry_open(dir, true, &error))
		return true;
	ct_say_once(CT_ONCE_BACKEND, ct_registry_why(error), dir);
	return false;
}

void ct_files_forget(void)
{
	if (recorder)
		ct_store(&left, recorder);
	ct_store(&recorder, NULL);
}

static bool files_deserted(u64 now)
{
	struct ct_recorder_page *page = files_recorder();
	u64 alive;

	if (!page)
		return false;
	alive = __atomic_load_n(&page->alive, __ATOMIC_RELAXED);
	return alive && now > alive && now - alive > CT_RECORDER_GONE_NS;
}

static const struct ct_producer_ops producers = {
	.sizes = sizes,
	.map = files_map,
	.publish = files_publish,
	.drain = files_drain,
	.adopt = files_adopt,
	.is_long = files_is_long,
	.end = files_end,
	.inherited = true,
};

const struct ct_backend ct_backend_files = {
	.name = "files",
	.producers = &producers,
	.ioctls = true,
	.define = ct_registry_class,
	.string = ct_registry_string,
	.info = ct_registry_info,
	.deserted = files_deserted,
};
