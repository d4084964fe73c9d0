// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading a registry, by the rules in module/uapi/cudatrace.h, section 3.  The lines were
 * written by the traced processes: must never trust an id, a length or a byte of them, and
 * never refuse a trace because of one.
 */
#include "trace/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "trace/directory.h"

#define FILE_MAX	(512ull << 20)
#define INFOS_MAX	4096
#define WORDS_MAX	8

int ct_registry_init(struct ct_registry *reg)
{
	struct ct_class *class;

	memset(reg, 0, sizeof(*reg));
	reg->classes = calloc(CT_CLASS_MAX + 1, sizeof(*reg->classes));
	if (!reg->classes)
		return -ENOMEM;
	for (unsigned int i = 0; (class = ct_class_static(i)); i++) {
		reg->classes[class->id] = class;
		reg->classes_count++;
	}
	return 0;
}

void ct_registry_free(struct ct_registry *reg)
{
	/* Two ids may have one class. */
	for (unsigned int i = 0; reg->classes && i <= CT_CLASS_MAX; i++)
		if (reg->classes[i] && reg->classes[i]->id != i)
			reg->classes[i] = NULL;
	for (unsigned int i = 0; reg->classes && i <= CT_CLASS_MAX; i++)
		free(reg->classes[i]);
	free(reg->classes);
	ct_keyed_free(&reg->known);
	for (unsigned int i = 0; i < reg->strings_count; i++)
		free(reg->strings[i]);
	free(reg->strings);
	free(reg->first);
	for (unsigned int i = 0; i < reg->infos_count; i++) {
		free(reg->infos[i].key);
		free(reg->infos[i].text);
	}
	free(reg->infos);
	ct_keyed_free(&reg->addresses);
	free(reg->bases);
	memset(reg, 0, sizeof(*reg));
}

static int registry_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* In place.  A C string can't hold a NUL: it becomes '?'. */
static int registry_unescape(char *word)
{
	char *out = word;

	for (; *word; word++) {
		if (*word == '%') {
			int high = registry_hex(word[1]),
			    low = high < 0 ? -1 : registry_hex(word[2]);

			if (low < 0)
				return -EINVAL;
			*out = high << 4 | low;
			if (!*out)
				*out = '?';
			out++;
			word += 2;
		} else {
			*out++ = *word;
		}
	}
	*out = 0;
	return 0;
}

static int registry_number(const char *word, int base, uint64_t *value)
{
	char *end;

	if (!((*word >= '0' && *word <= '9') || (base == 16 && registry_hex(*word) >= 0)))
		return -EINVAL;
	errno = 0;
	*value = strtoull(word, &end, base);
	return errno || *end ? -EINVAL : 0;
}

/* The first head counts.  Sets *abi; of another version nothing else is known. */
static void registry_parse_head(struct ct_registry *reg, char **word, unsigned int words,
				uint64_t *abi)
{
	uint64_t version, start, realtime;
	uint8_t uuid[16];

	if (reg->head || words < 2 || registry_number(word[1], 10, &version))
		return;
	*abi = version;
	if (version != CT_ABI_VERSION || words != 5 || strncmp(word[2], "uuid=", 5) ||
	    strlen(word[2]) != 5 + 32)
		return;
	for (unsigned int i = 0; i < 16; i++) {
		int high = registry_hex(word[2][5 + 2 * i]), low = registry_hex(word[2][6 + 2 * i]);

		if (high < 0 || low < 0)
			return;
		uuid[i] = high << 4 | low;
	}
	if (strncmp(word[3], "start=", 6) || registry_number(word[3] + 6, 10, &start) ||
	    strncmp(word[4], "realtime=", 9) || registry_number(word[4] + 9, 10, &realtime))
		return;
	memcpy(reg->uuid, uuid, sizeof(uuid));
	reg->start = start;
	reg->realtime = realtime;
	reg->head = true;
}

