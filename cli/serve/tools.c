// SPDX-License-Identifier: LGPL-2.1-or-later
/* See tools.h.  Must never pass on an option that is not in the tables below: some commands write. */
#ifdef CT_HAVE_JANSSON
#include "serve/tools.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX	40u	/* of a command line */
#define WORD_MAX	4096u
#define SEARCH_LINES	50u	/* unless the client asks for more */
#define SEARCH_MOST	1000u
#define NAME_MAX_SHOWN	160u	/* bytes of a text that 'search' shows */

enum type { TEXT, WHOLE, NUMBER, LIST };

/* Arguments, and the option that each becomes. */
enum argument {
	TRACE, BEFORE, AFTER, REPORTS, FROM, TO, PID, TID, NAME, KIND, LAYER, BY, OF, MEASURE, TOP, SORT,
	FORMAT, CALL, SLOWEST, AT, LONGER, CONTAINS, LIMIT, ARGUMENTS
};

static const struct {
	const char *name;
	enum type type;
	const char *option;	/* NULL: it stands behind the options, or is none */
	const char *text;
} arguments[ARGUMENTS] = {
	[TRACE] = { "trace", TEXT, NULL, "the trace, as the tool 'traces' calls it" },
	[BEFORE] = { "before", TEXT, NULL, "the trace to compare with" },
	[AFTER] = { "after", TEXT, NULL, "the trace that may be slower or faster" },
	[REPORTS] = { "reports", LIST, NULL, "names of reports, as the tool 'reports' lists them; not together with 'by'" },
	[FROM] = { "from", TEXT, "--from", "from this moment on: ms since the trace began, 1.5s, a stage (startup, init, steady ...), or iteration:N" },
	[TO] = { "to", TEXT, "--to", "until this moment; with a stage or an iteration: until its end" },
	[PID] = { "pid", WHOLE, "--pid", "only this process" },
	[TID] = { "tid", WHOLE, "--tid", "only this thread" },
	[NAME] = { "name", TEXT, "--name", "only functions, kernels or ranges of this name; a pattern as cuMem*" },
	[KIND] = { "type", TEXT, "--type", "only records of this type: memory, transfer, kernel, sync, ioctl ..." },
	[LAYER] = { "layer", TEXT, "--layer", "only user, kernel or gpu" },
	[BY] = { "by", LIST, "--by", "a table of your own, a row for each combination of at most four of: function, kernel, thread, process, rank, stage, iteration, stream, context, device, range, operation, work, category, ioctl, command, class, error, type, layer, cpu, line, stack" },
	[OF] = { "of", TEXT, "--of", "with 'by': of calls, launches, waits, allocations, frees, kernels, copies, work, ioctls, driver, ranges or switches" },
	[MEASURE] = { "measure", TEXT, "--measure", "with 'by': duration, self, count, bytes or gpu" },
	[TOP] = { "top", WHOLE, "--top", "at most so many rows of each table, or findings; 0: all" },
	[SORT] = { "sort", TEXT, "--sort", "by this column, the largest first; -COLUMN: the smallest first" },
	[FORMAT] = { "format", TEXT, "--format", "table (the default, shortest to read), csv, tsv or json (with raw numbers: ns, bytes)" },
	[CALL] = { "op_id", WHOLE, "--call", "the tree of the call with this op_id, which 'search' and findings name" },
	[SLOWEST] = { "slowest", WHOLE, "--slowest", "the so many longest calls instead" },
	[AT] = { "at", TEXT, "--at", "the calls that were open at this moment instead: ms since the trace began" },
	[LONGER] = { "longer_than_us", NUMBER, NULL, "only what took at least so many microseconds" },
	[CONTAINS] = { "contains", TEXT, NULL, "only records whose line of JSON has this text, as a name of a kernel or \"ret\":2" },
	[LIMIT] = { "limit", WHOLE, NULL, "at most so many records (50)" },
};

