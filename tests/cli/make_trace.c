// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes synthetic traces for the tests of the command line, with the structs of
 * the ABI header and nothing of the reader, so that the two can disagree.
 *
 *	make_trace basic DIR		all kinds of records, many packets
 *	make_trace open DIR		a trace that nobody finished
 *	make_trace begin DIR		begins recorded at entry, one end lost
 *	make_trace forged DIR		a thread's begins and ends with the ops of another's calls
 *	make_trace ties DIR		calls that begin and end in the same ns
 *	make_trace left DIR		a call that was left, noticed 800 us later
 *	make_trace files DIR		a call with two ioctls, one failed, as the
 *					program sees them
 *	make_trace both DIR		the same, and one of them as the kernel does
 *	make_trace bypassed DIR		the same as files, but its call is a lookup
 *	make_trace objects DIR		RM objects made, used, refused and freed,
 *					and kernel memory of which one block is kept
 *	make_trace gpu DIR		calls and records of a GPU for the same work,
 *					some that fail, a graph, ranges that don't match
 *	make_trace noends DIR		begins recorded at entry whose ends were lost,
 *					and calls after them
 *	make_trace joined DIR		launches, and records of a GPU that name them
 *	make_trace waits DIR		launches, and every way to wait for them
 *	make_trace deep DIR		5,000 ranges, each inside the one before
 *	make_trace layers DIR		one call with a part in every layer, what it
 *					queued and what happened meanwhile
 *	make_trace steps DIR		iterations, of an even program
 *	make_trace slowed DIR		the same, and copies take twice as long
 *	make_trace memory DIR		every way to hold memory; a pid runs two programs
 *	make_trace big DIR RECORDS	for the time it takes
 *
 * Prints what it wrote as one JSON object.
 */
#include <sys/stat.h>

#include "writer.h"

static uint64_t launches, allocs, ioctls, calls, lost, sched, opens;

/* --------------------------------------------------------------- registry --- */

enum {
	INIT = CT_CLASS_DYNAMIC, ALLOC, COPY, LAUNCH, LAUNCH_PTSZ, SYNC, QUERY, FREE, CONTEXT,
	WEIRD, RUNTIME, K_IOCTL = CT_CLASS_DYNAMIC + 0x100, K_ALLOC, K_QUEUE, K_ISR, K_CTX, K_PAGES,
	K_PAGES_FREE, K_OPEN, K_SWITCH, TABLE,
	K_EXECUTE,
};

static void registry(void)
{
	FILE *f = create_registry();

#define CLASS(id, words, layout, names)	registry_class(f, id, words, CT_LAYOUT_SPEC(layout), names)
	CLASS(INIT, "user init -", init, "cuInit cuInit");
	CLASS(TABLE, "user init lookup", none, "cuGetExportTable cuGetExportTable");
	CLASS(ALLOC, "user memory alloc", alloc, "cuMemAlloc cuMemAlloc_v2");
	CLASS(COPY, "user transfer copy", copy, "cuMemcpyHtoD cuMemcpyHtoD_v2");
	CLASS(LAUNCH, "user kernel launch", launch, "cuLaunchKernel cuLaunchKernel");
	CLASS(LAUNCH_PTSZ, "user kernel launch", launch, "cuLaunchKernel cuLaunchKernel_ptsz");
	CLASS(SYNC, "user sync wait", handle, "cuStreamSynchronize cuStreamSynchronize");
	CLASS(QUERY, "user query -", none, "cuCtxGetCurrent cuCtxGetCurrent");
	CLASS(FREE, "user memory free", free, "cuMemFree cuMemFree_v2");
	CLASS(CONTEXT, "user context create", context, "cuCtxCreate cuCtxCreate_v4");
	CLASS(WEIRD, "user userspace -", none, "cu\"we\\ird*/%C3%A9%01%FF cuWeird");
	CLASS(RUNTIME, "user runtime -", none, "cudaMalloc cudaMalloc");
	CLASS(K_IOCTL, "kernel ioctl -", ioctl, "nvidia_ioctl nvidia_unlocked_ioctl");
	CLASS(K_ALLOC, "kernel memory alloc", k_alloc, "os_alloc_mem os_alloc_mem");
	CLASS(K_QUEUE, "kernel scheduler -", k_queue, "nv_kthread_q_schedule_q_item nv_kthread_q_schedule_q_item");
	CLASS(K_ISR, "kernel interrupt -", k_irq, "nvidia_isr nvidia_isr");
	CLASS(K_PAGES, "kernel memory alloc", k_pages, "nv_alloc_pages nv_alloc_pages");
	CLASS(K_PAGES_FREE, "kernel memory free", k_pages, "nv_free_pages nv_free_pages");
	CLASS(K_SWITCH, "kernel switch -", k_switch, "sched_switch sched_switch");
	CLASS(K_OPEN, "kernel ioctl -", none, "nvidia_open nvidia_open");
	CLASS(K_EXECUTE, "kernel scheduler -", k_arg1, "os_execute_work_item os_execute_work_item");
	CLASS(K_CTX, "kernel context create", k_arg1, "nv_ctx_make nv_ctx_make");
	fprintf(f, "string 1 _Z9vectorAddPKfS0_Pfi\n");
	fprintf(f, "string 2 gemm\"quoted\\%%0A%%C3%%A9*/%%FF\n");
	fprintf(f, "string 3 \n");
	fprintf(f, "info command a%%20b%%20*/%%20\"c\"\n");
	fprintf(f, "info way files\ninfo gpu simulated\ninfo event x\n");
	fclose(f);
}

/* ----------------------------------------------------------------- traces --- */

static const struct ct_ioctl rm_control = {
	.cmd = 0xc020462a, .device = CT_DEV_NVIDIACTL,
	.have = CT_IOCTL_CLIENT | CT_IOCTL_OBJECT | CT_IOCTL_CONTROL | CT_IOCTL_STATUS,
	.client = 0xc1d0001a, .object = 0xc1d0001a, .code = 0x101, .status = 0, .arg = 0x7ffe1000,
};

/*
 * One thread in user space with its driver calls on two CPUs.  The context is
 * made around the first packets, so that its begin lies many packets before its
 * end; each copy has an ioctl inside it that moves from CPU 0 to CPU 1.
 */
