// SPDX-License-Identifier: LGPL-2.1-or-later
/* See orphan_save.h. */
#include "capture/orphan_save.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/recording.h"

void ct_orphan_save(const char *dir)
{
	struct ct_recording rec = CT_RECORDING_INIT;
	struct ct_error err = { 0 };
	char name[PATH_MAX];
	uint32_t owner_pid;
	int i, n;

	if (ct_device_adopt(&rec.device, &err))
		return;
	owner_pid = rec.device.session.owner_pid;
	rec.module = true;
	for (i = 1; i < 100; i++) {
		snprintf(name, sizeof(name), i == 1 ? "%.4000s-left" : "%.4000s-left-%d", dir, i);
		if (access(name, F_OK))
			break;
	}
	if (ct_recording_directory(&rec, name, false, &err) ||
	    ct_recording_registry(&rec, NULL, &err)) {
		ct_complain("recorder %u was killed; its unread records can't be saved: %s",
			    owner_pid, err.text);
		ct_device_close(&rec.device);
		return;
	}
	n = ct_device_snapshot(&rec.device, rec.dirfd, 0, &err);
	if (n >= 0 && ct_device_drain_threadbufs(&rec.device, rec.dirfd, true, &err) < 0)
		n = -1;
	ct_recording_streams(&rec);
	if (n < 0 || ct_device_registry(&rec.device, &rec.registry))
		ct_complain("recorder %u was killed; its unread records are not all saved: %s",
			    owner_pid, err.text);
	else
		ct_device_stop(&rec.device);
	if (ct_recording_finish(&rec, &err))
		ct_complain("%s", err.text);
	fprintf(stderr, "cudatrace: recorder %u was killed; its unread records are saved in %s\n",
		owner_pid, name);
}
