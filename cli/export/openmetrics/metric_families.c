// SPDX-License-Identifier: LGPL-2.1-or-later
/* See metric_families.h. */
#include "export/openmetrics/metric_families.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/hash.h"
#include "trace/names.h"

#define ROWS_MAX	512u		/* of a family */
#define OTHERS		UINT64_MAX	/* the key of the row for all others */

enum kind { COUNTER, SECONDS, HISTOGRAM };

static const struct {
	const char *name, *help;
	enum kind kind;
	const char *unit;		/* NULL: it has none */
} families[CT_COUNT_FAMILIES] = {
	[CT_COUNT_CALLS] = { "cudatrace_calls", "Calls of libcuda, libcudart and libnccl that returned.", COUNTER, NULL },
	[CT_COUNT_CALL_TIME] = { "cudatrace_call_duration_seconds", "How long these calls took, by category.", HISTOGRAM, "seconds" },
	[CT_COUNT_LAUNCHES] = { "cudatrace_launches", "Calls that launch kernels or graphs.", COUNTER, NULL },
	[CT_COUNT_WAITING] = { "cudatrace_waiting_seconds", "Time in synchronisations of libcuda, of all threads.", SECONDS, "seconds" },
	[CT_COUNT_IOCTLS] = { "cudatrace_ioctls", "Ioctls of the driver, as the kernel or the program saw them.", COUNTER, NULL },
	[CT_COUNT_IOCTL_TIME] = { "cudatrace_ioctl_duration_seconds", "How long ioctls took.", HISTOGRAM, "seconds" },
	[CT_COUNT_DRIVER] = { "cudatrace_driver_calls", "Calls of functions of the kernel driver.", COUNTER, NULL },
	[CT_COUNT_DRIVER_TIME] = { "cudatrace_driver_duration_seconds", "How long functions of the kernel driver took, by category.", HISTOGRAM, "seconds" },
	[CT_COUNT_ALLOCATED] = { "cudatrace_allocated_bytes", "Memory that was allocated: by programs (layer user), or by the kernel driver.", COUNTER, "bytes" },
	[CT_COUNT_FREES] = { "cudatrace_frees", "Calls that freed memory.", COUNTER, NULL },
	[CT_COUNT_COPIED] = { "cudatrace_copied_bytes", "Bytes that programs copied.", COUNTER, "bytes" },
	[CT_COUNT_XIDS] = { "cudatrace_xids", "Xid errors that the driver reported.", COUNTER, NULL },
	[CT_COUNT_INTERRUPTS] = { "cudatrace_interrupts", "Interrupts of the driver.", COUNTER, NULL },
	[CT_COUNT_GPU_WORK] = { "cudatrace_gpu_work", "Kernels, copies and memory sets that the GPU did (record --gpu).", COUNTER, NULL },
	[CT_COUNT_GPU_TIME] = { "cudatrace_gpu_work_seconds", "Time of this work; of streams that work at the same time, all.", SECONDS, "seconds" },
	[CT_COUNT_RECORDS] = { "cudatrace_records", "Records that were read.", COUNTER, NULL },
	[CT_COUNT_LOST] = { "cudatrace_lost_records", "Records that were lost while they were recorded.", COUNTER, NULL },
};

/* The row of @key; beyond the limit that of all others. */
static struct ct_metrics_row *metrics_row(struct ct_metrics *c, enum ct_metrics_family family, uint64_t key,
					    bool *made)
{
	struct ct_metrics_row *row = ct_keyed_get(&c->rows[family], key);

	*made = false;
	if (row)
		return row;
	if (c->rows[family].count >= ROWS_MAX)
		key = OTHERS;
	row = ct_keyed_put(&c->rows[family], key);
	*made = row && !*row->labels;
	return row;
}

/* ,NAME="VALUE" with what the format asks to escape; a cut at the end of @row's room loses no quote. */
static void metrics_label(struct ct_metrics_row *row, const char *name, const char *value)
{
	size_t used = strlen(row->labels), most = sizeof(row->labels) - 4;

	if (row->key == OTHERS)
		value = "other";
	used += snprintf(row->labels + used, sizeof(row->labels) - used, "%s%s=\"", used ? "," : "", name);
	for (; *value && used < most; value++) {
		unsigned char ch = *value;

		if (ch == '"' || ch == '\\')
			row->labels[used++] = '\\';
		row->labels[used++] = ch < ' ' || ch >= 0x7f ? '?' : (char)ch;
	}
	row->labels[used++] = '"';
	row->labels[used] = 0;
}

