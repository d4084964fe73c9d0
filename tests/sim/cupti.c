// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cupti.c - stands in for NVIDIA's libcupti beside the simulated libcuda, as far as the
 * activity interface is used: what the simulated GPU does comes as records, with its numbers,
 * on CUPTI's clock or a registered one.  It is never installed; records that come from it are
 * of a simulated GPU.
 *
 *   CUPTISIM_RECORDS=N	a buffer is full with N records (default: as many as fit)
 *   CUPTISIM_DROP=N	every Nth record is dropped, and counted
 *   CUPTISIM_ZERO=N	every Nth kernel has no time
 *   CUPTISIM_GAP=N	every Nth call takes two numbers
 *   CUPTISIM_HOLD=1	the first complete buffer is given back last
 *   CUPTISIM_EAGER=1	after a flush, a new buffer is asked for at once
 *   CUPTISIM_BUSY=1	another tool has CUPTI: kinds can't be enabled
 *   CUPTISIM_HARDWARE=1	it has hardware events
 *   CUPTISIM_SLOW=MS	to enable a kind takes so long
 *   CUPTISIM_SAYS=1	says when the last kind is disabled
 *   CUPTISIM_BACKWARDS=1	nodes are numbered from the last one that runs to the first
 *   CUPTISIM_SHIFT=NS	its clock is that far from CLOCK_REALTIME, and goes 1 % faster
 *
 * Compiled with CUPTISIM_OLD it has no function of CUDA 12's; with CUPTISIM_ANCIENT it is of
 * CUDA 10.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../userlib/plugins/gpu/cupti_abi.h"
#include "activity.h"

#define EXPORT	__attribute__((visibility("default")))
#define KINDS	64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cupti_requested *requested;
static cupti_completed *completed;
static u64 (*callback)(void);
static bool enabled[KINDS];

static struct buffer {
	u8 *data;
	size_t size, used, records;
} buffer, held;

static size_t dropped;
static u64 told, kernels;

static u64 setting(const char *name)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 0) : 0;
}

static u64 clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

/* CUPTI's clock less CLOCK_MONOTONIC, now. */
static u64 offset(void)
{
	u64 before, theirs, after;

	/* Again if something came in between. */
	do {
		before = clock_ns(CLOCK_MONOTONIC);
		theirs = callback ? callback() : clock_ns(CLOCK_REALTIME);
		after = clock_ns(CLOCK_MONOTONIC);
	} while (after - before > 5000);
	return theirs - before - (after - before) / 2;
}

static u64 record_offset;	/* one for both times of a record */

/* CLOCK_MONOTONIC as a time of CUPTI's. */
static u64 convert(u64 t)
{
	u64 shift = setting("CUPTISIM_SHIFT");

	t += record_offset;
	return shift && !callback ? t + shift + t % 100000000000ull / 100 : t;
}

static void give(struct buffer *b)
{
	if (b->data)
		completed(NULL, 0, b->data, b->size, b->used);
	*b = (struct buffer){ 0 };
}

static void ask(void)
{
	size_t records;

	if (!buffer.data)
		requested(&buffer.data, &buffer.size, &records);
}

static void full(void)
{
	if (!buffer.used)
		return;
	if (setting("CUPTISIM_HOLD") && !held.data) {
		held = buffer;
		buffer = (struct buffer){ 0 };
		return;
	}
	give(&buffer);
}

static void put(const void *record, size_t size)
{
	u64 most = setting("CUPTISIM_RECORDS"), drop = setting("CUPTISIM_DROP");

	size = (size + 7) & ~7ull;
	if (drop && ++told % drop == 0) {
		dropped++;
		return;
	}
	if (buffer.data && (buffer.used + size > buffer.size || (most && buffer.records == most)))
		full();
	ask();
	if (!buffer.data) {
		dropped++;
		return;
	}
	memcpy(buffer.data + buffer.used, record, size);
	buffer.used += size;
	buffer.records++;
}

/* The number of a call: with gaps, where they are asked for. */
static u32 number(u32 n)
{
	u64 gap = setting("CUPTISIM_GAP");

	return n + (gap ? (u32)(n / gap) : 0);
}