static void one_thread(struct writer *u, struct writer *k0, struct writer *k1, uint32_t tid,
		       int rounds)
{
	uint64_t t = START + tid * 1000, op = 1, kop = (uint64_t)tid << 32, begin, b;
	uint64_t context_begin = t;
	struct ct_launch launch = {
		.kernel = 1, .grid_x = 128, .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1,
		.block_z = 1, .stream = 0x55,
	};
	struct ct_init init = { 0 };

	thread_record(u, (struct spec){ INIT, 0, 0, 0, t, t + 5000, op++, tid, 0 }, &init,
		      sizeof(init));
	t += 6000;
	context_begin = t;
	calls++;
	for (int i = 0; i < rounds; i++) {
		int deep = i < rounds / 2;
		struct ct_alloc alloc = { 4096000 + i, 0x7f0000000000 + i };
		struct ct_copy copy = { 4096000, 0x7f0000000000, 0x1000, 0, CT_DIR_H2D, 0 };
		struct ct_k_alloc k_alloc = { 64, 0xffff888000001000 };
		struct ct_k_queue queue = { 1, 2 };
		struct ct_handle handle = { 0x55 };

		t += 100;
		thread_record(u, (struct spec){ ALLOC, deep, 0, i % 7 == 6 ? 2 : 0, t, t + 700,
			      op++, tid, 1 }, &alloc, sizeof(alloc));
		allocs++;
		t += 800;

		begin = t;
		b = t + 50;	/* the ioctl enters on CPU 0 ... */
		cpu_record(k0, (struct spec){ K_IOCTL, 0, CT_F_BEGIN, 0, b, b, kop, tid, 0 },
			   &rm_control, sizeof(rm_control));
		cpu_record(k0, (struct spec){ K_ALLOC, 0, CT_F_NO_RESULT, 0, b + 10, b + 60,
			   kop + 1, tid, 0 }, &k_alloc, sizeof(k_alloc));
		cpu_record(k0, (struct spec){ K_QUEUE, 0, 0, 1, b + 70, b + 90, kop + 2, tid, 0 },
			   &queue, sizeof(queue));
		sched++;
		/* ... and returns on CPU 1 */
		cpu_record(k1, (struct spec){ K_IOCTL, 0, CT_F_HAS_BEGIN, 0, b, b + 900, kop, tid,
			   1 }, &rm_control, sizeof(rm_control));
		kop += 3;
		ioctls++;
		t += 1000;
		thread_record(u, (struct spec){ COPY, deep, 0, 0, begin, t, op++, tid, 1 }, &copy,
			      sizeof(copy));
		for (int k = 0; k < 3; k++) {
			launch.kernel = k % 3 + 1;
			t += 20;
			thread_record(u, (struct spec){ k == 2 ? LAUNCH_PTSZ : LAUNCH, deep, 0, 0,
				      t, t + 300 + k, op++, tid, 1 }, &launch, sizeof(launch));
			launches++;
			t += 310;
		}
		t += 5;
		thread_record(u, (struct spec){ QUERY, deep, CT_F_INSTANT, 0, t, t, op++, tid, 1 },
			      NULL, 0);
		thread_record(u, (struct spec){ SYNC, deep, 0, 0, t + 10, t + 5000, op++, tid, 1 },
			      &handle, sizeof(handle));
		t += 6000;
		calls += 7;	/* with the query */
		if (i == rounds / 2 - 1) {
			struct ct_context context = { 0xabc, 0, 0 };

			thread_record(u, (struct spec){ CONTEXT, 0, 0, 0, context_begin, t, op++,
				      tid, 1 }, &context, sizeof(context));
			calls++;
		}
	}
	thread_record(u, (struct spec){ WEIRD, 0, CT_F_ABANDONED | CT_F_NO_RESULT, 0, t + 1,
		      t + 9, op++, tid, 1 }, NULL, 0);
	calls++;
}

static void thread_head(struct writer *w, uint32_t tid)
{
	w->head.pid = PID;
	w->head.tid = tid;
	w->head.op_base = (uint64_t)tid << 40;
}

static void state(void)
{
	struct writer w;
	uint8_t buf[512];
	uint32_t process[2] = { 1, 1000 }, len;
	struct ct_clock clock = { START, 1700000000123456789, START + 5 };
	struct ct_stream_stat stat = { 100, 3, 0, 1, CT_LOST_FULL };

	open_writer(&w, "state", CT_STREAM_STATE, 4096);
	len = with_text(buf, process, sizeof(process), "python \"x\" caf\xc3\xa9");
	cpu_record(&w, (struct spec){ CT_CLASS_process, 0, CT_F_INSTANT, 0, START, START, 0,
		   PID, 0 }, buf, len);
	cpu_record(&w, (struct spec){ CT_CLASS_clock, 0, CT_F_INSTANT, 0, START + 1, START + 1, 0,
		   0, 0 }, &clock, sizeof(clock));
	cpu_record(&w, (struct spec){ CT_CLASS_stream_stat, 0, CT_F_INSTANT, 0, START + 2,
		   START + 2, 0, 0, 0 }, &stat, sizeof(stat));
	len = with_text(buf, process, sizeof(uint32_t), "step 12 */ \xc3\xa9");
	cpu_record(&w, (struct spec){ CT_CLASS_mark, 0, CT_F_INSTANT, 0, START + 3, START + 3, 0,
		   PID, 0 }, buf, len);
	close_writer(&w);
	lost += 3;
}

static void basic(void)
{
	struct writer u, k0, k1;
	struct ct_k_irq irq = { 42, 1 };
	char name[64];

	registry();
	open_writer(&k0, "k-0", CT_STREAM_CPU, 8192);
	open_writer(&k1, "k-1", CT_STREAM_CPU, 4096);
	k1.head.cpu = 1;
	for (uint32_t tid = PID; tid < PID + 3; tid++) {
		snprintf(name, sizeof(name), "u-%u-%u", PID, tid - PID + 1);
		open_writer(&u, name, CT_STREAM_THREAD, 4096);
		thread_head(&u, tid);
		if (tid == PID) {
			one_thread(&u, &k0, &k1, tid, 200);
			cpu_record(&k0, (struct spec){ K_ISR, 0, CT_F_HARDIRQ, 1, k0.last + 1,
				   k0.last + 50, 7, tid, 0 }, &irq, sizeof(irq));
			cpu_record(&k0, (struct spec){ K_CTX, 0, 0, 0, k0.last + 10,
				   k0.last + 60, 8, tid, 0 }, &irq, 8);
		} else {
			/* Others in user space only, with a loss each. */
			uint64_t t = START + tid * 10, op = (uint64_t)tid << 40;

			for (int i = 0; i < 500; i++) {
				struct ct_alloc alloc = { 10, i };

				if (i == 250) {
					u.head.lost = 5;
					lost += 5;
				}
				thread_record(&u, (struct spec){ ALLOC, 1, 0, 0, t + 10, t + 20,
					      op++, tid, 0xffff }, &alloc, sizeof(alloc));
				thread_record(&u, (struct spec){ RUNTIME, 0, 0, 0, t, t + 30, op++,
					      tid, 0xffff }, NULL, 0);
				allocs++;
				calls += 2;
				t += 1000 + tid;
			}
		}
		close_writer(&u);
	}
	close_writer(&k0);
	close_writer(&k1);
	state();
}

