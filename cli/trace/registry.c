// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading a registry.  The lines were written by the traced processes: must
 * never trust an id, a length or a byte of them.
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
#include "trace/directory.h"

#define FILE_MAX	(512ull << 20)
#define INFOS_MAX	4096
#define WORDS_MAX	8

/* Only the static classes; 0 or -ENOMEM. */
static int registry_init(struct ct_registry *reg)
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
	if (reg->classes)
		for (unsigned int i = 0; i <= CT_CLASS_MAX; i++)
			free(reg->classes[i]);
	free(reg->classes);
	for (unsigned int i = 0; i < reg->strings_count; i++)
		free(reg->strings[i]);
	free(reg->strings);
	for (unsigned int i = 0; i < reg->infos_count; i++) {
		free(reg->infos[i].key);
		free(reg->infos[i].text);
	}
	free(reg->infos);
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

static const char *registry_parse_head(struct ct_registry *reg, char **word, unsigned int words,
				       uint64_t *abi)
{
	if (words != 5 || registry_number(word[1], 10, abi))
		return "not 'cudatrace ABI uuid= start= realtime='";
	if (*abi != CT_ABI_VERSION)
		return NULL;
	if (strncmp(word[2], "uuid=", 5) || strlen(word[2]) != 5 + 32)
		return "no uuid of 32 hexadecimal digits";
	for (unsigned int i = 0; i < 16; i++) {
		int high = registry_hex(word[2][5 + 2 * i]), low = registry_hex(word[2][6 + 2 * i]);

		if (high < 0 || low < 0)
			return "no uuid of 32 hexadecimal digits";
		reg->uuid[i] = high << 4 | low;
	}
	if (strncmp(word[3], "start=", 6) || registry_number(word[3] + 6, 10, &reg->start) ||
	    strncmp(word[4], "realtime=", 9) || registry_number(word[4] + 9, 10, &reg->realtime))
		return "no start= or realtime=";
	return NULL;
}

static const char *registry_parse_class(struct ct_registry *reg, char **word, unsigned int words)
{
	int layer, category, op;
	struct ct_class *class;
	const char *why = NULL;
	uint64_t id;

	if (words != 8 || registry_number(word[1], 10, &id) || id > CT_CLASS_MAX)
		return "not 'class ID LAYER CATEGORY OP FIELDS NAME SYMBOL'";
	layer = ct_word_index(ct_layer_word, CT_LAYER_COUNT, word[2]);
	category = ct_word_index(ct_category_word, CT_CAT_COUNT, word[3]);
	op = strcmp(word[4], "-") ? ct_word_index(ct_op_word, CT_OP_COUNT, word[4]) : CT_OP_NONE;
	if (layer < 0 || category < 0 || op < 0)
		return "an unknown layer, category or op";
	if (registry_unescape(word[6]) || registry_unescape(word[7]))
		return "a '%' without two hexadecimal digits";
	class = ct_class_new(id, layer, category, op, word[5], word[6], word[7], &why);
	if (!class)
		return why;
	if (reg->classes[id]) {
		why = ct_class_equal(reg->classes[id], class) ? NULL :
		      "a second class of this id";
		free(class);
		return why;
	}
	reg->classes[id] = class;
	reg->classes_count++;
	return NULL;
}

static const char *registry_parse_string(struct ct_registry *reg, char **word, unsigned int words)
{
	uint64_t id;

	if (words < 2 || words > 3 || registry_number(word[1], 10, &id) || !id ||
	    id >= CT_REGISTRY_STRINGS)
		return "not 'string ID TEXT'";
	if (words == 3 && registry_unescape(word[2]))
		return "a '%' without two hexadecimal digits";
	if (id >= reg->strings_count) {
		unsigned int count = reg->strings_count ? reg->strings_count : 64;
		char **strings;

		while (count <= id)
			count *= 2;
		strings = realloc(reg->strings, count * sizeof(*strings));
		if (!strings)
			return "no memory";
		memset(strings + reg->strings_count, 0,
		       (count - reg->strings_count) * sizeof(*strings));
		reg->strings = strings;
		reg->strings_count = count;
	}
	if (reg->strings[id])
		return strcmp(reg->strings[id], words == 3 ? word[2] : "") ?
			"a second string of this id" : NULL;
	reg->strings[id] = strdup(words == 3 ? word[2] : "");
	return reg->strings[id] ? NULL : "no memory";
}

