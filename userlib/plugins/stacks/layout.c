// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See layout.h.  The rows were printed by programs that were compiled with the headers of
 * 3.9.18, 3.10.13, 3.11.7 and 3.12.1.  None is believed: see check.c.  Where threads stand in
 * the runtime is for the recorder, which can't fault, and for programs with several interpreters.
 */
#include "plugins/stacks/layout.h"

#include <string.h>

#define LAYOUT_STRINGS(ascii, compact)					\
	.type = 8, .string_length = 16, .string_hash = 24, .string_state = 32,	\
	.string_ascii = (ascii), .string_compact = (compact), .string_kind = 2,	\
	.bytes_size = 16, .bytes_data = 32, .frame_bytecode = -1

#define LAYOUT_THREADS(head, next, threads, more, id, native)		\
	.runtime_interpreters = (head), .interpreter_next = (next), .interpreter_threads = (threads),	\
	.thread_next = (more), .thread_id = (id), .thread_native = (native)

#define LAYOUT_GIL(at)	.gil = (at), .gil_holder = 8, .gil_locked = 16

static const struct layout layouts[] = {
	{ .version = 0x0309, LAYOUT_THREADS(32, 0, 8, 8, 176, -1), LAYOUT_GIL(352),
	  .lines = LINES_LNOTAB, .thread_frame = 24, .cframe_frame = -1, .thread_cframe = -1,
	  .frame_previous = 24, .frame_code = 32, .frame_instr = 104, .frame_owner = -1,
	  .index = true, .unit = 1,
	  .code_firstline = 40, .code_filename = 104, .code_name = 112, .code_lines = 120,
	  LAYOUT_STRINGS(48, 72) },
	{ .version = 0x030a, LAYOUT_THREADS(32, 0, 8, 8, 176, -1), LAYOUT_GIL(352),
	  .lines = LINES_PAIRS, .thread_frame = 24, .cframe_frame = -1, .thread_cframe = 48, .cframe_previous = 8,
	  .frame_previous = 24, .frame_code = 32, .frame_instr = 96, .frame_owner = -1,
	  .index = true, .unit = 2,
	  .code_firstline = 40, .code_filename = 104, .code_name = 112, .code_lines = 120,
	  LAYOUT_STRINGS(48, 72) },
	{ .version = 0x030b, LAYOUT_THREADS(40, 0, 16, 8, 152, 160), LAYOUT_GIL(360),
	  .lines = LINES_LOCATIONS, .thread_frame = 56, .cframe_frame = 8, .thread_cframe = 56, .cframe_previous = 16,
	  .frame_previous = 48, .frame_code = 32, .frame_instr = 56, .frame_owner = 69, .owner_c = 3,
	  .code_firstline = 72, .code_filename = 112, .code_name = 120, .code_lines = 136,
	  .code_start = 184, LAYOUT_STRINGS(48, 72) },
	{ .version = 0x030c, LAYOUT_THREADS(40, 0, 72, 8, 136, 144), LAYOUT_GIL(384),
	  .lines = LINES_LOCATIONS, .thread_frame = 56, .cframe_frame = 0, .thread_cframe = 56, .cframe_previous = 8,
	  .frame_previous = 8, .frame_code = 0, .frame_instr = 56, .frame_owner = 70, .owner_c = 3,
	  .code_firstline = 68, .code_filename = 112, .code_name = 120, .code_lines = 136,
	  .code_start = 192, .code_version = 92, LAYOUT_STRINGS(40, 56) },
};

/* ----------------------------------------------------- _Py_DebugOffsets ---- */
/*
 * Its 64-bit words by number, as programs printed them that were compiled with the headers of
 * 3.13.0 and 3.14.10; 0: there is none.
 */
struct debug_words {
	uint16_t version;
	uint8_t thread_frame, previous, executable, instr, owner, bytecode;
	uint8_t filename, name, lines, firstline, start, copies;
	uint8_t type, bytes_size, bytes_data, state, length, ascii;
	uint8_t owner_c, kind;
	uint8_t interpreters, interpreter_next, threads, thread_next, thread_id, thread_native;
	uint8_t gil_pointer, gil, gil_locked, gil_holder;	/* the pointer, and an own lock's struct and what it holds, in an interpreter's state */
};

static const struct debug_words debug_words[] = {
	{ .version = 0x030d, .thread_frame = 23, .previous = 29, .executable = 30, .instr = 31, .owner = 33,
	  .filename = 35, .name = 36, .lines = 38, .firstline = 39, .start = 43,
	  .type = 45, .bytes_size = 65, .bytes_data = 66, .state = 68, .length = 69,
	  .ascii = 70, .owner_c = 3, .kind = 2, .interpreters = 5, .interpreter_next = 8, .threads = 9,
	  .thread_next = 21, .thread_id = 24, .thread_native = 25,
	  .gil_pointer = 14, .gil = 15, .gil_locked = 17, .gil_holder = 18 },
	{ .version = 0x030e, .thread_frame = 26, .previous = 32, .executable = 33, .instr = 34, .owner = 36,
	  .bytecode = 38, .copies = 49, .filename = 40, .name = 41, .lines = 43, .firstline = 44, .start = 48,
	  .type = 51, .bytes_size = 75, .bytes_data = 76, .state = 78, .length = 79,
	  .ascii = 80, .owner_c = 3, .kind = 2, .interpreters = 5, .interpreter_next = 8, .threads = 9,
	  .thread_next = 24, .thread_id = 27, .thread_native = 28,
	  .gil_pointer = 15, .gil = 16, .gil_locked = 18, .gil_holder = 19 },
};