/* Killed inside two nested calls; a packet that was prepared; no metadata. */
static void unfinished(void)
{
	struct ct_inflight_page page = {
		.magic = CT_MAGIC, .abi = CT_ABI_VERSION, .pid = PID, .tid = PID, .depth = 3,
	};
	struct ct_alloc alloc = { 10, 1 };
	struct writer u;
	FILE *f;

	registry();
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	thread_head(&u, PID);
	for (int i = 0; i < 100; i++)
		thread_record(&u, (struct spec){ ALLOC, i == 99 ? 2 : 0, 0, 0, START + i * 100,
			      START + i * 100 + 50, u.head.op_base + i, PID, 1 }, &alloc,
			      sizeof(alloc));
	allocs += 100;
	calls += 100;
	flush(&u);
	memset(u.data, 0, u.size);
	if (fwrite(u.data, u.size, 1, u.file) != 1)
		die("fwrite");
	fclose(u.file);
	/* Another thread ended in peace, with a packet prepared and none open. */
	open_writer(&u, "u-4242-2", CT_STREAM_THREAD, 4096);
	thread_head(&u, PID + 1);
	thread_record(&u, (struct spec){ FREE, 0, 0, 0, START + 5, START + 9, u.head.op_base, 0, 1 },
		      &alloc, 8);
	calls++;
	flush(&u);
	memset(u.data, 0, u.size);
	if (fwrite(u.data, u.size, 1, u.file) != 1)
		die("fwrite");
	fclose(u.file);
	thread_head(&u, PID);
	/* The third has its record already: killed before the page was told. */
	page.entry[0] = (struct ct_inflight_call){ START + 9000, u.head.op_base + 1000, 0, CONTEXT, 0 };
	page.entry[1] = (struct ct_inflight_call){ START + 9890, u.head.op_base + 1001, 0, SYNC, 0 };
	page.entry[2] = (struct ct_inflight_call){ START + 9900, u.head.op_base + 99, 0, ALLOC, 0 };
	f = create(".open-4242-1");
	if (fwrite(&page, sizeof(page), 1, f) != 1)
		die("fwrite");
	fclose(f);
	page.tid++;
	page.depth = 0;
	f = create(".open-4242-2");
	if (fwrite(&page, sizeof(page), 1, f) != 1)
		die("fwrite");
	fclose(f);
	opens = 2;
}

static void begins(void)
{
	struct ct_handle handle = { 1 };
	struct writer k;

	registry();
	open_writer(&k, "k-3", CT_STREAM_CPU, 4096);
	k.head.cpu = 3;
	/* a call whose end never came, one that did, one whose begin was overwritten */
	cpu_record(&k, (struct spec){ SYNC, 0, CT_F_BEGIN, 0, START + 5, START + 5, 1, 10, 0 },
		   &handle, sizeof(handle));
	cpu_record(&k, (struct spec){ SYNC, 0, CT_F_BEGIN, 0, START + 6, START + 6, 2, 11, 0 },
		   &handle, sizeof(handle));
	cpu_record(&k, (struct spec){ K_QUEUE, 0, 0, 0, START + 7, START + 9, 4, 11, 0 },
		   (uint64_t[2]){ 0 }, 16);
	cpu_record(&k, (struct spec){ SYNC, 0, CT_F_HAS_BEGIN, 0, START + 6, START + 20, 2, 11, 0 },
		   &handle, sizeof(handle));
	cpu_record(&k, (struct spec){ SYNC, 0, CT_F_HAS_BEGIN, 700, START + 2, START + 30, 3, 12,
		   0 }, &handle, sizeof(handle));
	/* op 2 again, once it is over */
	cpu_record(&k, (struct spec){ SYNC, 0, CT_F_BEGIN, 0, START + 40, START + 40, 2, 13, 0 },
		   &handle, sizeof(handle));
	cpu_record(&k, (struct spec){ SYNC, 0, CT_F_HAS_BEGIN, 0, START + 40, START + 50, 2, 13, 0 },
		   &handle, sizeof(handle));
	close_writer(&k);
	opens = 1;
	calls = 3;
}

/* Thread 20 calls; thread 21 gives the ops of those calls to marks of its own, before and after. */
static void forged(void)
{
	struct ct_handle handle = { 1 };
	uint64_t t = START;
	struct writer k;

	registry();
	open_writer(&k, "k-3", CT_STREAM_CPU, 4096);
	k.head.cpu = 3;
	for (uint64_t op = 1; op <= 100; op++, t += 100) {
		cpu_record(&k, (struct spec){ SYNC, 0, CT_F_BEGIN, 0, t, t, op, 21, 0 }, &handle, sizeof(handle));
		cpu_record(&k, (struct spec){ SYNC, 0, CT_F_BEGIN, 0, t + 10, t + 10, op, 20, 0 }, &handle, sizeof(handle));
		cpu_record(&k, (struct spec){ SYNC, 0, CT_F_HAS_BEGIN, 0, t, t + 20, op, 21, 0 }, &handle, sizeof(handle));
		/* Its last call hangs. */
		if (op < 100)
			cpu_record(&k, (struct spec){ SYNC, 0, CT_F_HAS_BEGIN, 0, t + 10, t + 50, op, 20, 0 }, &handle, sizeof(handle));
	}
	close_writer(&k);
}

static void left(void)
{
	struct ct_handle handle = { 1 };
	struct ct_alloc alloc = { 10, 1 };
	struct writer u;
	uint64_t t = START;

	registry();
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	thread_head(&u, PID);
	thread_record(&u, (struct spec){ SYNC, 0, CT_F_ABANDONED | CT_F_NO_RESULT, 0, t + 1000,
		      t + 801000, u.head.op_base, PID, 1 }, &handle, sizeof(handle));
	thread_record(&u, (struct spec){ ALLOC, 0, 0, 0, t + 900000, t + 1000000,
		      u.head.op_base + 1, PID, 1 }, &alloc, sizeof(alloc));
	close_writer(&u);
	calls = 2;
	allocs = 1;
}

/*
 * At one ns: outer(100..200) inner(100..150) inner(150..200) next(200..200)
 * next(200..300), and the kernel's 100..150 and 150..200 inside the inner ones.
 */
