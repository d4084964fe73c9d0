// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The library's lines from the counter to ns, on a counter and a clock of the test's
 * own: that time never goes back, from one thread to another either, stays near the
 * clock while that is slewed, and that what cannot be trusted is not.  Prints TAP.
 */
#include <stdint.h>

static uint64_t ticks, rate_num = 3, rate_den = 10;	/* 3.33 GHz */
static int64_t offset;			/* ns that the clock is off the counter */
static double slew;			/* parts that the clock runs faster */

#define CT_COUNTER()	(++ticks)
#define CT_REAL_CLOCK
static _Bool counter_usable(void);
#include "../../userlib/base/clock.c"
#include "../tap.h"

static bool usable = true;

u64 ct_clock_real(void)
{
	ticks += 60;
	return (u64)((double)ticks * rate_num / rate_den * (1 + slew)) + (u64)offset;
}

static bool counter_usable(void)
{
	return usable;
}

static bool on_line(const struct ct_clock_copy *c)
{
	return c->tsc != CT_CLOCK_NEVER;
}

static s64 distance(u64 t)
{
	return (s64)(t - ct_clock_real());
}

static void start_anew(void)
{
	memset(&own, 0, sizeof(own));
	page = NULL;
	wrong = 0;
	own.usable = counter_usable();
	take_pair(&own.base);
	own.middle = own.base;
	page = &own.page;
}

/* n stamps by two threads in turn, step ns apart: back steps, worst distance. */
static void run(struct ct_clock_copy copy[2], int n, u64 step, u64 *back, s64 *worst)
{
	static u64 last;
	u64 t;

	*back = 0;
	*worst = 0;
	if (!on_line(&copy[0]) && !on_line(&copy[1]))
		last = 0;
	for (int i = 0; i < n; i++) {
		ticks += step * rate_den / rate_num;
		t = ct_clock_now(&copy[i & 1]);
		*back += t < last;
		last = t;
		t = (u64)(distance(t) < 0 ? -distance(t) : distance(t));
		if ((s64)t > *worst)
			*worst = (s64)t;
	}
}

/* n lines' time, which thread 0 sleeps through from a line's begin; it is told how far off? */
static s64 told_after(struct ct_clock_copy *copy, double n)
{
	u32 line;
	u64 back;
	s64 worst;

	run(copy, 300000, 10000, &back, &worst);	/* what was before is no more seen */
	for (line = own.page.newest; own.page.newest == line; ct_clock_now(copy))
		ticks += 10000 * rate_den / rate_num;
	offset -= 30000;
	ticks += (u64)(n * 1e8) * rate_den / rate_num;
	return distance(ct_clock_now(copy));
}

/* As docs/design.md and cudatrace.h say them. */
static void limits(void)
{
	struct ct_clock_copy none = CT_CLOCK_COPY, copy[2] = { none, none };
	u64 back;
	s64 worst, seven, nine;
	u32 n;

	start_anew();
	run(copy, 100000, 10000, &back, &worst);
	offset += 40000;
	run(copy, 300000, 10000, &back, &worst);
	ok(!own.restarts && !back, "40 us off: the lines go on");
	offset += 60000;
	run(copy, 100000, 10000, &back, &worst);
	ok(own.restarts == 1, "60 us off: they begin anew");
	seven = told_after(copy, 7);
	nine = told_after(copy, 9);
	ok(seven > 28000 && seven < 32000, "a line is used for 7 times its promise (%lld ns off)",
	   (long long)seven);
	ok(nine > -500 && nine < 500, "and not for 9 times (%lld ns off)", (long long)nine);
	start_anew();
	for (n = 0; own.usable && n < 100; n++) {
		run(copy, 100000, 10000, &back, &worst);
		offset += 100000;
	}
	ok(n == 18, "the 17th time that the counter strays is the last (%u)", n - 1);
	/* Whose ticks are long, as a copy's numbers can tell and can't. */
	rate_num = 19;
	copy[0] = copy[1] = none;
	start_anew();
	run(copy, 100000, 10000, &back, &worst);
	ok(on_line(copy) && !back && worst < 2000, "a counter of 526 MHz: lines, %lld ns off", (long long)worst);
	rate_num = 21;
	copy[0] = copy[1] = none;
	start_anew();
	run(copy, 100000, 10000, &back, &worst);
	ok(!on_line(copy) && !own.usable && !back && worst < 2000, "of 476 MHz: none, %lld ns", (long long)worst);
	/* The module's, which does not ask us. */
	copy[0] = copy[1] = none;
	start_anew();
	publish(ticks, ct_clock_real(), 1ull << 30, (u64)(2.1 * (1ull << 32)));
	run(copy, 1000, 10000, &back, &worst);
	ok(!on_line(copy) && worst < 2000, "nor does a thread go by the module's, %lld ns", (long long)worst);
	rate_num = 3;
}

