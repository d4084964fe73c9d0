// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finishing a trace.  Must never write to a stream whose thread still lives, and
 * never change a record that is there.
 */
#include "capture/finish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "write/lost.h"
#include "write/metadata.h"
#include "capture/keep.h"
#include "capture/orphan.h"
#include "capture/writers.h"
#include "trace/directory.h"
#include "trace/pages.h"
#include "trace/reader.h"

/* Adds a packet of call_open records after the last packet of stream @s. */
static int finish_append_calls(const struct ct_trace *t, const struct ct_stream_file *s,
			       const struct ct_inflight *inflight, unsigned int count, int fd)
{
	struct ct_packet head = {
		.magic = CT_MAGIC, .stream_class = CT_STREAM_THREAD, .packet_size = 8ull *
		CT_PACKET_MIN, .pid = inflight->pid, .tid = inflight->tid, .op_base = inflight->op,
	};
	uint8_t packet[CT_PACKET_MIN] = { 0 };
	uint32_t used = CT_PACKET_HEAD;
	uint64_t now = t->reg.start;

	memcpy(head.uuid, t->reg.uuid, 16);
	if (s->packets_count) {
		struct ct_packet_view last;

		ct_stream_packet(s, s->packets_count - 1, &last);
		head.seq = last.seq + 1;
		head.lost = last.lost;
		now = last.ts_end;
	}
	/* When the thread died is not known: at least after its last call began. */
	for (unsigned int i = 0; i < count; i++)
		if (inflight[i].begin > now)
			now = inflight[i].begin;
	for (unsigned int i = 0; i < count; i++) {
		struct ct_thread_record r = {
			.stamp = CT_STAMP(now, CT_CLASS_call_open), .depth = inflight[i].level,
			.flags = CT_F_INSTANT | CT_F_NO_RESULT, .duration = 0xffffull << CT_TS_BITS,
		};
		struct ct_call_open open = {
			.begin = inflight[i].begin, .op = inflight[i].op,
			.function = inflight[i].class, .level = inflight[i].level,
			.reason = CT_OPEN_DIED,
		};

		if (used + sizeof(r) + sizeof(open) > sizeof(packet))
			break;
		memcpy(packet + used, &r, sizeof(r));
		memcpy(packet + used + sizeof(r), &open, sizeof(open));
		used += sizeof(r) + sizeof(open);
	}
	head.ts_begin = head.ts_end = now;
	head.content_size = 8ull * used;
	memcpy(packet, &head, sizeof(head));
	return ct_pwrite_packets(fd, packet, sizeof(packet), s->tail);
}

/* Writes the packets that were only in sub-buffers. */
static int finish_append_packet(const struct ct_stream_file *s, int fd)
{
	uint64_t at = s->tail - s->added;

	return s->added ? ct_pwrite_packets(fd, s->map + at, s->added, at) : 0;
}