static void ties(void)
{
	struct writer u, k;
	struct ct_handle handle = { 1 };
	uint64_t t = START;

	registry();
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	open_writer(&k, "k-0", CT_STREAM_CPU, 4096);
	thread_head(&u, PID);
#define AT(class, depth, b, e, op)					\
	thread_record(&u, (struct spec){ class, depth, 0, 0, t + (b), t + (e),	\
		      u.head.op_base + (op), PID, 0 }, &handle, 8)
	AT(SYNC, 1, 100, 150, 1);
	AT(SYNC, 1, 150, 200, 2);
	AT(INIT, 0, 100, 200, 0);
	AT(FREE, 1, 200, 200, 4);
	AT(SYNC, 0, 200, 200, 3);
	AT(SYNC, 0, 200, 300, 5);
	cpu_record(&k, (struct spec){ K_CTX, 0, 0, 0, t + 100, t + 150, 1, PID, 0 }, &handle, 8);
	cpu_record(&k, (struct spec){ K_CTX, 0, 0, 0, t + 150, t + 200, 2, PID, 0 }, &handle, 8);
	close_writer(&u);
	close_writer(&k);
	calls = 6;
}

static void files(int kernel, int call)
{
	struct ct_ioctl failed = rm_control, uvm = {
		.cmd = 0x30000001, .device = CT_DEV_UVM, .have = CT_IOCTL_STATUS,
	};
	struct ct_init init = { 0 };
	struct writer u, k;

	registry();
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	thread_head(&u, PID);
	failed.status = 0x57;
	failed.code = 0x12345678;
	thread_record(&u, (struct spec){ CT_CLASS_ioctl, 1, CT_F_NO_RESULT, 0, START + 100,
		      START + 400, u.head.op_base + 2, PID, 3 }, &failed, sizeof(failed));
	thread_record(&u, (struct spec){ CT_CLASS_ioctl, 1, CT_F_NO_RESULT, 0, START + 500,
		      START + 900, u.head.op_base + 3, PID, 3 }, &uvm, sizeof(uvm));
	thread_record(&u, (struct spec){ call, 0, 0, 0, START, START + 1000, u.head.op_base + 1,
		      PID, 3 }, &init, call == INIT ? sizeof(init) : 0);
	close_writer(&u);
	if (!kernel)
		return;
	open_writer(&k, "k-0", CT_STREAM_CPU, 4096);
	/* One function of the ioctl path inside the other is one ioctl. */
	cpu_record(&k, (struct spec){ K_IOCTL, 0, 0, 0, START + 120, START + 380, 2, PID, 0 },
		   &failed, sizeof(failed));
	cpu_record(&k, (struct spec){ K_IOCTL, 0, 0, 0, START + 110, START + 390, 1, PID, 0 },
		   &failed, sizeof(failed));
	close_writer(&k);
}

/* An RM ioctl of the program at ms milliseconds. */
static void rm(struct writer *k, int ms, uint32_t nr, uint32_t size, uint32_t object,
	       uint32_t parent, uint32_t code, uint32_t status)
{
	const uint32_t alloc = CT_IOCTL_CLASS | CT_IOCTL_PARENT, control = CT_IOCTL_CONTROL;
	struct ct_ioctl io = {
		.cmd = 0xc0004600 | size << 16 | nr, .device = CT_DEV_NVIDIACTL,
		.have = CT_IOCTL_OBJECT | CT_IOCTL_CLIENT | CT_IOCTL_STATUS |
			(nr == 0x2b ? alloc : nr == 0x2a ? control : CT_IOCTL_PARENT),
		.client = object == 0xc1d00001 && nr == 0x2b ? 0 : 0xc1d00001,
		.object = object, .parent = parent, .code = code, .status = status,
	};
	uint64_t t = START + ms * 1000000ull;

	cpu_record(k, (struct spec){ K_IOCTL, 0, 0, 0, t - 500000, t, ms, PID, 0 }, &io,
		   sizeof(io));
}

static void pages(struct writer *k, int ms, uint32_t count, uint64_t ptr, int give)
{
	struct ct_k_pages p = { .size = count * 4096ull, .count = count, .ptr = ptr };
	uint64_t t = START + ms * 1000000ull;

	cpu_record(k, (struct spec){ give ? K_PAGES_FREE : K_PAGES, 0, 0, 0, t - 1000, t,
		      100 + ms, PID, 0 }, &p, sizeof(p));
}

/* The objects of a program that launches a kernel, and one that RM refuses. */
static void objects(void)
{
	struct ct_k_switch off = { .state = 1, .other = 7, .waker = 8, .runnable_ns = 1000 };
	struct writer k;

	registry();
	open_writer(&k, "k-0", CT_STREAM_CPU, 4096);
	rm(&k, 1, 0x2b, 48, 0xc1d00001, 0, 0x41, 0);
	rm(&k, 2, 0x2b, 48, 0x5c000001, 0xc1d00001, 0x80, 0);
	rm(&k, 3, 0x2b, 48, 0x5c000002, 0x5c000001, 0x2080, 0);
	rm(&k, 4, 0x2a, 32, 0x5c000002, 0, 0x20800102, 0);
	rm(&k, 5, 0x2b, 48, 0x5c000003, 0x5c000001, 0xa06c, 0);
	rm(&k, 6, 0x2b, 48, 0x5c000004, 0x5c000003, 0xc86f, 0);
	rm(&k, 7, 0x2b, 48, 0x5c000005, 0x5c000001, 0x40, 0);
	rm(&k, 8, 0x2b, 48, 0x5c000006, 0x5c000001, 0xdead, 0x22);
	rm(&k, 9, 0x4e, 56, 0x5c000005, 0x5c000001, 0, 0);
	rm(&k, 10, 0x29, 16, 0x5c000005, 0x5c000001, 0, 0);
	/* the handle again, for something else */
	rm(&k, 11, 0x2b, 48, 0x5c000005, 0x5c000001, 0x3e, 0);
	rm(&k, 12, 0x29, 16, 0x5c000003, 0x5c000001, 0, 0);
	pages(&k, 14, 3, 0xffff800000001000, 0);
	pages(&k, 15, 5, 0xffff800000002000, 0);
	pages(&k, 16, 3, 0xffff800000001000, 1);
	/* asleep for most of the time that it is in there */
	cpu_record(&k, (struct spec){ K_SWITCH, 0, CT_F_NO_RESULT, 0, START + 16100000,
		      START + 16900000, 300, PID, 0 }, &off, sizeof(off));
	cpu_record(&k, (struct spec){ K_OPEN, 0, 0, 0, START + 13000000, START + 17000000, 200,
		      PID, 0 }, NULL, 0);
	close_writer(&k);
}

