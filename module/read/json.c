// SPDX-License-Identifier: GPL-2.0
/*
 * JSON Lines for cat /dev/cudatrace: one line per record, in the order in which calls
 * return.  Keys and values are those of the command line's export.  The names of RM
 * controls and classes, and demangling, are in the command line alone.
 */
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "read/json_put.h"
#include "nvidia/ioctl.h"
#include "core/registry.h"
#include "read/json.h"

static const char * const layer_words[] = {
#define CT_ROW(id, word)	word,
	CT_LAYERS(CT_ROW)
};

static const char * const category_words[] = { CT_CATEGORIES(CT_ROW) };
static const char * const op_words[] = { CT_OPS(CT_ROW) };
static const char * const direction_words[] = { CT_DIRECTIONS(CT_ROW) };
#undef CT_ROW

/* A pid of the initial namespace in the viewer's pid namespace; 0 if not visible there. */
static u32 json_viewed_pid(const struct ct_viewer *viewer, u32 nr)
{
	struct pid *pid;

	if (viewer->pids == &init_pid_ns)
		return nr;
	rcu_read_lock();
	pid = find_pid_ns(nr, &init_pid_ns);
	nr = pid ? pid_nr_ns(pid, viewer->pids) : 0;
	rcu_read_unlock();
	return nr;
}

/* ---------------------------------------------------------- addresses ---- */

/*
 * Is it an address of the kernel?  They lie in the upper half, which begins here with 5 levels of
 * page tables.  The last 2 MiB have nothing mapped: there are error codes and small negative
 * numbers.
 */
static bool json_is_address(u64 v)
{
	return v >= 0xff00000000000000ull && v < -(2ull << 20);
}

/*
 * The hash that %p prints, so that equal addresses stay equal, also to those in the kernel's log; 0
 * as long as %p has no key, soon after boot.  With no_hash_pointers it is the address.
 */
static noinline u64 json_hash(u64 v)
{
	char text[32];
	u64 hash;

	snprintf(text, sizeof(text), "%p", (void *)(unsigned long)v);
	return kstrtou64(text, 16, &hash) ? 0 : hash;
}

/*
 * A value of a record that the viewer may see.  It is the value that decides, not the field: what
 * the arguments of a user's own probe are, nobody says here.
 */
static __always_inline u64 json_viewed(const struct ct_viewer *viewer, const struct ct_class *c,
				       enum ct_role role, u64 v)
{
	if (likely(viewer->addresses) || c->def.layer != CT_LAYER_KERNEL)
		return v;
	return json_is_address(v) || (role == CT_ROLE_BUS && v) ? json_hash(v) : v;
}

/* ------------------------------------------------------------ fields ----- */

/* The value of a field of size bytes, as an unsigned number. */
static __always_inline u64 json_load(const u8 *at, u32 size)
{
	switch (size) {	/* little-endian, like the ABI */
	case 1:
		return *at;
	case 2:
		return GET(u16, at);
	case 4:
		return GET(u32, at);
	}
	return GET(u64, at);
}

static const u8 type_sizes[] = {
#define CT_TYPE_ROW(type, ctype, bytes)	[CT_TYPE_##type] = bytes,
	CT_TYPES(CT_TYPE_ROW)
#undef CT_TYPE_ROW
};

static const char *json_device_name(u32 dev, char *buf, size_t room)
{
	switch (dev) {
	case CT_DEV_NVIDIACTL:
		return "nvidiactl";
	case CT_DEV_UVM:
		return "nvidia-uvm";
	case CT_DEV_UVM_TOOLS:
		return "nvidia-uvm-tools";
	case CT_DEV_MODESET:
		return "nvidia-modeset";
	case CT_DEV_UNKNOWN:
		return "unknown";
	}
	snprintf(buf, room, "nvidia%u", dev);
	return buf;
}

static char *json_put_field(char *p, const struct ct_viewer *viewer, const struct ct_field *f,
			    enum ct_role role, const u8 *at, u64 v)
{
	const char *text;
	char buf[24];

