// SPDX-License-Identifier: LGPL-2.1-or-later
/* See libraries.h. */
#include "hook/libraries.h"

#include "backend/backend.h"
#include "base/process.h"

#define LIBRARIES	24	/* that are kept */
#define PATH_ROOM	256	/* longer ones are not */

/* Texts inside, not pointers: what the loader need not relocate costs a program no time. */
static const char prefixes[][24] = {
	"libtorch_cuda.so", "libjax_common.so", "xla_extension.so", "xla_cuda_plugin.so",
	"libtensorflow_framework", "libonnxruntime.so", "libnvinfer.so", "libcudart.so",
	"libcublas.so", "libcudnn.so", "libnccl.so",
	/* What ranks exchange by these is not recorded, which has to be said. */
	"libmpi", "libnvshmem",
};

/* Most names differ in their first letters, and each program's start pays for this. */
static bool begins_with(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix)
		text++, prefix++;
	return *prefix == 0;
}

static char paths[LIBRARIES][PATH_ROOM];
static u32 count, told;
static u32 inside, inside_told;	/* bits: there is a libnccl in it */

void ct_libraries_note(const struct ct_object *o, bool nccl_inside)
{
	/* The program itself has no name in the loader's list. */
	const char *path = *o->path ? o->path : "the program", *file = strrchr(path, '/');
	bool wanted = nccl_inside;
	u32 n;

	for (unsigned i = 0; file && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		wanted |= begins_with(file + 1, prefixes[i]);
	if (likely(!wanted) || strlen(path) >= PATH_ROOM)
		return;
	for (n = 0; n < count && strcmp(paths[n], path) != 0; n++)
		;
	if (n == LIBRARIES)
		return;
	if (n == count) {
		memcpy(paths[n], path, strlen(path) + 1);
		ct_store(&count, n + 1);
	}
	/* One that was there before libcuda came is known by its name, and not what is inside. */
	if (nccl_inside)
		ct_store(&inside, inside | 1u << n);
}

void ct_libraries_tell(void)
{
	static u32 life;
	u32 n = ct_load(&count), with = ct_load(&inside), from;

	/* A process that is recorded once more has another trace. */
	if (unlikely(ct_load(&life) != ct_process->life)) {
		ct_store(&told, 0u);
		ct_store(&inside_told, 0u);
		ct_store(&life, ct_process->life);
	}
	/* Before the process's first call there is no trace. */
	if (likely(ct_load(&told) == n && ct_load(&inside_told) == with) || !ct_process->life || !ct_load(&ct_backend)->producers)
		return;
	for (from = __atomic_exchange_n(&told, n, __ATOMIC_RELAXED); from < n; from++)
		if (strchr(paths[from], '/'))
			ct_backend->info("library", paths[from]);
	with &= ~__atomic_fetch_or(&inside_told, with, __ATOMIC_RELAXED);
	for (u32 i = 0; with; i++, with >>= 1)
		if (with & 1)
			ct_backend->info("nccl_inside", paths[i]);
}
