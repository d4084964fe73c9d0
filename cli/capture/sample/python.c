// SPDX-License-Identifier: LGPL-2.1-or-later
/* See python.h.  Must never believe a pointer or a length. */
#include "capture/sample/python.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "userlib/plugins/stacks/lines.h"
#include "userlib/plugins/stacks/text.h"

#define PYTHON_TRIES		6u	/* to read a stack that changes */
#define PYTHON_ENDS		3u	/* readings that have to have one outermost frame */
#define PYTHON_MOMENT_NS	20000u	/* reading takes not much longer, if the recorder is not interrupted */
#define PYTHON_THREADS		4096u	/* that are looked at */
#define PYTHON_CODES		(1u << 16)
#define PYTHON_NAME		512u	/* bytes of texts, as python_text of frames.h has them */
#define PYTHON_TEXT		2048u
#define PYTHON_TABLE		(1u << 20)
#define PYTHON_REFERENCES	(1ull << 44)	/* no object has as many, with the bits for objects that never go */
#define PYTHON_HEAD		256u	/* bytes of a code object that are looked at */
#define PYTHON_STATE		512u	/* bytes of a thread's state, at most */
#define PYTHON_OURS		8u	/* states that one thread runs */
#define PYTHON_KINDS		8u	/* bit of a string's state where its kind begins, at most */
#define PTHREAD_TID		720u	/* of struct pthread of glibc on x86-64 */

bool ct_sampled_page_fits(const struct python_page *page)
{
	const struct layout *l = &page->layout;

	return l->code_filename <= PYTHON_HEAD - 8 && l->code_name <= PYTHON_HEAD - 8 && l->code_lines <= PYTHON_HEAD - 8 &&
	       l->code_firstline <= PYTHON_HEAD - 4 && l->thread_next <= PYTHON_STATE - 8 && l->thread_id <= PYTHON_STATE - 8 &&
	       l->thread_frame <= PYTHON_STATE - 8 && l->thread_native <= (int)PYTHON_STATE - 8 && l->thread_cframe <= (int)PYTHON_STATE - 8 && l->type <= PYTHON_HEAD - 8 && l->string_kind <= PYTHON_KINDS;
}

static uint64_t python_word(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, 8);
	return word;
}

/* ----------------------------------------------------------------- threads --- */

pid_t ct_sampled_tid(struct ct_sampled_python *p, uint64_t thread)
{
	const struct layout *l = &p->about.layout;
	uint64_t id = 0;
	uint32_t native = 0;

	if (l->thread_native >= 0)
		return ct_remote_now(&p->remote, thread + l->thread_native, &id, 8) && id <= INT32_MAX ? (pid_t)id : 0;
	return ct_remote_now(&p->remote, thread + l->thread_id, &id, 8) && id &&
	       ct_remote_now(&p->remote, id + PTHREAD_TID, &native, 4) && native <= INT32_MAX ? (pid_t)native : 0;
}

/* Is it this thread's state?  A state that was freed has another id, or none. */
static bool python_is_thread(struct ct_sampled_python *p, uint64_t thread, pid_t tid)
{
	return ct_sampled_tid(p, thread) == tid;
}

uint64_t ct_sampled_thread(struct ct_sampled_python *p, pid_t tid)
{
	const struct layout *l = &p->about.layout;
	uint64_t interpreter = 0, thread = 0, found = 0;

	/* Of several states that of the oldest interpreter, which is the last one: other ones it runs (3.9). */
	if (!ct_remote_now(&p->remote, p->about.runtime + l->runtime_interpreters, &interpreter, 8))
		return 0;
	for (unsigned int i = 0; interpreter && i < CT_SAMPLED_INTERPRETERS; i++) {
		if (!ct_remote_now(&p->remote, interpreter + l->interpreter_threads, &thread, 8))
			return 0;
		for (unsigned int k = 0; thread && k < PYTHON_THREADS; k++) {
			if (python_is_thread(p, thread, tid))
				found = thread;
			if (!ct_remote_now(&p->remote, thread + l->thread_next, &thread, 8))
				return 0;
		}
		if (!ct_remote_now(&p->remote, interpreter + l->interpreter_next, &interpreter, 8))
			return found;
	}
	return found;
}

