// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Following a trace directory that is being written.  Only what its writers have
 * committed is read: must never write there, and never hold a writer up.
 *
 * A damaged packet is left out and counted, like in trace/stream.c.  Of a packet that grows, records
 * that were read before the damage was there have been given already.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "live/follow.h"
#include "trace/directory.h"
#include "trace/packet.h"
#include "trace/sub_buffers.h"

#define POLL_NS		50000000
#define FOLLOW_BATCH	100000	/* records that are read before the sink may do something else */

/* A stream and how far it was read. */
struct tail {
	char *name;
	int fd, kind;		/* open while it is read: of short processes there may be thousands */
	uint32_t pid;		/* 0: it is of no process, or of several */
	uint64_t ino, born;	/* which file it is; born: ns, 0: the file system doesn't tell */
	struct {
		uint64_t at, seq, begin;
	} head;			/* of the last packet that was found in the file; begin 0: none yet */
	uint64_t packet;	/* offset of the packet that is being read */
	uint32_t used;		/* bytes of it that were read */
	uint64_t seq;		/* its number */
	uint64_t after;		/* ns: of records that ended until then none is given */
	uint64_t last;		/* ns: of the last record that was read of it */
	bool bad;		/* it is damaged: no more of it is read */
	bool searching;		/* a packet may begin at that offset, or behind it */
	uint64_t packets_bad, bad_offset; /* how many were left out; the first one, and why */
	char bad_why[112];
};

struct ct_follower {
	const char *dir, *name;	/* name: in messages */
	bool quiet;		/* nothing is said of damaged packets */
	struct ct_registry reg;
	off_t registry_read;	/* bytes */
	struct tail *tails;
	unsigned int tails_count;
	const struct ct_follow_sink *sink;
	size_t records;		/* since the sink was told that all was read */
	uint8_t *packet;
	bool old;		/* what is read was there before */
	bool finished;		/* nobody writes any more */
};

/* Lines that were added since; the last one may be half written. */
static int follow_read_registry(struct ct_follower *f, struct ct_error *err)
{
	char path[4096], *line = NULL;
	struct stat st;
	size_t size = 0;
	ssize_t len;
	FILE *file;
	int fd, rc = 0;

	if (ct_path(path, sizeof(path), f->dir, CT_REGISTRY_FILE))
		return ct_fail(err, ENAMETOOLONG, "%.100s...: the path is too long", f->dir);
	/* It is asked for each packet, and only grows. */
	if (!stat(path, &st) && st.st_size == f->registry_read)
		return 0;
	fd = open(path, O_RDONLY | CT_O_FOREIGN);
	if (fd < 0)
		return errno == ENOENT ? 0 : ct_fail(err, errno, "%s/%s: %s", f->name, CT_REGISTRY_FILE, strerror(errno));
	file = fstat(fd, &st) || !S_ISREG(st.st_mode) ? NULL : fdopen(fd, "r");
	if (!file) {
		close(fd);
		return ct_fail(err, EBADMSG, "%s/%s: not a file, or no memory", f->name, CT_REGISTRY_FILE);
	}
	if (fseeko(file, f->registry_read, SEEK_SET))
		rc = ct_fail(err, errno, "%s: %s", path, strerror(errno));
	while (!rc && (len = getline(&line, &size, file)) > 0 && line[len - 1] == '\n') {
		line[len - 1] = 0;
		f->registry_read += len;
		rc = ct_registry_line(&f->reg, line, path, err);
	}
	free(line);
	fclose(file);
	return rc;
}

static int follow_find_streams(struct ct_follower *f, struct ct_error *err)
{
	struct dirent *entry;
	struct tail *more;
	DIR *dir;
	int rc = 0;

	dir = opendir(f->dir);
	if (!dir)
		return ct_fail(err, errno, "%s: %s", f->name, strerror(errno));
	while (!rc && (entry = readdir(dir))) {
		int kind = ct_stream_kind(entry->d_name);
		bool known = false;

		for (unsigned int i = 0; i < f->tails_count && !known; i++)
			known = !strcmp(f->tails[i].name, entry->d_name);
		if (kind < 0 || known)
			continue;
		more = realloc(f->tails, (f->tails_count + 1) * sizeof(*more));
		if (!more) {
			rc = ct_fail(err, ENOMEM, "no memory");
			break;
		}
		f->tails = more;
		more += f->tails_count;
		*more = (struct tail){ .name = strdup(entry->d_name), .fd = -1, .kind = kind, .after = f->sink->after };
		if (!more->name)
			continue;
		if ((kind != CT_STREAM_THREAD && kind != CT_STREAM_GPU) || sscanf(more->name, "%*[ug]-%u-", &more->pid) != 1)
			more->pid = 0;
		f->tails_count++;
		/* The state stream first: it names the processes of the other rows. */
		if (kind == CT_STREAM_STATE) {
			struct tail state = *more;

			*more = f->tails[0];
			f->tails[0] = state;
		}
	}
	closedir(dir);
	return rc;
}

