// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See ask.h.  The only calls of CUDA and NCCL that the library makes, once for each kernel and communicator, and only in
 * a process that was attached to: they read the memory of libcuda, or libnccl, and change nothing.
 */
#include "hook/ask.h"

#include "backend/backend.h"
#include "call/kernels.h"
#include "hook/driver.h"
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

typedef int get_number(u64 comm, int *number);

cold bool ct_collective_ask(const struct ct_frame *f, u64 comm, u32 *ranks, u32 *rank)
{
	u64 called = (u64)ct_load(&f->slot->target);
	get_number *count = (get_number *)ct_driver_beside(called, "ncclCommCount");
	get_number *own = (get_number *)ct_driver_beside(called, "ncclCommUserRank");
	int numbers[2];

	if (!count || !own || count(comm, &numbers[0]) || own(comm, &numbers[1]))
		return false;
	*ranks = (u32)numbers[0];
	*rank = (u32)numbers[1];
	return numbers[1] >= 0 && numbers[1] < numbers[0];
}