static void range(struct writer *u, int us, const char *text)
{
	uint64_t t = START + us * 1000ull;
	uint32_t uid = 1000, len;
	uint8_t buf[512];

	if (!text) {
		thread_record(u, (struct spec){ CT_CLASS_range_pop, 0, CT_F_INSTANT, 0, t, t, 0, 0, 1 },
			      NULL, 0);
		return;
	}
	len = with_text(buf, &uid, sizeof(uid), text);
	thread_record(u, (struct spec){ CT_CLASS_range_push, 0, CT_F_INSTANT, 0, t, t, 0, 0, 1 }, buf, len);
}

/*
 * Two kernels and four memory operations: their calls, and what the GPU says of them.  A launch
 * and a copy fail, a graph is launched.  Ranges: three that have both ends, an end without a
 * begin, a begin without an end; another thread's is open at the same time.
 */
static void gpu(void)
{
	enum { GRAPH = K_ALLOC + 0x100, SET, G_KERNEL, G_COPY, G_SET };
	struct ct_launch launch = {
		.kernel = 1, .shared = 2048, .grid_x = 7, .grid_y = 6, .grid_z = 5, .block_x = 4,
		.block_y = 3, .block_z = 2, .stream = 0x55,
	};
	struct ct_copy copy = { 1500000, 0x7f0000000000, 0x1000, 0x66, CT_DIR_H2D, 1 };
	struct ct_set set = { 4096, 0x7f0000000000, 0x66, 0, 1 };
	struct ct_graph graph = { 0x77, 0x55 };
	uint64_t t = START, op;
	struct writer u, v, k;
	char path[4096];
	FILE *f;

	registry();
	snprintf(path, sizeof(path), "%s/.registry", dir);
	f = fopen(path, "a");
	if (!f)
		die(path);
	CLASS(GRAPH, "user graph launch", graph, "cuGraphLaunch cuGraphLaunch");
	CLASS(SET, "user transfer set", set, "cuMemsetD8 cuMemsetD8_v2");
	CLASS(G_KERNEL, "gpu kernel launch", launch, "kernel kernel");
	CLASS(G_COPY, "gpu transfer copy", copy, "memcpy memcpy");
	CLASS(G_SET, "gpu transfer set", set, "memset memset");
	fclose(f);
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	open_writer(&v, "u-4242-2", CT_STREAM_THREAD, 4096);
	open_writer(&k, "k-0", CT_STREAM_CPU, 4096);
	thread_head(&u, PID);
	thread_head(&v, PID + 1);
	op = u.head.op_base;
#define HOST(class, result, us, ns, fields)				\
	thread_record(&u, (struct spec){ class, 0, 0, result, t + (us) * 1000, t + (us) * 1000 + (ns), \
		      op++, PID, 1 }, &fields, sizeof(fields))
#define DEVICE(class, us, ns, fields)					\
	cpu_record(&k, (struct spec){ class, 0, CT_F_NO_RESULT, 0, t + (us) * 1000,	\
		   t + (us) * 1000 + (ns), op++, 9999, 0 }, &fields, sizeof(fields))
	range(&u, 1, NULL);
	range(&u, 10, "step 1");
	range(&u, 20, "inner, \"quoted\"");
	HOST(LAUNCH, 0, 21, 4000, launch);
	range(&u, 40, NULL);
	range(&u, 50, "inner, \"quoted\"");
	HOST(LAUNCH, 1, 51, 5000, launch);
	launch.kernel = 2;
	launch.grid_x = 100;
	HOST(LAUNCH_PTSZ, 0, 60, 6001, launch);
	HOST(GRAPH, 0, 70, 7000, graph);
	range(&u, 100, NULL);
	HOST(COPY, 0, 110, 8000, copy);
	copy.size = 2500001;
	HOST(COPY, 0, 120, 9000, copy);
	HOST(COPY, 1, 130, 1000, copy);
	copy.size = 3;
	copy.direction = CT_DIR_D2H;
	HOST(COPY, 0, 140, 500, copy);
	HOST(SET, 0, 150, 700, set);
	range(&u, 200, NULL);
	range(&u, 210, "open");
	range(&v, 15, "step 1");
	range(&v, 115, NULL);

	launch.kernel = 1;
	launch.grid_x = 7;
	DEVICE(G_KERNEL, 30, 50000, launch);
	launch.kernel = 2;
	DEVICE(G_KERNEL, 81, 11000, launch);
	DEVICE(G_KERNEL, 93, 13000, launch);	/* the graph's */
	copy.size = 1500000;
	copy.direction = CT_DIR_H2D;
	DEVICE(G_COPY, 130, 21000, copy);
	copy.size = 2500001;
	DEVICE(G_COPY, 152, 23000, copy);
	copy.size = 3;
	copy.direction = CT_DIR_D2H;
	DEVICE(G_COPY, 176, 2000, copy);
	DEVICE(G_SET, 179, 1000, set);
	close_writer(&u);
	close_writer(&v);
	close_writer(&k);
}

/*
 * In us: a synchronisation begins at 10, an allocation at 28 (until 40) and an ioctl in it at 30.  The
 * ends of the first and the last were lost: the thread is seen outside them at 20 and at 40.
 */
static void noends(void)
{
	struct ct_handle handle = { 0x55 };
	struct ct_alloc alloc = { 4096, 0x7f0000000000 };
	struct ct_launch launch = { .kernel = 1, .grid_x = 1, .block_x = 32 };
	uint64_t t = START, op;
	struct writer u, k;

	registry();
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	open_writer(&k, "k-0", CT_STREAM_CPU, 4096);
	thread_head(&u, PID);
	op = u.head.op_base;
	thread_record(&u, (struct spec){ SYNC, 0, CT_F_BEGIN, 0, t + 10000, t + 10000, op, PID, 1 },
		      &handle, sizeof(handle));
	thread_record(&u, (struct spec){ LAUNCH, 0, 0, 0, t + 20000, t + 24000, op + 1, PID, 1 },
		      &launch, sizeof(launch));
	cpu_record(&k, (struct spec){ K_IOCTL, 0, CT_F_BEGIN, 0, t + 30000, t + 30000, 77, PID, 0 },
		   &rm_control, sizeof(rm_control));
	thread_record(&u, (struct spec){ ALLOC, 0, 0, 0, t + 28000, t + 40000, op + 2, PID, 1 },
		      &alloc, sizeof(alloc));
	thread_record(&u, (struct spec){ LAUNCH, 0, 0, 0, t + 50000, t + 54000, op + 3, PID, 1 },
		      &launch, sizeof(launch));
	close_writer(&u);
	close_writer(&k);
}

/*
 * In us: three launches (20..24, 25..29, 30..34), whose kernels run at 30..80 and 81..92 on one
 * stream and at 40..60 on another; a kernel of no known launch at 50..58 beside the last; a launch
 * that fails; a launch that is waited for.
 */