/* A thread's next record, as packet.c stamps it. */
static u64 record(struct ct_clock_copy *c, u64 *last)
{
	u64 t = ct_clock_now(c);

	if (t < *last) {
		ct_clock_earlier(c, *last);
		t = ct_clock_now(c);
	}
	if (t > *last)
		*last = t;
	return *last;
}

/* ns of records by n threads, 10 us apart: how far off is the worst? */
static s64 records(struct ct_clock_copy *copy, u64 *last, int n, u64 ns)
{
	s64 worst = 0, d;

	for (u64 passed = 0; passed <= ns; passed += 10000) {
		for (int i = 0; i < n; i++) {
			d = distance(record(&copy[i], &last[i]));
			d = d < 0 ? -d : d;
			worst = d > worst ? d : worst;
		}
		ticks += 10000 * rate_den / rate_num;
	}
	return worst;
}

static struct ct_clock_page modules;

static void module_renews(void)
{
	struct pair now;

	take_pair(&now);
	begin_anew(&now);
	modules = own.page;
}

static void module_publishes(void)
{
	carry_on();
	modules = own.page;
}

/*
 * The counter is set back when 0.6 of a line are over, to so many lines from its begin.  One
 * thread notices at once, another one when there are lines again.
 */
static void set_back(const char *where, double to, bool module)
{
	const char *whose = module ? "the module's" : "the own";
	struct ct_clock_copy copy[2] = { CT_CLOCK_COPY, CT_CLOCK_COPY };
	const struct ct_clock_segment *l;
	u64 last[2] = { 0, 0 }, back, length;
	s64 first, worst, rest;
	u32 newest;

	start_anew();
	records(copy, last, 2, 1000000000);
	for (newest = own.page.newest; own.page.newest == newest; )
		records(copy, last, 2, 0);
	l = &own.page.segment[own.page.newest % CT_CLOCK_SEGMENTS];
	length = l->until - l->tsc;
	if (module) {
		modules = own.page;
		ct_clock_use(&modules);
	}
	while ((s64)(ticks - l->tsc) < (s64)(length * 6 / 10))
		records(copy, last, 2, 0);
	back = (u64)((0.6 - to) * (double)length);
	ticks -= back;
	offset = 0;
	offset = (s64)(last[0] - ct_clock_real());
	first = distance(ct_clock_now(copy));
	ok(first < -(s64)(back * rate_num / rate_den) * 9 / 10,
	   "the counter is set back into %s line: a copy tells a time that is %lld ns off", where,
	   (long long)first);
	worst = records(copy, last, 1, 5000000);
	ok(worst < 3000 && !on_line(copy), "%s lines: not used, at worst %lld ns off", whose,
	   (long long)worst);
	ok(own.restarts == !module, "... which begin anew%s", module ? " by the module alone" : "");
	if (module)
		module_renews();
	rest = records(copy, last, 1, 10000000);
	if (module)
		module_publishes();
	worst = records(copy, last, 1, 100000);
	worst = rest > worst ? rest : worst;
	ok(worst < 3000 && on_line(copy), "... and are back: at worst %lld ns off", (long long)worst);
	newest = own.page.newest;
	first = distance(ct_clock_now(&copy[1]));
	worst = records(copy, last, 2, 0);
	ok(first < -(s64)ERROR_NS && worst < 3000 && on_line(&copy[1]) && own.page.newest == newest,
	   "... which is told to a thread that was %lld ns off", (long long)first);
	worst = records(copy, last, 2, module ? 90000000 : 1000000000);
	ok(worst < 3000 && on_line(copy) && on_line(&copy[1]) && own.restarts == 1,
	   "... and so it stays: at worst %lld ns off", (long long)worst);
}

