// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes traces with records of the GPU whose figures are known exactly, by the ABI header
 * alone.  Prints what it wrote as one JSON object.
 *
 *	make_gpu idle DIR		ten steps on one stream; between them the GPU is idle for a
 *					known time, by known causes
 *	make_gpu overlap DIR		kernels, a copy and a set of three streams that overlap
 *	make_gpu devices DIR		two devices
 *	make_gpu graphs DIR		launches of a graph: one record for each
 *	make_gpu nodes DIR		the same, a record for each of its kernels
 *	make_gpu full DIR		launches of a graph that keep the GPU busy
 *	make_gpu unjoined DIR		records that name no call, or one that was lost; lost records; the
 *					process does not end well
 *	make_gpu stopped DIR		another tool takes the records over half way
 *	make_gpu refused DIR		there are none: why is recorded
 *	make_gpu two DIR		two processes, of which one has records of the GPU
 *	make_gpu step=N DIR		50 steps of 1,000 us; in each the GPU is idle for N us
 *	make_gpu beside=N DIR		the same; it is idle for 20 us, and N streams have the same kernels at the same time
 *	make_gpu begins=N DIR		the same; in each the GPU begins N us after the launch, and ends with the step
 *	make_gpu busy DIR		the GPU always has work: the host waits for it
 *	make_gpu ahead DIR		the host is far ahead, and the GPU pauses between its kernels
 *	make_gpu late=N DIR		the first of N launches begins on the GPU after the last was called
 *	make_gpu kernels=N DIR		N steps of 20 us, each with another kernel
 *	make_gpu ranges DIR		50 steps of nested ranges, whose kernels run behind them
 *	make_gpu strangers DIR		60,000 launches, none of which fits one of 60,000 kernels
 *	make_gpu made DIR		graphs are made and destroyed, which is no work; then the process
 *					calls exec, and launches again
 *	make_gpu attached DIR		the process is attached to: CUPTI begins while it launches
 *	make_gpu crowd DIR		20,000 threads, each with a launch of a kernel
 *
 * With a third word "host" the same trace without the GPU's records.
 */
#include <stdbool.h>
#include <sys/stat.h>

#include "writer.h"

#define US(us)	(START + (uint64_t)(us) * 1000)

enum {
	INIT = CT_CLASS_DYNAMIC, LAUNCH, COPY, SET, SYNC, GRAPH, ALLOC, CONTEXT, K_IOCTL, K_SWITCH, MAKE_GRAPH,
	CREATE_GRAPH, CLONE_GRAPH, DESTROY_GRAPH,
};

static bool host_only;
static uint64_t launches, kernels;
static uint32_t graph_id;	/* of the kernels that are made; 0: they are of no graph */

static void registry(void)
{
	FILE *f = create_registry();

#define CLASS(id, words, spec, names)	registry_class(f, id, words, spec, names)
	CLASS(INIT, "user init -", CT_LAYOUT_SPEC(init), "cuInit cuInit");
	CLASS(LAUNCH, "user kernel launch", CT_LAYOUT_SPEC(launch), "cuLaunchKernel cuLaunchKernel");
	CLASS(COPY, "user transfer copy", CT_LAYOUT_SPEC(copy), "cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2");
	CLASS(SET, "user transfer set", CT_LAYOUT_SPEC(set), "cuMemsetD8Async cuMemsetD8Async");
	CLASS(SYNC, "user sync wait", CT_LAYOUT_SPEC(handle), "cuStreamSynchronize cuStreamSynchronize");
	CLASS(GRAPH, "user graph launch", CT_LAYOUT_SPEC(graph), "cuGraphLaunch cuGraphLaunch");
	CLASS(ALLOC, "user memory alloc", CT_LAYOUT_SPEC(alloc), "cuMemAlloc cuMemAlloc_v2");
	CLASS(CONTEXT, "user context create", CT_LAYOUT_SPEC(context), "cuCtxCreate cuCtxCreate_v4");
	CLASS(K_IOCTL, "kernel ioctl -", CT_LAYOUT_SPEC(ioctl), "nvidia_ioctl nvidia_ioctl");
	CLASS(K_SWITCH, "kernel switch -", CT_LAYOUT_SPEC(k_switch), "sched_switch sched_switch");
	CLASS(CREATE_GRAPH, "user graph create", "", "cuGraphCreate cuGraphCreate");
	CLASS(CLONE_GRAPH, "user graph create", "", "cuGraphClone cuGraphClone");
	CLASS(DESTROY_GRAPH, "user graph destroy", "", "cuGraphExecDestroy cuGraphExecDestroy");
	CLASS(MAKE_GRAPH, "user graph create", "", "cuGraphInstantiate cuGraphInstantiateWithFlags");
	fprintf(f, "string 1 _Z4gemmPf\nstring 2 _Z7softmaxPf\nstring 3 _Z4copyPf\ninfo command train.py\n");
	fclose(f);
}