	if (role == CT_ROLE_PID)
		return put_u64(p, json_viewed_pid(viewer, v));
	switch (f->type) {
	case CT_TYPE_s8:
		return put_s64(p, (s8)v);
	case CT_TYPE_s16:
		return put_s64(p, (s16)v);
	case CT_TYPE_s32:
		return put_s64(p, (s32)v);
	case CT_TYPE_s64:
		return put_s64(p, (s64)v);
	case CT_TYPE_x8:
	case CT_TYPE_x16:
	case CT_TYPE_x32:
	case CT_TYPE_x64:
	case CT_TYPE_nvcode:
	case CT_TYPE_nvst:
		return put_hex(p, v);
	case CT_TYPE_str:
		text = ct_string_find(v);
		return put_word(p, text ? text : "");
	case CT_TYPE_class: {
		const struct ct_class *c = ct_class_find(v);

		return put_word(p, c ? c->def.name : "");
	}
	case CT_TYPE_dir:
		return put_word(p, v < CT_DIR_COUNT ? direction_words[v] : "unknown");
	case CT_TYPE_dev:
		return put_word(p, json_device_name(v, buf, sizeof(buf)));
	case CT_TYPE_text:
		return put_text(p, (const char *)at + sizeof(u16), v, CT_TEXT_SHOWN);
	default:
		return put_u64(p, v);
	}
}

/* Values of a payload that the line repeats outside "details". */
struct json_summary {
	bool size, direction, grid, cmd;
	u64 size_v, direction_v, threads_v, cmd_v, device_v, have_v, code_v, status_v;
	const char *kernel;
	const u8 *text;		/* a text field: u16 length, bytes */
};

static void json_collect(struct json_summary *sum, enum ct_role role, const u8 *at, u64 v)
{
	switch (role) {
	case CT_ROLE_SIZE:
		sum->size = true;
		sum->size_v = v;
		break;
	case CT_ROLE_DIRECTION:
		sum->direction = true;
		sum->direction_v = v;
		break;
	case CT_ROLE_CMD:
		sum->cmd = true;
		sum->cmd_v = v;
		break;
	case CT_ROLE_DEVICE:
		sum->device_v = v;
		break;
	case CT_ROLE_HAVE:
		sum->have_v = v;
		break;
	case CT_ROLE_CODE:
		sum->code_v = v;
		break;
	case CT_ROLE_STATUS:
		sum->status_v = v;
		break;
	case CT_ROLE_KERNEL:
		sum->kernel = ct_string_find(v);
		break;
	case CT_ROLE_TEXT:
		sum->text = at;
		break;
	case CT_ROLE_GRID:
		sum->threads_v = sum->grid ? sum->threads_v * v : v;
		sum->grid = true;
		break;
	default:
		break;
	}
}

/*
 * The parts of a line that are the same for all records of a class.  They are formatted
 * once, so that most of a line is a few copies.  Part i is text[at[i]] up to
 * text[at[i + 1]].
 */
enum {
	PART_HEAD,		/* layer, type and name of a call's record */
	PART_HEAD_BEGIN,	/* the same of an entry event */
	PART_SYMBOL,		/* empty if it is the same as the name */
	PART_OP,		/* empty if the class has no op */
	PART_FIELD,		/* the key of each field; the first one with "details" */
	PARTS = PART_FIELD + CT_FIELDS_MAX,
};

struct json_parts {
	u16 at[PARTS + 1];
	char text[];
};

static char *json_put_class_part(char *p, const struct ct_class *c, u32 part)
{
	const struct ct_define *def = &c->def;

	switch (part) {
	case PART_HEAD:
	case PART_HEAD_BEGIN:
		p = put_key(p, "layer");
		p = put_word(p, layer_words[def->layer]);
		p = put_key(p, "type");
		p = put_word(p, part == PART_HEAD ? category_words[def->category] :
			     def->layer == CT_LAYER_USER ? "userspace" : "kernel");
		p = put_key(p, "name");
		p = put_word(p, def->name);
		return PUT(p, ",\"phase\":");
	case PART_SYMBOL:
		if (!strcmp(def->name, def->symbol))
			return p;
		p = put_key(p, "symbol");
		return put_word(p, def->symbol);
	case PART_OP:
		if (!def->op)
			return p;
		p = put_key(p, "op");
		return put_word(p, op_words[def->op]);
	}
	part -= PART_FIELD;
	if (part >= def->fields_count)
		return p;
	if (part)
		return put_key(p, def->fields[part].name);
	p = PUT(p, ",\"details\":{");
	p = put_word(p, def->fields[0].name);
	*p++ = ':';
	return p;
}

