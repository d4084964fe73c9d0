// SPDX-License-Identifier: GPL-2.0
/*
 * The registry: assigns ids to event classes and strings.  Definitions come from user space, so
 * each field of them is checked (class.c).
 *
 * An id means the same as long as anybody may use it: a session (with its readers, and thread
 * buffers), an open file that has defined something, a process that has the clock page mapped, as
 * each one with the preload library has.  When the last of them is gone, all that programs have
 * defined is freed, with the quotas; ids then begin anew.  Classes of the module's own records
 * stay as long as a probe needs them, because probes keep their ids.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>
#include "core/quota.h"
#include "core/registry.h"

struct ct_text {
	struct ct_definition d;
	char text[];
};

struct ct_class **ct_class_page[0x10000 / CT_CLASS_PAGE_IDS];
static DEFINE_XARRAY_FLAGS(strings, XA_FLAGS_ACCOUNT);
static DEFINE_HASHTABLE(definitions, 13); /* by content */
static DEFINE_MUTEX(lock);		/* of writers to all of this; readers need no lock */
static u32 next_class = CT_CLASS_DYNAMIC, next_string = 1;
static u32 defined;			/* classes and strings, since the module was loaded */
static u32 *report;			/* ct_registry_report() */
static u32 users;			/* ct_registry_get() */

void ct_registry_report(u32 *to)
{
	mutex_lock(&lock);
	report = to;
	if (report)
		WRITE_ONCE(*report, defined);
	mutex_unlock(&lock);
}

/* Like d, and defined already; or NULL. */
static struct ct_definition *registry_find(const struct ct_definition *d, u32 hash)
{
	struct ct_definition *old;

	hash_for_each_possible(definitions, old, node, hash)
		if (old->kind == d->kind && old->len == d->len &&
		    !memcmp(old->content, d->content, d->len))
			return old;
	return NULL;
}

/* Make it known by its id. */
static int registry_store(struct ct_definition *d)
{
	struct ct_class **page;

	if (d->kind == CT_QUOTA_OF_STRINGS)
		return xa_err(xa_store(&strings, d->id, d, GFP_KERNEL_ACCOUNT));
	page = ct_class_page[d->id / CT_CLASS_PAGE_IDS];
	if (!page) {
		page = kcalloc(CT_CLASS_PAGE_IDS, sizeof(*page), GFP_KERNEL_ACCOUNT);
		if (!page)
			return -ENOMEM;
		/* The zeros before the pointer: pairs with the dependency in ct_class_find(). */
		smp_store_release(&ct_class_page[d->id / CT_CLASS_PAGE_IDS], page);
	}
	ct_class_set_id(container_of(d, struct ct_class, d));
	/* The class before the pointer: pairs with the dependency in ct_class_find(). */
	smp_store_release(&page[d->id % CT_CLASS_PAGE_IDS], container_of(d, struct ct_class, d));
	return 0;
}

static void registry_forget(const struct ct_definition *d)
{
	if (d->kind == CT_QUOTA_OF_STRINGS)
		xa_erase(&strings, d->id);
	else
		WRITE_ONCE(ct_class_page[d->id / CT_CLASS_PAGE_IDS][d->id % CT_CLASS_PAGE_IDS],
			   NULL);
}

static void registry_free(struct ct_definition *d)
{
	if (d->kind == CT_QUOTA_OF_CLASSES)
		kfree(container_of(d, struct ct_class, d)->attached);
	/* It is the first member of both structs. */
	kfree(d);
}

/* A new one, with the next id unless it has one.  The caller holds the lock. */
static int registry_add(struct ct_definition *d, u32 hash)
{
	u32 *next = d->kind == CT_QUOTA_OF_STRINGS ? &next_string : &next_class;
	u32 bytes = d->kind == CT_QUOTA_OF_STRINGS ? d->len : 0;
	bool fixed = d->id;
	int err;

	if (!fixed)
		d->id = *next;
	if (d->kind == CT_QUOTA_OF_CLASSES && d->id > CT_CLASS_MAX)
		return -ENOSPC;
	err = d->producer ? ct_quota_charge(d->kind, d->producer, bytes) : 0;
	if (err)
		return err == -EDQUOT ? -ENOSPC : err;
	err = registry_store(d);
	if (err) {
		if (d->producer)
			ct_quota_uncharge(d->kind, d->producer, bytes);
		return err;
	}
	hash_add(definitions, &d->node, hash);
	if (fixed)
		return 0;
	WRITE_ONCE(*next, *next + 1);
	defined++;
	if (report)
		WRITE_ONCE(*report, defined);
	return 0;
}

/* Find it, or add it.  Takes over the memory of d.  Returns its id or a negative errno. */
static int registry_define(struct ct_definition *d)
{
	static u32 seed;	/* so that a producer cannot choose contents that collide */
	struct ct_definition *old;
	int err = 0, id;
	u32 hash;

	get_random_once(&seed, sizeof(seed));
	hash = jhash(d->content, d->len, seed);
	mutex_lock(&lock);
	old = registry_find(d, hash);
	if (old) {
		id = old->id;
		old->holders += d->holders;
	} else {
		err = registry_add(d, hash);
		id = d->id;
	}
	mutex_unlock(&lock);
	if (old || err)
		registry_free(d);
	return err ? : id;
}

