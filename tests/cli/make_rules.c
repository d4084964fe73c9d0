// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes traces of programs for the tests of cudatrace explain:
 *
 *	make_rules NEWDIR [KEY=NUMBER]...
 *
 * The program initialises, makes a context and then does the same again and again: it launches
 * kernels and waits for them.  Without keys the GPU limits it and no rule finds anything.  A key
 * adds a problem, as large as its number says; times are in ns.  See the table of keys.
 */
#include <stdbool.h>
#include <sys/stat.h>

#include "writer.h"

#define KEYS(X)								\
	X(iterations, 40)	/* repetitions */			\
	X(launches, 4)		/* kernels in each */			\
	X(launch, 1000)		/* each launch takes */			\
	X(gap, 0)		/* the application after each launch */	\
	X(other, 0)		/* each launches other kernels: no pattern; 2: none as another */ \
	X(sync, 1)		/* synchronisations in each */		\
	X(wait, 1000000)	/* each takes */			\
	X(after, 0)		/* the application after them */	\
	X(pause, 0)		/* and after each tenth iteration */	\
	X(copies, 0)		/* to the GPU in each */		\
	X(copy, 1000)		/* each takes */			\
	X(size, 1 << 20)	/* bytes of each */			\
	X(async, 1)		/* by cuMemcpyHtoDAsync */		\
	X(pinned, 1)		/* its source is pinned */		\
	X(ranges, 0)		/* more ranges that are pinned before */ \
	X(allocs, 0)		/* allocations, with a free, in each */	\
	X(alloc, 1000)		/* each of these calls takes */		\
	X(every, 1)		/* allocations and loading only in each so manyth one */ \
	X(refused, 0)		/* iterations in which allocations fail */ \
	X(leak, 0)		/* bytes that each keeps */		\
	X(leaking, 1000000)	/* iterations that keep them */		\
	X(halves, 0)		/* after so many iterations, one that keeps them keeps half as much */ \
	X(load, 0)		/* cuModuleLoadData takes, in it a nested one of half that */ \
	X(getters, 0)		/* getters in each */			\
	X(getter, 100)		/* ns from one to the next */		\
	X(timed, 0)		/* with durations */			\
	X(last, 0)		/* result of an allocation after all of them */ \
	X(lastly, 0)		/* and another launch, or 2: a synchronisation, or 3: a copy back */ \
	X(errors, 0)		/* iterations in which cuEventQuery fails with 719 */ \
	X(notready, 0)		/* and with 600, which is no failure */	\
	X(polls, 0)		/* calls of cuEventQuery in each, which it makes 50 us apart */ \
	X(polled, 600)		/* their result; of the last one 0 */	\
	X(ioctls, 0)		/* ioctls in each */			\
	X(ioctl, 1000)		/* each takes */			\
	X(failing, 0)		/* iterations in which one fails */	\
	X(kinds, 1)		/* different ones */			\
	X(inside, 0)		/* in each the driver allocates, frees and waits for a fence: each takes */ \
	X(off, 0)		/* the thread is off the CPU in each */	\
	X(offsync, 0)		/* the same while it synchronises */	\
	X(offafter, 0)		/* and in the application behind them */ \
	X(who, 0)		/* thread that ran instead, 0: none */	\
	X(whos, 1)		/* so many threads in turn, from that one on */ \
	X(kernel, 0)		/* the module records, though no switches */ \
	X(starter, 0)		/* another thread calls cuInit and makes the context, and no more */ \
	X(threads, 1)		/* 2: another one launches in each second iteration */ \
	X(copier, 0)		/* that one only copies */		\
	X(syncer, 0)		/* it also waits for the GPU so long */	\
	X(sampled, 0)		/* state + 1 of the first thread in samples after its synchronisations, 10 us apart; 0: none */ \
	X(lines, 0)		/* these have a line: another one after each so many % of the time */ \
	X(holder, 0)		/* the thread that holds Python's lock, where sampled says that it waits for it */ \
	X(holds, 1)		/* what that one does, enum ct_sample_state */ \
	X(apart, 1)		/* so much later than the first one */	\
	X(slow, 0)		/* then each launch takes so much longer */ \
	X(crowd, 0)		/* threads of another process that are in a launch all the time */ \
	X(processes, 1)		/* that do all this */			\
	X(shift, 0)		/* each begins so much later */		\
	X(beside, 0)		/* waits take so much longer beside another process */ \
	X(devices, 1)		/* that they use in turn */		\
	X(before, 1000)		/* the application before the first call */ \
	X(init, 1000)		/* cuInit takes */			\
	X(context, 1000)	/* cuCtxCreate takes */			\
	X(module, 0)		/* cuModuleLoadData takes, in the startup */ \
	X(join, 0)		/* ncclCommInitRank takes, in the startup */ \
	X(warm, 200000000)	/* the application in the startup, after the context */ \
	X(simulated, 0)		/* GPU */				\
	X(lost, 0)		/* records */				\
	X(longnames, 0)		/* of the process, the command and a function: so many bytes */

