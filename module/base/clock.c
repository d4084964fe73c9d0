// SPDX-License-Identifier: GPL-2.0
/*
 * The time-stamp counter as CLOCK_MONOTONIC: a chain of lines, each of which begins
 * where the one before it ends and is sloped so that it meets the kernel's clock
 * again at its end.
 *
 * A line is published before it begins, and none begins before the time that the
 * last one promised: so every reader, on any CPU and in user space, takes the same
 * line for the same counter.  A line that nobody followed up is used no further than
 * for CT_CLOCK_VALID_SPANS times its promise; then readers ask the kernel's clock.
 *
 * Where the counter is not what the kernel's own clock goes by, or strays from it,
 * there is no line.
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

#define LINE_NS		(100 * NSEC_PER_MSEC)	/* how long a line lasts */
#define AHEAD_NS	NSEC_PER_MSEC		/* published so long before it begins */
#define FIRST_NS	(20 * NSEC_PER_MSEC)	/* for the first slope */
#define BASE_NS		NSEC_PER_SEC		/* slopes are taken over one to two of it */
#define ERROR_NS	(100 * NSEC_PER_USEC)	/* further off: something has happened */
#define RESTARTS	16			/* so often, and the counter is given up */

static bool wanted = true;
module_param_named(tsc_clock, wanted, bool, 0444);
MODULE_PARM_DESC(tsc_clock, "stamp by the time-stamp counter where it is good (default: yes; else by the kernel's clock)");

struct pair {
	u64 tsc;
	u64 ns;
};

struct ct_clock_page *ct_clock_page;
static struct ct_clock_own own[CT_CLOCK_SEGMENTS];
static const struct ct_clock_own none;
const struct ct_clock_own *ct_clock_own = &none;
DEFINE_STATIC_KEY_TRUE(ct_clock_usable);
static struct delayed_work work;
static struct pair base, middle;	/* where slopes are taken from */
static u32 lines;			/* made so far */
static unsigned int restarts;
static bool running;

/* The counter and the clock at one moment, as near as five tries get. */
static void clock_take_pair(struct pair *p)
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
 * 0 if there is none that could be used: the division must not overflow, nor what readers
 * make of it, for which it stays below 2^40.  The counter has gone forward.
 */
static u64 clock_slope(const struct pair *from, const struct pair *to)
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

static u64 clock_line_at(const struct ct_clock_segment *l, u64 tsc)
{
	return l->ns + (s64)(tsc - l->tsc) * (s64)l->mult / (1ll << 32);
}

static void clock_publish(u64 tsc, u64 ns, u64 until, u64 mult)
{
	struct ct_clock_segment *l;

	/* 0 says that there is none, so a number that wraps leaves it out. */
	if (!++lines)
		lines = CT_CLOCK_SEGMENTS;
	l = &ct_clock_page->segment[lines % CT_CLOCK_SEGMENTS];
	*l = (struct ct_clock_segment){
		.tsc = tsc,
		.ns = ns,
		.until = until,
		.mult = mult,
	};
	own[lines % CT_CLOCK_SEGMENTS] = (struct ct_clock_own){
		.tsc = tsc,
		.ns = ns,
		.mult = mult,
		.limit = CT_CLOCK_VALID_SPANS * (until - tsc),
	};
	/* The line before its number: pairs with the readers' acquire. */
	smp_store_release(&ct_clock_page->newest, lines);
	/* Before its pointer, too: the readers' loads depend on that. */
	smp_store_release(&ct_clock_own, &own[lines % CT_CLOCK_SEGMENTS]);
}

static void clock_publish_none(void)
{
	smp_store_release(&ct_clock_page->newest, 0);
	WRITE_ONCE(ct_clock_own, &none);
}

u64 ct_clock_ns_slow(void)
{
	const struct ct_clock_page *p = ct_clock_page;
	const struct ct_clock_segment *l;
	u32 n = READ_ONCE(p->newest);
	u64 now, passed;

	if (unlikely(!n))
		return ktime_get_mono_fast_ns();
	/* The line was written before newest, and lines are kept for three more. */
	l = &p->segment[n % CT_CLOCK_SEGMENTS];
	now = rdtsc_ordered();
	if (unlikely(now < l->tsc))
		l = &p->segment[(n - 1) % CT_CLOCK_SEGMENTS];
	passed = now - l->tsc;
	if (unlikely(passed >= CT_CLOCK_VALID_SPANS * (l->until - l->tsc)))
		return ktime_get_mono_fast_ns();
	return l->ns + (passed * l->mult >> 32);
}