/* What is known of this text; NULL: no memory. */
static struct ct_registry_text *registry_known(struct ct_registry *reg, const char *key, const char *text)
{
	uint64_t hash = ct_hash_add(CT_HASH_BEGIN, key, strlen(key) + 1);

	return ct_keyed_put(&reg->known, ct_hash_add(hash, text, strlen(text)));
}

int ct_registry_put_class(struct ct_registry *reg, struct ct_class *class)
{
	struct ct_registry_text *first = registry_known(reg, class->name, class->symbol);

	if (!first) {
		free(class);
		return -ENOMEM;
	}
	if (!first->class) {
		first->class = class->id;
		reg->classes[class->id] = class;
	} else if (ct_class_same(reg->classes[first->class], class)) {
		reg->classes[class->id] = reg->classes[first->class];
		free(class);
	} else {
		reg->classes[class->id] = class;
	}
	reg->classes_count++;
	return 0;
}

static int registry_parse_class(struct ct_registry *reg, char **word, unsigned int words)
{
	int layer, category, op;
	struct ct_class *class;
	const char *why = NULL;
	uint64_t id;

	if (words != 8 || registry_number(word[1], 10, &id) || id > CT_CLASS_MAX ||
	    reg->classes[id])
		return 0;
	layer = ct_word_index(ct_layer_word, CT_LAYER_COUNT, word[2]);
	category = ct_word_index(ct_category_word, CT_CAT_COUNT, word[3]);
	op = strcmp(word[4], "-") ? ct_word_index(ct_op_word, CT_OP_COUNT, word[4]) : CT_OP_NONE;
	if (layer < 0 || category < 0 || op < 0 || registry_unescape(word[6]) ||
	    registry_unescape(word[7]))
		return 0;
	class = ct_class_new(id, layer, category, op, word[5], word[6], word[7], &why);
	if (!class)
		return strcmp(why, "no memory") ? 0 : -ENOMEM;
	return ct_registry_put_class(reg, class);
}

/* Room for strings up to @id. */
static int registry_grow_strings(struct ct_registry *reg, unsigned int id)
{
	unsigned int old = reg->strings_count, count = old ? old : 64;
	uint32_t *first;
	char **strings;

	while (count <= id)
		count *= 2;
	strings = realloc(reg->strings, count * sizeof(*strings));
	if (strings)
		reg->strings = strings;
	first = realloc(reg->first, count * sizeof(*first));
	if (first)
		reg->first = first;
	if (!strings || !first)
		return -ENOMEM;
	memset(strings + old, 0, (count - old) * sizeof(*strings));
	memset(first + old, 0, (count - old) * sizeof(*first));
	reg->strings_count = count;
	return 0;
}

/* "native<tab>=ADDRESS FUNCTION LINE" */
static int registry_address(struct ct_registry *reg, const char *text, uint32_t base)
{
	struct ct_registry_address *address;
	unsigned int id, function, line;
	char end;

	if (sscanf(text, "native\t=%u %u %u%c", &id, &function, &line, &end) != 3)
		return 0;
	address = ct_keyed_put(&reg->addresses, (uint64_t)id + base);
	if (!address)
		return -ENOMEM;
	address->function = function + base;
	address->line = line;
	return 0;
}

int ct_registry_put_string(struct ct_registry *reg, uint32_t id, const char *text)
{
	struct ct_registry_text *first;

	if (id >= reg->strings_count && registry_grow_strings(reg, id))
		return -ENOMEM;
	if (reg->strings[id])
		return 0;
	first = registry_known(reg, "", text);
	if (!first)
		return -ENOMEM;
	if (!first->string)
		first->string = id;
	reg->strings[id] = strdup(text);
	if (!reg->strings[id])
		return -ENOMEM;
	reg->first[id] = strcmp(reg->strings[first->string], text) ? id : first->string;
	return strncmp(text, "native\t=", 8) ? 0 : registry_address(reg, text, ct_registry_base(reg, id));
}

