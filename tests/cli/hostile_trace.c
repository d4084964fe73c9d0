// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes traces that no recorder writes, but that any user may give to a reader.
 *
 *	hostile_trace NAME NEWDIR [COUNT]
 *	hostile_trace --list
 *
 * COUNT is how many records, threads, classes or calls, for those that have many.  It is
 * large for measurements of memory.
 */
#include <sys/stat.h>

#include "writer.h"

enum {
	ALLOC = CT_CLASS_DYNAMIC, FREE, COPY, LAUNCH, SYNC, QUERY, RUNTIME, HOST_ALLOC, CONTEXT, MODULE,
	K_IOCTL, K_ALLOC, K_PAGES, K_SWITCH, K_ISR, K_FENCE, K_WAIT, GPU_KERNEL, GPU_COPY, OTHER,
};

#define TIMES	1000ull	/* ns between two records */

static uint64_t count;
static FILE *reg;

static void registry(void)
{
	reg = create_registry();
#define CLASS(id, words, layout, names)	registry_class(reg, id, words, CT_LAYOUT_SPEC(layout), names)
	CLASS(ALLOC, "user memory alloc", alloc, "cuMemAlloc cuMemAlloc_v2");
	CLASS(FREE, "user memory free", free, "cuMemFree cuMemFree_v2");
	CLASS(COPY, "user transfer copy", copy, "cuMemcpyHtoD cuMemcpyHtoD_v2");
	CLASS(LAUNCH, "user kernel launch", launch, "cuLaunchKernel cuLaunchKernel");
	CLASS(SYNC, "user sync wait", handle, "cuStreamSynchronize cuStreamSynchronize");
	CLASS(QUERY, "user query -", none, "cuCtxGetCurrent cuCtxGetCurrent");
	CLASS(RUNTIME, "user runtime -", none, "cudaMalloc cudaMalloc");
	CLASS(HOST_ALLOC, "user memory alloc", alloc, "cuMemHostAlloc cuMemHostAlloc");
	CLASS(CONTEXT, "user context create", context, "cuCtxCreate cuCtxCreate_v4");
	CLASS(MODULE, "user module load", module, "cuModuleLoadData cuModuleLoadData");
	CLASS(K_IOCTL, "kernel ioctl -", ioctl, "nvidia_ioctl nvidia_unlocked_ioctl");
	CLASS(K_ALLOC, "kernel memory alloc", k_alloc, "os_alloc_mem os_alloc_mem");
	CLASS(K_PAGES, "kernel memory alloc", k_pages, "nv_alloc_pages nv_alloc_pages");
	CLASS(K_SWITCH, "kernel switch -", k_switch, "sched_switch sched_switch");
	CLASS(K_ISR, "kernel interrupt -", k_irq, "nvidia_isr nvidia_isr");
	CLASS(K_FENCE, "kernel sync -", k_fence_new, "dma_fence_init dma_fence_init");
	CLASS(K_WAIT, "kernel sync wait", k_fence, "dma_fence_wait dma_fence_wait");
	CLASS(GPU_COPY, "gpu transfer copy", copy, "gpu_copy -");
	fprintf(reg, "string 1 _Z9vectorAddPKfS0_Pfi\n");
	/* A name of 4,096 bytes: control characters and what is no UTF-8. */
	fprintf(reg, "string 2 ");
	for (int i = 0; i < 4096; i++)
		fprintf(reg, "%%%02x", 1 + i * 7 % 255);
	fprintf(reg, "\nstring 3 %%1b[31m%%1b]0;title%%07%%c2%%9b\n");
	fprintf(reg, "string 4 _Z");
	for (int i = 0; i < 4000; i++)
		fputc("INSK5"[i % 5], reg);
	fprintf(reg, "\ninfo command %%1b[2Jevil%%0d%%0a%%00\ninfo hostname %%9b%%ff\ninfo driver %%1b]\n");
}

/* ------------------------------------------------------------- two streams --- */

static struct writer u, k;
static uint64_t now = START, op = 1;

