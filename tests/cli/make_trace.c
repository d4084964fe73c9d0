// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes synthetic traces for the tests of the command line, with the structs of
 * the ABI header and nothing of the reader, so that the two can disagree.
 *
 *	make_trace basic DIR		all kinds of records, many packets
 *	make_trace open DIR		a trace that nobody finished
 *	make_trace begin DIR		begins recorded at entry, one end lost
 *	make_trace ties DIR		calls that begin and end in the same ns
 *	make_trace big DIR RECORDS	for the time it takes
 *
 * Prints what it wrote as one JSON object.  And what the tests do to traces:
 *
 *	make_trace flip FILE SEED	damages some bytes
 *	make_trace hold DIR		lives inside the open call of an unfinished
 *					trace, until it is killed
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../module/uapi/cudatrace.h"

#define START	1000000000000ull
#define PID	4242

static const uint8_t uuid[16] = { 0xc0, 0xda, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
static const char *dir;
static uint64_t records, launches, allocs, ioctls, calls, lost, sched, opens;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static FILE *create(const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wx");
	if (!f)
		die(path);
	return f;
}

/* ---------------------------------------------------------------- streams --- */

struct writer {
	FILE *file;
	uint8_t *data;
	uint32_t size, used;
	struct ct_packet head;
	uint64_t last;
};

static void flush(struct writer *w)
{
	if (w->used == CT_PACKET_HEAD)
		return;
	w->head.content_size = w->used * 8ull;
	w->head.ts_end = w->last;
	memcpy(w->data, &w->head, sizeof(w->head));
	memset(w->data + w->used, 0, w->size - w->used);
	if (fwrite(w->data, w->size, 1, w->file) != 1)
		die("fwrite");
	w->head.seq++;
	w->used = CT_PACKET_HEAD;
}

static void open_writer(struct writer *w, const char *name, uint32_t kind, uint32_t size)
{
	memset(w, 0, sizeof(*w));
	w->file = create(name);
	w->data = calloc(1, size);
	w->size = size;
	w->used = CT_PACKET_HEAD;
	w->head.magic = CT_MAGIC;
	memcpy(w->head.uuid, uuid, 16);
	w->head.stream_class = kind;
	w->head.packet_size = size * 8ull;
	w->last = START;
}

static void close_writer(struct writer *w)
{
	flush(w);
	fclose(w->file);
	free(w->data);
}

static void *room(struct writer *w, uint64_t end, uint32_t len)
{
	void *p;

	len = (len + 7) & ~7u;
	if (w->used + len > w->size)
		flush(w);
	if (end < w->last) {
		fprintf(stderr, "make_trace: time steps back\n");
		exit(2);
	}
	if (w->used == CT_PACKET_HEAD)
		w->head.ts_begin = end;
	w->last = end;
	p = w->data + w->used;
	memset(p, 0, len);
	w->used += len;
	records++;
	return p;
}

struct spec {
	unsigned int class, depth, flags;
	int64_t result;
	uint64_t begin, end, op;
	uint32_t tid;
	int cpu;
};

static void thread_record(struct writer *w, struct spec s, const void *fields, uint32_t len)
{
	uint8_t *p = room(w, s.end, sizeof(struct ct_thread_record) + len);
	struct ct_thread_record r = {
		.stamp = CT_STAMP(s.end, s.class), .op = s.op - w->head.op_base, .depth = s.depth,
		.flags = s.flags, .result = s.result,
		.duration = (s.end - s.begin) | (uint64_t)s.cpu << 48,
	};

	memcpy(p, &r, sizeof(r));
	memcpy(p + sizeof(r), fields, len);
}

static void cpu_record(struct writer *w, struct spec s, const void *fields, uint32_t len)
{
	uint8_t *p = room(w, s.end, sizeof(struct ct_cpu_record) + len);
	struct ct_cpu_record r = {
		.stamp = CT_STAMP(s.end, s.class), .pid = s.tid ? PID : 0, .tid = s.tid, .op = s.op,
		.duration = CT_DURATION(s.end - s.begin, s.depth, s.flags), .result = s.result,
	};

	memcpy(p, &r, sizeof(r));
	memcpy(p + sizeof(r), fields, len);
}

/* A text behind the fields in front of it. */
static uint32_t with_text(uint8_t *buf, const void *fields, uint32_t len, const char *text)
{
	uint16_t n = strlen(text);

	memcpy(buf, fields, len);
	memcpy(buf + len, &n, 2);
	memcpy(buf + len + 2, text, n);
	return len + 2 + n;
}

/* --------------------------------------------------------------- registry --- */

enum {
	INIT = CT_CLASS_DYNAMIC, ALLOC, COPY, LAUNCH, LAUNCH_PTSZ, SYNC, QUERY, FREE, CONTEXT,
	WEIRD, RUNTIME, K_IOCTL = CT_CLASS_DYNAMIC + 0x100, K_ALLOC, K_QUEUE, K_ISR, K_CTX,
};

static void registry(void)
{
	FILE *f = create(".registry");

	fprintf(f, "cudatrace %u uuid=", CT_ABI_VERSION);
	for (int i = 0; i < 16; i++)
		fprintf(f, "%02x", uuid[i]);
	fprintf(f, " start=%llu realtime=1700000000123456789\n", START);
#define CLASS(id, words, layout, names)					\
	fprintf(f, "class %u %s %s %s\n", id, words,			\
		*CT_LAYOUT_SPEC(layout) ? CT_LAYOUT_SPEC(layout) : "-", names)
	CLASS(INIT, "user init -", init, "cuInit cuInit");
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
	struct ct_open_page page = {
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
	/* The third has its record already: killed before the page was told. */
	page.entry[0] = (struct ct_open_call){ START + 9000, u.head.op_base + 1000, 0, CONTEXT, 0 };
	page.entry[1] = (struct ct_open_call){ START + 9890, u.head.op_base + 1001, 0, SYNC, 0 };
	page.entry[2] = (struct ct_open_call){ START + 9900, u.head.op_base + 99, 0, ALLOC, 0 };
	f = create(".open-4242-1");
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
	close_writer(&k);
	opens = 1;
	calls = 2;
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

static int flip(const char *path, unsigned int seed)
{
	int fd = open(path, O_RDWR);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !st.st_size)
		die(path);
	srand(seed);
	for (int i = rand() % 4; i >= 0; i--) {
		/* Heads of packets and first records are where it hurts. */
		off_t at = rand() % 2 ? rand() % st.st_size : rand() % st.st_size / 4096 * 4096 +
			   rand() % 256;
		uint8_t byte;

		if (at >= st.st_size || pread(fd, &byte, 1, at) != 1)
			continue;
		byte = rand() % 3 ? byte ^ 1 << rand() % 8 : rand();
		if (pwrite(fd, &byte, 1, at) != 1)
			die(path);
	}
	return 0;
}

static int hold(void)
{
	struct ct_open_page *page;
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/.open-4242-1", dir);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die(path);
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die(path);
	page->pid = page->tid = getpid();
	printf("ready\n");
	fflush(stdout);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "flip"))
		return flip(argv[2], atoi(argv[3]));
	dir = argc > 2 ? argv[2] : NULL;
	if (argc == 3 && !strcmp(argv[1], "hold"))
		return hold();
	if (argc < 3 || mkdir(argv[2], 0755)) {
		fprintf(stderr, "usage: make_trace basic|open|begin|ties|big NEWDIR [RECORDS]\n");
		return 2;
	}
	if (!strcmp(argv[1], "basic"))
		basic();
	else if (!strcmp(argv[1], "open"))
		unfinished();
	else if (!strcmp(argv[1], "begin"))
		begins();
	else if (!strcmp(argv[1], "ties"))
		ties();
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
