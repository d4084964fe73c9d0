// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding and using libcuda's table; see table.h.
 *
 * A function's word is found without decoding instructions: the first indirect call or jump by
 * an address relative to itself (ff 15, ff 25), in its first bytes, whose word is aligned, can
 * be written, lies outside of RELRO and leads into libcuda's code.  That is checked for the
 * whole: nearly all exports have a word, all words differ and lie close together.  Must never
 * store into a table that fails a check.
 */
#include "hook/table.h"

#include "hook/slot.h"

#define LOOK		112u		/* bytes of a function */
#define FOUND_PERCENT	95u		/* of the exports, at least */
#define FEWEST		16u
#define SPAN		(64u << 10)	/* bytes from the first word to the last */

struct word {
	u64 *at;
	const char *name;	/* of the function; libcuda's own memory */
	void *thunk;
	u64 replaced;		/* what the thunk took the place of */
	u64 original;		/* what the loader puts there; 0: not known */
};

/* One table at a time.  Only written inside dl_iterate_phdr(). */
static struct {
	u64 start;		/* of its libcuda; 0: none is used */
	struct word *words;
	u32 count, room;
} table;

static bool in_code(const struct ct_object *o, u64 address)
{
	for (unsigned i = 0; i < o->phnum; i++) {
		const ElfW(Phdr) *p = &o->phdr[i];
		u64 at = o->base + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && address >= at && address < at + p->p_filesz)
			return true;
	}
	return false;
}

/* The function's word; NULL if it has none.  later: it has one that is not relocated yet. */
static u64 *word_of(const struct ct_object *o, const ElfW(Sym) *s, bool *later)
{
	u64 function = o->base + s->st_value, at, value;
	u32 most = s->st_size && s->st_size < LOOK ? (u32)s->st_size : LOOK;
	const u8 *code = (const u8 *)function;
	s32 distance;

	*later = false;
	if (!in_code(o, function) || !in_code(o, function + most - 1))
		return NULL;
	for (u32 i = 0; i + 6 <= most; i++) {
		if (code[i] != 0xff || (code[i + 1] != 0x15 && code[i + 1] != 0x25))
			continue;
		memcpy(&distance, code + i + 2, 4);
		at = function + i + 6 + (u64)(s64)distance;
		if (at & 7 || !ct_object_writable(o, at) || (at >= o->relro_start && at < o->relro_end))
			continue;
		value = ct_load((u64 *)at);
		if (in_code(o, value) || ct_is_thunk((void *)value))
			return (u64 *)at;
		*later |= !value || in_code(o, o->base + value);
	}
	return NULL;
}

/* Finds the words of all exports. */
static enum ct_table_state table_find(const struct ct_object *o)
{
	u32 symbols = ct_object_symbols(o), exports = 0, late = 0;
	bool later;

	table.count = 0;
	for (u32 i = 0; i < symbols; i++) {
		const ElfW(Sym) *s = &o->symbols[i];
		u64 *at;

		if (s->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s->st_info) != STT_FUNC ||
		    !ct_is_name(o->strings + s->st_name))
			continue;
		exports++;
		at = word_of(o, s, &later);
		late += !at && later;
		if (at && table.count < table.room)
			table.words[table.count++] = (struct word){
				.at = at, .name = o->strings + s->st_name,
			};
	}
	if (table.count >= FEWEST && table.count * 100 >= exports * FOUND_PERCENT)
		return CT_TABLE_USED;
	/* Words are filled one after the other while the loader relocates them. */
	return (late + table.count) * 100 >= exports * FOUND_PERCENT && late ? CT_TABLE_LATER : CT_TABLE_UNKNOWN;
}

/* No two functions share a word, and the words lie close together; by_place[]: SPAN / 8 words. */
static bool table_sound(u16 *by_place, u64 *first)
{
	u64 last = 0;

	*first = ~0ull;
	for (u32 i = 0; i < table.count; i++) {
		u64 at = (u64)table.words[i].at;

		*first = at < *first ? at : *first;
		last = at > last ? at : last;
	}
	if (last - *first >= SPAN)
		return false;
	for (u32 i = 0; i < table.count; i++) {
		u16 *place = &by_place[((u64)table.words[i].at - *first) / 8];

		if (*place)
			return false;
		*place = (u16)(i + 1);
	}
	return true;
}