static void follow_leave_out(struct tail *t, const char *why)
{
	if (!t->packets_bad++) {
		t->bad_offset = t->packet;
		snprintf(t->bad_why, sizeof(t->bad_why), "%.111s", why);
	}
}

static void follow_next_packet(struct tail *t, uint64_t offset, uint64_t seq)
{
	t->packet = offset;
	t->seq = seq;
	t->used = 0;
	t->bad = false;
}

/* Records of this stream are not given.  Samples and states are no loss, and u-0-0 has no records. */
static void follow_left_out(const struct ct_follower *f, const struct tail *t)
{
	if ((t->pid || t->kind == CT_STREAM_CPU) && f->sink->left_out)
		f->sink->left_out(f->sink->arg, t->pid);
}

/* Are the records from t->used on good?  0 or -EBADMSG. */
static int follow_check_records(const struct ct_follower *f, const struct tail *t,
				const struct ct_packet_view *p, struct ct_error *err)
{
	uint64_t last = t->used == CT_PACKET_HEAD ? p->ts_begin : t->last, stamp = 0;
	const char *why = NULL;
	struct ct_record r;
	uint32_t at, size;

	for (at = t->used; at < p->content; at += size) {
		size = ct_record_parse(p, at, &f->reg, &r, &why);
		if (size && r.end < last)
			why = "a record that is older than the one before it";
		if (!size || r.end < last) {
			memcpy(&stamp, p->data + at, p->content - at < 8 ? 0 : 8);
			return ct_fail(err, EBADMSG, "%s (class %u) at byte %u", why,
				       CT_RECORD_CLASS(stamp), at);
		}
		last = r.end;
	}
	return 0;
}

/* Records of the packet in f->packet, from t->used on. */
static int follow_read_records(struct ct_follower *f, struct tail *t, const struct ct_packet_view *p,
			       struct ct_error *err)
{
	struct ct_error inner;
	struct ct_record r;
	const char *why;
	uint32_t size;
	int rc;

	if (!t->bad && follow_check_records(f, t, p, &inner)) {
		/* A class was added since the registry was read, or the packet is bad. */
		rc = follow_read_registry(f, err);
		if (rc)
			return rc;
		t->bad = follow_check_records(f, t, p, &inner);
		if (t->bad)
			follow_leave_out(t, inner.text);
	}
	for (; !t->bad && t->used < p->content; t->used += size) {
		size = ct_record_parse(p, t->used, &f->reg, &r, &why);
		t->last = r.end;
		f->records++;
		if (r.end <= t->after) {
			follow_left_out(f, t);
			continue;
		}
		rc = f->sink->record(f->sink->arg, &f->reg, &r, f->old);
		if (rc)
			return ct_fail(err, -rc, "%s", strerror(-rc));
	}
	return 0;
}

/* Moves to where a head of this trace may begin; false: there is none up to the file's end. */
static bool follow_find_head(struct ct_follower *f, struct tail *t)
{
	struct {
		uint32_t magic;
		uint8_t uuid[16];
	} begin = { .magic = CT_MAGIC };
	const uint8_t *found;
	ssize_t n;

	memcpy(begin.uuid, f->reg.uuid, sizeof(begin.uuid));
	while ((n = pread(t->fd, f->packet, CT_PACKET_MAX, t->packet)) >= (ssize_t)sizeof(begin)) {
		found = memmem(f->packet, n, &begin, sizeof(begin));
		if (found) {
			t->packet += found - f->packet;
			return true;
		}
		t->packet += n - sizeof(begin) + 1;
	}
	return false;
}

/*
 * The head of the packet at t->packet, which is in f->packet, is damaged, or the file of @in_file
 * further bytes ends in its packet.  A size that is possible is believed, as in trace/stream.c.
 * Return: 1: it is left out, or to be read once more; 0: its writer is not ready; negative errno.
 */