/* ------------------------------------------------------------------- texts --- */

/* As the plugin's frames_string(): of a text that is too long the end.  @room: of the text and a zero. */
static bool python_text(struct ct_sampled_python *p, uint64_t string, char *to, size_t room)
{
	const struct layout *l = &p->about.layout;
	uint64_t length, type, first;
	uint32_t bits, kind, c;
	uint8_t text[4 * PYTHON_TEXT];
	size_t size = 0;

	if (!ct_remote_now(&p->remote, string + l->type, &type, 8) || type != p->about.string_type ||
	    !ct_remote_now(&p->remote, string + l->string_length, &length, 8) || length > 1u << 20 ||
	    !ct_remote_now(&p->remote, string + l->string_state, &bits, 4))
		return false;
	bits >>= l->string_kind;
	kind = bits & 7;
	if ((kind != 1 && kind != 2 && kind != 4) || !(bits & 8))
		return false;
	string += bits & 16 ? l->string_ascii : l->string_compact;
	if (length > PYTHON_TEXT) {
		string += (length - PYTHON_TEXT) * kind;
		length = PYTHON_TEXT;
	}
	if (length && !ct_remote_now(&p->remote, string, text, length * kind))
		return false;
	for (first = length; first; first--) {
		c = 0;
		memcpy(&c, text + (first - 1) * kind, kind);
		if (size + text_utf8_size(c) > room - 1)
			break;
		size += text_utf8_size(c);
	}
	for (; first < length; first++) {
		c = 0;
		memcpy(&c, text + first * kind, kind);
		to += text_utf8(to, c);
	}
	*to = 0;
	return true;
}

static bool python_table(struct ct_sampled_python *p, struct ct_sampled_code *code)
{
	const struct layout *l = &p->about.layout;
	uint64_t type, size;
	uint8_t *lines;

	if (!ct_remote_now(&p->remote, code->table + l->type, &type, 8) || type != p->about.bytes_type ||
	    !ct_remote_now(&p->remote, code->table + l->bytes_size, &size, 8) || size > PYTHON_TABLE)
		return false;
	lines = malloc(size + 1);
	if (!lines || (size && !ct_remote_now(&p->remote, code->table + l->bytes_data, lines, size))) {
		free(lines);
		return false;
	}
	free(code->lines);
	code->lines = lines;
	code->lines_size = size;
	return true;
}

/* The strings of free-threaded builds have a byte where others have two bits: found at the first text. */
static bool python_first_text(struct ct_sampled_python *p, uint64_t string, char *to, size_t room)
{
	uint8_t kind = p->about.layout.string_kind;

	if (python_text(p, string, to, room))
		return true;
	if (p->about.state == PAGE_CHECKED || p->codes.count > 1)
		return false;
	p->about.layout.string_kind = 10 - kind;
	if (python_text(p, string, to, room)) {
		p->kind = 10 - kind;
		return true;
	}
	p->about.layout.string_kind = kind;
	return false;
}

/*
 * Is the code object what it was before its texts were read?  One that was freed since may have had those of another one: where
 * it counted its references a freed object has an address, or nothing.
 */
static bool python_still_code(struct ct_sampled_python *p, const struct ct_sampled_code *code, const uint8_t *head)
{
	const struct layout *l = &p->about.layout;
	uint8_t now[PYTHON_HEAD];
	int32_t first;

	if (!ct_remote_now(&p->remote, code->address, now, sizeof(now)))
		return false;
	memcpy(&first, now + l->code_firstline, 4);
	return python_word(now) - 1 < PYTHON_REFERENCES && python_word(head) - 1 < PYTHON_REFERENCES &&
	       python_word(now + l->type) == p->about.code_type && python_word(now + l->code_filename) == code->filename &&
	       python_word(now + l->code_name) == code->name && python_word(now + l->code_lines) == code->table && first == code->first;
}

