// SPDX-License-Identifier: GPL-2.0
/*
 * The registry: assigns ids to event classes and strings.  An id is never reused, so that
 * an id in a ring means the same as long as the module is loaded.  Definitions come from
 * user space, so each field of them is checked.
 */
#include <linux/ctype.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/xarray.h>
#include "core/producer.h"
#include "core/registry.h"
#include "core/session.h"

struct ct_text {
	struct hlist_node by_text;
	u32 id;
	u32 len;
	char text[];
};

/* How much of the registry a producer has used. */
struct ct_quota {
	struct hlist_node node;
	u64 producer;
	u32 classes;
	u32 strings;
	u32 bytes;		/* of the strings */
};

struct ct_class **ct_class_page[0x10000 / CT_CLASS_PAGE_IDS];
static DEFINE_XARRAY_FLAGS(strings, XA_FLAGS_ACCOUNT);
static DEFINE_HASHTABLE(class_names, 10);
static DEFINE_HASHTABLE(string_texts, 12);
static DEFINE_HASHTABLE(quotas, 6);
static DEFINE_MUTEX(lock);		/* of writers to all of this; readers need no lock */
static u32 next_class = CT_CLASS_DYNAMIC;
static u32 users_classes;		/* classes of all users but root */
static u32 users_strings;
static u64 users_bytes;
static u32 next_string = 1;
static u32 defined;			/* classes and strings */

u32 ct_registry_count(void)
{
	return READ_ONCE(defined);
}

/* Count a new class or string, also in the facts page. */
static void registry_count_define(void)
{
	struct ct_session_state *s;

	WRITE_ONCE(defined, defined + 1);
	s = ct_session_get();
	if (s) {
		WRITE_ONCE(s->facts->defines, defined);
		ct_session_put(s);
	}
}

static struct ct_quota *registry_quota_of(u64 producer)
{
	struct ct_quota *q;

	hash_for_each_possible(quotas, q, node, producer)
		if (q->producer == producer)
			return q;
	q = kzalloc(sizeof(*q), GFP_KERNEL_ACCOUNT);
	if (q) {
		q->producer = producer;
		hash_add(quotas, &q->node, producer);
	}
	return q;
}

static const u8 type_size[] = {
#define CT_TYPE_ROW(type, ctype, bytes)	[CT_TYPE_##type] = bytes,
	CT_TYPES(CT_TYPE_ROW)
#undef CT_TYPE_ROW
};

/* Is it a printable word that ends with a NUL inside its array of room bytes? */
static bool registry_word_ok(const char *s, size_t room)
{
	size_t i, len = strnlen(s, room);

	if (!len || len == room)
		return false;
	for (i = 0; i < len; i++)
		if (s[i] < 0x21 || s[i] > 0x7e)
			return false;
	return true;
}

/*
 * Is the name of field i a C identifier, and different from those of the fields before it?
 * Readers of CTF demand both; otherwise one producer's class would make the whole trace
 * unreadable.
 */
static bool registry_field_name_ok(const struct ct_define *def, u32 i)
{
	const char *s = def->fields[i].name;
	size_t len = strnlen(s, sizeof(def->fields[i].name));
	u32 k;

	if (!len || len == sizeof(def->fields[i].name) || (s[0] >= '0' && s[0] <= '9'))
		return false;
	while (len--)
		if (!isascii(s[len]) || !(isalnum(s[len]) || s[len] == '_'))
			return false;
	for (k = 0; k < i; k++)
		if (!strcmp(def->fields[k].name, s))
			return false;
	return true;
}

static enum ct_role registry_role_of(const struct ct_define *def, const struct ct_field *f)
{
	static const struct {
		const char *name;
		enum ct_role role;
	} names[] = {
		{ "size", CT_ROLE_SIZE }, { "direction", CT_ROLE_DIRECTION },
		{ "cmd", CT_ROLE_CMD }, { "device", CT_ROLE_DEVICE },
		{ "have", CT_ROLE_HAVE }, { "code", CT_ROLE_CODE },
		{ "status", CT_ROLE_STATUS }, { "kernel", CT_ROLE_KERNEL },
		{ "ppid", CT_ROLE_PID }, { "owner_pid", CT_ROLE_PID },
		{ "va", CT_ROLE_BUS },
	};
	unsigned int i;

	/* These fields of sched events are tids: the other thread, and the waker. */
	if (def->layer == CT_LAYER_KERNEL && def->category == CT_CAT_SWITCH &&
	    (!strcmp(f->name, "other") || !strcmp(f->name, "waker")))
		return CT_ROLE_PID;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(f->name, names[i].name))
			return names[i].role;
	if (f->type == CT_TYPE_text)
		return CT_ROLE_TEXT;
	return !strncmp(f->name, "grid_", 5) || !strncmp(f->name, "block_", 6) ?
	       CT_ROLE_GRID : CT_ROLE_NONE;
}

