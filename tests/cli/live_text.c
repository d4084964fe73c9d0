// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The live table of text on the standard input, where cudatrace reads the device; with an argument the views of top,
 * of process 4242, until they are ended.
 */
#include <fcntl.h>
#include <stdio.h>

#include "../../cli/live/live.h"
#include "../../cli/live/top.h"

int main(int argc, char **argv)
{
	const struct ct_top_options top = { .delay = 0.2, .batch = true, .pid = 4242, .rows = 1000 };
	static const volatile bool stop;
	struct ct_error err;

	(void)argv;
	/* As the device is opened for top. */
	if (argc > 1)
		fcntl(0, F_SETFL, O_NONBLOCK);
	if (argc > 1 ? ct_top_machine(0, &top, stdout, &stop, &err) : ct_live_device(0, stdout, &stop, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}