static bool python_describe(struct ct_sampled_python *p, struct ct_sampled_code *code, const uint8_t *head)
{
	/* With free threading references are counted elsewhere. */
	bool counted = p->about.layout.type == 8;
	char name[PYTHON_NAME + 1], file[PYTHON_TEXT + 1];
	char *function;

	if (!python_first_text(p, code->name, name, sizeof(name)) || !python_text(p, code->filename, file, sizeof(file)) ||
	    !python_table(p, code) || (counted && !python_still_code(p, code, head)) ||
	    asprintf(&function, "python\t%s\t%s", name, file) < 0)
		return false;
	/* The id stands for the text. */
	if (!code->function || strcmp(code->function, function))
		code->id = 0;
	free(code->function);
	code->function = function;
	return true;
}

/* "<string>": such code comes and goes, often at one address. */
static bool python_generated(const struct ct_sampled_code *code)
{
	const char *file = strrchr(code->function, '\t');

	return file && file[1] == '<' && strncmp(file + 1, "<frozen ", 8);
}

/* ------------------------------------------------------------------ frames --- */

/* What is known of the code object at @address, which has these bytes; NULL: it is none. */
static struct ct_sampled_code *python_code(struct ct_sampled_python *p, uint64_t address, const uint8_t *head)
{
	const struct layout *l = &p->about.layout;
	uint64_t filename = python_word(head + l->code_filename), name = python_word(head + l->code_name);
	uint64_t table = python_word(head + l->code_lines);
	struct ct_sampled_code *code;
	int32_t first;

	memcpy(&first, head + l->code_firstline, 4);
	if (python_word(head + l->type) != p->about.code_type)
		return NULL;
	code = ct_keyed_get(&p->codes, address);
	if (code && code->function && code->filename == filename && code->name == name && code->table == table &&
	    code->first == first && !python_generated(code) && !p->several)
		return code;
	if (!code && p->codes.count < PYTHON_CODES)
		code = ct_keyed_put(&p->codes, address);
	if (!code)
		return NULL;
	code->filename = filename;
	code->name = name;
	code->table = table;
	code->first = first;
	if (python_describe(p, code, head))
		return code;
	free(code->function);
	code->function = NULL;
	return NULL;
}

struct python_walk {
	uint64_t frame[2 * CT_SAMPLED_DEPTH], code[2 * CT_SAMPLED_DEPTH];
	int64_t at[2 * CT_SAMPLED_DEPTH];	/* of an instruction, or its address where .copy says of which copy of the code */
	int32_t copy[2 * CT_SAMPLED_DEPTH];	/* free threading: the copy that the thread runs */
	unsigned int count;
	unsigned int first;	/* was there all the time */
	bool cut;
	bool none;		/* there is no frame */
	uint64_t word;		/* where the state says which */
	uint64_t inner, outer;	/* on the thread's stack: with what its code begins (several interpreters) */
};

static bool python_frame(struct ct_sampled_python *p, struct python_walk *w, uint64_t frame)
{
	const struct layout *l = &p->about.layout;
	uint64_t code, instruction;
	int32_t index;

	w->copy[w->count] = 0;
	if (!ct_remote_read(&p->remote, frame + l->frame_code, &code, 8))
		return false;
	code &= ~3ull;		/* bits of references on stacks (3.14) */
	if (l->index) {
		if (!ct_remote_read(&p->remote, frame + l->frame_instr, &index, 4))
			return false;
		w->at[w->count] = (int64_t)index * l->unit;
	} else {
		if (!ct_remote_read(&p->remote, frame + l->frame_instr, &instruction, 8) ||
		    (l->frame_bytecode >= 0 && !ct_remote_read(&p->remote, frame + l->frame_bytecode, &w->copy[w->count], 4)))
			return false;
		w->at[w->count] = (int64_t)(l->frame_bytecode >= 0 ? instruction : instruction - code - l->code_start);
	}
	w->code[w->count] = code;
	return true;
}