static int follow_bad_head(struct ct_follower *f, struct tail *t, uint64_t in_file,
			   const struct ct_error *why, struct ct_error *err)
{
	const struct ct_packet head = *(struct ct_packet *)f->packet;
	bool ours = ct_packet_is_of(&head, t->kind, f->reg.uuid);
	struct tail next = *t;

	if (!t->packet && !ours)
		return ct_fail(err, EBADMSG, "%s/%s: offset 0: %s", f->name, t->name, why->text);
	next.packet += 4;
	if (why->code == ENODATA && !f->finished) {
		if (!follow_find_head(f, &next))
			return 0;
		/* The rest was written since the file's size was asked, and the next packet, too: it is whole now. */
		if (in_file < CT_PACKET_HEAD || next.packet >= t->packet + head.packet_size / 8)
			return 1;
	}
	follow_leave_out(t, why->text);
	t->searching = !ours || !ct_packet_size_valid(&head) || head.packet_size / 8 > in_file;
	follow_next_packet(t, t->packet + (t->searching ? 4 : head.packet_size / 8), t->seq + 1);
	return 1;
}

/* Has the thread begun a packet with this number, that is not in its stream? */
static bool follow_has_begun(const struct ct_follower *f, const struct tail *t, uint64_t seq)
{
	struct ct_packet head;
	struct ct_sub_buffers subbufs;
	bool found;

	ct_sub_buffers_open(&subbufs, f->dir, t->name);
	found = ct_sub_buffers_find(&subbufs, seq, &head) && head.seq == seq;
	ct_sub_buffers_close(&subbufs);
	return found;
}

/* A busy thread has its newest packets in sub-buffers, not yet in its stream: see cudatrace.h. */
static int follow_read_sub_buffer(struct ct_follower *f, struct tail *t, struct ct_error *err)
{
	struct ct_packet *head = (void *)f->packet;
	struct ct_packet_view p;
	struct ct_error ignored;
	struct ct_sub_buffers subbufs;
	uint64_t at;
	int rc = 0;

	ct_sub_buffers_open(&subbufs, f->dir, t->name);
	at = ct_sub_buffers_find(&subbufs, t->seq, head);
	if (!at || head->seq != t->seq ||
	    ct_packet_check(f->packet, CT_PACKET_HEAD, CT_PACKET_MAX, t->kind, f->reg.uuid, &p,
			    &ignored) != 1)
		goto out;
	if (t->used < CT_PACKET_HEAD)
		t->used = CT_PACKET_HEAD;
	if (p.content <= t->used ||
	    pread(subbufs.fd, f->packet + t->used, p.content - t->used, at + t->used) !=
	    (ssize_t)(p.content - t->used))
		goto out;
	/* Another packet may have replaced it while it was read. */
	if (ct_sub_buffers_same(&subbufs, at, head))
		rc = follow_read_records(f, t, &p, err);
out:
	ct_sub_buffers_close(&subbufs);
	return rc;
}

/*
 * record --keep has dropped the packets from t->packet on, perhaps also where a packet was being read:
 * moves behind them.
 */
static bool follow_was_dropped(struct ct_follower *f, struct tail *t, off_t size)
{
	off_t data = ct_registry_info(&f->reg, CT_KEEP_INFO) ? lseek(t->fd, (off_t)t->packet, SEEK_DATA) : -1;
	struct tail next = *t;

	if (data < 0)
		return false;
	if ((uint64_t)data > next.packet)
		next.packet = (uint64_t)data & -8ull;
	if ((off_t)next.packet >= size || !follow_find_head(f, &next) || next.packet == t->packet)
		return false;
	follow_next_packet(t, next.packet, t->seq);
	follow_left_out(f, t);
	return true;
}

/*
 * The packet of head @p, and all in front of it, is too old to be given: moves behind it, if another one begins there.
 * A packet may be long: only heads are read.
 */
static bool follow_was_before(const struct ct_follower *f, struct tail *t, const struct ct_packet_view *p)
{
	uint32_t magic = 0;

	if (t->used || p->ts_end > t->after)
		return false;
	if (pread(t->fd, &magic, sizeof(magic), (off_t)(t->packet + p->size)) != sizeof(magic) || magic != CT_MAGIC)
		return false;
	follow_left_out(f, t);
	follow_next_packet(t, t->packet + p->size, p->seq + 1);
	return true;
}

