// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace pack: a trace as one compressed file, which the other commands open as they open a directory.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "capture/finish.h"
#include "cmd/cmd.h"
#include "pack/files.h"
#include "pack/pack.h"
#include "view/term.h"

struct env {
	const char *dir, *file;
	bool force;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "The file to write (default: DIR.tar.zst)", 0 },
	{ "force", 'f', NULL, 0, "Replace FILE if it is there", 0 },
	{ 0 }
};

static const char doc[] =
	"Pack the trace in DIR into one file, to send or to keep it. Every command that reads a trace takes the file "
	"instead of a directory; so does tar.\v"
	"A command that reads it unpacks it into $TMPDIR, or /tmp, and removes that at its end. DIR stays.\n\n"
	"EXAMPLES:\n"
	"  cudatrace pack trace\n"
	"  cudatrace report trace.tar.zst\n"
	"  cudatrace pack -o slow.tar.zst trace; tar --zstd -xf slow.tar.zst\n";

static error_t pack_parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'o':
		env->file = arg;
		return 0;
	case 'f':
		env->force = true;
		return 0;
	}
	return ct_option_trace(key, arg, state, &env->dir);
}

int cmd_pack(int argc, char **argv)
{
	static const struct argp argp = { options, pack_parse, "DIR", doc, NULL, NULL, NULL };
	char file[PATH_MAX], from[CT_TERM_TEXT], to[CT_TERM_TEXT];
	struct env env = { 0 };
	struct ct_error err = { 0 };
	struct ct_packed packed;
	size_t len;
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &env);
	if (ct_pack_is(env.dir))
		return ct_complain("%s is a file: give the directory of a trace", env.dir);
	rc = ct_finish(env.dir, false, &err);
	if (rc < 0)
		return ct_complain("%s", err.text);
	if (rc == 1)
		return ct_complain("%s: still being recorded (cudatrace snapshot makes a copy that can be packed)", env.dir);
	len = strlen(env.dir);
	while (len > 1 && env.dir[len - 1] == '/')
		len--;
	if (!env.file) {
		snprintf(file, sizeof(file), "%.*s.tar.zst", (int)len, env.dir);
		env.file = file;
	}
	if (ct_pack(env.dir, env.file, env.force, &packed, &err))
		return ct_complain("%s", err.text);
	fprintf(stderr, "cudatrace: %s: %s instead of %s\n", env.file, ct_term_bytes(to, packed.to), ct_term_bytes(from, packed.from));
	return 0;
}
