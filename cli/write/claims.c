// SPDX-License-Identifier: LGPL-2.1-or-later
/* See claims.h. */
#include "write/claims.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/hash.h"
#include "module/uapi/cudatrace.h"
#include "write/registry_line.h"

#define CLAIMS_TRIES	64
#define CLAIMS_BLOCK	(64u << 10)

static uint64_t claims_hash(const char *text, size_t n)
{
	uint64_t h = ct_hash_add(CT_HASH_BEGIN, text, n);

	return h ^ h >> 29;
}

/* "string ID TEXT": the words behind the id are what is looked for. */
static int claims_line(struct ct_claims *s, const char *line, size_t n)
{
	struct ct_claim *of;
	char *rest;
	unsigned long id;

	if (n < 8 || strncmp(line, "string ", 7) || (n > 1 && !memcmp(line + n - 2, " %", 2)))
		return 0;
	id = strtoul(line + 7, &rest, 10);
	/* A line that claims no higher id than the last is void. */
	if (id <= s->last || id >= CT_REGISTRY_STRINGS || *rest != ' ')
		return 0;
	s->last = id;
	rest++;
	of = ct_keyed_put(&s->ids, claims_hash(rest, line + n - rest));
	if (!of)
		return -ENOMEM;
	if (!of->id)
		of->id = id;
	return 0;
}

/* Reads what was appended, up to the last whole line. */
static int claims_read(struct ct_claims *s)
{
	char *block = malloc(CLAIMS_BLOCK + 1);
	ssize_t n;
	int rc = block ? 0 : -ENOMEM;

	while (!rc && (n = pread(s->registry.fd, block, CLAIMS_BLOCK, s->offset)) > 0) {
		char *line = block, *end;

		block[n] = 0;
		while (!rc && (end = memchr(line, '\n', block + n - line))) {
			*end = 0;
			rc = claims_line(s, line, end - line);
			line = end + 1;
		}
		if (line == block)
			break;		/* no line has its end yet, or no line is that long */
		s->offset += line - block;
	}
	free(block);
	return rc;
}

int ct_claims_open(struct ct_claims *s, const char *dir, bool module)
{
	struct ct_error err = { 0 };

	*s = (struct ct_claims)CT_CLAIMS_INIT;
	if (!module)
		return ct_registry_append(&s->registry, dir, &err);
	s->device = open(CT_DEVICE_PATH, O_WRONLY | O_CLOEXEC);
	return s->device < 0 ? -errno : 0;
}

static uint32_t claims_of_module(struct ct_claims *s, const char *text)
{
	struct ct_string ask = { .size = sizeof(ask), .text = (uintptr_t)text, .len = strlen(text) };

	return ioctl(s->device, CT_IOC_STRING, &ask) ? 0 : ask.id;
}

static uint32_t claims_of_registry(struct ct_claims *s, uint64_t hash, const char *text)
{
	for (unsigned int i = 0; i < CLAIMS_TRIES; i++) {
		struct ct_claim *of = claims_read(s) ? NULL : ct_keyed_get(&s->ids, hash);

		if (of)
			return of->id;
		if (s->last + 1 >= CT_REGISTRY_STRINGS || ct_registry_add_string(&s->registry, s->last + 1, text))
			return 0;
	}
	return 0;
}

uint32_t ct_claims_id(struct ct_claims *s, const char *text)
{
	char *line = ct_registry_string_line(0, text);
	struct ct_claim *of;
	uint64_t hash;
	uint32_t id;

	if (!line)
		return 0;
	/* As its words stand in the registry: "string 0 TEXT". */
	line[strcspn(line, "\n")] = 0;
	hash = claims_hash(line + 9, strlen(line + 9));
	free(line);
	of = ct_keyed_get(&s->ids, hash);
	if (of)
		return of->id;
	if (s->device < 0)
		return claims_of_registry(s, hash, text);
	id = claims_of_module(s, text);
	of = id ? ct_keyed_put(&s->ids, hash) : NULL;
	if (of)
		of->id = id;
	return id;
}

void ct_claims_close(struct ct_claims *s)
{
	ct_keyed_free(&s->ids);
	ct_registry_close(&s->registry);
	if (s->device >= 0)
		close(s->device);
	*s = (struct ct_claims)CT_CLAIMS_INIT;
}
