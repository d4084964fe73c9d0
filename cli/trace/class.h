/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event classes: what a record of a class id is called and which fields follow
 * its head.  Built from the static table of the ABI and from registry lines,
 * both of which go through the same checks.
 */
#ifndef CT_CLI_CLASS_H
#define CT_CLI_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/words.h"
#include "module/uapi/cudatrace.h"

/* Fields that commands look for; X(ID, field name). */
#define CT_KNOWN_FIELDS(X)							\
	X(SIZE, "size") X(PTR, "ptr") X(DIRECTION, "direction")		\
	X(KERNEL, "kernel") X(STREAM, "stream") X(SHARED, "shared")	\
	X(GRID_X, "grid_x") X(GRID_Y, "grid_y") X(GRID_Z, "grid_z")	\
	X(BLOCK_X, "block_x") X(BLOCK_Y, "block_y") X(BLOCK_Z, "block_z") \
	X(CMD, "cmd") X(RET, "ret") X(DEVICE, "device") X(HAVE, "have")	\
	X(CODE, "code") X(STATUS, "status")				\
	X(FUNCTION, "function") X(BEGIN, "begin") X(OP, "op")		\
	X(LEVEL, "level") X(LOST, "lost") X(OVERWRITTEN, "overwritten")	\
	X(CPU, "cpu") X(REASON, "reason") X(MISSED, "missed")		\
	X(CLIENT, "client") X(OBJECT, "object") X(PARENT, "parent")	\
	/* of the GPU's records */					\
	X(GPU, "gpu") X(CONTEXT, "context_id") X(STREAM_ID, "stream_id") \
	X(CORRELATION, "correlation") X(REGISTERS, "registers")		\
	X(SHARED_STATIC, "shared_static") X(SRC_KIND, "src_kind")	\
	X(DST_KIND, "dst_kind") X(VALUE, "value") X(GRAPH, "graph")	\
	X(GRAPH_NODE, "graph_node") X(STATE, "state")			\
	X(UNCERTAINTY, "uncertainty_ns")				\
	/* of copies, streams, events and contexts */			\
	X(ASYNC, "async") X(SRC, "src") X(DST, "dst")			\
	X(HANDLE, "handle") X(EVENT, "event") X(FLAGS, "flags")		\
	/* of graphs that a program builds */				\
	X(SOURCE, "source") X(CHILD, "child") X(OWNED, "owned")		\
	X(NODE_TYPE, "node_type")					\
	X(CUDA_CONTEXT, "context") X(CUDA_DEVICE, "device")		\
	/* of a thread that left its CPU */				\
	X(OTHER, "other") X(WAKER, "waker") X(RUNNABLE, "runnable_ns")	\
	/* of the stack of a call */					\
	X(STACK, "stack") X(CALL, "call")				\
	/* of a thread that waits for Python's lock */			\
	X(HOLDER, "holder") X(HOLDER_TID, "holder_tid")			\
	X(HOLDER_STATE, "holder_state")					\
	/* of libnccl's calls */						\
	X(COMMUNICATOR, "communicator") X(SPLIT_OF, "split_of")		\
	X(NUMBER, "number") X(RANKS, "ranks") X(RANK, "rank")		\
	X(ELEMENTS, "count") X(DATATYPE, "datatype")			\
	X(REDUCTION, "reduction") X(ROOT, "root")			\
	X(COLOR, "color") X(KEY, "key") X(COMM, "comm")			\
	/* of work that is queued, and of a function that has no layout */ \
	X(ITEM, "item") X(ARG0, "arg0")
#define CT_KNOWN_ROW(id, word)	CT_KNOWN_##id,
enum ct_known { CT_KNOWN_FIELDS(CT_KNOWN_ROW) CT_KNOWN_COUNT };
#undef CT_KNOWN_ROW

/* What a field holds that is another number where several traces are one (source.h). */
enum ct_shift {
	CT_SHIFT_NONE, CT_SHIFT_STRING, CT_SHIFT_CLASS, CT_SHIFT_TASK, CT_SHIFT_GPU, CT_SHIFT_TIME,
};

struct ct_class_field {
	char     name[CT_FIELD_LEN];
	uint8_t  type;		/* enum ct_type */
	uint8_t  bytes;		/* of the fixed part: 2 for a text */
	uint16_t offset;	/* from the end of the record's head */
	bool     output;	/* only known when the call has returned */
	uint8_t  shift;		/* enum ct_shift */
};

/*
 * What a class is: bits of ct_class.what, decided once, when the class is made.  No bit but those
 * of the GPU, CT_IS_SWITCH, CT_IS_DRIVER and CT_IS_IOCTL is set of a class that is no call of the program.
 */