/* Return: 1: the next packet begins; 0: nothing more by now; negative errno. */
static int follow_read_packet(struct ct_follower *f, struct tail *t, struct ct_error *err)
{
	struct ct_packet_view p;
	struct ct_error inner;
	uint32_t magic = 0;
	struct stat st;
	ssize_t n;
	int rc;

	if (t->searching && !follow_find_head(f, t))
		return 0;
	t->searching = false;
	if (fstat(t->fd, &st) || (uint64_t)st.st_size <= t->packet ||
	    ((uint64_t)st.st_size < t->packet + CT_PACKET_HEAD && !f->finished))
		return follow_read_sub_buffer(f, t, err);
	memset(f->packet, 0, CT_PACKET_HEAD);
	n = pread(t->fd, f->packet, CT_PACKET_HEAD, t->packet);
	if (n <= 0)
		return 0;
	rc = ct_packet_check(f->packet, n, st.st_size - t->packet, t->kind, f->reg.uuid, &p, &inner);
	if (rc < 0)
		return follow_bad_head(f, t, st.st_size - t->packet, &inner, err);
	if (!rc && follow_was_dropped(f, t, st.st_size))
		return 1;
	if (!rc)
		return follow_read_sub_buffer(f, t, err);
	t->seq = p.seq;
	t->head.at = t->packet;
	t->head.seq = p.seq;
	t->head.begin = p.ts_begin;
	if (follow_was_before(f, t, &p)) {
		f->records++;
		return 1;
	}
	/* Whether there is a next one is asked before this one is read to its end. */
	if (pread(t->fd, &magic, 4, t->packet + p.size) != 4)
		magic = 0;
	if (!magic && follow_has_begun(f, t, p.seq + 1))
		magic = CT_MAGIC;
	if (magic) {
		n = pread(t->fd, f->packet, CT_PACKET_HEAD, t->packet);
		if (n != (ssize_t)CT_PACKET_HEAD ||
		    ct_packet_check(f->packet, n, st.st_size - t->packet, t->kind, f->reg.uuid,
				    &p, &inner) != 1)
			return 0;
	}
	if (t->used < CT_PACKET_HEAD)
		t->used = CT_PACKET_HEAD;
	if (p.content > t->used) {
		n = pread(t->fd, f->packet + t->used, p.content - t->used, t->packet + t->used);
		if (n != (ssize_t)(p.content - t->used))
			return 0;
	}
	rc = follow_read_records(f, t, &p, err);
	if (rc)
		return rc;
	if (!magic)
		return 0;
	follow_next_packet(t, t->packet + p.size, p.seq + 1);
	return 1;
}

/* A line where damaged packets of it are missing. */
static void follow_tell_bad(const struct ct_follower *f, const struct tail *t)
{
	if (t->packets_bad && !f->quiet)
		ct_complain("%s/%s: offset %llu: %s: left out %llu damaged packet%s of this stream",
			    f->name, t->name, (unsigned long long)t->bad_offset, t->bad_why,
			    (unsigned long long)t->packets_bad, t->packets_bad == 1 ? "" : "s");
}

static void follow_forget(struct ct_follower *f, struct tail *t)
{
	follow_tell_bad(f, t);
	free(t->name);
	*t = f->tails[--f->tails_count];
}

/*
 * Is it another file than the one that was read, or were its packets moved to its front, as record --keep does at its
 * end?  A file that is made anew may have the inode of the one that was removed just now.
 */
static bool follow_is_another(const struct ct_follower *f, struct tail *t)
{
	struct ct_packet head;
	struct statx st;
	uint64_t born;
	bool another;

	if (statx(t->fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_SIZE | STATX_BTIME, &st))
		return false;
	born = st.stx_mask & STATX_BTIME ? (uint64_t)st.stx_btime.tv_sec * 1000000000u + st.stx_btime.tv_nsec : 0;
	another = t->ino && (t->ino != st.stx_ino || t->born != born || (st.stx_size < t->packet && !t->searching));
	t->ino = st.stx_ino;
	t->born = born;
	if (another || !t->head.begin)
		return another;
	if (pread(t->fd, &head, sizeof(head), (off_t)t->head.at) != (ssize_t)sizeof(head))
		return true;
	/* record --keep has dropped it. */
	if (!head.magic && ct_registry_info(&f->reg, CT_KEEP_INFO))
		return false;
	return head.magic != CT_MAGIC || head.seq != t->head.seq || head.ts_begin != t->head.begin;
}

