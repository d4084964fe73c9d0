// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program of C that builds a CUDA graph by nodes from two functions, and replays it.
 *
 * Usage: graph_nodes LIBCUDA [TIMES]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "../sim/cuda_sim.h"

#define NOT_INLINE	__attribute__((noinline, noclone))

static void *lib;
static CUfunction one, two;

#define CALL(name, ...)									\
	do {										\
		CUresult result = ((__typeof__(&name))dlsym(lib, #name))(__VA_ARGS__);	\
											\
		if (result) {								\
			fprintf(stderr, #name ": %d\n", result);			\
			exit(1);							\
		}									\
	} while (0)

NOT_INLINE static void forward(CUgraph graph)
{
	CUDA_KERNEL_NODE_PARAMS_v2 params = { one, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL, NULL };
	CUgraphNode node;

	for (int i = 0; i < 3; i++)
		CALL(cuGraphAddKernelNode_v2, &node, graph, NULL, 0, &params);
}

NOT_INLINE static void backward(CUgraph graph)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_KERNEL,
				     .kernel = { one, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL, NULL } };
	CUgraphNode node;

	CALL(cuGraphAddNode, &node, graph, NULL, 0, &params);
	params.kernel.func = two;
	CALL(cuGraphAddNode, &node, graph, NULL, 0, &params);
}

int main(int argc, char **argv)
{
	static const char image[] = "cudatrace-sim-image 1\nkernel one - 1000\nkernel two - 3000\n";
	CUcontext context;
	CUmodule module;
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;

	lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	CALL(cuInit, 0);
	CALL(cuDevicePrimaryCtxRetain, &context, 0);
	CALL(cuCtxSetCurrent, context);
	CALL(cuStreamCreate, &stream, 1);
	CALL(cuModuleLoadData, &module, image);
	CALL(cuModuleGetFunction, &one, module, "one");
	CALL(cuModuleGetFunction, &two, module, "two");
	CALL(cuGraphCreate, &graph, 0);
	forward(graph);
	backward(graph);
	CALL(cuGraphInstantiateWithFlags, &exec, graph, 0);
	CALL(cuGraphDestroy, graph);
	for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : 10); i++)
		CALL(cuGraphLaunch, exec, stream);
	CALL(cuStreamSynchronize, stream);
	CALL(cuCtxSynchronize);
	return 0;
}
