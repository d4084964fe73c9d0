// SPDX-License-Identifier: GPL-2.0
/*
 * The registry: assigns ids to event classes and strings.  Definitions come from user space, so
 * each field of them is checked.
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
static DEFINE_HASHTABLE(class_names, 12);
static DEFINE_HASHTABLE(string_texts, 12);
static DEFINE_HASHTABLE(quotas, 6);
static DEFINE_MUTEX(lock);		/* of writers to all of this; readers need no lock */
static u32 next_class = CT_CLASS_DYNAMIC;
static u32 users_classes;		/* classes of all users but root */
static u32 users_strings;
static u64 users_bytes;
static u32 next_string = 1;
static u32 defined;			/* classes and strings, since the module was loaded */
static u32 users;			/* ct_registry_get() */

u32 ct_registry_count(void)
{
	return READ_ONCE(defined);
}

/*
 * A class or string was added: tell the session.  Not with the lock held, because the last
 * reference to a session also drops one to the registry.
 */
static void registry_publish_count(void)
{
	struct ct_session_state *s = ct_session_get();

	if (!s)
		return;
	mutex_lock(&lock);
	WRITE_ONCE(s->facts->defines, defined);
	mutex_unlock(&lock);
	ct_session_put(s);
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

/* Store c under id.  The caller holds the lock, or the module is not yet initialised. */
static int registry_class_store(struct ct_class *c, u32 id)
{
	struct ct_class **page = ct_class_page[id / CT_CLASS_PAGE_IDS];

	c->id = id;
	c->def.id = id;
	ct_class_set_marks(c);
	if (!page) {
		page = kcalloc(CT_CLASS_PAGE_IDS, sizeof(*page), GFP_KERNEL_ACCOUNT);
		if (!page)
			return -ENOMEM;
		/* The zeros before the pointer: pairs with the dependency in ct_class_find(). */
		smp_store_release(&ct_class_page[id / CT_CLASS_PAGE_IDS], page);
	}
	/* The class before the pointer: pairs with the dependency in ct_class_find(). */
	smp_store_release(&page[id % CT_CLASS_PAGE_IDS], c);
	hash_add(class_names, &c->by_name, ct_class_hash(&c->def));
	return 0;
}

const struct ct_class *ct_class_next(u32 id)
{
	const struct ct_class *c = NULL;

	for (; !c && id < READ_ONCE(next_class); id++)
		c = ct_class_find(id);
	return c;
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
	c->holders = trusted;
	err = ct_class_check(c);
	if (err)
		goto out_free;
	mutex_lock(&lock);
	hash_for_each_possible(class_names, old, by_name, ct_class_hash(&c->def)) {
		if (ct_class_same(&old->def, &c->def)) {
			def->id = old->id;
			old->holders += trusted;
			goto out_unlock;
		}
	}
	if (!trusted) {
		q = registry_quota_of(producer);
		err = !q ? -ENOMEM : q->classes >= CT_QUOTA_CLASSES ||
		      (producer != CT_PRODUCER_ROOT &&
		       users_classes >= CT_QUOTA_CLASSES_ALL) ? -ENOSPC : 0;
	}
	if (!err && next_class > CT_CLASS_MAX)
		err = -ENOSPC;
	if (err)
		goto out_unlock;
	err = registry_class_store(c, next_class);
	if (err)
		goto out_unlock;
	WRITE_ONCE(next_class, next_class + 1);
	if (q) {
		q->classes++;
		users_classes += producer != CT_PRODUCER_ROOT;
	}
	def->id = c->id;
	WRITE_ONCE(defined, defined + 1);
	mutex_unlock(&lock);
	registry_publish_count();
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
	WRITE_ONCE(defined, defined + 1);
	err = t->id;
	mutex_unlock(&lock);
	registry_publish_count();
	return err;
out:
	mutex_unlock(&lock);
	return err;
}

const char *ct_string_find(u32 id)
{
	const struct ct_text *t = xa_load(&strings, id);

	return t ? t->text : NULL;
}

static int registry_define_static(u32 id, const char *name, u8 layer, u8 category, u8 op,
				  enum ct_layout layout)
{
	struct ct_class *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int err;

	if (!c)
		return -ENOMEM;
	c->holders = 1;
	c->def.layer = layer;
	c->def.category = category;
	c->def.op = op;
	strscpy(c->def.name, name, sizeof(c->def.name));
	strscpy(c->def.symbol, name, sizeof(c->def.symbol));
	ct_layout_fields(layout, &c->def);
	err = ct_class_check(c);
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
	err = err ?: registry_define_static(id, #name, CT_LAYER_##layer, CT_CAT_##cat, \
					    CT_OP_##op, CT_LAYOUT_##layout);
	CT_STATIC_CLASSES(CT_CLASS_ROW)
#undef CT_CLASS_ROW
	if (err)
		ct_registry_exit();
	return err;
}

static void registry_free_class(struct ct_class *c)
{
	kfree(c->attached);
	kfree(c);
}

/* Takes the classes of programs and of removed probes out of the registry, into the list. */
static void registry_remove_classes(struct hlist_head *gone)
{
	struct ct_class **page, *c;
	u32 id, last = CT_CLASS_DYNAMIC - 1;

	for (id = CT_CLASS_DYNAMIC; id < next_class; id++) {
		page = ct_class_page[id / CT_CLASS_PAGE_IDS];
		c = page ? page[id % CT_CLASS_PAGE_IDS] : NULL;
		if (c && c->holders)
			last = id;
		if (!c || c->holders)
			continue;
		WRITE_ONCE(page[id % CT_CLASS_PAGE_IDS], NULL);
		hash_del(&c->by_name);
		hlist_add_head(&c->by_name, gone);
		cond_resched();
	}
	WRITE_ONCE(next_class, last + 1);
	users_classes = 0;
}

static void registry_remove_strings(struct hlist_head *gone)
{
	struct ct_text *t;
	unsigned long id;

	xa_for_each(&strings, id, t) {
		hash_del(&t->by_text);
		hlist_add_head(&t->by_text, gone);
		cond_resched();
	}
	xa_destroy(&strings);
	next_string = 1;
	users_strings = 0;
	users_bytes = 0;
}

/* What is no longer in the registry. */
struct registry_gone {
	struct hlist_head classes, texts;
};

/* Nobody uses what was defined, but for probes: take it out of the registry. */
static void registry_reset(struct registry_gone *gone)
{
	struct hlist_node *next;
	struct ct_quota *q;
	int bucket;

	registry_remove_classes(&gone->classes);
	registry_remove_strings(&gone->texts);
	hash_for_each_safe(quotas, bucket, next, q, node) {
		hash_del(&q->node);
		kfree(q);
	}
}

static void registry_free(struct registry_gone *gone)
{
	struct hlist_node *next;
	struct ct_class *c;
	struct ct_text *t;

	if (hlist_empty(&gone->classes) && hlist_empty(&gone->texts))
		return;
	/* For those who look an id up that is not theirs, with preemption disabled. */
	synchronize_rcu();
	hlist_for_each_entry_safe(c, next, &gone->classes, by_name) {
		registry_free_class(c);
		cond_resched();
	}
	hlist_for_each_entry_safe(t, next, &gone->texts, by_text) {
		kfree(t);
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
	struct registry_gone gone = {};

	mutex_lock(&lock);
	if (!--users)
		registry_reset(&gone);
	mutex_unlock(&lock);
	registry_free(&gone);
}

void ct_class_drop(u32 id)
{
	mutex_lock(&lock);
	ct_class_page[id / CT_CLASS_PAGE_IDS][id % CT_CLASS_PAGE_IDS]->holders--;
	mutex_unlock(&lock);
}

void ct_registry_exit(void)
{
	struct registry_gone gone = {};
	unsigned int i, j;

	registry_reset(&gone);
	registry_free(&gone);
	for (i = 0; i < ARRAY_SIZE(ct_class_page); i++) {
		for (j = 0; ct_class_page[i] && j < CT_CLASS_PAGE_IDS; j++)
			if (ct_class_page[i][j])
				registry_free_class(ct_class_page[i][j]);
		kfree(ct_class_page[i]);
	}
}
