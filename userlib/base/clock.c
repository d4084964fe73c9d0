// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines from the time-stamp counter to CLOCK_MONOTONIC; see clock.h.
 *
 * The library's own page is kept by whoever finds that a line has ended: it takes
 * the counter and the real clock together, and publishes a line that begins a little
 * later, where the last one will be then, and is sloped to meet the clock at its end.
 * So time goes back in no thread, nor from one to another.  A line is used no longer
 * than for CT_CLOCK_VALID_SPANS times its promise, which ends each of them in a suspend; a counter that
 * strays from the clock is given up.
 *
 * Must never wait: whoever finds the page being written uses what there is.
 */
#include "base/clock.h"

#include "base/elf.h"

#include <cpuid.h>
#include <sys/stat.h>

#define LINE_NS		100000000ull	/* how long a line lasts */
#define AHEAD_NS	1000000ull	/* published so long before it begins */
#define FIRST_NS	10000000ull	/* least time for the first slope */
#define BASE_NS		1000000000ull	/* slopes are taken over one to two of it */
#define ERROR_NS	50000ull	/* further off: something has happened */
#define SPAN_MAX	0xffffffffull	/* ticks that a thread goes by its copy at most */
#define MULT_MAX	0x1ffffffffull	/* a slower counter than 500 MHz is not used */
#define RESTARTS	16		/* so often, and the counter is given up */

struct pair {
	u64 tsc;
	u64 ns;
};

/* The library's own; a child goes on with its copy. */
static struct {
	struct ct_clock_page page;	/* as the module's */
	struct pair base, middle;
	u32 busy;
	u32 lines;
	u32 restarts;
	bool usable;
} own;

static const struct ct_clock_page *page;	/* NULL: no lines */
static u32 wrong;	/* the module's newest when a set-back was noticed: used no more */

/* ------------------------------------------------------- the real clock ---- */
typedef int clock_function(int id, struct timespec *ts);

static clock_function *vdso;

static int find_vdso(struct dl_phdr_info *info, size_t size, void *data)
{
	struct ct_object o;
	const ElfW(Sym) *s;

	(void)size;
	(void)data;
	if (!ct_object_read(&o, info) || strncmp(o.soname, "linux-vdso.so", 13))
		return 0;
	s = ct_object_find(&o, "__vdso_clock_gettime");
	if (s)
		ct_store(&vdso, (clock_function *)(o.base + s->st_value));
	return 1;
}

/*
 * What the process's time namespace adds to the clock.  The program may have asked for another
 * one for its children (unshare()), and the file of offsets speaks of that one.  So in the
 * first namespace, which nearly all programs are in, the file is not read.
 */
#define FIRST_TIME_NAMESPACE	0xeffffffaul	/* the kernel's PROC_TIME_INIT_INO */

static s64 namespace_ns;

static s64 parse_number(const char **s)
{
	bool negative;
	s64 n = 0;

	while (**s == ' ')
		(*s)++;
	negative = **s == '-';
	for (*s += negative; **s >= '0' && **s <= '9'; (*s)++)
		n = n * 10 + (**s - '0');
	return negative ? -n : n;
}

