// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prints the number of the processor that nobody else disturbed for the greatest part
 * of the last tenth of a second: for the next round of programs in turns.
 */
#define _GNU_SOURCE
#include "quiet.h"

#define PASSES	3
#define LOOPS	1000	/* of a pass */

int main(void)
{
	static float took[CPU_SETSIZE][PASSES * LOOPS];
	double least = 1e9;
	int best = -1, most = -1;

	for (int pass = 0; pass < PASSES; pass++)
		for (int i = 0; i < CPU_SETSIZE; i++) {
			if (!CPU_ISSET(i, allowed()) || !move_to(i))
				continue;
			for (int n = 0; n < LOOPS; n++) {
				float t = (float)additions();

				took[i][pass * LOOPS + n] = t;
				if (t < least)
					least = t;
			}
		}
	for (int i = 0; i < CPU_SETSIZE; i++) {
		int quiet = 0;

		for (int n = 0; n < PASSES * LOOPS; n++)
			quiet += took[i][n] > 0 && took[i][n] < least * ALONE;
		if (quiet > most && took[i][0] > 0) {
			most = quiet;
			best = i;
		}
	}
	printf("%d %d\n", best, most * 100 / (PASSES * LOOPS));
	return best < 0;
}
