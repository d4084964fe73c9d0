// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints about the GPU: fences, memory and errors.
 *
 * The handlers run in any context: no lock, no allocation, no fault, no sleep.  Newer kernels call
 * them with preemption enabled, so each handler disables it while it writes: gpu_enter() and
 * gpu_leave().
 */
#include <linux/dma-fence.h>
#include <linux/kernel.h>
#include <linux/pci.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <trace/events/dma_fence.h>
#include <trace/events/gpu_mem.h>
#include "probes/gpu_events.h"
#include "probes/thread.h"
#include "probes/tracepoint.h"
#include "nvidia/driver.h"
#include "core/filter.h"
#include "core/record.h"
#include "base/compat.h"

/* Longest text of a record, without the NULs behind it. */
#define TEXT_MAX 256u

/* Index of gpu_points[]. */
enum gpu_point {
	GPU_FENCE_INIT,
	GPU_FENCE_SIGNALED,
	GPU_FENCE_WAIT_START,
	GPU_FENCE_WAIT_END,
	GPU_MEM,
	GPU_XID,
	GPU_COUNT,
};

static struct ct_tracepoint gpu_points[GPU_COUNT];

static struct ct_cpu_record *gpu_record_of(struct ct_cpu *cpu, enum gpu_point point, u32 size,
					   u64 *stamp)
{
	const struct ct_tracepoint *t = &gpu_points[point];
	u8 context = ct_context(false);
	struct ct_cpu_record *rec;

	this_cpu_inc(t->count->hits);
	rec = ct_record_new(cpu, t->class, size, context, stamp);
	if (!rec) {
		this_cpu_inc(t->count->lost);
		return NULL;
	}
	rec->op = 0;
	rec->duration = CT_DURATION(0, 0, CT_F_INSTANT | CT_F_NO_RESULT | context);
	rec->result = 0;
	return rec;
}

/*
 * This CPU's part of the session if a record of this row is wanted; then preemption is disabled
 * until gpu_leave().  Else NULL.
 */
static struct ct_cpu *gpu_enter(enum gpu_point point)
{
	struct ct_cpu *cpu;

	preempt_disable_notrace();
	cpu = ct_cpu_writing();
	if (cpu && ct_wanted(gpu_points[point].category, ct_context(false)))
		return cpu;
	preempt_enable_notrace();
	return NULL;
}

static void gpu_leave(void)
{
	preempt_enable_notrace();
}

/* An event without a begin: gpu_enter() and gpu_record_of().  Not NULL: gpu_end() follows. */
static struct ct_cpu_record *gpu_begin(enum gpu_point point, u32 size, struct ct_cpu **cpu)
{
	struct ct_cpu_record *rec;
	u64 stamp;

	*cpu = gpu_enter(point);
	if (!*cpu)
		return NULL;
	rec = gpu_record_of(*cpu, point, size, &stamp);
	if (!rec)
		gpu_leave();
	return rec;
}

static void gpu_end(struct ct_cpu *cpu)
{
	ct_record_done(cpu, 1);
	gpu_leave();
}

/* A text behind fixed bytes of a payload, whose last two are its length. */
static void gpu_put_text(void *payload, u32 fixed, u32 bytes, const char *text, u32 len)
{
	*(u16 *)(payload + fixed - sizeof(u16)) = bytes;
	memset(payload + fixed, 0, bytes);
	memcpy(payload + fixed, text, len);
}

/* ------------------------------------------------------------- fences ------ */

static void gpu_fill_fence(struct ct_k_fence *p, const struct dma_fence *fence)
{
	p->fence_context = fence->context;
	p->seqno = fence->seqno;
}

