/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libcuda's own table of pointers: the first way by which its calls are seen.
 *
 * Each function that libcuda exports goes through a word of its own in libcuda's writable
 * data.  libcuda saves and exchanges these words itself when a tool asks it to.  A thunk in
 * the word sees every caller, however it got its pointer, and what programs hold stays
 * libcuda's own.  This is not documented: what is not recognised is left alone.
 */
#ifndef CT_TABLE_H
#define CT_TABLE_H

#include "base/elf.h"

enum ct_table_state {
	CT_TABLE_USED,		/* its calls are seen by the table */
	CT_TABLE_UNKNOWN,	/* it has no table that we know: other ways must do */
	CT_TABLE_LATER,		/* it is still being relocated: look again */
};

/*
 * Puts thunks into the table of a libcuda that was just loaded.  Call inside
 * dl_iterate_phdr(); takes the process's lock.
 */
enum ct_table_state ct_table_use(const struct ct_object *o);

/*
 * Another tool may have put words back that it saved before us: puts the thunks in again, and
 * returns how many.  Call inside dl_iterate_phdr(), with libcuda loaded.  No lock.
 */
u32 ct_table_check(void);

/*
 * Puts into the words of this libcuda what was there before us.  A word that another tool has
 * changed since stays as it is, and its calls pass through our thunk.  Returns how many those are.
 * Call inside dl_iterate_phdr().  No lock.
 */
u32 ct_table_put_back(const struct ct_object *o);

/* The libcuda from start on is gone. */
void ct_table_forget(u64 start);

/*
 * In a child that was forked after all was put back: stores the thunks into the words again, or what was there
 * before.  Needs no list of objects; a libcuda that has gone is left alone.  Return: how many words.
 */
u32 ct_table_again(bool thunks);

/* As ct_table_put_back(), where there is no list of objects. */
void ct_table_leave(void);

#endif