#define KEY_VARIABLE(name, number)	static uint64_t name = number;
KEYS(KEY_VARIABLE)
#undef KEY_VARIABLE

enum {
	INIT = CT_CLASS_DYNAMIC, CONTEXT, ALLOC, FREE, PIN, COPY, COPY_ASYNC, COPY_BACK, LAUNCH, SYNC, LOAD, QUERY,
	EVENT, K_SWITCH, LIBRARY, K_ALLOC, K_FREE, K_FENCE,
	JOIN,
};

#define LINES	1000	/* the first number of the strings of lines */

static const char *long_name(void)
{
	static char name[1 << 15];

	memset(name, 'x', longnames < sizeof(name) ? longnames : sizeof(name) - 1);
	return name;
}

static void registry(void)
{
	FILE *f = create_registry();

#define CLASS(id, words, layout, names)	registry_class(f, id, words, CT_LAYOUT_SPEC(layout), names)
	CLASS(INIT, "user init -", init, "cuInit cuInit");
	CLASS(CONTEXT, "user context create", context, "cuCtxCreate cuCtxCreate_v4");
	CLASS(FREE, "user memory free", free, "cuMemFree cuMemFree_v2");
	CLASS(PIN, "user memory alloc", alloc, "cuMemHostAlloc cuMemHostAlloc");
	CLASS(COPY, "user transfer copy", copy, "cuMemcpyHtoD cuMemcpyHtoD_v2");
	CLASS(COPY_BACK, "user transfer copy", copy, "cuMemcpyDtoH cuMemcpyDtoH_v2");
	CLASS(COPY_ASYNC, "user transfer copy", copy, "cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2");
	CLASS(LAUNCH, "user kernel launch", launch, "cuLaunchKernel cuLaunchKernel");
	CLASS(SYNC, "user sync wait", handle, "cuStreamSynchronize cuStreamSynchronize");
	CLASS(LOAD, "user module load", module, "cuModuleLoadData cuModuleLoadData");
	CLASS(LIBRARY, "user module load", module, "cuLibraryLoadData cuLibraryLoadData");
	CLASS(JOIN, "user collective -", communicator, "ncclCommInitRank ncclCommInitRank");
	CLASS(QUERY, "user query -", none, "cuCtxGetCurrent cuCtxGetCurrent");
	CLASS(EVENT, "user event -", handle, "cuEventQuery cuEventQuery");
	if (off || offsync || offafter)
		CLASS(K_SWITCH, "kernel switch -", k_switch, "sched_switch sched_switch");
	CLASS(K_ALLOC, "kernel memory alloc", alloc, "os_alloc_mem os_alloc_mem");
	CLASS(K_FREE, "kernel memory free", free, "os_free_mem os_free_mem");
	CLASS(K_FENCE, "kernel sync wait", handle, "dma_fence_wait dma_fence_wait");
	for (int i = 1; i <= 4; i++)
		fprintf(f, "string %d _Z5part%dPfS_\n", i, i);
	for (uint64_t k = 0; lines && k * lines < 100; k++)
		fprintf(f, "string %u python%%09part%d%%09/home/program.py\nstring %u 0%%20%u%%20%d\n", LINES + 100 + (unsigned int)k, (int)k,
			LINES + (unsigned int)k, LINES + 100 + (unsigned int)k, 10 + (int)k);
	fprintf(f, "class %u user memory alloc %s cuMemAlloc%s cuMemAlloc_v2\n", ALLOC, CT_LAYOUT_SPEC(alloc), long_name());
	fprintf(f, "info command program%s\n%s%s", long_name(), simulated ? "info gpu simulated\n" : "", sampled ? "info stacks python\ninfo samples 100000\n" : "");
	fclose(f);
}

/* A thread at work: its stream and its clock. */
struct thread {
	struct writer w;
	uint64_t t, op;
	uint32_t pid, tid;
};

