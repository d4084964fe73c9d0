// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes a large synthetic trace for the measurement of readers, with the structs of the
 * ABI header and nothing of the reader.
 *
 *	make_reading NEWDIR RECORDS THREADS [module]
 *
 * RECORDS records in all, in one stream a thread.  With "module" each thread also has a
 * CPU with a stream of its own, in which the driver's functions are.  Each thread does
 * the same again and again: mostly getters, launches by the runtime's call with the
 * driver's call inside it, copies, now and then an allocation with two ioctls inside,
 * and a synchronisation at the end of each step.  Times come from a fixed sequence of
 * pseudorandom numbers: the trace is the same each time.
 */
#include <sys/stat.h>

#include "../cli/writer.h"

enum {
	GET = CT_CLASS_DYNAMIC, ALLOC, FREE, COPY, LAUNCH, SYNC, RUNTIME,
	K_IOCTL = CT_CLASS_DYNAMIC + 0x100, K_QUEUE, K_ISR,
};
#define KERNELS		64
#define LAUNCHES	16	/* in a step */
#define PACKET		(256 << 10)

struct thread {
	struct writer u, k;
	int module;
	uint32_t tid;
	uint64_t t, op, kop, count, random;
};

static uint32_t some(struct thread *w, uint32_t below)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (w->random >> 33) % below;
}

static void registry(void)
{
	FILE *f = create_registry();

#define CLASS(id, words, layout, names)	registry_class(f, id, words, CT_LAYOUT_SPEC(layout), names)
	CLASS(GET, "user query -", none, "cuCtxGetCurrent cuCtxGetCurrent");
	CLASS(ALLOC, "user memory alloc", alloc, "cuMemAlloc cuMemAlloc_v2");
	CLASS(FREE, "user memory free", free, "cuMemFree cuMemFree_v2");
	CLASS(COPY, "user transfer copy", copy, "cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2");
	CLASS(LAUNCH, "user kernel launch", launch, "cuLaunchKernel cuLaunchKernel");
	CLASS(SYNC, "user sync wait", handle, "cuStreamSynchronize cuStreamSynchronize");
	CLASS(RUNTIME, "user runtime -", none, "cudaLaunchKernel cudaLaunchKernel");
	CLASS(K_IOCTL, "kernel ioctl -", ioctl, "nvidia_ioctl nvidia_unlocked_ioctl");
	CLASS(K_QUEUE, "kernel scheduler -", k_queue,
	      "nv_kthread_q_schedule_q_item nv_kthread_q_schedule_q_item");
	CLASS(K_ISR, "kernel interrupt -", k_irq, "nvidia_isr nvidia_isr");
	for (int i = 1; i <= KERNELS; i++)
		fprintf(f, "string %d _Z%dlayer_%02d_kernelPKfPfi\n", i, 15, i);
	fclose(f);
}

static void call(struct thread *w, unsigned int class, unsigned int depth, uint64_t begin,
		 const void *fields, uint32_t len)
{
	thread_record(&w->u, (struct spec){ class, depth, class == CT_CLASS_ioctl ?
		      CT_F_NO_RESULT : 0, 0, begin, w->t, w->op++, w->tid, w->tid % 64 },
		      fields, len);
	w->count++;
}

static void driver(struct thread *w, unsigned int class, unsigned int flags, uint64_t begin,
		   uint64_t op, const void *fields, uint32_t len)
{
	cpu_record(&w->k, (struct spec){ class, 0, flags, 0, begin, w->t, op, w->tid, 0 }, fields,
		   len);
	w->count++;
}

/* As the program sees it, and with the module as the driver does. */
static void one_ioctl(struct thread *w)
{
	struct ct_ioctl rm = {
		.cmd = 0xc020462a, .device = CT_DEV_NVIDIACTL,
		.have = CT_IOCTL_CLIENT | CT_IOCTL_OBJECT | CT_IOCTL_CONTROL | CT_IOCTL_STATUS,
		.client = 0xc1d0001a, .object = 0xc1d0001a, .code = 0x20800102,
	};
	struct ct_k_queue queue = { 1, 2 };
	uint64_t begin = w->t, k_begin, kop = w->kop++;

	w->t += 100;
	k_begin = w->t;
	if (w->module) {
		driver(w, K_IOCTL, CT_F_BEGIN, w->t, kop, &rm, sizeof(rm));
		w->t += 200 + some(w, 100);
		driver(w, K_QUEUE, 0, w->t - 100, w->kop++, &queue, sizeof(queue));
		w->t += 500 + some(w, 1000);
		driver(w, K_IOCTL, CT_F_HAS_BEGIN, k_begin, kop, &rm, sizeof(rm));
	} else {
		w->t += 700 + some(w, 1000);
	}
	w->t += 100;
	call(w, CT_CLASS_ioctl, 1, begin, &rm, sizeof(rm));
}

