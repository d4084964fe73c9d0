// SPDX-License-Identifier: GPL-2.0
/*
 * Converts the time-stamp counter to CLOCK_MONOTONIC by clock segments.
 *
 * A segment is a linear function from counter to nanoseconds.  It begins where the
 * segment before it ends, and its slope is chosen so that it meets the kernel's clock
 * again at its end ("until").
 *
 * A segment is published before it begins, and never begins before "until" of the
 * previous one.  So all readers, on any CPU and in user space, use the same segment for
 * the same counter.  If no next segment is published in time (the work below was late),
 * readers use the last one for at most CT_CLOCK_VALID_SPANS times its span; after that
 * they use the kernel's clock.
 *
 * There is no segment if the kernel does not trust the counter, or if the counter strays
 * from the kernel's clock.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#include "base/clock.h"
#include "base/compat.h"

#define SEGMENT_NS	(100 * NSEC_PER_MSEC)	/* the span of a segment */
#define AHEAD_NS	NSEC_PER_MSEC		/* a segment is published this long ahead */
#define FIRST_NS	(20 * NSEC_PER_MSEC)	/* the first slope is measured over this */
#define BASE_NS		NSEC_PER_SEC		/* later slopes: over one to two times this */
#define ERROR_MAX_NS	(100 * NSEC_PER_USEC)	/* a larger error means a disturbance */
#define RESTARTS_MAX	16			/* after more, the counter is not used */

static bool wanted = true;
module_param_named(tsc_clock, wanted, bool, 0444);
MODULE_PARM_DESC(tsc_clock,
		 "take time stamps from the time-stamp counter if the kernel trusts it (default: 1; 0: always from the kernel's clock)");

struct clock_pair {
	u64 tsc;
	u64 ns;
};

struct ct_clock_page *ct_clock_page;
static struct ct_clock_cached cached[CT_CLOCK_SEGMENTS];
static const struct ct_clock_cached no_segment;
const struct ct_clock_cached *ct_clock_cached = &no_segment;
DEFINE_STATIC_KEY_TRUE(ct_clock_usable);
static struct delayed_work work;
static struct clock_pair base;		/* slopes are measured from here */
static struct clock_pair next_base;	/* becomes base once it is BASE_NS old */
static u32 newest;			/* number of the newest segment made */
static unsigned int restarts;
static bool running;

/*
 * Read the counter and the clock at the same moment: of five tries, take the one in which
 * the two readings of the counter are closest.
 */
static void clock_take_pair(struct clock_pair *p)
{
	u64 before, ns, after, best = U64_MAX;
	unsigned long flags;
	int i;

	local_irq_save(flags);
	for (i = 0; i < 5; i++) {
		before = rdtsc_ordered();
		ns = ktime_get_ns();
		after = rdtsc_ordered();
		if (after - before >= best)
			continue;
		best = after - before;
		p->tsc = before + best / 2;
		p->ns = ns;
	}
	local_irq_restore(flags);
}

/*
 * The slope in ns per tick, 32 bits behind the point; 0 if it cannot be used: neither the
 * division nor the readers' multiplication may overflow, for which the slope must stay
 * below 2^40.  The caller has checked that the counter went forward.
 */
static u64 clock_slope(const struct clock_pair *from, const struct clock_pair *to)
{
	u64 ns = to->ns - from->ns, tsc = to->tsc - from->tsc;

	if ((s64)ns <= 0 || ns >> 8 >= tsc)
		return 0;
	return mul_u64_u64_div_u64(ns, 1ull << 32, tsc);
}

static u64 clock_ticks(u64 ns, u64 mult)
{
	return mul_u64_u64_div_u64(ns, 1ull << 32, mult);
}

static u64 clock_segment_ns(const struct ct_clock_segment *seg, u64 tsc)
{
	return seg->ns + (s64)(tsc - seg->tsc) * (s64)seg->mult / (1ll << 32);
}

