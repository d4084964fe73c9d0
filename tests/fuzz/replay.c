// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * replay FILE...: runs the fuzzer's target on inputs, without libFuzzer.  An input that was
 * found once must stay mended.
 * replay --write DIR FILE: only makes the input's trace, in the new directory DIR.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "make_trace.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *replay_read(const char *path, size_t *size)
{
	uint8_t *data = malloc(1 << 20);
	FILE *f = fopen(path, "r");

	if (!f || !data) {
		perror(path);
		exit(2);
	}
	*size = fread(data, 1, 1 << 20, f);
	fclose(f);
	/* Exactly as long as the input: what is read behind it is seen. */
	return realloc(data, *size ? *size : 1);
}

int main(int argc, char **argv)
{
	uint8_t *data;
	size_t size;

	LLVMFuzzerInitialize(&argc, &argv);
	if (argc == 4 && !strcmp(argv[1], "--write")) {
		if (mkdir(argv[2], 0755)) {
			perror(argv[2]);
			return 2;
		}
		data = replay_read(argv[3], &size);
		fuzz_make_trace(argv[2], data, size);
		free(data);
		return 0;
	}
	for (int i = 1; i < argc; i++) {
		printf("%s\n", argv[i]);
		fflush(stdout);
		data = replay_read(argv[i], &size);
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	return 0;
}
