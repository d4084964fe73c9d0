// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See ask.h.  The only CUDA call that the library makes, once for each kernel, and only in a
 * process that was attached to: cuFuncGetName and cuKernelGetName read libcuda's own memory and
 * change nothing.
 */
#include "hook/ask.h"

#include "backend/backend.h"
#include "call/kernels.h"
#include "hook/slot.h"

typedef int get_name(const char **name, u64 handle);

cold u32 ct_kernel_ask(u64 handle)
{
	char text[32];
	struct ct_text t = { text, sizeof(text), 0 };
	const char *name = NULL;
	get_name *ask;

	if (!handle)
		return 0;
	/* Behind our own thunk: it is no call of the program's. */
	ask = (get_name *)ct_slot_function("cuFuncGetName");
	if (!ask || ask(&name, handle) || !name) {
		name = NULL;
		ask = (get_name *)ct_slot_function("cuKernelGetName");
		if (ask && ask(&name, handle))
			name = NULL;
	}
	/* Not asked again: kernels are told apart all the same. */
	if (!name) {
		ct_put(&t, "kernel_");
		ct_put_hex(&t, handle, 16);
		name = text;
	}
	ct_kernel_learn(handle, 0, ct_backend_string(name, strlen(name)));
	return ct_kernel_name(handle);
}
