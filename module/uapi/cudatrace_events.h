/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * cudatrace: the table of everything that can be recorded: layers, categories,
 * operations, field types, layouts and static event classes.  The C structs, the CTF
 * metadata, the JSON Lines printers and the decoders are generated from it, so that
 * each field is described once.
 *
 * A *layout* is the list of fields that follows a record's head.  Each field has its
 * natural alignment, each layout's size is a multiple of 8, and a text comes last: so
 * the size of a record is always a multiple of 8 bytes, without hidden padding.
 *
 * An *event class* is a name with a layer, a category, an operation and a layout.  The
 * few classes that cudatrace itself needs have fixed ids below CT_CLASS_DYNAMIC.  A
 * function of libcuda or of the driver gets its id at run time, from the module or from
 * the registry of the trace directory.
 */
#ifndef _UAPI_CUDATRACE_EVENTS_H
#define _UAPI_CUDATRACE_EVENTS_H

#include <linux/types.h>

/* The layer in which an event happened: X(ID, word in the output).  Values are ABI. */
#define CT_LAYERS(X)							\
	X(USER,		"user")		/* the program, libcuda */	\
	X(KERNEL,	"kernel")	/* the kernel driver */		\
	X(GPU,		"gpu")		/* the device itself */

/*
 * What an event is about: X(ID, word).  The word is "type" in JSON Lines and the row of
 * the statistics.  Values are ABI; new ones go to the end.
 */
#define CT_CATEGORIES(X)						\
	X(OTHER,	"userspace")	/* a call of no category below */ \
	X(INIT,		"init")						\
	X(CONTEXT,	"context")					\
	X(MODULE,	"module")					\
	X(MEMORY,	"memory")					\
	X(TRANSFER,	"transfer")					\
	X(KERNEL,	"kernel")	/* a GPU kernel: launches */	\
	X(SYNC,		"sync")						\
	X(STREAM,	"stream")					\
	X(EVENT,	"event")					\
	X(GRAPH,	"graph")					\
	X(QUERY,	"query")	/* a getter of a few ns */	\
	X(IOCTL,	"ioctl")	/* the driver's ioctl path */	\
	X(SCHEDULER,	"scheduler")					\
	X(INTERRUPT,	"interrupt")					\
	X(UVM,		"uvm")						\
	X(SYSCALL,	"syscall")	/* recorded in user space */	\
	X(RUNTIME,	"runtime")	/* cuda* of libcudart */	\
	X(MARKER,	"marker")	/* the program's own markers */	\
	X(PROCESS,	"process")					\
	X(TRACER,	"tracer")	/* about the trace itself */	\
	X(DRIVER,	"driver")	/* a kernel function that a user probes */ \
	X(SWITCH,	"switch")	/* sched events of traced threads */ \
	X(COLLECTIVE,	"collective")	/* nccl* of libnccl */

/* "op" in JSON Lines: X(ID, word).  Values are ABI. */
#define CT_OPS(X)							\
	X(NONE,		"")						\
	X(ALLOC,	"alloc")					\
	X(FREE,		"free")						\
	X(COPY,		"copy")						\
	X(SET,		"set")						\
	X(LAUNCH,	"launch")					\
	X(MAP,		"map")						\
	X(UNMAP,	"unmap")					\
	X(CREATE,	"create")					\
	X(DESTROY,	"destroy")					\
	X(LOAD,		"load")						\
	X(UNLOAD,	"unload")					\
	X(LOOKUP,	"lookup")					\
	X(WAIT,		"wait")						\
	X(RECORD,	"record")					\
	X(EXEC,		"exec")		/* done by the GPU: layer gpu */

#define CT_ENUM_ROW(id, word)	CT_LAYER_##id,
enum ct_layer { CT_LAYERS(CT_ENUM_ROW) CT_LAYER_COUNT };
#undef CT_ENUM_ROW
#define CT_ENUM_ROW(id, word)	CT_CAT_##id,
enum ct_category { CT_CATEGORIES(CT_ENUM_ROW) CT_CAT_COUNT };
#undef CT_ENUM_ROW
#define CT_ENUM_ROW(id, word)	CT_OP_##id,
enum ct_op { CT_OPS(CT_ENUM_ROW) CT_OP_COUNT };
#undef CT_ENUM_ROW