static const char *registry_parse_info(struct ct_registry *reg, char **word, unsigned int words)
{
	struct ct_info *infos;

	if (words < 2 || words > 3 || reg->infos_count >= INFOS_MAX)
		return "not 'info KEY TEXT', or too many of them";
	if (registry_unescape(word[1]) || (words == 3 && registry_unescape(word[2])))
		return "a '%' without two hexadecimal digits";
	infos = realloc(reg->infos, (reg->infos_count + 1) * sizeof(*infos));
	if (!infos)
		return "no memory";
	reg->infos = infos;
	infos += reg->infos_count;
	infos->key = strdup(word[1]);
	infos->text = strdup(words == 3 ? word[2] : "");
	reg->infos_count++;
	return infos->key && infos->text ? NULL : "no memory";
}

int ct_registry_line(struct ct_registry *reg, char *line, const char *what,
		     struct ct_error *err)
{
	char *word[WORDS_MAX], *save = NULL;
	uint64_t abi = CT_ABI_VERSION;
	unsigned int words = 0;
	const char *why = NULL;

	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (words == WORDS_MAX)
			return ct_fail(err, EINVAL, "%s: too many words; the registry is damaged",
				       what);
		word[words++] = w;
	}
	if (!words)
		return 0;
	if (!strcmp(word[0], "cudatrace"))
		why = registry_parse_head(reg, word, words, &abi);
	else if (!strcmp(word[0], "class"))
		why = registry_parse_class(reg, word, words);
	else if (!strcmp(word[0], "string"))
		why = registry_parse_string(reg, word, words);
	else if (!strcmp(word[0], "info"))
		why = registry_parse_info(reg, word, words);
	/* A line of another kind is one that a later version added. */

	if (abi != CT_ABI_VERSION)
		return ct_fail(err, EPROTO,
			       "%s: a trace of format %llu, this cudatrace reads format %u; use the %s version",
			       what, (unsigned long long)abi, CT_ABI_VERSION,
			       abi > CT_ABI_VERSION ? "newer" : "older");
	if (why)
		return ct_fail(err, EINVAL, "%s: %s; the registry is damaged", what, why);
	return 0;
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

int ct_registry_read(struct ct_registry *reg, const char *dir, struct ct_error *err)
{
	const char *name = CT_REGISTRY_FILE, *mark = "";
	bool head = false;
	unsigned int at = 0;
	char *text, *line;
	size_t size = 0;
	struct stat st;
	int rc;

	rc = registry_init(reg);
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
	if (rc == -ENOENT) {
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

	for (line = text; line < text + size;) {
		char *end = memchr(line, '\n', text + size - line);
		char what[320];

		at++;
		if (!end) /* the last one: its writer was killed while writing it */
			break;
		*end = 0;
		if (!strncmp(line, mark, strlen(mark))) {
			line += strlen(mark);
			snprintf(what, sizeof(what), "%.200s/%s line %u", dir, name, at);
			if (!head && strncmp(line, "cudatrace ", 10)) {
				rc = ct_fail(err, EINVAL,
					     "%s: does not begin with 'cudatrace'; this is not a trace of cudatrace",
					     what);
				goto out;
			}
			head = true;
			rc = ct_registry_line(reg, line, what, err);
			if (rc)
				goto out;
		}
		line = end + 1;
	}
	if (!head)
		rc = ct_fail(err, EINVAL,
			     "%s/%s: not written by cudatrace; open this trace with the tool that made it",
			     dir, name);
out:
	free(text);
	return rc;
}
