// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library whose names begin like the driver's ("cublas...", "cudnn...") and one
 * that has the driver's very names but is none: neither may be touched.
 */
#include "mock.h"

int cublasCreate_v2(void **h);
int cudnnCreate(void **h);

int cublasCreate_v2(void **h)
{
	*h = (void *)1;
	return 0;
}

int cudnnCreate(void **h)
{
	*h = (void *)2;
	return 0;
}

#ifdef STAND_IN
int cuInit(unsigned flags)
{
	return (int)flags + 1000;
}
#endif

int cuDriverGetVersion(int *version)
{
	*version = 1;
	return 1000;
}
