// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Event classes.  A class that this file lets through is safe to read records
 * with: its fields lie inside its size, in order, naturally aligned.  Must never
 * trust a name: names come from other processes.
 */
#include "trace/class.h"

#include <stdlib.h>
#include <string.h>

#define ROW(type, ctype, bytes)	[CT_TYPE_##type] = bytes,
static const uint8_t type_bytes[CT_TYPE_COUNT] = { CT_TYPES(ROW) };
#undef ROW
#define ROW(type, ctype, bytes)	[CT_TYPE_##type] = #type,
const char *const ct_type_word[CT_TYPE_COUNT] = { CT_TYPES(ROW) };
#undef ROW
#define ROW(id, word)	[CT_LAYER_##id] = word,
const char *const ct_layer_word[CT_LAYER_COUNT] = { CT_LAYERS(ROW) };
#undef ROW
#define ROW(id, word)	[CT_CAT_##id] = word,
const char *const ct_category_word[CT_CAT_COUNT] = { CT_CATEGORIES(ROW) };
#undef ROW
#define ROW(id, word)	[CT_OP_##id] = word,
const char *const ct_op_word[CT_OP_COUNT] = { CT_OPS(ROW) };
#undef ROW
#define ROW(id, word)	[CT_DIR_##id] = word,
const char *const ct_direction_word[CT_DIR_COUNT] = { CT_DIRECTIONS(ROW) };
#undef ROW
#define ROW(id, word)	[CT_MEMKIND_##id] = word,
const char *const ct_memkind_word[CT_MEMKIND_COUNT] = { CT_MEMKINDS(ROW) };
#undef ROW
#define ROW(id, word)	[CT_KNOWN_##id] = word,
static const char *const known_word[CT_KNOWN_COUNT] = { CT_KNOWN_FIELDS(ROW) };
#undef ROW

/*
 * Which fields a call fills in.  A record is written when the call has returned
 * and does not say it, so it follows from the operation and the name.
 */
static bool class_is_output(const struct ct_class *class, const char *name)
{
	static const char *const always[] = {
		"free", "total", "elapsed_ns", "pitch", "ret", "status", "handled",
	};
	static const char *const made[] = {
		"ptr", "handle", "event", "stream", "context", "module", "function", "graph",
	};

	if (ct_word_index(always, sizeof(always) / sizeof(*always), name) >= 0)
		return true;
	if (class->category == CT_CAT_GRAPH && !strcmp(name, "node"))
		return true;
	switch (class->operation) {
	case CT_OP_ALLOC:
	case CT_OP_MAP:
		return !strcmp(name, "ptr");
	case CT_OP_LOOKUP:
		return !strcmp(name, "ptr") || !strcmp(name, "function");
	case CT_OP_LOAD:
		return !strcmp(name, "module");
	case CT_OP_CREATE:
		return ct_word_index(made, sizeof(made) / sizeof(*made), name) >= 0;
	}
	return false;
}

static int class_field(const struct ct_class *class, const char *name)
{
	for (unsigned int i = 0; i < class->fields_count; i++)
		if (!strcmp(class->fields[i].name, name))
			return i;
	return -1;
}

static bool class_name_is_plain(const char *name, size_t len)
{
	if (!len || len >= CT_FIELD_LEN)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
		      (i && c >= '0' && c <= '9')))
			return false;
	}
	return true;
}

/* A field of a probe that a user added may have any name: its type must fit, too. */
static bool class_type_fits(enum ct_known known, unsigned int type)
{
	switch (known) {
	case CT_KNOWN_KERNEL:
	case CT_KNOWN_STACK:
	case CT_KNOWN_HOLDER:
		return type == CT_TYPE_str;
	case CT_KNOWN_DIRECTION:
		return type == CT_TYPE_dir;
	case CT_KNOWN_DEVICE:
		return type == CT_TYPE_dev;
	case CT_KNOWN_CUDA_DEVICE:	/* its number in the process, not the file of an ioctl */
		return type == CT_TYPE_s32;
	case CT_KNOWN_CODE:
		return type == CT_TYPE_nvcode;
	case CT_KNOWN_STATUS:
		return type == CT_TYPE_nvst;
	default:
		return type != CT_TYPE_text && type != CT_TYPE_str;
	}
}