/* From @frame to the outermost one. */
static bool python_frames(struct ct_sampled_python *p, struct python_walk *w, uint64_t frame)
{
	const struct layout *l = &p->about.layout;
	uint8_t owner;

	w->count = 0;
	w->cut = w->none = false;
	w->inner = w->outer = 0;
	for (unsigned int i = 0; frame && i < 2 * CT_SAMPLED_DEPTH; i++) {
		owner = 0;
		if (l->frame_owner >= 0 && !ct_remote_read(&p->remote, frame + l->frame_owner, &owner, 1))
			return false;
		if (l->frame_owner < 0 || owner < l->owner_c) {
			if (!python_frame(p, w, frame))
				return false;
			w->frame[w->count++] = frame;
		} else {
			w->inner = w->inner ? w->inner : frame;
			w->outer = frame;
		}
		if (!ct_remote_read(&p->remote, frame + l->frame_previous, &frame, 8))
			return false;
	}
	w->cut = frame != 0;
	return true;
}

/* Which frame of @w is at @frame; w->count: none. */
static unsigned int python_find(const struct python_walk *w, uint64_t frame)
{
	for (unsigned int i = 0; i < w->count; i++)
		if (w->frame[i] == frame)
			return i;
	return w->count;
}

/* From which frame on outwards both are the same.  The innermost one may have run on. */
static unsigned int python_same(const struct python_walk *a, const struct python_walk *b)
{
	unsigned int i = a->count, k = b->count;

	for (; i && k && a->frame[i - 1] == b->frame[k - 1] && a->code[i - 1] == b->code[k - 1] &&
	       ((i == 1 && k == 1) || (a->at[i - 1] == b->at[k - 1] && a->copy[i - 1] == b->copy[k - 1])); i--, k--)
		;
	return i;
}

/*
 * A generator's frame that comes and goes meanwhile may seem to have no caller: the outermost frame is to be the same in some
 * readings.  That of a thread hardly ever changes.
 */
static bool python_outermost(const struct python_walk *w, struct ct_remote_known *known)
{
	uint64_t end = w->cut ? 0 : w->frame[w->count - 1];

	known->ends = known->end == end ? known->ends + (known->ends < PYTHON_ENDS) : 1;
	known->end = end;
	return known->ends == PYTHON_ENDS;
}

/* What was read while the recorder was interrupted may be of two moments, although both readings say the same. */
static bool python_interrupted(struct ct_sampled_python *p, uint64_t ns)
{
	/* What a call takes without any block is that of some blocks. */
	uint64_t blocks = p->remote.count + 8, one = ns / blocks;

	if (!p->quickest || one < p->quickest)
		p->quickest = one;
	return ns > PYTHON_MOMENT_NS + 4 * blocks * p->quickest;
}

/*
 * Reads the frames.  Return: the first one that was there all the time; w->count: none.  @word: where the
 * innermost frame stands; @root: where that address stands, 0: it does not change.
 */
static unsigned int python_walk(struct ct_sampled_python *p, uint64_t root, uint64_t word, struct ct_remote_known *known,
				struct python_walk *w)
{
	static struct python_walk again;
	unsigned int first;

