// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the driver's functions that are probed.  A row has the function's names in
 * the generations of the driver, and a function that fills the record from its arguments.
 *
 * Names and signatures are those of NVIDIA's published source, of every release from 515 to 595.
 *
 * Fill functions may neither sleep nor fault, and arguments of a driver whose source nobody
 * has read may be anything: they follow one only through nv_followed(), or nofault.
 */
#include <linux/irqreturn.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/uaccess.h>
#include "nvidia/ioctl.h"
#include "nvidia/probe_table.h"

/*
 * The word that an argument of this call points to; 0 if it cannot be read, or if the loaded driver
 * is none of those that are known to have a pointer there: reading an address that is none can have
 * effects, for instance in a device's registers.
 */
static u64 nv_followed(const struct ct_call *c, unsigned long ptr)
{
	u64 value;

	if (!c->verified || copy_from_kernel_nofault(&value, (const void *)ptr, sizeof(value)))
		return 0;
	return value;
}

/* (file, cmd, arg) */
static void nv_fill_ioctl(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	ct_nv_ioctl_fill(payload, c->verified ? (const struct file *)c->arg[0] : NULL, c->arg[1],
			 c->arg[2], ret, !entry);
}

/* (void **address, u64 size) -> NV_STATUS */
static void nv_fill_os_alloc_mem(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	struct ct_k_alloc *p = payload;

	p->size = c->arg[1];
	p->ptr = !entry && !(u32)ret ? nv_followed(c, c->arg[0]) : 0;
}

/*
 * NV_STATUS nv_alloc_pages(nv, u32 count, bool contig, ...), before 545; later
 * (nv, u32 count, u64 page_size, bool contig, ...), where page_size is used only for
 * contiguous blocks and 0 means the system's page size.  The last argument, on the stack,
 * points to where the function stores the block's handle, by which it is freed.
 */
static void nv_fill_alloc_pages(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	struct ct_k_pages *p = payload;

	p->count = c->arg[1];
	p->size = (u64)p->count * PAGE_SIZE;
	p->contig = (u8)(c->variant < 2 ? c->arg[2] : c->arg[3]);
	p->ptr = !entry && !(u32)ret ? nv_followed(c, c->stacked) : 0;
}

/* (nv, u32 count, bool contig, u32 cache_type, void *handle) */
static void nv_fill_free_pages(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	struct ct_k_pages *p = payload;

	p->count = c->arg[1];
	p->size = (u64)p->count * PAGE_SIZE;
	p->contig = (u8)c->arg[2];
	p->ptr = c->arg[4];
}

/* (dma, u64 pages, u64 *va, bool contig, ...) -> NV_STATUS */
static void nv_fill_dma_map(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	struct ct_k_dma *p = payload;

	p->size = c->arg[1] * PAGE_SIZE;
	p->va = !entry && !(u32)ret ? nv_followed(c, c->arg[2]) : 0;
}

/* (int irq, void *arg) -> irqreturn_t */
static void nv_fill_irq(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	struct ct_k_irq *p = payload;

	p->irq = c->arg[0];
	p->handled = !entry && (u32)ret != IRQ_NONE;
}

/* (u32 microseconds); (u32 milliseconds) */
static void nv_fill_delay_us(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	((struct ct_k_delay *)payload)->delay_ns = (u64)(u32)c->arg[0] * NSEC_PER_USEC;
}

static void nv_fill_delay_ms(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	((struct ct_k_delay *)payload)->delay_ns = (u64)(u32)c->arg[0] * NSEC_PER_MSEC;
}

/* (struct uvm_va_block *, u64 address, bool write, context) -> NV_STATUS */
static void nv_fill_cpu_fault(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	*(struct ct_k_fault *)payload = (struct ct_k_fault){
		.block = c->arg[0],
		.address = c->arg[1],
		.write = (u8)c->arg[2],
	};
}

/* (struct ... *params, ...): base and length are the first fields of each such block */
static void nv_fill_uvm_range(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	*(struct ct_k_range *)payload = (struct ct_k_range){
		.address = nv_followed(c, c->arg[0]),
		.size = nv_followed(c, c->arg[0] + sizeof(u64)),
	};
}

/* (UVM_FREE_PARAMS *, ...): since 590 it has no length */
static void nv_fill_uvm_free(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	*(struct ct_k_range *)payload = (struct ct_k_range){
		.address = nv_followed(c, c->arg[0]),
		.size = c->variant ? 0 : nv_followed(c, c->arg[0] + sizeof(u64)),
	};
}

