/* SPDX-License-Identifier: GPL-2.0 */
/* Event classes and strings that got an id at run time. */
#ifndef CT_REGISTRY_H
#define CT_REGISTRY_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "cudatrace.h"

/* What a field's name says of it: worked out once, not at every line. */
enum ct_role {
	CT_ROLE_NONE, CT_ROLE_SIZE, CT_ROLE_DIRECTION, CT_ROLE_CMD, CT_ROLE_DEVICE,
	CT_ROLE_HAVE, CT_ROLE_CODE, CT_ROLE_STATUS, CT_ROLE_KERNEL, CT_ROLE_TEXT,
	CT_ROLE_GRID, CT_ROLE_UID, CT_ROLE_PID,
};

struct ct_class {
	struct hlist_node by_name;
	const void *attached;	/* see ct_class_attach() */
	u32 id;
	u16 fixed;		/* bytes of the fields; a text's bytes not counted */
	bool has_text;		/* the last field is a text */
	/*
	 * For mark.c: may programs make marks of it, bytes of such a mark (~0 where there
	 * are none, or where it has a text), and what is added to its first word.
	 */
	bool markable;
	u32 mark_size;
	u64 mark_word;
	u8 role[CT_FIELDS_MAX];	/* enum ct_role */
	struct ct_define def;
};
/* Stamped by us: the first field, u32 "uid"; the parent and user of a process. */
#define CT_MARK_UID	(1ull << 48)
#define CT_MARK_WHO	(2ull << 48)

int ct_registry_init(void);
void ct_registry_exit(void);

/* How many classes and strings were ever defined; only grows. */
u32 ct_registry_count(void);

/* Two levels, so that finding one is three loads; a page comes with its first id. */
#define CT_CLASS_PAGE_IDS	512
extern struct ct_class **ct_class_page[0x10000 / CT_CLASS_PAGE_IDS];

/* ct_class_find - a class by id, or NULL.  Any context; classes are never freed
 * while the module is loaded.
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
 * @uid:	whose quota it counts against; ignored for @trusted
 * Fills def->id.  May sleep.  Returns 0, -EINVAL, -ENOSPC, -ENOMEM.
 */
int ct_class_define(struct ct_define *def, uid_t uid, bool trusted);

/*
 * ct_class_attach - keep data with a class for the layer that reads it.
 * @data:	from kmalloc(); freed with the class
 * The first data that is attached stays.  Where there is some already, this data is freed.
 * Returns what the class has now.  Any context but NMI.
 */
const void *ct_class_attach(u32 id, const void *data);

/* Fields of a layout of cudatrace_events.h, for classes that the module makes. */
void ct_layout_fields(enum ct_layout layout, struct ct_define *def);

/* Find or make a string.  Returns its id (> 0), -ENOSPC or -ENOMEM. */
int ct_string_define(const char *text, u32 len, uid_t uid);

/* A string by id (NUL-terminated, never freed) or NULL. */
const char *ct_string_find(u32 id);

/* Bytes of one record of this class whose payload is at p; 0 if it can't be one.
 * @room: bytes that may be read at p.
 */
u32 ct_payload_size(const struct ct_class *c, const void *p, u32 room);

#endif