static struct writer sched, samples;

static void call(struct thread *h, int class, int depth, uint64_t ns, int64_t result, const void *fields,
		 uint32_t len)
{
	thread_record(&h->w, (struct spec){ class, depth, 0, result, h->t, h->t + ns,
		      h->w.head.op_base + h->op++, h->tid, 0 }, fields, len);
	h->t += ns;
}

/* The thread is off the CPU from now on; its own clock is not changed. */
static void switched(struct thread *h, uint64_t ns)
{
	static uint64_t times;
	uint32_t other = who + times++ % whos;
	struct ct_k_switch s = { .state = 1, .other = other, .waker = other, .runnable_ns = ns / 4 };

	cpu_record(&sched, (struct spec){ K_SWITCH, 0, CT_F_NO_RESULT, 0, h->t, h->t + ns, h->t, h->tid, 0 },
		   &s, sizeof(s));
}

/* What the driver does in an ioctl, as the module records it. */
static void inside_of(struct thread *h)
{
	struct ct_alloc a = { 64, 0xffff888000001000 };
	struct ct_free f = { a.ptr };
	struct ct_handle fence = { 5 };

	for (int k = 0; k < 3; k++) {
		uint64_t begin = h->t + 1 + k * (inside + 1);
		const void *fields[] = { &a, &f, &fence };
		uint32_t sizes[] = { sizeof(a), sizeof(f), sizeof(fence) };

		cpu_record(&sched, (struct spec){ K_ALLOC + k, 0, CT_F_NO_RESULT, 0, begin, begin + inside, begin,
			   h->tid, 0 }, fields[k], sizes[k]);
	}
}

static void ioctls_of(struct thread *h, uint64_t i)
{
	for (uint64_t k = 0; k < ioctls; k++) {
		struct ct_ioctl io = {
			.cmd = 0xc020462a, .device = CT_DEV_NVIDIACTL,
			.have = CT_IOCTL_CLIENT | CT_IOCTL_OBJECT | CT_IOCTL_CONTROL | CT_IOCTL_STATUS,
			.client = 0xc1d0001a, .object = 0xc1d0001a,
			.code = kinds > 1 ? 0x1000000 + (i * ioctls + k) % kinds : 0x101,
			.status = i < failing && !k ? 0x57 : 0,
		};

		if (inside)
			inside_of(h);
		thread_record(&h->w, (struct spec){ CT_CLASS_ioctl, 0, CT_F_NO_RESULT, 0, h->t, h->t + ioctl,
			      h->w.head.op_base + h->op++, h->tid, 0 }, &io, sizeof(io));
		h->t += ioctl;
	}
}

static void getters_of(struct thread *h)
{
	for (uint64_t k = 0; k < getters; k++, h->t += getter)
		thread_record(&h->w, (struct spec){ QUERY, 0, timed ? 0 : CT_F_INSTANT, 0, h->t,
			      h->t + (timed ? getter : 0), h->w.head.op_base + h->op++, h->tid, 0 }, NULL, 0);
}

static void memory_of(struct thread *h, uint64_t i)
{
	struct ct_alloc a = { 4096, 0x7f0000000000 };
	struct ct_free f = { a.ptr };
	struct ct_module m = { 1, 0, 0 };

	for (uint64_t k = 0; k < allocs && i % every == 0; k++) {
		call(h, ALLOC, 0, alloc, i < refused ? 2 : 0, &a, sizeof(a));
		if (i >= refused)
			call(h, FREE, 0, alloc, 0, &f, sizeof(f));
	}
	if (load && i % every == 0) {
		uint64_t t = h->t;

		h->t += load / 4;
		call(h, LOAD, 1, load / 2, 0, &m, sizeof(m));
		h->t = t;
		call(h, LIBRARY, 0, load, 0, &m, sizeof(m));
	}
	if (leak && i < leaking) {
		a = (struct ct_alloc){ halves ? leak >> i / halves : leak, 0x7f1000000000 + i * leak };
		call(h, ALLOC, 0, 1, 0, &a, sizeof(a));
	}
}

static void launches_of(struct thread *h, uint64_t i, uint64_t more, int memory)
{
	for (uint64_t k = 0; k < launches; k++) {
		if (memory && k == launches / 2)
			memory_of(h, i);
		struct ct_launch l = {
			.kernel = 1 + k % 4, .grid_x = other > 1 ? i + 1 : other ? i * i % 97 + k * i % 89 : k + 1, .grid_y = 1,
			.grid_z = 1, .block_x = other ? 1 + i % 101 : 128, .block_y = 1, .block_z = 1,
		};

		call(h, LAUNCH, 0, launch + more, 0, &l, sizeof(l));
		h->t += gap;
	}
}

