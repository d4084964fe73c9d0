/* SPDX-License-Identifier: GPL-2.0 */
/* The registry of event classes and strings, by id. */
#ifndef CT_REGISTRY_H
#define CT_REGISTRY_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "cudatrace.h"

/* The meaning of a field by its name: found once, when the class is defined. */
enum ct_role {
	CT_ROLE_NONE, CT_ROLE_SIZE, CT_ROLE_DIRECTION, CT_ROLE_CMD, CT_ROLE_DEVICE,
	CT_ROLE_HAVE, CT_ROLE_CODE, CT_ROLE_STATUS, CT_ROLE_KERNEL, CT_ROLE_TEXT,
	CT_ROLE_GRID, CT_ROLE_PID, CT_ROLE_BUS,
};

struct ct_class {
	struct hlist_node by_name;
	const void *attached;	/* see ct_class_attach() */
	u32 id;
	u16 fixed;		/* bytes of the fields, without the bytes of a text */
	bool has_text;		/* the last field is a text */
	/*
	 * For mark.c: whether programs may write marks of this class; the bytes of such a
	 * mark (~0 if they may not, or if it has a text); flags for its first word.
	 */
	bool markable;
	u32 mark_size;
	u64 mark_word;
	u8 role[CT_FIELDS_MAX];	/* enum ct_role */
	struct ct_define def;
};
/* The module overwrites the first field, u32 "uid"; ppid and uid of a process record. */
#define CT_MARK_UID	(1ull << 48)
#define CT_MARK_WHO	(2ull << 48)

int ct_registry_init(void);
void ct_registry_exit(void);

/* ct_registry_count - how many classes and strings were defined so far. */
u32 ct_registry_count(void);

/* Classes by id, in two levels: a page is allocated with its first id. */
#define CT_CLASS_PAGE_IDS	512
extern struct ct_class **ct_class_page[0x10000 / CT_CLASS_PAGE_IDS];

/*
 * ct_class_find - a class by id, or NULL.  Any context.  A class is never freed while the
 * module is loaded.
 */
static __always_inline const struct ct_class *ct_class_find(u32 id)
{
	struct ct_class **page;

	if (unlikely(id > 0xffff))
		return NULL;
	page = READ_ONCE(ct_class_page[id / CT_CLASS_PAGE_IDS]);
	return likely(page) ? READ_ONCE(page[id % CT_CLASS_PAGE_IDS]) : NULL;
}

/*
 * ct_class_define - find or make the class with def's name, symbol and fields.
 * @producer:	the user or container to whose quota a new class is charged; ignored if @trusted
 * @trusted:	no quota applies
 * Fills def->id.  May sleep.  Returns 0; -EINVAL def is invalid; -ENOSPC a quota, or the
 * ids are used up; -ENOMEM.
 */
int ct_class_define(struct ct_define *def, u64 producer, bool trusted);

/*
 * ct_class_attach - attach data to a class, for the layer that reads its records.
 * @data:	from kmalloc(); freed with the class
 * The first data that is attached stays; if there is some already, @data is freed.
 * Returns the data that the class has now.  Any context but NMI.
 */
const void *ct_class_attach(u32 id, const void *data);

/* ct_layout_fields - fill def's fields from a layout of cudatrace_events.h. */
void ct_layout_fields(enum ct_layout layout, struct ct_define *def);

/*
 * ct_string_define - find or make the string of len bytes.  A new one is charged to the
 * quota of this user or container.  May sleep.  Returns its id (> 0), -ENOSPC (quota) or -ENOMEM.
 */
int ct_string_define(const char *text, u32 len, u64 producer);

/* ct_string_find - a string by id (NUL-terminated, never freed), or NULL. */
const char *ct_string_find(u32 id);

/*
 * ct_payload_size - bytes of the payload at p of a record of this class, 0 if it is invalid.
 * @room:	bytes that may be read at p
 */
u32 ct_payload_size(const struct ct_class *c, const void *p, u32 room);

#endif
