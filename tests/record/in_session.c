// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cudatrace session attach and detach without a module: in_session attach|detach PID
 *
 * The library (CUDATRACE_LIBRARY) has a module of its own in it, tests/userlib/fake_device.c, and
 * CUDATRACE_DEVICE is any file that can be opened.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach.h"
#include "capture/launch.h"

int main(int argc, char **argv)
{
	static struct ct_attach_to to;
	static struct ct_attached a;
	struct ct_error err = { 0 };
	char library[PATH_MAX];
	unsigned int kept = 0;
	int rc;

	if (argc != 3 || ct_launch_library(library, sizeof(library), &err) || ct_attach_prepare_session(&to, library, &err)) {
		fprintf(stderr, "in_session: %s\n", err.text);
		return 2;
	}
	if (!strcmp(argv[1], "attach")) {
		rc = ct_attach(&a, &to, atoi(argv[2]), &err);
	} else {
		rc = ct_attach_find(&a, &to, atoi(argv[2]), &err);
		rc = rc ? rc : ct_attach_end(&a, &to, NULL, &kept, &err);
	}
	if (rc)
		fprintf(stderr, "in_session: %s\n", err.text);
	return rc != 0 || kept;
}