static void iteration(struct thread *h, uint64_t i, uint64_t longer)
{
	struct ct_copy copy_fields = { size, 0x7f0000000000, pinned ? 0x10000000 : 0x9000, 0, CT_DIR_H2D, async };
	struct ct_handle handle = { 1 };

	for (uint64_t k = 0; k < copies; k++)
		call(h, async ? COPY_ASYNC : COPY, 0, copy, 0, &copy_fields, sizeof(copy_fields));
	launches_of(h, i, 0, 1);
	getters_of(h);
	ioctls_of(h, i);
	if (i < errors)
		call(h, EVENT, 0, 500, 719, &handle, sizeof(handle));
	else if (i < notready)
		call(h, EVENT, 0, 500, 600, &handle, sizeof(handle));
	if (off) {
		switched(h, off);
		h->t += off;
	}
	for (uint64_t k = 0; k < polls; k++) {
		h->t += 50000;
		call(h, EVENT, 0, 1000, k + 1 < polls ? polled : 0, &handle, sizeof(handle));
	}
	for (uint64_t k = 0; k < sync; k++) {
		if (offsync) {
			h->t++;
			switched(h, offsync);
			h->t--;
		}
		call(h, SYNC, 0, wait + longer, 0, &handle, sizeof(handle));
	}
	if (offafter)
		switched(h, offafter);
	for (uint64_t k = 1; sampled && k * 10000 < after; k++) {
		struct ct_sample sample = { .state = sampled - 1, .stack = lines ? LINES + k * 1000000 / after / lines : 0 };
		struct ct_gil_wait gil = { .state = sampled - 1, .holder_tid = holder, .holder_state = holds };
		bool waits = sampled - 1 == CT_SAMPLE_GIL;

		cpu_record(&samples, (struct spec){ waits ? CT_CLASS_gil_wait : CT_CLASS_sample, 0, CT_F_INSTANT | CT_F_NO_RESULT, 0,
			   h->t + k * 10000, h->t + k * 10000, 0, h->tid, 0 }, waits ? (void *)&gil : &sample,
			   waits ? sizeof(gil) : sizeof(sample));
	}
	h->t += after;
	if (i % 10 == 9)
		h->t += pause;
}

static void thread_open(struct thread *h, uint32_t pid, uint32_t tid, uint64_t t)
{
	char name[64];

	*h = (struct thread){ .t = t, .pid = pid, .tid = tid };
	snprintf(name, sizeof(name), "u-%u-%u", pid, tid);
	open_writer(&h->w, name, CT_STREAM_THREAD, 16384);
	h->w.head.pid = pid;
	h->w.head.tid = tid;
	h->w.head.op_base = (uint64_t)tid << 40;
	h->w.head.lost = lost;
}

/* What another thread does while @i iterates: it launches at the same time, or copies. */
static void second_thread(struct thread *h, uint64_t t, uint64_t i)
{
	struct ct_copy c = { size, 0x7f0000000000, 0x10000000, 0, CT_DIR_H2D, 1 };

	h->t = t;
	if (copier)
		call(h, COPY_ASYNC, 0, copy, 0, &c, sizeof(c));
	else
		launches_of(h, i, slow, 0);
	if (syncer) {
		struct ct_handle handle = { 1 };

		call(h, SYNC, 0, syncer, 0, &handle, sizeof(handle));
	}
}