/* Check c->def, and set the other members of c that follow from it. */
static int registry_class_check(struct ct_class *c)
{
	const struct ct_define *def = &c->def;
	u32 i, size, offset = 0;

	if (!registry_word_ok(def->name, sizeof(def->name)) ||
	    !registry_word_ok(def->symbol, sizeof(def->symbol)) || def->layer >= CT_LAYER_COUNT ||
	    def->category >= CT_CAT_COUNT || def->op >= CT_OP_COUNT ||
	    def->fields_count > CT_FIELDS_MAX)
		return -EINVAL;
	for (i = 0; i < def->fields_count; i++) {
		const struct ct_field *f = &def->fields[i];

		if (!registry_field_name_ok(def, i) || f->type >= CT_TYPE_COUNT)
			return -EINVAL;
		if (f->type == CT_TYPE_text && i + 1 != def->fields_count)
			return -EINVAL;
		size = type_size[f->type];
		if (offset % size)
			return -EINVAL;
		offset += size;
		c->role[i] = registry_role_of(def, f);
		c->has_text = f->type == CT_TYPE_text;
	}
	if (!c->has_text && offset % 8)
		return -EINVAL;
	c->fixed = offset;
	return 0;
}

static u32 registry_class_hash(const struct ct_define *d)
{
	return full_name_hash(NULL, d->symbol, strlen(d->symbol));
}

static bool registry_class_same(const struct ct_define *a, const struct ct_define *b)
{
	u32 i;

	if (strcmp(a->name, b->name) || strcmp(a->symbol, b->symbol) ||
	    a->layer != b->layer || a->category != b->category ||
	    a->op != b->op || a->fields_count != b->fields_count)
		return false;
	for (i = 0; i < a->fields_count; i++)
		if (a->fields[i].type != b->fields[i].type ||
		    strcmp(a->fields[i].name, b->fields[i].name))
			return false;
	return true;
}

/* Set the members that mark.c needs on its fast path. */
static void registry_class_set_marks(struct ct_class *c)
{
	const struct ct_define *def = &c->def;

	if (def->fields_count && !strcmp(def->fields[0].name, "uid") &&
	    type_size[def->fields[0].type] == 4)
		c->mark_word = CT_MARK_UID;
	if (c->id == CT_CLASS_process)
		c->mark_word = CT_MARK_WHO;
	c->markable = def->layer == CT_LAYER_USER && c->id != CT_CLASS_clock &&
		      c->id != CT_CLASS_call_open;
	c->mark_size = c->markable && !c->has_text ?
		       sizeof(struct ct_mark_head) + c->fixed : ~0;
}

/* Store c under id.  The caller holds the lock, or the module is not yet initialised. */
static int registry_class_store(struct ct_class *c, u32 id)
{
	struct ct_class **page = ct_class_page[id / CT_CLASS_PAGE_IDS];

	c->id = id;
	c->def.id = id;
	registry_class_set_marks(c);
	if (!page) {
		page = kcalloc(CT_CLASS_PAGE_IDS, sizeof(*page), GFP_KERNEL_ACCOUNT);
		if (!page)
			return -ENOMEM;
		/* The zeros before the pointer: pairs with the dependency in ct_class_find(). */
		smp_store_release(&ct_class_page[id / CT_CLASS_PAGE_IDS], page);
	}
	/* The class before the pointer: pairs with the dependency in ct_class_find(). */
	smp_store_release(&page[id % CT_CLASS_PAGE_IDS], c);
	hash_add(class_names, &c->by_name, registry_class_hash(&c->def));
	return 0;
}

int ct_class_define(struct ct_define *def, u64 producer, bool trusted)
{
	struct ct_class *c, *old;
	struct ct_quota *q = NULL;
	int err;

	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		return -ENOMEM;
	c->def = *def;
	err = registry_class_check(c);
	if (err)
		goto out_free;
	mutex_lock(&lock);
	hash_for_each_possible(class_names, old, by_name, registry_class_hash(&c->def)) {
		if (registry_class_same(&old->def, &c->def)) {
			def->id = old->id;
			goto out_unlock;
		}
	}
	if (!trusted) {
		q = registry_quota_of(producer);
		err = !q ? -ENOMEM : q->classes >= CT_QUOTA_CLASSES ||
		      (producer != CT_PRODUCER_ROOT && users_classes >= CT_QUOTA_CLASSES_ALL) ? -ENOSPC : 0;
	}
	if (!err && next_class > CT_CLASS_MAX)
		err = -ENOSPC;
	if (err)
		goto out_unlock;
	err = registry_class_store(c, next_class);
	if (err)
		goto out_unlock;
	next_class++;
	if (q) {
		q->classes++;
		users_classes += producer != CT_PRODUCER_ROOT;
	}
	def->id = c->id;
	registry_count_define();
	mutex_unlock(&lock);
	return 0;
out_unlock:
	mutex_unlock(&lock);
out_free:
	kfree(c);
	return err;
}

const void *ct_class_attach(u32 id, const void *data)
{
	struct ct_class *c = ct_class_page[id / CT_CLASS_PAGE_IDS][id % CT_CLASS_PAGE_IDS];
	/* The data before the pointer: cmpxchg() orders them. */
	const void *first = cmpxchg(&c->attached, NULL, data);

	if (!first)
		return data;
	kfree(data);
	return first;
}