static int registry_parse_string(struct ct_registry *reg, char **word, unsigned int words)
{
	uint64_t id;

	if (words < 2 || words > 3 || registry_number(word[1], 10, &id) || !id ||
	    id >= CT_REGISTRY_STRINGS || (words == 3 && registry_unescape(word[2])))
		return 0;
	return ct_registry_put_string(reg, id, words == 3 ? word[2] : "");
}

int ct_registry_put_info(struct ct_registry *reg, const char *key, const char *text)
{
	struct ct_registry_text *first;
	struct ct_info *infos;

	/* Processes that begin at the same time may write the same. */
	first = registry_known(reg, key, text);
	if (!first)
		return -ENOMEM;
	if (first->info && !strcmp(reg->infos[first->info - 1].key, key) &&
	    !strcmp(reg->infos[first->info - 1].text, text))
		return 0;
	infos = realloc(reg->infos, (reg->infos_count + 1) * sizeof(*infos));
	if (!infos)
		return -ENOMEM;
	reg->infos = infos;
	infos += reg->infos_count;
	infos->key = strdup(key);
	infos->text = strdup(text);
	first->info = ++reg->infos_count;
	return infos->key && infos->text ? 0 : -ENOMEM;
}

static int registry_parse_info(struct ct_registry *reg, char **word, unsigned int words)
{
	if (words < 2 || words > 3 || reg->infos_count >= INFOS_MAX ||
	    registry_unescape(word[1]) || (words == 3 && registry_unescape(word[2])))
		return 0;
	return ct_registry_put_info(reg, word[1], words == 3 ? word[2] : "");
}

int ct_registry_add_damage(struct ct_registry *reg, const char *text)
{
	struct ct_info *infos = realloc(reg->infos, (reg->infos_count + 1) * sizeof(*infos));

	if (!infos)
		return -ENOMEM;
	reg->infos = infos;
	infos += reg->infos_count;
	infos->key = strdup(CT_DAMAGED_INFO);
	infos->text = strdup(text);
	reg->infos_count++;
	return infos->key && infos->text ? 0 : -ENOMEM;
}

int ct_registry_line(struct ct_registry *reg, char *line, const char *what,
		     struct ct_error *err)
{
	uint64_t abi = CT_ABI_VERSION;
	char *word[WORDS_MAX], *next = line;
	unsigned int words = 0;
	int rc = 0;

	if (!reg->classes && ct_registry_init(reg))
		return ct_fail(err, ENOMEM, "no memory");
	if (strlen(line) >= CT_REGISTRY_LINE)
		return 0;
	while (next && words < WORDS_MAX)
		word[words++] = strsep(&next, " ");
	/* A word too many, or a line that was cut. */
	if (next || !strcmp(word[words - 1], "%"))
		return 0;
	if (!strcmp(word[0], "cudatrace"))
		registry_parse_head(reg, word, words, &abi);
	else if (!strcmp(word[0], "class"))
		rc = registry_parse_class(reg, word, words);
	else if (!strcmp(word[0], "string"))
		rc = registry_parse_string(reg, word, words);
	else if (!strcmp(word[0], "info"))
		rc = registry_parse_info(reg, word, words);
	/* A line of another kind is one that a later version added. */

	if (abi != CT_ABI_VERSION)
		return ct_fail(err, EPROTO,
			       "%s: a trace of format %llu, this cudatrace reads format %u; use the %s version",
			       what, (unsigned long long)abi, CT_ABI_VERSION,
			       abi > CT_ABI_VERSION ? "newer" : "older");
	return rc ? ct_fail(err, -rc, "%s: no memory", what) : 0;
}

const char *ct_registry_info(const struct ct_registry *reg, const char *key)
{
	for (unsigned int i = reg->infos_count; i-- > 0;)
		if (!strcmp(reg->infos[i].key, key))
			return reg->infos[i].text;
	return NULL;
}

/* The whole of @dir/@name and a NUL; the caller frees *@text. */
static int registry_read_file(const char *dir, const char *name, char **text, size_t *size,
			      struct ct_error *err)
{
	char path[4096];
	struct stat st;
	size_t got = 0;
	int fd, rc;

