// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of slots and the making of one; see slot.h.
 *
 * Looking up takes no lock; making takes the process's lock, inside which
 * nothing of the dynamic loader is called.  Nothing is ever freed: a program may
 * keep a thunk's address for ever.
 */
#include "hook/slot.h"

#include "call/classify.h"
#include "call/decode.h"
#include "base/options.h"
#include "hook/proc_address.h"
#include "base/process.h"
#include "backend/backend.h"

struct ct_slot ct_slots[CT_THUNKS];

#define HEADS	1024

static u16 heads[HEADS];
static u32 used = 1;		/* index 0 ends a chain */

/* Copies of symbol names, since libcuda's own go away with it. */
static char *names, *names_end;

static const char *keep(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy;

	if ((size_t)(names_end - names) < n) {
		names = ct_map_private(1 << 16);
		if (!names)
			return NULL;
		names_end = names + (1 << 16);
	}
	copy = names;
	names += n;
	memcpy(copy, s, n);
	return copy;
}

/* Texts inside, not pointers: what the loader need not relocate costs a program no time. */
struct params {
	char symbol[62];
	u8 words;
	u8 vector;
};

static const struct params known[] = {
#define CT_PARAM(symbol, words, vector)	{ #symbol, words, vector },
#include "hook/tables/param_counts.h"
#undef CT_PARAM
};

