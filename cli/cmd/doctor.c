// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace doctor: what is missing on this machine, and what mends it.  Must
 * never change anything.
 */
#include <argp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "doctor/doctor.h"
#include "view/term.h"

static const char doc[] =
	"Tell what cudatrace finds on this machine, which way 'cudatrace record' would\n"
	"take, and for each thing that is missing the command that mends it.\n"
	"\v"
	"Exit status: 0 if a recording works by any way, 1 if not.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace doctor\n"
	"  sudo cudatrace doctor    (what root may do)\n";

void ct_finding(struct ct_doctor *d, enum ct_finding what, const char *cure, const char *format,
		...)
{
	static const char *const word[] = { "ok", "note", "missing" };
	static const char *const colour[] = { "\033[32m", "\033[33m", "\033[31m" };
	va_list args;

	fprintf(d->out, "%s%-8s%s", d->colour ? colour[what] : "", word[what],
		d->colour ? "\033[0m" : "");
	va_start(args, format);
	vfprintf(d->out, format, args);
	va_end(args);
	fputc('\n', d->out);
	if (cure && *cure)
		fprintf(d->out, "%8s%s%s%s\n", "", d->colour ? "\033[1m" : "-> ", cure,
			d->colour ? "\033[0m" : "");
}

bool ct_doctor_read(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	bool got;

	if (!f)
		return false;
	got = fgets(buf, size, f) != NULL;
	if (got)
		buf[strcspn(buf, "\n")] = 0;
	fclose(f);
	return got;
}

/* Which way, and why not the better one. */
static int doctor_verdict(struct ct_doctor *d)
{
	fputc('\n', d->out);
	if (d->device_opens && d->library) {
		fprintf(d->out,
			"'cudatrace record' uses the module: calls of the program and what the kernel driver does for them.\n");
		return 0;
	}
	if (d->library) {
		fprintf(d->out,
			"'cudatrace record' works without the module (%s): calls of the program, and its ioctls as the program sees them.\n",
			!d->loaded ? "it is not loaded" : "this user may not record with it");
		return 0;
	}
	fprintf(d->out, "'cudatrace record' does not work: the preload library is missing.\n");
	return 1;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp argp = { NULL, NULL, "", doc, NULL, NULL, NULL };
	struct ct_doctor d = { .out = stdout, .colour = ct_term_colour(stdout) };

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	ct_doctor_kernel(&d);
	ct_doctor_module(&d);
	ct_doctor_device(&d);
	ct_doctor_cuda(&d);
	return doctor_verdict(&d);
}
