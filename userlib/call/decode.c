// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes an extractor of each row of arguments.h, and finds that of a function.
 */
#include "call/decode.h"

#include "call/extract.h"
#include "call/kernels.h"
#include "call/machine.h"

/* What a row says of its fields; see arguments.h. */
#define ARG(n)			ct_arg(f, n)
#define OUT(n)			ct_word(f, after, n, 0)
#define AT(n, at)		ct_word(f, after, n, at)
#define TEXT(n)			ct_text(f, after, n)
#define KERNEL(handle)		ct_kernel_named(handle)

/* (function *, count, module): what is listed first. */
#define FIRST_KERNEL							\
	.function = (u32)ARG(1) ? OUT(0) : 0, .count = ARG(1), .module = ARG(2), \
	.kernel = KERNEL((u32)ARG(1) ? OUT(0) : 0)

/* A copy: which arguments are destination, source and size, or stream. */
#define COPIES(to, from, n, way)					\
	.dst = ARG(to), .src = ARG(from), .size = ARG(n), .direction = CT_DIR_##way
#define ASYNC(n)		.stream = ARG(n), .async = 1

/*
 * CUDA_MEMCPY2D and 3D: source, destination and the sizes begin at these bytes.  Those for
 * two contexts have these between their other words.
 */
#define BLOCK_2D							\
	.src = decode_copy_end(f, after, 16), .dst = decode_copy_end(f, after, 72), \
	.size = ct_word(f, after, 0, 112) * ct_word(f, after, 0, 120)
#define BLOCK_3D							\
	.src = decode_copy_end(f, after, 32), .dst = decode_copy_end(f, after, 120), \
	.size = ct_word(f, after, 0, 176) * ct_word(f, after, 0, 184) *	\
		ct_word(f, after, 0, 192)
#define DIRECTION_2D		decode_direction(f, after, 16, 72)
#define DIRECTION_3D		decode_direction(f, after, 32, 120)

/* (dst **, src **, sizes *, count, ...): the first addresses, and the sum of all sizes. */
#define BATCH								\
	.dst = ARG(3) ? OUT(0) : 0, .src = ARG(3) ? OUT(1) : 0, .size = decode_batch_size(f, after)

/* A memory set of so many elements; value: with the bits of an element. */
#define SETS(to, count, bits)						\
	.ptr = ARG(to), .size = (count) * sizeof(bits), .last = ct_two(bits, sizeof(bits))

/*
 * (node *, graph, dependencies, ...): a node that is added to a graph.  NODE_KERNEL: of CUDA_KERNEL_NODE_PARAMS from
 * version 2 on, which begin at this byte of argument n, the kernel by either of its handles.
 */
#define NODE(type)		.node = OUT(0), .graph = ARG(1), .node_type = (type)
#define NODE_KERNEL(n, at)	(AT(n, at) ? AT(n, at) : AT(n, (at) + 56))

/* The same, with CUgraphNodeParams: a type, and from byte 16 on what nodes of this type have. */
#define ANY_NODE(n)							\
	NODE((u16)AT(n, 0)), .owned = decode_node_owns(f, after, n), .child = decode_node_child(f, after, n), \
	.kernel = (u32)AT(n, 0) == NODE_IS_KERNEL ? KERNEL(NODE_KERNEL(n, 16)) : 0
enum { NODE_IS_KERNEL = 0, NODE_IS_GRAPH = 4, NODE_IS_CONDITIONAL = 13 };

/* CUDA_ARRAY_DESCRIPTOR and ARRAY3D: bytes of the array; milliseconds as ns. */
#define ARRAY_SIZE(n, dimensions)	decode_array_size(f, after, n, dimensions)
#define OUT_MS(n)			decode_ns(f, after, n)

/*
 * One end of a 2D or 3D copy: its memory type, and behind it the host pointer, the device
 * pointer and the array, of which the type says which counts.
 */
enum { HOST = 1, DEVICE, ARRAY, UNIFIED };

static u64 decode_copy_end(const struct ct_frame *f, bool after, u32 at)
{
	u32 type = (u32)ct_word(f, after, 0, at);

	return ct_word(f, after, 0, at + (type == HOST ? 8 : type == ARRAY ? 24 : 16));
}

static u32 decode_direction(const struct ct_frame *f, bool after, u32 src, u32 dst)
{
	static const u8 table[4][4] = {
		[HOST][HOST] = CT_DIR_H2H,
		[HOST][DEVICE] = CT_DIR_H2D,
		[HOST][ARRAY] = CT_DIR_H2A,
		[DEVICE][HOST] = CT_DIR_D2H,
		[DEVICE][DEVICE] = CT_DIR_D2D,
		[DEVICE][ARRAY] = CT_DIR_D2A,
		[ARRAY][HOST] = CT_DIR_A2H,
		[ARRAY][DEVICE] = CT_DIR_A2D,
		[ARRAY][ARRAY] = CT_DIR_A2A,
	};
	u32 from = (u32)ct_word(f, after, 0, src), to = (u32)ct_word(f, after, 0, dst);

	/* UNIFIED, too: the address decides. */
	return from <= ARRAY && to <= ARRAY ? table[from][to] : CT_DIR_UNKNOWN;
}

