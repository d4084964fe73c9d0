// SPDX-License-Identifier: LGPL-2.1-or-later
/* See frames.h.  Must never call what takes the interpreter's lock, a reference or memory. */
#include "plugins/stacks/frames.h"

#include "plugins/stacks/lines.h"
#include "plugins/stacks/memory.h"

struct python python;
bool python_checked;

static inline uint64_t frames_mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

/* The last 16 bytes of a string's text, and its length. */
static inline bool frames_tail(const struct layout *l, bool safe, uint64_t string, uint64_t *h, uint64_t *first)
{
	uint64_t length, words[2] = { 0 };
	uint64_t at = string + l->string_ascii;

	if (!memory_word(safe, string + l->string_length, &length) || length > 1u << 20)
		return false;
	*h = frames_mix(*h, length);
	*first = 0;
	if (length < 16)
		return !length || (memory_read(safe, at, words, length) &&
				   (*first = words[0] & 255, *h = frames_mix(frames_mix(*h, words[0]), words[1]), true));
	if (!memory_read(safe, at + length - 16, words, 16) || !memory_read(safe, at, first, 1))
		return false;
	*h = frames_mix(frames_mix(*h, words[0]), words[1]);
	return true;
}

/*
 * Code of generated sources ("<string>") comes and goes, often at one address and with one name:
 * of it all lines count.  Of code from files, which rarely goes, the begin and the end of the table.
 */
static inline bool frames_lines_digest(const struct layout *l, bool safe, uint64_t table, bool all, uint64_t *h)
{
	uint64_t size, word = 0, at = table + l->bytes_data;

	if (!memory_word(safe, table + l->bytes_size, &size) || size > 1u << 24)
		return false;
	*h = frames_mix(*h, size);
	if (!all && size > 16)
		return memory_word(safe, at, &word) && (*h = frames_mix(*h, word), true) &&
		       memory_word(safe, at + size - 8, &word) && (*h = frames_mix(*h, word), true);
	for (; size; at += size < 8 ? size : 8, size -= size < 8 ? size : 8) {
		word = 0;
		if (!memory_read(safe, at, &word, size < 8 ? size : 8))
			return false;
		*h = frames_mix(*h, word);
	}
	return true;
}

#define DIGEST_NONE	0	/* it is no code of the program's */

/*
 * From 3.12 on the interpreter calls an __init__ from a frame of its own, which tracebacks leave out:
 * its file and its function have one and the same name, and it has no lines.
 */
static inline bool frames_own(const struct layout *l, bool safe, uint64_t lines)
{
	uint64_t size;

	return memory_word(safe, lines + l->bytes_size, &size) && size <= 4;
}

static inline bool frames_digest(const struct layout *l, bool safe, uint64_t code, uint64_t *digest)
{
	uint64_t filename, name, lines, hash, first;
	uint32_t line;

	if (!memory_word(safe, code + l->code_filename, &filename) || !memory_word(safe, code + l->code_name, &name) ||
	    !memory_word(safe, code + l->code_lines, &lines) ||
	    !memory_read(safe, code + l->code_firstline, &line, 4) ||
	    !memory_word(safe, name + l->string_hash, &hash))
		return false;
	*digest = DIGEST_NONE;
	if (unlikely(filename == name) && frames_own(l, safe, lines))
		return true;
	*digest = frames_mix(frames_mix(frames_mix(frames_mix(filename, name), lines), hash), line) | 1;
	return frames_tail(l, safe, filename, digest, &first) &&
	       frames_lines_digest(l, safe, lines, first == '<', digest);
}

/* Where the instructions of the frame's code begin. */
static inline bool frames_start(const struct layout *l, bool safe, uint64_t frame, uint64_t code, uint64_t *start)
{
	uint64_t list, count;
	int32_t index;

	if (l->frame_bytecode < 0) {
		*start = code + l->code_start;
		return true;
	}
	return memory_read(safe, frame + (uint64_t)l->frame_bytecode, &index, 4) &&
	       memory_word(safe, code + l->code_copies, &list) && memory_word(safe, list, &count) &&
	       index >= 0 && (uint64_t)index < count && memory_word(safe, list + 8 + 8 * (uint64_t)index, start);
}

static inline bool frames_one(const struct layout *l, bool safe, uint64_t frame, struct python_frame *f)
{
	uint64_t code, instr, start;
	int32_t index;

	if (!memory_word(safe, frame + l->frame_code, &code))
		return false;
	f->frame = frame;
	f->code = code & ~3ull;		/* bits of references on stacks (3.14) */
	if (l->index) {
		if (!memory_read(safe, frame + l->frame_instr, &index, 4))
			return false;
		f->at = (int64_t)index * l->unit;
	} else {
		if (!memory_word(safe, frame + l->frame_instr, &instr) ||
		    !frames_start(l, safe, frame, f->code, &start))
			return false;
		f->at = (int64_t)(instr - start);
	}
	return frames_digest(l, safe, f->code, &f->digest);
}