/* An offset in a small struct. */
static bool layout_word(const uint64_t *words, unsigned int n, uint16_t *to)
{
	if (words[n] > 4096)
		return false;
	*to = (uint16_t)words[n];
	return true;
}

/* The runtime and an interpreter are large. */
static bool layout_threads(struct layout *l, const struct debug_words *d, const uint64_t *words)
{
	uint16_t native;

	if (words[d->interpreters] > 1u << 24 || words[d->interpreter_next] > 1u << 24 || words[d->threads] > 1u << 24 ||
	    !layout_word(words, d->thread_next, &l->thread_next) || !layout_word(words, d->thread_id, &l->thread_id) ||
	    !layout_word(words, d->thread_native, &native))
		return false;
	l->runtime_interpreters = (uint32_t)words[d->interpreters];
	l->interpreter_next = (uint32_t)words[d->interpreter_next];
	l->interpreter_threads = (uint32_t)words[d->threads];
	l->thread_native = (int16_t)native;
	return true;
}

/* Builds for free threading have a lock that nobody takes. */
static bool layout_gil(struct layout *l, const struct debug_words *d, const uint64_t *words)
{
	uint64_t gil = words[d->gil], locked = words[d->gil_locked] - gil, holder = words[d->gil_holder] - gil;

	l->gil = -1;
	if (words[2])
		return true;
	if (words[d->gil_pointer] > 1u << 24 || locked > 4096 || holder > 4096)
		return false;
	l->gil = (int32_t)words[d->gil_pointer];
	l->gil_locked = (uint16_t)locked;
	l->gil_holder = (uint16_t)holder;
	return true;
}

static bool layout_debug(struct layout *l, uint16_t version, const uint64_t *words)
{
	uint16_t owner, bytecode = 0;

	for (unsigned int i = 0; i < sizeof(debug_words) / sizeof(*debug_words); i++) {
		const struct debug_words *d = &debug_words[i];

		if (d->version != version)
			continue;
		*l = (struct layout){
			.version = version, .lines = LINES_LOCATIONS, .cframe_frame = -1, .thread_cframe = -1,
			.owner_c = d->owner_c, .string_kind = d->kind, .frame_bytecode = -1,
		};
		if (!layout_threads(l, d, words) || !layout_gil(l, d, words) ||
		    !layout_word(words, d->thread_frame, &l->thread_frame) ||
		    !layout_word(words, d->previous, &l->frame_previous) ||
		    !layout_word(words, d->executable, &l->frame_code) ||
		    !layout_word(words, d->instr, &l->frame_instr) ||
		    !layout_word(words, d->owner, &owner) ||
		    !layout_word(words, d->filename, &l->code_filename) ||
		    !layout_word(words, d->name, &l->code_name) ||
		    !layout_word(words, d->lines, &l->code_lines) ||
		    !layout_word(words, d->firstline, &l->code_firstline) ||
		    !layout_word(words, d->start, &l->code_start) ||
		    !layout_word(words, d->type, &l->type) ||
		    !layout_word(words, d->bytes_size, &l->bytes_size) ||
		    !layout_word(words, d->bytes_data, &l->bytes_data) ||
		    !layout_word(words, d->state, &l->string_state) ||
		    !layout_word(words, d->length, &l->string_length) ||
		    !layout_word(words, d->ascii, &l->string_ascii))
			return false;
		l->frame_owner = (int16_t)owner;
		/* Six ints of the code object later: it is not told. */
		l->code_version = l->code_firstline + 24;
		/* The hash follows the length; behind the rest a compact string has two words more. */
		l->string_hash = l->string_length + 8;
		l->string_compact = l->string_ascii + 16;
		if (d->bytecode && words[2]) {
			if (!layout_word(words, d->bytecode, &bytecode) ||
			    !layout_word(words, d->copies, &l->code_copies))
				return false;
			l->frame_bytecode = (int16_t)bytecode;
		}
		return true;
	}
	return false;
}

bool layout_find(struct layout *l, uint32_t version, const void *runtime, const char **why)
{
	uint16_t release = (uint16_t)(version >> 16);

	for (unsigned int i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].version == release) {
			*l = layouts[i];
			return true;
		}
	*why = "no table for this version";
	if (release < 0x030d || !runtime)
		return false;
	/* The first bytes of _PyRuntime. */
	if (memcmp(runtime, "xdebugpy", 8)) {
		*why = "it does not say where things are";
		return false;
	}
	return layout_debug(l, release, runtime);
}
