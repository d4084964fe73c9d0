/* SPDX-License-Identifier: GPL-2.0 */
/* Event classes: names, layouts, and what follows from them. */
#ifndef CT_CLASS_H
#define CT_CLASS_H

#include <linux/bits.h>
#include <linux/types.h>
#include "core/quota.h"
#include "cudatrace.h"

/* The meaning of a field by its name: found once, when the class is defined. */
enum ct_role {
	CT_ROLE_NONE, CT_ROLE_SIZE, CT_ROLE_DIRECTION, CT_ROLE_CMD, CT_ROLE_DEVICE,
	CT_ROLE_HAVE, CT_ROLE_CODE, CT_ROLE_STATUS, CT_ROLE_KERNEL, CT_ROLE_TEXT,
	CT_ROLE_GRID, CT_ROLE_PID, CT_ROLE_BUS, CT_ROLE_COUNT,
};

/* What classes and strings have in common: see registry.c. */
struct ct_definition {
	struct hlist_node node;	/* by content */
	const void *content;	/* what makes it differ from others of its kind: len bytes */
	u64 producer;		/* to whose quota it is charged; 0: the module's own */
	u32 len;
	u32 id;
	enum ct_quota kind;	/* CT_QUOTA_OF_CLASSES or CT_QUOTA_OF_STRINGS */
	u32 holders;		/* of the module's own records: who needs it; 0: a program's */
};

struct ct_class {
	struct ct_definition d;	/* first */
	/*
	 * For mark.c: the bytes of a mark of this class (~0 if programs may not write any, or if
	 * it has a text); flags for its first word.
	 */
	u32 mark_size;
	u16 fixed;		/* bytes of the fields, without the bytes of a text */
	bool has_text;		/* the last field is a text */
	bool markable;		/* programs may write marks of it */
	u64 mark_word;
	const void *attached;	/* see ct_class_attach() */
	u8 role[CT_FIELDS_MAX];	/* enum ct_role */
	struct ct_define def;
};

/* Bytes of a field of this type; of a text, of its length. */
extern const u8 ct_type_size[];

/* The module overwrites the first field, u32 "uid"; ppid and uid of a process record. */
#define CT_MARK_UID	BIT_ULL(48)
#define CT_MARK_WHO	BIT_ULL(49)

/*
 * ct_class_check - check c->def, and set the members of c that follow from it.  Bytes that mean
 * nothing are set to 0, so equal classes have the same bytes.  Returns 0 or -EINVAL.
 */
int ct_class_check(struct ct_class *c);

/* ct_class_set_id - set the members that follow from c->d.id. */
void ct_class_set_id(struct ct_class *c);

/* ct_layout_fields - fill def's fields from a layout of cudatrace_events.h. */
void ct_layout_fields(enum ct_layout layout, struct ct_define *def);

/*
 * ct_payload_size - bytes of the payload at p of a record of this class, 0 if it is invalid.
 * @room:	bytes that may be read at p
 */
u32 ct_payload_size(const struct ct_class *c, const void *p, u32 room);

#endif
