// SPDX-License-Identifier: LGPL-2.1-or-later
/* See resolve.h. */
#include "capture/native/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "capture/native/dwarf.h"
#include "capture/native/elf_symbols.h"
#include "trace/names.h"
#include "trace/registry.h"
#include "write/claims.h"

struct resolve_address {
	uint32_t id;
	uint64_t address;
	const char *object;		/* with the build's id behind a tab */
};

struct resolve {
	struct ct_claims claims;
	struct resolve_address *list;
	unsigned int count, room;
};

/* "native<tab>0xOFFSET<tab><tab>OBJECT<tab>BUILDID" */
static int resolve_add(struct resolve *r, uint32_t id, const char *text)
{
	char *end;
	uint64_t address;

	if (strncmp(text, "native\t0x", 9))
		return 0;
	address = strtoull(text + 9, &end, 16);
	if (strncmp(end, "\t\t", 2) || !strchr(end + 2, '\t'))
		return 0;
	if (!ct_room(r->list, r->count, r->room))
		return -1;
	r->list[r->count++] = (struct resolve_address){ id, address, end + 2 };
	return 0;
}

static int resolve_compare(const void *a, const void *b)
{
	const struct resolve_address *x = a, *y = b;
	int order = strcmp(x->object, y->object);

	return order ? order : x->id < y->id ? -1 : 1;
}

/* A name without what would end it. */
static const char *resolve_clean(char *buf, size_t size, const char *text)
{
	snprintf(buf, size, "%s", text);
	for (char *c = buf; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	return buf;
}

static void resolve_one(struct resolve *r, const struct resolve_address *a, const char *object, const struct ct_symbols *symbols,
			struct ct_dwarf *dwarf)
{
	/* The address is that of the instruction behind the call. */
	uint64_t begin = 0;
	const char *name = ct_symbols_find(symbols, a->address - 1, &begin), *file = NULL, *dir = NULL;
	char text[CT_STRING_MAX], clean[1500], shown[1500], path[1000], source[1000] = "", *plain;
	int line = 0;
	uint32_t id;

	if (!name)
		return;
	/* "memcpy@GLIBC_2.14" */
	snprintf(clean, sizeof(clean), "%.*s", (int)strcspn(name, "@"), name);
	plain = ct_demangle(clean);
	if (dwarf && ct_dwarf_line(dwarf, a->address - 1, begin, &file, &dir, &line)) {
		snprintf(path, sizeof(path), "%s%s%s", dir ? dir : "", dir ? "/" : "", file);
		resolve_clean(source, sizeof(source), path);
	} else
		line = 0;
	snprintf(text, sizeof(text), "native\t%s\t%s\t%s", resolve_clean(shown, sizeof(shown), plain ? plain : clean), source, object);
	free(plain);
	id = ct_claims_id(&r->claims, text);
	if (!id)
		return;
	snprintf(text, sizeof(text), "native\t=%u %u %d", a->id, id, line);
	ct_claims_id(&r->claims, text);
}

/* All addresses of one object. */
static void resolve_object(struct resolve *r, const struct resolve_address *list, unsigned int count)
{
	const char *id = strchr(list->object, '\t') + 1;
	char *object = strndup(list->object, id - 1 - list->object);
	struct ct_symbols symbols;
	struct ct_dwarf *dwarf;

	if (object && *object == '/' && !ct_symbols_open(&symbols, object, id)) {
		dwarf = ct_dwarf_open(object);
		for (unsigned int i = 0; i < count; i++)
			resolve_one(r, &list[i], object, &symbols, dwarf);
		ct_dwarf_close(dwarf);
		ct_symbols_close(&symbols);
	}
	free(object);
}

void ct_native_resolve(const char *dir, bool module)
{
	struct resolve r = { .claims = CT_CLAIMS_INIT };
	struct ct_registry reg = { 0 };
	struct ct_error err = { 0 };
	bool good = !ct_registry_read(&reg, dir, &err);

	for (uint32_t id = 1; good && id < reg.strings_count; id++)
		if (reg.strings[id] && reg.first[id] == id && !ct_registry_address(&reg, id))
			good = !resolve_add(&r, id, reg.strings[id]);
	if (good && r.count && !ct_claims_open(&r.claims, dir, module)) {
		qsort(r.list, r.count, sizeof(*r.list), resolve_compare);
		for (unsigned int from = 0, to; from < r.count; from = to) {
			for (to = from + 1; to < r.count && !strcmp(r.list[to].object, r.list[from].object); to++)
				;
			resolve_object(&r, &r.list[from], to - from);
		}
		ct_claims_close(&r.claims);
	}
	free(r.list);
	ct_registry_free(&reg);
}