static void joined(void)
{
	enum { CTX_SYNC = K_ALLOC + 0x100 };
	struct ct_launch launch = { .kernel = 1, .grid_x = 7, .block_x = 32, .stream = 0x55 };
	struct ct_gpu_kernel kernel = { .kernel = 1, .grid_x = 7, .block_x = 32, .context_id = 1, .stream_id = 6 };
	uint64_t t = START;
	struct writer u, k;
	char path[4096];
	FILE *f;

	registry();
	snprintf(path, sizeof(path), "%s/.registry", dir);
	f = fopen(path, "a");
	if (!f)
		die(path);
	CLASS(CTX_SYNC, "user sync wait", none, "cuCtxSynchronize cuCtxSynchronize");
	fclose(f);
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	open_writer(&k, "g-4242-1", CT_STREAM_GPU, 4096);
	k.head.pid = PID;
	thread_head(&u, PID);
#define LAUNCHED(number, result, us)					\
	thread_record(&u, (struct spec){ LAUNCH, 0, 0, result, t + (us) * 1000, t + (us) * 1000 + 4000, \
		      u.head.op_base + (number), PID, 1 }, &launch, sizeof(launch))
#define RAN(id, us, end)						\
	(kernel.correlation = (id), thread_record(&k, (struct spec){ CT_CLASS_gpu_kernel, 0, CT_F_NO_RESULT, 0, \
		   t + (us) * 1000, t + (end) * 1000, (end), 0, 0xffff }, &kernel, sizeof(kernel)))
	LAUNCHED(1, 0, 20);
	LAUNCHED(2, 0, 25);
	launch.stream = 0x66;
	LAUNCHED(3, 0, 30);
	LAUNCHED(4, 1, 36);
	launch.stream = 0x77;
	LAUNCHED(5, 0, 100);
	thread_record(&u, (struct spec){ CTX_SYNC, 0, 0, 0, t + 110000, t + 120000, u.head.op_base + 6, PID, 1 },
		      &launch, 0);
	RAN(0, 50, 58);
	RAN(3, 40, 60);
	kernel.stream_id = 5;
	RAN(1, 30, 80);
	RAN(2, 81, 92);
	close_writer(&u);
	close_writer(&k);
}

/* Calls of 1 us, one a line; the number in front is when it begins, in us. */
static void waits(void)
{
	enum { CTX_SYNC = K_ALLOC + 0x100, CREATE, RECORD, EVENT_SYNC, CAPTURE, CAPTURED, GRAPH };
	struct ct_launch l = { .kernel = 1, .grid_x = 1, .block_x = 32 };
	struct ct_event record = { 0xe1, 0x20 };
	struct ct_stream stream = { 0x10, 0, 0 };
	struct ct_context context = { .context = 0x1 };
	struct ct_graph graph = { 0x77, 0x20 };
	struct ct_handle handle = { 0x20 };
	uint64_t op;
	struct writer u, v;
	char path[4096];
	FILE *f;

	registry();
	snprintf(path, sizeof(path), "%s/.registry", dir);
	f = fopen(path, "a");
	if (!f)
		die(path);
	CLASS(CTX_SYNC, "user sync wait", handle, "cuCtxSynchronize cuCtxSynchronize");
	CLASS(CREATE, "user stream create", stream, "cuStreamCreate cuStreamCreate");
	CLASS(RECORD, "user event record", event, "cuEventRecord cuEventRecord");
	CLASS(EVENT_SYNC, "user sync wait", handle, "cuEventSynchronize cuEventSynchronize");
	CLASS(CAPTURE, "user graph -", handle, "cuStreamBeginCapture cuStreamBeginCapture_v2");
	CLASS(CAPTURED, "user graph -", graph, "cuStreamEndCapture cuStreamEndCapture");
	CLASS(GRAPH, "user graph launch", graph, "cuGraphLaunch cuGraphLaunch");
	fclose(f);
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	open_writer(&v, "u-4242-2", CT_STREAM_THREAD, 4096);
	thread_head(&u, PID);
	thread_head(&v, PID + 1);
	op = u.head.op_base;
#define CALLED(us, until, class, result, fields)					\
	thread_record(&u, (struct spec){ class, 0, 0, result, START + (us) * 1000, START + (until) * 1000, \
		      op++, PID, 1 }, &(fields), sizeof(fields))
#define CALL(us, class, fields)	CALLED(us, (us) + 1, class, 0, fields)
#define LAUNCH_ON(us, handle, result)							\
	(l.stream = (handle), CALLED(us, (us) + 1, LAUNCH, result, l))
	CALL(9, CONTEXT, context);
	CALL(10, CREATE, stream);		/* 0x10 and the legacy stream wait for each other */
	stream = (struct ct_stream){ 0x20, 1, 0 };
	CALL(11, CREATE, stream);
	LAUNCH_ON(12, 0x10, 0);
	LAUNCH_ON(13, 0x20, 0);
	CALL(14, RECORD, record);
	LAUNCH_ON(15, 0x20, 0);
	handle.handle = 0xe1;
	CALL(16, EVENT_SYNC, handle);		/* the launch at 13 is done, that at 15 is not */
	handle.handle = 0x20;
	CALL(17, SYNC, handle);
	LAUNCH_ON(18, 0, 0);
	handle.handle = 0;
	CALL(19, SYNC, handle);			/* and so is 0x10 */
	handle.handle = 0x20;
	CALL(20, CAPTURE, handle);
	LAUNCH_ON(21, 0x20, 0);			/* it does not run */
	CALL(22, CAPTURED, graph);
	CALL(23, GRAPH, graph);
	LAUNCH_ON(24, 0x20, 1);
	CALLED(25, 30, SYNC, 0, handle);	/* the other thread launches meanwhile */
	CALL(31, CTX_SYNC, handle);
	LAUNCH_ON(33, 0x20, 0);
	context.context = 0x2;
	CALL(34, CONTEXT, context);
	CALL(35, CTX_SYNC, handle);		/* of which context? */
	thread_record(&u, (struct spec){ CT_CLASS_exit, 0, CT_F_INSTANT | CT_F_NO_RESULT, 0, START + 40000,
		      START + 40000, op, PID, 1 }, &handle, sizeof(handle));
	l.stream = 0x20;
	thread_record(&v, (struct spec){ LAUNCH, 0, 0, 0, START + 26000, START + 27000, v.head.op_base,
		      PID + 1, 1 }, &l, sizeof(l));
	close_writer(&u);
	close_writer(&v);
}

static void deep(void)
{
	struct writer u;

	registry();
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	thread_head(&u, PID);
	for (int i = 0; i < 5000; i++)
		range(&u, i, i < 4096 ? "range" : "too deep");
	for (int i = 5000; i < 10000; i++)
		range(&u, i, NULL);
	range(&u, 10000, "range");
	range(&u, 10007, NULL);
	close_writer(&u);
}