/* What the loader puts into the words, as far as relative relocations say it. */
static void table_originals(const struct ct_object *o, const u16 *by_place, u64 first)
{
	const ElfW(Rela) *r = o->rela - o->relative_count;

	for (size_t i = 0; o->rela && i < o->relative_count; i++) {
		u64 place = o->base + r[i].r_offset - first;

		if (place < SPAN && by_place[place / 8])
			table.words[by_place[place / 8] - 1].original = o->base + (u64)r[i].r_addend;
	}
}

enum ct_table_state ct_table_use(const struct ct_object *o)
{
	enum ct_table_state state;
	u16 *by_place;
	u64 first;

	if (table.start)	/* of another libcuda */
		return CT_TABLE_UNKNOWN;
	if (!table.words) {
		table.room = CT_THUNKS;
		table.words = ct_map_private(table.room * sizeof(*table.words));
		if (!table.words)
			return CT_TABLE_UNKNOWN;
	}
	state = table_find(o);
	if (state != CT_TABLE_USED)
		return state;
	by_place = ct_map_private(SPAN / 8 * sizeof(*by_place));
	if (!by_place || !table_sound(by_place, &first)) {
		state = CT_TABLE_UNKNOWN;
		goto out;
	}
	table_originals(o, by_place, first);
	table.start = o->start;
	for (u32 i = 0; i < table.count; i++) {
		struct word *w = &table.words[i];

		w->replaced = ct_load(w->at);
		/* It may be there already: ours, from a look that was not ended (a child's parent). */
		if (ct_is_thunk((void *)w->replaced)) {
			w->thunk = (void *)w->replaced;
			w->replaced = (u64)ct_thunk_target(w->thunk);
			continue;
		}
		w->thunk = ct_thunk_for(w->name, (void *)w->replaced);
		/* Whoever exchanges it at this moment knows only the old value. */
		ct_cas(w->at, w->replaced, (u64)w->thunk);
	}
out:
	if (by_place)
		ct_sys2(SYS_munmap, by_place, SPAN / 8 * sizeof(*by_place));
	return state;
}

u32 ct_table_check(void)
{
	u32 again = 0;

	for (u32 i = 0; table.start && i < table.count; i++) {
		struct word *w = &table.words[i];
		u64 value = ct_load(w->at);

		/* Another value is a tool's that came after us: it goes on with ours. */
		if (value == (u64)w->thunk || (value != w->replaced && value != w->original) ||
		    !ct_is_thunk(w->thunk))
			continue;
		ct_thunk_retarget(w->thunk, (void *)value);
		w->replaced = value;
		again += ct_cas(w->at, value, (u64)w->thunk);
	}
	return again;
}

u32 ct_table_put_back(const struct ct_object *o)
{
	u32 kept = 0;

	if (!table.start || o->start != table.start)
		return 0;
	for (u32 i = 0; i < table.count; i++) {
		struct word *w = &table.words[i];

		if (ct_is_thunk(w->thunk) && !ct_cas(w->at, (u64)w->thunk, w->replaced))
			kept += ct_load(w->at) != w->replaced;
	}
	table.start = 0;
	return kept;
}

void ct_table_forget(u64 start)
{
	if (table.start == start)
		table.start = 0;
}

u32 ct_table_again(bool thunks)
{
	u64 page = 0;
	u32 stored = 0;

	for (u32 i = 0; !table.start && i < table.count; i++) {
		struct word *w = &table.words[i];
		u64 from = thunks ? w->replaced : (u64)w->thunk, to = thunks ? (u64)w->thunk : w->replaced;

		if (!ct_is_thunk(w->thunk))
			continue;
		if (((u64)w->at & -4096ull) != page) {
			page = (u64)w->at & -4096ull;
			if (!ct_readable(page))
				return stored;
		}
		/* A compare-and-exchange that fails writes, too. */
		if (ct_load(w->at) == from)
			stored += ct_cas(w->at, from, to);
	}
	return stored;
}

void ct_table_leave(void)
{
	table.start = 0;
	ct_table_again(false);
}