/*
 * Field types: X(type, C type, bytes).  Registry lines use the same words ("size:u64").
 *   u* s*   decimal          x*    hexadecimal ("0x..." in JSON)
 *   str     id of a string in the registry (0: none), e.g. a kernel's name
 *   class   id of an event class
 *   dir     direction of a copy, enum ct_direction
 *   dev     device number of an ioctl, see CT_DEV_*
 *   cures   CUresult         nvst  NV_STATUS of the resource manager
 *   nvcode  RM control command or RM class, whichever the ioctl carries
 *   memk    kind of memory, enum ct_memkind
 *   text    u16 byte count, then that many bytes, then NULs up to a multiple of 8 of the
 *           record's size; only as the last field
 */
#define CT_TYPES(X)							\
	X(u8, __u8, 1) X(u16, __u16, 2) X(u32, __u32, 4) X(u64, __u64, 8) \
	X(s8, __s8, 1) X(s16, __s16, 2) X(s32, __s32, 4) X(s64, __s64, 8) \
	X(x8, __u8, 1) X(x16, __u16, 2) X(x32, __u32, 4) X(x64, __u64, 8) \
	X(str, __u32, 4) X(class, __u16, 2) X(dir, __u32, 4)		\
	X(dev, __u32, 4) X(cures, __u32, 4) X(nvst, __u32, 4)		\
	X(nvcode, __u32, 4) X(text, __u16, 2) X(memk, __u16, 2)

#define CT_TYPE_ROW(type, ctype, bytes)	CT_TYPE_##type,
enum ct_type { CT_TYPES(CT_TYPE_ROW) CT_TYPE_COUNT };
#undef CT_TYPE_ROW
#define CT_TYPE_ROW(type, ctype, bytes)	typedef ctype ct_ctype_##type;
CT_TYPES(CT_TYPE_ROW)
#undef CT_TYPE_ROW

/* The direction of a copy, "direction" in JSON Lines: X(ID, word) */
#define CT_DIRECTIONS(X)						\
	X(UNKNOWN, "unknown")	/* unified addressing decides */	\
	X(H2D, "H2D") X(D2H, "D2H") X(D2D, "D2D") X(H2H, "H2H")		\
	X(P2P, "P2P") X(H2A, "H2A") X(A2H, "A2H") X(D2A, "D2A")		\
	X(A2D, "A2D") X(A2A, "A2A")

#define CT_ENUM_ROW(id, word)	CT_DIR_##id,
enum ct_direction { CT_DIRECTIONS(CT_ENUM_ROW) CT_DIR_COUNT };
#undef CT_ENUM_ROW

/* The kind of memory that a GPU's copy reads or writes: X(ID, word).  Values are ABI. */
#define CT_MEMKINDS(X)							\
	X(UNKNOWN, "unknown") X(PAGEABLE, "pageable") X(PINNED, "pinned") \
	X(DEVICE, "device") X(ARRAY, "array") X(MANAGED, "managed")	\
	X(DEVICE_STATIC, "device_static") X(MANAGED_STATIC, "managed_static")

#define CT_ENUM_ROW(id, word)	CT_MEMKIND_##id,
enum ct_memkind { CT_MEMKINDS(CT_ENUM_ROW) CT_MEMKIND_COUNT };
#undef CT_ENUM_ROW

/* Field type dev: an nvidia minor number (255: nvidiactl) or one of these. */
#define CT_DEV_NVIDIACTL	255u
#define CT_DEV_UVM		0x10000u
#define CT_DEV_UVM_TOOLS	0x10001u
#define CT_DEV_MODESET		0x10002u
#define CT_DEV_UNKNOWN		0xffffffffu

/* ------------------------------------------------------------- layouts --- */
/* F(type, name) */
#define CT_FIELDS_none(F)

/* memory: size in bytes; ptr is the address that was allocated or is freed */
#define CT_FIELDS_alloc(F)						\
	F(u64, size) F(x64, ptr)
#define CT_FIELDS_alloc_async(F)					\
	F(u64, size) F(x64, ptr) F(x64, stream) F(x64, pool)
#define CT_FIELDS_alloc_pitch(F)					\
	F(u64, size) F(x64, ptr) F(u64, pitch) F(u64, width) F(u64, height)
#define CT_FIELDS_free(F)						\
	F(x64, ptr)
#define CT_FIELDS_free_async(F)						\
	F(x64, ptr) F(x64, stream)
