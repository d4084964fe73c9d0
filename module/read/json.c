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
#include "read/json.h"
#include "read/put.h"
#include "nvidia/ioctl.h"
#include "core/registry.h"

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

/* The value of a field of size bytes, as an unsigned number.  Fields are aligned to their size. */
static __always_inline u64 json_load(const void *at, u32 size)
{
	switch (size) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	case 4:
		return *(const u32 *)at;
	}
	return *(const u64 *)at;
}

/* A word of a table, which needs no escapes, in quotes. */
static char *json_put_word(char *p, const char *word)
{
	*p++ = '"';
	p = put(p, word);
	*p++ = '"';
	return p;
}

static char *json_put_direction(char *p, u64 v)
{
	return json_put_word(p, v < CT_DIR_COUNT ? direction_words[v] : "unknown");
}

static char *json_put_device(char *p, u32 dev)
{
	switch (dev) {
	case CT_DEV_NVIDIACTL:
		return json_put_word(p, "nvidiactl");
	case CT_DEV_UVM:
		return json_put_word(p, "nvidia-uvm");
	case CT_DEV_UVM_TOOLS:
		return json_put_word(p, "nvidia-uvm-tools");
	case CT_DEV_MODESET:
		return json_put_word(p, "nvidia-modeset");
	case CT_DEV_UNKNOWN:
		return json_put_word(p, "unknown");
	}
	return put(put_u64(put(p, "\"nvidia"), dev), "\"");
}

/* A text field: its length, then its bytes. */
static char *json_put_text(char *p, const void *at)
{
	return put_text(p, at + sizeof(u16), *(const u16 *)at, CT_TEXT_SHOWN);
}

static char *json_put_field(char *p, const struct ct_viewer *viewer, enum ct_type type,
			    enum ct_role role, const void *at, u64 v)
{
	const struct ct_class *c;

	if (role == CT_ROLE_PID)
		return put_u64(p, json_viewed_pid(viewer, v));
	switch (type) {
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
		return put_string(p, ct_string_find(v) ?: "");
	case CT_TYPE_class:
		c = ct_class_find(v);
		return put_string(p, c ? c->def.name : "");
	case CT_TYPE_dir:
		return json_put_direction(p, v);
	case CT_TYPE_dev:
		return json_put_device(p, v);
	case CT_TYPE_text:
		return json_put_text(p, at);
	default:
		return put_u64(p, v);
	}
}

/* The values of a payload by their meaning, of which the line repeats some outside "details". */
struct json_values {
	u32 have; /* BIT(role) */
	u64 of[CT_ROLE_COUNT]; /* of a text: its address; of a grid: the product */
};

/*
 * The parts of a line that are the same for all records of a class.  They are formatted once, so
 * that most of a line is a few copies.  Part i is text[at[i]] up to text[at[i + 1]].
 */
enum {
	PART_HEAD, /* layer, type and name */
	PART_TAIL, /* symbol, op, and the first field's key */
	PART_BEGIN_HEAD, /* the same of a call's begin */
	PART_BEGIN_TAIL,
	PART_FIELD, /* the key of each further field */
	PARTS = PART_FIELD + CT_FIELDS_MAX - 1,
};

struct json_parts {
	u16 at[PARTS + 1];
	char text[];
};

static char *json_put_part(char *p, const struct ct_class *c, u32 part)
{
	const struct ct_define *def = &c->def;
	u32 field = part < PART_FIELD ? 0 : part - PART_FIELD + 1;

	switch (part) {
	case PART_HEAD:
	case PART_BEGIN_HEAD:
		p = json_put_word(put(p, ",\"layer\":"), layer_words[def->layer]);
		p = json_put_word(put(p, ",\"type\":"),
				  part == PART_HEAD ? category_words[def->category] :
				  def->layer == CT_LAYER_USER ? "userspace" : "kernel");
		p = put_string(put(p, ",\"name\":"), def->name);
		return put(p, ",\"phase\":");
	case PART_TAIL:
	case PART_BEGIN_TAIL:
		if (strcmp(def->name, def->symbol))
			p = put_string(put(p, ",\"symbol\":"), def->symbol);
		if (part == PART_TAIL && def->op)
			p = json_put_word(put(p, ",\"op\":"), op_words[def->op]);
	}
	if (field >= def->fields_count)
		return p;
	/* A field's name is a C identifier. */
	p = put(put(p, field ? ",\"" : ",\"details\":{\""), def->fields[field].name);
	return put(p, "\":");
}