	*text = NULL;
	if (ct_path(path, sizeof(path), dir, name))
		return ct_fail(err, ENAMETOOLONG, "%.100s...: the path is too long", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return ct_fail(err, errno, "%s: %s", path, strerror(errno));
	rc = -EINVAL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > FILE_MAX) {
		ct_fail(err, EINVAL, "%s: not a regular file of a sensible size", path);
		goto out;
	}
	rc = -ENOMEM;
	*text = malloc(st.st_size + 1);
	if (!*text) {
		ct_fail(err, ENOMEM, "%s: no memory", path);
		goto out;
	}
	while (got < (size_t)st.st_size) {
		ssize_t n = read(fd, *text + got, st.st_size - got);

		if (n < 0) {
			rc = ct_fail(err, errno, "%s: %s", path, strerror(errno));
			goto out;
		}
		if (!n)
			break;
		got += n;
	}
	(*text)[got] = 0;
	*size = got;
	rc = 0;
out:
	close(fd);
	return rc;
}

/* As ct_registry_read(), from .registry or, with @copy, from its copy in metadata. */
static int registry_read_from(struct ct_registry *reg, const char *dir, bool copy, struct ct_error *err)
{
	const char *name = copy ? CT_METADATA_FILE : CT_REGISTRY_FILE, *mark = copy ? "@ " : "";
	unsigned int at = 0;
	char *text, *line, *end;
	size_t size = 0;
	struct stat st;
	int rc;

	rc = ct_registry_init(reg);
	if (rc)
		return ct_fail(err, ENOMEM, "no memory");
	if (stat(dir, &st))
		return ct_fail(err, errno, "%s: %s; name the directory of a trace", dir,
			       strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return ct_fail(err, ENOTDIR,
			       "%s: not a directory; name the one that 'cudatrace record -o' made",
			       dir);
	rc = registry_read_file(dir, name, &text, &size, err);
	if (rc == -ENOENT && !copy) {
		name = CT_METADATA_FILE;
		mark = "@ ";
		free(text);
		rc = registry_read_file(dir, name, &text, &size, err);
		if (rc == -ENOENT)
			rc = ct_fail(err, ENOENT,
				     "%s: not a cudatrace trace (it has neither %s nor %s); name the directory that 'cudatrace record -o' made",
				     dir, CT_REGISTRY_FILE, CT_METADATA_FILE);
	}
	if (rc)
		goto out;

	if (!*mark && strncmp(text, "cudatrace", 9)) {
		rc = ct_fail(err, EINVAL,
			     "%s/%s line 1: does not begin with 'cudatrace'; this is not a trace of cudatrace",
			     dir, name);
		goto out;
	}
	for (line = text; line < text + size && !rc; line = end + 1) {
		char what[320];

		at++;
		end = memchr(line, '\n', text + size - line);
		if (!end) /* its writer was killed while writing it, or still writes */
			break;
		*end = 0;
		snprintf(what, sizeof(what), "%.200s/%s line %u", dir, name, at);
		if (!strncmp(line, mark, strlen(mark)))
			rc = ct_registry_line(reg, line + strlen(mark), what, err);
	}
	if (!rc && !reg->head)
		rc = ct_fail(err, EINVAL,
			     *mark ? "%s/%s: not written by cudatrace; open this trace with the tool that made it" :
				     "%s/%s: no line 'cudatrace ABI uuid= start= realtime='; the registry is damaged",
			     dir, name);
out:
	free(text);
	return rc;
}

int ct_registry_read(struct ct_registry *reg, const char *dir, struct ct_error *err)
{
	int rc = registry_read_from(reg, dir, false, err);

	if (rc != -EINVAL)
		return rc;
	/* It is damaged: a finished trace has all of it once more. */
	ct_registry_free(reg);
	if (!registry_read_from(reg, dir, true, NULL)) {
		reg->damaged = true;
		return 0;
	}
	ct_registry_free(reg);
	return registry_read_from(reg, dir, false, err);
}
