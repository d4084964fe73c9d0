// SPDX-License-Identifier: LGPL-2.1-or-later
/* How much space a trace has.  Must never write anything. */
#include "doctor/doctor_directory.h"

#include <sys/statvfs.h>

/* A minute of a program that makes 500,000 calls a second, of 32 bytes each. */
#define ENOUGH	(60ull * 500000 * 32)

struct ct_check_result ct_check_space(struct ct_doctor *d)
{
	struct statvfs fs;
	uint64_t bytes;

	(void)d;
	if (statvfs(".", &fs))
		return ct_no_finding();
	bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (bytes >= ENOUGH)
		return ct_no_finding();
	return ct_check_result(CT_FINDING_NOTE, "cudatrace record -o DIR, on a larger disk",
			  "the current directory has only %llu MiB for a trace",
			  (unsigned long long)(bytes >> 20));
}