#define BATCH_MAX	4096	/* sizes that are added up; more are not looked at */

static u64 decode_batch_size(const struct ct_frame *f, bool after)
{
	u64 size = 0;

	for (u32 i = 0; i < f->arg[3] && i < BATCH_MAX; i++)
		size += ct_word(f, after, 2, i * 8);
	return size;
}

/* u64 width, height, [depth,] u32 format, u32 channels */
static u64 decode_array_size(const struct ct_frame *f, bool after, unsigned n, u32 dimensions)
{
	static const u8 bytes[] = {	/* of an element in this format, a number of the API */
		[0x01] = 1, [0x02] = 2, [0x03] = 4, [0x08] = 1, [0x09] = 2, [0x0a] = 4,
		[0x10] = 2, [0x20] = 4,
	};
	u64 element = ct_word(f, after, n, dimensions * 8);
	u32 format = (u32)element;
	u64 size = (element >> 32) * (format < sizeof(bytes) ? bytes[format] : 0);

	size *= ct_word(f, after, n, 0);
	for (u32 i = 1; i < dimensions; i++) {
		u64 count = ct_word(f, after, n, i * 8);

		size *= count ? count : 1;	/* 0: it has no such dimension */
	}
	return size;
}

/* A graph, and whether it moves into the node; or how many bodies the node got, and where they are. */
static u64 decode_node_child(const struct ct_frame *f, bool after, unsigned n)
{
	const u64 *bodies;

	switch ((u32)AT(n, 0)) {
	case NODE_IS_GRAPH:
		return AT(n, 16);
	case NODE_IS_CONDITIONAL:
		bodies = (const u64 *)AT(n, 32);
		return bodies && AT(n, 24) >> 32 ? *bodies : 0;
	}
	return 0;
}

static u16 decode_node_owns(const struct ct_frame *f, bool after, unsigned n)
{
	return (u32)AT(n, 0) == NODE_IS_CONDITIONAL || ((u32)AT(n, 0) == NODE_IS_GRAPH && (u32)AT(n, 24) == 1);
}

static u64 decode_ns(const struct ct_frame *f, bool after, unsigned n)
{
	const float *ms = (const float *)ct_arg(f, n);

	return ct_done(f, after) && ms && *ms > 0 ? (u64)((double)*ms * 1e6) : 0;
}

/* The layouts of WIDE(). */
struct wide_set {
	u64 size, ptr, stream, last;
};

_Static_assert(sizeof(struct wide_set) == sizeof(struct ct_set), "the same places");

#define EXTRACTOR(function, from, type, ...)				\
	static void x_##function##_##from(const struct ct_frame *f, void *payload, bool after) \
	{								\
		(void)f;						\
		(void)after;						\
		*(type *)payload = (type){ __VA_ARGS__ };		\
	}
#define ROW(function, from, to, layout, ...)				\
	EXTRACTOR(function, from, struct ct_##layout, __VA_ARGS__)
#define WIDE(function, from, to, layout, ...)				\
	EXTRACTOR(function, from, struct wide_##layout, __VA_ARGS__)
#define HAND(function, from, to, layout, extractor)
#include "call/arguments.h"
#undef ROW
#undef WIDE
#undef HAND

/* Texts inside, not pointers: what the loader need not relocate costs a program no time. */
static const struct {
	char name[40];
	u8 from, to, layout, size;
} rows[] = {
#define ROW(function, from, to, layout, ...)				\
	{ #function, from, to, CT_LAYOUT_##layout, sizeof(struct ct_##layout) },
#define WIDE	ROW
#define HAND	ROW
#include "call/arguments.h"
#undef ROW
};

enum {
#define ROW(function, from, ...)	ROW_##function##_##from,
#include "call/arguments.h"
#undef ROW
#undef HAND
};

/* By code, not by a table of pointers, for the same reason. */
static ct_extract *decode_extractor(size_t row)
{
	switch (row) {
#define ROW(function, from, ...)	case ROW_##function##_##from: return x_##function##_##from;
#define HAND(function, from, to, layout, extractor)			\
	case ROW_##function##_##from: return ct_x_##extractor;
#include "call/arguments.h"
	}
	return NULL;
}

struct ct_binding ct_binding_of(const char *name, unsigned version)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (version >= rows[i].from && version <= rows[i].to &&
		    !strcmp(rows[i].name, name))
			return (struct ct_binding){ rows[i].layout, rows[i].size,
						    decode_extractor(i) };
	return (struct ct_binding){ .layout = CT_LAYOUT_none };
}