/*
 * In us: cudaMalloc(0..100) cuMemAlloc(2..98) ioctl(10..90) nvidia_ioctl(12..88), which queues
 * an item (20..22), sleeps (30..60) and is interrupted (70..74).  Another thread runs the item
 * (65..69), another interrupt comes while the first thread sleeps (40..43).
 */
static void layers(void)
{
	struct ct_k_switch off = { .state = 2, .other = PID + 5, .waker = PID + 5, .runnable_ns = 10000 };
	struct ct_k_queue queue = { 1, 0x77 };
	struct ct_k_arg1 item = { 0x77 };
	struct ct_k_irq irq = { 42, 1 };
	struct ct_alloc alloc = { 4096, 0x7f0000000000 };
	uint64_t t = START, us = 1000;
	struct writer u, k;

	registry();
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	open_writer(&k, "k-0", CT_STREAM_CPU, 4096);
	thread_head(&u, PID);
	thread_record(&u, (struct spec){ CT_CLASS_ioctl, 2, CT_F_NO_RESULT, 0, t + 10 * us, t + 90 * us,
		      u.head.op_base + 3, PID, 0 }, &rm_control, sizeof(rm_control));
	thread_record(&u, (struct spec){ ALLOC, 1, 0, 0, t + 2 * us, t + 98 * us, u.head.op_base + 2, PID,
		      0 }, &alloc, sizeof(alloc));
	thread_record(&u, (struct spec){ RUNTIME, 0, 0, 0, t, t + 100 * us, u.head.op_base + 1, PID, 0 },
		      NULL, 0);
	cpu_record(&k, (struct spec){ K_QUEUE, 0, 0, 1, t + 20 * us, t + 22 * us, 2, PID, 0 }, &queue,
		   sizeof(queue));
	cpu_record(&k, (struct spec){ K_ISR, 0, CT_F_HARDIRQ, 1, t + 40 * us, t + 43 * us, 3, 0, 0 }, &irq,
		   sizeof(irq));
	cpu_record(&k, (struct spec){ K_SWITCH, 0, CT_F_NO_RESULT, 0, t + 30 * us, t + 60 * us, 4, PID, 0 },
		   &off, sizeof(off));
	cpu_record(&k, (struct spec){ K_EXECUTE, 0, CT_F_NO_RESULT, 0, t + 65 * us, t + 69 * us, 5, PID + 5,
		   0 }, &item, sizeof(item));
	cpu_record(&k, (struct spec){ K_ISR, 0, CT_F_HARDIRQ, 1, t + 70 * us, t + 74 * us, 6, PID, 0 }, &irq,
		   sizeof(irq));
	cpu_record(&k, (struct spec){ K_IOCTL, 0, 0, 0, t + 12 * us, t + 88 * us, 1, PID, 0 }, &rm_control,
		   sizeof(rm_control));
	close_writer(&u);
	close_writer(&k);
	calls = 2;
	ioctls = 1;
	sched = 2;
}

/* 80 iterations: a copy, 6 launches, a wait; durations vary by some per cent. */
static void steps(unsigned int slower)
{
	struct ct_copy copy = { 4096000, 0x7f0000000000, 0x1000, 0, CT_DIR_H2D, 0 };
	struct ct_launch launch = {
		.grid_x = 128, .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1,
	};
	struct ct_handle handle = { 0x55 };
	struct ct_alloc alloc = { 4096000, 0x7f0000000000 };
	struct ct_init init = { 0 };
	uint64_t t = START, op;
	unsigned int seed = slower * 77 + 1;
	struct writer u;

#define VARIED(ns)	(seed = seed * 1103515245 + 12345, (ns) + (ns) * (seed >> 16 & 63) / 1000)
#define STEP(class, ns, fields) do {					\
		uint64_t duration = VARIED(ns);				\
		thread_record(&u, (struct spec){ class, 0, 0, 0, t, t + duration, op++, PID, 0 }, \
			      &fields, sizeof(fields));			\
		t += duration + VARIED(1000);				\
	} while (0)

	registry();
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 65536);
	thread_head(&u, PID);
	op = u.head.op_base + 1;
	STEP(INIT, 5000000, init);
	STEP(ALLOC, 30000, alloc);
	for (int i = 0; i < 80; i++) {
		STEP(COPY, 20000 * slower, copy);
		for (int k = 0; k < 6; k++) {
			launch.kernel = k % 2 + 1;
			STEP(LAUNCH, 4000, launch);
		}
		STEP(SYNC, 50000, handle);
	}
	close_writer(&u);
}