#define CT_FIELDS_mem_info(F)						\
	F(u64, free) F(u64, total)
#define CT_FIELDS_map(F)						\
	F(u64, size) F(x64, ptr) F(x64, handle)

/* transfers: size in bytes; async is 1 for the *Async variants */
#define CT_FIELDS_copy(F)						\
	F(u64, size) F(x64, dst) F(x64, src) F(x64, stream)		\
	F(dir, direction) F(u32, async)
#define CT_FIELDS_set(F)						\
	F(u64, size) F(x64, ptr) F(x64, stream) F(x32, value) F(u32, width)

/* launches: name, grid in blocks, block in threads, dynamic shared memory */
#define CT_FIELDS_launch(F)						\
	F(str, kernel) F(u32, shared)					\
	F(u32, grid_x) F(u32, grid_y) F(u32, grid_z)			\
	F(u32, block_x) F(u32, block_y) F(u32, block_z)			\
	F(x64, stream)
#define CT_FIELDS_host_func(F)						\
	F(x64, function) F(x64, stream)

/* handles of streams, events, contexts, modules, functions, graphs */
#define CT_FIELDS_handle(F)						\
	F(x64, handle)
#define CT_FIELDS_stream(F)						\
	F(x64, stream) F(x32, flags) F(s32, priority)
#define CT_FIELDS_event(F)						\
	F(x64, event) F(x64, stream)
#define CT_FIELDS_event_new(F)						\
	F(x64, event) F(x64, flags)
#define CT_FIELDS_elapsed(F)						\
	F(x64, start) F(x64, end) F(u64, elapsed_ns)
#define CT_FIELDS_context(F)						\
	F(x64, context) F(x32, flags) F(s32, device)
#define CT_FIELDS_init(F)						\
	F(x64, flags)
#define CT_FIELDS_module(F)						\
	F(x64, module) F(str, file) F(x32, options)
#define CT_FIELDS_function(F)						\
	F(x64, function) F(x64, module) F(str, kernel) F(u32, count)
#define CT_FIELDS_lookup(F)						\
	F(x64, ptr) F(str, symbol_name) F(s32, version) F(x64, flags)
#define CT_FIELDS_graph(F)						\
	F(x64, graph) F(x64, stream)
/* a graph that a call made or changed by another one, source: a clone, an executable graph */
#define CT_FIELDS_graph_made(F)						\
	F(x64, graph) F(x64, source)
/*
 * A node that was added to graph.  kernel: of a kernel node.  child: the graph that the node
 * runs, of a conditional node with several bodies the first one; owned: child is the node's own
 * (0: the node has a copy of it).  node_type: CUgraphNodeType of cuda.h.
 */
#define CT_FIELDS_graph_node(F)						\
	F(x64, graph) F(x64, node) F(x64, child) F(str, kernel)		\
	F(u16, node_type) F(u16, owned)

/*
 * One ioctl of the driver.  ret: the return value of the system call (a negative errno on
 * failure).  status: the NV_STATUS in the parameter block after the call, valid if have
 * has CT_IOCTL_STATUS; likewise client, object, code and parent.  object: the object that
 * is made, freed, mapped or duplicated; for other ioctls the object that is called.
 */
#define CT_FIELDS_ioctl(F)						\
	F(x32, cmd) F(s32, ret) F(dev, device) F(u32, have)		\
	F(x32, client) F(x32, object) F(nvcode, code) F(nvst, status)	\
	F(x64, arg) F(x32, parent) F(u32, reserved)
#define CT_IOCTL_CLIENT		1u	/* bits of have */
#define CT_IOCTL_OBJECT		2u
#define CT_IOCTL_CONTROL	4u	/* code is an RM control command */
#define CT_IOCTL_CLASS		8u	/* code is an RM class */
#define CT_IOCTL_STATUS		16u
#define CT_IOCTL_PARENT		64u	/* of an object that is made or freed */
#define CT_IOCTL_XFER		32u	/* was wrapped in NV_ESC_IOCTL_XFER_CMD */

/* functions of the kernel driver; the return value is in the record's head */
#define CT_FIELDS_k_alloc(F)						\
	F(u64, size) F(x64, ptr)
#define CT_FIELDS_k_pages(F)						\
	F(u64, size) F(u32, count) F(u32, contig) F(x64, ptr)