static void metrics_time(struct ct_metrics_row *row, uint64_t ns)
{
	uint64_t bound = 1000;

	row->value++;
	row->sum += ns;
	for (unsigned int i = 0; i < CT_METRICS_BUCKETS; i++, bound *= 10)
		row->buckets[i] += ns <= bound;
}

/* Adds to the row of a family that has one label, or none (@label NULL). */
static int metrics_add(struct ct_metrics *c, enum ct_metrics_family family, const char *label, const char *value,
			uint64_t add)
{
	bool made;
	struct ct_metrics_row *row = metrics_row(c, family, label ? ct_hash_add(CT_HASH_BEGIN, value, strlen(value)) : 0, &made);

	if (!row)
		return -ENOMEM;
	if (made && label)
		metrics_label(row, label, value);
	if (families[family].kind == HISTOGRAM)
		metrics_time(row, add);
	else
		row->value += add;
	return 0;
}

static int metrics_result(struct ct_metrics *c, enum ct_metrics_family family, const char *name, bool failed)
{
	bool made;
	struct ct_metrics_row *row = metrics_row(c, family, ct_hash_add(CT_HASH_BEGIN, name, strlen(name)) * 2 + failed, &made);

	if (!row)
		return -ENOMEM;
	if (made) {
		metrics_label(row, "function", name);
		metrics_label(row, "result", failed ? "failed" : "ok");
	}
	row->value++;
	return 0;
}

/* By escape and status; NV_STATUS, or else whether the ioctl itself failed. */
static int metrics_ioctl(struct ct_metrics *c, const struct ct_record *r, bool timed)
{
	struct ct_ioctl_words w;
	struct ct_metrics_row *row;
	bool made, failed = ct_record_failed(r), kernel = r->class->layer == CT_LAYER_KERNEL;
	char escape[64], status[64];
	uint64_t key;

	ct_ioctl_words(&w, r);
	if (w.escape)
		snprintf(escape, sizeof(escape), "%s", w.escape);
	else
		snprintf(escape, sizeof(escape), "0x%x", w.cmd);
	if (w.have & CT_IOCTL_STATUS && w.status_name)
		snprintf(status, sizeof(status), "%s", w.status_name);
	else if (w.have & CT_IOCTL_STATUS && w.status)
		snprintf(status, sizeof(status), "0x%x", w.status);
	else
		snprintf(status, sizeof(status), "%s", failed ? "failed" : "ok");
	key = ct_hash_add(ct_hash_add(CT_HASH_BEGIN, escape, strlen(escape)), status, strlen(status)) * 2 + kernel;
	row = metrics_row(c, CT_COUNT_IOCTLS, key, &made);
	if (!row)
		return -ENOMEM;
	if (made) {
		metrics_label(row, "escape", escape);
		metrics_label(row, "status", status);
		metrics_label(row, "seen_by", kernel ? "kernel" : "program");
	}
	row->value++;
	if (!timed)
		return 0;
	key = ct_hash_add(CT_HASH_BEGIN, escape, strlen(escape)) * 2 + kernel;
	row = metrics_row(c, CT_COUNT_IOCTL_TIME, key, &made);
	if (!row)
		return -ENOMEM;
	if (made) {
		metrics_label(row, "escape", escape);
		metrics_label(row, "seen_by", kernel ? "kernel" : "program");
	}
	metrics_time(row, r->duration);
	return 0;
}

static int metrics_memory(struct ct_metrics *c, const struct ct_record *r, bool failed)
{
	const struct ct_class *class = r->class;

	if (failed || class->category != CT_CAT_MEMORY)
		return 0;
	if (class->operation == CT_OP_ALLOC && ct_record_has(r, CT_KNOWN_SIZE))
		return metrics_add(c, CT_COUNT_ALLOCATED, "layer", ct_layer_word[class->layer], ct_record_known(r, CT_KNOWN_SIZE));
	if (class->operation == CT_OP_FREE)
		return metrics_add(c, CT_COUNT_FREES, "layer", ct_layer_word[class->layer], 1);
	return 0;
}

