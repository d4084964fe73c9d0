// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Extractors by hand: launches, and the calls by which kernels get their handles.
 */
#include "call/extract.h"

#include "backend/backend.h"
#include "call/kernels.h"

cold u32 ct_string_id(const char *s)
{
	return s ? ct_backend_string(s, strlen(s)) : 0;
}

u32 ct_text(const struct ct_frame *f, bool after, unsigned n)
{
	return ct_read(f, after) ? ct_string_id((const char *)ct_arg(f, n)) : 0;
}

/* Launches are written by words: see ct_two(). */
#define PLACE(field, at)	_Static_assert(offsetof(struct ct_launch, field) == (at), "in words")
PLACE(kernel, 0);
PLACE(shared, 4);
PLACE(grid_x, 8);
PLACE(block_z, 28);
PLACE(stream, 32);

cold u32 ct_kernel_named(u64 handle)
{
	u32 name = ct_kernel_name(handle);

	return name || !handle || !ct_kernel_asked ? name : ct_kernel_asked(handle);
}

static cold void extract_kernel(u64 *o, u64 handle, u64 shared)
{
	o[0] = ct_two(ct_kernel_named(handle), shared);
}

static inline void extract_kernel_quick(u64 *o, u64 handle, u64 shared)
{
	u32 name = ct_kernel_name_quick(handle);

	if (unlikely(!name))
		extract_kernel(o, handle, shared);
	else
		o[0] = ct_two(name, shared);
}

/* (kernel, grid 3, block 3, shared, stream, ...) */
hot void ct_x_launch(const struct ct_frame *f, void *payload, bool after)
{
	u64 *o = payload;

	(void)after;
	o[1] = ct_two((u32)f->arg[1], f->arg[2]);
	o[2] = ct_two((u32)f->arg[3], f->arg[4]);
	o[3] = ct_two((u32)f->arg[5], f->stack[0]);
	o[4] = f->stack[2];
	extract_kernel_quick(o, f->arg[0], f->stack[1]);
}

/*
 * (config *, kernel, parameters, extra); config: u32 grid 3, block 3, shared,
 * then the stream at byte 32.
 */
hot void ct_x_launch_ex(const struct ct_frame *f, void *payload, bool after)
{
	const u64 *c = (const u64 *)f->arg[0];
	u64 *o = payload;

	if (!c || !ct_read(f, after)) {
		memset(o, 0, sizeof(struct ct_launch));
		extract_kernel(o, f->arg[1], 0);
		return;
	}
	o[1] = c[0];
	o[2] = c[1];
	o[3] = c[2];
	o[4] = c[4];
	extract_kernel_quick(o, f->arg[1], c[3]);
}

/* (module or library) */
void ct_x_module_unload(const struct ct_frame *f, void *payload, bool after)
{
	*(struct ct_handle *)payload = (struct ct_handle){ .handle = f->arg[0] };
	if (ct_done(f, after))
		ct_kernels_forget(f->arg[0]);
}

static void extract_learn(void *payload, u64 function, u64 module, u32 name)
{
	*(struct ct_function *)payload = (struct ct_function){
		.function = function, .module = module, .kernel = name, .count = 1,
	};
	ct_kernel_learn(function, module, name);
}

/* (function *, module, name) */
void ct_x_get_function(const struct ct_frame *f, void *payload, bool after)
{
	extract_learn(payload, ct_word(f, after, 0, 0), f->arg[1], ct_text(f, after, 2));
}

/* (function *, kernel) */
void ct_x_kernel_function(const struct ct_frame *f, void *payload, bool after)
{
	extract_learn(payload, ct_word(f, after, 0, 0), ct_kernel_module(f->arg[1]),
	      ct_kernel_name(f->arg[1]));
}

/* (name **, function): a query; its records have no fields, but we may learn. */
void ct_x_learn_name(const struct ct_frame *f, void *payload, bool after)
{
	const char *name = (const char *)ct_word(f, after, 0, 0);

	(void)payload;
	/* What libcuda says now, whatever we knew.  Of which module it is, it does not say. */
	if (name)
		ct_kernel_learn(f->arg[1], ct_kernel_module(f->arg[1]), ct_string_id(name));
}