	w->none = false;
	for (unsigned int i = 0; i < PYTHON_TRIES; i++) {
		struct ct_remote_word now[2] = { { .at = word }, { .at = root } };
		bool last = i + 1 == PYTHON_TRIES;
		uint64_t begin = ct_now_ns();
		bool interrupted;

		if (!ct_remote_moment(&p->remote, known, now, root ? 2 : 1)) {
			/* Where frames were there may be nothing any more. */
			known->count = 0;
			continue;
		}
		interrupted = python_interrupted(p, ct_now_ns() - begin);
		if (root && now[1].value + (uint64_t)p->about.layout.cframe_frame != word) {
			word = now[1].value + (uint64_t)p->about.layout.cframe_frame;
			continue;
		}
		if (interrupted)
			continue;
		if (!now[0].value) {
			w->none = true;
			break;
		}
		if (!python_frames(p, w, now[0].value))
			continue;
		ct_remote_learn(&p->remote, known);
		/* Once more at one moment, unless there are more than can be read so. */
		if (p->remote.late && known->count < CT_REMOTE_BLOCKS && !last)
			continue;
		ct_remote_second(&p->remote);
		first = python_frames(p, &again, now[0].value) ? python_same(w, &again) : w->count;
		/* What the thread left meanwhile is not counted in the end, its callers are. */
		if (first && !last)
			continue;
		if (first < w->count && python_outermost(w, known))
			return first;
	}
	w->count = 0;
	return 0;
}

/* Free threading: where the instructions of the copy begin that a frame runs. */
static bool python_copy(struct ct_sampled_python *p, const struct python_walk *w, unsigned int i, int64_t *at)
{
	const struct layout *l = &p->about.layout;
	uint64_t list, count, start;

	*at = w->at[i];
	if (l->frame_bytecode < 0)
		return true;
	if (!ct_remote_now(&p->remote, w->code[i] + l->code_copies, &list, 8) || !ct_remote_now(&p->remote, list, &count, 8) ||
	    w->copy[i] < 0 || (uint64_t)w->copy[i] >= count || !ct_remote_now(&p->remote, list + 8 + 8 * (uint64_t)w->copy[i], &start, 8))
		return false;
	*at -= (int64_t)start;
	return true;
}

/* From 3.12 on the interpreter calls an __init__ from a frame of its own, which has no lines. */
static bool python_own(const struct ct_sampled_code *code)
{
	return code->filename == code->name && code->lines_size <= 4;
}

static int python_lines(struct ct_sampled_python *p, const struct python_walk *w, unsigned int first,
			struct ct_sampled_stack *stack)
{
	static uint8_t heads[CT_SAMPLED_DEPTH][PYTHON_HEAD];
	unsigned int count = w->count - first;

	if (count > CT_SAMPLED_DEPTH)
		count = CT_SAMPLED_DEPTH;
	stack->cut = w->cut || count < w->count - first;
	if (ct_remote_blocks(&p->remote, w->code + first, count, heads, PYTHON_HEAD) < count)
		return 0;
	/* Making room for one moves the others: all are made before any is used. */
	for (unsigned int pass = 0; pass < 2; pass++) {
		stack->depth = 0;
		for (unsigned int i = 0; i < count; i++) {
			struct ct_sampled_code *code = pass ? ct_keyed_get(&p->codes, w->code[first + i]) :
							      python_code(p, w->code[first + i], heads[i]);
			struct ct_sampled_frame *f = &stack->frames[stack->depth];
			int64_t at;
			int line;

			if (!code)
				return 0;
			if (!pass || python_own(code))
				continue;
			if (!python_copy(p, w, first + i, &at))
				return 0;
			line = lines_find(p->about.layout.lines, code->lines, code->lines_size, code->first, at);
			*f = (struct ct_sampled_frame){ .code = code, .line = line > 0 ? line : 0 };
			stack->depth++;
		}
	}
	return 1;
}

int ct_sampled_stack(struct ct_sampled_python *p, pid_t tid, uint64_t thread, struct ct_remote_known *known,
		     struct ct_sampled_stack *stack)
{
	static struct python_walk walk;
	const struct layout *l = &p->about.layout;
	uint64_t root = 0, word = thread + l->thread_frame;
	unsigned int first;