/* Adds the calls of an in-flight page to its stream, whose tail is cut, and removes the page. */
static int finish_thread(const struct ct_trace *t, const char *page_name, struct ct_error *err)
{
	const struct ct_stream_file *s = NULL;
	unsigned int first = 0, count = 0;
	char path[4096], name[280];
	int fd, rc;

	if (ct_stream_of_page(name, sizeof(name), page_name) ||
	    ct_path(path, sizeof(path), t->dir, name))
		return ct_fail(
			err, EBADMSG,
			"%s/%s: not a file of a cudatrace trace; move it out of the directory",
			t->dir, page_name);
	for (unsigned int i = 0; i < t->streams_count; i++)
		if (!strcmp(t->streams[i].name, name))
			s = &t->streams[i];
	for (unsigned int i = 0; s && i < t->inflight_count; i++)
		if (t->inflight[i].stream == (int)s->index && !count++)
			first = i;
	if (count || (s && s->added)) {
		fd = ct_stream_reopen(s, t->dir, O_WRONLY);
		if (fd < 0)
			return ct_fail(err, -fd, "%s: %s", path, strerror(-fd));
		rc = finish_append_packet(s, fd);
		if (!rc && count)
			rc = finish_append_calls(t, s, &t->inflight[first], count, fd);
		if (close(fd) && !rc)
			rc = -errno;
		if (rc)
			return ct_fail(err, -rc, "%s: %s", path, strerror(-rc));
	}
	if (!ct_path(path, sizeof(path), t->dir, page_name) && unlink(path) && errno != ENOENT)
		return ct_fail(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

/* Removes packets that were prepared and never begun. */
static int finish_cut_tails(const struct ct_trace *t, struct ct_error *err)
{
	for (unsigned int i = 0; i < t->streams_count; i++) {
		const struct ct_stream_file *s = &t->streams[i];
		int fd, rc;

		if (!s->unfinished)
			continue;
		fd = ct_stream_reopen(s, t->dir, O_WRONLY);
		rc = fd < 0 ? fd : ftruncate(fd, s->tail - s->added) ? -errno : 0;
		if (fd >= 0)
			close(fd);
		if (rc)
			return ct_fail(err, -rc, "%s/%s: %s", t->dir, s->name, strerror(-rc));
	}
	return 0;
}

/*
 * Replaces a packet that was not written whole by one without records.  Its number says
 * that a packet is missing: every reader counts the loss, also later.
 */
static int finish_mark_torn(const struct ct_trace *t, const struct ct_stream_file *s)
{
	uint8_t packet[CT_PACKET_MIN] = { 0 };
	struct ct_packet head;
	bool known = true;
	int fd, rc = 0;

	if (s->packets_count)
		memcpy(&head, s->map + s->packets[s->packets_count - 1].offset, sizeof(head));
	else if (s->torn >= sizeof(head))
		memcpy(&head, s->map + s->tail, sizeof(head));
	else
		known = false;
	fd = ct_stream_reopen(s, t->dir, O_WRONLY);
	if (fd < 0)
		return fd;
	if (ftruncate(fd, s->tail))
		rc = -errno;
	if (!rc && known) {
		if (s->packets_count)
			head.ts_begin = s->packets[s->packets_count - 1].ts_end;
		head.ts_end = head.ts_begin;
		head.packet_size = 8ull * CT_PACKET_MIN;
		head.content_size = 8ull * CT_PACKET_HEAD;
		head.seq = s->next_seq + 1;
		memcpy(packet, &head, sizeof(head));
		rc = ct_pwrite_packets(fd, packet, sizeof(packet), s->tail);
	}
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

/* Return: how many streams ended in a part of a packet, or a negative errno. */
static int finish_mark_all_torn(const struct ct_trace *t, struct ct_error *err)
{
	int rc, n = 0;

	for (unsigned int i = 0; i < t->streams_count; i++) {
		const struct ct_stream_file *s = &t->streams[i];

		if (!s->torn || s->added)
			continue;
		rc = finish_mark_torn(t, s);
		if (rc)
			return ct_fail(err, -rc, "%s/%s: %s", t->dir, s->name, strerror(-rc));
		fprintf(stderr,
			"cudatrace: %s/%s: its last packet was not written whole (%llu bytes): its records are lost\n",
			t->dir, s->name, (unsigned long long)s->torn);
		n++;
	}
	return n;
}

/* All threads are dead: ends their streams. */
static int finish_threads(const struct ct_trace *t, struct ct_error *err)
{
	struct dirent *entry;
	char path[4096];
	DIR *dir;
	int rc;

	dir = opendir(t->dir);
	if (!dir)
		return ct_fail(err, errno, "%s: %s", t->dir, strerror(errno));
	rc = finish_cut_tails(t, err);
	while (!rc && (entry = readdir(dir)))
		if (ct_is_inflight_page(entry->d_name))
			rc = finish_thread(t, entry->d_name, err);
	closedir(dir);
	/* A recorder that was killed did not remove it. */
	if (!rc && !ct_path(path, sizeof(path), t->dir, CT_RECORDER_FILE))
		unlink(path);
	return rc;
}

/* What is no stream of this trace is not written to, nor described. */
static int finish_check(const struct ct_trace *t, struct ct_error *err)
{
	for (unsigned int i = 0; i < t->unread_count; i++)
		if (!t->unread[i].lost)
			return ct_fail(err, EBADMSG, "%s/%s: %s", t->dir, t->unread[i].name, t->unread[i].why);
	return 0;
}

static int finish_open(struct ct_trace *t, const char *dir, struct ct_error *err)
{
	int rc = ct_trace_open(t, dir, err);

	return rc ? rc : finish_check(t, err);
}

int ct_finish(const char *dir, bool locked, struct ct_error *err)
{
	struct ct_trace t;
	int rc, lock = -1;

	memset(&t, 0, sizeof(t));
	if (!locked) {
		rc = ct_trace_open(&t, dir, err);
		if (rc || !t.unfinished)
			goto out;
		rc = finish_check(&t, err);
		if (rc)
			goto out;
		lock = ct_trace_lock(dir);
		if (lock == -EWOULDBLOCK) {
			rc = 1;
			goto out;
		}
		if (lock < 0) {
			rc = ct_fail(err, -lock, "%s: the trace is not finished, and can't be: %s",
				     dir, strerror(-lock));
			goto out;
		}
		/* The lock was free: a session of this trace is one of a killed recorder. */
		rc = ct_orphan_complete(&t, err);
		if (rc < 0)
			goto out;
		ct_trace_close(&t);
	}
	/*
	 * All threads must be dead before a stream is read and written: what was read of a
	 * living thread is old, and would overwrite newer records.
	 */
	rc = ct_trace_lives(dir);
	if (rc) {
		rc = rc < 0 ? ct_fail(err, -rc, "%s: %s", dir, strerror(-rc)) : 1;
		goto out;
	}
	rc = finish_open(&t, dir, err);
	if (rc)
		goto out;
	if (ct_registry_info(&t.reg, CT_KEEP_INFO) && !t.has_metadata) {
		ct_trace_close(&t);
		rc = ct_keep_compact(dir, err);
		if (!rc)
			rc = finish_open(&t, dir, err);
		if (rc)
			goto out;
	}
	rc = finish_mark_all_torn(&t, err);
	if (rc > 0) {
		ct_trace_close(&t);
		rc = finish_open(&t, dir, err);
	}
	if (!rc)
		rc = finish_threads(&t, err);
	if (rc)
		goto out;
	rc = ct_lost_write(&t);
	if (rc) {
		ct_fail(err, -rc, "%s/" CT_LOST_STREAM ": %s", dir, strerror(-rc));
		goto out;
	}
	ct_trace_close(&t);
	rc = finish_open(&t, dir, err);
	if (!rc)
		rc = ct_metadata_write(&t, err);
out:
	if (lock >= 0)
		ct_trace_unlock(dir, lock);
	ct_trace_close(&t);
	return rc;
}
