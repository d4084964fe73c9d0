// SPDX-License-Identifier: LGPL-2.1-or-later
/* See flight.h. */
#include "capture/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/copy.h"
#include "capture/launch.h"
#include "trace/registry.h"
#include "view/term.h"

#define AFTER_NS	300000000ull	/* that a copy has of what follows */
#define NAMES		8	/* the part of what is kept that names may take; metadata has them again */
#define PAUSE_NS	10000000000ull	/* between two that nobody asked for */

static volatile sig_atomic_t flight_signalled;

static void flight_on_signal(int signal)
{
	(void)signal;
	flight_signalled = 1;
}

static void flight_text(const struct ct_flight *f, char *text, size_t size)
{
	char time[CT_TERM_TEXT] = "", bytes[CT_TERM_TEXT];

	if (f->first) {
		snprintf(text, size, "iterations %llu to %llu", (unsigned long long)f->first, (unsigned long long)f->last);
		return;
	}
	if (f->asked.ns)
		ct_term_ns(time, f->asked.ns);
	snprintf(text, size, "the newest %s%s%s", time, f->asked.ns ? ", at most " : "",
		 ct_term_bytes(bytes, f->keep.asked.bytes));
}

/* Packets of the module come when they are full, which lasts long where nothing else happens: it counts at once. */
static int flight_set_trigger(const struct ct_recording *rec, struct ct_error *err)
{
	struct ct_trigger_set trigger = { .size = sizeof(trigger), .flags = CT_TRIGGER_XID };

	return ioctl(rec->device.fd, CT_IOC_TRIGGER, &trigger) ? ct_fail(err, errno, "--on xid: %s", strerror(errno)) : 0;
}

/* Before the module's records are written; what must be written is, though there is nothing more to drop. */
static void flight_room(void *arg, uint64_t bytes)
{
	struct ct_flight *f = arg;

	if (ct_keep_is_due(&f->keep, 0, bytes))
		ct_keep_trim(&f->keep, 0);
	ct_keep_takes(&f->keep, bytes);
}

int ct_flight_open(struct ct_flight *f, struct ct_recording *rec, struct ct_drain *drain, struct ct_error *err)
{
	char text[128];
	int rc;

	f->rec = rec;
	if (!ct_flight_is_on(f))
		return 0;
	rc = ct_keep_open(&f->keep, &f->asked, rec->dirfd, &rec->state, err);
	if (rc)
		return rc;
	snprintf(ct_launch_keeps, sizeof(ct_launch_keeps), "%llu", (unsigned long long)(f->keep.asked.bytes / NAMES));
	if (f->first)
		f->keep.since = &f->since;
	if (f->on_xid && rec->module && flight_set_trigger(rec, err))
		return -EPERM;
	f->triggers = rec->module ? rec->device.facts->triggers : 0;
	if (f->on_xid && !rec->module)
		fprintf(stderr, "cudatrace: --on xid: the module sees Xids, and it does not record here: none will be noticed\n");
	flight_text(f, text, sizeof(text));
	ct_registry_add_info(&rec->registry, CT_KEEP_INFO, text);
	if (drain)
		ct_drain_keeps(drain, &f->keep);
	if (rec->module) {
		rec->device.stream_long = f->keep.stream_long;
		rec->device.room = flight_room;
		rec->device.room_arg = f;
	}
	if (!f->first)
		fprintf(stderr, "cudatrace: keeping %s; a copy: cudatrace snapshot --pid %d\n", text, (int)getpid());
	return 0;
}

void ct_flight_catch(const struct ct_flight *f, bool always)
{
	struct sigaction act = { .sa_handler = flight_on_signal };

	if (always || ct_flight_is_on(f))
		sigaction(SIGUSR2, &act, NULL);
}