/* Return: 1: it is open; 0: not now; -ENOENT: it was removed (record --keep). */
static int follow_open(const struct ct_follower *f, struct tail *t)
{
	char path[4096];

	if (ct_path(path, sizeof(path), f->dir, t->name))
		return 0;
	t->fd = open(path, O_RDONLY | CT_O_FOREIGN);
	if (t->fd < 0)
		return errno == ENOENT ? -ENOENT : 0;
	/* From its front on, but nothing twice. */
	if (follow_is_another(f, t)) {
		follow_next_packet(t, 0, 0);
		t->searching = false;
		t->head.begin = 0;
		t->after = t->last > t->after ? t->last : t->after;
	}
	return 1;
}

static int follow_poll_once(struct ct_follower *f, struct ct_error *err)
{
	int rc;

	rc = follow_find_streams(f, err);
	for (unsigned int i = 0; i < f->tails_count && !rc; i++) {
		int opened = follow_open(f, &f->tails[i]);

		if (opened == -ENOENT)
			follow_forget(f, &f->tails[i--]);
		if (opened <= 0)
			continue;
		do {
			/* A class is in the registry before its first record. */
			rc = follow_read_registry(f, err);
			if (!rc)
				rc = follow_read_packet(f, &f->tails[i], err);
			/* A trace that is there already is not held in memory. */
		} while (rc > 0 && f->records < FOLLOW_BATCH);
		if (rc > 0)
			rc = 0;
		close(f->tails[i].fd);
	}
	return rc;
}

static bool follow_is_finished(const struct ct_follower *f)
{
	char path[4096];

	return !ct_path(path, sizeof(path), f->dir, CT_METADATA_FILE) && !access(path, F_OK);
}

int ct_follower_open(struct ct_follower **follower, const char *dir, const char *name, bool quiet,
		     const struct ct_follow_sink *sink, struct ct_error *err)
{
	struct ct_follower *f = calloc(1, sizeof(*f));
	int rc;

	*follower = NULL;
	if (!f)
		return ct_fail(err, ENOMEM, "no memory");
	*f = (struct ct_follower){ .dir = dir, .name = name, .quiet = quiet, .sink = sink, .old = true, .packet = malloc(CT_PACKET_MAX) };
	/* follow_read_registry() begins at the start again: a line said twice is one. */
	rc = f->packet ? ct_registry_read(&f->reg, dir, err) : ct_fail(err, ENOMEM, "no memory");
	if (rc)
		ct_follower_close(f);
	else
		*follower = f;
	return rc;
}

int ct_follower_read(struct ct_follower *f, struct ct_follow_state *state, struct ct_error *err)
{
	int rc;

	f->finished = follow_is_finished(f);
	rc = follow_poll_once(f, err);
	*state = (struct ct_follow_state){
		.more = f->records > 0, .full = f->records >= FOLLOW_BATCH, .finished = f->finished,
	};
	/* What was there when this began may take several rounds; a finished trace is all old. */
	f->old = f->old && (f->finished || f->records >= FOLLOW_BATCH);
	f->records = 0;
	return rc;
}

void ct_follower_close(struct ct_follower *f)
{
	if (!f)
		return;
	for (unsigned int i = 0; i < f->tails_count; i++) {
		follow_tell_bad(f, &f->tails[i]);
		free(f->tails[i].name);
	}
	free(f->tails);
	free(f->packet);
	ct_registry_free(&f->reg);
	free(f);
}

int ct_follow(const char *dir, const struct ct_follow_sink *sink, const volatile bool *stop,
	      struct ct_error *err)
{
	struct timespec pause = { .tv_nsec = POLL_NS };
	struct ct_follow_state state;
	struct ct_follower *f;
	int rc = ct_follower_open(&f, dir, dir, false, sink, err), told;

	while (!rc) {
		rc = ct_follower_read(f, &state, err);
		told = sink->idle(sink->arg, &state.more);
		if (!rc && told)
			rc = told == -EPIPE ? -EPIPE : ct_fail(err, -told, "%s", strerror(-told));
		if (rc || *stop || (state.finished && !state.more))
			break;
		if (!state.more)
			nanosleep(&pause, NULL);
	}
	if (rc == -EPIPE)	/* nobody looks any more */
		rc = 0;
	ct_follower_close(f);
	return rc;
}