static u64 start_of_graph;

/* One record a graph launch; true if that is how graphs are seen. */
static bool graph(const struct sim_activity *a)
{
	struct cupti_graph r = {
		.kind = CUPTI_GRAPH, .correlation = number(a->correlation), .graph = a->graph,
		.context = a->context, .stream = a->stream, .end = convert(a->end),
	};

	if (!a->graph || !enabled[CUPTI_GRAPH])
		return false;
	if (a->node == 1)
		start_of_graph = convert(a->start);
	r.start = start_of_graph;
	if (a->node == a->nodes)
		put(&r, sizeof(r));
	return true;
}

static void kernel(const struct sim_activity *a)
{
	/* NVIDIA's is longer: who reads it must not rely on its size. */
	struct {
		struct cupti_kernel r;
		u64 more[7];
	} k = { .r = {
		.kind = CUPTI_KERNEL, .registers = 32, .start = convert(a->start),
		.end = convert(a->end), .context = a->context, .stream = a->stream,
		.shared = a->shared, .shared_static = 16, .correlation = number(a->correlation),
		.name = a->name, .graph = a->graph,
		.graph_node = !a->graph ? 0 : setting("CUPTISIM_BACKWARDS") ? (u64)a->graph << 32 | (1000 - a->node) :
			      (u64)a->graph << 32 | a->place,
	} };
	u64 zero = setting("CUPTISIM_ZERO");

	memcpy(k.r.grid, a->grid, sizeof(k.r.grid));
	memcpy(k.r.block, a->block, sizeof(k.r.block));
	if (zero && ++kernels % zero == 0)
		k.r.start = k.r.end = 0;
	put(&k, sizeof(k));
}

static void copy(const struct sim_activity *a)
{
	static const u8 kinds[2][2] = { { 9, 2 }, { 1, 8 } };	/* [to the device][from it] */
	struct cupti_copy r = {
		.kind = CUPTI_MEMCPY, .copy_kind = kinds[a->dst_device][a->src_device],
		.src_kind = a->src_device ? 3 : 1, .dst_kind = a->dst_device ? 3 : 1,
		.bytes = a->bytes, .start = convert(a->start), .end = convert(a->end),
		.context = a->context, .stream = a->stream, .graph = a->graph,
		.correlation = number(a->correlation),
	};

	put(&r, sizeof(r));
}

static void set(const struct sim_activity *a)
{
	struct cupti_set r = {
		.kind = CUPTI_MEMSET, .value = a->value, .bytes = a->bytes,
		.start = convert(a->start), .end = convert(a->end), .context = a->context,
		.stream = a->stream, .graph = a->graph, .correlation = number(a->correlation),
		.memory_kind = 3,
	};

	put(&r, sizeof(r));
}

static void done(const struct sim_activity *a)
{
	/* In the order of enum sim_op_kind. */
	static const struct {
		u32 kind;
		void (*record)(const struct sim_activity *a);
	} kinds[] = { { CUPTI_KERNEL, kernel }, { CUPTI_MEMCPY, copy }, { CUPTI_MEMSET, set } };

	pthread_mutex_lock(&lock);
	record_offset = offset();
	if (requested && !graph(a) && enabled[kinds[a->kind].kind])
		kinds[a->kind].record(a);
	pthread_mutex_unlock(&lock);
}

EXPORT int cuptiGetVersion(u32 *version)
{
#ifdef CUPTISIM_ANCIENT
	*version = 12;
#else
	*version = 130000;
#endif
	return CUPTI_OK;
}

EXPORT int cuptiGetTimestamp(u64 *t)
{
	pthread_mutex_lock(&lock);
	record_offset = offset();
	*t = callback ? callback() : convert(clock_ns(CLOCK_MONOTONIC));
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}

EXPORT int cuptiActivityRegisterCallbacks(cupti_requested *r, cupti_completed *c)
{
	pthread_mutex_lock(&lock);
	requested = r;
	completed = c;
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}

/* NULL: there is no libcuda that tells. */
static void (*driver_tells(void))(sim_activity_hook *)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	return driver ? (void (*)(sim_activity_hook *))dlsym(driver, "cudatrace_sim_activity") : NULL;
}

