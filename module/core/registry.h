/* SPDX-License-Identifier: GPL-2.0 */
/* The registry of event classes and strings, by id. */
#ifndef CT_REGISTRY_H
#define CT_REGISTRY_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "core/class.h"

int ct_registry_init(void);
void ct_registry_exit(void);

/*
 * ct_registry_get - keep all classes and strings that programs define from now on.
 * ct_registry_put - drop this; the last one frees them.
 * May sleep.
 */
void ct_registry_get(void);
void ct_registry_put(void);

/*
 * ct_registry_report - store in *defined, now and each time that one is defined, how many classes
 * and strings were defined so far.  NULL: nowhere.  May sleep.
 */
void ct_registry_report(u32 *defined);

/* Classes by id, in two levels: a page is allocated with its first id. */
#define CT_CLASS_PAGE_IDS	512
extern struct ct_class **ct_class_page[0x10000 / CT_CLASS_PAGE_IDS];

/*
 * ct_class_find - a class by id, or NULL.  Any context, with preemption disabled or while the
 * caller knows that somebody keeps the registry: ct_registry_get().
 */
static __always_inline const struct ct_class *ct_class_find(u32 id)
{
	struct ct_class **page;

	if (unlikely(id > 0xffff))
		return NULL;
	page = READ_ONCE(ct_class_page[id / CT_CLASS_PAGE_IDS]);
	return likely(page) ? READ_ONCE(page[id % CT_CLASS_PAGE_IDS]) : NULL;
}

/* ct_class_next - the class with this id or else the next higher one, or NULL. */
const struct ct_class *ct_class_next(u32 id);

/*
 * ct_class_define - find or make the class with def's name, symbol and fields.
 * @producer:	the user or container to whose quota a new class is charged.  0: it is of the
 *		module's own records; no quota applies, and it stays until ct_class_drop(), once
 *		for each time that it was defined
 * Otherwise the caller keeps the registry.  May sleep.
 * Returns its id; -EINVAL def is invalid; -ENOSPC a quota, or the ids are used up; -ENOMEM.
 *
 * ct_class_define_layout - the same for the module's own records, with the fields of a layout.
 */
int ct_class_define(const struct ct_define *def, u64 producer);
int ct_class_define_layout(const char *name, const char *symbol, u8 category, u8 op,
			   enum ct_layout layout);

/*
 * ct_class_drop - a probe needs its class no more, and no handler of it runs.  The class goes with
 * the last ct_registry_put(), because somebody may still have records of it.  May sleep.
 */
void ct_class_drop(u32 id);

/*
 * ct_class_attach - attach data to a class, for the layer that reads its records.
 * @data:	from kmalloc(); freed with the class
 * The first data that is attached stays; if there is some already, @data is freed.
 * Returns the data that the class has now.  Any context but NMI.
 */
const void *ct_class_attach(u32 id, const void *data);

/*
 * ct_string_define - find or make the string of len bytes.  A new one is charged to the quota of
 * this producer.  May sleep; the caller keeps the registry.
 * Returns its id (> 0), -ENOSPC (quota) or -ENOMEM.
 */
int ct_string_define(const char *text, u32 len, u64 producer);

/* ct_string_find - a string by id (NUL-terminated), or NULL.  As ct_class_find(). */
const char *ct_string_find(u32 id);

#endif