/*
 * (nv, u32 type, const void **data, u32 *size), before 525; later with a u32 chip family behind the
 * type -> handle, NULL: not found
 */
static void nv_fill_firmware(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	*(struct ct_k_firmware *)payload = (struct ct_k_firmware){
		.size = !entry && ret ? (u32)nv_followed(c, c->arg[c->variant ? 4 : 3]) : 0,
		.firmware = c->arg[1],
	};
}

/* (struct pci_dev *, u32 error, const char *format, va_list) */
static void nv_fill_xid(void *payload, const struct ct_call *c, s64 ret, bool entry)
{
	*(struct ct_xid *)payload = (struct ct_xid){ .xid = c->arg[1] };
}

#define LAYOUT(l)	.layout = CT_LAYOUT_##l, .size = sizeof(struct ct_##l)
#define NVIDIA		.module = "nvidia"
#define UVM		.module = "nvidia_uvm"
/* The record is these arguments as they are, in the order of the layout's fields. */
#define WORDS(...)	.fetch = (const struct ct_fetch[]){ __VA_ARGS__, {} }
#define WORD(n)		{ .mask = ~0ull, .number = n }
#define ALT(...)	.alt = { __VA_ARGS__ }
#define A(sym, ...)	{ .symbol = sym, __VA_ARGS__ }
/* The branches with this signature; only for functions whose fill function follows an argument. */
#define IN(first, last)	.first_branch = first, .last_branch = last
#define IN_ALL		IN(515, 595)

/* Group, category and operation of a row. */
#define IOCTL		.group = CT_GROUP_IOCTL, .category = CT_CAT_IOCTL, .sleeps = true
#define MEMORY(o)	.group = CT_GROUP_MEMORY, .category = CT_CAT_MEMORY, .op = CT_OP_##o
#define SCHED		.group = CT_GROUP_SCHEDULER, .category = CT_CAT_SCHEDULER
#define IRQ		.group = CT_GROUP_INTERRUPT, .category = CT_CAT_INTERRUPT
#define INIT		.group = CT_GROUP_CONTEXT, .category = CT_CAT_INIT
#define UVMGROUP	.group = CT_GROUP_UVM, .category = CT_CAT_UVM

