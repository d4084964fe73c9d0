// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What this user may do with /dev/cudatrace, and which probes resolve.  Must never
 * start a session: another one may be recording.
 */
#include "doctor/doctor_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "capture/device.h"
#include "module/uapi/cudatrace.h"

#define STATES (CT_PROBE_SHADOWED + 1)
#define PROBES_MAX 4096

void ct_doctor_probes(char *text, size_t size, const unsigned int *count, size_t states)
{
	/* In this order; a state that has no row only counts in the sum. */
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

struct ct_check_result ct_check_device_there(struct ct_doctor *d)
{
	if (!d->loaded || ct_doctor_has(CT_DEVICE_PATH))
		return ct_no_finding();
	return ct_check_result(CT_FINDING_MISSING, "modprobe -r cudatrace; modprobe cudatrace",
			  "the module is loaded, but %s is not there", CT_DEVICE_PATH);
}

struct ct_check_result ct_check_device_records(struct ct_doctor *d)
{
	char cure[256];

	ct_device_how_to_open(cure, sizeof(cure));
	d->device = open(CT_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	d->device_records = d->device >= 0;
	if (d->device >= 0)
		return ct_no_finding();
	if (errno == EBUSY)
		return ct_check_result(CT_FINDING_MISSING, "wait for the other recording to end",
				  "%s is in use", CT_DEVICE_PATH);
	return ct_check_result(CT_FINDING_MISSING, cure, "%s can't be opened for recording: %s",
			  CT_DEVICE_PATH, strerror(errno));
}

struct ct_check_result ct_check_device_reads(struct ct_doctor *d)
{
	char cure[256];

	ct_device_how_to_open(cure, sizeof(cure));
	if (d->device < 0)
		d->device = open(CT_DEVICE_PATH, O_RDONLY | O_CLOEXEC);
	if (d->device >= 0)
		return ct_check_result(CT_FINDING_OK, NULL, "%s opens for %s", CT_DEVICE_PATH,
				  d->device_records ? "recording" : "reading");
	return ct_check_result(CT_FINDING_MISSING, cure, "%s can't be read: %s", CT_DEVICE_PATH,
			  strerror(errno));
}

struct ct_check_result ct_check_version(struct ct_doctor *d)
{
	static const char cure[] = "load the module of this version of cudatrace";
	struct ct_version version = { .size = sizeof(version), .abi = CT_ABI_VERSION };

	if (ioctl(d->device, CT_IOC_VERSION, &version)) {
		d->device_records = false;
		return ct_check_result(CT_FINDING_MISSING, cure, "%s does not answer as cudatrace's: %s",
				  CT_DEVICE_PATH, strerror(errno));
	}
	if (version.abi == CT_ABI_VERSION && version.schema == CT_SCHEMA_VERSION)
		return ct_no_finding();
	d->device_records = false;
	return ct_check_result(
		CT_FINDING_MISSING, cure,
		"the loaded module speaks ABI %u, schema %u, this program ABI %u, schema %u: update the %s",
		version.abi, version.schema, CT_ABI_VERSION, CT_SCHEMA_VERSION,
		ct_device_is_older(&version) ? "module" : "program");
}

/* Probe @i; false after the last one. */
static bool device_get_probe(const struct ct_doctor *d, uint32_t i, struct ct_probe_info *probe)
{
	*probe = (struct ct_probe_info){ .size = sizeof(*probe), .index = i };
	if (i >= PROBES_MAX || ioctl(d->device, CT_IOC_GET_PROBE, probe))
		return false;
	probe->symbol[sizeof(probe->symbol) - 1] = 0;
	return true;
}

/* A finding for each. */
struct ct_check_result ct_check_refused_probes(struct ct_doctor *d)
{
	struct ct_probe_info probe;
	struct ct_check_result f;

	while (device_get_probe(d, d->next_probe, &probe)) {
		d->next_probe++;
		if (probe.state != CT_PROBE_FAILED)
			continue;
		f = ct_check_result(CT_FINDING_MISSING, NULL, "probe on %s: the kernel refused: %s",
			       probe.symbol, strerror(-probe.error));
		f.more = true;
		return f;
	}
	return ct_no_finding();
}

struct ct_check_result ct_check_probes(struct ct_doctor *d)
{
	unsigned int count[STATES] = { 0 };
	struct ct_probe_info probe;
	char text[256];
	uint32_t i;

	for (i = 0; device_get_probe(d, i, &probe); i++)
		if (probe.state < STATES)
			count[probe.state]++;
	if (!i)
		return ct_no_finding();
	ct_doctor_probes(text, sizeof(text), count, STATES);
	return ct_check_result(CT_FINDING_OK, NULL, "%s", text);
}

struct ct_check_result ct_check_absent_probes(struct ct_doctor *d)
{
	struct ct_probe_info probe;
	char absent[1024] = "";
	size_t used = 0;

	for (uint32_t i = 0; device_get_probe(d, i, &probe); i++)
		if (probe.state == CT_PROBE_ABSENT &&
		    used + strlen(probe.symbol) + 2 < sizeof(absent))
			used += sprintf(absent + used, " %s", probe.symbol);
	if (!*absent)
		return ct_no_finding();
	return ct_check_result(CT_FINDING_NOTE, NULL, "not in the loaded driver:%s", absent);
}