#define BIT(a)		(1u << (a))
#define RANGE		(BIT(FROM) | BIT(TO) | BIT(PID))
#define CALLS		(RANGE | BIT(TID) | BIT(NAME))

static const struct tool {
	const char *name, *title;
	const char *text;
	const char *words[5];		/* the verb, and what is always said */
	unsigned int takes, needs;	/* bits of arguments */
} tools[] = {
	{ "traces", "List traces", "The traces that are here, the newest first. Begin with it.", { NULL }, 0, 0 },
	{ "summary", "Summary of a trace", "What was recorded: processes, the verdict on what limits each, stages, iterations, "
	  "totals, losses. Read it before you go into detail.",
	  { "report", "summary" }, BIT(TRACE) | RANGE | BIT(FORMAT), BIT(TRACE) },
	{ "explain", "Findings", "What limits the program in its steady state and its startup, and what to try: each finding "
	  "with its cost, the records that show it, and how sure it is. A cost marked 'up to' is an upper bound.",
	  { "explain" }, BIT(TRACE) | RANGE | BIT(TOP) | BIT(FORMAT), BIT(TRACE) },
	{ "reports", "List reports", "The reports that the tool 'report' makes, with a line about each.",
	  { "report", "--list" }, 0, 0 },
	{ "report", "Tables", "Tables of a trace: reports by name (several at once), or with 'by' a table of your own. Without "
	  "'from' and 'to' most are of the steady state, where there is one.",
	  { "report" }, BIT(TRACE) | BIT(REPORTS) | CALLS | BIT(KIND) | BIT(LAYER) | BIT(BY) | BIT(OF) | BIT(MEASURE) |
	  BIT(TOP) | BIT(SORT) | BIT(FORMAT), BIT(TRACE) },
	{ "call", "Inside of a call", "What happened inside one call, layer by layer (libcuda, ioctls, the kernel driver, the "
	  "GPU), with the times of each part. Give one of op_id, slowest and at.",
	  { "explain" }, BIT(TRACE) | CALLS | BIT(CALL) | BIT(SLOWEST) | BIT(AT) | BIT(TOP) | BIT(FORMAT), BIT(TRACE) },
	{ "lines", "Lines of the program", "Which lines of the program cost time, calls, launches and the GPU's time. Only of "
	  "traces that were recorded with --stacks.",
	  { "report", "lines" }, BIT(TRACE) | CALLS | BIT(TOP) | BIT(SORT) | BIT(FORMAT), BIT(TRACE) },
	{ "ranks", "Ranks of a job", "The ranks of a job side by side: who computes, who waits, and who makes the others wait.",
	  { "report", "ranks", "collectives_sum" }, BIT(TRACE) | RANGE | BIT(TOP) | BIT(SORT) | BIT(FORMAT), BIT(TRACE) },
	{ "diff", "Compare two traces", "What became slower or faster from one trace to another, by its effect on wall time, "
	  "and whether that is more than noise.",
	  { "diff" }, BIT(BEFORE) | BIT(AFTER) | BIT(FROM) | BIT(TO) | BIT(NAME) | BIT(TOP) | BIT(FORMAT), BIT(BEFORE) | BIT(AFTER) },
	{ "search", "Search records", "Records as lines of JSON in the order of time (ts: seconds, duration_us, op_id, "
	  "details): calls, ioctls, the driver's functions, work of the GPU. A call has one line, at its end.",
	  { "export", "--format=jsonl" }, BIT(TRACE) | CALLS | BIT(KIND) | BIT(LAYER) | BIT(LONGER) | BIT(CONTAINS) | BIT(LIMIT),
	  BIT(TRACE) },
};

#define TOOLS	(sizeof(tools) / sizeof(*tools))