enum ct_what {
	CT_IS_API		= 1 << 0,	/* a call of libcuda, libcudart or libnccl */
	CT_IS_CUDA		= 1 << 1,	/* of these, one of libcuda */
	CT_IS_IOCTL		= 1 << 2,	/* of the driver, as the kernel or the program saw it */
	CT_IS_KERNEL_LAUNCH	= 1 << 3,
	CT_IS_GRAPH_LAUNCH	= 1 << 4,
	CT_IS_COPY		= 1 << 5,
	CT_IS_SET		= 1 << 6,	/* sets memory of the GPU */
	CT_IS_WAIT		= 1 << 7,	/* a synchronisation of libcuda */
	CT_IS_ALLOC		= 1 << 8,	/* of memory, of any kind */
	CT_IS_FREE		= 1 << 9,
	CT_IS_SWITCH		= 1 << 10,	/* a thread is off its CPU, or woken */
	/* Work that the GPU did. */
	CT_IS_GPU_KERNEL	= 1 << 11,
	CT_IS_GPU_COPY		= 1 << 12,
	CT_IS_GPU_SET		= 1 << 13,
	CT_IS_GPU_GRAPH		= 1 << 14,
	/* Of the program, and of libnccl. */
	CT_IS_NCCL		= 1 << 15,
	CT_IS_COLLECTIVE	= 1 << 16,	/* of these, an operation of ranks, send and receive too */
	CT_IS_COMMUNICATOR	= 1 << 17,	/* of these, one that makes or ends a communicator */
	CT_IS_SEND		= 1 << 18,	/* a collective of two ranks */
	CT_IS_RECEIVE		= 1 << 19,
	CT_IS_GROUP_BEGIN	= 1 << 20,	/* calls until its end are one operation */
	CT_IS_GROUP_END		= 1 << 21,
	/* Of the program, and of libcuda. */
	CT_IS_CONTEXT		= 1 << 22,	/* makes a context */
	CT_IS_LOAD		= 1 << 23,	/* loads code */
	CT_IS_CODE		= 1 << 24,	/* loads code, or looks for something in it */
	CT_IS_MEMORY		= 1 << 25,	/* allocates, frees, maps ... */
	CT_IS_HOST		= 1 << 26,	/* of these, memory of the host */
	/* Of the program, of any library. */
	CT_IS_QUERY		= 1 << 27,	/* a getter of a few ns */
	CT_IS_DRIVER		= 1 << 28,	/* a function of the kernel driver */
	/* Of libnccl's communicators. */
	CT_IS_NEW_COMMUNICATOR	= 1 << 29,	/* makes one */
	CT_IS_COMMUNICATOR_STATE = 1 << 30,	/* asks whether one is made, with the answer */
};

/* Asks whether the GPU is done, and does not wait.  The last bit, which an enumerator cannot be. */
#define CT_IS_POLL	(1u << 31)
#define CT_IS_LAUNCH	(CT_IS_KERNEL_LAUNCH | CT_IS_GRAPH_LAUNCH)
#define CT_IS_TRANSFER	(CT_IS_COPY | CT_IS_SET)
/* A call that gives the GPU work.  Making a graph is none. */
#define CT_IS_WORK	(CT_IS_LAUNCH | CT_IS_TRANSFER)

struct ct_class {
	uint16_t id;
	uint8_t  layer, category, operation;
	uint8_t  fields_count;
	bool     has_text;	/* the last field is a text */
	bool     call;		/* something that is called and returns */
	uint32_t what;		/* enum ct_what */
	uint16_t size;		/* of the fields; of a text its length word only */
	int8_t   known[CT_KNOWN_COUNT];	/* index into fields, -1: none */
	const char *name, *symbol;
	struct ct_class_field fields[CT_FIELDS_MAX];
};

extern const char *const ct_type_word[CT_TYPE_COUNT];
extern const char *const ct_layer_word[CT_LAYER_COUNT];
extern const char *const ct_category_word[CT_CAT_COUNT];
extern const char *const ct_op_word[CT_OP_COUNT];
extern const char *const ct_direction_word[CT_DIR_COUNT];
extern const char *const ct_memkind_word[CT_MEMKIND_COUNT];

/**
 * ct_class_new() - a class from its description
 * @fields: as CT_LAYOUT_SPEC(), "" or "-" for none
 * @why: set to a constant string when it fails
 *
 * Return: the class, freed by free(), or NULL if the fields are not a layout.
 */
struct ct_class *ct_class_new(unsigned int id, unsigned int layer, unsigned int category,
			      unsigned int operation, const char *fields, const char *name,
			      const char *symbol, const char **why);

/* The same as text: writes "size:u64,ptr:x64," into @spec. */
#define CT_SPEC_MAX	(CT_FIELDS_MAX * (CT_FIELD_LEN + 8))
void ct_class_spec(const struct ct_class *class, char spec[CT_SPEC_MAX]);

/* Do they differ in their ids at most? */
bool ct_class_same(const struct ct_class *a, const struct ct_class *b);

/* Row @i of the static classes as a new class; NULL after the last. */
struct ct_class *ct_class_static(unsigned int i);

/* Is it one of @what, bits of enum ct_what? */
static inline bool ct_class_is(const struct ct_class *class, uint32_t what)
{
	return class->what & what;
}

/* Does it say what a thread did at a moment? */
static inline bool ct_class_is_sample(const struct ct_class *class)
{
	return class->id == CT_CLASS_sample || class->id == CT_CLASS_gil_wait;
}

/* Is it of what the recorder looked at again and again, threads or GPUs? Only who asks for samples gets these. */
static inline bool ct_class_is_sampled(const struct ct_class *class)
{
	return ct_class_is_sample(class) || class->id == CT_CLASS_gpu_metrics;
}

#endif
