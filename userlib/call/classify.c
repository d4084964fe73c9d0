// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Name, version, category and operation of a function by rules on its symbol, and what a
 * call of it takes, by a table; see classify.h.  The first rule that fits counts.  Whether a
 * function is traced is decided elsewhere.
 */
#include "call/classify.h"

struct rule {
	char start[30];		/* the name begins with it ... */
	char part[16];		/* ... and has this in it; "" for any */
	u8 category;
	u8 op;
};

#define R(start, part, category, op)	\
	{ start, part, CT_CAT_##category, CT_OP_##op }

static const struct rule rules[] = {
	R("cuInit", "", INIT, NONE),
	R("cuGetProcAddress", "", INIT, LOOKUP),
	R("cuGetExportTable", "", INIT, LOOKUP),
	R("cuDriver", "", INIT, NONE),

	R("cuCtx", "Synchronize", SYNC, WAIT),
	R("cuStreamSynchronize", "", SYNC, WAIT),
	R("cuEventSynchronize", "", SYNC, WAIT),
	R("cuCtxRecordEvent", "", EVENT, RECORD),
	R("cuCtxWaitEvent", "", EVENT, WAIT),
	R("cuGreenCtxRecordEvent", "", EVENT, RECORD),
	R("cuGreenCtxWaitEvent", "", EVENT, WAIT),
	R("cuGreenCtxStream", "Create", STREAM, CREATE),
	R("cuCtx", "Create", CONTEXT, CREATE),
	R("cuCtx", "Destroy", CONTEXT, DESTROY),
	R("cuCtx", "", CONTEXT, NONE),
	R("cuGreenCtx", "Create", CONTEXT, CREATE),
	R("cuGreenCtx", "Destroy", CONTEXT, DESTROY),
	R("cuGreenCtx", "", CONTEXT, NONE),
	R("cuDevicePrimaryCtx", "Retain", CONTEXT, CREATE),
	R("cuDevicePrimaryCtx", "Release", CONTEXT, DESTROY),
	R("cuDevicePrimaryCtx", "Reset", CONTEXT, DESTROY),
	R("cuDevicePrimaryCtx", "", CONTEXT, NONE),
	R("cuDevice", "MemPool", MEMORY, NONE),
	R("cuDevice", "GraphMem", MEMORY, NONE),
	R("cuDevice", "", CONTEXT, NONE),
	R("cuGLCtxCreate", "", CONTEXT, CREATE),
	R("cuVDPAUCtxCreate", "", CONTEXT, CREATE),

	R("cuModule", "Unload", MODULE, UNLOAD),
	R("cuModule", "Load", MODULE, LOAD),
	R("cuModule", "Get", MODULE, LOOKUP),
	R("cuModule", "Enumerate", MODULE, LOOKUP),
	R("cuLibrary", "Unload", MODULE, UNLOAD),
	R("cuLibrary", "Load", MODULE, LOAD),
	R("cuLibrary", "Get", MODULE, LOOKUP),
	R("cuLibrary", "Enumerate", MODULE, LOOKUP),
	R("cuKernelGetFunction", "", MODULE, LOOKUP),
	R("cuKernel", "", MODULE, NONE),
	R("cuFuncLoad", "", MODULE, LOAD),
	R("cuFunc", "", MODULE, NONE),
	R("cuLink", "Create", MODULE, CREATE),
	R("cuLink", "Destroy", MODULE, DESTROY),
	R("cuLink", "", MODULE, NONE),

	R("cuMemcpy", "", TRANSFER, COPY),
	R("cuMemset", "", TRANSFER, SET),
	R("cuMemPrefetch", "", TRANSFER, NONE),
	R("cuMemDiscardAndPrefetch", "", TRANSFER, NONE),

	R("cuMemAddressReserve", "", MEMORY, CREATE),
	R("cuMemAddressFree", "", MEMORY, DESTROY),
	R("cuMemCreate", "", MEMORY, ALLOC),
	R("cuMemRelease", "", MEMORY, FREE),
	R("cuMemMap", "", MEMORY, MAP),
	R("cuMemUnmap", "", MEMORY, UNMAP),
	R("cuMemPoolCreate", "", MEMORY, CREATE),
	R("cuMemPoolDestroy", "", MEMORY, DESTROY),
	R("cuMemHostRegister", "", MEMORY, MAP),
	R("cuMemHostUnregister", "", MEMORY, UNMAP),
	R("cuMem", "Alloc", MEMORY, ALLOC),
	R("cuMem", "Free", MEMORY, FREE),
	R("cuMem", "", MEMORY, NONE),
	R("cuIpcOpenMemHandle", "", MEMORY, MAP),
	R("cuIpcCloseMemHandle", "", MEMORY, UNMAP),
	R("cuIpc", "Event", EVENT, NONE),
	R("cuIpc", "", MEMORY, NONE),
	R("cuArray", "Create", MEMORY, ALLOC),
	R("cuArray", "Destroy", MEMORY, FREE),
	R("cuArray", "", MEMORY, NONE),
	R("cuMipmappedArray", "Create", MEMORY, ALLOC),
	R("cuMipmappedArray", "Destroy", MEMORY, FREE),
	R("cuMipmappedArray", "", MEMORY, NONE),
	R("cuMulticast", "Create", MEMORY, CREATE),
	R("cuMulticast", "", MEMORY, NONE),
	R("cuPointer", "", MEMORY, NONE),
	R("cuImportExternalMemory", "", MEMORY, CREATE),
	R("cuDestroyExternalMemory", "", MEMORY, DESTROY),
	R("cuExternalMemory", "Mapped", MEMORY, MAP),
	R("cuGraphics", "Unmap", MEMORY, UNMAP),
	R("cuGraphics", "Map", MEMORY, MAP),
	R("cuGraphics", "", MEMORY, NONE),
	R("cuFlushGPUDirect", "", SYNC, WAIT),

	R("cuLaunchHostFunc", "", STREAM, NONE),
	R("cuLaunch", "", KERNEL, LAUNCH),

	R("cuStream", "Create", STREAM, CREATE),
	R("cuStream", "Destroy", STREAM, DESTROY),
	R("cuStream", "Wait", STREAM, WAIT),
	R("cuStream", "", STREAM, NONE),
	R("cuThreadExchange", "", STREAM, NONE),

	R("cuEvent", "Create", EVENT, CREATE),
	R("cuEvent", "Destroy", EVENT, DESTROY),
	R("cuEvent", "Record", EVENT, RECORD),
	R("cuEvent", "", EVENT, NONE),
	R("cuImportExternalSemaphore", "", EVENT, CREATE),
	R("cuDestroyExternalSemaphore", "", EVENT, DESTROY),
	R("cuSignalExternalSemaphores", "", EVENT, RECORD),
	R("cuWaitExternalSemaphores", "", EVENT, WAIT),

	R("cuGraphLaunch", "", GRAPH, LAUNCH),
	R("cuGraph", "Destroy", GRAPH, DESTROY),
	R("cuGraph", "Create", GRAPH, CREATE),
	R("cuGraphInstantiate", "", GRAPH, CREATE),
	R("cuGraphClone", "", GRAPH, CREATE),
	R("cuGraph", "", GRAPH, NONE),
	R("cuUserObject", "", GRAPH, NONE),
};

/*
 * Getters by name that take long, allocate, or answer with a handle.  Texts inside, not
 * pointers: what the loader need not relocate costs a program no time.
 */
static const char no_query[][44] = {
	"cuGetProcAddress", "cuGetExportTable", "cuMemGetInfo", "cuMemGetHandleForAddressRange",
	"cuModuleGetFunction", "cuModuleGetGlobal", "cuModuleGetTexRef", "cuModuleGetSurfRef",
	"cuLibraryGetKernel", "cuLibraryGetGlobal", "cuLibraryGetManaged", "cuLibraryGetModule",
	"cuLibraryGetUnifiedFunction", "cuKernelGetFunction", "cuIpcGetMemHandle",
	"cuIpcGetEventHandle", "cuExternalMemoryGetMappedBuffer",
	"cuExternalMemoryGetMappedMipmappedArray", "cuGraphicsResourceGetMappedPointer",
	"cuGraphicsSubResourceGetMappedArray", "cuGraphicsResourceGetMappedMipmappedArray",
	"cuGraphicsResourceGetMappedEglFrame", "cuCheckpointProcessGetState",
	"cuCheckpointProcessGetRestoreThreadId", "cuGLGetDevices", "cudaMemGetInfo",
	"cudaGetSymbolAddress", "cudaGetSymbolSize", "cudaGetDriverEntryPoint",
	"cudaGetDriverEntryPointByVersion", "cudaGetFuncBySymbol", "cudaGetKernel",
	"cudaIpcGetMemHandle", "cudaIpcGetEventHandle", "cudaGetExportTable",
	"cudaLibraryGetKernel", "cudaLibraryGetGlobal", "cudaFuncGetAttributes",
	"cudaGetDeviceProperties", "ncclGetUniqueId", "ncclCommGetUniqueId",
};


/* And what is as quick as a getter without being called one. */
static const char quick[][44] = {
	"cuStreamIsCapturing", "cuFuncIsLoaded", "cuDeviceTotalMem", "cuDeviceCanAccessPeer",
	"cuDeviceComputeCapability", "cuThreadExchangeStreamCaptureMode",
	"cuGraphNodeFindInClone", "cuLogsCurrent", "cudaStreamIsCapturing", "cudaPeekAtLastError",
	"cudaDeviceCanAccessPeer", "ncclCommCount", "ncclCommCuDevice", "ncclCommUserRank",
};


static bool classify_starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool classify_listed(const char list[][44], size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

#define LISTED(list, name)	classify_listed(list, sizeof(list) / sizeof(*(list)), name)

/* A getter by its name: with the word Get in it. */
static bool classify_is_query(const char *name)
{
	if (LISTED(quick, name) || classify_starts(name, "cuOccupancy"))
		return true;
	for (const char *g = strstr(name, "Get"); g; g = strstr(g + 1, "Get")) {
		bool word = g == name + 2 || (g[-1] >= 'a' && g[-1] <= 'z') ||
			    (g[-1] >= '0' && g[-1] <= '9');
		bool end = !g[3] || (g[3] >= 'A' && g[3] <= 'Z') ||
			   (g[3] >= '0' && g[3] <= '9');

		if (word && end)
			return !LISTED(no_query, name);
	}
	return false;
}

static const struct {
	char symbol[62];
	u8 words;
	u8 vector;
} params[] = {
#define CT_PARAM(symbol, words, vector)	{ #symbol, words, vector },
#include "call/tables/param_counts.h"
};

/* What a call of it takes; symbol: n bytes. */
static void classify_params(struct ct_symbol *f, const char *symbol, size_t n)
{
	size_t low = 0, high = sizeof(params) / sizeof(*params);

	while (low < high) {
		size_t mid = (low + high) / 2;
		int d = strncmp(symbol, params[mid].symbol, n);

		if (!d && !params[mid].symbol[n]) {
			f->words = params[mid].words;
			f->vector = params[mid].vector;
			return;
		}
		if (d <= 0)
			high = mid;
		else
			low = mid + 1;
	}
}

static size_t classify_without(const char *s, size_t n, const char *suffix)
{
	size_t m = strlen(suffix);

	return n > m && !memcmp(s + n - m, suffix, m) ? n - m : n;
}

bool ct_classify(struct ct_symbol *f, const char *symbol)
{
	size_t n = strlen(symbol), digits;

	memset(f, 0, sizeof(*f));
	f->words = CT_WORDS_UNKNOWN;
	if (n >= sizeof(f->name))
		return false;
	/* A variant for per-thread default streams takes what its base takes. */
	n = classify_without(symbol, n, "_ptsz");
	n = classify_without(symbol, n, "_ptds");
	classify_params(f, symbol, n);
	f->version = 1;
	for (digits = n; digits && symbol[digits - 1] >= '0' &&
			 symbol[digits - 1] <= '9'; )
		digits--;
	if (digits < n && n - digits < 4 && digits > 3 &&
	    !memcmp(symbol + digits - 2, "_v", 2)) {
		f->version = 0;
		for (size_t i = digits; i < n; i++)
			f->version = f->version * 10 + (unsigned)(symbol[i] - '0');
		n = digits - 2;
	}
	memcpy(f->name, symbol, n);
	f->name[n] = 0;

	f->category = CT_CAT_OTHER;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (classify_starts(f->name, rules[i].start) &&
		    strstr(f->name, rules[i].part)) {
			f->category = rules[i].category;
			f->op = rules[i].op;
			break;
		}
	}
	f->query = classify_is_query(f->name);
	if (classify_starts(f->name, "nccl")) {
		f->category = f->query ? CT_CAT_QUERY : CT_CAT_COLLECTIVE;
		f->op = CT_OP_NONE;
	} else if (classify_starts(f->name, "cuda")) {
		f->category = CT_CAT_RUNTIME;
		f->op = CT_OP_NONE;
	} else if (f->query) {
		f->category = CT_CAT_QUERY;
		f->op = CT_OP_NONE;
	}
	return true;
}