/* No line any more: what readers hold ends by itself. */
static void clock_begin_anew(void)
{
	clock_publish_none();
	/* The one before the first has no time in which it is valid. */
	ct_clock_page->segment[lines % CT_CLOCK_SEGMENTS] = (struct ct_clock_segment){};
	clock_take_pair(&base);
	middle = base;
}

/*
 * The kernel's own judgement: it marks a counter that stops in idle, changes its rate
 * or differs between CPUs.  That the line keeps to the clock is looked at besides.
 */
static bool clock_usable(void)
{
	return wanted && boot_cpu_has(X86_FEATURE_TSC) && !check_tsc_unstable();
}

/*
 * The next line, from the last one to where the clock will be at its end.  -ESTALE: the
 * last is used up, for this machine stood still so long; -ERANGE: the counter strayed.
 */
static int clock_next_line(const struct pair *now)
{
	const struct ct_clock_segment *last = &ct_clock_page->segment[lines % CT_CLOCK_SEGMENTS];
	u64 mult, ahead, length, begin, ns;
	s64 error;

	/* It began anew: a suspend in which it had no power, another machine's. */
	if ((s64)(now->tsc - base.tsc) <= 0)
		return -ESTALE;
	mult = clock_slope(&base, now);
	if (!mult)
		return -ERANGE;
	ahead = clock_ticks(AHEAD_NS, mult);
	length = clock_ticks(LINE_NS, mult);
	begin = now->tsc + ahead;
	if (!ct_clock_page->newest) {
		clock_publish(begin, now->ns + (ahead * mult >> 32), begin + length, mult);
		return 0;
	}
	if (begin < last->until)
		begin = last->until;
	/* Nobody uses it any more (a suspend, a host that slept). */
	if (now->tsc - last->tsc >= CT_CLOCK_VALID_SPANS * (last->until - last->tsc) - ahead)
		return -ESTALE;
	ns = clock_line_at(last, begin);
	error = now->ns - clock_line_at(last, now->tsc);
	if (error > (s64)ERROR_NS || error < -(s64)ERROR_NS)
		return -ERANGE;
	error = now->ns + ((begin - now->tsc) * mult >> 32) - ns;
	clock_publish(begin, ns, begin + length, mult + div64_s64(error * (1ll << 32), length));
	return 0;
}

/* The work's next turn: a little before the newest line ends. */
static u64 clock_next_turn(const struct pair *now)
{
	const struct ct_clock_segment *l = &ct_clock_page->segment[lines % CT_CLOCK_SEGMENTS];
	s64 left = (s64)(l->until - now->tsc);

	left = left > 0 ? left * l->mult >> 32 : 0;
	return max_t(s64, left - LINE_NS / 4, LINE_NS / 10);
}

static void clock_keep_going(struct work_struct *unused)
{
	struct pair now;
	u64 delay = FIRST_NS;
	int err;

	clock_take_pair(&now);
	if (!clock_usable()) {
		clock_publish_none();
		static_branch_disable(&ct_clock_usable);
		return;
	}
	err = clock_next_line(&now);
	if (!err) {
		if (now.ns - middle.ns > BASE_NS) {
			base = middle;
			middle = now;
		}
		delay = clock_next_turn(&now);
	} else {
		clock_begin_anew();
		/* Who comes late may do so as often as it likes. */
		if (err == -ERANGE && ++restarts > RESTARTS)
			return;
	}
	queue_delayed_work(system_highpri_wq, &work, nsecs_to_jiffies(delay));
}

void ct_clock_start(void)
{
	if (running)
		return;
	if (!clock_usable()) {
		static_branch_disable(&ct_clock_usable);
		return;
	}
	static_branch_enable(&ct_clock_usable);
	running = true;
	restarts = 0;
	clock_begin_anew();
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

static const struct file_operations clock_fops = {
	.owner = THIS_MODULE,
	.mmap = clock_mmap,
};

long ct_clock_map(void)
{
	struct file *file = anon_inode_getfile("[cudatrace-clock]", &clock_fops, NULL, O_RDONLY);
	unsigned long address;

	if (IS_ERR(file))
		return PTR_ERR(file);
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
	INIT_DELAYED_WORK(&work, clock_keep_going);
	return 0;
}

void ct_clock_exit(void)
{
	ct_clock_stop();
	vfree(ct_clock_page);
}