#define CT_FIELDS_k_dma(F)						\
	F(u64, size) F(x64, va)
#define CT_FIELDS_k_queue(F)						\
	F(x64, queue) F(x64, item)
#define CT_FIELDS_k_irq(F)						\
	F(s32, irq) F(u32, handled)
#define CT_FIELDS_xid(F)						\
	F(u32, xid) F(u32, reserved)
/*
 * sched_switch: a call that lasts as long as its thread is off the CPU; pid and tid are
 * those of that thread.  state: why the thread left the CPU, as the kernel's __TASK_* (0:
 * it was preempted while it could run).  other: the tid of the thread that ran next (in
 * the entry event) or before (in the end).  waker: the tid of the thread that woke it (0:
 * none, or an interrupt).  other and waker are tids of the initial pid namespace.
 * runnable_ns: how long the thread was runnable before it ran.
 */
#define CT_FIELDS_k_switch(F)						\
	F(x32, state) F(u32, other) F(u32, waker) F(u32, reserved)	\
	F(u64, runnable_ns)
/* sched_wakeup: pid and tid are those of the woken thread */
#define CT_FIELDS_k_wake(F)						\
	F(u32, waker) F(u32, target_cpu)
/* dma_fence: context (timeline) and number identify a fence */
#define CT_FIELDS_k_fence(F)						\
	F(u64, fence_context) F(u64, seqno)
#define CT_FIELDS_k_fence_new(F)					\
	F(u64, fence_context) F(u64, seqno) F(text, text)
/* gpu_mem_total: bytes of a GPU that a process has (pid in the initial namespace, 0: all) */
#define CT_FIELDS_k_gpu_mem(F)						\
	F(u64, size) F(u32, gpu) F(u32, owner_pid)
/* nvidia_dev_xid: pci is domain << 16 | bus << 8 | device << 3 | function */
#define CT_FIELDS_k_xid(F)						\
	F(u32, xid) F(x32, pci) F(text, text)
#define CT_FIELDS_k_delay(F)						\
	F(u64, delay_ns)
/* firmware that the driver asks the kernel for: bytes (0: not found), NVIDIA's type number */
#define CT_FIELDS_k_firmware(F)						\
	F(u64, size) F(u32, firmware) F(u32, reserved)
#define CT_FIELDS_k_arg1(F)						\
	F(x64, arg0)
#define CT_FIELDS_k_arg2(F)						\
	F(x64, arg0) F(x64, arg1)

/* a CPU fault on managed memory; a range of it that is migrated or freed */
#define CT_FIELDS_k_fault(F)						\
	F(x64, block) F(x64, address) F(u32, write) F(u32, reserved)
#define CT_FIELDS_k_range(F)						\
	F(x64, address) F(u64, size)

/* cudatrace's own */
#define CT_FIELDS_mark(F)						\
	F(u32, uid) F(text, text)
#define CT_FIELDS_process(F)						\
	F(u32, ppid) F(u32, uid) F(text, text)
/*
 * call_open: a call that will never return, because its thread ended inside it.  The
 * command that finishes a trace writes one for each in-flight call.  reason: enum
 * ct_open_reason.
 */
#define CT_FIELDS_call_open(F)						\
	F(u64, begin) F(u64, op) F(class, function) F(u16, level)	\
	F(u32, reason)
/* clock: one moment on three clocks; written at start, end, and after a suspend */
#define CT_FIELDS_clock(F)						\
	F(u64, monotonic) F(u64, realtime) F(u64, boottime)
#define CT_FIELDS_probe(F)						\
	F(u64, hits) F(u64, missed) F(u64, lost) F(u64, address)	\
	F(u32, state) F(u16, group) F(text, text)
#define CT_FIELDS_trigger(F)						\
	F(u64, op) F(u64, value) F(class, function) F(u16, reserved)	\
	F(u32, reason)
/*
 * stream_stat: a CPU's counters since its session began.  lost: records lost for this
 * reason (enum ct_lost).  records and overwritten (packets) are totals of the CPU and do
 * not depend on the reason.  Counters are cumulative: if a CPU and reason have several
 * stream_stat records, the last one is valid.  Add up lost over the reasons.
 */
#define CT_FIELDS_stream_stat(F)					\
	F(u64, records) F(u64, lost) F(u64, overwritten)		\
	F(u32, cpu) F(u32, reason)