static void clock_publish(u64 tsc, u64 ns, u64 until, u64 mult)
{
	struct ct_clock_segment *seg;

	/* Number 0 means "no segment", so a counter that wraps skips it. */
	if (!++newest)
		newest = CT_CLOCK_SEGMENTS;
	seg = &ct_clock_page->segment[newest % CT_CLOCK_SEGMENTS];
	*seg = (struct ct_clock_segment){
		.tsc = tsc,
		.ns = ns,
		.until = until,
		.mult = mult,
	};
	cached[newest % CT_CLOCK_SEGMENTS] = (struct ct_clock_cached){
		.tsc = tsc,
		.ns = ns,
		.mult = mult,
		.limit = CT_CLOCK_VALID_SPANS * (until - tsc),
	};
	/* The segment before its number: pairs with the readers' acquire of newest. */
	smp_store_release(&ct_clock_page->newest, newest);
	/*
	 * The cached segment before the pointer to it: pairs with the address dependency
	 * of ct_clock_ns().
	 */
	smp_store_release(&ct_clock_cached, &cached[newest % CT_CLOCK_SEGMENTS]);
}

static void clock_publish_none(void)
{
	/* Nothing to order: a reader that sees no segment asks the kernel. */
	WRITE_ONCE(ct_clock_page->newest, 0);
	WRITE_ONCE(ct_clock_cached, &no_segment);
}

u64 ct_clock_ns_slow(void)
{
	const struct ct_clock_page *p = ct_clock_page;
	const struct ct_clock_segment *seg;
	u32 n = READ_ONCE(p->newest);
	u64 now, passed;

	if (unlikely(!n))
		return ktime_get_mono_fast_ns();
	/*
	 * The segment was stored before newest (see clock_publish()); the loads depend on n.
	 * Its place is not reused until CT_CLOCK_SEGMENTS - 1 more segments were made.
	 */
	seg = &p->segment[n % CT_CLOCK_SEGMENTS];
	now = rdtsc_ordered();
	if (unlikely(now < seg->tsc))
		seg = &p->segment[(n - 1) % CT_CLOCK_SEGMENTS];
	passed = now - seg->tsc;
	if (unlikely(passed >= CT_CLOCK_VALID_SPANS * (seg->until - seg->tsc)))
		return ktime_get_mono_fast_ns();
	return seg->ns + (passed * seg->mult >> 32);
}

/* Withdraw the segments: those that programs have cached expire by themselves. */
static void clock_restart(void)
{
	clock_publish_none();
	/* The segment before the first new one must cover no counter. */
	ct_clock_page->segment[newest % CT_CLOCK_SEGMENTS] = (struct ct_clock_segment){};
	clock_take_pair(&base);
	next_base = base;
}

/*
 * Does the kernel trust the counter?  It marks a counter as unstable that stops in idle,
 * changes its rate or differs between CPUs.  clock_next_segment() also checks that the
 * segments agree with the kernel's clock.
 */
static bool clock_counter_good(void)
{
	return wanted && boot_cpu_has(X86_FEATURE_TSC) && !check_tsc_unstable();
}

/*
 * Publish the next segment: from the end of the last one to where the clock will be at
 * its own end.  Returns 0; -ESTALE: the last segment has expired because the machine
 * stood still; -ERANGE: the counter strayed from the kernel's clock.
 */
