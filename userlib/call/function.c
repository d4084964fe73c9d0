// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From a function's name: how it takes its arguments, what is recorded of it, and which
 * path its calls go; see function.h.
 */
#include "call/function.h"

#include "backend/backend.h"
#include "base/options.h"
#include "call/classify.h"
#include "call/decode.h"

const struct ct_call_above *ct_call_above;

/* Texts inside, not pointers: what the loader need not relocate costs a program no time. */
struct params {
	char symbol[62];
	u8 words;
	u8 vector;
};

static const struct params known[] = {
#define CT_PARAM(symbol, words, vector)	{ #symbol, words, vector },
#include "call/tables/param_counts.h"
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

void ct_function_fill(struct ct_slot *s)
{
	const struct params *p = params_by_base(s->symbol);
	struct ct_symbol f;
	const struct ct_binding *b;

	s->way = ct_call_above->full;
	if (p) {
		s->words = p->words;
		s->flags = p->vector ? CT_SLOT_VECTOR : 0;
	} else {
		s->words = 16;
		s->flags = CT_SLOT_VECTOR | CT_SLOT_UNKNOWN;
	}
	s->layout = CT_LAYOUT_none;
	if (!ct_classify(&f, s->symbol))
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
		s->after = ct_call_above->after_get_proc_address;
}

/* A quick one, if thunks.S can do what its calls need. */
static ct_way *way(const struct ct_slot *s)
{
	bool query = s->flags & CT_SLOT_QUERY;

	if (s->flags & ~CT_SLOT_QUERY || s->after)
		return ct_call_above->full;
	if (!s->words && !s->extract)
		return query ? ct_call_above->query : ct_call_above->call;
	if (!query && s->extract == ct_x_launch)
		return ct_call_above->launch;
	if (s->words <= CT_QUICK_WORDS && s->extract && s->size)
		return query ? ct_call_above->ask : ct_call_above->args;
	return ct_call_above->full;
}

u16 ct_function_define(struct ct_slot *s)
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
