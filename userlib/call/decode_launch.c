// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arguments of launches, and of the calls by which kernels get their handles;
 * the rules are in decode.h.
 */
#include "call/decode_table.h"
#include "call/kernels.h"

/* Launches are written by words: see ct_two(). */
#define PLACE(field, at)	_Static_assert(offsetof(struct ct_launch, field) == (at), "in words")
PLACE(kernel, 0);
PLACE(shared, 4);
PLACE(grid_x, 8);
PLACE(block_z, 28);
PLACE(stream, 32);

static cold void kernel(u64 *o, u64 handle, u64 shared)
{
	o[0] = ct_two(ct_kernel_name(handle), shared);
}

static inline void kernel_quick(u64 *o, u64 handle, u64 shared)
{
	u32 name = ct_kernel_name_quick(handle);

	if (unlikely(!name))
		kernel(o, handle, shared);
	else
		o[0] = ct_two(name, shared);
}

hot CT_EXTRACTOR(launch)	/* (kernel, grid 3, block 3, shared, stream, ...) */
{
	u64 *o = payload;

	(void)after;
	o[1] = ct_two((u32)f->arg[1], f->arg[2]);
	o[2] = ct_two((u32)f->arg[3], f->arg[4]);
	o[3] = ct_two((u32)f->arg[5], f->stack[0]);
	o[4] = f->stack[2];
	kernel_quick(o, f->arg[0], f->stack[1]);
}

/*
 * (config *, kernel, parameters, extra); config: u32 grid 3, block 3, shared,
 * then the stream at byte 32.
 */
hot CT_EXTRACTOR(launch_ex)
{
	const u64 *c = (const u64 *)f->arg[0];
	u64 *o = payload;

	if (!c || !ct_read(f, after)) {
		memset(o, 0, sizeof(struct ct_launch));
		kernel(o, f->arg[1], 0);
		return;
	}
	o[1] = c[0];
	o[2] = c[1];
	o[3] = c[2];
	o[4] = c[4];
	kernel_quick(o, f->arg[1], c[3]);
}

CT_EXTRACTOR(launch_grid)	/* (kernel, width, height) */
{
	struct ct_launch *o = payload;

	(void)after;
	memset(o, 0, sizeof(*o));
	o->kernel = ct_kernel_name(f->arg[0]);
	o->grid_x = (u32)f->arg[1];
	o->grid_y = (u32)f->arg[2];
	o->grid_z = 1;
}

CT_EXTRACTOR(launch_grid_async)	/* ..., stream) */
{
	ct_x_launch_grid(f, payload, after);
	((struct ct_launch *)payload)->stream = f->arg[3];
}

CT_EXTRACTOR(host_func)		/* (stream, function, data, ...) */
{
	struct ct_host_func *o = payload;

	(void)after;
	o->function = f->arg[1];
	o->stream = f->arg[0];
}

static void module(const struct ct_frame *f, void *payload, bool after, u32 file,
		   u64 options)
{
	struct ct_module *o = payload;

	o->module = ct_out(f, 0, after);
	o->file = file;
	o->options = (u32)options;
}

CT_EXTRACTOR(module_file)	/* (module *, path) */
{
	module(f, payload, after,
	       ct_read(f, after) ? ct_string_id((const char *)f->arg[1]) : 0, 0);
}

CT_EXTRACTOR(module_data)	/* (module *, image) */
{
	module(f, payload, after, 0, 0);
}

CT_EXTRACTOR(module_data_ex)	/* (module *, image, options, ...) */
{
	module(f, payload, after, 0, f->arg[2]);
}

CT_EXTRACTOR(library_data)	/* (library *, code, jit 2, options, ...) */
{
	module(f, payload, after, 0, f->arg[4]);
}

CT_EXTRACTOR(library_file)	/* (library *, path, jit 2, options, ...) */
{
	ct_x_module_file(f, payload, after);
	((struct ct_module *)payload)->options = (u32)f->arg[4];
}

CT_EXTRACTOR(module_unload)	/* (module) */
{
	struct ct_handle *o = payload;

	o->handle = f->arg[0];
	if (ct_done(f, after))
		ct_kernels_forget(f->arg[0]);
}

CT_EXTRACTOR(get_function)	/* (function *, module, name) */
{
	struct ct_function *o = payload;

	o->function = ct_out(f, 0, after);
	o->module = f->arg[1];
	o->kernel = ct_read(f, after) ? ct_string_id((const char *)f->arg[2]) : 0;
	o->count = 1;
	ct_kernel_learn(o->function, o->module, o->kernel);
}

CT_EXTRACTOR(kernel_function)	/* (function *, kernel) */
{
	struct ct_function *o = payload;

	o->function = ct_out(f, 0, after);
	o->module = ct_kernel_module(f->arg[1]);
	o->kernel = ct_kernel_name(f->arg[1]);
	o->count = 1;
	ct_kernel_learn(o->function, o->module, o->kernel);
}

CT_EXTRACTOR(enumerate)		/* (function *, count, module) */
{
	struct ct_function *o = payload;

	o->function = (u32)f->arg[1] ? ct_out(f, 0, after) : 0;
	o->module = f->arg[2];
	o->kernel = ct_kernel_name(o->function);
	o->count = (u32)f->arg[1];
}

/* (name **, function): a query; its records have no fields, but we may learn. */
CT_EXTRACTOR(learn_name)
{
	const char *name = (const char *)ct_out(f, 0, after);

	(void)payload;
	/* What libcuda says now, whatever we knew.  Of which module it is, it does not say. */
	if (name)
		ct_kernel_learn(f->arg[1], ct_kernel_module(f->arg[1]), ct_string_id(name));
}

CT_EXTRACTOR(get_global)	/* (ptr *, size *, module, name) */
{
	struct ct_lookup *o = payload;

	o->ptr = ct_out(f, 0, after);
	o->symbol_name = ct_read(f, after) ? ct_string_id((const char *)f->arg[3]) : 0;
	o->version = 0;
	o->flags = 0;
}

CT_EXTRACTOR(proc_address)	/* (name, pointer *, version, flags, ...) */
{
	struct ct_lookup *o = payload;

	o->ptr = ct_out(f, 1, after);
	o->symbol_name = ct_read(f, after) ? ct_string_id((const char *)f->arg[0]) : 0;
	o->version = (s32)f->arg[2];
	o->flags = f->arg[3];
}