/* "monotonic SECONDS NANOSECONDS" is its first line. */
static s64 find_namespace(void)
{
	const char *s;
	char text[128];
	struct stat st;
	s64 seconds;
	long n;

	if (ct_sys4(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/time", &st, 0) < 0 ||
	    st.st_ino == FIRST_TIME_NAMESPACE)
		return 0;
	n = ct_read_file("/proc/self/timens_offsets", text, sizeof(text) - 1);
	if (n < 10 || memcmp(text, "monotonic ", 10))
		return 0;
	text[n] = 0;
	s = text + 10;
	seconds = parse_number(&s);
	return seconds * 1000000000 + parse_number(&s);
}

void ct_clock_start(void)
{
	ct_each_object(find_vdso, NULL);
}

#ifndef CT_REAL_CLOCK
u64 ct_clock_real(void)
{
	clock_function *f = ct_load(&vdso);
	struct timespec ts;

	if (!f || f(CLOCK_MONOTONIC, &ts))
		ct_sys2(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec - (u64)namespace_ns;
}

/* The kernel goes by the counter, and it runs evenly and through every sleep. */
static bool counter_usable(void)
{
	char name[8];
	u32 a, b, c, d = 0;
	long n = ct_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			      name, sizeof(name));

	return n == 4 && !memcmp(name, "tsc\n", 4) &&
	       __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
}
#endif

/* ------------------------------------------------------- the own lines ----- */
static void take_pair(struct pair *p)
{
	u64 best = ~0ull;

	for (int i = 0; i < 4; i++) {
		u64 before = CT_COUNTER(), ns = ct_clock_real(), after = CT_COUNTER();

		if (after - before >= best)
			continue;
		best = after - before;
		p->tsc = before + best / 2;
		p->ns = ns;
	}
}

static u64 scale(u64 a, u64 b, u64 c)
{
	return (u64)((unsigned __int128)a * b / c);
}

static u64 line_at(const struct ct_clock_segment *l, u64 tsc)
{
	return l->ns + (u64)((__int128)(s64)(tsc - l->tsc) * (s64)l->mult >> 32);
}

static void begin_anew(const struct pair *now)
{
	ct_store(&own.page.newest, 0u);
	/* The next line has none before it; who reads an old one sees that newest moves by 2. */
	memset(&own.page.segment[++own.lines % CT_CLOCK_SEGMENTS], 0, sizeof(*own.page.segment));
	own.base = own.middle = *now;
	if (++own.restarts > RESTARTS)
		own.usable = false;
}

static void publish(u64 tsc, u64 ns, u64 length, u64 mult)
{
	struct ct_clock_segment *l = &own.page.segment[++own.lines % CT_CLOCK_SEGMENTS];

	l->tsc = tsc;
	l->ns = ns;
	l->until = tsc + length;
	l->mult = mult;
	ct_store(&own.page.newest, own.lines);
}

static void next_line(void)
{
	const struct ct_clock_segment *last = &own.page.segment[own.lines % CT_CLOCK_SEGMENTS];
	u64 mult, length, ahead, begin, ns;
	struct pair now;
	s64 error;

	take_pair(&now);
	if (now.ns - own.base.ns < FIRST_NS)
		return;
	if (now.tsc <= own.base.tsc) {
		begin_anew(&now);
		return;
	}
	mult = scale(now.ns - own.base.ns, 1ull << 32, now.tsc - own.base.tsc);
	if (!mult || mult > MULT_MAX) {
		begin_anew(&now);
		return;
	}
	length = scale(LINE_NS, 1ull << 32, mult);
	ahead = scale(AHEAD_NS, 1ull << 32, mult);
	if (!own.page.newest) {
		publish(now.tsc, now.ns, length, mult);
		return;
	}
	error = (s64)(now.ns - line_at(last, now.tsc));
	/* It may not have begun yet. */
	if ((s64)(now.tsc - last->tsc) >= (s64)(CT_CLOCK_VALID_SPANS * (last->until - last->tsc))) {
		/* Nobody uses it any more.  How far the counter may have strayed meanwhile
		 * nobody has seen, so it is its slope that must be what it was. */
		s64 change = (s64)(mult - last->mult);

		if (change > (s64)(mult >> 12) || change < -(s64)(mult >> 12))
			begin_anew(&now);
		else
			publish(now.tsc, now.ns, length, mult);
	} else if (error > (s64)ERROR_NS || error < -(s64)ERROR_NS) {
		begin_anew(&now);
		return;
	} else {
		begin = now.tsc + ahead;
		if (begin < last->until)
			return;		/* somebody else was quicker */
		ns = line_at(last, begin);
		error = (s64)(now.ns + scale(begin - now.tsc, mult, 1ull << 32) - ns);
		publish(begin, ns, length, mult + (u64)(error * (1ll << 32) / (s64)length));
	}
	if (now.ns - own.middle.ns > BASE_NS) {
		own.base = own.middle;
		own.middle = now;
	}
}

/* Signals are blocked. */
static void carry_on(void)
{
	if (!own.usable || !ct_cas(&own.busy, 0u, 1u))
		return;
	next_line();
	ct_store(&own.busy, 0u);
}

/* --------------------------------------------------------- for everybody --- */
/* The line for this moment; false if there is none.  last: it has no promise left. */
static bool find_line(const struct ct_clock_page *p, struct ct_clock_copy *c, u64 *ns,
		      bool *last)
{
	const struct ct_clock_segment *l;
	struct ct_clock_segment found;
	u64 tsc, until, span;
	u32 n;

	do {
		n = ct_load(&p->newest);
		*last = true;
		if (!n)
			return false;
		tsc = CT_COUNTER();
		l = &p->segment[n % CT_CLOCK_SEGMENTS];
		until = l->until;
		if (tsc < l->tsc) {
			until = l->tsc;
			l = &p->segment[(n - 1) % CT_CLOCK_SEGMENTS];
		}
		found = *l;
		span = until - l->tsc;
		if (span > SPAN_MAX)
			span = SPAN_MAX;
		if (tsc - l->tsc >= CT_CLOCK_VALID_SPANS * (l->until - l->tsc))
			span = 0;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&p->newest, __ATOMIC_RELAXED) - n > 1);
	if (!span || found.mult > MULT_MAX)
		return false;
	*last = tsc - found.tsc >= span;
	*ns = found.ns + ((tsc - found.tsc) * found.mult >> 32);
	/* 2^32 ticks before its end, by the slope that the copy has. */
	c->mult = found.mult >> 1;
	c->tsc = found.tsc + span - (1ull << 32);
	c->ns = found.ns + (span * found.mult >> 32) - 2 * c->mult;
	return true;
}