/* One step of a loop: about 130 records. */
static void step(struct thread *w, uint64_t n)
{
	struct ct_copy copy = { 1 << 16, 0x7f0000000000, 0x1000, 0x55, CT_DIR_H2D, 1 };
	struct ct_alloc alloc = { 1 << 20, 0x7f0000000000 + (n << 20) };
	struct ct_k_irq irq = { 42, 1 };
	struct ct_handle stream = { 0x55 };
	uint64_t begin;

	for (int i = 0; i < LAUNCHES; i++) {
		struct ct_launch launch = {
			.kernel = i * 4 % KERNELS + 1, .grid_x = 128 + i, .grid_y = 1,
			.grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1, .stream = 0x55,
		};

		for (int k = 0; k < 5; k++) {
			begin = w->t += 20 + some(w, 50);
			w->t += 30 + some(w, 30);
			call(w, GET, 0, begin, NULL, 0);
		}
		begin = w->t += 100;
		w->t += 2000 + some(w, 500);
		call(w, LAUNCH, 1, begin + 80, &launch, sizeof(launch));
		w->t += 60;
		call(w, RUNTIME, 0, begin, NULL, 0);
		if (i % 8 == 7) {
			begin = w->t += 50;
			w->t += 1500 + some(w, 3000);
			call(w, COPY, 0, begin, &copy, sizeof(copy));
		}
		if (w->module && i % 2) {
			w->t += 10;
			driver(w, K_ISR, CT_F_HARDIRQ, w->t - 5, w->kop++, &irq, sizeof(irq));
		}
	}
	if (n % 4 == 3) {
		begin = w->t += 50;
		w->t += 100;
		one_ioctl(w);
		w->t += 30;
		one_ioctl(w);
		w->t += 100;
		call(w, ALLOC, 0, begin, &alloc, sizeof(alloc));
		begin = w->t += 50;
		w->t += 900;
		call(w, FREE, 0, begin, &alloc.ptr, sizeof(alloc.ptr));
	}
	begin = w->t += 50;
	w->t += 20000 + some(w, 20000);
	call(w, SYNC, 0, begin, &stream, sizeof(stream));
}

int main(int argc, char **argv)
{
	uint64_t count, threads;

	if (argc < 4 || argc > 5 || (argc == 5 && strcmp(argv[4], "module"))) {
		fprintf(stderr, "usage: make_reading NEWDIR RECORDS THREADS [module]\n");
		return 2;
	}
	dir = argv[1];
	count = strtoull(argv[2], NULL, 0);
	threads = strtoull(argv[3], NULL, 0);
	if (!threads || threads > 1000 || mkdir(dir, 0755))
		die(dir);
	registry();
	for (uint64_t i = 0; i < threads; i++) {
		struct thread w = {
			.module = argc == 5, .tid = PID + i, .t = START + 777 * i,
			.random = i + 1, .kop = (i << 40) + 1,
		};
		char name[64];

		snprintf(name, sizeof(name), "u-%u-%u", PID, (unsigned int)i + 1);
		open_writer(&w.u, name, CT_STREAM_THREAD, PACKET);
		w.u.head.pid = PID;
		w.u.head.tid = w.tid;
		w.u.head.op_base = w.op = i << 40;
		if (w.module) {
			snprintf(name, sizeof(name), "k-%u", (unsigned int)i);
			open_writer(&w.k, name, CT_STREAM_CPU, PACKET);
			w.k.head.cpu = i;
		}
		for (uint64_t n = 0; w.count < count / threads; n++)
			step(&w, n);
		close_writer(&w.u);
		if (w.module)
			close_writer(&w.k);
	}
	printf("%llu\n", (unsigned long long)records);
	return 0;
}
