// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What this user may do with /dev/cudatrace, and which probes resolve.  Must never
 * start a session: another one may be recording.
 */
#include "doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module/uapi/cudatrace.h"
#include "capture/device.h"

#define STATES	(CT_PROBE_SHADOWED + 1)

void ct_doctor_probes(char *text, size_t size, const unsigned int *count, size_t states)
{
	/* In this order; a state that is not here is counted among all alone. */
	static const struct { enum ct_probe_state state; const char *says; } row[] = {
		{ CT_PROBE_ARMED, "armed" }, { CT_PROBE_IDLE, "idle" },
		{ CT_PROBE_ABSENT, "absent" }, { CT_PROBE_SHADOWED, "under another name" },
		{ CT_PROBE_FAILED, "refused" }, { CT_PROBE_NO_MODULE, "whose module is not loaded" },
	};
	const char *between = ": ";
	unsigned int all = 0;
	size_t i, used;

	for (i = 0; i < states; i++)
		all += count[i];
	used = snprintf(text, size, "%u probe%s", all, all == 1 ? "" : "s");
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		if (row[i].state >= states || !count[row[i].state] || used >= size)
			continue;
		used += snprintf(text + used, size - used, "%s%u %s", between,
				 count[row[i].state], row[i].says);
		between = ", ";
	}
}

static void doctor_check_version(struct ct_doctor *d, int fd)
{
	struct ct_version version = { .size = sizeof(version), .abi = CT_ABI_VERSION };

	if (ioctl(fd, CT_IOC_VERSION, &version)) {
		ct_finding(d, CT_FINDING_MISSING, "load the module of this version of cudatrace",
			   "%s does not answer as cudatrace's: %s", CT_DEVICE_PATH,
			   strerror(errno));
		d->device_opens = false;
	} else if (version.abi != CT_ABI_VERSION || version.schema != CT_SCHEMA_VERSION) {
		ct_finding(d, CT_FINDING_MISSING, "load the module of this version of cudatrace",
			   "the loaded module speaks ABI %u, schema %u, this program ABI %u, schema %u: update the %s",
			   version.abi, version.schema, CT_ABI_VERSION, CT_SCHEMA_VERSION,
			   ct_device_is_older(&version) ? "module" : "program");
		d->device_opens = false;
	}
}

static void doctor_check_probes(struct ct_doctor *d, int fd)
{
	unsigned int count[STATES] = { 0 }, all = 0;
	char absent[1024] = "", text[256];
	size_t used = 0;

	for (unsigned int i = 0; i < 4096; i++) {
		struct ct_probe_info probe = { .size = sizeof(probe), .index = i };

		if (ioctl(fd, CT_IOC_GET_PROBE, &probe))
			break;
		all++;
		if (probe.state < STATES)
			count[probe.state]++;
		probe.symbol[sizeof(probe.symbol) - 1] = 0;
		if (probe.state == CT_PROBE_FAILED)
			ct_finding(d, CT_FINDING_MISSING, NULL, "probe on %s: the kernel refused: %s",
				   probe.symbol, strerror(-probe.error));
		if (probe.state == CT_PROBE_ABSENT && used + strlen(probe.symbol) + 2 < sizeof(absent))
			used += sprintf(absent + used, " %s", probe.symbol);
	}
	if (!all)
		return;
	ct_doctor_probes(text, sizeof(text), count, STATES);
	ct_finding(d, CT_FINDING_OK, NULL, "%s", text);
	if (*absent)
		ct_finding(d, CT_FINDING_NOTE, NULL, "not in the loaded driver:%s", absent);
}

void ct_doctor_device(struct ct_doctor *d)
{
	char cure[256];
	struct group *group;
	struct stat st;
	int fd;

	if (stat(CT_DEVICE_PATH, &st)) {
		if (d->loaded)
			ct_finding(d, CT_FINDING_MISSING, "modprobe -r cudatrace; modprobe cudatrace",
				   "the module is loaded, but %s is not there", CT_DEVICE_PATH);
		return;
	}
	group = getgrgid(st.st_gid);
	snprintf(cure, sizeof(cure), "run as root%s%s",
		 group && st.st_gid ? ", or: usermod -aG " : "", group && st.st_gid ?
		 group->gr_name : "");
	fd = open(CT_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	d->device_opens = fd >= 0;
	if (fd < 0 && errno == EBUSY)
		ct_finding(d, CT_FINDING_MISSING, "wait for the other recording to end",
			   "%s is in use", CT_DEVICE_PATH);
	else if (fd < 0)
		ct_finding(d, CT_FINDING_MISSING, cure, "%s can't be opened for recording: %s",
			   CT_DEVICE_PATH, strerror(errno));
	if (fd < 0)
		fd = open(CT_DEVICE_PATH, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		ct_finding(d, CT_FINDING_MISSING, cure, "%s can't be read: %s", CT_DEVICE_PATH,
			   strerror(errno));
		return;
	}
	ct_finding(d, CT_FINDING_OK, NULL, "%s opens for %s", CT_DEVICE_PATH,
		   d->device_opens ? "recording" : "reading");
	doctor_check_version(d, fd);
	doctor_check_probes(d, fd);
	close(fd);
}
