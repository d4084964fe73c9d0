/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One stream file of a trace: its map and the index of its packets, which stream.c
 * fills in.
 *
 * Records are in the order in which calls ended.  To return the begins in time order
 * without holding a whole stream, the index keeps the few records that began
 * before their packet did ("early records": of a thread, at most as many a packet as
 * calls nest); every other record begins and ends within its packet.
 */
#ifndef CT_CLI_STREAM_FILE_H
#define CT_CLI_STREAM_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "trace/packet.h"
#include "trace/source.h"

#define CT_AGAIN	"record it again, or move this file out of the directory"

struct ct_packet_index {
	uint64_t offset;	/* in the file */
	uint64_t ts_begin, ts_end;	/* ns of the clock of its source: ct_stream_time() */
	uint32_t size;		/* bytes */
	uint32_t content;	/* bytes that were committed when it was indexed */
	uint32_t first_early;
};

struct ct_early_record {
	uint64_t begin, end;	/* ns; end: ~0 for a call that never returned */
	uint64_t op_id;		/* set by the merge when the call begins */
	uint32_t packet;	/* index of the packet that holds the record */
	uint32_t offset;	/* of the record in that packet */
	uint32_t depth;		/* set by the merge */
	uint8_t  level;		/* the depth that the record says */
	bool     open;		/* a call_open record */
};

struct ct_stream_file {
	char     *name;		/* of the file */
	uint8_t  kind;		/* enum ct_stream_class, by the file's name */
	dev_t    dev;		/* of the file that is mapped */
	ino_t    ino;
	unsigned int index;	/* among the trace's streams */
	const struct ct_source *source;	/* NULL: its trace is alone */
	const uint8_t *map;
	uint64_t map_size;
	uint64_t map_file;	/* bytes of the map that are the file's; the rest is memory */
	uint64_t hole;		/* bytes that have no memory at its front */
	uint64_t tail;		/* file offset after the last packet */
	uint64_t next_seq;
	uint32_t added;		/* bytes of it that are in the thread's sub-buffers, not in the file */
	uint64_t torn;		/* bytes after the tail, of a packet that was not written whole */
	bool     dropped;	/* the packets before the next one, by record --keep */
	bool     unfinished;	/* something without a magic follows, or part of a packet */
	struct ct_packet_index *packets;
	uint32_t packets_count;
	struct ct_early_record *early;	/* in the order of the file */
	uint32_t early_count;
	uint32_t *by_begin;	/* early records in the order of their begin */
	uint64_t first, last;	/* ns of its source's clock: earliest begin and latest end of its records */
	uint64_t records;	/* of all packets */
	uint64_t gpu;		/* of them, what the GPU did */
	uint64_t lost;		/* records, as the last packet says */
	uint64_t packets_lost;	/* gaps in the sequence numbers */
	uint64_t packets_bad;	/* damaged: they are not in the index */
	uint64_t bad_offset;	/* in the file, of the first of them */
	char     bad_why[112];	/* what is wrong with it */
	uint32_t pid, cpu;	/* of the first packet */
	uint32_t tid;		/* of all packets; 0: threads had the stream one after the other */
};

/* Maps the file of @s in @dir.  0 or a negative errno, with a line in @err without the path. */
int ct_stream_map(struct ct_stream_file *s, const char *dir, struct ct_error *err);
void ct_stream_unmap(struct ct_stream_file *s);

/**
 * ct_stream_reopen() - open the file of a stream that is mapped once more
 * @flags: for open()
 *
 * The directory may have changed: a link, or another file of that name, is not
 * opened.
 *
 * Return: a file descriptor; -ESTALE: it is another file; what open() returns.
 */
int ct_stream_reopen(const struct ct_stream_file *s, const char *dir, int flags);

/* Has the file got longer, or got the head of a further packet, since it was mapped? */
bool ct_stream_grown(const struct ct_stream_file *s, const char *dir);

/* Bytes of all streams together that a reader keeps behind it. */
#define CT_WINDOW	(32ull << 20)

/**
 * ct_stream_give_back() - give back the memory of a part of the file
 * @from: file offset where the part begins, set to where the next one does
 * @to: file offset of its end
 * @least: bytes; does nothing as long as the part has fewer
 *
 * For what was read and is not needed soon.  It stays readable: the kernel maps a page
 * again when it is touched.
 */
void ct_stream_give_back(const struct ct_stream_file *s, uint64_t *from, uint64_t to,
			 uint64_t least);

/* ns of the clock of its source on that of the trace. */
static inline uint64_t ct_stream_time(const struct ct_stream_file *s, uint64_t ns)
{
	return s->source ? ct_source_time(s->source, ns) : ns;
}

/* The packet @i of the index. */
void ct_stream_packet(const struct ct_stream_file *s, uint32_t i, struct ct_packet_view *p);

#endif
