// SPDX-License-Identifier: GPL-2.0
/*
 * The handlers of the tracepoints that are about the GPU: fences, memory, errors and
 * the driver's interrupts.  They run in whatever context the kernel is in: no lock, no
 * allocation, no fault, no sleep.  Newer kernels call them with preemption enabled, so
 * that each disables it while it writes: tp_enter() and tp_leave().
 */
#include <linux/dma-fence.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/pci.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include "base/clock.h"
#include "base/compat.h"
#include "core/filter.h"
#include "core/record.h"
#include "probes/sched_events.h"
#include "probes/tracepoint.h"

/* Longest text of a record, without the NULs behind it. */
#define TEXT_MAX	256u

static struct ct_cpu_record *tp_record_of(struct ct_cpu *cpu, enum ct_point point, u32 size,
					  u64 *stamp)
{
	struct ct_tracepoint *t = &ct_tracepoints[point];
	u8 context = ct_context();
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
 * This CPU's ring, if a record of this row is wanted here and now; preemption is
 * disabled then, until tp_leave().
 */
static struct ct_cpu *tp_enter(enum ct_point point)
{
	struct ct_cpu *cpu;

	preempt_disable_notrace();
	cpu = ct_cpu_writing();
	if (cpu && ct_wanted(ct_tracepoints[point].category, ct_context()))
		return cpu;
	preempt_enable_notrace();
	return NULL;
}

static void tp_leave(void)
{
	preempt_enable_notrace();
}

/* An event without a begin: tp_enter() and tp_record_of() in one; NULL, or until tp_end(). */
static struct ct_cpu_record *tp_begin(enum ct_point point, u32 size, struct ct_cpu **cpu)
{
	struct ct_cpu_record *rec;
	u64 stamp;

	*cpu = tp_enter(point);
	if (!*cpu)
		return NULL;
	rec = tp_record_of(*cpu, point, size, &stamp);
	if (!rec)
		tp_leave();
	return rec;
}

static void tp_end(struct ct_cpu *cpu)
{
	ct_record_done(cpu, 1);
	tp_leave();
}

/* A text behind fixed bytes of a payload, whose last two are its length. */
static void tp_put_text(void *payload, u32 fixed, u32 bytes, const char *text, u32 len)
{
	*(u16 *)(payload + fixed - sizeof(u16)) = bytes;
	memset(payload + fixed, 0, bytes);
	memcpy(payload + fixed, text, len);
}

/* ------------------------------------------------------------- fences ------ */

static void tp_fill_fence(struct ct_k_fence *p, const struct dma_fence *fence)
{
	p->fence_context = fence->context;
	p->seqno = fence->seqno;
}

/* Only here are its names asked for: later its driver may be gone. */
void ct_on_fence_init(void *data, struct dma_fence *fence)
{
	const u32 fixed = offsetof(struct ct_k_fence_new, text) + sizeof(u16);
	struct ct_cpu *cpu = tp_enter(CT_POINT_FENCE_INIT);
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
	rec = tp_record_of(cpu, CT_POINT_FENCE_INIT, fixed + bytes, &stamp);
	if (!rec)
		goto out;
	tp_fill_fence((void *)(rec + 1), fence);
	tp_put_text(rec + 1, fixed, bytes, text, len);
	ct_record_done(cpu, 1);
out:
	tp_leave();
}

void ct_on_fence_signaled(void *data, struct dma_fence *fence)
{
	struct ct_cpu *cpu;
	struct ct_cpu_record *rec =
		tp_begin(CT_POINT_FENCE_SIGNALED, sizeof(struct ct_k_fence), &cpu);

	if (!rec)
		return;
	tp_fill_fence((void *)(rec + 1), fence);
	tp_end(cpu);
}

/*
 * The begin is recorded too: a fence that is never signaled must show.  Waiting is
 * for tasks; it may sleep, so the thread keeps what is open.
 */
void ct_on_fence_wait_start(void *data, struct dma_fence *fence)
{
	struct ct_cpu *cpu = tp_enter(CT_POINT_FENCE_WAIT_START);
	struct ct_cpu_record *rec;
	struct ct_thread *t;
	u64 stamp, op;

	if (!cpu)
		return;
	t = ct_thread_of(current->pid, true);
	if (!t)
		goto out;
	op = ct_ring_op(&cpu->ring, 1);
	rec = tp_record_of(cpu, CT_POINT_FENCE_WAIT_START, sizeof(struct ct_k_fence), &stamp);
	t->waits = rec ? stamp : 0;
	t->waits_op = op;
	if (!rec)
		goto out;
	rec->op = op;
	rec->duration = CT_DURATION(0, 0, CT_F_BEGIN | CT_F_NO_RESULT);
	tp_fill_fence((void *)(rec + 1), fence);
	ct_record_done(cpu, 1);
out:
	tp_leave();
}

void ct_on_fence_wait_end(void *data, struct dma_fence *fence)
{
	struct ct_cpu *cpu = tp_enter(CT_POINT_FENCE_WAIT_END);
	struct ct_cpu_record *rec;
	struct ct_thread *t;
	u64 stamp;

	if (!cpu)
		return;
	t = ct_thread_of(current->pid, false);
	rec = tp_record_of(cpu, CT_POINT_FENCE_WAIT_END, sizeof(struct ct_k_fence), &stamp);
	if (!rec)
		goto out;
	/* Without its begin it stays an instant. */
	if (t && t->waits) {
		rec->op = t->waits_op;
		rec->duration = CT_DURATION(min_t(u64, stamp - t->waits, CT_DURATION_MAX), 0,
					    CT_F_NO_RESULT | CT_F_HAS_BEGIN);
		t->waits = 0;
	}
	tp_fill_fence((void *)(rec + 1), fence);
	ct_record_done(cpu, 1);
out:
	tp_leave();
}

/* ------------------------------------------------- memory and errors ------- */

void ct_on_gpu_mem(void *data, u32 gpu, u32 pid, u64 size)
{
	struct ct_cpu *cpu;
	struct ct_cpu_record *rec = tp_begin(CT_POINT_GPU_MEM, sizeof(struct ct_k_gpu_mem), &cpu);

	if (!rec)
		return;
	*(struct ct_k_gpu_mem *)(rec + 1) = (struct ct_k_gpu_mem){
		.size = size, .gpu = gpu, .owner_pid = pid,
	};
	tp_end(cpu);
}

void ct_on_xid(void *data, const struct pci_dev *dev, u32 xid, const char *message)
{
	const u32 fixed = offsetof(struct ct_k_xid, text) + sizeof(u16);
	u32 len = message ? strnlen(message, TEXT_MAX) : 0, bytes;
	struct ct_cpu_record *rec;
	struct ct_cpu *cpu;
	struct ct_k_xid *p;

	while (len && (message[len - 1] == '\n' || message[len - 1] == ' '))
		len--;
	bytes = CT_TEXT_BYTES(fixed, len);
	rec = tp_begin(CT_POINT_XID, fixed + bytes, &cpu);
	if (!rec)
		return;
	p = (void *)(rec + 1);
	p->xid = xid;
	p->pci = dev ? pci_domain_nr(dev->bus) << 16 | dev->bus->number << 8 | dev->devfn : 0;
	tp_put_text(p, fixed, bytes, message, len);
	tp_end(cpu);
}

/* --------------------------------------------------------- interrupts ------ */

/* The handler that runs on this CPU now: hard interrupts neither nest nor are preempted. */
struct running {
	u64 begin;
	u64 op;
	int irq;
};
static DEFINE_PER_CPU(struct running, running);

/* The driver names its interrupts after itself: nvidia, nvidia0. */
static bool tp_is_drivers(const struct irqaction *action)
{
	return action->name && !strncmp(action->name, "nvidia", 6);
}

void ct_on_irq_entry(void *data, int irq, struct irqaction *action)
{
	struct running *r = this_cpu_ptr(&running);
	struct ct_cpu *cpu;

	r->begin = 0;
	if (!tp_is_drivers(action))
		return;
	cpu = tp_enter(CT_POINT_IRQ_ENTRY);
	if (!cpu)
		return;
	r->irq = irq;
	r->op = ct_ring_op(&cpu->ring, 1);
	r->begin = ct_clock_ns();
	tp_leave();
}

void ct_on_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	struct running *r = this_cpu_ptr(&running);
	struct ct_cpu *cpu = ct_cpu_writing();
	struct ct_cpu_record *rec;
	u64 stamp, duration;

	if (!cpu || !r->begin || r->irq != irq || !tp_is_drivers(action))
		return;
	rec = tp_record_of(cpu, CT_POINT_IRQ_EXIT, sizeof(struct ct_k_irq), &stamp);
	if (!rec)
		return;
	duration = stamp > r->begin ? stamp - r->begin : 0;
	rec->op = r->op;
	rec->duration = CT_DURATION(min_t(u64, duration, CT_DURATION_MAX), 0, ct_context());
	rec->result = ret;
	*(struct ct_k_irq *)(rec + 1) = (struct ct_k_irq){
		.irq = irq, .handled = ret != IRQ_NONE,
	};
	r->begin = 0;
	ct_record_done(cpu, 1);
}
