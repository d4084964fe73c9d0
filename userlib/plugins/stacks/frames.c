// SPDX-License-Identifier: LGPL-2.1-or-later
/* See frames.h.  Must never call what takes the interpreter's lock, a reference or memory. */
#include "plugins/stacks/frames.h"

#include "base/sys.h"
#include "plugins/stacks/lines.h"
#include "plugins/stacks/memory.h"
#include "plugins/stacks/text.h"

struct python python;
bool python_checked;

/*
 * What a code object says of itself, as one number: the sum of its words, each multiplied by a constant of its own.
 * So no word waits for the one before.
 */
#define FRAMES_DIGEST(n, word)	((word) * (0x9e3779b97f4a7c15ull + 2 * (n) * 0x632be59bd9b4e019ull))

/* The length of a string, its last 16 bytes, and its first one. */
static inline __attribute__((always_inline)) bool frames_tail(const struct layout *l, bool safe, uint64_t string, uint64_t *h, uint64_t *first)
{
	uint64_t length, words[2] = { 0 };
	uint64_t at = string + l->string_ascii;

	if (!memory_may_be(string) || !memory_word(safe, string + l->string_length, &length) || length > 1u << 20)
		return false;
	*first = 0;
	if (length >= 16) {
		if (!memory_read(safe, at + length - 16, words, 16) || !memory_read(safe, at, first, 1))
			return false;
	} else if (length) {
		if (!memory_read(safe, at, words, length))
			return false;
		*first = words[0] & 255;
	}
	*h += FRAMES_DIGEST(5, length) + FRAMES_DIGEST(6, words[0]) + FRAMES_DIGEST(7, words[1]);
	return true;
}

/*
 * Code of generated sources ("<string>") comes and goes, often at one address and with one name:
 * of it all lines count.  Of code from files, which rarely goes, the begin and the end of the table.
 */