	stack->depth = 0;
	stack->cut = false;
	if (!python_is_thread(p, thread, tid))
		return -ESRCH;
	if (l->cframe_frame >= 0) {
		root = word;
		if (!ct_remote_now(&p->remote, root, &word, 8) || !word)
			return 0;
		word += l->cframe_frame;
	}
	first = python_walk(p, root, word, known, &walk);
	return walk.count ? python_lines(p, &walk, first, stack) : 0;
}

/* ---------------------------------------------------- several interpreters --- */
/*
 * As the plugin's interpreters.c.  Up to 3.12 a state is run by the thread on whose stack the struct lies of what executes
 * its code: a thread's pthread_self() lies above its stack and below the others', but for the main thread's.
 */
struct python_state {
	uint64_t state, cframe, id;
};

/* How many bytes of it are looked at: behind its end there may be nothing. */
static size_t python_head(const struct layout *l)
{
	size_t last = l->thread_cframe >= 0 ? l->thread_cframe : l->thread_native;

	last = l->thread_id > last ? l->thread_id : last;
	return (l->thread_next > last ? l->thread_next : last) + 8;
}

static int python_states(struct ct_sampled_python *p, pid_t tid, struct python_state *states, unsigned int room)
{
	const struct layout *l = &p->about.layout;
	uint64_t interpreter, state, native;
	uint8_t head[PYTHON_STATE];
	unsigned int count = 0;

	if (!ct_remote_now(&p->remote, p->about.runtime + l->runtime_interpreters, &interpreter, 8))
		return 0;
	for (unsigned int i = 0; interpreter && i < CT_SAMPLED_INTERPRETERS; i++) {
		if (!ct_remote_now(&p->remote, interpreter + l->interpreter_threads, &state, 8))
			return 0;
		/* A list may go round, as it changes or as somebody made it. */
		for (unsigned int k = 0; state && k < room && count < room && ct_remote_now(&p->remote, state, head, python_head(l)); k++) {
			states[count] = (struct python_state){ .state = state, .id = python_word(head + l->thread_id) };
			if (l->thread_cframe >= 0) {
				states[count].cframe = python_word(head + l->thread_cframe);
				count++;
			} else {
				native = python_word(head + l->thread_native);
				count += native == (uint64_t)tid;
			}
			state = python_word(head + l->thread_next);
		}
		if (!ct_remote_now(&p->remote, interpreter + l->interpreter_next, &interpreter, 8))
			return 0;
	}
	return count;
}

/* Which of them the thread runs: first in the list.  The number of these. */
static unsigned int python_ours(struct ct_sampled_python *p, pid_t tid, struct python_state *states, unsigned int count)
{
	unsigned int ours = 0;
	uint32_t native = 0;

	if (p->about.layout.thread_cframe < 0)
		return count < PYTHON_OURS ? count : PYTHON_OURS;
	for (unsigned int i = 0; i < count && ours < PYTHON_OURS; i++) {
		struct python_state own = states[i];
		uint64_t above = 0;

		/* One that runs nothing has the struct in it. */
		if (own.cframe - own.state < PYTHON_STATE)
			continue;
		for (unsigned int k = 0; k < count; k++)
			if (states[k].id > own.cframe && (!above || states[k].id < above))
				above = states[k].id;
		if (above ? ct_remote_now(&p->remote, above + PTHREAD_TID, &native, 4) && native == (uint32_t)tid : tid == p->remote.pid) {
			states[i] = states[ours];
			states[ours++] = own;
		}
	}
	return ours;
}

struct ct_remote_known *ct_sampled_known(struct ct_sampled_python *p, uint64_t state)
{
	struct ct_sampled_state *s = &p->states[(state ^ state >> 12) / 64 % CT_SAMPLED_STATES];

	if (s->state != state)
		*s = (struct ct_sampled_state){ .state = state };
	return &s->known;
}

