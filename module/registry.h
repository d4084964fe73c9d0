/* SPDX-License-Identifier: GPL-2.0 */
/* Event classes and strings that got an id at run time. */
#ifndef CT_REGISTRY_H
#define CT_REGISTRY_H

#include <linux/types.h>
#include "cudatrace.h"

/* What a field's name says of it: worked out once, not at every line. */
enum ct_role {
	CT_ROLE_NONE, CT_ROLE_SIZE, CT_ROLE_DIRECTION, CT_ROLE_CMD, CT_ROLE_DEVICE,
	CT_ROLE_HAVE, CT_ROLE_CODE, CT_ROLE_STATUS, CT_ROLE_KERNEL, CT_ROLE_TEXT,
	CT_ROLE_GRID, CT_ROLE_UID, CT_ROLE_PID,
};

struct ct_text_parts;

struct ct_class {
	struct hlist_node by_name;
	const struct ct_text_parts *parts;	/* of its lines: text.c */
	u32 id;
	u16 fixed;		/* bytes of the fields; a text's bytes not counted */
	bool has_text;		/* the last field is a text */
	bool uid_first;		/* the first field is u32 "uid": stamped by us */
	u8 role[CT_FIELDS_MAX];	/* enum ct_role */
	struct ct_define def;
};

int ct_registry_init(void);
void ct_registry_exit(void);

/* How many classes and strings were ever defined; only grows. */
u32 ct_registry_count(void);

/* ct_class_find - a class by id, or NULL.  Any context; classes are never freed
 * while the module is loaded.
 */
const struct ct_class *ct_class_find(u32 id);

/*
 * ct_class_define - find or make the class with def's name, symbol and fields.
 * @uid:	whose quota it counts against; ignored for @trusted
 * Fills def->id.  May sleep.  Returns 0, -EINVAL, -ENOSPC, -ENOMEM.
 */
int ct_class_define(struct ct_define *def, uid_t uid, bool trusted);

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
