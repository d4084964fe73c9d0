// SPDX-License-Identifier: LGPL-2.1-or-later
/* See source_text.h.  A trace may name any file, so what is read has the name of a source. */
#include "analysis/stacks/source_text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

#define SOURCE_LARGEST	(4u << 20)
#define SOURCE_FILES	512u

struct ct_source_file {
	char *name, *text;		/* text NULL: not shown */
	size_t size;
};

static bool source_named(const char *name)
{
	static const char *const ends[] = { ".py", ".pyx", ".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hpp" };
	const char *end = strrchr(name, '.');

	for (unsigned int i = 0; end && i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(end, ends[i]))
			return *name == '/';
	return false;
}

static void source_read(struct ct_source_file *file, const struct ct_registry *reg)
{
	int fd = source_named(file->name) ? open(file->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= SOURCE_LARGEST &&
	    st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec <= reg->realtime)
		file->text = malloc(st.st_size);
	while (file->text && (size_t)st.st_size > file->size) {
		n = read(fd, file->text + file->size, st.st_size - file->size);
		if (n <= 0)
			break;
		file->size += n;
	}
	close(fd);
}

static const struct ct_source_file *source_file(struct ct_sources *s, const struct ct_registry *reg,
						const struct ct_stack_frame *f)
{
	struct ct_source_file *file;

	for (unsigned int i = 0; i < s->count; i++)
		if (!strncmp(s->files[i].name, f->file, f->file_len) && !s->files[i].name[f->file_len])
			return &s->files[i];
	if (s->count == SOURCE_FILES || !ct_room(s->files, s->count, s->room))
		return NULL;
	file = &s->files[s->count];
	*file = (struct ct_source_file){ .name = strndup(f->file, f->file_len) };
	if (!file->name)
		return NULL;
	s->count++;
	source_read(file, reg);
	return file;
}

const char *ct_source_text(struct ct_sources *s, const struct ct_registry *reg, const struct ct_stack_frame *f, char *buf,
			   size_t size)
{
	const struct ct_source_file *file = f->line ? source_file(s, reg, f) : NULL;
	const char *at, *end;
	size_t used = 0;

	*buf = 0;
	if (!file || !file->text)
		return buf;
	at = file->text;
	end = at + file->size;
	for (uint32_t line = 1; at && line < f->line; line++) {
		at = memchr(at, '\n', end - at);
		at = at ? at + 1 : NULL;
	}
	while (at && at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (; at && at < end && *at != '\n' && used + 1 < size; at++)
		buf[used++] = (unsigned char)*at < ' ' || *at == 0x7f ? ' ' : *at;
	while (used && buf[used - 1] == ' ')
		used--;
	buf[used] = 0;
	return buf;
}

void ct_sources_free(struct ct_sources *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		free(s->files[i].name);
		free(s->files[i].text);
	}
	free(s->files);
	*s = (struct ct_sources){ 0 };
}
