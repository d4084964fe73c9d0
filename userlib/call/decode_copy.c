// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arguments of copies and of memory sets; the rules are in decode.h.
 */
#include "call/decode_table.h"

static void fill(void *payload, u64 dst, u64 src, u64 size, u32 direction)
{
	struct ct_copy *o = payload;

	o->size = size;
	o->dst = dst;
	o->src = src;
	o->stream = 0;
	o->direction = direction;
	o->async = 0;
}

static void fill_async(void *payload, u64 stream)
{
	struct ct_copy *o = payload;

	o->stream = stream;
	*(u64 *)&o->direction = ct_two(o->direction, 1);	/* async */
}

/*
 * Copies by name: argument numbers of destination, source, size and stream (-1
 * for a copy that waits).
 */
#define COPY(name, dst, src, size, stream_arg, direction)		\
	CT_EXTRACTOR(name)						\
	{								\
		(void)after;						\
		fill(payload, ct_arg(f, dst), ct_arg(f, src),		\
		     ct_arg(f, size), CT_DIR_##direction);		\
		if (stream_arg >= 0)					\
			fill_async(payload, ct_arg(f, stream_arg & 7));	\
	}

COPY(copy, 0, 1, 2, -1, UNKNOWN)
COPY(copy_async, 0, 1, 2, 3, UNKNOWN)
COPY(h2d, 0, 1, 2, -1, H2D)
COPY(h2d_async, 0, 1, 2, 3, H2D)
COPY(d2h, 0, 1, 2, -1, D2H)
COPY(d2h_async, 0, 1, 2, 3, D2H)
COPY(d2d, 0, 1, 2, -1, D2D)
COPY(d2d_async, 0, 1, 2, 3, D2D)
COPY(peer, 0, 2, 4, -1, P2P)
COPY(peer_async, 0, 2, 4, 5, P2P)
COPY(a2h, 0, 1, 3, -1, A2H)
COPY(a2h_async, 0, 1, 3, 4, A2H)
COPY(h2a, 0, 2, 3, -1, H2A)
COPY(h2a_async, 0, 2, 3, 4, H2A)
COPY(d2a, 0, 2, 3, -1, D2A)
COPY(a2d, 0, 1, 3, -1, A2D)
COPY(a2a, 0, 2, 4, -1, A2A)

/*
 * The parameter blocks of 2D and 3D copies: offsets of one end's memory type and
 * of the host pointer, device pointer and array that follow it, then of the size.
 */
enum { TYPE_HOST = 1, TYPE_DEVICE, TYPE_ARRAY, TYPE_UNIFIED };

struct end {
	u32 type;
	u64 address;
};

static struct end end_at(const u8 *block, u32 offset)
{
	const u64 *p = (const u64 *)(block + offset);
	struct end e = { (u32)p[0], 0 };

	e.address = e.type == TYPE_HOST ? p[1] : e.type == TYPE_ARRAY ? p[3] : p[2];
	return e;
}

static u32 direction(u32 from, u32 to)
{
	static const u8 table[5][5] = {
		[TYPE_HOST][TYPE_HOST] = CT_DIR_H2H,
		[TYPE_HOST][TYPE_DEVICE] = CT_DIR_H2D,
		[TYPE_HOST][TYPE_ARRAY] = CT_DIR_H2A,
		[TYPE_DEVICE][TYPE_HOST] = CT_DIR_D2H,
		[TYPE_DEVICE][TYPE_DEVICE] = CT_DIR_D2D,
		[TYPE_DEVICE][TYPE_ARRAY] = CT_DIR_D2A,
		[TYPE_ARRAY][TYPE_HOST] = CT_DIR_A2H,
		[TYPE_ARRAY][TYPE_DEVICE] = CT_DIR_A2D,
		[TYPE_ARRAY][TYPE_ARRAY] = CT_DIR_A2A,
	};

	return from < 5 && to < 5 ? table[from][to] : CT_DIR_UNKNOWN;
}

static void block(const struct ct_frame *f, void *payload, bool after, u32 src,
		  u32 dst, u32 size, u32 sizes)
{
	const u8 *b = (const u8 *)f->arg[0];
	struct end from, to;
	u64 bytes = 1;

	fill(payload, 0, 0, 0, CT_DIR_UNKNOWN);
	if (!b || !ct_done(f, after))
		return;
	from = end_at(b, src);
	to = end_at(b, dst);
	for (u32 i = 0; i < sizes; i++)
		bytes *= ((const u64 *)(b + size))[i];
	fill(payload, to.address, from.address, bytes, direction(from.type, to.type));
}

CT_EXTRACTOR(copy2d)		/* (block *) */
{
	block(f, payload, after, 16, 72, 112, 2);
}

CT_EXTRACTOR(copy2d_async)	/* (block *, stream) */
{
	block(f, payload, after, 16, 72, 112, 2);
	fill_async(payload, f->arg[1]);
}

CT_EXTRACTOR(copy3d)
{
	block(f, payload, after, 32, 120, 176, 3);
}

CT_EXTRACTOR(copy3d_async)
{
	block(f, payload, after, 32, 120, 176, 3);
	fill_async(payload, f->arg[1]);
}

CT_EXTRACTOR(copy3d_peer)	/* the blocks differ only in the contexts */
{
	struct ct_copy *o = payload;

	block(f, payload, after, 32, 120, 176, 3);
	o->direction = CT_DIR_P2P;
}

CT_EXTRACTOR(copy3d_peer_async)
{
	ct_x_copy3d_peer(f, payload, after);
	fill_async(payload, f->arg[1]);
}

#define BATCH_MAX	4096	/* sizes that are added up; more are not looked at */

/* (dst **, src **, sizes *, count, attributes, indices, count, ...) */
static void batch(const struct ct_frame *f, void *payload, bool after, u64 stream)
{
	const u64 *sizes = (const u64 *)f->arg[2];
	u64 size = 0;

	if (ct_done(f, after) && sizes)
		for (u64 i = 0; i < f->arg[3] && i < BATCH_MAX; i++)
			size += sizes[i];
	fill(payload, ct_out(f, 0, after && f->arg[3]), ct_out(f, 1, after && f->arg[3]),
	     size, CT_DIR_UNKNOWN);
	fill_async(payload, stream);
}

CT_EXTRACTOR(batch)		/* ..., failed *, stream) */
{
	batch(f, payload, after, ct_arg(f, 8));
}

CT_EXTRACTOR(batch_v2)		/* ..., stream) */
{
	batch(f, payload, after, ct_arg(f, 7));
}

static void set(void *payload, u64 ptr, u64 size, u64 stream, u64 value, u32 width)
{
	struct ct_set *o = payload;

	o->size = size * width;
	o->ptr = ptr;
	o->stream = stream;
	*(u64 *)&o->value = ct_two((u32)(width == 4 ? value : value & ((1u << 8 * width) - 1)),
				   width);
}

#define SET(bits)							\
	CT_EXTRACTOR(set##bits)		/* (ptr, value, count) */	\
	{								\
		(void)after;						\
		set(payload, f->arg[0], f->arg[2], 0, f->arg[1], bits / 8); \
	}								\
	CT_EXTRACTOR(set##bits##_async)	/* ..., stream) */		\
	{								\
		(void)after;						\
		set(payload, f->arg[0], f->arg[2], f->arg[3], f->arg[1], \
		    bits / 8);						\
	}								\
	CT_EXTRACTOR(set2d##bits) /* (ptr, pitch, value, width, height) */ \
	{								\
		(void)after;						\
		set(payload, f->arg[0], f->arg[3] * f->arg[4], 0,	\
		    f->arg[2], bits / 8);				\
	}								\
	CT_EXTRACTOR(set2d##bits##_async)				\
	{								\
		(void)after;						\
		set(payload, f->arg[0], f->arg[3] * f->arg[4], f->arg[5], \
		    f->arg[2], bits / 8);				\
	}

SET(8)
SET(16)
SET(32)
