// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace doctor: runs the checks of doctor/checks.c and prints what they find.
 * Must never change anything.
 */
#include <argp.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "doctor/checks.h"
#include "view/term.h"

static const char doc[] =
	"Check what cudatrace needs on this machine, and whether 'cudatrace record' can\n"
	"use the kernel module.  Print a command that mends what is missing.\n"
	"\v"
	"Exit status: 0 if a recording works, with the module or without it; 1 if not.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace doctor\n"
	"  sudo cudatrace doctor    (checks what root may do)\n";

static void doctor_print(const struct ct_finding *f, FILE *out, bool colour)
{
	static const char *const word[] = {
		[CT_FINDING_OK] = "ok", [CT_FINDING_NOTE] = "note", [CT_FINDING_MISSING] = "missing",
	};
	static const char *const code[] = {
		[CT_FINDING_OK] = "\033[32m", [CT_FINDING_NOTE] = "\033[33m",
		[CT_FINDING_MISSING] = "\033[31m",
	};

	if (f->level == CT_FINDING_NONE)
		return;
	fprintf(out, "%s%-8s%s%s\n", colour ? code[f->level] : "", word[f->level],
		colour ? "\033[0m" : "", f->text);
	if (*f->cure)
		fprintf(out, "%8s%s%s%s\n", "", colour ? "\033[1m" : "-> ", f->cure,
			colour ? "\033[0m" : "");
}

/* Does 'record' use the module, and if not, why?  Returns the exit status. */
static int doctor_verdict(const struct ct_doctor *d, FILE *out)
{
	fputc('\n', out);
	if (d->device_records && d->library) {
		fprintf(out,
			"'cudatrace record' uses the module: calls of the program and what the kernel driver does for them.\n");
		return 0;
	}
	if (d->library) {
		fprintf(out,
			"'cudatrace record' works without the module (%s): calls of the program, and its ioctls as the program sees them.\n",
			!d->loaded ? "it is not loaded" : "this user may not record with it");
		return 0;
	}
	fprintf(out, "'cudatrace record' does not work: the preload library is missing.\n");
	return 1;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp argp = { NULL, NULL, "", doc, NULL, NULL, NULL };
	struct ct_doctor d = CT_DOCTOR_INIT;
	bool colour = ct_term_colour(stdout);
	struct ct_finding f;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	for (size_t i = 0; i < ct_checks_count; i++) {
		if (ct_checks[i].when && !ct_checks[i].when(&d))
			continue;
		do {
			f = ct_checks[i].check(&d);
			doctor_print(&f, stdout, colour);
		} while (f.more);
	}
	if (d.device >= 0)
		close(d.device);
	return doctor_verdict(&d, stdout);
}
