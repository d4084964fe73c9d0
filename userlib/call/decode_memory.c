// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arguments of memory calls; the rules are in decode.h.
 */
#include "call/decode_table.h"

CT_EXTRACTOR(alloc)		/* (ptr *, size, ...) */
{
	struct ct_alloc *o = payload;

	o->size = f->arg[1];
	o->ptr = ct_out(f, 0, after);
}

CT_EXTRACTOR(range)		/* (ptr, size, ...) */
{
	struct ct_alloc *o = payload;

	(void)after;
	o->size = f->arg[1];
	o->ptr = f->arg[0];
}

CT_EXTRACTOR(attach)		/* (stream, ptr, size, flags) */
{
	struct ct_alloc *o = payload;

	(void)after;
	o->size = f->arg[2];
	o->ptr = f->arg[1];
}

CT_EXTRACTOR(alloc_pitch)	/* (ptr *, pitch *, width, height, element size) */
{
	struct ct_alloc_pitch *o = payload;

	o->ptr = ct_out(f, 0, after);
	o->pitch = ct_out(f, 1, after);
	o->width = f->arg[2];
	o->height = f->arg[3];
	o->size = (o->pitch ? o->pitch : o->width) * o->height;
}

CT_EXTRACTOR(alloc_async)	/* (ptr *, size, stream) */
{
	struct ct_alloc_async *o = payload;

	o->size = f->arg[1];
	o->ptr = ct_out(f, 0, after);
	o->stream = f->arg[2];
	o->pool = 0;
}

CT_EXTRACTOR(alloc_pool)	/* (ptr *, size, pool, stream) */
{
	struct ct_alloc_async *o = payload;

	o->size = f->arg[1];
	o->ptr = ct_out(f, 0, after);
	o->pool = f->arg[2];
	o->stream = f->arg[3];
}

CT_EXTRACTOR(free)		/* (ptr) */
{
	struct ct_free *o = payload;

	(void)after;
	o->ptr = f->arg[0];
}

CT_EXTRACTOR(free_second)	/* (..., ptr) */
{
	struct ct_free *o = payload;

	(void)after;
	o->ptr = f->arg[1];
}

CT_EXTRACTOR(free_out)		/* (ptr *, ...) */
{
	struct ct_free *o = payload;

	o->ptr = ct_out(f, 0, after);
}

CT_EXTRACTOR(free_async)	/* (ptr, stream) */
{
	struct ct_free_async *o = payload;

	(void)after;
	o->ptr = f->arg[0];
	o->stream = f->arg[1];
}

CT_EXTRACTOR(mem_info)		/* (free *, total *) */
{
	struct ct_mem_info *o = payload;

	o->free = ct_out(f, 0, after);
	o->total = ct_out(f, 1, after);
}

CT_EXTRACTOR(mem_create)	/* (handle *, size, properties *, flags) */
{
	struct ct_map *o = payload;

	o->size = f->arg[1];
	o->ptr = 0;
	o->handle = ct_out(f, 0, after);
}

CT_EXTRACTOR(mem_reserve)	/* (ptr *, size, alignment, wish, flags) */
{
	struct ct_map *o = payload;

	o->size = f->arg[1];
	o->ptr = ct_out(f, 0, after);
	o->handle = 0;
}

CT_EXTRACTOR(mem_map)		/* (ptr, size, offset, handle, flags) */
{
	struct ct_map *o = payload;

	(void)after;
	o->size = f->arg[1];
	o->ptr = f->arg[0];
	o->handle = f->arg[3];
}

CT_EXTRACTOR(mem_range)		/* (ptr, size, ...) */
{
	struct ct_map *o = payload;

	(void)after;
	o->size = f->arg[1];
	o->ptr = f->arg[0];
	o->handle = 0;
}

/*
 * Array descriptors: u64 width, height, [depth,] u32 format, u32 channels.  The
 * formats are numbers of the API that say how many bytes an element has.
 */
static u64 element_size(u32 format)
{
	switch (format) {
	case 0x01: case 0x08: return 1;
	case 0x02: case 0x09: case 0x10: return 2;
	case 0x03: case 0x0a: case 0x20: return 4;
	}
	return 0;
}

static u64 array_size(const u64 *d, bool three)
{
	const u32 *format = (const u32 *)(d + (three ? 3 : 2));
	u64 height = d[1] ? d[1] : 1;
	u64 depth = three && d[2] ? d[2] : 1;

	return d[0] * height * depth * format[1] * element_size(format[0]);
}

CT_EXTRACTOR(array)		/* (array *, descriptor *) */
{
	struct ct_map *o = payload;
	bool read = ct_done(f, after) && f->arg[1];

	o->size = read ? array_size((const u64 *)f->arg[1], false) : 0;
	o->ptr = 0;
	o->handle = ct_out(f, 0, after);
}

CT_EXTRACTOR(array3d)		/* (array *, descriptor *, ...) */
{
	struct ct_map *o = payload;
	bool read = ct_done(f, after) && f->arg[1];

	o->size = read ? array_size((const u64 *)f->arg[1], true) : 0;
	o->ptr = 0;
	o->handle = ct_out(f, 0, after);
}