/* Make the parts of a class in room, and attach a copy to it, if there is memory for one. */
static noinline const struct json_parts *json_make_parts(struct json_parts *room,
							 const struct ct_class *c)
{
	const struct json_parts *parts;
	char *p = room->text;
	u32 i;

	for (i = 0; i < PARTS; i++) {
		room->at[i] = p - room->text;
		p = json_put_part(p, c, i);
	}
	room->at[PARTS] = p - room->text;
	/* json_copy_part() reads up to 7 bytes behind the end. */
	parts = kmemdup(room, p + sizeof(u64) - (char *)room, GFP_KERNEL_ACCOUNT);
	return parts ? ct_class_attach(c->d.id, parts) : room;
}

static __always_inline char *json_copy_part(char *p, const struct json_parts *parts, u32 part)
{
	return put_words(p, parts->text + parts->at[part], parts->at[part + 1] - parts->at[part]);
}

/* Behind the first field's key: the values, and the keys of the other fields. */
static char *json_put_details(char *p, const struct ct_viewer *viewer, const struct ct_class *c,
			      const struct json_parts *parts, const void *at,
			      struct json_values *values)
{
	u32 i;

	for (i = 0; i < c->def.fields_count; i++) {
		const struct ct_field *f = &c->def.fields[i];
		enum ct_role role = c->role[i];
		u64 v = json_viewed(viewer, c, role, json_load(at, ct_type_size[f->type]));

		if (i)
			p = json_copy_part(p, parts, PART_FIELD + i - 1);
		p = json_put_field(p, viewer, f->type, role, at, v);
		if (role == CT_ROLE_GRID && values->have & BIT(role))
			v *= values->of[role];
		values->of[role] = role == CT_ROLE_TEXT ? (unsigned long)at : v;
		values->have |= BIT(role);
		at += ct_type_size[f->type];
	}
	return i ? put(p, "}") : p;
}

static char *json_put_ioctl(char *p, const u64 *of)
{
	u32 cmd = of[CT_ROLE_CMD], have = of[CT_ROLE_HAVE];
	const char *name = ct_nv_ioctl_name(of[CT_ROLE_DEVICE], cmd);

	p = put_u64(put(p, ",\"cmd\":"), cmd);
	p = put_u64(put(p, ",\"decoded\":{\"dir\":"), _IOC_DIR(cmd));
	p = put_u64(put(p, ",\"type\":"), _IOC_TYPE(cmd));
	p = put_u64(put(p, ",\"nr\":"), _IOC_NR(cmd));
	p = put_u64(put(p, ",\"size\":"), _IOC_SIZE(cmd));
	p = put(p, "}");
	if (name)
		p = json_put_word(put(p, ",\"escape\":"), name);
	if (have & (CT_IOCTL_CONTROL | CT_IOCTL_CLASS)) {
		p = put(p, have & CT_IOCTL_CONTROL ? ",\"control\":" : ",\"class\":");
		p = put_hex(p, of[CT_ROLE_CODE]);
	}
	if (have & CT_IOCTL_STATUS) {
		p = put(p, ",\"status\":");
		p = of[CT_ROLE_STATUS] ? put_hex(p, of[CT_ROLE_STATUS]) : put(p, "\"NV_OK\"");
	}
	return json_put_device(put(p, ",\"device\":"), of[CT_ROLE_DEVICE]);
}

/* Keys by which users select lines, besides the type.  B lines do not have them. */
static char *json_put_promoted(char *p, const struct json_values *values)
{
	const u64 *of = values->of;
	const char *kernel;

	if (values->have & BIT(CT_ROLE_SIZE))
		p = put_u64(put(p, ",\"size\":"), of[CT_ROLE_SIZE]);
	if (values->have & BIT(CT_ROLE_DIRECTION))
		p = json_put_direction(put(p, ",\"direction\":"), of[CT_ROLE_DIRECTION]);
	if (values->have & BIT(CT_ROLE_GRID))
		p = put_u64(put(p, ",\"threads\":"), of[CT_ROLE_GRID]);
	kernel = values->have & BIT(CT_ROLE_KERNEL) ? ct_string_find(of[CT_ROLE_KERNEL]) : NULL;
	if (kernel)
		p = put_string(put(p, ",\"kernel\":"), kernel);
	if (values->have & BIT(CT_ROLE_TEXT))
		p = json_put_text(put(p, ",\"text\":"), (void *)(unsigned long)of[CT_ROLE_TEXT]);
	return values->have & BIT(CT_ROLE_CMD) ? json_put_ioctl(p, of) : p;
}

