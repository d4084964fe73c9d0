// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rows from the text of /dev/cudatrace: a JSON object a line, written by the module.
 * Only finds keys of the outer object; must never read past the end of a line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/live.h"
#include "decode/nv_decode.h"
#include "view/term.h"

/* The end of the string that begins at @p, or NULL. */
static const char *live_device_skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : NULL;
}

/* The end of the value that begins at @p, or NULL. */
static const char *live_device_skip_value(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		if (*p == '"') {
			p = live_device_skip_string(p);
			if (!p)
				return NULL;
			p--;
		} else if (*p == '{' || *p == '[') {
			depth++;
		} else if (*p == '}' || *p == ']') {
			if (!depth)
				return p;
			depth--;
		} else if (*p == ',' && !depth) {
			return p;
		}
		if (!depth && (*p == '}' || *p == ']'))
			return p + 1;
	}
	return NULL;
}

/* The value of @key of the object @line, *@len bytes; NULL: it has none. */
static const char *live_device_find(const char *line, const char *key, size_t *len)
{
	size_t key_len = strlen(key);
	const char *p = line, *end;

	if (*p++ != '{')
		return NULL;
	while (*p == '"') {
		const char *name = p + 1;

		p = live_device_skip_string(p);
		if (!p || *p != ':')
			return NULL;
		end = live_device_skip_value(p + 1);
		if (!end)
			return NULL;
		if ((size_t)(p - 1 - name) == key_len && !memcmp(name, key, key_len)) {
			*len = end - p - 1;
			return p + 1;
		}
		p = end + (*end == ',');
	}
	return NULL;
}

/* A copy of a value without its quotes; "" if there is none. */
static const char *live_device_text_of(const char *line, const char *key, char *buf, size_t size)
{
	const char *value;
	size_t len = 0;

	value = live_device_find(line, key, &len);
	if (value && len >= 2 && *value == '"') {
		value++;
		len -= 2;
	}
	if (!value)
		len = 0;
	if (len >= size)
		len = size - 1;
	memcpy(buf, value ? value : "", len);
	buf[len] = 0;
	return buf;
}

/* {"size":4096,"ptr":"0x7f"} becomes size=4096 ptr=0x7f. */
static void live_device_flatten(const char *in, char *out, size_t size)
{
	size_t used = 0;

	for (; *in && used + 1 < size; in++) {
		if (*in == '\\' && in[1]) {
			out[used++] = *++in;
			continue;
		}
		if (*in == '{' || *in == '}' || *in == '"')
			continue;
		out[used++] = *in == ',' ? ' ' : *in == ':' ? '=' : *in;
	}
	out[used] = 0;
}

/*
 * The device, command, class and status of an ioctl.  The module knows the names of
 * escapes; it writes commands, classes and statuses as numbers.
 */
static void live_device_ioctl_details(const char *line, char *out, size_t size)
{
	static const struct {
		const char *key, *(*name)(uint32_t number);
	} words[] = {
		{ "device", NULL }, { "escape", NULL }, { "control", nv_ctrl_name },
		{ "class", nv_class_name }, { "status", nv_status_name },
	};
	char word[128];
	size_t used = 0;

	*out = 0;
	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words) && used < size; i++) {
		const char *name = NULL;

		if (!*live_device_text_of(line, words[i].key, word, sizeof(word)))
			continue;
		if (!strcmp(words[i].key, "status") && !strcmp(word, "NV_OK"))
			continue;
		if (words[i].name && !strncmp(word, "0x", 2))
			name = words[i].name(strtoul(word, NULL, 16));
		used += snprintf(out + used, size - used, "%s%s", used ? " " : "",
				 name ? name : word);
	}
}

static void live_device_print_line(struct ct_live *live, const char *line, FILE *out)
{
	char name[128], phase[8], word[64], raw[512], details[768];
	double ms, us;
	size_t used;

	if (!*live_device_text_of(line, "name", name, sizeof(name)))
		return;
	live_device_text_of(line, "phase", phase, sizeof(phase));
	if (!strcmp(phase, "B"))
		return;
	ms = strtod(live_device_text_of(line, "ts", word, sizeof(word)), NULL);
	if (*live_device_text_of(line, "cmd", word, sizeof(word)))
		live_device_ioctl_details(line, details, 512);
	else
		live_device_flatten(live_device_text_of(line, "details", raw, sizeof(raw)), details,
				    512);
	used = strlen(details);
	us = strtod(live_device_text_of(line, "duration_us", word, sizeof(word)), NULL);
	if (!strcmp(phase, "E") && *live_device_text_of(line, "abandoned", word, sizeof(word)))
		snprintf(details + used, sizeof(details) - used, "  %s", CT_LIVE_ABANDONED);
	else if (!strcmp(phase, "E"))
		snprintf(details + used, sizeof(details) - used, "  %s",
			 ct_term_ns(raw, us > 0 && us < 1e15 ? us * 1000 + 0.5 : 0));
	used = strlen(details);
	live_device_text_of(line, "result", word, sizeof(word));
	if (*word && strcmp(word, "0") && strcmp(word, "CUDA_SUCCESS"))
		snprintf(details + used, sizeof(details) - used, "  = %s", word);
	else
		*word = 0;
	ct_live_row(live, out, ms,
		    strtoul(live_device_text_of(line, "pid", raw, sizeof(raw)), NULL, 10), name,
		    details, *word && (*word == '-' || *word == 'C'));
}