/* ------------------------------------------------------------- classes ----- */

const struct ct_class *ct_class_next(u32 id)
{
	const struct ct_class *c = NULL;

	for (; !c && id < READ_ONCE(next_class); id++)
		c = ct_class_find(id);
	return c;
}

/* A class without its definition. */
static struct ct_class *registry_new_class(u64 producer)
{
	struct ct_class *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);

	if (!c)
		return NULL;
	c->d.kind = CT_QUOTA_OF_CLASSES;
	c->d.content = &c->def.layer;
	c->d.len = sizeof(c->def) - offsetof(struct ct_define, layer);
	c->d.producer = producer;
	c->d.holders = !producer;
	return c;
}

static int registry_define_class(struct ct_class *c)
{
	int err = ct_class_check(c);

	if (!err)
		return registry_define(&c->d);
	registry_free(&c->d);
	return err;
}

int ct_class_define(const struct ct_define *def, u64 producer)
{
	struct ct_class *c = registry_new_class(producer);

	if (!c)
		return -ENOMEM;
	c->def = *def;
	return registry_define_class(c);
}

/* @id: 0: the next one */
static int registry_define_layout(u32 id, const char *name, const char *symbol, u8 layer,
				  u8 category, u8 op, enum ct_layout layout)
{
	struct ct_class *c = registry_new_class(0);

	if (!c)
		return -ENOMEM;
	c->d.id = id;
	c->def.layer = layer;
	c->def.category = category;
	c->def.op = op;
	strscpy(c->def.name, name, sizeof(c->def.name));
	strscpy(c->def.symbol, symbol, sizeof(c->def.symbol));
	ct_layout_fields(layout, &c->def);
	return registry_define_class(c);
}

int ct_class_define_layout(const char *name, const char *symbol, u8 category, u8 op,
			   enum ct_layout layout)
{
	return registry_define_layout(0, name, symbol, CT_LAYER_KERNEL, category, op, layout);
}

void ct_class_drop(u32 id)
{
	mutex_lock(&lock);
	ct_class_page[id / CT_CLASS_PAGE_IDS][id % CT_CLASS_PAGE_IDS]->d.holders--;
	mutex_unlock(&lock);
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

/* ------------------------------------------------------------- strings ----- */

int ct_string_define(const char *text, u32 len, u64 producer)
{
	struct ct_text *t = kzalloc(struct_size(t, text, len + 1), GFP_KERNEL_ACCOUNT);

	if (!t)
		return -ENOMEM;
	memcpy(t->text, text, len);
	t->d.kind = CT_QUOTA_OF_STRINGS;
	t->d.content = t->text;
	t->d.len = len;
	t->d.producer = producer;
	return registry_define(&t->d);
}

const char *ct_string_find(u32 id)
{
	const struct ct_text *t = xa_load(&strings, id);

	return t ? t->text : NULL;
}

/* ------------------------------------------------------------ lifetime ----- */

/* Take out of the registry what nobody holds, or all of it. */
static void registry_remove(struct hlist_head *gone, bool all)
{
	u32 last = CT_CLASS_DYNAMIC - 1;
	struct ct_definition *d;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(definitions, bucket, next, d, node) {
		cond_resched();
		if (d->holders && !all) {
			last = max(last, d->id);
			continue;
		}
		registry_forget(d);
		hash_del(&d->node);
		hlist_add_head(&d->node, gone);
	}
	WRITE_ONCE(next_class, last + 1);
	next_string = 1;
}

static void registry_free_all(struct hlist_head *gone)
{
	struct ct_definition *d;
	struct hlist_node *next;

	if (hlist_empty(gone))
		return;
	/* For those who look an id up that is not theirs, with preemption disabled. */
	synchronize_rcu();
	hlist_for_each_entry_safe(d, next, gone, node) {
		if (d->producer)
			ct_quota_uncharge(d->kind, d->producer,
					  d->kind == CT_QUOTA_OF_STRINGS ? d->len : 0);
		registry_free(d);
		cond_resched();
	}
}

void ct_registry_get(void)
{
	mutex_lock(&lock);
	users++;
	mutex_unlock(&lock);
}

void ct_registry_put(void)
{
	HLIST_HEAD(gone);

	mutex_lock(&lock);
	if (!--users)
		registry_remove(&gone, false);
	mutex_unlock(&lock);
	registry_free_all(&gone);
}

int ct_registry_init(void)
{
	int id = 1;

#define CT_CLASS_ROW(id_, name, layer, cat, op, layout)						\
	if (id > 0)										\
		id = registry_define_layout(id_, #name, #name, CT_LAYER_##layer, CT_CAT_##cat,	\
					    CT_OP_##op, CT_LAYOUT_##layout);
	CT_STATIC_CLASSES(CT_CLASS_ROW)
#undef CT_CLASS_ROW
	if (id > 0)
		return 0;
	ct_registry_exit();
	return id;
}

void ct_registry_exit(void)
{
	HLIST_HEAD(gone);
	unsigned int i;

	registry_remove(&gone, true);
	registry_free_all(&gone);
	for (i = 0; i < ARRAY_SIZE(ct_class_page); i++)
		kfree(ct_class_page[i]);
}