/* Is it there? */
static bool flight_name(const struct ct_flight *f, unsigned int number, char name[PATH_MAX])
{
	snprintf(name, PATH_MAX, "%.4000s-%u", f->rec->dir, number);
	return !faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* @again: the last one was not made either. */
static bool flight_copy(struct ct_flight *f, const char *why, bool again)
{
	uint64_t now = ct_now_ns(), since = f->asked.ns && now > f->asked.ns ? now - f->asked.ns : 0;
	char name[PATH_MAX], made[PATH_MAX];
	struct ct_error err = { 0 };

	while (flight_name(f, ++f->number, name))
		;
	if (!ct_copy_take(f->rec->dir, name, false, since, f->rec->module ? &f->rec->device : NULL, made, &err)) {
		fprintf(stderr, "cudatrace: snapshot in %s (%s)\n", made, why);
		return true;
	}
	f->number--;
	if (!again)
		ct_complain("no copy (%s): %s", why, err.text);
	return false;
}

/* Where the number of another one that --on makes belongs; NULL: there are enough. */
static unsigned int *flight_place(struct ct_flight *f)
{
	char name[PATH_MAX];

	for (unsigned int i = 0; i < CT_FLIGHT_COPIES; i++)
		if (!f->made[i] || !flight_name(f, f->made[i], name))
			return &f->made[i];
	return NULL;
}

/* A full disk may have room later, and somebody may take the copies away. */
static void flight_copy_on(struct ct_flight *f, unsigned int *place)
{
	f->failed = !flight_copy(f, f->why, f->failed);
	if (f->failed)
		return;
	*place = f->number;
	if (!flight_place(f))
		fprintf(stderr, "cudatrace: there are %d snapshots of --on now: it makes another one when one of them is moved or removed\n",
			CT_FLIGHT_COPIES);
}

void ct_flight_look(struct ct_flight *f)
{
	uint64_t now = ct_now_ns();
	unsigned int *place;

	if (flight_signalled) {
		flight_signalled = 0;
		flight_copy(f, "SIGUSR2", false);
	}
	if (!ct_flight_is_on(f))
		return;
	if (f->rec->module)
		flight_room(f, 0);
	if (f->on_xid && f->rec->module && f->rec->device.facts->triggers != f->triggers) {
		f->triggers = f->rec->device.facts->triggers;
		if (!f->happened)
			snprintf(f->why, sizeof(f->why), "an Xid");
		f->happened = true;
	}
	if (f->happened && !f->due && now >= f->next)
		f->due = now + AFTER_NS;
	if (f->due && now >= f->due) {
		place = flight_place(f);
		if (place)
			flight_copy_on(f, place);
		f->due = 0;
		f->next = ct_now_ns() + PAUSE_NS;
		f->happened = false;
	}
}

void ct_flight_close(struct ct_flight *f)
{
	/* The program may have ended of it. */
	if (f->rec && (f->due || (f->happened && ct_now_ns() >= f->next)))
		fprintf(stderr, "cudatrace: %s: the trace itself has it\n", f->why);
	ct_keep_close(&f->keep);
}

void ct_flight_tell(const struct ct_flight *f, struct ct_registry_writer *w)
{
	char text[64];

	if (!f->first)
		return;
	if (!f->begin) {
		ct_registry_add_info(w, CT_RANGE_NEVER_INFO, "yes");
		if (f->found)
			fprintf(stderr, "cudatrace: %llu iterations were found, so the trace has the last one only\n",
				(unsigned long long)f->found);
		else
			fprintf(stderr, "cudatrace: no iterations were found (launches and waits that repeat), so the trace has all that was kept\n");
		return;
	}
	snprintf(text, sizeof(text), "%u %llu", f->pid, (unsigned long long)f->begin);
	ct_registry_add_info(w, CT_RANGE_BEGUN_INFO, text);
	snprintf(text, sizeof(text), "%u %llu", f->pid, (unsigned long long)f->end);
	if (f->end)
		ct_registry_add_info(w, "range_ended", text);
	else
		fprintf(stderr, "cudatrace: %llu iterations were found, so the trace has no more\n", (unsigned long long)f->found);
}