/* A call of a library. */
static int metrics_api(struct ct_metrics *c, const struct ct_record *r, bool failed, bool timed)
{
	const struct ct_class *class = r->class;
	const char *direction;
	int rc = metrics_result(c, CT_COUNT_CALLS, class->name, failed);

	if (!rc && timed)
		rc = metrics_add(c, CT_COUNT_CALL_TIME, "category", ct_category_word[class->category], r->duration);
	if (!rc && !failed && ct_class_is(class, CT_IS_KERNEL_LAUNCH | CT_IS_GRAPH_LAUNCH))
		rc = metrics_add(c, CT_COUNT_LAUNCHES, "kind", ct_class_is(class, CT_IS_GRAPH_LAUNCH) ? "graph" : "kernel", 1);
	if (!rc && timed && ct_class_is(class, CT_IS_WAIT))
		rc = metrics_add(c, CT_COUNT_WAITING, NULL, NULL, r->duration);
	if (!rc && !failed && ct_class_is(class, CT_IS_COPY) && ct_record_has(r, CT_KNOWN_SIZE)) {
		direction = ct_record_has(r, CT_KNOWN_DIRECTION) ? ct_name_direction(ct_record_known(r, CT_KNOWN_DIRECTION)) : NULL;
		rc = metrics_add(c, CT_COUNT_COPIED, "direction", direction ? direction : "unknown", ct_record_known(r, CT_KNOWN_SIZE));
	}
	return rc ? rc : metrics_memory(c, r, failed);
}

static int metrics_gpu(struct ct_metrics *c, const struct ct_record *r)
{
	const char *kind = ct_class_is(r->class, CT_IS_GPU_KERNEL) ? "kernel" : ct_class_is(r->class, CT_IS_GPU_COPY) ? "copy" :
			   ct_class_is(r->class, CT_IS_GPU_SET) ? "set" : ct_class_is(r->class, CT_IS_GPU_GRAPH) ? "graph" : NULL;
	uint64_t gpu = ct_record_known(r, CT_KNOWN_GPU), key;
	struct ct_metrics_row *row;
	char number[24];
	bool made;

	if (!kind)
		return 0;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)gpu);
	key = ct_mix(ct_hash_add(CT_HASH_BEGIN, kind, strlen(kind)), gpu);
	for (enum ct_metrics_family f = CT_COUNT_GPU_WORK; f <= CT_COUNT_GPU_TIME; f++) {
		row = metrics_row(c, f, key, &made);
		if (!row)
			return -ENOMEM;
		if (made) {
			metrics_label(row, "gpu", number);
			metrics_label(row, "kind", kind);
		}
		row->value += f == CT_COUNT_GPU_WORK ? 1 : r->duration;
	}
	return 0;
}

/* An Xid is in a field of this name, whichever function or tracepoint told of it. */
static int metrics_xid(struct ct_metrics *c, const struct ct_record *r)
{
	char number[24];

	for (unsigned int i = 0; i < r->class->fields_count; i++) {
		if (strcmp(r->class->fields[i].name, "xid"))
			continue;
		snprintf(number, sizeof(number), "%llu", (unsigned long long)ct_record_field(r, i));
		return metrics_add(c, CT_COUNT_XIDS, "xid", number, 1);
	}
	return 0;
}

int ct_metrics_record(struct ct_metrics *c, const struct ct_record *r)
{
	const struct ct_class *class = r->class;
	bool failed, timed;
	int rc;

	if (r->flags & CT_F_BEGIN)
		return 0;
	rc = metrics_add(c, CT_COUNT_RECORDS, NULL, NULL, 1);
	if (rc)
		return rc;
	if (class->layer == CT_LAYER_KERNEL && !ct_class_is(class, CT_IS_SWITCH)) {
		rc = metrics_xid(c, r);
		if (!rc && class->category == CT_CAT_INTERRUPT)
			rc = metrics_add(c, CT_COUNT_INTERRUPTS, "function", class->name, 1);
	}
	if (rc || !class->call || ct_class_is(class, CT_IS_SWITCH))
		return rc;
	if (class->layer == CT_LAYER_GPU)
		return metrics_gpu(c, r);
	failed = ct_record_failed(r);
	timed = ct_record_timed(r);
	if (ct_record_is_ioctl(r))
		return metrics_ioctl(c, r, timed);
	if (ct_class_is(class, CT_IS_API))
		return metrics_api(c, r, failed, timed);
	if (class->layer != CT_LAYER_KERNEL)
		return 0;
	rc = metrics_result(c, CT_COUNT_DRIVER, class->name, failed);
	if (!rc && timed)
		rc = metrics_add(c, CT_COUNT_DRIVER_TIME, "category", ct_category_word[class->category], r->duration);
	return rc ? rc : metrics_memory(c, r, failed);
}

