// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * check_prototypes.c - lets the compiler compare every prototype that calls.h
 * gives with NVIDIA's own, where cuda.h is installed.
 *
 * Declaring a function twice with different types is an error; that is the
 * whole test. It is never linked into anything.
 */
#define __CUDA_API_VERSION_INTERNAL	/* all versions, no renaming */
#include <cuda.h>

#define CUDASIM_TYPES_FROM_CUDA_H
#include "cuda_sim.h"
