// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * markers.c - a program that marks its own phases in a recording.
 *
 * Uses the public header and nothing else: it links with no library, needs no
 * GPU, and does the same work with and without cudatrace. An argument is the
 * number of steps (3). It must stay small enough to be read as documentation.
 */
#include <cudatrace/cudatrace.h>

#include <stdio.h>
#include <stdlib.h>

/* Something that takes a while; the result keeps it from being optimised. */
static double work(int step)
{
	double sum = 0;
	int i;

	for (i = 1; i < 200000; i++)
		sum += 1.0 / ((double)i * (step + 1));
	return sum;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 3;
	char text[64];
	double sum = 0;
	int step;

	cudatrace_note("program begins");
	for (step = 0; step < steps; step++) {
		snprintf(text, sizeof(text), "step %d", step);
		cudatrace_begin(text);
		cudatrace_begin("forward");
		sum += work(step);
		cudatrace_end();
		cudatrace_begin("backward");
		sum -= work(2 * step);
		cudatrace_end();
		cudatrace_end();
	}
	cudatrace_note("program ends");
	printf("%d steps, %s\n", steps,
	       cudatrace_mark ? "marked" : "not marked: no cudatrace here");
	return sum > -1e9 ? 0 : 1;
}