static inline __attribute__((always_inline)) bool frames_read(const struct layout *l, bool safe, uint64_t thread,
								struct python_stack *s)
{
	uint64_t frame;
	uint8_t owner;

	s->depth = 0;
	s->cut = false;
	if (!memory_word(safe, thread + l->thread_frame, &frame) ||
	    (l->cframe_frame >= 0 && !memory_word(safe, frame + (uint64_t)l->cframe_frame, &frame)))
		return false;
	for (unsigned int i = 0; frame && i < 2 * PYTHON_DEPTH; i++) {
		owner = 0;
		if (l->frame_owner >= 0 && !memory_read(safe, frame + (uint64_t)l->frame_owner, &owner, 1))
			return false;
		if (l->frame_owner < 0 || owner < l->owner_c) {
			if (!frames_one(l, safe, frame, &s->frames[s->depth]))
				return false;
			s->depth += s->frames[s->depth].digest != DIGEST_NONE;
		}
		if (!memory_word(safe, frame + l->frame_previous, &frame))
			return false;
		if (s->depth == PYTHON_DEPTH)
			break;
	}
	s->cut = frame != 0;
	return true;
}

bool frames_walk(bool safe, void *thread, struct python_stack *s)
{
	return safe ? frames_read(&python.layout, true, (uint64_t)thread, s) :
		      frames_read(&python.layout, false, (uint64_t)thread, s);
}

/* ------------------------------------------------------------------- texts --- */
static size_t frames_utf8(char *to, size_t room, size_t n, uint32_t c)
{
	if (c < 0x20 || c == 0x7f)
		c = '?';
	if (c < 0x80 && n + 1 <= room) {
		to[n++] = (char)c;
	} else if (c >= 0x80 && c < 0x800 && n + 2 <= room) {
		to[n++] = (char)(0xc0 | c >> 6);
		to[n++] = (char)(0x80 | (c & 63));
	} else if (c >= 0x800 && c < 0x10000 && n + 3 <= room) {
		to[n++] = (char)(0xe0 | c >> 12);
		to[n++] = (char)(0x80 | (c >> 6 & 63));
		to[n++] = (char)(0x80 | (c & 63));
	} else if (c >= 0x10000 && c < 0x110000 && n + 4 <= room) {
		to[n++] = (char)(0xf0 | c >> 18);
		to[n++] = (char)(0x80 | (c >> 12 & 63));
		to[n++] = (char)(0x80 | (c >> 6 & 63));
		to[n++] = (char)(0x80 | (c & 63));
	}
	return n;
}

/* Of a text that is too long the end. */
static bool frames_string(const struct layout *l, bool safe, uint64_t string, char *to, size_t room, size_t *size)
{
	uint64_t length, type, data;
	uint32_t bits, kind, c;

	if (!memory_word(safe, string + l->type, &type) || type != python.string_type ||
	    !memory_word(safe, string + l->string_length, &length) || length > 1u << 20 ||
	    !memory_read(safe, string + l->string_state, &bits, 4))
		return false;
	bits >>= l->string_kind;
	kind = bits & 7;
	if ((kind != 1 && kind != 2 && kind != 4) || !(bits & 8))
		return false;
	data = string + (bits & 16 ? l->string_ascii : l->string_compact);
	*size = 0;
	for (uint64_t i = length > room ? length - room : 0; i < length; i++) {
		c = 0;
		if (!memory_read(safe, data + i * kind, &c, kind))
			return false;
		*size = frames_utf8(to, room, *size, c);
	}
	return true;
}

bool frames_describe(const struct python_frame *f, struct python_text *t)
{
	const struct layout *l = &python.layout;
	uint64_t type, filename, name, lines, size;
	static const uint8_t none;
	bool safe = !python_checked;
	int32_t first;
	uint8_t copy[4096];
	const uint8_t *table = &none;

	if (!memory_word(safe, f->code + l->type, &type) || type != python.code_type ||
	    !memory_word(safe, f->code + l->code_filename, &filename) ||
	    !memory_word(safe, f->code + l->code_name, &name) || !memory_word(safe, f->code + l->code_lines, &lines) ||
	    !memory_read(safe, f->code + l->code_firstline, &first, 4) ||
	    !frames_string(l, safe, name, t->name, sizeof(t->name), &t->name_size) ||
	    !frames_string(l, safe, filename, t->file, sizeof(t->file), &t->file_size) ||
	    !memory_word(safe, lines + l->type, &type) || type != python.bytes_type ||
	    !memory_word(safe, lines + l->bytes_size, &size) || size > 1u << 24)
		return false;
	if (!safe) {
		table = (const uint8_t *)(lines + l->bytes_data);
	} else if (size) {
		/* Of a long table the first check knows no more than a part. */
		if (size > sizeof(copy))
			size = sizeof(copy);
		if (!memory_read(true, lines + l->bytes_data, copy, size))
			return false;
		table = copy;
	}
	t->line = lines_find(l->lines, table, size, first, f->at);
	return true;
}