/* Calls @line for each line until there are no more; @batch after each read. */
static int live_device_lines(int fd, int (*line_fn)(void *arg, const char *line),
			     int (*batch)(void *arg), void *arg, const volatile bool *stop,
			     struct ct_error *err)
{
	enum { ROOM = 1 << 16 };
	char *buf = malloc(ROOM + 1);
	size_t used = 0;
	int rc = 0;

	if (!buf)
		return ct_fail(err, ENOMEM, "no memory");
	while (!*stop && !rc) {
		ssize_t n = read(fd, buf + used, ROOM - used);
		char *line = buf, *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0 && errno == ENODATA)
			rc = ct_fail(err, ENODATA, "nothing is being recorded, and to start that needs CAP_PERFMON or CAP_SYS_ADMIN (cudatrace session start, or cudatrace record)");
		else if (n < 0)
			rc = ct_fail(err, errno, "%s", strerror(errno));
		if (n <= 0)
			break;
		used += n;
		buf[used] = 0;
		while (!rc && (end = memchr(line, '\n', buf + used - line))) {
			*end = 0;
			rc = line_fn(arg, line);
			line = end + 1;
		}
		used = buf + used - line;
		memmove(buf, line, used);
		if (used == ROOM)	/* no line of the module is that long */
			used = 0;
		if (!rc)
			rc = batch(arg);
	}
	free(buf);
	return rc == -EPIPE ? 0 : rc;
}

struct device_rows {
	struct ct_live live;
	FILE *out;
};

static int live_device_row(void *arg, const char *line)
{
	struct device_rows *rows = arg;

	live_device_print_line(&rows->live, line, rows->out);
	return 0;
}

static int live_device_flush(void *arg)
{
	struct device_rows *rows = arg;

	return fflush(rows->out) || ferror(rows->out) ? -EPIPE : 0;
}

int ct_live_device(int fd, FILE *out, const volatile bool *stop, struct ct_error *err)
{
	struct device_rows rows = { .out = out };
	int rc;

	ct_live_init(&rows.live, NULL, out);
	ct_live_head(&rows.live, out);
	fflush(out);
	rc = live_device_lines(fd, live_device_row, live_device_flush, &rows, stop, err);
	ct_live_free(&rows.live);
	return rc;
}

struct device_calls {
	const struct ct_live_sink *sink;
};

/* As the op of its class says, of calls of libcuda. */
static bool live_device_copies(const char *line)
{
	char layer[16], type[16], op[16];

	return !strcmp(live_device_text_of(line, "layer", layer, sizeof(layer)), "user") &&
	       !strcmp(live_device_text_of(line, "type", type, sizeof(type)), "transfer") &&
	       !strcmp(live_device_text_of(line, "op", op, sizeof(op)), "copy");
}

static int live_device_call(void *arg, const char *line)
{
	const struct device_calls *calls = arg;
	struct ct_live_call call = { 0 };
	char name[128], word[64];
	double us;

	if (!*live_device_text_of(line, "name", name, sizeof(name)))
		return 0;
	live_device_text_of(line, "phase", word, sizeof(word));
	if (strcmp(word, "E") && !(*word == 'I' && *live_device_text_of(line, "op_id", word, sizeof(word))))
		return 0;
	call.name = name;
	call.pid = strtoul(live_device_text_of(line, "pid", word, sizeof(word)), NULL, 10);
	us = strtod(live_device_text_of(line, "duration_us", word, sizeof(word)), NULL);
	call.timed = *word && us >= 0 && us < 1e15;
	call.ns = call.timed ? us * 1000 + 0.5 : 0;
	live_device_text_of(line, "result", word, sizeof(word));
	call.failed = *word == '-' || *word == 'E' || (*word == 'C' && strcmp(word, "CUDA_SUCCESS") &&
						       strcmp(word, "CUDA_ERROR_NOT_READY"));
	if (!call.failed)
		call.bytes = strtoull(live_device_text_of(line, "size", word, sizeof(word)), NULL, 10);
	call.copies = call.bytes && live_device_copies(line);
	return calls->sink->call(calls->sink->arg, &call);
}

static int live_device_batch(void *arg)
{
	const struct device_calls *calls = arg;

	return calls->sink->idle(calls->sink->arg);
}

int ct_live_device_calls(int fd, const struct ct_live_sink *sink, const volatile bool *stop,
			 struct ct_error *err)
{
	struct device_calls calls = { sink };

	return live_device_lines(fd, live_device_call, live_device_batch, &calls, stop, err);
}