/* Only here may the fence be asked for its names: later its driver may be unloaded. */
static void gpu_on_fence_init(void *data, struct dma_fence *fence)
{
	const u32 fixed = offsetof(struct ct_k_fence_new, text) + sizeof(u16);
	struct ct_cpu *cpu = gpu_enter(GPU_FENCE_INIT);
	const struct dma_fence_ops *ops;
	struct ct_cpu_record *rec;
	char text[64] = "";
	u32 len, bytes;
	u64 stamp;

	if (!cpu)
		return;
	ops = ct_fence_ops(fence);
	if (ops && ops->get_driver_name && ops->get_timeline_name)
		scnprintf(text, sizeof(text), "%s %s", ops->get_driver_name(fence),
			  ops->get_timeline_name(fence));
	len = strlen(text);
	bytes = CT_TEXT_BYTES(fixed, len);
	rec = gpu_record_of(cpu, GPU_FENCE_INIT, fixed + bytes, &stamp);
	if (!rec)
		goto out;
	gpu_fill_fence((void *)(rec + 1), fence);
	gpu_put_text(rec + 1, fixed, bytes, text, len);
	ct_record_done(cpu, 1);
out:
	gpu_leave();
}

static void gpu_on_fence_signaled(void *data, struct dma_fence *fence)
{
	struct ct_cpu *cpu;
	struct ct_cpu_record *rec = gpu_begin(GPU_FENCE_SIGNALED, sizeof(struct ct_k_fence), &cpu);

	if (!rec)
		return;
	gpu_fill_fence((void *)(rec + 1), fence);
	gpu_end(cpu);
}

/*
 * The begin is recorded too, so that waiting for a fence that is never signaled shows.  Only tasks
 * wait, and they may sleep meanwhile, so what is open is kept with the thread.
 */
static void gpu_on_fence_wait_start(void *data, struct dma_fence *fence)
{
	struct ct_cpu *cpu = gpu_enter(GPU_FENCE_WAIT_START);
	struct ct_cpu_record *rec;
	struct ct_thread *t;
	u64 stamp, op;

	if (!cpu)
		return;
	t = ct_thread_of(current->pid, true);
	if (!t)
		goto out;
	op = ct_ring_op(&cpu->ring, 1);
	rec = gpu_record_of(cpu, GPU_FENCE_WAIT_START, sizeof(struct ct_k_fence), &stamp);
	t->waits = rec ? stamp : 0;
	t->waits_op = op;
	if (!rec)
		goto out;
	rec->op = op;
	rec->duration = CT_DURATION(0, 0, CT_F_BEGIN | CT_F_NO_RESULT);
	gpu_fill_fence((void *)(rec + 1), fence);
	ct_record_done(cpu, 1);
out:
	gpu_leave();
}

static void gpu_on_fence_wait_end(void *data, struct dma_fence *fence)
{
	struct ct_cpu *cpu = gpu_enter(GPU_FENCE_WAIT_END);
	struct ct_cpu_record *rec;
	struct ct_thread *t;
	u64 stamp;

	if (!cpu)
		return;
	t = ct_thread_of(current->pid, false);
	rec = gpu_record_of(cpu, GPU_FENCE_WAIT_END, sizeof(struct ct_k_fence), &stamp);
	if (!rec)
		goto out;
	/* Without a begin it stays an instant. */
	if (t && t->waits) {
		rec->op = t->waits_op;
		rec->duration = CT_DURATION(min_t(u64, stamp - t->waits, CT_DURATION_MAX), 0,
					    CT_F_NO_RESULT | CT_F_HAS_BEGIN);
		t->waits = 0;
	}
	gpu_fill_fence((void *)(rec + 1), fence);
	ct_record_done(cpu, 1);
out:
	gpu_leave();
}

/* ------------------------------------------------- memory and errors ------- */

static void gpu_on_mem(void *data, u32 gpu, u32 pid, u64 size)
{
	struct ct_cpu *cpu;
	struct ct_cpu_record *rec = gpu_begin(GPU_MEM, sizeof(struct ct_k_gpu_mem), &cpu);

	if (!rec)
		return;
	*(struct ct_k_gpu_mem *)(rec + 1) = (struct ct_k_gpu_mem){
		.size = size,
		.gpu = gpu,
		.owner_pid = pid,
	};
	gpu_end(cpu);
}

/* domain << 16 | bus << 8 | device << 3 | function of a device that may be none; 0: unknown. */
static u32 gpu_pci_of(const struct pci_dev *dev)
{
	struct pci_bus *bus;
	unsigned char number;
	unsigned int devfn;
	int domain;

	if (get_kernel_nofault(bus, &dev->bus) || get_kernel_nofault(devfn, &dev->devfn) ||
	    get_kernel_nofault(number, &bus->number) || ct_pci_domain_nofault(bus, &domain))
		return 0;
	return domain << 16 | number << 8 | devfn;
}