static void open_both(void)
{
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 1 << 16);
	u.head.pid = u.head.tid = PID;
	open_writer(&k, "k-0", CT_STREAM_CPU, 1 << 16);
}

/* A call of the program that lasts @ns and begins where the last one ended. */
static void user(unsigned int class, uint64_t ns, unsigned int flags, int64_t result,
		 const void *fields, uint32_t len)
{
	now += ns;
	if (op - u.head.op_base > 1u << 30) {
		flush(&u);
		u.head.op_base = op;
	}
	thread_record(&u, (struct spec){ class, 0, flags, result, now - ns, now, op++, PID, 0xffff },
		      fields, len);
	now++;
}

static void kernel(unsigned int class, uint64_t ns, unsigned int flags, uint32_t tid, const void *fields,
		   uint32_t len)
{
	now += ns;
	cpu_record(&k, (struct spec){ class, 0, flags, 0, now - ns, now, op++, tid, 0 }, fields, len);
	now++;
}

static void close_both(void)
{
	close_writer(&u);
	close_writer(&k);
}

static void launch(uint32_t name, uint64_t stream)
{
	struct ct_launch l = { .kernel = name, .grid_x = 1, .block_x = 32, .stream = stream };

	user(LAUNCH, 100, 0, 0, &l, sizeof(l));
}

static void text(struct writer *w, unsigned int class, const char *what, uint32_t len, uint32_t tid)
{
	static uint8_t buf[4096];
	uint32_t head = class == CT_CLASS_process ? 8 : 4;
	uint16_t n = len;
	struct spec s = { class, 0, CT_F_INSTANT | CT_F_NO_RESULT, 0, now, now, op++, tid, 0 };

	memset(buf, 0, sizeof(buf));
	memcpy(buf + head, &n, 2);
	memcpy(buf + head + 2, what, len);
	now++;
	if (w == &u)
		thread_record(w, s, buf, head + 2 + len);
	else
		cpu_record(w, s, buf, head + 2 + len);
}

/* ------------------------------------------------------------------ traces --- */

static void empty(void)
{
}

static void one(void)
{
	open_both();
	launch(1, 0);
	close_both();
}

/* Calls of 2^48 - 1 ns, and moments at the end of what 64 bits hold. */
static void absurd(void)
{
	struct ct_alloc alloc = { 1, 1 };
	struct ct_handle handle = { 0 };

	open_both();
	now += CT_TS_MASK;
	for (int i = 0; i < 20; i++) {
		thread_record(&u, (struct spec){ i % 2 ? SYNC : ALLOC, 0, 0, 0, now - CT_TS_MASK, now,
			      op++, PID, 0 }, &alloc, i % 2 ? sizeof(handle) : sizeof(alloc));
		cpu_record(&k, (struct spec){ K_WAIT, 0, 0, 0, now - CT_TS_MASK, now, op++, PID, 0 },
			   &alloc, sizeof(alloc));
		launch(1, i);
		/* A packet spans less than 2^48 ns. */
		flush(&u);
		flush(&k);
		now += i % 3 ? 1 : CT_TS_MASK / 2;
	}
	now = ~0ull - 1000;
	for (int i = 0; i < 4; i++)
		launch(1, i);
	close_both();
}

static void ids(void)
{
	static const uint32_t tids[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff };
	struct ct_ioctl io = { .cmd = 0xc020462a, .device = CT_DEV_NVIDIACTL, .have = 0xffffffff };
	char name[64];

	for (int i = 0; i < 5; i++) {
		struct writer w;

		snprintf(name, sizeof(name), "u-%u-%u", tids[i], tids[4 - i]);
		open_writer(&w, name, CT_STREAM_THREAD, 4096);
		w.head.pid = tids[i];
		w.head.tid = tids[4 - i];
		for (int n = 0; n < 10; n++)
			thread_record(&w, (struct spec){ RUNTIME, n, 0, 0, START + n, START + n * 10,
				      n, 0, 0 }, NULL, 0);
		close_writer(&w);
	}
	open_both();
	for (int i = 0; i < 50; i++)
		kernel(i % 2 ? K_IOCTL : K_ISR, 100, i % 3 ? 0 : CT_F_HARDIRQ, tids[i % 5], &io, i % 2 ? sizeof(io) : 8);
	close_both();
}