/* --------------------------------------------------------- records of the GPU --- */

#define GPU_MAX	131072

/* They are made in the order of the calls and written in the order of their ends. */
static struct {
	unsigned int class;
	uint64_t begin, end;
	uint8_t fields[80];
	uint32_t len;
} gpu[GPU_MAX];
static unsigned int gpu_count;

static void ran(unsigned int class, uint64_t begin, uint64_t end, const void *fields, uint32_t len)
{
	if (gpu_count == GPU_MAX)
		exit(2);
	gpu[gpu_count].class = class;
	gpu[gpu_count].begin = begin;
	gpu[gpu_count].end = end;
	memcpy(gpu[gpu_count].fields, fields, len);
	gpu[gpu_count++].len = len;
	kernels += class == CT_CLASS_gpu_kernel;
}

static int by_end(const void *a, const void *b)
{
	const typeof(*gpu) *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static struct writer state;

/* Whether the records of the GPU are complete, in their stream. */
static void say(uint64_t t, uint32_t value, const char *why)
{
	uint8_t buf[256];
	uint32_t len = with_text(buf, &value, sizeof(value), why);

	if (!host_only)
		thread_record(&state, (struct spec){ CT_CLASS_gpu_state, 0, CT_F_NO_RESULT | CT_F_INSTANT, 0, t, t,
			      state.head.op_base + records, 0, 0xffff }, buf, len);
}

static void open_state(uint32_t pid)
{
	struct ct_gpu_clock clock = { 180, CT_GPU_CLOCK_CALLBACK, 0 };
	char name[32];

	if (host_only)
		return;
	snprintf(name, sizeof(name), "g-%u-0", pid);
	open_writer(&state, name, CT_STREAM_GPU, 4096);
	state.head.pid = pid;
	say(START, CT_GPU_STARTED, "libcupti 13.0");
	thread_record(&state, (struct spec){ CT_CLASS_gpu_clock, 0, CT_F_NO_RESULT | CT_F_INSTANT, 0, START, START,
		      state.head.op_base + records, 0, 0xffff }, &clock, sizeof(clock));
}

static void close_state(void)
{
	if (!host_only)
		close_writer(&state);
}

static void write_gpu(uint32_t pid, uint64_t lost)
{
	struct writer w;
	char name[32];

	qsort(gpu, gpu_count, sizeof(*gpu), by_end);
	snprintf(name, sizeof(name), "g-%u-1", pid);
	if (!host_only)
		open_writer(&w, name, CT_STREAM_GPU, 4096);
	for (unsigned int i = 0; i < gpu_count && !host_only; i++) {
		w.head.pid = pid;
		w.head.lost = lost;
		thread_record(&w, (struct spec){ gpu[i].class, 0, CT_F_NO_RESULT, 0, gpu[i].begin, gpu[i].end,
			      w.head.op_base + i, 0, 0xffff }, gpu[i].fields, gpu[i].len);
	}
	if (!host_only)
		close_writer(&w);
	gpu_count = 0;
}

/* All of a process that ended well. */
static void finish_gpu(uint32_t pid, uint64_t end)
{
	open_state(pid);
	say(end, CT_GPU_COMPLETE, "the process ends");
	close_state();
	write_gpu(pid, 0);
}

/* -------------------------------------------------------------------- calls --- */

static struct writer u;		/* of the thread that calls */
static uint64_t op;		/* of its last call */
static uint32_t thread, submitted;	/* submitted: calls that gave work */

static void thread_head(const char *name, uint32_t pid, uint32_t tid)
{
	open_writer(&u, name, CT_STREAM_THREAD, 4096);
	u.head.pid = pid;
	u.head.tid = thread = tid;
	u.head.op_base = op = 1ull << 32;
	submitted = 0;
}

static void call(unsigned int class, uint64_t begin, uint64_t end, const void *fields, uint32_t len)
{
	op++;
	submitted += class == LAUNCH || class == COPY || class == SET || class == GRAPH;
	thread_record(&u, (struct spec){ class, 0, 0, 0, begin, end, op, thread, 1 }, fields, len);
}

#define CALL(class, begin, end, fields)	call(class, begin, end, &(fields), sizeof(fields))

static void startup(uint64_t begin)
{
	struct ct_context context = { .context = 1 };
	struct ct_init init = { 0 };

	CALL(INIT, begin, begin + 1000, init);
	CALL(CONTEXT, begin + 1000, begin + 9000, context);
}

static void launch(uint32_t kernel, uint64_t begin, uint64_t end, uint64_t stream)
{
	struct ct_launch l = { .kernel = kernel, .shared = 1024, .grid_x = 4, .grid_y = 2, .grid_z = 1,
			       .block_x = 128, .block_y = 1, .block_z = 1, .stream = stream };

	launches++;
	CALL(LAUNCH, begin, end, l);
}

/* The kernel of the last call. */
static void kernel_on(uint32_t device, uint32_t stream, uint32_t kernel, uint64_t begin, uint64_t end)
{
	struct ct_gpu_kernel k = {
		.kernel = kernel, .context_id = 1 + device, .stream_id = stream, .correlation = submitted,
		.grid_x = 4, .grid_y = 2, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1,
		.shared = 1024, .shared_static = 2048, .gpu = device, .registers = 40,
		.graph = graph_id, .graph_node = graph_id * kernel,
	};

	ran(CT_CLASS_gpu_kernel, begin, end, &k, sizeof(k));
}

static void synchronise(uint64_t begin, uint64_t end)
{
	struct ct_handle stream = { 7 };

	CALL(SYNC, begin, end, stream);
}

/*
 * In us, from the begin of step i, which is 100 + 2,000 * i: a launch (0..5) whose kernel runs
 * at 8..1008, a launch (6..11) whose kernel runs at 1010..1110, a synchronisation (12..1114) and
 * an allocation with an ioctl in it (1200..1300, 1220..1260).  The GPU is idle
 *	1008..1010	between two kernels that were queued
 *	1110..2008	4 in the synchronisation, 86 + 700 in the application, 60 in the allocation,
 *			40 in the driver, 5 launching, 3 until the kernel began
 */
static void idle(void)
{
	struct ct_ioctl ioctl = { .cmd = 0xc020462a, .device = CT_DEV_NVIDIACTL };
	struct ct_alloc alloc = { 4096, 0x7f0000000000 };
	struct writer k;

	thread_head("u-4242-1", PID, PID);
	open_writer(&k, "k-0", CT_STREAM_CPU, 4096);
	startup(US(1));
	for (unsigned int i = 0; i < 10; i++) {
		uint64_t t = US(100 + 2000 * i);

		launch(1, t, t + 5000, 7);
		kernel_on(0, 7, 1, t + 8000, t + 1008000);
		launch(2, t + 6000, t + 11000, 7);
		kernel_on(0, 7, 2, t + 1010000, t + 1110000);
		synchronise(t + 12000, t + 1114000);
		cpu_record(&k, (struct spec){ K_IOCTL, 0, 0, 0, t + 1220000, t + 1260000, 100 + i, PID, 0 },
			   &ioctl, sizeof(ioctl));
		CALL(ALLOC, t + 1200000, t + 1300000, alloc);
	}
	close_writer(&k);
	close_writer(&u);
	finish_gpu(PID, u.last);
}

/*
 * In us: kernels at 10..30 (stream 7), 20..50 (stream 8) and 25..28 (stream 9), a copy at 45..60
 * (stream 8), then nothing until a set at 80..90: busy 60 of 80, 78 added up.
 */
static void overlap(void)
{
	struct ct_copy copy = { 1 << 20, 0x7f0000000000, 0x1000, 8, CT_DIR_H2D, 1 };
	struct ct_set set = { 4096, 0x7f0000000000, 7, 0, 1 };
	struct ct_gpu_copy ran_copy = {
		.size = 1 << 20, .context_id = 1, .stream_id = 8, .correlation = 4, .direction = CT_DIR_H2D,
		.src_kind = CT_MEMKIND_PINNED, .dst_kind = CT_MEMKIND_DEVICE, .async = 1,
	};
	struct ct_gpu_set ran_set = {
		.size = 4096, .context_id = 1, .stream_id = 7, .correlation = 5, .dst_kind = CT_MEMKIND_DEVICE,
	};

	thread_head("u-4242-1", PID, PID);
	launch(1, US(1), US(2), 7);
	kernel_on(0, 7, 1, US(10), US(30));
	launch(2, US(2), US(3), 8);
	kernel_on(0, 8, 2, US(20), US(50));
	launch(3, US(3), US(4), 9);
	kernel_on(0, 9, 3, US(25), US(28));
	CALL(COPY, US(4), US(5), copy);
	ran(CT_CLASS_gpu_copy, US(45), US(60), &ran_copy, sizeof(ran_copy));
	CALL(SET, US(70), US(72), set);
	ran(CT_CLASS_gpu_set, US(80), US(90), &ran_set, sizeof(ran_set));
	close_writer(&u);
	finish_gpu(PID, u.last);
}

/* In us: device 0 works at 10..20 and 40..50, device 1 at 15..45. */
static void devices(void)
{
	thread_head("u-4242-1", PID, PID);
	launch(1, US(1), US(2), 7);
	kernel_on(0, 7, 1, US(10), US(20));
	launch(1, US(3), US(4), 8);
	kernel_on(1, 8, 1, US(15), US(45));
	launch(2, US(30), US(31), 7);
	kernel_on(0, 7, 2, US(40), US(50));
	synchronise(US(32), US(51));
	close_writer(&u);
	finish_gpu(PID, u.last);
}

/*
 * A graph of two kernels of 10 us, 1 us apart, is made, and launched every 100 us, 20 times; or one that
 * takes 90 us.  Making it gives the GPU nothing to do.
 */
static void graphs(bool nodes, bool full)
{
	uint64_t more = full ? 69000 : 0;

	struct ct_graph graph = { 0x77, 7 };

	graph_id = 5;
	thread_head("u-4242-1", PID, PID);
	startup(US(1));
	call(MAKE_GRAPH, US(60), US(64), NULL, 0);
	for (unsigned int i = 0; i < 20; i++) {
		uint64_t t = US(100 + 100 * i);
		struct ct_gpu_graph ran_graph = { .graph = 5, .context_id = 1, .stream_id = 7, .correlation = i + 1 };

		CALL(GRAPH, t, t + 6000, graph);
		launches++;
		if (nodes) {
			kernel_on(0, 7, 1, t + 9000, t + 19000);
			kernel_on(0, 7, 2, t + 20000, t + 30000);
		} else {
			ran(CT_CLASS_gpu_graph, t + 9000, t + 30000 + more, &ran_graph, sizeof(ran_graph));
		}
		synchronise(t + 7000, t + (full ? 100000 : 33000));
	}
	close_writer(&u);
	finish_gpu(PID, u.last);
}

/* Of five kernels one names no call and one a call that is not there; three records were lost. */
static void unjoined(void)
{
	uint32_t right;

	thread_head("u-4242-1", PID, PID);
	for (unsigned int i = 0; i < 5; i++) {
		launch(1 + i % 2, US(10 * i), US(10 * i + 2), 7);
		right = submitted;
		submitted = i == 1 ? 0 : i == 3 ? 999 : submitted;
		kernel_on(0, 7, i == 3 ? 3 : 1 + i % 2, US(10 * i + 5), US(10 * i + 9));
		submitted = right;
	}
	synchronise(US(60), US(100));
	close_writer(&u);
	open_state(PID);
	close_state();
	write_gpu(PID, 3);
}

/* The second process launches as well, and has no records of the GPU. */
static void two(void)
{
	thread_head("u-4242-1", PID, PID);
	for (unsigned int i = 0; i < 5; i++) {
		launch(1, US(10 * i), US(10 * i + 2), 7);
		kernel_on(0, 7, 1, US(10 * i + 5), US(10 * i + 9));
	}
	close_writer(&u);
	finish_gpu(PID, u.last);
	thread_head("u-5000-1", 5000, 5000);
	for (unsigned int i = 0; i < 5; i++)
		launch(2, US(10 * i + 3), US(10 * i + 4), 7);
	close_writer(&u);
}

/* Kernels of 4 us every 10 us; records until 100 us of 200. */
static void stopped(void)
{
	thread_head("u-4242-1", PID, PID);
	for (unsigned int i = 0; i < 20; i++) {
		launch(1, US(10 * i), US(10 * i + 2), 7);
		if (i < 10)
			kernel_on(0, 7, 1, US(10 * i + 5), US(10 * i + 9));
	}
	close_writer(&u);
	open_state(PID);
	say(US(100), CT_GPU_STOPPED, "torch.profiler collects the GPU's activity from now on");
	close_state();
	write_gpu(PID, 0);
}

static void refused(void)
{
	thread_head("u-4242-1", PID, PID);
	for (unsigned int i = 0; i < 5; i++)
		launch(1, US(10 * i), US(10 * i + 2), 7);
	close_writer(&u);
	if (host_only)
		return;
	open_writer(&state, "g-4242-0", CT_STREAM_GPU, 4096);
	state.head.pid = PID;
	say(START, CT_GPU_REFUSED, "no libcupti was found");
	close_writer(&state);
}

/* 50 steps of 12 kernels of 10 us without a gap; the host launches in 30 us and waits for the rest. */
static void busy(void)
{
	uint64_t end = US(120);

	thread_head("u-4242-1", PID, PID);
	startup(US(1));
	for (unsigned int i = 0; i < 50; i++) {
		uint64_t t = US(100 + 120 * i);

		for (unsigned int k = 0; k < 12; k++) {
			launch(1 + k % 3, t + 2000 * k, t + 2000 * k + 1000, 7);
			kernel_on(0, 7, 1 + k % 3, end, end + 10000);
			end += 10000;
		}
		synchronise(t + 30000, t + 119000);
	}
	close_writer(&u);
	finish_gpu(PID, u.last);
}

/* 50 steps of 12 launches in 24 us; a kernel of 5 us begins every 8 us.  The host waits at the end only. */
static void ahead(void)
{
	uint64_t begin = US(110);

	thread_head("u-4242-1", PID, PID);
	startup(US(1));
	for (unsigned int i = 0; i < 600; i++, begin += 8000) {
		launch(1 + i % 12, US(100 + 2 * i), US(101 + 2 * i), 7);
		kernel_on(0, 7, 1 + i % 12, begin, begin + 5000);
	}
	synchronise(US(1301), begin);
	close_writer(&u);
	finish_gpu(PID, u.last);
}

/*
 * In us: a kernel until 110 and a synchronisation until 112, @count launches of 1 us from 120 on, every 2 us, and the kernel of
 * the first of them 20 us after the last.  The GPU is idle: 2 in the synchronisation, 8 in the application, 1 launching, else
 * until the kernel begins.
 */
static void late(unsigned int count)
{
	uint64_t begin = US(140 + 2 * count);

	thread_head("u-4242-1", PID, PID);
	startup(US(1));
	launch(1, US(100), US(101), 7);
	kernel_on(0, 7, 1, US(103), US(110));
	synchronise(US(105), US(112));
	for (unsigned int i = 0; i < count; i++) {
		launch(1, US(120 + 2 * i), US(121 + 2 * i), 7);
		kernel_on(0, 7, 1, begin + 1000 * i, begin + 1000 * (i + 1));
	}
	synchronise(US(122 + 2 * count), begin + 1000 * count + 1000);
	close_writer(&u);
	finish_gpu(PID, u.last);
}

static void strangers(void)
{
	thread_head("u-4242-1", PID, PID);
	startup(US(1));
	for (unsigned int i = 0; i < 60000; i++)
		launch(1, US(100 + i), US(100 + i) + 500, 7);
	for (unsigned int i = 0; i < 60000; i++)
		kernel_on(0, 7, 2, US(70000 + i), US(70000 + i) + 500);
	close_writer(&u);
	finish_gpu(PID, US(140000));
}

/*
 * In us: a launch (10..12) whose kernel runs at 13..20, calls that make graphs and destroy one (30..34), the
 * begin of another program in the process (40), and its launch (50..52) and kernel (53..60).
 */
static void made(void)
{
	thread_head("u-4242-1", PID, PID);
	startup(US(0));
	launch(1, US(10), US(12), 7);
	kernel_on(0, 7, 1, US(13), US(20));
	for (unsigned int i = 0; i < 4; i++)
		call(MAKE_GRAPH + i, US(30 + i), US(31 + i), NULL, 0);
	launch(1, US(50), US(52), 7);
	kernel_on(0, 7, 1, US(53), US(60));
	close_writer(&u);
	open_state(PID);
	say(US(40), CT_GPU_STARTED, "libcupti 13.0");
	say(US(70), CT_GPU_COMPLETE, "the process ends");
	close_state();
	write_gpu(PID, 0);
}

/*
 * In us: launches 30 apart, of kernels 1, 2 and 3 in turns, the kernel 3 behind each: those from 10 on run before CUPTI
 * begins and have no record.  It begins at 100 and says at 190 that it has: from 130 on each kernel has its record.  That of 160
 * begins when all has begun.  Numbers are those of the process, which has made 100 launches before.
 */
static void attached(void)
{
	struct ct_gpu_clock clock = { 180, CT_GPU_CLOCK_CALLBACK, 0 };

	thread_head("u-4242-1", PID, PID);
	startup(US(0));
	submitted = 100;
	for (unsigned int i = 0; i < 12; i++) {
		uint64_t t = US(10 + 30 * i), begin = i == 5 ? US(195) : t + 3000;

		launch(1 + i % 3, t, t + 2000, 7);
		if (i >= 4)
			kernel_on(0, 7, 1 + i % 3, begin, begin + 5000);
	}
	close_writer(&u);
	open_writer(&state, "g-4242-0", CT_STREAM_GPU, 4096);
	state.head.pid = PID;
	thread_record(&state, (struct spec){ CT_CLASS_gpu_clock, 0, CT_F_NO_RESULT | CT_F_INSTANT, 0, US(100), US(100),
		      state.head.op_base + records, 0, 0xffff }, &clock, sizeof(clock));
	say(US(190), CT_GPU_STARTED, "libcupti 13.0");
	say(US(500), CT_GPU_COMPLETE, "cudatrace record --pid left the process");
	close_state();
	write_gpu(PID, 0);
}

/* 20,000 threads make a launch each, one after the other, and the GPU is idle between their kernels. */
static void crowd(void)
{
	thread_head("u-4242-1", PID, PID);
	startup(US(1));
	for (unsigned int i = 0; i < 20000; i++) {
		flush(&u);
		u.head.tid = thread = PID + 1 + i;
		launch(1, US(100 + 10 * i), US(101 + 10 * i), 7);
		kernel_on(0, 7, 1, US(102 + 10 * i), US(105 + 10 * i));
	}
	close_writer(&u);
	finish_gpu(PID, US(210000));
}

/* In each the GPU begins @begins us after the launch, and works for @works us; in @streams streams at the same time. */
static void steps(uint32_t begins, uint32_t works, unsigned int streams)
{
	thread_head("u-4242-1", PID, PID);
	startup(US(1));
	for (unsigned int i = 0; i < 50; i++) {
		uint64_t t = US(100 + 1000 * i), begin = t + begins * 1000, end = begin + works * 1000;

		for (unsigned int k = 0; k < streams; k++) {
			launch(1, t + 5000 / streams * k, t + 5000 / streams * (k + 1), 7 + k);
			kernel_on(0, 7 + k, 1, begin + 100 * k, end);
		}
		synchronise(t + 6000, end + 4000);
	}
	close_writer(&u);
	finish_gpu(PID, u.last);
}

static void kernels_of(unsigned int count)
{
	thread_head("u-4242-1", PID, PID);
	startup(US(1));
	for (unsigned int i = 0; i < count; i++) {
		uint64_t t = US(100 + 20 * i);

		launch(10 + i, t, t + 2000, 7);
		kernel_on(0, 7, 10 + i, t + 4000, t + 16000);
		synchronise(t + 6000, t + 18000);
	}
	close_writer(&u);
	finish_gpu(PID, u.last);
}

/* A range begins, or ends where it has no text. */
static void range(uint64_t t, const char *text)
{
	uint32_t uid = 0;
	uint8_t buf[64];

	op++;
	thread_record(&u, (struct spec){ text ? CT_CLASS_range_push : CT_CLASS_range_pop, 0, CT_F_NO_RESULT | CT_F_INSTANT, 0,
		      t, t, op, thread, 1 }, buf, text ? with_text(buf, &uid, sizeof(uid), text) : 0);
}

/* 50 steps of two ranges each, whose kernels run when the ranges are over. */
static void ranges(void)
{
	thread_head("u-4242-0", PID, PID);
	startup(US(10));
	for (unsigned int i = 0; i < 50; i++) {
		uint64_t t = US(100 + 1000 * i);

		range(t, "step");
		range(t + 1000, "forward");
		launch(1, t + 2000, t + 4000, 7);
		kernel_on(0, 7, 1, t + 10000, t + 30000);
		range(t + 5000, NULL);
		range(t + 6000, "backward");
		launch(2, t + 7000, t + 8000, 7);
		kernel_on(0, 7, 2, t + 30000, t + 40000);
		launch(2, t + 8500, t + 9500, 7);
		kernel_on(0, 7, 2, t + 45000, t + 60000);
		range(t + 10000, NULL);
		range(t + 11000, NULL);
		launch(3, t + 12000, t + 13000, 7);
		kernel_on(0, 7, 3, t + 60000, t + 61000);
		synchronise(t + 14000, t + 62000);
	}
	close_writer(&u);
	finish_gpu(PID, u.last);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: make_gpu idle|overlap|devices|graphs|nodes|full|unjoined|stopped|refused|two|busy|ahead|strangers|made|attached|crowd|ranges NEWDIR [host]\n");
		return 64;
	}
	dir = argv[2];
	host_only = argc > 3;
	if (mkdir(dir, 0777))
		die(dir);
	registry();
	if (!strcmp(argv[1], "idle"))
		idle();
	else if (!strcmp(argv[1], "overlap"))
		overlap();
	else if (!strcmp(argv[1], "devices"))
		devices();
	else if (!strcmp(argv[1], "graphs") || !strcmp(argv[1], "nodes") || !strcmp(argv[1], "full"))
		graphs(*argv[1] == 'n', *argv[1] == 'f');
	else if (!strcmp(argv[1], "unjoined"))
		unjoined();
	else if (!strcmp(argv[1], "stopped"))
		stopped();
	else if (!strcmp(argv[1], "refused"))
		refused();
	else if (!strcmp(argv[1], "two"))
		two();
	else if (!strncmp(argv[1], "step=", 5))
		steps(8, 1000 - atoi(argv[1] + 5), 1);
	else if (!strncmp(argv[1], "begins=", 7))
		steps(atoi(argv[1] + 7), 990 - atoi(argv[1] + 7), 1);
	else if (!strncmp(argv[1], "beside=", 7))
		steps(8, 980, atoi(argv[1] + 7));
	else if (!strncmp(argv[1], "late=", 5))
		late(atoi(argv[1] + 5));
	else if (!strncmp(argv[1], "kernels=", 8))
		kernels_of(atoi(argv[1] + 8));
	else if (!strcmp(argv[1], "busy"))
		busy();
	else if (!strcmp(argv[1], "ahead"))
		ahead();
	else if (!strcmp(argv[1], "strangers"))
		strangers();
	else if (!strcmp(argv[1], "made"))
		made();
	else if (!strcmp(argv[1], "attached"))
		attached();
	else if (!strcmp(argv[1], "crowd"))
		crowd();
	else if (!strcmp(argv[1], "ranges"))
		ranges();
	else
		return 64;
	printf("{\"records\":%llu,\"launches\":%llu,\"kernels\":%llu}\n", (unsigned long long)records,
	       (unsigned long long)launches, (unsigned long long)kernels);
	return 0;
}