static uint64_t process(uint32_t pid, uint64_t t, uint64_t number)
{
	uint64_t begin = t, period = launches * (launch + gap) + sync * wait + after;
	/* When the neighbours are in their loops, as if nobody was slower. */
	uint64_t loop = before + init + context + join + module + warm, spans = iterations * period;
	struct ct_context c = { 0xabc, 0, number % devices };
	struct ct_init i = { 0 };
	struct ct_module m = { 1, 0, 0 };
	struct ct_communicator joined = { .communicator = 1, .comm = 1, .ranks = 1 };
	uint32_t parent[2] = { 1, 1000 };
	struct thread h, two, first;
	uint8_t buf[1 << 15];

	thread_open(&h, pid, pid, t);
	thread_record(&h.w, (struct spec){ CT_CLASS_process, 0, CT_F_INSTANT, 0, t, t, h.w.head.op_base + h.op++,
		      pid, 0 }, buf, with_text(buf, parent, sizeof(parent), longnames ? long_name() :
					       number ? "second" : "program"));
	h.t += before;
	if (starter)
		thread_open(&first, pid, pid + 5, h.t);
	call(starter ? &first : &h, INIT, 0, init, 0, &i, sizeof(i));
	call(starter ? &first : &h, CONTEXT, 0, context, 0, &c, sizeof(c));
	if (starter) {
		h.t = first.t;
		close_writer(&first.w);
	}
	if (join)
		call(&h, JOIN, 0, join, 0, &joined, sizeof(joined));
	if (module)
		call(&h, LOAD, 0, module, 0, &m, sizeof(m));
	for (uint64_t k = 0; k < ranges + 1; k++) {
		struct ct_alloc a = { 1 << 24, k ? 0x20000000ull + (k << 24) : 0x10000000ull };

		call(&h, PIN, 0, 1, 0, &a, sizeof(a));
	}
	h.t += warm;
	if (threads > 1)
		thread_open(&two, pid, pid + 1, h.t);
	for (uint64_t k = 0; k < iterations; k++) {
		uint64_t at = h.t - begin - loop;
		/* The process before this one ends its loop, or the one after it begins one. */
		int is = (number && at + shift < spans) || (number + 1 < processes && at > shift);

		if (threads > 1 && k % 2) {
			uint64_t t0 = h.t, own = launch;

			second_thread(&two, t0 + apart, k);
			launch += slow;
			iteration(&h, k, 0);
			launch = own;
		} else {
			iteration(&h, k, processes > 1 && is ? beside : 0);
		}
	}
	if (last)
		call(&h, ALLOC, 0, 1000, last, &(struct ct_alloc){ 4096, 0 }, sizeof(struct ct_alloc));
	if (lastly == 1)
		launches_of(&h, 0, 0, 0);
	else if (lastly == 3)
		call(&h, COPY_BACK, 0, 1000, 0, &(struct ct_copy){ 4096, 0x9000, 0x7f0000000000, 0, CT_DIR_D2H, 0 }, sizeof(struct ct_copy));
	else if (lastly)
		call(&h, SYNC, 0, 1000, 0, &(struct ct_handle){ 1 }, sizeof(struct ct_handle));
	if (threads > 1)
		close_writer(&two.w);
	close_writer(&h.w);
	return h.t;
}

/* Another process, whose threads launch once. */
static void crowded(uint64_t end)
{
	struct ct_launch l = { .kernel = 1, .grid_x = 1, .grid_y = 1, .grid_z = 1, .block_x = 1, .block_y = 1, .block_z = 1 };
	struct thread h;

	for (uint64_t i = 0; i < crowd; i++) {
		thread_open(&h, PID + 5000, PID + 5000 + i, START + 1 + i);
		call(&h, LAUNCH, 0, end - h.t, 0, &l, sizeof(l));
		close_writer(&h.w);
	}
}

static void set(const char *arg)
{
	size_t n = strcspn(arg, "=");

#define KEY_SET(name, number)						\
	if (n == strlen(#name) && !strncmp(arg, #name, n) && arg[n]) {	\
		name = strtoull(arg + n + 1, NULL, 0);			\
		return;							\
	}
	KEYS(KEY_SET)
#undef KEY_SET
	fprintf(stderr, "make_rules: no key '%s'\n", arg);
	exit(2);
}

int main(int argc, char **argv)
{
	uint64_t end = START;

	if (argc < 2 || mkdir(argv[1], 0755)) {
		fprintf(stderr, "usage: make_rules NEWDIR [KEY=NUMBER]...\n");
		return 2;
	}
	dir = argv[1];
	for (int i = 2; i < argc; i++)
		set(argv[i]);
	registry();
	if (off || offsync || offafter || kernel || inside)
		open_writer(&sched, "k-0", CT_STREAM_CPU, 8192);
	if (sampled)
		open_writer(&samples, "s-1-0", CT_STREAM_STATE, 8192);
	for (uint64_t i = 0; i < processes; i++)
		end = process(PID + 10 * i, START + i * shift, i);
	crowded(end);
	if (sampled)
		close_writer(&samples);
	if (off || offsync || offafter || kernel || inside)
		close_writer(&sched);
	return 0;
}