/* As many classes as there are ids, with a record each. */
static void classes(void)
{
	uint64_t n = count < CT_CLASS_MAX - OTHER ? count : CT_CLASS_MAX - OTHER;

	for (uint64_t i = 0; i < n; i++)
		fprintf(reg, "class %u user %s - - fn%u fn%u\n", (unsigned int)(OTHER + i),
			i % 3 ? "query" : "memory", (unsigned int)(i % 1000), (unsigned int)i);
	open_both();
	for (uint64_t i = 0; i < n; i++)
		user(OTHER + i, i, 0, i % 5 ? 0 : 1, NULL, 0);
	close_both();
}

static void texts(void)
{
	char bytes[1500];

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * 7 + 1;
	open_both();
	text(&u, CT_CLASS_process, "\033[31m\007/x\r\n\200\377 y", 14, PID);
	for (uint32_t i = 0; i < 40; i++) {
		text(&u, CT_CLASS_range_push, bytes, i * 30, PID);
		launch(i % 6, 0);
		user(CT_CLASS_range_pop, 0, CT_F_INSTANT | CT_F_NO_RESULT, 0, NULL, 0);
		text(&u, CT_CLASS_mark, bytes + i, i, PID);
	}
	close_both();
}

static void threads(void)
{
	struct ct_handle handle = { 1 };
	struct ct_k_switch off = { .state = 1, .other = 7, .waker = 8, .runnable_ns = 1000 };

	open_both();
	for (uint64_t i = 0; i < count; i++) {
		uint32_t tid = 10000 + i % 10007;

		if (i % 4 == 3)
			kernel(K_SWITCH, 100, CT_F_NO_RESULT, tid, &off, sizeof(off));
		else if (i % 4)
			kernel(SYNC, 100, 0, tid, &handle, sizeof(handle));
		else
			kernel(RUNTIME, 1000, 0, tid, NULL, 0);
	}
	close_both();
}

/* Calls that begin inside each other and never end, in threads that also end some. */
static void nested(void)
{
	struct ct_handle handle = { 1 };
	struct ct_k_fence fence = { 1, 1 };

	open_both();
	for (uint64_t i = 0; i < count; i++)
		kernel(i % 3 ? RUNTIME : SYNC, 0, CT_F_BEGIN, PID + i % 2, &handle, i % 3 ? 0 : sizeof(handle));
	/*
	 * A record of the program says how deep it is, so those above are not kept as one inside
	 * the other.  Functions of the driver are.
	 */
	for (uint64_t i = 0; i < count / 4; i++)
		kernel(K_WAIT, 0, CT_F_BEGIN, PID + 2, &fence, sizeof(fence));
	/* Ends of the outermost ones: all the others lost theirs. */
	for (uint64_t i = 1; i < 100 && i < count; i++)
		cpu_record(&k, (struct spec){ (i - 1) % 3 ? RUNTIME : SYNC, 0, CT_F_HAS_BEGIN, 0, START, now, i,
			   PID + (i - 1) % 2, 0 }, &handle, (i - 1) % 3 ? 0 : sizeof(handle));
	close_both();
}

/* Ranges that end more often than they begin, then many that never end. */
static void ranges(void)
{
	char name[32];

	open_both();
	for (int i = 0; i < 100; i++)
		user(CT_CLASS_range_pop, 0, CT_F_INSTANT | CT_F_NO_RESULT, 0, NULL, 0);
	for (uint64_t i = 0; i < count; i++) {
		text(&u, CT_CLASS_range_push, name, snprintf(name, sizeof(name), "range %llu",
							      (unsigned long long)i), PID);
		if (i % 4 == 0)
			launch(1, i);
		if (i % 2)
			user(CT_CLASS_range_pop, 0, CT_F_INSTANT | CT_F_NO_RESULT, 0, NULL, 0);
	}
	close_both();
}