/* ------------------------------------------------------------- lines ----- */

static char *json_put_time(char *p, const struct ct_session_state *s, u64 stamp, u64 event_id)
{
	p = put_u64(put(p, "{\"event_id\":"), event_id);
	p = put_millionths(put(p, ",\"ts\":"), stamp > s->start ? stamp - s->start : 0);
	return put_u64(put(p, ",\"ts_ns\":"), stamp);
}

static char *json_put_result(char *p, const struct ct_class *c, s64 result)
{
	bool user = c->def.layer == CT_LAYER_USER;

	p = put(p, ",\"result\":");
	p = user && !result ? put(p, "\"CUDA_SUCCESS\"") : put_s64(p, result);
	return user ? put_s64(put(p, ",\"result_code\":"), result) : p;
}

static_assert((CT_FIELDS_MAX + 6) * (CT_STRING_SHOWN + 64) + 2 * CT_TEXT_SHOWN < CT_LINE_MAX);

size_t ct_json_record(char *out, const struct ct_session_state *s, const struct ct_viewer *viewer,
		      const struct ct_cpu_record *rec, u64 stamp, u32 cpu, u64 event_id)
{
	const struct ct_class *c = ct_class_find(CT_RECORD_CLASS(rec->stamp));
	u8 flags = rec->duration >> 56, depth = rec->duration >> 48;
	bool begin = flags & CT_F_BEGIN, instant = flags & CT_F_INSTANT;
	struct json_values values = {};
	const struct json_parts *parts;
	char *p;

	if (!c)
		return 0;
	/* Their contents after their pointer, which the load of them depends on. */
	parts = READ_ONCE(c->attached);
	if (unlikely(!parts))
		parts = json_make_parts((void *)PTR_ALIGN(out + CT_LINE_MAX - sizeof(u64),
							  sizeof(u64)), c);
	p = json_put_time(out, s, stamp, event_id);
	p = json_copy_part(p, parts, begin ? PART_BEGIN_HEAD : PART_HEAD);
	p = begin ? put(p, "\"B\",\"pid\":") : instant ? put(p, "\"I\",\"pid\":") :
		    put(p, "\"E\",\"pid\":");
	p = put_u64(p, json_viewed_pid(viewer, rec->pid));
	p = put_u64(put(p, ",\"tid\":"), json_viewed_pid(viewer, rec->tid));
	p = put_u64(put(p, ",\"cpu\":"), cpu);
	if (rec->op) {
		p = put_u64(put(p, ",\"op_id\":"), rec->op);
		p = put_u64(put(p, ",\"depth\":"), depth);
	}
	/* The end of an abandoned call is unknown: its stamp says when that was noticed. */
	if (!begin && !instant && !(flags & CT_F_ABANDONED))
		p = put_thousandths(put(p, ",\"duration_us\":"), rec->duration & CT_DURATION_MAX);
	if (!begin && !(flags & CT_F_NO_RESULT))
		p = json_put_result(p, c, json_viewed(viewer, c, CT_ROLE_NONE, rec->result));
	if (flags & CT_F_CONTEXT)
		p = put(p, (flags & CT_F_CONTEXT) == CT_F_SOFTIRQ ? ",\"context\":\"softirq\"" :
			(flags & CT_F_CONTEXT) == CT_F_HARDIRQ ? ",\"context\":\"hardirq\"" :
			",\"context\":\"nmi\"");
	if (!begin && (flags & CT_F_ABANDONED))
		p = put(p, ",\"abandoned\":true");
	p = json_copy_part(p, parts, begin ? PART_BEGIN_TAIL : PART_TAIL);
	p = json_put_details(p, viewer, c, parts, rec + 1, &values);
	if (!begin)
		p = json_put_promoted(p, &values);
	return put(p, "}\n") - out;
}

size_t ct_json_lost(char *out, const struct ct_session_state *s, u32 cpu, u64 count,
		    const char *reason, u64 stamp, u64 event_id)
{
	char *p = json_put_time(out, s, stamp, event_id);

	p = put(p, ",\"layer\":\"kernel\",\"type\":\"tracer\",\"name\":\"lost\",\"phase\":\"I\"");
	p += sprintf(p, ",\"cpu\":%u,\"count\":%llu,\"reason\":\"%s\"}\n", cpu, count, reason);
	return p - out;
}
