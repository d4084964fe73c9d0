// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Vector addition on the runtime API: for cudart, static (nvcc's default) and shared.
 *
 *	vectoradd [FILE]	With FILE it adds six times.  After the first time it writes its pid
 *				to FILE.ready and waits for FILE; at the end it makes FILE.done
 *				and waits until FILE is gone.
 */
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

static void tell(const char *file, const char *end)
{
	char path[4096], part[4104];

	snprintf(path, sizeof(path), "%s.%s", file, end);
	snprintf(part, sizeof(part), "%s.part", path);
	FILE *f = fopen(part, "w");
	if (!f)
		exit(2);
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
	rename(part, path);
}

static void wait_until(const char *file, bool there)
{
	for (int i = 0; i < 6000 && (access(file, F_OK) == 0) != there; i++)
		usleep(10000);
}

static int add()
{
	const int n = 1 << 20;
	float *h = (float *)malloc(n * sizeof(float)), *d[3];
	int bad = 0;

	for (int i = 0; i < n; i++)
		h[i] = i;
	for (int i = 0; i < 3; i++)
		if (cudaMalloc(&d[i], n * sizeof(float)))
			return 2;
	cudaMemcpy(d[0], h, n * sizeof(float), cudaMemcpyHostToDevice);
	cudaMemcpy(d[1], h, n * sizeof(float), cudaMemcpyHostToDevice);
	vector_add<<<(n + 255) / 256, 256>>>(d[0], d[1], d[2], n);
	cudaMemcpy(h, d[2], n * sizeof(float), cudaMemcpyDeviceToHost);
	for (int i = 0; i < n; i++)
		bad += h[i] != 2.0f * i;
	for (int i = 0; i < 3; i++)
		cudaFree(d[i]);
	free(h);
	printf("vector addition: %d wrong\n", bad);
	return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
	int status = add();

	if (argc < 2)
		return status;
	tell(argv[1], "ready");
	wait_until(argv[1], true);
	for (int i = 0; i < 5; i++)
		status |= add();
	tell(argv[1], "done");
	wait_until(argv[1], false);
	return status;
}