/*
 * What a GPU did (layer gpu, GPU streams).  begin and end of the record are the GPU's, on
 * the trace's clock.  gpu: the number of the device in its process.  context_id, stream_id:
 * CUPTI's numbers, unique in their process (not the program's handles).  correlation: the
 * number of the launch, copy or set that caused it; these are counted in the process,
 * in the order in which they were submitted, and 0 is none.  All nodes of a graph launch
 * have its number.  graph, graph_node: of a node of a graph; 0: it is none.  shared:
 * dynamic shared memory, bytes a block, as in launch.  registers: of a thread.
 */
#define CT_FIELDS_gpu_kernel(F)						\
	F(str, kernel) F(u32, context_id) F(u32, stream_id)		\
	F(u32, correlation) F(u64, graph_node) F(u32, graph)		\
	F(u32, grid_x) F(u32, grid_y) F(u32, grid_z)			\
	F(u32, block_x) F(u32, block_y) F(u32, block_z)			\
	F(u32, shared) F(u32, shared_static) F(u16, gpu) F(u16, registers)
/* dst_gpu: of a copy from one device to another; else it is gpu */
#define CT_FIELDS_gpu_copy(F)						\
	F(u64, size) F(u32, context_id) F(u32, stream_id)		\
	F(u32, correlation) F(u32, graph) F(u64, graph_node)		\
	F(dir, direction) F(memk, src_kind) F(memk, dst_kind)		\
	F(u16, gpu) F(u16, dst_gpu) F(u32, async)
#define CT_FIELDS_gpu_set(F)						\
	F(u64, size) F(u32, context_id) F(u32, stream_id)		\
	F(u32, correlation) F(u32, graph) F(u64, graph_node)		\
	F(x32, value) F(u16, gpu) F(memk, dst_kind)
/* A graph launch as one: from its first node's begin to its last node's end. */
#define CT_FIELDS_gpu_graph(F)						\
	F(u32, graph) F(u32, context_id) F(u32, stream_id)		\
	F(u32, correlation) F(u32, reserved) F(u16, gpu) F(u16, reserved16)
/*
 * gpu_clock: from now on the times of the process's GPU records are exact to
 * uncertainty_ns (either way), as far as CUPTI's conversion from the GPU's clock is.
 * method: enum ct_gpu_clock_method.
 */
#define CT_FIELDS_gpu_clock(F)						\
	F(u64, uncertainty_ns) F(u32, method) F(u32, reserved)
enum ct_gpu_clock_method {
	CT_GPU_CLOCK_CALLBACK	= 1,	/* CUPTI reads the trace's clock */
	CT_GPU_CLOCK_PAIRS	= 2,	/* converted, by pairs of CUPTI's clock and ours */
};

/*
 * gpu_state: whether the GPU records of the process are complete from now on.  state: enum
 * ct_gpu_collection; text: why
 */
#define CT_FIELDS_gpu_state(F)						\
	F(u32, state) F(text, text)
enum ct_gpu_collection {
	CT_GPU_REFUSED	= 0,	/* there will be none */
	CT_GPU_STARTED	= 1,	/* they are complete from now on */
	CT_GPU_STOPPED	= 2,	/* there are none from now on: another tool collects them */
	CT_GPU_COMPLETE	= 3,	/* all that CUPTI had was written, and it collects no more */
};

/*
 * stack: from where the thread made a call, written before that call's record.  stack: a node, a
 * string of the registry (section 9 of cudatrace.h); call: the op of the call.
 */
#define CT_FIELDS_stack(F)						\
	F(str, stack) F(u32, reserved) F(u64, call)

/*
 * sample: what a thread did at this moment, as the recorder saw it from outside.  stack: a node as
 * above, 0: it has none that could be read; state: enum ct_sample_state.
 */
#define CT_FIELDS_sample(F)						\
	F(str, stack) F(u32, state)