static int clock_next_segment(const struct clock_pair *now)
{
	const struct ct_clock_segment *last = &ct_clock_page->segment[newest % CT_CLOCK_SEGMENTS];
	u64 mult, ahead, length, begin, ns;
	s64 error;

	/* The counter was reset: by a suspend, or by a migration to another host. */
	if ((s64)(now->tsc - base.tsc) <= 0)
		return -ESTALE;
	mult = clock_slope(&base, now);
	if (!mult)
		return -ERANGE;
	ahead = clock_ticks(AHEAD_NS, mult);
	length = clock_ticks(SEGMENT_NS, mult);
	begin = now->tsc + ahead;
	if (!ct_clock_page->newest) {
		clock_publish(begin, now->ns + (ahead * mult >> 32), begin + length, mult);
		return 0;
	}
	if (begin < last->until)
		begin = last->until;
	/* No reader uses the last segment any more (a suspend, a host that slept). */
	if (now->tsc - last->tsc >= CT_CLOCK_VALID_SPANS * (last->until - last->tsc) - ahead)
		return -ESTALE;
	ns = clock_segment_ns(last, begin);
	error = now->ns - clock_segment_ns(last, now->tsc);
	if (error > (s64)ERROR_MAX_NS || error < -(s64)ERROR_MAX_NS)
		return -ERANGE;
	error = now->ns + ((begin - now->tsc) * mult >> 32) - ns;
	clock_publish(begin, ns, begin + length, mult + div64_s64(error * (1ll << 32), length));
	return 0;
}

/* When the work must run again, in ns from now: a little before the newest segment ends. */
static u64 clock_next_delay(const struct clock_pair *now)
{
	const struct ct_clock_segment *seg = &ct_clock_page->segment[newest % CT_CLOCK_SEGMENTS];
	s64 left = (s64)(seg->until - now->tsc);

	left = left > 0 ? left * seg->mult >> 32 : 0;
	return max_t(s64, left - SEGMENT_NS / 4, SEGMENT_NS / 10);
}

static void clock_work_run(struct work_struct *unused)
{
	struct clock_pair now;
	u64 delay = FIRST_NS;
	int err;

	clock_take_pair(&now);
	if (!clock_counter_good()) {
		clock_publish_none();
		static_branch_disable(&ct_clock_usable);
		return;
	}
	err = clock_next_segment(&now);
	if (!err) {
		if (now.ns - next_base.ns > BASE_NS) {
			base = next_base;
			next_base = now;
		}
		delay = clock_next_delay(&now);
	} else {
		clock_restart();
		/* Count only disturbances: lateness (-ESTALE) says nothing about the counter. */
		if (err == -ERANGE && ++restarts > RESTARTS_MAX)
			return;
	}
	queue_delayed_work(system_highpri_wq, &work, nsecs_to_jiffies(delay));
}

void ct_clock_start(void)
{
	if (running)
		return;
	if (!clock_counter_good()) {
		static_branch_disable(&ct_clock_usable);
		return;
	}
	static_branch_enable(&ct_clock_usable);
	running = true;
	restarts = 0;
	clock_restart();
	queue_delayed_work(system_highpri_wq, &work, nsecs_to_jiffies(FIRST_NS));
}

void ct_clock_stop(void)
{
	if (!running)
		return;
	running = false;
	cancel_delayed_work_sync(&work);
	clock_publish_none();
}

/* ---------------------------------------------------------- the mapping ---- */
static int clock_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_pgoff)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	ct_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	return remap_vmalloc_range(vma, ct_clock_page, 0);
}

static int clock_release(struct inode *inode, struct file *file)
{
	void (*unmapped)(void) = file->private_data;

	unmapped();
	return 0;
}

static const struct file_operations clock_fops = {
	.owner = THIS_MODULE,
	.mmap = clock_mmap,
	.release = clock_release,
};

long ct_clock_map(void (*unmapped)(void))
{
	struct file *file = anon_inode_getfile("[cudatrace-clock]", &clock_fops, unmapped,
					       O_RDONLY);
	unsigned long address;

	if (IS_ERR(file)) {
		unmapped();
		return PTR_ERR(file);
	}
	address = vm_mmap(file, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 0);
	fput(file);
	return address;
}

int ct_clock_init(void)
{
	ct_clock_page = vmalloc_user(PAGE_SIZE);
	if (!ct_clock_page)
		return -ENOMEM;
	ct_clock_page->magic = CT_MAGIC;
	ct_clock_page->abi = CT_ABI_VERSION;
	INIT_DELAYED_WORK(&work, clock_work_run);
	return 0;
}

void ct_clock_exit(void)
{
	ct_clock_stop();
	vfree(ct_clock_page);
}