EXPORT int cuptiActivityEnable(u32 kind)
{
	void (*tell)(sim_activity_hook *) = driver_tells();

	if (setting("CUPTISIM_BUSY"))
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	if (setting("CUPTISIM_SLOW"))
		nanosleep(&(struct timespec){ .tv_nsec = (long)setting("CUPTISIM_SLOW") * 1000000 }, NULL);
	if (!tell)
		return CUPTI_NOT_INITIALIZED;
	pthread_mutex_lock(&lock);
	enabled[kind % KINDS] = true;
	pthread_mutex_unlock(&lock);
	tell(done);
	return CUPTI_OK;
}

EXPORT int cuptiActivityDisable(u32 kind)
{
	void (*tell)(sim_activity_hook *) = driver_tells();
	int left = 0;

	pthread_mutex_lock(&lock);
	enabled[kind % KINDS] = false;
	for (int i = 0; i < KINDS; i++)
		left += enabled[i];
	if (!left && setting("CUPTISIM_SAYS"))
		fputs("CUPTI collects nothing\n", stderr);
	pthread_mutex_unlock(&lock);
	if (!left && tell)
		tell(NULL);
	return CUPTI_OK;
}

EXPORT int cuptiActivityGetNextRecord(u8 *data, size_t valid, void **record)
{
	static const struct {
		u32 kind;
		size_t size;
	} sizes[] = {
		{ CUPTI_KERNEL, sizeof(struct cupti_kernel) + 56 },
		{ CUPTI_MEMCPY, sizeof(struct cupti_copy) }, { CUPTI_MEMSET, sizeof(struct cupti_set) },
		{ CUPTI_GRAPH, sizeof(struct cupti_graph) },
	};
	u8 *next = data;

	if (*record) {
		next = *record;
		for (unsigned i = 0; i < 4; i++)
			if (*(u32 *)*record == sizes[i].kind)
				next = (u8 *)*record + sizes[i].size;
	}
	if (next == *record || next >= data + valid)
		return 12;	/* CUPTI_ERROR_MAX_LIMIT_REACHED */
	*record = next;
	return CUPTI_OK;
}

EXPORT int cuptiActivityFlushAll(u32 flag)
{
	pthread_mutex_lock(&lock);
	full();
	if (flag & CUPTI_FLUSH_FORCED)
		give(&held);
	if (setting("CUPTISIM_EAGER"))
		ask();
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}

#ifndef CUPTISIM_ANCIENT
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, u32 stream, size_t *n)
{
	(void)context;
	(void)stream;
	*n = __atomic_exchange_n(&dropped, 0, __ATOMIC_RELAXED);
	return CUPTI_OK;
}

EXPORT int cuptiGetResultString(int result, const char **text)
{
	*text = result == CUPTI_NOT_INITIALIZED ? "CUPTI_ERROR_NOT_INITIALIZED" : "CUPTI_ERROR";
	return CUPTI_OK;
}

EXPORT int cuptiFinalize(void)
{
	pthread_mutex_lock(&lock);
	memset(enabled, 0, sizeof(enabled));
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}
#endif

#if !defined(CUPTISIM_OLD) && !defined(CUPTISIM_ANCIENT)
EXPORT int cuptiActivityRegisterTimestampCallback(u64 (*now)(void))
{
	callback = now;
	return CUPTI_OK;
}

static int hardware;

EXPORT int cuptiActivityEnableHWTrace(u8 enable)
{
	if (!setting("CUPTISIM_HARDWARE"))
		return CUPTI_NOT_INITIALIZED;	/* as on an H200, in effect */
	hardware = enable;
	return CUPTI_OK;
}

/* For tests: whether hardware events are on; a call of f as if inside CUPTI. */
EXPORT int cuptisim_hardware(void);
EXPORT void cuptisim_inside(void (*f)(void));

int cuptisim_hardware(void)
{
	return hardware;
}

void cuptisim_inside(void (*f)(void))
{
	pthread_mutex_lock(&lock);
	f();
	pthread_mutex_unlock(&lock);
}
#endif
