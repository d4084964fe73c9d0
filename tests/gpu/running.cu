// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program on the runtime API that is attached to while it runs, as running.py: running SECONDS TIMES.
 * An iteration sets memory, launches three kernels, copies one number back and waits.
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

__global__ void add(float *a, float value)
{
	a[threadIdx.x] += value;
}

static long long now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(int argc, char **argv)
{
	long long seconds = argc > 1 ? atoll(argv[1]) : 10, begin, last;
	std::vector<long long> times;
	float *a, sum;
	int n = 0, wrong = 0;

	if (cudaMalloc(&a, 256 * sizeof(*a)) != cudaSuccess)
		return 2;
	printf("ready\n");
	fflush(stdout);
	begin = last = now();
	while (now() - begin < seconds * 1000000000ll) {
		times.push_back(now());
		cudaMemsetAsync(a, 0, 256 * sizeof(*a));
		for (int i = 1; i <= 3; i++)
			add<<<1, 256>>>(a, (float)i);
		cudaMemcpy(&sum, a, sizeof(sum), cudaMemcpyDeviceToHost);
		wrong += sum != 6;
		n++;
		if (now() - last >= 1000000000ll) {
			printf("%.1f %d\n", (now() - begin) / 1e9, n);
			fflush(stdout);
			n = 0;
			last = now();
		}
	}
	printf("wrong %d\n", wrong);
	FILE *file = argc > 2 ? fopen(argv[2], "w") : NULL;
	for (long long t : times)
		if (file)
			fprintf(file, "%lld\n", t);
	return file && fclose(file) ? 1 : 0;
}
