// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace doctor: runs the checks of doctor/checks.c and prints what they find.
 * Must never change anything.
 */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "doctor/checks.h"
#include "doctor/place.h"
#include "doctor/selftest.h"
#include "view/term.h"

static const char doc[] =
	"Check what cudatrace needs on this machine, and whether 'cudatrace record' can\n"
	"use the kernel module.  Print a command that mends what is missing.  With\n"
	"PROGRAM also whether that program can be recorded; it is not run.  With\n"
	"--selftest record 100,000 ranges and 100,000 ioctls of NVIDIA's driver of this\n"
	"command's own, look at each record, and say what recording costs here.  No GPU\n"
	"is used.\n"
	"\v"
	"Exit status: 0 if a recording works, with the module or without it, what\n"
	"--selftest did, too, and PROGRAM can be recorded; 1 if not.\n"
	"\n"
	"EXAMPLES\n"
	"  cudatrace doctor\n"
	"  cudatrace doctor ./train\n"
	"  cudatrace doctor --selftest\n"
	"  cudatrace doctor --json |\n"
	"    jq -r '.findings[] | select(.level == \"missing\") | .cure'\n"
	"  sudo cudatrace doctor    (checks what root may do)\n";

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "one object: findings with check, level, text, cure; and the verdict", 0 },
	{ "selftest", 's', NULL, 0, "also record this command itself, and look at every record", 0 },
	{ CT_SELFTEST_PROGRAM, 'P', NULL, OPTION_HIDDEN, NULL, 0 },
	{ 0 },
};

struct env {
	struct ct_doctor doctor;
	bool json;
	bool program;
};

static error_t doctor_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'j':
		env->json = true;
		return 0;
	case 's':
		env->doctor.selftest = true;
		return 0;
	case 'P':
		env->program = true;
		return 0;
	case ARGP_KEY_ARG:
		if (env->doctor.program)
			argp_failure(state, CT_USAGE, 0, "one PROGRAM, not also '%s'", arg);
		env->doctor.program = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const char *const doctor_word[] = {
	[CT_FINDING_OK] = "ok", [CT_FINDING_NOTE] = "note", [CT_FINDING_MISSING] = "missing",
};

/* @width: of a terminal; 0: a pipe, which has a line for each. */
static void doctor_text(FILE *out, const char *text, unsigned int width, unsigned int indent)
{
	if (width > 2 * indent)
		ct_term_wrap(out, text, width, indent, indent);
	else
		fprintf(out, "%s\n", text);
}

static void doctor_print(const struct ct_check_result *f, FILE *out, bool colour, unsigned int width)
{
	static const char *const code[] = {
		[CT_FINDING_OK] = "\033[32m", [CT_FINDING_NOTE] = "\033[33m",
		[CT_FINDING_MISSING] = "\033[31m",
	};

	if (f->level == CT_FINDING_NONE)
		return;
	fprintf(out, "%s%-8s%s", colour ? code[f->level] : "", doctor_word[f->level], colour ? "\033[0m" : "");
	doctor_text(out, f->text, width, 8);
	/* In one line, to be copied. */
	if (*f->cure)
		fprintf(out, "%8s%s%s%s\n", "", colour ? "\033[1m" : "-> ", f->cure,
			colour ? "\033[0m" : "");
}

static void doctor_json_text(struct ct_out *out, const char *key, const char *text)
{
	ct_out_text(out, key);
	ct_out_json(out, text, strlen(text));
}

static void doctor_print_json(struct ct_out *out, const char *check, const struct ct_check_result *f, bool *first)
{
	if (f->level == CT_FINDING_NONE)
		return;
	doctor_json_text(out, *first ? "{\"check\":" : ",{\"check\":", check);
	doctor_json_text(out, ",\"level\":", doctor_word[f->level]);
	doctor_json_text(out, ",\"text\":", f->text);
	doctor_json_text(out, ",\"cure\":", f->cure);
	ct_out_char(out, '}');
	*first = false;
}

/* Does 'record' use the module, and if not, why? */
static const char *doctor_verdict(const struct ct_doctor *d)
{
	if (d->device_records && d->library)
		return "'cudatrace record' uses the module: calls of the program and what the kernel driver does for them.";
	if (d->library && !d->loaded)
		return "'cudatrace record' works without the module (it is not loaded): calls of the program, and its ioctls as the program sees them.";
	if (d->library)
		return "'cudatrace record' works without the module (this user may not record with it): calls of the program, and its ioctls as the program sees them.";
	return "'cudatrace record' does not work: the preload library is missing.";
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp argp = { options, doctor_parse, "[PROGRAM]", doc, NULL, NULL, NULL };
	struct env env = { .doctor = CT_DOCTOR_INIT };
	struct ct_doctor *d = &env.doctor;
	unsigned int width = isatty(STDOUT_FILENO) ? ct_term_width(stdout, 0) : 0;
	bool colour = ct_term_colour(stdout), first = true, refused = false;
	struct ct_check_result f;
	struct ct_out out;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (env.program)
		return ct_selftest_program();
	if (ct_out_open(&out, STDOUT_FILENO))
		return ct_complain("no memory");
	if (env.json)
		ct_out_text(&out, "{\"findings\":[");
	for (size_t i = 0; i < ct_checks_count; i++) {
		if (ct_checks[i].when && !ct_checks[i].when(d))
			continue;
		do {
			f = ct_checks[i].check(d);
			refused |= ct_checks[i].check == ct_check_program && f.level == CT_FINDING_MISSING;
			if (env.json)
				doctor_print_json(&out, ct_checks[i].name, &f, &first);
			else
				doctor_print(&f, stdout, colour, width);
		} while (f.more);
	}
	if (d->device >= 0)
		close(d->device);
	if (env.json) {
		ct_out_text(&out, d->library ? "],\"works\":true" : "],\"works\":false");
		ct_out_text(&out, d->device_records && d->library ? ",\"module\":true" : ",\"module\":false");
		doctor_json_text(&out, ",\"verdict\":", doctor_verdict(d));
		ct_out_text(&out, "}\n");
	} else {
		putchar('\n');
		doctor_text(stdout, doctor_verdict(d), width, 0);
	}
	return ct_out_close(&out) || !d->library || d->selftest_failed || refused;
}
