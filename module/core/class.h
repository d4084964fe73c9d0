/* SPDX-License-Identifier: GPL-2.0 */
/* Event classes: names, layouts, and what follows from them. */
#ifndef CT_CLASS_H
#define CT_CLASS_H

#include <linux/bits.h>
#include <linux/types.h>
#include "cudatrace.h"

/* The meaning of a field by its name: found once, when the class is defined. */
enum ct_role {
	CT_ROLE_NONE, CT_ROLE_SIZE, CT_ROLE_DIRECTION, CT_ROLE_CMD, CT_ROLE_DEVICE,
	CT_ROLE_HAVE, CT_ROLE_CODE, CT_ROLE_STATUS, CT_ROLE_KERNEL, CT_ROLE_TEXT,
	CT_ROLE_GRID, CT_ROLE_PID, CT_ROLE_BUS, CT_ROLE_COUNT,
};

struct ct_class {
	struct hlist_node by_name;
	const void *attached;	/* see ct_class_attach() */
	u32 id;
	u16 fixed;		/* bytes of the fields, without the bytes of a text */
	bool has_text;		/* the last field is a text */
	u32 holders;		/* of the module's own records: who needs it; 0: a program's */
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
#define CT_MARK_UID	BIT_ULL(48)
#define CT_MARK_WHO	BIT_ULL(49)

/*
 * ct_class_check - check c->def, and set the members of c that follow from it.
 * Returns 0 or -EINVAL.
 */
int ct_class_check(struct ct_class *c);

/* ct_class_set_marks - set the members that mark.c needs, when c has its id. */
void ct_class_set_marks(struct ct_class *c);

/* ct_class_hash - a hash of the definition; ct_class_same - do both define the same class? */
u32 ct_class_hash(const struct ct_define *d);
bool ct_class_same(const struct ct_define *a, const struct ct_define *b);

/* ct_layout_fields - fill def's fields from a layout of cudatrace_events.h. */
void ct_layout_fields(enum ct_layout layout, struct ct_define *def);

/*
 * ct_payload_size - bytes of the payload at p of a record of this class, 0 if it is invalid.
 * @room:	bytes that may be read at p
 */
u32 ct_payload_size(const struct ct_class *c, const void *p, u32 room);

#endif