/* Makes the parts of a class and attaches them to it; NULL if there is no memory. */
static noinline const struct json_parts *json_parts_make(const struct ct_class *c)
{
	/* The name three times and the symbol, up to 6 bytes a character; fields likewise. */
	const size_t room = 6 * 4 * CT_NAME_LEN + CT_FIELDS_MAX * 6 * CT_FIELD_LEN + 512;
	struct json_parts *t = kzalloc(struct_size(t, text, room), GFP_KERNEL), *parts;
	char *p;
	u32 i;

	if (!t)
		return NULL;
	p = t->text;
	for (i = 0; i < PARTS; i++) {
		t->at[i] = p - t->text;
		p = json_put_class_part(p, c, i);
	}
	t->at[PARTS] = p - t->text;
	/* put_words() reads up to 7 bytes behind the end. */
	parts = kmemdup(t, struct_size(t, text, t->at[PARTS] + sizeof(u64)), GFP_KERNEL_ACCOUNT);
	kfree(t);
	return parts ? ct_class_attach(c->id, parts) : NULL;
}

/*
 * A part of a class.  The first line of a class makes the parts; without memory for them, each
 * part is formatted into the line.
 */
static __always_inline char *json_put_part(char *p, const struct ct_class *c,
					   const struct json_parts *t, u32 part)
{
	if (unlikely(!t))
		return json_put_class_part(p, c, part);
	return put_words(p, t->text + t->at[part], t->at[part + 1] - t->at[part]);
}

static char *json_put_details(char *p, const struct ct_viewer *viewer, const struct ct_class *c,
			      const struct json_parts *parts, const u8 *payload,
			      struct json_summary *sum)
{
	u32 i, offset = 0;

	if (!c->def.fields_count)
		return p;
	for (i = 0; i < c->def.fields_count; i++) {
		const struct ct_field *f = &c->def.fields[i];
		u64 v = json_viewed(viewer, c, c->role[i],
				    json_load(payload + offset, type_sizes[f->type]));

		p = json_put_part(p, c, parts, PART_FIELD + i);
		p = json_put_field(p, viewer, f, c->role[i], payload + offset, v);
		json_collect(sum, c->role[i], payload + offset, v);
		offset += type_sizes[f->type];
	}
	*p++ = '}';
	return p;
}

static char *json_put_ioctl(char *p, const struct json_summary *sum)
{
	char buf[24];
	u32 cmd = sum->cmd_v;
	const char *name = ct_nv_ioctl_name(sum->device_v, cmd);

	p = put_key(p, "cmd");
	p = put_u64(p, cmd);
	p = put(p, ",\"decoded\":{\"dir\":");
	p = put_u64(p, _IOC_DIR(cmd));
	p = put(p, ",\"type\":");
	p = put_u64(p, _IOC_TYPE(cmd));
	p = put(p, ",\"nr\":");
	p = put_u64(p, _IOC_NR(cmd));
	p = put(p, ",\"size\":");
	p = put_u64(p, _IOC_SIZE(cmd));
	*p++ = '}';
	if (name) {
		p = put_key(p, "escape");
		p = put_word(p, name);
	}
	if (sum->have_v & (CT_IOCTL_CONTROL | CT_IOCTL_CLASS)) {
		p = put_key(p, sum->have_v & CT_IOCTL_CONTROL ? "control" : "class");
		p = put_hex(p, sum->code_v);
	}
	if (sum->have_v & CT_IOCTL_STATUS) {
		p = put_key(p, "status");
		p = sum->status_v ? put_hex(p, sum->status_v) : put(p, "\"NV_OK\"");
	}
	p = put_key(p, "device");
	return put_word(p, json_device_name(sum->device_v, buf, sizeof(buf)));
}

/* Keys by which users select lines, besides the type.  B lines do not have them. */
static char *json_put_promoted(char *p, const struct json_summary *sum)
{
	u16 len;

	if (sum->size) {
		p = put_key(p, "size");
		p = put_u64(p, sum->size_v);
	}
	if (sum->direction) {
		p = put_key(p, "direction");
		p = put_word(p, sum->direction_v < CT_DIR_COUNT ?
			     direction_words[sum->direction_v] : "unknown");
	}
	if (sum->grid) {
		p = put_key(p, "threads");
		p = put_u64(p, sum->threads_v);
	}
	if (sum->kernel) {
		p = put_key(p, "kernel");
		p = put_word(p, sum->kernel);
	}
	if (sum->text) {
		memcpy(&len, sum->text, sizeof(len));
		p = put_key(p, "text");
		p = put_text(p, (const char *)sum->text + sizeof(len), len,
			     CT_TEXT_SHOWN);
	}
	return sum->cmd ? json_put_ioctl(p, sum) : p;
}

/* ------------------------------------------------------------- lines ----- */

