/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What happened inside a call, as a tree.
 *
 * Time.  Every ns between the call's begin and its end belongs to the innermost thing that
 * its thread was in: a call, an interrupt, or being off the CPU.  So the self times of a tree
 * add up to the duration of the call, and so do its places.
 */
#ifndef CT_CLI_CALL_TYPES_H
#define CT_CLI_CALL_TYPES_H

#include "base/keyed.h"
#include "explain/calls/call_find.h"

/* Where time goes: X(ID, text for people). */
#define CT_CALL_PLACES(X)						\
	X(RUNTIME, "libcudart itself")					\
	X(LIBCUDA, "libcuda itself")					\
	X(WAIT, "libcuda, waiting in a synchronisation, on the CPU")	\
	X(BETWEEN, "between program and driver: entering and leaving the kernel") \
	X(IOCTL, "ioctls, as the program sees them")			\
	X(DRIVER_IOCTL, "kernel driver: ioctl functions")		\
	X(DRIVER_MEMORY, "kernel driver: memory")			\
	X(DRIVER_DELAY, "kernel driver: delays, queues, scheduling")	\
	X(DRIVER_UVM, "kernel driver: unified memory")			\
	X(DRIVER_OTHER, "kernel driver: other functions")		\
	X(INTERRUPT, "interrupted")					\
	X(WAIT_OFF, "off the CPU, waiting in a synchronisation")	\
	X(OFF, "off the CPU, asleep")					\
	X(READY, "off the CPU, ready to run")				\
	X(LEFT, "in a call that was left or has no end, or after it")
#define CT_CALL_PLACE_ROW(id, text)	CT_PLACE_##id,
enum ct_call_place { CT_CALL_PLACES(CT_CALL_PLACE_ROW) CT_PLACE_COUNT };
#undef CT_CALL_PLACE_ROW

#define CT_NODE_NONE	UINT32_MAX

struct ct_call_node {
	uint64_t key;			/* its op_id; what has none has a number that no op_id is */
	uint64_t within;		/* op_id of what it is directly in, of the root 0 */
	uint64_t entered;		/* ns: when it was entered, which orders nodes */
	uint64_t begin;			/* ns */
	uint64_t duration;		/* ns; without an end until its thread was seen outside it */
	uint64_t self;			/* ns, as said above */
	uint64_t weight;		/* of what is cut away the smallest goes first */
	const struct ct_class *class;
	char *detail;			/* decoded arguments; may be NULL */
	const char *result;		/* of a call that failed: its name; may be NULL */
	uint32_t parent;		/* index; of the root CT_NODE_NONE; since ct_nodes_order() */
	uint32_t pid, tid;
	int32_t cpu;			/* where it ended, or CT_NO_CPU */
	uint16_t depth;			/* of the root 0; since ct_nodes_order() */
	uint8_t place;			/* enum ct_call_place: where its self time went */
	bool returned, abandoned, begin_lost, instant, failed;
	bool interrupt;			/* it interrupted the thread */
	bool deferred;			/* it ran later or elsewhere; its time is not the call's */
	bool ioctl;
};

#define CT_NODE_INSTANT	(1ull << 63)	/* of a key: it has no op_id */

/* Calls of one function, directly inside a node, that have no nodes. */
struct ct_call_rest {
	uint64_t within, id;		/* op_id of the node, and id of the class */
	const struct ct_class *class;	/* NULL: of several functions, where there are too many */
	uint64_t count, ns;
	uint32_t parent;		/* index of the node; since ct_nodes_sum() */
};

/* Interrupts on a CPU while a call ran there, not in its thread. */
struct ct_call_meanwhile {
	uint64_t key;			/* CPU and class */
	const struct ct_class *class;
	uint64_t count, ns;
	int32_t cpu;
};

#define CT_CALL_AROUND	16	/* calls around the root that are named */

struct ct_call_around {
	uint64_t op_id;
	const struct ct_class *class;
};

/* What a call of the driver queued, to run later or elsewhere. */
struct ct_call_item {
	uint64_t address;
	uint64_t op_id;			/* of the call */
	uint64_t begin;			/* ns */
};

/* What is inside a call of the tree that has not ended yet. */
struct ct_call_inner {
	uint64_t op_id;
	uint64_t ns;			/* of what ended directly inside it */
	bool kernel;			/* an ioctl of the program: the driver was seen in it */
};

struct ct_call_tree {
	struct ct_call_target target;
	CT_KEYED(struct ct_call_node) nodes;	/* at the end in the order of begins; [0] is the root */
	size_t limit;
	CT_KEYED(struct ct_call_rest) rests;
	struct ct_call_around around[CT_CALL_AROUND];	/* the outermost first */
	uint32_t around_count;		/* may be more than are named */
	uint32_t called_from;		/* the outermost one, a node of trace/stacks/stacks.h; 0: not known */
	uint64_t places[CT_PLACE_COUNT], place_counts[CT_PLACE_COUNT];
	uint64_t total;			/* ns: all places */
	CT_KEYED(struct ct_call_meanwhile) meanwhile;
	bool end_lost;			/* its end was lost; a call around it ended */
	bool user_ioctls, kernel_calls;	/* the tree has the program's ioctls; calls of the driver */
	/* Internal. */
	bool done;			/* its thread is not in it any more */
	uint64_t until;			/* ns: the last that was seen of it */
	uint64_t newest;		/* ns: when the node began that came last */
	uint64_t cpus[16];		/* bits: CPUs where its thread was */
	CT_KEYED(struct ct_call_inner) inner;
	CT_KEYED(struct ct_call_item) items;
};

struct ct_call_trees {
	const struct ct_call_found *found;
	struct ct_call_tree *list;	/* as found->targets */
	uint32_t count;
};

extern const char *const ct_call_place_text[CT_PLACE_COUNT];

#endif
