// SPDX-License-Identifier: LGPL-2.1-or-later
/* See schema.h. */
#include "export/sqlite/schema.h"

#include "module/uapi/cudatrace_events.h"

CT_DB_SQL(schema_tables, "tables");
CT_DB_SQL(schema_indexes, "indexes");

/* In the order of enum ct_direction. */
static const unsigned char copy_kinds[CT_DIR_COUNT] = {
	[CT_DIR_UNKNOWN] = 0, [CT_DIR_H2D] = 1, [CT_DIR_D2H] = 2, [CT_DIR_D2D] = 8, [CT_DIR_H2H] = 9,
	[CT_DIR_P2P] = 10, [CT_DIR_H2A] = 3, [CT_DIR_A2H] = 4, [CT_DIR_D2A] = 7, [CT_DIR_A2D] = 6,
	[CT_DIR_A2A] = 5,
};

unsigned int ct_schema_copy_kind(uint64_t direction)
{
	return direction < CT_DIR_COUNT ? copy_kinds[direction] : 0;
}

int ct_schema_create(struct ct_db *db)
{
	static const struct { unsigned int bit; const char *word, *text; } flags[] = {
#define FLAG(id, value, word, text)	{ value, word, text },
		CT_RECORD_FLAGS(FLAG)
#undef FLAG
	};
	static const char *const directions[CT_DIR_COUNT] = {
#define DIRECTION(id, word)	word,
		CT_DIRECTIONS(DIRECTION)
#undef DIRECTION
	};
	int rc = ct_db_exec(db, schema_tables);

	for (unsigned int i = 0; i < sizeof(flags) / sizeof(*flags) && !rc; i++)
		rc = ct_db_execf(db, "INSERT INTO CUDATRACE_FLAGS VALUES (%u, %Q, %Q)", flags[i].bit,
				 flags[i].word, flags[i].text);
	for (unsigned int i = 0; i < CT_DIR_COUNT && !rc; i++)
		rc = ct_db_execf(db, "INSERT INTO ENUM_CUDATRACE_DIRECTION VALUES (%u, %Q, %u)", i,
				 directions[i], copy_kinds[i]);
	return rc;
}

int ct_schema_index(struct ct_db *db)
{
	return ct_db_exec(db, schema_indexes);
}