/* A text of the kernel that may be none, at most room - 1 bytes of it.  Returns its length. */
static u32 gpu_copy_text(char *to, const char *from, u32 room)
{
	u32 len = 0, n;

	/* As much of it as there is, page by page. */
	for (; len < room - 1; len += n) {
		n = min_t(u32, room - 1 - len, PAGE_SIZE - offset_in_page(from + len));
		if (copy_from_kernel_nofault(to + len, from + len, n))
			break;
		if (memchr(to + len, 0, n))
			return strlen(to);
	}
	to[len] = 0;
	return len;
}

/*
 * Only the drivers of these branches are known to call it with these arguments.  Of others the
 * number is recorded, which is no pointer.
 */
static void gpu_on_xid(void *data, const struct pci_dev *dev, u32 xid, const char *message)
{
	const u32 fixed = offsetof(struct ct_k_xid, text) + sizeof(u16);
	bool verified = ct_driver_verified(575, 595);
	struct ct_cpu_record *rec;
	char text[TEXT_MAX + 1];
	u32 len = 0, bytes;
	struct ct_cpu *cpu;
	struct ct_k_xid *p;

	if (verified)
		len = gpu_copy_text(text, message, sizeof(text));
	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	bytes = CT_TEXT_BYTES(fixed, len);
	rec = gpu_begin(GPU_XID, fixed + bytes, &cpu);
	if (!rec)
		return;
	p = (void *)(rec + 1);
	p->xid = xid;
	p->pci = verified ? gpu_pci_of(dev) : 0;
	gpu_put_text(p, fixed, bytes, text, len);
	gpu_end(cpu);
}

/* The kernel's headers know the signatures: a handler with another one does not compile. */
static void __maybe_unused gpu_check_signatures(void)
{
	check_trace_callback_type_dma_fence_init(gpu_on_fence_init);
	check_trace_callback_type_dma_fence_signaled(gpu_on_fence_signaled);
	check_trace_callback_type_dma_fence_wait_start(gpu_on_fence_wait_start);
	check_trace_callback_type_dma_fence_wait_end(gpu_on_fence_wait_end);
	check_trace_callback_type_gpu_mem_total(gpu_on_mem);
}

static struct ct_tracepoint gpu_points[GPU_COUNT] = {
	[GPU_FENCE_INIT] = { CT_TRACEPOINT("", "dma_fence_init", "dma_fence_init", FENCE, SYNC,
					   k_fence_new, gpu_on_fence_init) },
	[GPU_FENCE_SIGNALED] = { CT_TRACEPOINT("", "dma_fence_signaled", "dma_fence_signaled",
					       FENCE, SYNC, k_fence, gpu_on_fence_signaled) },
	/* The start writes a begin, the end writes the call. */
	[GPU_FENCE_WAIT_START] = { CT_TRACEPOINT("", "dma_fence_wait_start", "dma_fence_wait",
						 FENCE, SYNC, k_fence, gpu_on_fence_wait_start),
				   .op = CT_OP_WAIT, .threads = true },
	[GPU_FENCE_WAIT_END] = { CT_TRACEPOINT("", "dma_fence_wait_end", "dma_fence_wait", FENCE,
					       SYNC, k_fence, gpu_on_fence_wait_end),
				 .op = CT_OP_WAIT, .threads = true },
	[GPU_MEM] = { CT_TRACEPOINT("", "gpu_mem_total", "gpu_mem_total", MEMORY, MEMORY, k_gpu_mem,
				    gpu_on_mem),
		      .anywhere = true },
	[GPU_XID] = { CT_TRACEPOINT("nvidia", "nvidia_dev_xid", "nvidia_dev_xid", INTERRUPT,
				    INTERRUPT, k_xid, gpu_on_xid) },
};

static struct ct_tracepoint_table gpu_table = {
	.row = gpu_points,
	.count = GPU_COUNT,
};

int ct_gpu_events_init(void)
{
	return ct_tracepoint_add(&gpu_table);
}

void ct_gpu_events_exit(void)
{
	ct_tracepoint_remove(&gpu_table);
}