/* A probe that a user added may have any name for a field. */
static enum ct_shift class_shift(const struct ct_class *class, const struct ct_class_field *f)
{
	static const char *const tasks[] = { "other", "waker", "ppid", "owner_pid", "holder_tid" };
	static const char *const times[] = { "begin", "monotonic" };

	if (f->type == CT_TYPE_str || f->type == CT_TYPE_class)
		return f->type == CT_TYPE_str ? CT_SHIFT_STRING : CT_SHIFT_CLASS;
	if (class->category == CT_CAT_DRIVER)
		return CT_SHIFT_NONE;
	if (f->type == CT_TYPE_u32 && ct_word_index(tasks, sizeof(tasks) / sizeof(*tasks), f->name) >= 0)
		return CT_SHIFT_TASK;
	if (class->category == CT_CAT_TRACER && f->type == CT_TYPE_u64 &&
	    ct_word_index(times, sizeof(times) / sizeof(*times), f->name) >= 0)
		return CT_SHIFT_TIME;
	if ((class->layer == CT_LAYER_GPU && f->type == CT_TYPE_u16 &&
	     (!strcmp(f->name, "gpu") || !strcmp(f->name, "dst_gpu"))) ||
	    (class->category == CT_CAT_CONTEXT && f->type == CT_TYPE_s32 && !strcmp(f->name, "device")))
		return CT_SHIFT_GPU;
	return CT_SHIFT_NONE;
}

static const char *class_parse_field(struct ct_class *class, const char *spec, size_t len)
{
	const char *colon = memchr(spec, ':', len);
	struct ct_class_field *field;
	char word[16] = "";
	int type;

	if (class->fields_count == CT_FIELDS_MAX)
		return "more fields than a class may have";
	if (class->has_text)
		return "a field after the text";
	if (!colon || !class_name_is_plain(spec, colon - spec))
		return "a field without a proper name";
	if (len - (colon - spec) - 1 < sizeof(word))
		memcpy(word, colon + 1, len - (colon - spec) - 1);
	type = ct_word_index(ct_type_word, CT_TYPE_COUNT, word);
	if (type < 0)
		return "an unknown field type";

	field = &class->fields[class->fields_count];
	memcpy(field->name, spec, colon - spec);
	if (class_field(class, field->name) >= 0)
		return "two fields of one name";
	field->type = type;
	field->bytes = type_bytes[type];
	field->offset = class->size;
	field->output = class_is_output(class, field->name);
	field->shift = class_shift(class, field);
	if (field->offset % field->bytes)
		return "a field that is not naturally aligned";
	class->size += field->bytes;
	class->has_text = type == CT_TYPE_text;
	for (unsigned int i = 0; i < CT_KNOWN_COUNT; i++)
		if (!strcmp(field->name, known_word[i]) && class_type_fits(i, type))
			class->known[i] = class->fields_count;
	class->fields_count++;
	return NULL;
}

/* What only the name of a function of libnccl says. */
static uint32_t class_is_named(const char *name)
{
	return !strcmp(name, "ncclSend") ? CT_IS_SEND : !strcmp(name, "ncclRecv") ? CT_IS_RECEIVE :
	       !strcmp(name, "ncclGroupStart") ? CT_IS_GROUP_BEGIN :
	       !strcmp(name, "ncclGroupEnd") ? CT_IS_GROUP_END :
	       !strncmp(name, "ncclCommInit", 12) || !strcmp(name, "ncclCommSplit") || !strcmp(name, "ncclCommShrink") ?
	       CT_IS_NEW_COMMUNICATOR : 0;
}

