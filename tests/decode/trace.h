/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Reads the lines of a recorded ioctl trace; vectoradd-h200.txt says what is on
 * one.  For replay and the unit test.
 */
#ifndef CUDATRACE_TESTS_TRACE_H
#define CUDATRACE_TESTS_TRACE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_WORDS	14

struct trace_line {
	unsigned long long	begin;		/* ns */
	unsigned long long	duration;	/* ns */
	char			device[64];
	unsigned int		request;
	int			result;		/* of ioctl() */
	unsigned int		words;
	uint32_t		word[TRACE_WORDS];
};

/* Return: 1 for an ioctl, 0 for a comment or an empty line, -1 for neither. */
static inline int trace_parse(const char *text, struct trace_line *t)
{
	int at = 0;

	if (*text == '#' || *text == '\n' || !*text)
		return 0;
	memset(t, 0, sizeof(*t));
	if (sscanf(text, "%llu %llu %*d %63s req=%x ty=%*x nr=%*x sz=%*u r=%d%n", &t->begin,
		   &t->duration, t->device, &t->request, &t->result, &at) < 5 || !at)
		return -1;
	for (text += at; t->words < TRACE_WORDS; t->words++) {
		char *end;
		unsigned long word = strtoul(text, &end, 16);

		if (end == text)
			break;
		t->word[t->words] = word;
		text = end;
	}
	return 1;
}

#endif /* CUDATRACE_TESTS_TRACE_H */