cold u64 ct_clock_slow(struct ct_clock_copy *c)
{
	const struct ct_clock_page *p = ct_load(&page);
	struct ct_clock_copy fresh;
	bool last, found;
	u64 ns = 0, mask;
	u32 n;

	if (!p)
		return ct_clock_real();
	n = ct_load(&p->newest);
	if (!n || n == ct_load(&wrong)) {
		ns = ct_clock_real();
		if (p != &own.page || !own.usable || ns - own.base.ns < FIRST_NS)
			return ns;
	}
	/* A handler that changed the copy while we do would leave half of each. */
	mask = ct_signals_block();
	found = find_line(p, &fresh, &ns, &last);
	if (last && p == &own.page) {
		carry_on();
		/* It may have been wrong. */
		found = found && ct_load(&p->newest);
	}
	if (found && !last)
		*c = fresh;
	else
		c->tsc = CT_CLOCK_NEVER;
	ct_signals_restore(mask);
	return found ? ns : ct_clock_real();
}

static bool earlier(struct ct_clock_copy *c, u64 last)
{
	return ct_clock_now(c) + ERROR_NS < last;
}

cold void ct_clock_earlier(struct ct_clock_copy *c, u64 last)
{
	const struct ct_clock_page *p = ct_load(&page);
	u64 mask;
	u32 n;

	/* A handler's record came between. */
	if (!p || !earlier(c, last))
		return;
	c->tsc = CT_CLOCK_NEVER;
	n = ct_load(&p->newest);
	/* Only the copy was wrong: somebody else has seen to the lines. */
	if (!earlier(c, last))
		return;
	c->tsc = CT_CLOCK_NEVER;
	if (p != &own.page) {
		ct_store(&wrong, n);
		return;
	}
	/* It compares the newest line with the clock, and they begin anew. */
	mask = ct_signals_block();
	carry_on();
	ct_signals_restore(mask);
}

void ct_clock_renew(void)
{
	static bool begun;

	own.busy = 0;
	namespace_ns = find_namespace();
	if (begun)
		return;
	begun = true;
	own.usable = counter_usable();
	if (!own.usable)
		return;
	take_pair(&own.base);
	own.middle = own.base;
	if (!page)
		ct_store(&page, &own.page);
}

void ct_clock_use(const struct ct_clock_page *p)
{
	ct_store(&page, p ? p : own.usable ? &own.page : NULL);
}
