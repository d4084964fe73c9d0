// SPDX-License-Identifier: LGPL-2.1-or-later
/* See frames.h. */
#include "export/parquet/frames.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "export/parquet/text.h"
#include "trace/stacks/stacks.h"

#define GROUP_ROWS	1000000

enum { TRACE, ID, PARENT, FUNCTION, FILENAME, LINE, LANGUAGE, COLUMNS };

/* Those of SQLite's CUDATRACE_FRAMES, and the trace. */
static const struct ct_parquet_column frames_columns[COLUMNS] = {
	[TRACE] = { .name = "trace", .type = CT_PARQUET_TEXT, .required = true },
	[ID] = { .name = "id", .type = CT_PARQUET_U32, .required = true, .rising = true },
	[PARENT] = { .name = "parent_id", .type = CT_PARQUET_U32 },
	[FUNCTION] = { .name = "function", .type = CT_PARQUET_TEXT, .required = true },
	[FILENAME] = { .name = "file", .type = CT_PARQUET_TEXT, .required = true },
	[LINE] = { .name = "line", .type = CT_PARQUET_U32 },
	[LANGUAGE] = { .name = "language", .type = CT_PARQUET_TEXT, .required = true },
};

struct frames {
	struct ct_days days;
	struct ct_parquet_group group;
	struct ct_bytes room;
};

static void frames_text(struct frames *s, unsigned int column, const char *text, size_t len, bool kept)
{
	ct_parquet_text(&s->room, &s->group.chunks[column], s->group.compress, text, len, kept);
}

/* 0: not known. */
static void frames_number(struct frames *s, unsigned int column, uint32_t number)
{
	if (number)
		ct_chunk_number(&s->group.chunks[column], s->group.compress, number);
	else
		ct_chunk_null(&s->group.chunks[column], s->group.compress);
}

static void frames_row(struct frames *s, uint32_t id, const struct ct_stack_frame *f)
{
	frames_text(s, TRACE, s->days.uuid, strlen(s->days.uuid), true);
	frames_number(s, ID, id);
	frames_number(s, PARENT, f->parent);
	frames_text(s, FUNCTION, f->name, f->name_len, false);
	frames_text(s, FILENAME, f->file_len ? f->file : f->object, f->file_len ? f->file_len : f->object_len, false);
	frames_number(s, LINE, f->line);
	frames_text(s, LANGUAGE, f->language, f->language_len, false);
	s->group.rows++;
}

static int frames_flush(struct frames *s, struct ct_day *day, struct ct_error *err)
{
	int rc = s->room.failed ? -ENOMEM : ct_parquet_rows(&day->file, &s->group);

	return rc ? ct_fail(err, -rc, "%s: %s", day->path, strerror(-rc)) : 0;
}

static int frames_rows(struct frames *s, const struct ct_registry *reg, struct ct_error *err)
{
	struct ct_stack_frame f;
	struct ct_day *day;
	int rc;

	if (mkdir(s->days.dir, 0777) && errno != EEXIST)
		return ct_fail(err, errno, "%s: %s", s->days.dir, strerror(errno));
	day = ct_days_get(&s->days, reg->realtime / CT_DAY_NS, err);
	if (!day)
		return -err->code;
	for (uint32_t id = 1; id < reg->strings_count; id++) {
		if (!ct_stack_frame(reg, id, &f))
			continue;
		frames_row(s, id, &f);
		rc = s->group.rows == GROUP_ROWS ? frames_flush(s, day, err) : 0;
		if (rc)
			return rc;
	}
	rc = frames_flush(s, day, err);
	return rc ? rc : ct_parquet_end(&day->file, &s->group, "frames");
}

int ct_parquet_frames(const char *dir, const struct ct_registry *reg, struct ct_error *err)
{
	struct frames s = { 0 };
	char folder[PATH_MAX];
	int rc = 0;

	if (snprintf(folder, sizeof(folder), "%s/" CT_FRAMES_FOLDER, dir) >= PATH_MAX)
		return ct_fail(err, ENAMETOOLONG, "%s: %s", dir, strerror(ENAMETOOLONG));
	ct_days_init(&s.days, folder, CT_FRAMES_ENDING, reg);
	if (ct_registry_info(reg, "stacks")) {
		rc = ct_parquet_group_init(&s.group, frames_columns, COLUMNS);
		rc = rc ? rc : frames_rows(&s, reg, err);
	}
	rc = rc ? rc : ct_days_publish(&s.days, err);
	ct_parquet_group_free(&s.group);
	ct_bytes_free(&s.room);
	ct_days_free(&s.days);
	return rc;
}
