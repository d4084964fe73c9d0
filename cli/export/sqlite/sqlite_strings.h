/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table StringIds: each text once, with an id from 1. */
#ifndef CT_CLI_SQLITE_STRINGS_H
#define CT_CLI_SQLITE_STRINGS_H

#include "base/keyed.h"
#include "export/sqlite/insert.h"
#include "trace/names.h"

/* Memory is bounded: callers put names of classes and of the registry here, never texts of records. */
struct ct_strings_id {
	uint64_t key;			/* a hash, or an address */
	uint32_t id;			/* of the first text that has it */
};

struct ct_strings {
	struct ct_insert insert;
	CT_KEYED(struct ct_strings_id) by_hash;
	struct ct_strings_text *list;		/* by id - 1 */
	size_t count, room;
	CT_KEYED(struct ct_strings_id) by_address;	/* of constants */
	uint32_t *by_registry;		/* ids of the registry's strings, made readable; 0: not yet */
};

struct ct_strings_text {
	char *text;
	uint32_t next;			/* id of another text with the same hash, 0: none */
};

/* 0 or a negative errno; free in any case. */
int ct_strings_begin(struct ct_strings *s, struct ct_db *db);

/* The id of a text, made if it is new; 0 without memory, which ct_strings_end() returns. */
uint32_t ct_strings_id(struct ct_strings *s, const char *text);

/* The same of a text that is constant, or lives as long; NULL has the id 0. */
uint32_t ct_strings_const(struct ct_strings *s, const char *text);

/* The same of string @id of the registry, in its readable form; 0 if there is none. */
uint32_t ct_strings_registry(struct ct_strings *s, struct ct_names *names, uint64_t id);
int ct_strings_end(struct ct_strings *s);

#endif