static void sums(void)
{
	struct ct_alloc alloc = { ~0ull, 0 };
	struct ct_copy copy = { ~0ull, 1, 2, ~0ull, CT_DIR_H2D, 0 };
	struct ct_k_pages pages = { .size = ~0ull, .count = ~0u, .ptr = ~0ull };
	struct ct_k_alloc small = { ~0ull - 1, ~0ull };

	open_both();
	for (int i = 0; i < 200; i++) {
		struct ct_launch l = {
			.kernel = 2, .grid_x = ~0u, .grid_y = ~0u, .grid_z = ~0u, .block_x = ~0u,
			.block_y = ~0u, .block_z = ~0u, .shared = ~0u, .stream = ~0ull,
		};

		alloc.ptr = i % 10 ? ~0ull - i : 0;
		copy.direction = i % 12 ? (unsigned int)i : ~0u;
		user(i % 2 ? ALLOC : HOST_ALLOC, 10, 0, 0, &alloc, sizeof(alloc));
		user(COPY, 10, 0, 0, &copy, sizeof(copy));
		user(LAUNCH, 10, 0, 0, &l, sizeof(l));
		user(FREE, 10, 0, 0, &alloc.ptr, 8);
		kernel(K_PAGES, 10, 0, PID, &pages, sizeof(pages));
		kernel(K_ALLOC, 10, 0, PID, &small, sizeof(small));
		kernel(GPU_COPY, 10, 0, PID, &copy, sizeof(copy));
	}
	close_both();
}

/* Allocations that nobody frees. */
static void growth(void)
{
	struct ct_k_alloc small = { 64, 1 };

	open_both();
	for (uint64_t i = 0; i < count; i++) {
		struct ct_alloc alloc = { 4096 + i % 7, 0x1000 * i + 1 };

		user(ALLOC, 100, 0, 0, &alloc, sizeof(alloc));
		if (i % 4 == 0)
			launch(1, i);
		if (i % 8 == 0) {
			struct ct_handle handle = { i };

			small.ptr = i * 16 + 1;
			user(SYNC, 100, 0, 0, &handle, sizeof(handle));
			kernel(K_ALLOC, 100, 0, PID, &small, sizeof(small));
		}
	}
	close_both();
}

/* Objects of RM: each ioctl has a client, an object and a parent of its own. */
static void objects(void)
{
	open_both();
	for (uint64_t i = 0; i < count; i++) {
		struct ct_ioctl io = {
			.cmd = i % 3 ? 0xc030462b : 0xc020462a, .device = CT_DEV_NVIDIACTL, .have = 0x5f,
			.client = i, .object = i * 3, .parent = i % 5 ? i * 3 - 3 : i * 3, .code = i * 7,
			.status = i % 2 ? 0 : i,
		};

		io.have &= i % 3 ? ~CT_IOCTL_CONTROL : ~CT_IOCTL_CLASS;
		if (i % 7 == 0)
			io.cmd = i;
		kernel(K_IOCTL, 100, 0, PID, &io, sizeof(io));
	}
	close_both();
}

/* Launches and synchronisations in which nothing comes again. */
static void sequences(void)
{
	uint64_t random = 1;

	for (unsigned int i = 10; i < 20000; i++)
		fprintf(reg, "string %u _Z6kernelILi%uEEvv\n", i, i);
	open_both();
	for (uint64_t i = 0; i < count; i++) {
		struct ct_handle handle = { random >> 40 };

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		if (random >> 60)
			launch(10 + (random >> 33) % 19990, random >> 44);
		else
			user(SYNC, random >> 54, 0, 0, &handle, sizeof(handle));
	}
	close_both();
}

/* The same few calls in order, so often that iterations are found. */
static void steps(void)
{
	struct ct_handle handle = { 0 };

	open_both();
	for (uint64_t i = 0; i < count / 5; i++) {
		for (int n = 0; n < 4; n++)
			launch(1 + n, 0);
		user(SYNC, 300 + i % 7, 0, 0, &handle, sizeof(handle));
	}
	close_both();
}