static json_t *tools_schema(const struct tool *tool)
{
	static const char *const types[] = { [TEXT] = "string", [WHOLE] = "integer", [NUMBER] = "number", [LIST] = "array" };
	json_t *properties = json_object(), *required = json_array();

	for (unsigned int a = 0; a < ARGUMENTS; a++) {
		json_t *property;

		if (!(tool->takes & BIT(a)))
			continue;
		property = json_pack("{s:s, s:s}", "type", types[arguments[a].type], "description", arguments[a].text);
		if (arguments[a].type == LIST)
			json_object_set_new(property, "items", json_pack("{s:s}", "type", "string"));
		if (arguments[a].type == WHOLE)
			json_object_set_new(property, "minimum", json_integer(0));
		json_object_set_new(properties, arguments[a].name, property);
		if (tool->needs & BIT(a))
			json_array_append_new(required, json_string(arguments[a].name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required", required,
			 "additionalProperties", 0);
}

json_t *ct_tools_list(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < TOOLS; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:{s:b, s:b}}", "name", tools[i].name, "title",
				      tools[i].title, "description", tools[i].text, "inputSchema", tools_schema(&tools[i]),
				      "annotations", "readOnlyHint", 1, "openWorldHint", 0));
	return list;
}

/* A question, as a command line. */
struct line {
	const struct ct_tools *tools;
	const struct tool *tool;
	const json_t *given[ARGUMENTS];
	char *words[WORDS_MAX + 1];
	int count;
	struct ct_error err;
	/* Of 'search'. */
	double longer;
	const char *contains;
};

static __attribute__((format(printf, 2, 3))) int line_add(struct line *l, const char *format, ...)
{
	va_list args;
	int n;

	if (l->count == WORDS_MAX)
		return ct_fail(&l->err, E2BIG, "too many arguments");
	va_start(args, format);
	n = vasprintf(&l->words[l->count], format, args);
	va_end(args);
	if (n < 0) {
		l->words[l->count] = NULL;
		return ct_fail(&l->err, ENOMEM, "no memory");
	}
	l->count++;
	return n <= (int)WORD_MAX ? 0 : ct_fail(&l->err, E2BIG, "an argument is too long");
}

/* Which argument a client means, and that its type fits. */
static int line_take(struct line *l, const char *name, const json_t *value)
{
	char known[400] = "";
	size_t used = 0;

	for (unsigned int a = 0; a < ARGUMENTS; a++) {
		enum type type = arguments[a].type;

		if (!(l->tool->takes & BIT(a)))
			continue;
		used += snprintf(known + used, used < sizeof(known) ? sizeof(known) - used : 0, "%s%s", used ? ", " : "", arguments[a].name);
		if (strcmp(arguments[a].name, name))
			continue;
		if (json_is_null(value))
			return 0;
		/* A text may stand for a list of one, and a number for its text. */
		if (type == LIST ? !json_is_array(value) && !json_is_string(value) :
		    type == TEXT ? !json_is_string(value) && !json_is_number(value) :
		    !json_is_number(value) || (type == WHOLE && json_number_value(value) < 0))
			return ct_fail(&l->err, EINVAL, "the argument '%s' is no %s", name, type == LIST ? "list of texts" :
				       type == TEXT ? "text" : type == WHOLE ? "whole number of at least 0" : "number");
		l->given[a] = value;
		return 0;
	}
	return ct_fail(&l->err, EINVAL, "'%s' has no argument '%.60s'; it takes %s", l->tool->name, name,
		       *known ? known : "none");
}

