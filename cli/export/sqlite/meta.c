// SPDX-License-Identifier: LGPL-2.1-or-later
/* See meta.h. */
#include "export/sqlite/meta.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/sqlite/insert.h"
#include "trace/about/machine.h"

static void meta_text(struct ct_insert *in, const char *key, const char *text)
{
	struct ct_value *v = ct_insert_row(in);

	ct_insert_text(in, &v[0], key, strlen(key));
	ct_insert_text(in, &v[1], text, strlen(text));
}

static void meta_number(struct ct_insert *in, const char *key, uint64_t number)
{
	struct ct_value *v = ct_insert_row(in);

	ct_insert_text(in, &v[0], key, strlen(key));
	/* A damaged trace may say any number; SQLite's have a sign. */
	ct_value_int(&v[1], number < INT64_MAX ? number : INT64_MAX);
}

static int meta_own(struct ct_db *db, const struct ct_trace *t)
{
	struct ct_insert in = { 0 };
	char uuid[33];
	int rc = ct_insert_begin(&in, db, "CUDATRACE_META", 2, false), ended;

	if (!rc) {
		for (unsigned int i = 0; i < sizeof(t->reg.uuid); i++)
			sprintf(uuid + 2 * i, "%02x", t->reg.uuid[i]);
		meta_text(&in, "uuid", uuid);
		meta_number(&in, "start_monotonic_ns", t->reg.start);
		meta_number(&in, "start_realtime_ns", t->reg.realtime);
		meta_number(&in, "records_lost", t->lost);
		meta_number(&in, "packets_lost", t->packets_lost);
		meta_number(&in, "packets_damaged", t->packets_bad);
		meta_number(&in, "unfinished", t->unfinished);
		meta_number(&in, "kernel_module", t->has_kernel);
		meta_number(&in, "simulated_gpu", t->simulated);
		for (unsigned int i = 0; i < t->reg.infos_count; i++)
			meta_text(&in, t->reg.infos[i].key, t->reg.infos[i].text);
		rc = in.error;
	}
	ended = ct_insert_end(&in);
	return rc ? rc : ended;
}

/* TARGET_INFO_GPU: those that CUDA showed; where no program asked for one, those of the machine. */
static int meta_gpus(struct ct_db *db, const struct ct_trace *t)
{
	enum { VM, ID, NAME, BUS, DISCRETE, MEMORY = 6, UUID = 11, DEVICE = 14, COLUMNS = 17 };
	struct ct_machine *m = calloc(1, sizeof(*m));
	struct ct_insert in = { 0 };
	int rc = m ? ct_machine_read(m, &t->reg) : -ENOMEM, ended;
	unsigned int next = 0;

	if (!rc)
		rc = ct_insert_begin(&in, db, "TARGET_INFO_GPU", COLUMNS, false);
	for (unsigned int i = 0; !rc && i < m->gpus_count; i++) {
		const struct ct_machine_gpu *gpu = &m->gpus[i];
		struct ct_value *v = ct_insert_row(&in);

		/* CUDA's numbers come first; other cards get the next ones. */
		if (gpu->device >= 0)
			next = gpu->device;
		ct_value_int(&v[ID], next++);
		if (*gpu->name)
			ct_insert_text(&in, &v[NAME], gpu->name, strlen(gpu->name));
		if (*gpu->pci)
			ct_insert_text(&in, &v[BUS], gpu->pci, strlen(gpu->pci));
		if (gpu->memory)
			ct_value_int(&v[MEMORY], gpu->memory < INT64_MAX ? gpu->memory : INT64_MAX);
		if (*gpu->uuid)
			ct_insert_text(&in, &v[UUID], gpu->uuid, strlen(gpu->uuid));
		if (gpu->device >= 0)
			ct_value_int(&v[DEVICE], gpu->device);
	}
	if (m)
		ct_machine_free(m);
	free(m);
	ended = ct_insert_end(&in);
	return rc ? rc : ended;
}

static int meta_environment(struct ct_db *db, const struct ct_trace *t)
{
	/* nsys's names for what the trace knows. */
	static const struct { const char *key, *name; } names[] = {
		{ "hostname", "Hostname" },
		{ "kernel", "OsVersion" },
		{ "driver", "NvDriverVersion" },
	};
	struct ct_insert in = { 0 };
	int rc = ct_insert_begin(&in, db, "TARGET_INFO_SYSTEM_ENV", 5, false), ended;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names) && !rc; i++) {
		const char *text = ct_registry_info(&t->reg, names[i].key);
		struct ct_value *v;

		if (!text)
			continue;
		v = ct_insert_row(&in);
		ct_value_int(&v[0], 0);
		ct_insert_text(&in, &v[1], "", 0);
		ct_insert_text(&in, &v[2], names[i].name, strlen(names[i].name));
		ct_value_int(&v[3], i);
		ct_insert_text(&in, &v[4], text, strlen(text));
	}
	ended = ct_insert_end(&in);
	return rc ? rc : ended;
}

/* A moment as text; "" if a damaged trace says one that no calendar has. */
static const char *meta_time(char text[40], uint64_t ns, struct tm *(*split)(const time_t *, struct tm *))
{
	time_t seconds = ns / 1000000000;
	struct tm tm;

	if (!split(&seconds, &tm) || !strftime(text, 40, "%Y-%m-%dT%H:%M:%S", &tm))
		*text = 0;
	return text;
}

int ct_meta_write(struct ct_db *db, const struct ct_trace *t)
{
	char utc[40], local[40];
	int rc = meta_own(db, t);

	rc = rc ? rc : meta_environment(db, t);
	rc = rc ? rc : meta_gpus(db, t);
	rc = rc ? rc : ct_db_execf(db, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (%lld, %Q, %Q)",
				   (long long)t->reg.realtime, meta_time(utc, t->reg.realtime, gmtime_r),
				   meta_time(local, t->reg.realtime, localtime_r));
	return rc ? rc : ct_db_execf(db, "INSERT INTO META_DATA_EXPORT VALUES"
				     " ('EXPORT_TOOL', 'cudatrace'), ('EXPORT_PRODUCT_VERSION', %Q)", CT_VERSION);
}
