/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One stream file of a trace: mapped, its packets checked and indexed.
 *
 * A record stands where its call ended.  To give the begins in time order
 * without holding a whole stream, the index keeps the few records that began
 * before their packet did ("straddlers": of a thread, at most as many a packet as
 * calls nest); every other record begins and ends within its packet.
 */
#ifndef CT_CLI_STREAM_H
#define CT_CLI_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "trace/record.h"

struct ct_packet_index {
	uint64_t offset;	/* in the file */
	uint64_t ts_begin, ts_end;
	uint32_t size;		/* bytes */
	uint32_t content;	/* bytes that were committed when it was indexed */
	uint32_t first_straddler;
};

struct ct_straddler {
	uint64_t begin, end;	/* ns; end: ~0 for a call that never returned */
	uint64_t op_id;		/* given by the merge when it begins */
	uint32_t packet;	/* index of the packet that holds the record */
	uint32_t offset;	/* of the record in that packet */
	uint32_t depth;		/* given by the merge */
	uint8_t  level;		/* the depth that the record says */
	bool     open;		/* a call_open record */
};

struct ct_stream_file {
	char     *name;		/* of the file */
	uint8_t  kind;		/* enum ct_stream_class, by the file's name */
	dev_t    dev;		/* of the file that is mapped */
	ino_t    ino;
	unsigned int index;	/* among the trace's streams */
	const uint8_t *map;
	uint64_t map_size;
	uint64_t tail;		/* file offset behind the last packet */
	uint64_t next_seq;
	uint32_t added;		/* bytes of it that its thread has in hand: not in the file */
	uint64_t torn;		/* bytes behind the tail of a packet that was not written whole */
	bool     unfinished;	/* something without a magic follows, or part of a packet */
	struct ct_packet_index *packets;
	uint32_t packets_count;
	struct ct_straddler *straddlers;	/* in the order of the file */
	uint32_t straddlers_count;
	uint32_t *by_begin;	/* straddlers in the order of their begin */
	uint64_t first, last;	/* ns: earliest begin and latest end of its records */
	uint64_t records;	/* of all packets */
	uint64_t lost;		/* records, as the last packet says */
	uint64_t packets_lost;	/* gaps in the sequence numbers */
	uint32_t pid, tid, cpu;	/* of the first packet */
};

/* The kind of stream that a file of this name holds, or -1. */
int ct_stream_kind(const char *name);

/**
 * ct_stream_open() - map and index file @name of directory @dir
 * @finished: the trace has been finished: a part of a packet at the end is damage.
 *	Without that it is what a recorder left that was killed while it wrote
 *
 * Checks every packet and every record.  Changes nothing.
 *
 * Return: 0; -EBADMSG not a packet of this trace, truncated or damaged (@err
 * says where); -ENOMEM; what open() and mmap() return.
 */
int ct_stream_open(struct ct_stream_file *s, const char *dir, const char *name,
		   const struct ct_registry *reg, bool finished, struct ct_error *err);
void ct_stream_close(struct ct_stream_file *s);

/**
 * ct_stream_reopen() - the file of a stream that is open, to change it
 * @flags: for open()
 *
 * A directory may hold anything by now: a link, or another file of that name, is
 * not opened.
 *
 * Return: a file descriptor; -ESTALE: it is another file; what open() returns.
 */
int ct_stream_reopen(const struct ct_stream_file *s, const char *dir, int flags);

/* Writes all of it, or returns a negative errno. */
int ct_stream_write(int fd, const void *from, size_t size, uint64_t offset);

/* The packet @i of the index. */
void ct_stream_packet(const struct ct_stream_file *s, uint32_t i, struct ct_packet_view *p);

/**
 * ct_packet_check() - the head of a packet
 * @data: its first bytes, @left of them, where the file has @in_file more
 * @kind: which stream it must belong to
 *
 * Return: 1: @p is set; 0: no magic, nothing was written here yet; -ENODATA: the
 * file ends in it; -EBADMSG.  @err says what is wrong, without saying where.
 */
int ct_packet_check(const uint8_t *data, uint64_t left, uint64_t in_file, int kind,
		    const uint8_t uuid[16], struct ct_packet_view *p, struct ct_error *err);

#endif
