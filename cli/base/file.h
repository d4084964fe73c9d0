/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading and writing files. */
#ifndef CT_CLI_FILE_H
#define CT_CLI_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The flags with which a file of a trace is opened: any user may have put it there. */
#define CT_O_FOREIGN	(O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)

/*
 * Each writes all of @size bytes, or returns a negative errno: then a part may have been
 * written.  The first writes at the file's position, the second at @offset.
 */
int ct_write_all(int fd, const void *from, size_t size);
int ct_pwrite_all(int fd, const void *from, size_t size, uint64_t offset);

/*
 * The same for packets of a stream, at least 8 bytes: the first one's magic is written last, in
 * one piece, since a write() that a kill ends may have written any number of pages.  offset: a
 * multiple of 8.
 */
int ct_pwrite_packets(int fd, const void *from, size_t size, uint64_t offset);

/*
 * Where a file of @size bytes first has memory, a multiple of 8; @size: nowhere; 0 also where the file
 * system doesn't tell.
 */
uint64_t ct_file_hole(int fd, uint64_t size);

/* How many bytes in front of the first word of 8 bytes that is not 0; @size: there is none. */
uint64_t ct_zeros(const uint8_t *data, uint64_t size);

/* The first line of a file, without its end; false: the file can't be read, or is empty. */
bool ct_first_line(const char *path, char *line, size_t size);

/**
 * ct_path() - "DIR/NAME" into @path of @size bytes
 *
 * Return: 0, or -ENAMETOOLONG: then @path is not to be used.
 */
int ct_path(char *path, size_t size, const char *dir, const char *name);

#endif