const struct ct_probe_desc ct_probe_table[] = {
	/* ioctl: the function of the file operations */
	{ "nvidia_ioctl", NVIDIA, IOCTL, LAYOUT(ioctl), .args = 3, .entry = true,
	  .fill = nv_fill_ioctl,
	  ALT(A("nvidia_frontend_unlocked_ioctl", IN(515, 535)),
	      A("nvidia_unlocked_ioctl", IN(545, 595))) },
	{ "uvm_ioctl", UVM, IOCTL, LAYOUT(ioctl), .args = 3, .entry = true,
	  .fill = nv_fill_ioctl,
	  ALT(A("uvm_unlocked_ioctl_entry", IN_ALL)) },
	{ "rm_ioctl", NVIDIA, IOCTL, LAYOUT(none), ALT(A("rm_ioctl")) },
	{ "nvidia_open", NVIDIA, IOCTL, LAYOUT(none), .entry = true,
	  ALT(A("nvidia_frontend_open"), A("nvidia_open")) },
	{ "nvidia_close", NVIDIA, IOCTL, LAYOUT(none),
	  ALT(A("nvidia_frontend_close"), A("nvidia_close")) },
	{ "nvidia_mmap", NVIDIA, IOCTL, LAYOUT(none),
	  ALT(A("nvidia_frontend_mmap"), A("nvidia_mmap")) },

	/* memory */
	{ "os_alloc_mem", NVIDIA, MEMORY(ALLOC), LAYOUT(k_alloc), .args = 2,
	  .sleeps = true, .fill = nv_fill_os_alloc_mem,
	  ALT(A("os_alloc_mem", IN_ALL)) },
	{ "os_free_mem", NVIDIA, MEMORY(FREE), LAYOUT(free), .args = 1,
	  .sleeps = true, WORDS(WORD(0)), ALT(A("os_free_mem")) },
	{ "nv_alloc_pages", NVIDIA, MEMORY(ALLOC), LAYOUT(k_pages), .args = 4,
	  .sleeps = true, .fill = nv_fill_alloc_pages,
	  ALT(A("nv_alloc_pages", .stacked = 7, .before = 530000000, IN(515, 525)),
	      A("nv_alloc_pages", .stacked = 8, .since = 530000000, .before = 545000000,
		IN(530, 535)),
	      A("nv_alloc_pages", .stacked = 9, .since = 545000000, IN(545, 595))) },
	{ "nv_free_pages", NVIDIA, MEMORY(FREE), LAYOUT(k_pages), .args = 5,
	  .sleeps = true, .fill = nv_fill_free_pages, ALT(A("nv_free_pages")) },
	{ "nv_dma_map_alloc", NVIDIA, MEMORY(MAP), LAYOUT(k_dma), .args = 3,
	  .sleeps = true, .fill = nv_fill_dma_map, ALT(A("nv_dma_map_alloc", IN_ALL)) },
	{ "nv_dma_unmap_alloc", NVIDIA, MEMORY(UNMAP), LAYOUT(k_dma), .args = 3,
	  .sleeps = true, .fill = nv_fill_dma_map, ALT(A("nv_dma_unmap_alloc", IN_ALL)) },
	/* (nv, alloc, page index, offset, u64 size, void **priv) -> void * */
	{ "nv_alloc_kernel_mapping", NVIDIA, MEMORY(MAP), LAYOUT(k_alloc), .args = 5,
	  .sleeps = true, WORDS(WORD(4), WORD(CT_ARG_RETURNED)),
	  ALT(A("nv_alloc_kernel_mapping")) },
	/* (nv, alloc, void *address, void *priv) */
	{ "nv_free_kernel_mapping", NVIDIA, MEMORY(UNMAP), LAYOUT(free), .args = 3,
	  .sleeps = true, WORDS(WORD(2)),
	  ALT(A("nv_free_kernel_mapping")) },

	/* scheduler and deferred work */
	{ "nv_kthread_q_schedule_q_item", NVIDIA, SCHED, LAYOUT(k_queue), .args = 2,
	  WORDS(WORD(0), WORD(1)), ALT(A("nv_kthread_q_schedule_q_item")) },
	{ "nv_kthread_q_schedule_q_item", UVM, SCHED, LAYOUT(k_queue), .args = 2,
	  WORDS(WORD(0), WORD(1)), ALT(A("nv_kthread_q_schedule_q_item")) },
	{ "os_queue_work_item", NVIDIA, SCHED, LAYOUT(k_queue), .args = 2,
	  .sleeps = true, WORDS(WORD(0), WORD(1)), ALT(A("os_queue_work_item")) },
	{ "os_execute_work_item", NVIDIA, SCHED, LAYOUT(k_arg1), .args = 1,
	  .sleeps = true, WORDS(WORD(0)), ALT(A("os_execute_work_item")) },
	{ "os_schedule", NVIDIA, SCHED, LAYOUT(none), .sleeps = true,
	  ALT(A("os_schedule")) },
	{ "os_delay", NVIDIA, SCHED, LAYOUT(k_delay), .args = 1, .sleeps = true,
	  .fill = nv_fill_delay_ms, ALT(A("os_delay")) },
	{ "os_delay_us", NVIDIA, SCHED, LAYOUT(k_delay), .args = 1,
	  .fill = nv_fill_delay_us, ALT(A("os_delay_us")) },

	/* interrupts: top halves in hardirq, bottom halves in kernel threads */
	{ "nvidia_isr", NVIDIA, IRQ, LAYOUT(k_irq), .args = 1, .fill = nv_fill_irq,
	  ALT(A("nvidia_isr")) },
	{ "nvidia_isr_msix", NVIDIA, IRQ, LAYOUT(k_irq), .args = 1, .fill = nv_fill_irq,
	  ALT(A("nvidia_isr_msix")) },
	{ "nvidia_isr_kthread_bh", NVIDIA, IRQ, LAYOUT(k_irq), .args = 1,
	  .sleeps = true, .fill = nv_fill_irq, ALT(A("nvidia_isr_kthread_bh")) },
	{ "nvidia_isr_msix_kthread_bh", NVIDIA, IRQ, LAYOUT(k_irq), .args = 1,
	  .sleeps = true, .fill = nv_fill_irq, ALT(A("nvidia_isr_msix_kthread_bh")) },
	{ "rm_isr", NVIDIA, IRQ, LAYOUT(none), ALT(A("rm_isr")) },
	{ "rm_isr_bh", NVIDIA, IRQ, LAYOUT(none), .sleeps = true, ALT(A("rm_isr_bh")) },
	{ "nvidia_isr_bh_unlocked", NVIDIA, IRQ, LAYOUT(k_arg1), .args = 1,
	  .sleeps = true, WORDS(WORD(0)), ALT(A("nvidia_isr_bh_unlocked")) },
	{ "rm_isr_bh_unlocked", NVIDIA, IRQ, LAYOUT(none), .sleeps = true,
	  ALT(A("rm_isr_bh_unlocked")) },
	{ "nv_uvm_event_interrupt", NVIDIA, IRQ, LAYOUT(none),
	  ALT(A("nv_uvm_event_interrupt")) },
	{ "nv_report_error", NVIDIA, IRQ, LAYOUT(xid), .args = 2, .xid = true,
	  .fill = nv_fill_xid, ALT(A("nv_report_error")) },

	/* what the driver does when a GPU is used first; contexts themselves are ioctls */
	{ "rm_init_adapter", NVIDIA, INIT, LAYOUT(none), .sleeps = true,
	  ALT(A("rm_init_adapter")) },
	{ "nv_get_firmware", NVIDIA, INIT, .op = CT_OP_LOAD, LAYOUT(k_firmware), .args = 5,
	  .sleeps = true, .fill = nv_fill_firmware,
	  ALT(A("nv_get_firmware", .before = 525000000, IN(515, 520)),
	      A("nv_get_firmware", .since = 525000000, IN(525, 595))) },

	/* UVM: CPU faults, migration of memory, then the work of a GPU's interrupts */
	{ "uvm_va_block_cpu_fault", UVM, UVMGROUP, LAYOUT(k_fault), .args = 3,
	  .sleeps = true, .fill = nv_fill_cpu_fault, ALT(A("uvm_va_block_cpu_fault")) },
	{ "uvm_va_space_mm_register", UVM, UVMGROUP, LAYOUT(none), .sleeps = true,
	  ALT(A("uvm_va_space_mm_register")) },
	/* (va_space, mm, u64 base, u64 length, ...) -> NV_STATUS */
	{ "uvm_migrate", UVM, UVMGROUP, LAYOUT(k_range), .args = 4, .sleeps = true,
	  WORDS(WORD(2), WORD(3)), ALT(A("uvm_migrate")) },
	{ "uvm_api_migrate", UVM, UVMGROUP, LAYOUT(k_range), .args = 1, .sleeps = true,
	  .fill = nv_fill_uvm_range, ALT(A("uvm_api_migrate", IN_ALL)) },
	{ "uvm_api_free", UVM, UVMGROUP, LAYOUT(k_range), .args = 1, .sleeps = true,
	  .fill = nv_fill_uvm_free,
	  ALT(A("uvm_api_free", .before = 590000000, IN(515, 580)),
	      A("uvm_api_free", .since = 590000000, IN(590, 595))) },
	{ "uvm_api_register_gpu", UVM, UVMGROUP, LAYOUT(none), .sleeps = true,
	  ALT(A("uvm_api_register_gpu")) },
	{ "uvm_va_block_make_resident", UVM, UVMGROUP, LAYOUT(k_arg1), .args = 1,
	  .sleeps = true, WORDS(WORD(0)), ALT(A("uvm_va_block_make_resident")) },
	{ "uvm_isr_top_half", UVM, UVMGROUP, LAYOUT(none),
	  ALT(A("uvm_isr_top_half_entry")) },
	{ "uvm_replayable_faults_bottom_half", UVM, UVMGROUP, LAYOUT(k_arg1), .args = 1,
	  .sleeps = true, WORDS(WORD(0)),
	  ALT(A("replayable_faults_isr_bottom_half_entry")) },
	{ "uvm_non_replayable_faults_bottom_half", UVM, UVMGROUP, LAYOUT(k_arg1), .args = 1,
	  .sleeps = true, WORDS(WORD(0)),
	  ALT(A("non_replayable_faults_isr_bottom_half_entry")) },
	{ "uvm_access_counters_bottom_half", UVM, UVMGROUP, LAYOUT(k_arg1), .args = 1,
	  .sleeps = true, WORDS(WORD(0)),
	  ALT(A("access_counters_isr_bottom_half_entry")) },
};

const unsigned int ct_probe_table_size = ARRAY_SIZE(ct_probe_table);
