/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where CPython keeps what a stack is made of: a row for each version, or from 3.13 on what the
 * interpreter says itself (_Py_DebugOffsets).
 */
#ifndef CT_STACKS_LAYOUT_H
#define CT_STACKS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum line_format {
	LINES_LNOTAB,		/* 3.9: pairs of increments */
	LINES_PAIRS,		/* 3.10: pairs, with lines that are none (PEP 626) */
	LINES_LOCATIONS,	/* 3.11 and later (PEP 657) */
};

/* Offsets in bytes. */
struct layout {
	uint16_t version;		/* 0x030b */
	enum line_format lines;
	uint16_t thread_frame;		/* in the thread's state: its frame, or where that stands: */
	int16_t cframe_frame;		/* in struct _PyCFrame; -1: there is none */
	int16_t thread_cframe;		/* in the thread's state; -1: there is none (3.9, and from 3.13 on) */
	uint16_t cframe_previous;
	uint16_t frame_previous, frame_code, frame_instr;
	int16_t frame_owner;		/* -1: each frame is one of Python code */
	uint8_t owner_c;		/* from this one on an owner is not Python code */
	uint8_t index;			/* 1: instr is an int, a number of units and not an address */
	uint8_t unit;			/* bytes of such a unit */
	int16_t frame_bytecode;		/* its thread's copy of the code (free threading); -1: none */
	uint16_t code_copies;		/* the list of these */
	uint16_t code_firstline, code_filename, code_name, code_lines;
	uint16_t code_start;		/* of its instructions, in it */
	uint16_t code_version;		/* 32 bits that differ for each code object (0: it has none); 0: there are none */
	uint16_t type;			/* of an object: its type */
	uint16_t string_length, string_hash, string_state, string_ascii, string_compact;
	uint8_t string_kind;		/* bit of the state where the kind begins */
	uint16_t bytes_size, bytes_data;
	/* Where the threads stand: in _PyRuntime, in an interpreter's state, in a thread's. */
	uint32_t runtime_interpreters, interpreter_next, interpreter_threads;
	uint16_t thread_next;
	uint16_t thread_id;		/* as pthread_self() */
	int16_t thread_native;		/* as gettid(); -1: there is none */
	/* Python's own lock (GIL): a struct, or a pointer to it; -1: there is none (free threading). */
	int32_t gil;			/* the struct in _PyRuntime (up to 3.11), the pointer in an interpreter's state */
	uint16_t gil_holder, gil_locked;	/* in the struct */
};

#define LAYOUT_GIL_OWN	0x030c		/* from this version on each interpreter's state has the pointer */

/*
 * The layout of this version, as PY_VERSION_HEX; runtime: _PyRuntime.  False: it is not known,
 * and why is a constant text.
 */
bool layout_find(struct layout *l, uint32_t version, const void *runtime, const char **why);

#endif