int ct_metrics_call(struct ct_metrics *c, const char *name, bool failed, bool timed, uint64_t ns)
{
	bool cuda = !strncmp(name, "cu", 2);
	int rc = metrics_add(c, CT_COUNT_RECORDS, NULL, NULL, 1);

	if (!rc)
		rc = metrics_result(c, cuda ? CT_COUNT_CALLS : CT_COUNT_DRIVER, name, failed);
	return rc || !timed ? rc : metrics_add(c, cuda ? CT_COUNT_CALL_TIME : CT_COUNT_DRIVER_TIME, "category", "all", ns);
}

int ct_metrics_lost(struct ct_metrics *c, uint64_t lost)
{
	int rc = metrics_add(c, CT_COUNT_LOST, NULL, NULL, 0);

	/* What a reader has seen never becomes less. */
	if (!rc && c->rows[CT_COUNT_LOST].list[0].value < lost)
		c->rows[CT_COUNT_LOST].list[0].value = lost;
	return rc;
}

static void metrics_print_row(const struct ct_metrics_row *row, enum ct_metrics_family f, FILE *out)
{
	static const char *const bounds[CT_METRICS_BUCKETS] = { "1e-06", "1e-05", "0.0001", "0.001", "0.01", "0.1", "1.0", "10.0" };
	const char *name = families[f].name, *open = *row->labels ? "{" : "", *close = *row->labels ? "}" : "";

	if (families[f].kind != HISTOGRAM) {
		fprintf(out, "%s_total%s%s%s ", name, open, row->labels, close);
		if (families[f].kind == SECONDS)
			fprintf(out, "%llu.%09llu\n", (unsigned long long)(row->value / 1000000000), (unsigned long long)(row->value % 1000000000));
		else
			fprintf(out, "%llu\n", (unsigned long long)row->value);
		return;
	}
	for (unsigned int i = 0; i < CT_METRICS_BUCKETS; i++)
		fprintf(out, "%s_bucket{%s%sle=\"%s\"} %llu\n", name, row->labels, *row->labels ? "," : "", bounds[i],
			(unsigned long long)row->buckets[i]);
	fprintf(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, row->labels, *row->labels ? "," : "", (unsigned long long)row->value);
	fprintf(out, "%s_count%s%s%s %llu\n", name, open, row->labels, close, (unsigned long long)row->value);
	fprintf(out, "%s_sum%s%s%s %llu.%09llu\n", name, open, row->labels, close, (unsigned long long)(row->sum / 1000000000),
		(unsigned long long)(row->sum % 1000000000));
}

void ct_metrics_print(const struct ct_metrics *c, FILE *out, bool plain)
{
	for (enum ct_metrics_family f = 0; f < CT_COUNT_FAMILIES; f++) {
		const char *total = plain && families[f].kind != HISTOGRAM ? "_total" : "";

		if (!c->rows[f].count)
			continue;
		fprintf(out, "# HELP %s%s %s\n", families[f].name, total, families[f].help);
		fprintf(out, "# TYPE %s%s %s\n", families[f].name, total, families[f].kind == HISTOGRAM ? "histogram" : "counter");
		if (families[f].unit && !plain)
			fprintf(out, "# UNIT %s %s\n", families[f].name, families[f].unit);
		for (size_t i = 0; i < c->rows[f].count; i++)
			metrics_print_row(&c->rows[f].list[i], f, out);
	}
	if (!plain)
		fprintf(out, "# EOF\n");
}

void ct_metrics_free(struct ct_metrics *c)
{
	for (unsigned int f = 0; f < CT_COUNT_FAMILIES; f++)
		ct_keyed_free(&c->rows[f]);
}
