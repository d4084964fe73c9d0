/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page by which the recorder finds this process's threads: see page.h. */
#ifndef CT_STACKS_SAMPLED_H
#define CT_STACKS_SAMPLED_H

#include <stdbool.h>

#include "plugins/stacks/page.h"

/* The library was loaded.  @python: the program is an interpreter: its main thread is sampled from now on. */
void sampled_begin(bool python);

/*
 * Another trace begins in a process that was attached to.  @wanted: threads are sampled; the process gets its page at
 * the next call, since what was before is no startup.
 */
struct ct_host;
void sampled_again(const struct ct_host *(*get)(void), bool wanted);

/* The calling thread makes calls with stacks.  @known: its own word, which a fork makes stale. */
void sampled_thread(uint64_t *known);

/* What is known of the interpreter now, for the page that is there or will be. */
void sampled_python(uint32_t version, const struct layout *layout, uint64_t runtime, uint64_t code_type,
		    uint64_t string_type, uint64_t bytes_type, enum page_state state);
void sampled_refused(void);

#endif
