// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arguments of launches, and of the calls by which kernels get their handles;
 * the rules are in decode.h.
 */
#include "decode_table.h"
#include "kernels.h"

hot CT_EXTRACTOR(launch)	/* (kernel, grid 3, block 3, shared, stream, ...) */
{
	struct ct_launch *o = payload;

	(void)after;
	o->kernel = ct_kernel_name(f->arg[0]);
	o->grid_x = (u32)f->arg[1];
	o->grid_y = (u32)f->arg[2];
	o->grid_z = (u32)f->arg[3];
	o->block_x = (u32)f->arg[4];
	o->block_y = (u32)f->arg[5];
	o->block_z = (u32)f->stack[0];
	o->shared = (u32)f->stack[1];
	o->stream = f->stack[2];
}

/*
 * (config *, kernel, parameters, extra); config: u32 grid 3, block 3, shared,
 * then the stream at byte 32.
 */
hot CT_EXTRACTOR(launch_ex)
{
	const u32 *c = (const u32 *)f->arg[0];
	struct ct_launch *o = payload;

	memset(o, 0, sizeof(*o));
	o->kernel = ct_kernel_name(f->arg[1]);
	if (!c || !ct_read(f, after))
		return;
	o->grid_x = c[0];
	o->grid_y = c[1];
	o->grid_z = c[2];
	o->block_x = c[3];
	o->block_y = c[4];
	o->block_z = c[5];
	o->shared = c[6];
	o->stream = *(const u64 *)(c + 8);
}

CT_EXTRACTOR(launch_grid)	/* (kernel, width, height, [stream]) */
{
	struct ct_launch *o = payload;

	(void)after;
	memset(o, 0, sizeof(*o));
	o->kernel = ct_kernel_name(f->arg[0]);
	o->grid_x = (u32)f->arg[1];
	o->grid_y = (u32)f->arg[2];
	o->grid_z = 1;
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

	o->function = f->arg[1] ? ct_out(f, 0, after) : 0;
	o->module = f->arg[2];
	o->kernel = ct_kernel_name(o->function);
	o->count = (u32)f->arg[1];
}

/* (name **, function): a query; its records have no fields, but we may learn. */
CT_EXTRACTOR(learn_name)
{
	const char *name = (const char *)ct_out(f, 0, after);

	(void)payload;
	if (name && !ct_kernel_name(f->arg[1]))
		ct_kernel_learn(f->arg[1], 0, ct_string_id(name));
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