/* The text of a value into @text, of a list with commas between. */
static int line_text(struct line *l, const json_t *value, char *text, size_t size)
{
	const json_t *one;
	size_t i, used = 0;

	if (json_is_string(value))
		used = snprintf(text, size, "%s", json_string_value(value));
	else if (json_is_integer(value))
		used = snprintf(text, size, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		used = snprintf(text, size, "%.15g", json_real_value(value));
	*text = used ? *text : 0;
	json_array_foreach(value, i, one) {
		if (!json_is_string(one))
			return ct_fail(&l->err, EINVAL, "a list holds texts");
		used += snprintf(text + used, used < size ? size - used : 0, "%s%s", i ? "," : "", json_string_value(one));
		if (used >= size)
			break;
	}
	return used < size ? 0 : ct_fail(&l->err, E2BIG, "an argument is too long");
}

static int line_trace(struct line *l, enum argument a)
{
	char path[PATH_MAX], name[PATH_MAX];

	if (!l->given[a])
		return 0;
	return line_text(l, l->given[a], name, sizeof(name)) || ct_confined_find(&l->tools->confined, name, path, &l->err) ||
	       line_add(l, "%s", path) ? -EINVAL : 0;
}

/* Names of reports stand in front of the trace: words that can't be options or paths. */
static int line_reports(struct line *l)
{
	const json_t *value = l->given[REPORTS];
	size_t count = json_is_array(value) ? json_array_size(value) : value ? 1 : 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(json_is_array(value) ? json_array_get(value, i) : value);

		if (!name || !*name || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name))
			return ct_fail(&l->err, EINVAL, "there is no such report: the tool 'reports' lists them");
		if (line_add(l, "%s", name))
			return -EINVAL;
	}
	return 0;
}

static int line_make(struct line *l, const json_t *given)
{
	char text[WORD_MAX];
	const json_t *value;
	const char *name;

	json_object_foreach((json_t *)given, name, value)
		if (line_take(l, name, value))
			return -EINVAL;
	for (unsigned int a = 0; a < ARGUMENTS; a++)
		if ((l->tool->needs & BIT(a)) && !l->given[a])
			return ct_fail(&l->err, EINVAL, "the argument '%s' is missing: %s", arguments[a].name, arguments[a].text);
	if (!strcmp(l->tool->name, "call") && !!l->given[CALL] + !!l->given[SLOWEST] + !!l->given[AT] != 1)
		return ct_fail(&l->err, EINVAL, "give one of op_id, slowest and at");
	for (unsigned int i = 0; l->tool->words[i]; i++)
		if (line_add(l, "%s", l->tool->words[i]))
			return -EINVAL;
	for (unsigned int a = 0; a < ARGUMENTS; a++)
		if (l->given[a] && arguments[a].option && (line_text(l, l->given[a], text, sizeof(text)) ||
		    line_add(l, "%s=%s", arguments[a].option, text)))
			return -EINVAL;
	return line_reports(l) || line_trace(l, TRACE) || line_trace(l, BEFORE) || line_trace(l, AFTER) ? -EINVAL : 0;
}

/* Does a line of 'search' count? */
static bool line_keep(const char *text, void *arg)
{
	const struct line *l = arg;
	const char *duration = strstr(text, "\"duration_us\":");

	/* The begin of a call says nothing that its end doesn't, unless there is no end. */
	if (strstr(text, "\"phase\":\"B\"") && !strstr(text, "\"unfinished\":true"))
		return false;
	if (l->longer > 0 && (!duration || strtod(duration + strlen("\"duration_us\":"), NULL) < l->longer))
		return false;
	return !l->contains || strstr(text, l->contains);
}

/* Names of kernels of a thousand bytes, and what stands twice, would fill the answer. */
static void line_shorten_texts(json_t *object, const json_t *other)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, name, value) {
		char text[NAME_MAX_SHOWN + 4];

		if (other && json_equal(value, json_object_get(other, name)))
			json_object_del(object, name);
		else if (json_string_length(value) > NAME_MAX_SHOWN) {
			snprintf(text, sizeof(text), "%.*s...", (int)NAME_MAX_SHOWN, json_string_value(value));
			/* Where that cuts a character, the text stays. */
			json_object_set_new(object, name, json_string(text));
		}
	}
}