static const struct {
	const struct ct_field *fields;
	u8 count;
} layouts[] = {
#define CT_FIELD_ROW(t, n)	{ .name = #n, .type = CT_TYPE_##t },
#define CT_LAYOUT_ROW(l)						\
	[CT_LAYOUT_##l] = {						\
		(const struct ct_field[]){ CT_FIELDS_##l(CT_FIELD_ROW) {} }, \
		sizeof((const struct ct_field[])			\
			{ CT_FIELDS_##l(CT_FIELD_ROW) {} }) /		\
			sizeof(struct ct_field) - 1			\
	},
	CT_LAYOUTS(CT_LAYOUT_ROW)
#undef CT_LAYOUT_ROW
#undef CT_FIELD_ROW
};

void ct_layout_fields(enum ct_layout layout, struct ct_define *def)
{
	def->fields_count = layouts[layout].count;
	memcpy(def->fields, layouts[layout].fields,
	       def->fields_count * sizeof(struct ct_field));
}

int ct_string_define(const char *text, u32 len, u64 producer)
{
	static u32 seed;	/* so that a producer cannot choose texts that collide */
	struct ct_quota *q;
	struct ct_text *t;
	u32 hash;
	int err;

	get_random_once(&seed, sizeof(seed));
	hash = jhash(text, len, seed);
	mutex_lock(&lock);
	hash_for_each_possible(string_texts, t, by_text, hash) {
		if (t->len == len && !memcmp(t->text, text, len)) {
			err = t->id;
			goto out;
		}
	}
	q = registry_quota_of(producer);
	err = !q ? -ENOMEM : q->strings >= CT_QUOTA_STRINGS ||
	      q->bytes + len > CT_QUOTA_STRING_BYTES ||
	      (producer != CT_PRODUCER_ROOT && (users_strings >= CT_QUOTA_STRINGS_ALL ||
		       users_bytes + len > CT_QUOTA_STRING_BYTES_ALL)) ? -ENOSPC : 0;
	if (err)
		goto out;
	err = -ENOMEM;
	t = kzalloc(struct_size(t, text, len + 1), GFP_KERNEL_ACCOUNT);
	if (!t)
		goto out;
	memcpy(t->text, text, len);
	t->len = len;
	t->id = next_string;
	err = xa_err(xa_store(&strings, t->id, t, GFP_KERNEL_ACCOUNT));
	if (err) {
		kfree(t);
		goto out;
	}
	hash_add(string_texts, &t->by_text, hash);
	next_string++;
	q->strings++;
	q->bytes += len;
	if (producer != CT_PRODUCER_ROOT) {
		users_strings++;
		users_bytes += len;
	}
	registry_count_define();
	err = t->id;
out:
	mutex_unlock(&lock);
	return err;
}

const char *ct_string_find(u32 id)
{
	const struct ct_text *t = xa_load(&strings, id);

	return t ? t->text : NULL;
}

u32 ct_payload_size(const struct ct_class *c, const void *p, u32 room)
{
	u32 size = c->fixed;
	u16 len;

	if (size > room)
		return 0;
	if (c->has_text) {
		memcpy(&len, p + size - sizeof(len), sizeof(len));
		size += len;
	}
	return size > room || size % 8 ? 0 : size;
}

static int registry_define_static(u32 id, const char *name, u8 layer, u8 category, u8 op,
				  enum ct_layout layout)
{
	struct ct_class *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int err;

	if (!c)
		return -ENOMEM;
	c->def.layer = layer;
	c->def.category = category;
	c->def.op = op;
	strscpy(c->def.name, name, sizeof(c->def.name));
	strscpy(c->def.symbol, name, sizeof(c->def.symbol));
	ct_layout_fields(layout, &c->def);
	err = registry_class_check(c);
	if (!err)
		err = registry_class_store(c, id);
	if (err)
		kfree(c);
	return err;
}

int ct_registry_init(void)
{
	int err = 0;

#define CT_CLASS_ROW(id, name, layer, cat, op, layout) \
	if (!err) \
		err = registry_define_static(id, #name, CT_LAYER_##layer, CT_CAT_##cat, \
					     CT_OP_##op, CT_LAYOUT_##layout);
	CT_STATIC_CLASSES(CT_CLASS_ROW)
#undef CT_CLASS_ROW
	if (err)
		ct_registry_exit();
	return err;
}

void ct_registry_exit(void)
{
	struct hlist_node *next;
	struct ct_quota *q;
	unsigned int i, j;
	unsigned long id;
	int bucket;
	void *p;

	for (i = 0; i < ARRAY_SIZE(ct_class_page); i++) {
		for (j = 0; ct_class_page[i] && j < CT_CLASS_PAGE_IDS; j++) {
			if (ct_class_page[i][j])
				kfree(ct_class_page[i][j]->attached);
			kfree(ct_class_page[i][j]);
		}
		kfree(ct_class_page[i]);
	}
	xa_for_each(&strings, id, p)
		kfree(p);
	xa_destroy(&strings);
	hash_for_each_safe(quotas, bucket, next, q, node)
		kfree(q);
}