int main(void)
{
	struct ct_clock_copy copy[2] = { CT_CLOCK_COPY, CT_CLOCK_COPY };
	u64 back;
	s64 worst;
	u32 n;

	ticks = 1ull << 40;
	ok(ct_clock_now(&copy[0]) && !on_line(&copy[0]), "before anything is set up, the clock itself");
	start_anew();
	run(copy, 1000, 100, &back, &worst);
	ok(!own.page.newest, "no line before its slope can be known");
	run(copy, 200000, 10000, &back, &worst);
	ok(own.page.newest > 15 && on_line(&copy[0]) && on_line(&copy[1]), "then there are lines (%u)",
	   own.page.newest);
	for (n = own.page.newest; own.page.newest == n; )
		run(copy, 1, 10000, &back, &worst);
	carry_on();
	ok(own.page.newest == n + 1, "who comes late for a line publishes none");
	run(copy, 200000, 10000, &back, &worst);
	ok(!back && worst < 500, "two threads: time went back %llu times, %lld ns off",
	   (unsigned long long)back, (long long)worst);
	run(copy, 300000, 1000, &back, &worst);
	ok(!back && worst < 500, "busy ones: %llu times, %lld ns", (unsigned long long)back,
	   (long long)worst);
	offset -= (s64)(ticks * 0.3 * 1e-4);
	slew = 1e-4;
	run(copy, 200000, 10000, &back, &worst);
	ok(!back && worst < 25000, "the clock is slewed by 100 ppm: %llu times, %lld ns",
	   (unsigned long long)back, (long long)worst);
	run(copy, 400000, 10000, &back, &worst);
	ok(!back && worst < 3000, "and is met again: %llu times, %lld ns", (unsigned long long)back,
	   (long long)worst);
	ticks += 20000000000ull;
	run(copy, 100000, 10000, &back, &worst);
	ok(!back && worst < 3000 && on_line(&copy[0]), "a thread that slept for seconds: %llu times, %lld ns",
	   (unsigned long long)back, (long long)worst);
	/* In a suspend the counter goes on and the clock does not. */
	ticks += 20000000000ull;
	offset -= 6000000000ll;
	run(copy, 100000, 10000, &back, &worst);
	ok(worst < 3000 && on_line(&copy[0]), "a suspend: %lld ns off, and there are lines again",
	   (long long)worst);
	offset -= 200000;
	for (u32 restarts = own.restarts; own.restarts == restarts; worst = distance(ct_clock_now(copy)))
		ticks += 10000 * rate_den / rate_num;
	ok(worst > -500 && worst < 500, "set back by 200 us: the time told by who saw it is %lld ns off",
	   (long long)worst);
	run(copy, 100000, 10000, &back, &worst);
	offset += 200000;
	run(copy, 50000, 10000, &back, &worst);
	run(copy, 50000, 10000, &back, &worst);
	ok(worst < 3000, "the clock was stepped by 200 us: seen, and %lld ns off afterwards", (long long)worst);
	for (int i = 0; i < 40; i++) {
		offset += 100000;
		run(copy, 30000, 10000, &back, &worst);
	}
	ok(!own.usable, "a counter that strays again and again is given up");
	run(copy, 10000, 10000, &back, &worst);
	ok(!own.page.newest && worst < 200, "and the clock itself is asked: %lld ns", (long long)worst);
	limits();
	slew = 0;
	for (int module = 0; module < 2; module++) {
		set_back("the current", 0.2, module);
		set_back("the previous", -0.5, module);
		set_back("a former", -1.5, module);
	}
	own.busy = 1;
	ct_clock_renew();
	ok(!own.busy, "a child is not kept from it by what its parent was doing");
	return tap_done();
}
