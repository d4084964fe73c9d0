// SPDX-License-Identifier: LGPL-2.1-or-later
/* Vector addition on the runtime API: for cudart, static (nvcc's default) and shared. */
#include <cstdio>
#include <cstdlib>

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

int main()
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
	printf("vector addition: %d wrong\n", bad);
	return bad ? 1 : 0;
}