static char *json_put_time(char *p, const struct ct_session_state *s, u64 stamp, u64 event_id)
{
	p = PUT(p, "{\"event_id\":");
	p = put_u64(p, event_id);
	p = PUT(p, ",\"ts\":");
	p = put_millionths(p, stamp > s->start ? stamp - s->start : 0);
	p = PUT(p, ",\"ts_ns\":");
	return put_u64(p, stamp);
}

static char *json_put_result(char *p, const struct ct_class *c, s64 result)
{
	if (c->def.layer != CT_LAYER_USER) {
		p = PUT(p, ",\"result\":");
		return put_s64(p, result);
	}
	if (!result)
		return PUT(p, ",\"result\":\"CUDA_SUCCESS\",\"result_code\":0");
	p = PUT(p, ",\"result\":");
	p = put_s64(p, result);
	p = PUT(p, ",\"result_code\":");
	return put_s64(p, result);
}

static_assert((CT_FIELDS_MAX + 6) * (CT_STRING_SHOWN + 64) + 2 * CT_TEXT_SHOWN < CT_LINE_MAX);

size_t ct_json_record(char *out, const struct ct_session_state *s, const struct ct_viewer *viewer,
		      const struct ct_cpu_record *rec, u32 size, u64 stamp, u32 cpu, u64 event_id)
{
	const struct ct_class *c = ct_class_find(CT_RECORD_CLASS(rec->stamp));
	u8 flags = rec->duration >> 56, depth = rec->duration >> 48;
	bool begin = flags & CT_F_BEGIN, instant = flags & CT_F_INSTANT;
	const struct json_parts *parts;
	struct json_summary sum = {};
	char *p;

	if (!c)
		return 0;
	/* Its contents after its pointer, which the load of them depends on. */
	parts = READ_ONCE(c->attached) ? : json_parts_make(c);
	p = json_put_time(out, s, stamp, event_id);
	p = json_put_part(p, c, parts, begin ? PART_HEAD_BEGIN : PART_HEAD);
	p = begin ? PUT(p, "\"B\",\"pid\":") : instant ? PUT(p, "\"I\",\"pid\":") :
		    PUT(p, "\"E\",\"pid\":");
	p = put_u64(p, json_viewed_pid(viewer, rec->pid));
	p = PUT(p, ",\"tid\":");
	p = put_u64(p, json_viewed_pid(viewer, rec->tid));
	p = PUT(p, ",\"cpu\":");
	p = put_u64(p, cpu);
	if (rec->op) {
		p = PUT(p, ",\"op_id\":");
		p = put_u64(p, rec->op);
		p = PUT(p, ",\"depth\":");
		p = put_u64(p, depth);
	}
	/* The end of an abandoned call is unknown: its stamp says when that was noticed. */
	if (!begin && !instant && !(flags & CT_F_ABANDONED)) {
		p = PUT(p, ",\"duration_us\":");
		p = put_thousandths(p, rec->duration & CT_DURATION_MAX);
	}
	if (!begin && !(flags & CT_F_NO_RESULT))
		p = json_put_result(p, c, json_viewed(viewer, c, CT_ROLE_NONE, rec->result));
	if (flags & CT_F_CONTEXT) {
		p = put_key(p, "context");
		p = put(p, (flags & CT_F_CONTEXT) == CT_F_SOFTIRQ ? "\"softirq\"" :
			(flags & CT_F_CONTEXT) == CT_F_HARDIRQ ? "\"hardirq\"" :
			"\"nmi\"");
	}
	if (!begin && (flags & CT_F_ABANDONED))
		p = PUT(p, ",\"abandoned\":true");
	p = json_put_part(p, c, parts, PART_SYMBOL);
	if (!begin)
		p = json_put_part(p, c, parts, PART_OP);
	p = json_put_details(p, viewer, c, parts, (const u8 *)(rec + 1), &sum);
	if (!begin)
		p = json_put_promoted(p, &sum);
	p = put(p, "}\n");
	return p - out;
}

size_t ct_json_lost(char *out, const struct ct_session_state *s, u32 cpu, u64 count,
		    const char *reason, u64 stamp, u64 event_id)
{
	char *p = json_put_time(out, s, stamp, event_id);

	p = put(p, ",\"layer\":\"kernel\",\"type\":\"tracer\",\"name\":\"lost\",\"phase\":\"I\"");
	p = put_key(p, "cpu");
	p = put_u64(p, cpu);
	p = put_key(p, "count");
	p = put_u64(p, count);
	p = put_key(p, "reason");
	p = put_word(p, reason);
	p = put(p, "}\n");
	return p - out;
}
