// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The live table of text on the standard input, where cudatrace reads the device.
 */
#include <stdio.h>

#include "../../cli/live/live.h"

int main(void)
{
	static const volatile bool stop;
	struct ct_error err;

	if (ct_live_device(0, stdout, &stop, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}