static inline __attribute__((always_inline)) bool frames_lines_digest(const struct layout *l, bool safe, uint64_t table, bool all, uint64_t *h)
{
	uint64_t size, begin, end, word, at = table + l->bytes_data;

	if (!memory_may_be(table) || !memory_word(safe, table + l->bytes_size, &size) || size > 1u << 24)
		return false;
	*h += FRAMES_DIGEST(8, size);
	if (!all && size > 16) {
		if (!memory_word(safe, at, &begin) || !memory_word(safe, at + size - 8, &end))
			return false;
		*h += FRAMES_DIGEST(9, begin) + FRAMES_DIGEST(10, end);
		return true;
	}
	for (; size; at += size < 8 ? size : 8, size -= size < 8 ? size : 8) {
		word = 0;
		if (!memory_read(safe, at, &word, size < 8 ? size : 8))
			return false;
		*h = (*h ^ word) * 0x9e3779b97f4a7c15ull;
		*h ^= *h >> 32;
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

	return memory_may_be(lines) && memory_word(safe, lines + l->bytes_size, &size) && size <= 4;
}

/*
 * From 3.12 on a code object has a number that no other one of its interpreter ever had, unless it is 0.
 * Then nothing else has to be read.
 */
static inline __attribute__((always_inline)) bool frames_version(const struct layout *l, bool safe, uint64_t code,
								   uint64_t *digest)
{
	uint32_t version = 0;

	if (l->code_version && !memory_read(safe, code + l->code_version, &version, 4))
		return false;
	*digest = version ? (uint64_t)version << 32 | 1 : DIGEST_NONE;
	return true;
}

/* Sets the digest unless the code's number has; DIGEST_NONE: it is the interpreter's own. */
static inline __attribute__((always_inline)) bool frames_digest(const struct layout *l, bool safe, uint64_t code,
								  uint64_t *digest)
{
	uint64_t filename, name, lines, hash, first, h;
	uint32_t line;

	if (!memory_word(safe, code + l->code_filename, &filename) || !memory_word(safe, code + l->code_name, &name) ||
	    !memory_read(safe, code + l->code_firstline, &line, 4) || !memory_may_be(name))
		return false;
	if (filename != name && *digest)
		return true;
	if (!memory_word(safe, code + l->code_lines, &lines) || !memory_word(safe, name + l->string_hash, &hash))
		return false;
	if (unlikely(filename == name) && frames_own(l, safe, lines)) {
		*digest = DIGEST_NONE;
		return true;
	}
	if (*digest)
		return true;
	h = FRAMES_DIGEST(1, filename) + FRAMES_DIGEST(2, name) + FRAMES_DIGEST(3, line) + FRAMES_DIGEST(4, hash) +
	    FRAMES_DIGEST(11, lines);
	if (!frames_tail(l, safe, filename, &h, &first) || !frames_lines_digest(l, safe, lines, first == '<', &h))
		return false;
	*digest = h | 1;
	return true;
}

/* Where the instructions of the frame's code begin. */
static inline __attribute__((always_inline)) bool frames_start(const struct layout *l, bool safe, uint64_t frame, uint64_t code, uint64_t *start)
{
	uint64_t list, count;
	int32_t index;

	if (l->frame_bytecode < 0) {
		*start = code + l->code_start;
		return true;
	}
	return memory_read(safe, frame + (uint64_t)l->frame_bytecode, &index, 4) &&
	       memory_word(safe, code + l->code_copies, &list) && memory_may_be(list) &&
	       memory_word(safe, list, &count) && index >= 0 && (uint64_t)index < count &&
	       memory_word(safe, list + 8 + 8 * (uint64_t)index, start);
}

/* Its code and where in it it is; the digest as far as the code's number gives it. */
static inline __attribute__((always_inline)) bool frames_one(const struct layout *l, bool safe, uint64_t frame,
							       struct python_frame *f)
{
	uint64_t code, instr, start;
	int32_t index;

	if (!memory_word(safe, frame + l->frame_code, &code))
		return false;
	f->frame = frame;
	f->code = code & ~3ull;		/* bits of references on stacks (3.14) */
	if (unlikely(!memory_may_be(f->code)))
		return false;
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
	return frames_version(l, safe, f->code, &f->digest);
}

static inline __attribute__((always_inline)) bool frames_same(const struct python_frame *a, const struct python_frame *b)
{
	return ((a->frame ^ b->frame) | (a->code ^ b->code) | (uint64_t)(a->at ^ b->at) | (a->digest ^ b->digest)) == 0;
}

/*
 * A frame's place in the last stack, below @top: it lies outwards of those that were found; 0: it is not there.
 * From 3.11 on a frame lies above its caller, but for those of generators: behind some that are lower it is not looked for.
 */
static inline unsigned int frames_find(const struct layout *l, const struct python_last *last, unsigned int top, uint64_t frame)
{
	unsigned int lower = l->index ? PYTHON_DEPTH : 3;

	for (; top && last->frames[top - 1].frame != frame; top--)
		if (last->frames[top - 1].frame < frame && !lower--)
			return 0;
	return top;
}

/* The frames of @last from @from down to @to were the same, but not all that called them. */
static bool frames_copy(struct python_stack *s, const struct python_last *last, unsigned int from, unsigned int to)
{
	for (; from > to; from--) {
		if (s->depth == PYTHON_DEPTH)
			return false;
		s->frames[s->depth++] = last->frames[from - 1];
	}
	return true;
}

/* Are frames found by few words: is each the interpreter's own struct, and has code a number? */
static inline bool frames_plain(const struct layout *l)
{
	return l->code_version && l->frame_owner >= 0 && l->frame_bytecode < 0 && !l->index;
}

/*
 * The usual case: as many frames from *frame outwards as are those of the last stack, below its *at-th.
 * What does frames_one(), with nothing written.
 */
static inline void frames_run(const struct layout *l, const struct python_last *last, uint64_t *frame, unsigned int *at)
{
	const struct python_frame *f = &last->frames[*at];
	uint64_t next = *frame, owner = (uint64_t)l->frame_owner, owner_c = l->owner_c, previous = l->frame_previous;
	uint64_t code = l->frame_code, instr = l->frame_instr, start = l->code_start, version = l->code_version;
	unsigned int others = 0;

	while (f > last->frames && memory_may_be(next)) {
		if (*(const uint8_t *)(next + owner) >= owner_c) {
			if (others++ > PYTHON_DEPTH)
				break;
		} else if (next != f[-1].frame || (*(const uint64_t *)(next + code) & ~3ull) != f[-1].code ||
			   *(const uint64_t *)(next + instr) - start - f[-1].code != (uint64_t)f[-1].at ||
			   ((uint64_t)*(const uint32_t *)(f[-1].code + version) << 32 | 1) != f[-1].digest) {
			break;
		} else {
			f--;
		}
		next = *(const uint64_t *)(next + previous);
	}
	*frame = next;
	*at = (unsigned int)(f - last->frames);
}

/*
 * Frames that are those of the last stack are only compared, and copied where one further outwards is another:
 * top: one more than the first of them, at: than the last one that was seen.  top 0: the frame before was another.
 */
static inline __attribute__((always_inline)) bool frames_read(const struct layout *l, bool safe, uint64_t thread,
								const struct python_last *last, struct python_stack *s)
{
	unsigned int top = 0, at = last ? last->depth : 0, found;
	bool plain = !safe && frames_plain(l);
	uint64_t frame;
	uint8_t owner;

	s->kept = s->depth = 0;
	s->cut = false;
	if (!memory_word(safe, thread + l->thread_frame, &frame) ||
	    (l->cframe_frame >= 0 && (!memory_may_be(frame) ||
				      !memory_word(safe, frame + (uint64_t)l->cframe_frame, &frame))))
		return false;
	for (unsigned int i = 0; frame && i < 2 * PYTHON_DEPTH; i++) {
		struct python_frame f;

		if (unlikely(!memory_may_be(frame)))
			return false;
		owner = 0;
		if (l->frame_owner >= 0 && !memory_read(safe, frame + (uint64_t)l->frame_owner, &owner, 1))
			return false;
		if (l->frame_owner >= 0 && owner >= l->owner_c)
			goto next;
		if (!frames_one(l, safe, frame, &f) || (unlikely(!f.digest) && !frames_digest(l, safe, f.code, &f.digest)))
			return false;
		if (likely(top && at && frames_same(&f, &last->frames[at - 1]))) {
			at--;
			goto next;
		}
		if (top && !frames_copy(s, last, top, at))
			goto cut;
		top = 0;
		found = frames_find(l, last, at, frame);
		if (found) {
			at = found - 1;
			if (frames_same(&f, &last->frames[at])) {
				top = found;
				goto next;
			}
		}
		/* One of the interpreter's own has no stack of its own to show. */
		if (l->code_version && !frames_digest(l, safe, f.code, &f.digest))
			return false;
		if (f.digest == DIGEST_NONE)
			goto next;
		if (s->depth == PYTHON_DEPTH)
			goto cut;
		s->frames[s->depth++] = f;
next:
		if (!memory_word(safe, frame + l->frame_previous, &frame))
			return false;
		if (plain && top)
			frames_run(l, last, &frame, &at);
	}
	if (frame)
		goto cut;
	if (top && at && !frames_copy(s, last, top, at))
		goto cut;
	s->kept = at ? 0 : top;
	if (s->kept + s->depth <= PYTHON_DEPTH)
		return true;
cut:
	s->cut = true;
	return true;
}

bool frames_walk(bool safe, void *thread, const struct python_last *last, struct python_stack *s)
{
	/* Each interpreter gives its code numbers from the first one on. */
	const struct layout *l = python_were_several() ? &python.unnumbered : &python.layout;

	if (!memory_may_be((uint64_t)thread))
		return false;
	if (safe)
		return frames_read(l, true, (uint64_t)thread, NULL, s);
	if (!frames_read(l, false, (uint64_t)thread, last, s))
		return false;
	/* The innermost ones are what counts, and all of them are needed. */
	return !s->cut || frames_read(l, false, (uint64_t)thread, NULL, s);
}

/* ------------------------------------------------------------------- texts --- */
static bool frames_char(bool safe, uint64_t data, uint64_t i, uint32_t kind, uint32_t *c)
{
	*c = 0;
	return memory_read(safe, data + i * kind, c, kind);
}

/* Of a text that is too long the end. */
static bool frames_string(const struct layout *l, bool safe, uint64_t string, char *to, size_t room, size_t *size)
{
	uint64_t length, type, data, first;
	size_t used = 0;
	uint32_t bits, kind, c;

	if (!memory_may_be(string) || !memory_word(safe, string + l->type, &type) || type != python.string_type ||
	    !memory_word(safe, string + l->string_length, &length) || length > 1u << 20 ||
	    !memory_read(safe, string + l->string_state, &bits, 4))
		return false;
	bits >>= l->string_kind;
	kind = bits & 7;
	if ((kind != 1 && kind != 2 && kind != 4) || !(bits & 8))
		return false;
	data = string + (bits & 16 ? l->string_ascii : l->string_compact);
	for (first = length; first; first--) {
		if (!frames_char(safe, data, first - 1, kind, &c))
			return false;
		if (used + text_utf8_size(c) > room)
			break;
		used += text_utf8_size(c);
	}
	*size = 0;
	for (; first < length; first++) {
		if (!frames_char(safe, data, first, kind, &c))
			return false;
		*size += text_utf8(to + *size, c);
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

	if (!memory_may_be(f->code) || !memory_word(safe, f->code + l->type, &type) || type != python.code_type ||
	    !memory_word(safe, f->code + l->code_filename, &filename) ||
	    !memory_word(safe, f->code + l->code_name, &name) || !memory_word(safe, f->code + l->code_lines, &lines) ||
	    !memory_read(safe, f->code + l->code_firstline, &first, 4) ||
	    !frames_string(l, safe, name, t->name, sizeof(t->name), &t->name_size) ||
	    !frames_string(l, safe, filename, t->file, sizeof(t->file), &t->file_size) ||
	    !memory_may_be(lines) || !memory_word(safe, lines + l->type, &type) || type != python.bytes_type ||
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