static bool class_polls(const char *name)
{
	static const char *const names[] = { "cuEventQuery", "cuStreamQuery", "cudaEventQuery", "cudaStreamQuery" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* What a call of the program is, by its category. */
static uint32_t class_is_of_category(const struct ct_class *class)
{
	if (class->category == CT_CAT_SYSCALL)
		return 0;
	if (class->category == CT_CAT_RUNTIME)
		return CT_IS_API;
	if (class->category == CT_CAT_QUERY)
		return CT_IS_API | CT_IS_QUERY | (strncmp(class->name, "nccl", 4) ? CT_IS_CUDA : CT_IS_NCCL) |
		       (!strcmp(class->name, "ncclCommGetAsyncError") && class->known[CT_KNOWN_COMM] >= 0 &&
			class->known[CT_KNOWN_STATE] >= 0 ? CT_IS_COMMUNICATOR_STATE : 0);
	/* Their names are shown without that. */
	if (class->category == CT_CAT_COLLECTIVE && strncmp(class->name, "nccl", 4))
		return CT_IS_API;
	if (class->category == CT_CAT_COLLECTIVE)
		return CT_IS_API | CT_IS_NCCL | class_is_named(class->name) |
		       (class->known[CT_KNOWN_NUMBER] >= 0 ? CT_IS_COLLECTIVE :
			class->known[CT_KNOWN_COMMUNICATOR] >= 0 ? CT_IS_COMMUNICATOR : 0);
	switch (class->category) {
	case CT_CAT_KERNEL:
		return CT_IS_API | CT_IS_CUDA | (class->operation == CT_OP_LAUNCH ? CT_IS_KERNEL_LAUNCH : 0);
	case CT_CAT_GRAPH:
		return CT_IS_API | CT_IS_CUDA | (class->operation == CT_OP_LAUNCH ? CT_IS_GRAPH_LAUNCH : 0);
	case CT_CAT_CONTEXT:
		return CT_IS_API | CT_IS_CUDA | (class->operation == CT_OP_CREATE ? CT_IS_CONTEXT : 0);
	case CT_CAT_MODULE:
		return CT_IS_API | CT_IS_CUDA | CT_IS_CODE | (class->operation == CT_OP_LOAD ? CT_IS_LOAD : 0);
	case CT_CAT_TRANSFER:
		return CT_IS_API | CT_IS_CUDA |
		       (class->operation == CT_OP_COPY ? CT_IS_COPY : class->operation == CT_OP_SET ? CT_IS_SET : 0);
	case CT_CAT_MEMORY:
		return CT_IS_API | CT_IS_CUDA | CT_IS_MEMORY | (strstr(class->name, "Host") ? CT_IS_HOST : 0) |
		       (class->operation == CT_OP_ALLOC ? CT_IS_ALLOC : class->operation == CT_OP_FREE ? CT_IS_FREE : 0);
	case CT_CAT_SYNC:
		return CT_IS_API | CT_IS_CUDA | CT_IS_WAIT;
	}
	return CT_IS_API | CT_IS_CUDA;
}

static uint32_t class_is_call(const struct ct_class *class)
{
	uint32_t what = class_is_of_category(class);

	return what & CT_IS_API && class_polls(class->name) ? what | CT_IS_POLL : what;
}

static uint32_t class_is_gpu(const struct ct_class *class)
{
	switch (class->category) {
	case CT_CAT_KERNEL:
		return CT_IS_GPU_KERNEL;
	case CT_CAT_TRANSFER:
		return class->operation == CT_OP_SET ? CT_IS_GPU_SET : CT_IS_GPU_COPY;
	case CT_CAT_MEMORY:
		return CT_IS_GPU_SET;
	case CT_CAT_GRAPH:
		return CT_IS_GPU_GRAPH;
	}
	return 0;
}

/* What records of the class are; its fields are known. */
static uint32_t class_is(const struct ct_class *class)
{
	uint32_t what = 0;

	if (class->known[CT_KNOWN_CMD] >= 0 && class->known[CT_KNOWN_DEVICE] >= 0)
		what |= CT_IS_IOCTL;
	if (!class->call)
		return what;
	if (class->category == CT_CAT_SWITCH)
		what |= CT_IS_SWITCH;
	if (class->layer == CT_LAYER_USER)
		return what | class_is_call(class);
	if (class->layer == CT_LAYER_KERNEL && class->category != CT_CAT_SWITCH)
		what |= CT_IS_DRIVER;
	return class->layer == CT_LAYER_GPU ? what | class_is_gpu(class) : what;
}

struct ct_class *ct_class_new(unsigned int id, unsigned int layer, unsigned int category,
			      unsigned int operation, const char *fields, const char *name,
			      const char *symbol, const char **why)
{
	size_t name_len = strlen(name), symbol_len = strlen(symbol);
	struct ct_class *class;
	char *texts;

	*why = "an id or a word out of range";
	if (!id || id > CT_CLASS_MAX || layer >= CT_LAYER_COUNT || category >= CT_CAT_COUNT ||
	    operation >= CT_OP_COUNT)
		return NULL;
	*why = "a name that is empty or too long";
	if (!name_len || name_len >= 4 * CT_NAME_LEN || symbol_len >= 4 * CT_NAME_LEN)
		return NULL;
	*why = "no memory";
	class = calloc(1, sizeof(*class) + name_len + symbol_len + 2);
	if (!class)
		return NULL;
	texts = (char *)(class + 1);
	class->name = strcpy(texts, name);
	class->symbol = strcpy(texts + name_len + 1, symbol);
	class->id = id;
	class->layer = layer;
	class->category = category;
	class->operation = operation;
	class->call = category != CT_CAT_MARKER && category != CT_CAT_PROCESS &&
		      category != CT_CAT_TRACER;
	memset(class->known, -1, sizeof(class->known));

	if (!strcmp(fields, "-"))
		fields = "";
	while (*fields) {
		size_t len = strcspn(fields, ",");

		*why = class_parse_field(class, fields, len);
		if (*why)
			goto bad;
		fields += len;
		fields += *fields == ',';
	}
	if (!class->has_text && class->size % 8) {
		*why = "fields whose size is not a multiple of 8";
		goto bad;
	}
	class->what = class_is(class);
	return class;
bad:
	free(class);
	return NULL;
}

void ct_class_spec(const struct ct_class *class, char spec[CT_SPEC_MAX])
{
	char *p = spec;

	*p = 0;
	for (unsigned int i = 0; i < class->fields_count; i++) {
		p = stpcpy(p, class->fields[i].name);
		*p++ = ':';
		p = stpcpy(p, ct_type_word[class->fields[i].type]);
		p = stpcpy(p, ",");
	}
	if (p == spec)
		strcpy(spec, "-");
}

bool ct_class_same(const struct ct_class *a, const struct ct_class *b)
{
	char spec_a[CT_SPEC_MAX], spec_b[CT_SPEC_MAX];

	ct_class_spec(a, spec_a);
	ct_class_spec(b, spec_b);
	return a->layer == b->layer && a->category == b->category &&
	       a->operation == b->operation && !strcmp(spec_a, spec_b) && !strcmp(a->name, b->name) &&
	       !strcmp(a->symbol, b->symbol);
}

struct ct_class *ct_class_static(unsigned int i)
{
#define ROW(id, name, layer, cat, op, layout)				\
	{ id, CT_LAYER_##layer, CT_CAT_##cat, CT_OP_##op, CT_LAYOUT_SPEC(layout), #name },
	static const struct {
		unsigned int id, layer, category, op;
		const char *fields, *name;
	} rows[] = { CT_STATIC_CLASSES(ROW) };
#undef ROW
	const char *why;

	if (i >= sizeof(rows) / sizeof(*rows))
		return NULL;
	return ct_class_new(rows[i].id, rows[i].layer, rows[i].category, rows[i].op,
			    rows[i].fields, rows[i].name, rows[i].name, &why);
}