static bool python_place(struct ct_sampled_python *p, const struct python_state *state, struct python_walk *w)
{
	const struct layout *l = &p->about.layout;
	struct ct_remote_known *known = ct_sampled_known(p, state->state);
	uint64_t cframe = state->cframe, word = l->cframe_frame >= 0 ? cframe + l->cframe_frame : state->state + l->thread_frame;

	w->first = python_walk(p, 0, word, known, w);
	w->word = state->state + (l->thread_cframe >= 0 ? (uint64_t)l->thread_cframe : l->thread_frame);
	if (l->thread_cframe < 0)
		return w->count && w->inner;
	w->inner = w->outer = cframe;
	for (unsigned int i = 0; cframe - state->state >= PYTHON_STATE; i++) {
		w->outer = cframe;
		/* Deeper than what is shown: it reaches anywhere. */
		if (i == 2 * CT_SAMPLED_DEPTH)
			w->outer = UINT64_MAX;
		if (i == 2 * CT_SAMPLED_DEPTH || !ct_remote_now(&p->remote, cframe + l->cframe_previous, &cframe, 8))
			break;
	}
	return w->count;
}

/* Has it not ended while its callers' frames were read? */
static bool python_still(struct ct_sampled_python *p, const struct python_walk *w)
{
	uint64_t now;

	return ct_remote_now(&p->remote, w->word, &now, 8) &&
	       (p->about.layout.thread_cframe >= 0 ? now == w->inner : python_find(w, now) < w->count);
}

static void python_append(struct python_walk *to, const struct python_walk *w)
{
	for (unsigned int i = w->first; i < w->count; i++) {
		if (to->count == 2 * CT_SAMPLED_DEPTH) {
			to->cut = true;
			return;
		}
		to->frame[to->count] = w->frame[i];
		to->code[to->count] = w->code[i];
		to->copy[to->count] = w->copy[i];
		to->at[to->count++] = w->at[i];
	}
	to->cut = to->cut || w->cut;
}

bool ct_sampled_several(struct ct_sampled_python *p)
{
	const struct layout *l = &p->about.layout;
	uint64_t words[3];	/* the newest, the first, the next one's number */

	if ((l->thread_cframe < 0 && (l->version < 0x030d || l->thread_native < 0)) ||
	    !ct_remote_now(&p->remote, p->about.runtime + l->runtime_interpreters, words, sizeof(words)))
		return false;
	p->several = words[2] > 1;
	return p->several && words[0] != words[1];
}

int ct_sampled_all(struct ct_sampled_python *p, pid_t tid, struct ct_sampled_stack *stack)
{
	static struct python_state states[PYTHON_THREADS];
	static struct python_walk walks[PYTHON_OURS], joined;
	unsigned int ours = python_ours(p, tid, states, python_states(p, tid, states, PYTHON_THREADS)), count = 0, at;
	struct python_walk *order[PYTHON_OURS];
	uint64_t outer = 0;

	stack->depth = 0;
	stack->cut = false;
	for (unsigned int i = 0; i < ours; i++) {
		if (!python_place(p, &states[i], &walks[i])) {
			/* Without the frames of one a stack is not whole. */
			if (!walks[i].none && !walks[i].count)
				return 0;
			continue;
		}
		for (at = count++; at && order[at - 1]->inner > walks[i].inner; at--)
			order[at] = order[at - 1];
		order[at] = &walks[i];
	}
	joined.count = 0;
	joined.cut = false;
	for (unsigned int i = 0; i < count && !joined.cut; i++) {
		/* One that called another one waits for it. */
		if (i && order[i]->first)
			return 0;
		/* Two that call each other in turns: which frame called which is not told. */
		if (order[i]->inner < outer)
			joined.cut = true;
		else
			python_append(&joined, order[i]);
		outer = order[i]->outer;
	}
	return joined.count && (count == 1 || python_still(p, order[0])) ? python_lines(p, &joined, 0, stack) : 0;
}

void ct_sampled_python_free(struct ct_sampled_python *p)
{
	for (size_t i = 0; i < p->codes.count; i++) {
		free(p->codes.list[i].function);
		free(p->codes.list[i].lines);
	}
	ct_keyed_free(&p->codes);
}