enum ct_sample_state {
	CT_SAMPLE_UNKNOWN	= 0,
	CT_SAMPLE_RUNNING	= 1,	/* or ready to run */
	CT_SAMPLE_SLEEP		= 2,	/* until a time that it chose */
	CT_SAMPLE_LOCK		= 3,	/* for another thread: a lock, a condition, a queue */
	CT_SAMPLE_FILE		= 4,	/* for a file, its memory too */
	CT_SAMPLE_SOCKET	= 5,
	CT_SAMPLE_PIPE		= 6,
	CT_SAMPLE_CHILD		= 7,	/* for a process */
	CT_SAMPLE_POLL		= 8,	/* for one of several files (poll, select, epoll) */
	CT_SAMPLE_DEVICE	= 9,	/* in an ioctl, or in a device's file */
	CT_SAMPLE_OTHER		= 10,	/* in another system call */
	CT_SAMPLE_GIL		= 11,	/* for Python's lock (GIL): of gil_wait alone */
	CT_SAMPLE_STATES
};

/*
 * gil_wait: a sample of a thread that waits for the lock of its Python interpreter (GIL); state is
 * CT_SAMPLE_GIL.  holder_tid: the thread that held the lock then, 0: not known; holder: its stack,
 * a node as above, 0: none could be read; holder_state: what that thread did, enum ct_sample_state.
 */
#define CT_FIELDS_gil_wait(F)						\
	F(str, stack) F(u32, state) F(str, holder) F(u32, holder_tid)	\
	F(u32, holder_state) F(u32, reserved)

/*
 * gpu_metrics: the state of a GPU of the machine, as the recorder saw it by NVML.  All bits of a
 * field set: not known.  memory: bytes in use, by all processes; limited: NVML's reasons why the
 * clocks are not higher; power: mW; pcie_*, nvlink_*: KiB a second since the device's last record
 * (tx: what it sent); gpu: its number in NVML, which a line of info device_metrics describes;
 * clock: of the SMs, MHz; temperature: degrees Celsius; busy: how long kernels ran, as the driver
 * counts it; sm, occupancy, tensor, dram: how far these were used since the last record, by GPM.
 * Shares are in 1/10 %.
 */
#define CT_FIELDS_gpu_metrics(F)					\
	F(u64, memory) F(x32, limited) F(u32, power) F(u32, pcie_tx)	\
	F(u32, pcie_rx) F(u32, nvlink_tx) F(u32, nvlink_rx) F(u16, gpu)	\
	F(u16, clock) F(u16, temperature) F(u16, busy) F(u16, sm)	\
	F(u16, occupancy) F(u16, tensor) F(u16, dram)

/*
 * Calls of libnccl.  communicator: a hash of its unique id, the same on all ranks; comm: the
 * program's handle of it.  ranks, rank: its size, and who calls; ranks is 0 of a communicator that
 * was split off of split_of, and rank then is that in split_of.  color, key: of ncclCommSplit.
 */
#define CT_FIELDS_communicator(F)					\
	F(x64, communicator) F(x64, comm) F(x64, split_of)		\
	F(u32, ranks) F(u32, rank) F(s32, color) F(s32, key)
/* What ncclCommGetAsyncError said of it: NCCL's number, ncclInProgress (7) while it is made. */
#define CT_FIELDS_communicator_state(F)					\
	F(x64, communicator) F(x64, comm) F(u32, state) F(u32, reserved)
/*
 * number: of the collective in its communicator, from 1 in the order of calls, the same on all
 * ranks; 0 of a send or receive, of a call that was refused, and where the communicator's making
 * was not seen.  count, datatype, reduction: as passed, NCCL's numbers; size: count in bytes; root:
 * or the peer; -1: there is none.
 */
#define CT_FIELDS_collective(F)						\
	F(u64, size) F(u64, count) F(x64, communicator) F(x64, comm)	\
	F(x64, stream) F(u32, number) F(u32, ranks) F(u32, rank)	\
	F(u32, datatype) F(s32, reduction) F(s32, root)

/* call_open.reason.  Values are ABI. */
enum ct_open_reason {
	CT_OPEN_UNKNOWN	= 0,
	CT_OPEN_DIED	= 1,	/* its thread ended inside the call */
};

