// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See snapshot.h.  Must never change the session, but for the trigger that it was asked
 * to wait for.
 */
#include "capture/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/proc.h"
#include "capture/session_names.h"

int ct_snapshot_attach(struct ct_recording *rec, bool orphaned, struct ct_error *err)
{
	struct ct_error ignored;
	int rc = ct_device_attach(&rec->device, true, err);

	if (rc == -ENODATA && orphaned)
		rc = ct_device_adopt(&rec->device, &ignored) ? rc : 0;
	rec->module = !rc;
	return rc;
}

static int snapshot_set_trigger(struct ct_trigger_set *trigger, struct ct_error *err)
{
	struct ct_device change;
	int rc = ct_device_open(&change, err);

	if (rc)
		return rc;
	trigger->size = sizeof(*trigger);
	if (ioctl(change.fd, CT_IOC_TRIGGER, trigger))
		rc = ct_fail(err, errno, "the trigger can't be set: %s", strerror(errno));
	ct_device_close(&change);
	return rc;
}

int ct_snapshot_wait(struct ct_recording *rec, struct ct_trigger_set *trigger,
		     const struct ct_snapshot_look *look, const volatile sig_atomic_t *fired,
		     const volatile sig_atomic_t *stop, struct ct_error *err)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	const struct ct_facts *facts = rec->device.facts;
	uint32_t before = facts->triggers;
	int rc = trigger->flags ? snapshot_set_trigger(trigger, err) : 0;

	if (rc)
		return rc;
	while (facts->triggers == before && !*fired) {
		if (*stop)
			return ct_fail(err, EINTR,
				       "interrupted before a trigger fired: no snapshot");
		if (!facts->running)
			return ct_fail(err, ENODATA,
				       "the session ended before a trigger fired: no snapshot");
		rc = look->look ? look->look(look->arg, err) : 0;
		if (rc)
			return rc < 0 ? rc : 0;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int ct_snapshot_take(struct ct_recording *rec, const char *dir, bool force, uint64_t since,
		     bool *made, struct ct_error *err)
{
	struct ct_error late;
	int n, rc;

	*made = false;
	rc = ct_recording_directory(rec, dir, force, err);
	if (rc)
		return rc;
	rc = ct_recording_registry(rec, NULL, err);
	if (rc) {
		ct_recording_abandon(rec);
		return rc;
	}
	n = ct_device_snapshot(&rec->device, rec->dirfd, since, err);
	ct_recording_probes(rec);
	ct_recording_streams(rec);
	ct_device_registry(&rec->device, &rec->registry);
	if (ct_proc_is_first())
		ct_session_names(&rec->registry, CT_DEVICE_CLOCK_PAGE);
	/* Its records are in the trace now.  A running session is its owner's. */
	if (n >= 0 && rec->device.session.flags & CT_SESSION_ORPHANED)
		ct_device_stop(&rec->device);
	rc = ct_recording_finish(rec, &late);
	if (rc && n >= 0)
		*err = late;
	*made = !rc;
	return n >= 0 && rc ? rc : n;
}