static size_t line_shorten(char *line, size_t len)
{
	json_t *record = json_loads(line, 0, NULL);
	json_t *details = json_object_get(record, "details");
	size_t used;

	if (!record)
		return len;
	json_object_del(record, "event_id");
	json_object_del(record, "ts_ns");
	line_shorten_texts(details, record);
	line_shorten_texts(record, NULL);
	if (details && !json_object_size(details))
		json_object_del(record, "details");
	used = json_dumpb(record, line, len, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(record);
	if (!used || used >= len)
		return len;
	line[used] = '\n';
	return used + 1;
}

static json_t *tools_result(const char *text, bool error)
{
	return json_pack("{s:[{s:s, s:s}], s:b}", "content", "type", "text", "text", text, "isError", error);
}

/* What the client is told: the output, what was said beside it, and what is missing of it. */
static json_t *tools_answer(const struct line *l, const struct ct_bounded *b, const struct ct_bounds *bounds)
{
	bool bad = b->status && !b->too_long;
	char *text = NULL;
	json_t *result;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return tools_result("no memory", true);
	fwrite(b->text, 1, b->size, out);
	if (b->size && b->text[b->size - 1] != '\n')
		fputc('\n', out);
	if (b->too_long)
		fprintf(out, "[cut: it took longer than %u seconds, and was ended; ask of less time (from, to) or of one process (pid)]\n",
			bounds->seconds);
	else if (b->bytes > b->size)
		fprintf(out, "[cut: these are the first %llu of %llu lines, %zu of %llu bytes; ask for less: %s]\n", b->shown, b->lines,
			b->size, b->bytes, l->tool->takes & BIT(LIMIT) ? "name, type, contains, longer_than_us, from and to; or a larger limit" :
			"top, name, pid, from and to");
	else if (!b->lines && !bad)
		fprintf(out, "(nothing)\n");
	if (*b->told)
		fprintf(out, "%s%s", b->size ? "Notes:\n" : "", b->told);
	if (bad && b->status > 128)
		fprintf(out, "the command was ended by signal %d\n", b->status - 128);
	if (fclose(out))
		return tools_result("no memory", true);
	result = tools_result(text, bad || (b->too_long && !b->size));
	free(text);
	return result;
}

static json_t *tools_run(struct line *l)
{
	struct ct_bounds bounds = l->tools->bounds;
	struct ct_bounded b;
	json_t *result;

	if (l->tool->takes & BIT(LIMIT)) {
		double lines = l->given[LIMIT] ? json_number_value(l->given[LIMIT]) : SEARCH_LINES;

		l->longer = l->given[LONGER] ? json_number_value(l->given[LONGER]) : 0;
		l->contains = l->given[CONTAINS] ? json_string_value(l->given[CONTAINS]) : NULL;
		bounds.lines = lines < 1 || lines > SEARCH_MOST ? SEARCH_MOST : lines;
		bounds.keep = line_keep;
		bounds.shorten = line_shorten;
		bounds.arg = l;
	}
	if (ct_bounded_run(&b, &bounds, l->tools->command, l->count, l->words, &l->err))
		return tools_result(l->err.text, true);
	result = tools_answer(l, &b, &bounds);
	ct_bounded_free(&b);
	return result;
}

static json_t *tools_traces(const struct ct_tools *t)
{
	char *text = NULL;
	json_t *result;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int rc = out ? ct_confined_list(&t->confined, out) : 1;

	if (!out || fclose(out) || rc) {
		free(text);
		return tools_result("no memory", true);
	}
	/* A name of a file may be anything. */
	result = tools_result(text, false);
	free(text);
	return result ? result : tools_result("a trace has a name that is no UTF-8: rename it", true);
}

json_t *ct_tools_call(const struct ct_tools *t, const char *name, const json_t *given)
{
	struct line l = { .tools = t };
	json_t *result;

	for (unsigned int i = 0; i < TOOLS; i++)
		if (!strcmp(tools[i].name, name))
			l.tool = &tools[i];
	if (!l.tool)
		return NULL;
	if (line_make(&l, given))
		result = tools_result(l.err.text, true);
	else
		result = l.count ? tools_run(&l) : tools_traces(t);
	for (int i = 0; i < l.count; i++)
		free(l.words[i]);
	return result ? result : tools_result("the answer is no UTF-8", true);
}
#endif