/* All layouts by name.  The order is not ABI, because registry lines spell the fields. */
#define CT_LAYOUTS(L)							\
	L(none) L(alloc) L(alloc_async) L(alloc_pitch) L(free)		\
	L(free_async) L(mem_info) L(map) L(copy) L(set) L(launch)	\
	L(host_func) L(handle) L(stream) L(event) L(event_new)		\
	L(elapsed) L(context) L(init) L(module) L(function) L(lookup)	\
	L(graph) L(ioctl) L(k_alloc) L(k_pages) L(k_dma) L(k_queue)	\
	L(k_irq) L(xid) L(k_delay) L(k_arg1) L(k_arg2) L(mark) L(process)	\
	L(call_open) L(clock) L(probe) L(stream_stat) L(trigger)	\
	L(k_switch) L(k_wake) L(k_fence) L(k_fence_new) L(k_gpu_mem) L(k_xid)	\
	L(k_fault) L(k_range) L(k_firmware) L(gpu_kernel) L(gpu_copy)	\
	L(gpu_set) L(gpu_graph) L(gpu_clock) L(gpu_state) L(stack) L(sample)	\
	L(communicator) L(collective) L(gpu_metrics) L(graph_made)	\
	L(graph_node) L(communicator_state) L(gil_wait)

#define CT_LAYOUT_ROW(name)	CT_LAYOUT_##name,
enum ct_layout { CT_LAYOUTS(CT_LAYOUT_ROW) CT_LAYOUT_COUNT };
#undef CT_LAYOUT_ROW

/*
 * struct ct_alloc, struct ct_copy ...: a layout as a C struct.  The bytes of a text follow
 * its u16 length, so sizeof() of a layout with a text is less than its size in a record.
 */
#define CT_FIELD_MEMBER(type, name)	ct_ctype_##type name;
#define CT_LAYOUT_ROW(layout)						\
	struct ct_##layout { CT_FIELDS_##layout(CT_FIELD_MEMBER) }	\
		__attribute__((packed, aligned(2)));
CT_LAYOUTS(CT_LAYOUT_ROW)
#undef CT_LAYOUT_ROW

/*
 * A layout as text, for registry lines and parsers: CT_LAYOUT_SPEC(alloc) is the string
 * literal "size:u64,ptr:x64,".
 */
#define CT_FIELD_SPEC(type, name)	#name ":" #type ","
#define CT_LAYOUT_SPEC(layout)		"" CT_FIELDS_##layout(CT_FIELD_SPEC)

/* ------------------------------------------------- static event classes --- */
/* X(id, name, LAYER, CATEGORY, OP, layout).  Ids are ABI. */
#define CT_STATIC_CLASSES(X)						\
	X(1,  mark,	   USER,   MARKER,  NONE, mark)			\
	X(2,  range_push,  USER,   MARKER,  NONE, mark)			\
	X(3,  range_pop,   USER,   MARKER,  NONE, none)			\
	X(4,  process,	   USER,   PROCESS, NONE, process)		\
	X(5,  call_open,   USER,   TRACER,  NONE, call_open)		\
	X(6,  clock,	   USER,   TRACER,  NONE, clock)		\
	X(7,  probe,	   KERNEL, TRACER,  NONE, probe)		\
	X(8,  stream_stat, KERNEL, TRACER,  NONE, stream_stat)		\
	X(9,  ioctl,	   USER,   SYSCALL, NONE, ioctl)		\
	X(10, exit,	   USER,   PROCESS, NONE, handle)		\
	X(11, trigger,	   KERNEL, TRACER,  NONE, trigger)		\
	X(12, gpu_kernel,  GPU,    KERNEL,  EXEC, gpu_kernel)		\
	X(13, gpu_copy,	   GPU,    TRANSFER, EXEC, gpu_copy)		\
	X(14, gpu_set,	   GPU,    MEMORY,  EXEC, gpu_set)		\
	X(15, gpu_graph,   GPU,    GRAPH,   EXEC, gpu_graph)		\
	X(16, gpu_clock,   GPU,    TRACER,  NONE, gpu_clock)		\
	X(17, gpu_state,   GPU,    TRACER,  NONE, gpu_state)		\
	X(18, stack,	   USER,   TRACER,  NONE, stack)		\
	X(19, sample,	   USER,   TRACER,  NONE, sample)		\
	X(20, gpu_metrics, GPU,    TRACER,  NONE, gpu_metrics)		\
	X(21, gil_wait,	   USER,   TRACER,  NONE, gil_wait)

#define CT_CLASS_ROW(id, name, layer, cat, op, layout)	CT_CLASS_##name = id,
enum ct_static_class { CT_STATIC_CLASSES(CT_CLASS_ROW) };
#undef CT_CLASS_ROW
#define CT_CLASS_DYNAMIC	0x4000	/* the first id that is assigned at run time */
#define CT_CLASS_MAX		0xfffe

#endif