/* libcudart's that are called often; what is not here gets 16 words copied. */
static const struct params runtime[] = {
	{ "cudaGetDevice", 0, 0 }, { "cudaSetDevice", 0, 0 },
	{ "cudaGetLastError", 0, 0 }, { "cudaPeekAtLastError", 0, 0 },
	{ "cudaStreamIsCapturing", 0, 0 }, { "cudaGetDeviceCount", 0, 0 },
	{ "cudaLaunchKernel", 2, 0 }, { "cudaLaunchKernelExC", 0, 0 },
	{ "cudaMalloc", 0, 0 }, { "cudaFree", 0, 0 }, { "cudaMemcpy", 0, 0 },
	{ "cudaMemcpyAsync", 0, 0 }, { "cudaMemsetAsync", 0, 0 },
	{ "cudaStreamSynchronize", 0, 0 }, { "cudaDeviceSynchronize", 0, 0 },
	{ "cudaEventCreateWithFlags", 0, 0 }, { "cudaEventRecord", 0, 0 },
	{ "cudaEventQuery", 0, 0 }, { "cudaEventSynchronize", 0, 0 },
	{ "cudaEventDestroy", 0, 0 }, { "cudaStreamWaitEvent", 0, 0 },
	{ "cudaStreamQuery", 0, 0 }, { "cudaFuncGetAttributes", 0, 0 },
	{ "cudaFuncSetAttribute", 0, 0 }, { "cudaDeviceGetAttribute", 0, 0 },
	{ "cudaOccupancyMaxActiveBlocksPerMultiprocessor", 0, 0 },
	{ "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 0, 0 },
	{ "cudaGraphLaunch", 0, 0 }, { "cudaPointerGetAttributes", 0, 0 },
};

static const struct params *runtime_params(const char *symbol)
{
	for (size_t i = 0; i < sizeof(runtime) / sizeof(*runtime); i++)
		if (!strcmp(runtime[i].symbol, symbol))
			return &runtime[i];
	return NULL;
}

static const struct params *params_of(const char *symbol)
{
	size_t low = 0, high = sizeof(known) / sizeof(*known);

	while (low < high) {
		size_t mid = (low + high) / 2;
		int d = strcmp(symbol, known[mid].symbol);

		if (!d)
			return &known[mid];
		if (d < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static const struct params *params_by_base(const char *symbol)
{
	const struct params *p = strncmp(symbol, "cuda", 4) ? params_of(symbol) :
				 runtime_params(symbol);
	char base[CT_NAME_LEN];
	size_t n = strlen(symbol);

	/* A variant for per-thread default streams takes what its base takes. */
	if (p || n < 6 || n >= sizeof(base) ||
	    (strcmp(symbol + n - 5, "_ptsz") && strcmp(symbol + n - 5, "_ptds")))
		return p;
	memcpy(base, symbol, n - 5);
	base[n - 5] = 0;
	return params_of(base);
}

static u32 index_of(const struct ct_slot *s)
{
	return (u32)(s - ct_slots);
}

static void *thunk_of(const struct ct_slot *s)
{
	return (void *)(ct_thunks + ((u64)index_of(s) << CT_THUNK_SHIFT));
}

bool ct_is_thunk(const void *address)
{
	const char *p = address;

	return p >= ct_thunks && p < ct_thunks + (CT_THUNKS << CT_THUNK_SHIFT);
}

static struct ct_slot *look_up(const char *symbol, u32 hash, void *target)
{
	for (u32 i = ct_load(&heads[hash % HEADS]); i; i = ct_slots[i].next) {
		struct ct_slot *s = &ct_slots[i];
		void *at = __atomic_load_n(&s->target, __ATOMIC_RELAXED);

		if (s->hash == hash && at == target && !strcmp(s->symbol, symbol))
			return s;
	}
	return NULL;
}

/* A slot of this symbol whose libcuda is gone, for the one that came. */
static struct ct_slot *look_up_stale(const char *symbol, u32 hash)
{
	for (u32 i = heads[hash % HEADS]; i; i = ct_slots[i].next) {
		struct ct_slot *s = &ct_slots[i];

		if (s->hash == hash && s->stale && !strcmp(s->symbol, symbol))
			return s;
	}
	return NULL;
}

static void fill(struct ct_slot *s, const char *symbol)
{
	const struct params *p = params_by_base(symbol);
	struct ct_symbol f;
	const struct ct_binding *b;

	if (p) {
		s->words = p->words;
		s->flags = p->vector ? CT_SLOT_VECTOR : 0;
	} else {
		s->words = 16;
		s->flags = CT_SLOT_VECTOR | CT_SLOT_UNKNOWN;
	}
	s->layout = CT_LAYOUT_none;
	if (!ct_classify(&f, symbol))
		return;
	if (f.query && !ct_options.time_queries)
		s->flags |= CT_SLOT_QUERY;
	if (f.category == CT_CAT_INIT || f.op == CT_OP_LOAD ||
	    (f.category == CT_CAT_CONTEXT && f.op == CT_OP_CREATE))
		s->flags |= CT_SLOT_RESCAN;
	b = ct_binding_of(f.name, f.version);
	if (b) {
		s->layout = b->layout;
		s->size = b->size;
		s->extract = b->extract;
	}
	if (!strcmp(f.name, "cuGetProcAddress"))
		s->after = ct_after_get_proc_address;
}

static struct ct_slot *make(const char *symbol, u32 hash, void *target)
{
	struct ct_slot *s;

	if (used == CT_THUNKS)
		return NULL;
	s = &ct_slots[used];
	s->symbol = keep(symbol);
	if (!s->symbol)
		return NULL;
	used++;
	s->hash = hash;
	s->target = target;
	s->way = ct_way_full;
	fill(s, symbol);
	s->next = heads[hash % HEADS];
	ct_store(&heads[hash % HEADS], (u16)index_of(s));
	return s;
}

void *ct_thunk_for(const char *symbol, void *target)
{
	u32 hash = (u32)ct_hash(symbol, strlen(symbol));
	struct ct_slot *s = look_up(symbol, hash, target);
	u64 mask;

	if (s && !s->stale)
		return thunk_of(s);
	mask = ct_lock();
	s = look_up(symbol, hash, target);
	if (!s)
		s = look_up_stale(symbol, hash);
	if (s) {
		ct_store(&s->target, target);
		s->stale = 0;
	} else {
		s = make(symbol, hash, target);
	}
	ct_unlock(mask);
	if (s)
		return thunk_of(s);
	ct_say_once(CT_ONCE_POOL, "more functions than thunks; not traced from here on: ",
		    symbol);
	return target;
}

void ct_slots_forget(u64 start, u64 end)
{
	u64 mask = ct_lock();

	for (u32 i = 1; i < used; i++) {
		u64 at = (u64)ct_slots[i].target;

		if (at >= start && at < end)
			ct_slots[i].stale = 1;
	}
	ct_unlock(mask);
}

/* A quick one, if thunks.S can do what its calls need. */
static ct_way *way(const struct ct_slot *s)
{
	bool query = s->flags & CT_SLOT_QUERY;

	if (s->flags & ~CT_SLOT_QUERY || s->after)
		return ct_way_full;
	if (!s->words && !s->extract)
		return query ? ct_way_query : ct_way_call;
	if (!query && s->extract == ct_x_launch)
		return ct_way_launch;
	if (s->words <= CT_QUICK_WORDS && s->extract && s->size)
		return query ? ct_way_ask : ct_way_args;
	return ct_way_full;
}

u16 ct_slot_define(struct ct_slot *s)
{
	struct ct_class_text text;
	struct ct_symbol f;
	u32 id;

	/* A full disk or registry is asked again, but not at every call. */
	if (s->failures && s->failures++ & 255)
		return 0;
	if (!ct_classify(&f, s->symbol))
		return 0;
	text.name = f.name;
	text.symbol = s->symbol;
	text.category = f.category;
	text.op = f.op;
	text.layout = s->layout;
	id = ct_backend->define(&text);
	if (!id) {
		s->failures |= 1;
		return 0;
	}
	s->open = (u16)id | (u64)((u32)s->size << 8 |
		  (s->flags & CT_SLOT_QUERY ? CT_INFLIGHT_NO_BEGIN : 0)) << 32;
	ct_store(&s->class, (u16)id);
	ct_store(&s->way, way(s));
	return (u16)id;
}