/* Processes that come and go, and pids that come again with another command. */
static void processes(void)
{
	char name[32];

	open_both();
	for (uint64_t i = 0; i < count; i++) {
		struct { uint32_t ppid, uid; } head = { 1, 0 };
		uint8_t buf[64];
		uint32_t len;

		if (i % 2) {
			kernel(RUNTIME, 100, 0, 10 + i % 5003, NULL, 0);
			continue;
		}
		snprintf(name, sizeof(name), "program%llu", (unsigned long long)(i / 7));
		len = with_text(buf, &head, sizeof(head), name);
		now++;
		cpu_record(&k, (struct spec){ CT_CLASS_process, 0, CT_F_INSTANT | CT_F_NO_RESULT, 0, now, now,
			   op++, 10 + i % 5003, 0 }, buf, len);
	}
	close_both();
}

/* All calls began with the trace, and none ends before many others have. */
static void early(void)
{
	struct ct_context context = { .context = 1 };

	open_both();
	for (uint64_t i = 0; i < count; i++) {
		now += TIMES;
		cpu_record(&k, (struct spec){ i % 2 ? SYNC : CONTEXT, 0, 0, 0, START + i % 1000, now, op++,
			   PID + i % 50, 0 }, &context, i % 2 ? sizeof(struct ct_handle) : sizeof(context));
	}
	close_both();
}

/*
 * A thread each, and then threads for which a timeline has no lane left: in one of them a range
 * ends that never began, inside a call that then returns.
 */
static void lanes(void)
{
	struct ct_handle handle = { 1 };

	open_both();
	for (uint64_t i = 0; i < count; i++)
		kernel(SYNC, 1, 0, 10000 + i, &handle, sizeof(handle));
	for (uint32_t tid = 5000; tid < 5003; tid++) {
		uint64_t called = op;

		kernel(SYNC, 1, CT_F_BEGIN, tid, &handle, sizeof(handle));
		for (int i = 0; i < 3; i++)
			kernel(CT_CLASS_range_pop, 1, CT_F_INSTANT | CT_F_NO_RESULT, tid, NULL, 0);
		now += 10;
		cpu_record(&k, (struct spec){ SYNC, 0, CT_F_HAS_BEGIN, 0, now - 8, now, called, tid, 0 },
			   &handle, sizeof(handle));
	}
	close_both();
}

static const struct {
	const char *name;
	void (*make)(void);
	uint64_t count;
} makes[] = {
	{ "empty", empty, 0 }, { "one", one, 0 }, { "absurd", absurd, 0 }, { "ids", ids, 0 },
	{ "classes", classes, 65000 }, { "texts", texts, 0 }, { "threads", threads, 40000 },
	{ "nested", nested, 10000 }, { "ranges", ranges, 10000 }, { "sums", sums, 0 },
	{ "growth", growth, 20000 }, { "objects", objects, 20000 }, { "sequences", sequences, 20000 },
	{ "steps", steps, 20000 }, { "early", early, 20000 }, { "processes", processes, 20000 },
	{ "lanes", lanes, 66000 },
};

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (unsigned int i = 0; i < sizeof(makes) / sizeof(*makes); i++)
			puts(makes[i].name);
		return 0;
	}
	for (unsigned int i = 0; argc >= 3 && i < sizeof(makes) / sizeof(*makes); i++) {
		if (strcmp(argv[1], makes[i].name))
			continue;
		dir = argv[2];
		if (mkdir(dir, 0755))
			die(dir);
		count = argc > 3 ? strtoull(argv[3], NULL, 0) : makes[i].count;
		registry();
		makes[i].make();
		fclose(reg);
		fclose(create("metadata"));
		return 0;
	}
	fprintf(stderr, "usage: hostile_trace NAME NEWDIR [COUNT] | hostile_trace --list\n");
	return 2;
}