/* Every way to hold memory; then the same pid runs another program, which holds 5 bytes. */
static void memory(void)
{
	enum { POOL = K_ALLOC + 0x100, MANAGED, HOST_ALLOC, REGISTER, UNREGISTER, CREATE, RELEASE,
	       MAP, UNMAP, ARRAY, ARRAY_FREE, FREE_ASYNC };
	static const uint32_t parents[2] = { 1, 0 };
	uint64_t op;
	uint8_t text[64];
	struct writer u, v;
	char path[4096];
	FILE *f;

	registry();
	snprintf(path, sizeof(path), "%s/.registry", dir);
	f = fopen(path, "a");
	if (!f)
		die(path);
	CLASS(POOL, "user memory alloc", alloc_async, "cuMemAllocAsync cuMemAllocAsync");
	CLASS(MANAGED, "user memory alloc", alloc, "cuMemAllocManaged cuMemAllocManaged");
	CLASS(HOST_ALLOC, "user memory alloc", alloc, "cuMemHostAlloc cuMemHostAlloc");
	CLASS(REGISTER, "user memory map", alloc, "cuMemHostRegister cuMemHostRegister_v2");
	CLASS(UNREGISTER, "user memory unmap", free, "cuMemHostUnregister cuMemHostUnregister");
	CLASS(CREATE, "user memory alloc", map, "cuMemCreate cuMemCreate");
	CLASS(RELEASE, "user memory free", handle, "cuMemRelease cuMemRelease");
	CLASS(MAP, "user memory map", map, "cuMemMap cuMemMap");
	CLASS(UNMAP, "user memory unmap", map, "cuMemUnmap cuMemUnmap");
	CLASS(ARRAY, "user memory alloc", map, "cuArrayCreate cuArrayCreate_v2");
	CLASS(ARRAY_FREE, "user memory free", handle, "cuArrayDestroy cuArrayDestroy");
	CLASS(FREE_ASYNC, "user memory free", free_async, "cuMemFreeAsync cuMemFreeAsync");
	fclose(f);
	open_writer(&u, "u-4242-1", CT_STREAM_THREAD, 4096);
	open_writer(&v, "u-4242-2", CT_STREAM_THREAD, 4096);
	thread_head(&u, PID);
	thread_head(&v, PID);
	v.head.op_base += 1000;
	op = u.head.op_base;
#define BEGINS(w, us, name)							\
	thread_record(w, (struct spec){ CT_CLASS_process, 0, CT_F_INSTANT | CT_F_NO_RESULT, 0,	\
		      START + (us) * 1000, START + (us) * 1000, (w)->head.op_base, PID, 1 }, text,	\
		      with_text(text, parents, sizeof(parents), name))
#define HOLDS(w, class, result, us, layout, ...)				\
	thread_record(w, (struct spec){ class, 0, 0, result, START + (us) * 1000,	\
		      START + (us) * 1000 + 500, ++op, PID, 1 },		\
		      &(struct ct_##layout){ __VA_ARGS__ }, sizeof(struct ct_##layout))
	BEGINS(&u, 1, "/opt/first x");
	HOLDS(&u, FREE, 0, 2, free, 0x666000);		/* allocated before */
	HOLDS(&u, ALLOC, 0, 3, alloc, 1000, 0x1000);
	HOLDS(&u, ALLOC, 2, 4, alloc, 7000, 0x7000);	/* failed */
	HOLDS(&u, POOL, 0, 5, alloc_async, 200, 0x2000, 0, 0);
	HOLDS(&u, MANAGED, 0, 6, alloc, 30, 0x3000);
	HOLDS(&u, HOST_ALLOC, 0, 7, alloc, 4, 0x4000);
	HOLDS(&u, REGISTER, 0, 8, alloc, 50000, 0x5000);
	HOLDS(&u, CREATE, 0, 9, map, 100000, 0, 0x1000);	/* a handle as large as an address */
	HOLDS(&u, MAP, 0, 10, map, 50000, 0x90000, 0x1000);
	HOLDS(&u, MAP, 0, 11, map, 50000, 0x90000 + 50000, 0x1000);
	HOLDS(&u, RELEASE, 0, 12, handle, 0x1000);	/* mapped: it is held */
	HOLDS(&u, ARRAY, 0, 13, map, 6000, 0, 0x1000);
	HOLDS(&u, FREE_ASYNC, 0, 14, free_async, 0x2000, 0);
	HOLDS(&u, UNMAP, 0, 15, map, 100000, 0x90000, 0);	/* both: now it is free */
	HOLDS(&u, ARRAY_FREE, 0, 16, handle, 0x1000);
	HOLDS(&u, UNREGISTER, 0, 17, free, 0x5000);
	HOLDS(&u, FREE, 1, 18, free, 0x1000);		/* failed */
	HOLDS(&u, FREE, 0, 19, free, 0);
	BEGINS(&v, 30, "/opt/second");
	HOLDS(&v, FREE, 0, 31, free, 0x1000);		/* the first program's */
	HOLDS(&v, ALLOC, 0, 32, alloc, 5, 0x1000);
	close_writer(&u);
	close_writer(&v);
}

static void big(uint64_t count)
{
	uint64_t per_thread = count / 4;
	struct writer u;
	char name[64];

	registry();
	for (uint32_t tid = PID; tid < PID + 4; tid++) {
		uint64_t t = START + tid, op;

		snprintf(name, sizeof(name), "u-%u-%u", PID, tid - PID + 1);
		open_writer(&u, name, CT_STREAM_THREAD, 1 << 18);
		thread_head(&u, tid);
		op = u.head.op_base;
		for (uint64_t i = 0; i < per_thread; i += 2) {
			struct ct_launch launch = {
				.kernel = 1, .grid_x = i, .grid_y = 1, .grid_z = 1, .block_x = 256,
				.block_y = 1, .block_z = 1,
			};
			thread_record(&u, (struct spec){ LAUNCH, 1, 0, 0, t + 10, t + 2900, op + 1,
				      tid, 3 }, &launch, sizeof(launch));
			thread_record(&u, (struct spec){ RUNTIME, 0, 0, 0, t, t + 3000, op, tid, 3 },
				      NULL, 0);
			op += 2;
			launches++;
			calls += 2;
			t += 3100 + (i & 63);
			if (op - u.head.op_base > 1000000) {
				flush(&u);
				u.head.op_base = op;
			}
		}
		close_writer(&u);
	}
}

int main(int argc, char **argv)
{
	dir = argc > 2 ? argv[2] : NULL;
	if (argc < 3 || mkdir(argv[2], 0755)) {
		fprintf(stderr, "usage: make_trace basic|open|begin|forged|ties|left|files|both|objects|gpu|noends|joined|waits|deep|memory|big NEWDIR [RECORDS]\n");
		return 2;
	}
	if (!strcmp(argv[1], "basic"))
		basic();
	else if (!strcmp(argv[1], "open"))
		unfinished();
	else if (!strcmp(argv[1], "begin"))
		begins();
	else if (!strcmp(argv[1], "forged"))
		forged();
	else if (!strcmp(argv[1], "files") || !strcmp(argv[1], "both"))
		files(!strcmp(argv[1], "both"), INIT);
	else if (!strcmp(argv[1], "bypassed"))
		files(0, TABLE);
	else if (!strcmp(argv[1], "objects"))
		objects();
	else if (!strcmp(argv[1], "gpu"))
		gpu();
	else if (!strcmp(argv[1], "noends"))
		noends();
	else if (!strcmp(argv[1], "joined"))
		joined();
	else if (!strcmp(argv[1], "waits"))
		waits();
	else if (!strcmp(argv[1], "deep"))
		deep();
	else if (!strcmp(argv[1], "layers"))
		layers();
	else if (!strcmp(argv[1], "steps") || !strcmp(argv[1], "slowed"))
		steps(1 + !strcmp(argv[1], "slowed"));
	else if (!strcmp(argv[1], "memory"))
		memory();
	else if (!strcmp(argv[1], "ties"))
		ties();
	else if (!strcmp(argv[1], "left"))
		left();
	else if (!strcmp(argv[1], "big") && argc == 4)
		big(strtoull(argv[3], NULL, 0));
	else
		return 2;
	printf("{\"records\":%llu,\"launches\":%llu,\"allocs\":%llu,\"ioctls\":%llu,\"calls\":%llu,"
	       "\"lost\":%llu,\"scheduler\":%llu,\"open\":%llu}\n",
	       (unsigned long long)records, (unsigned long long)launches,
	       (unsigned long long)allocs, (unsigned long long)ioctls, (unsigned long long)calls,
	       (unsigned long long)lost, (unsigned long long)sched, (unsigned long long)opens);
	return 0;
}
