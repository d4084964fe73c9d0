/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The registry of a trace directory: classes, strings and infos that got an id while
 * the trace was made.
 * Read from .registry, or from the copy that metadata carries in its comments.
 */
#ifndef CT_CLI_REGISTRY_H
#define CT_CLI_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/keyed.h"
#include "trace/class.h"

struct ct_info {
	char *key, *text;
};

/* What was the first with a text, of each kind of line: texts of two kinds may have one hash. */
struct ct_registry_text {
	uint64_t hash;
	uint32_t class, string, info;	/* ids, and an index + 1; 0: none */
};

/* A string that is an address of compiled code, and what was found there. */
struct ct_registry_address {
	uint64_t address;		/* id of the string */
	uint32_t function, line;
};

struct ct_registry {
	uint8_t  uuid[16];
	uint64_t start;			/* ns, CLOCK_MONOTONIC */
	uint64_t realtime;		/* ns, CLOCK_REALTIME at start */
	bool head;			/* the three above are known */
	bool damaged;			/* .registry is: this is what metadata has of it */
	/* By id, CT_CLASS_MAX + 1 pointers; ids of one text have the class of the first one. */
	struct ct_class **classes;
	unsigned int classes_count;
	char **strings;			/* by id, NULL: none; [0] is NULL */
	uint32_t *first;		/* by id: the first one with this text, 0: none */
	unsigned int strings_count;
	/* Where several traces are one: the ids of each one's strings begin there; ascending. */
	uint32_t *bases;
	unsigned int bases_count;
	struct ct_info *infos;
	unsigned int infos_count;
	CT_KEYED(struct ct_registry_text) known;
	CT_KEYED(struct ct_registry_address) addresses;
};

/**
 * ct_registry_read() - the registry of directory @dir
 *
 * Lines that are void or damaged are ignored.  Free with ct_registry_free() also after an
 * error.
 *
 * Return: 0; -ENOENT no trace there; -EPROTO another ABI version; -EINVAL no registry;
 * -ENOMEM; what open() and read() return.
 */
int ct_registry_read(struct ct_registry *reg, const char *dir, struct ct_error *err);
void ct_registry_free(struct ct_registry *reg);

/**
 * ct_registry_line() - add one line, without its newline, if it counts
 * @reg: may be zeros: then it has the static classes first
 * @what: file and line for the message
 */
int ct_registry_line(struct ct_registry *reg, char *line, const char *what,
		     struct ct_error *err);

/*
 * For who makes a registry of several: one with the static classes alone, and what is added to it.  A class is
 * the registry's from then on; its id is free.  A string that is there stays.  0 or -ENOMEM.
 */
int ct_registry_init(struct ct_registry *reg);
int ct_registry_put_class(struct ct_registry *reg, struct ct_class *class);
int ct_registry_put_string(struct ct_registry *reg, uint32_t id, const char *text);
int ct_registry_put_info(struct ct_registry *reg, const char *key, const char *text);

/* What is to be added to the ids that the text of string @id names: they are of its own trace. */
static inline uint32_t ct_registry_base(const struct ct_registry *reg, uint32_t id)
{
	unsigned int i = reg->bases_count;

	while (i && reg->bases[i - 1] > id)
		i--;
	return i ? reg->bases[i - 1] : 0;
}

/* The class of @id, or NULL. */
static inline const struct ct_class *ct_registry_class(const struct ct_registry *reg,
						       unsigned int id)
{
	return id <= CT_CLASS_MAX ? reg->classes[id] : NULL;
}

/* What was found at the address that the string @id is; NULL: nothing. */
static inline const struct ct_registry_address *ct_registry_address(const struct ct_registry *reg, uint32_t id)
{
	return reg->addresses.count ? ct_keyed_find((struct ct_keyed *)&reg->addresses.keyed, sizeof(*reg->addresses.list), id, 0, false) : NULL;
}

/* The string of @id, or NULL if it has none (or is 0). */
static inline const char *ct_registry_string(const struct ct_registry *reg, uint32_t id)
{
	return id < reg->strings_count ? reg->strings[id] : NULL;
}

/* The id that stands for all ids with the text of @id. */
static inline uint32_t ct_registry_first(const struct ct_registry *reg, uint32_t id)
{
	return id < reg->strings_count && reg->first[id] ? reg->first[id] : id;
}

/*
 * An info line that is in no file: what is missing of the trace because it is damaged.  It stands
 * in whatever shows the infos of a trace.  0 or -ENOMEM.
 */
#define CT_RANGE_INFO	"capture_range"	/* which part of the time was recorded, if not all */
#define CT_RANGE_BEGUN_INFO	"range_begun"	/* PID NS, of each process in which it did */
#define CT_RANGE_NEVER_INFO	"range_never"	/* of iterations, which the recorder finds */
#define CT_ONLY_INFO	"only"		/* which calls were recorded, if not all */
#define CT_DAMAGED_INFO	"damaged"
int ct_registry_add_damage(struct ct_registry *reg, const char *text);

/* The processes ran already. */
#define CT_ATTACHED_INFO	"attached"

/* "PID NS": a process that was attached to was left at that time of CLOCK_MONOTONIC. */
#define CT_LEFT_INFO	"left"

/* How much of the newest a trace of record --keep was to hold: what is older is no loss. */
#define CT_KEEP_INFO	"keep"
/* "0 UUID PCI MHZ MW NAME": a GPU of the machine that gpu_metrics records are of; and why there are none. */
#define CT_METRICS_INFO	"device_metrics"
#define CT_METRICS_REFUSED_INFO	"metrics_refused"

/* The last text of "info KEY", or NULL. */
const char *ct_registry_info(const struct ct_registry *reg, const char *key);

#endif
