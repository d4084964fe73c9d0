// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each ioctl with a struct, with each shape of that struct: sizes that are wrong, shorter, longer;
 * at the end of memory that may be read, across that end, misaligned, in memory that may not be
 * written.  The rest of the fuzz is random and tries each of these only rarely.
 */
#include "fuzz.h"

#define ROW(name)	{ #name, CT_IOC_##name, _IOC_SIZE(CT_IOC_##name) }
static const struct shape {
	const char *name;
	unsigned long cmd;
	uint32_t size;
} shapes[] = {
	ROW(VERSION), ROW(START), ROW(DEFINE), ROW(STRING), ROW(GET_DEFINE), ROW(GET_STRING),
	ROW(GET_PROBE), ROW(GET_SESSION), ROW(FILTER), ROW(GET_FILTER), ROW(PROBE_ADD),
	ROW(PROBE_REMOVE), ROW(PROBE_SET), ROW(TRIGGER), ROW(WATERMARK), ROW(LIMITS),
	ROW(GET_LIMITS), ROW(ADOPT), ROW(CLOCK), ROW(THREADBUF), ROW(THREADBUF_READ),
	ROW(COUNT_ADD), ROW(COUNT_READ),
};

#define PAGES	3
static uint8_t *area;	/* PAGES pages; the one behind them may not be read */

/* The errno of the ioctl with a struct of zeros of this size at p.  What it began is ended. */
static int try(int fd, const struct shape *s, uint8_t *p, uint32_t size)
{
	int err;

	memcpy(p, &size, sizeof(size));
	err = call(fd, s->cmd, p);
	if (s->cmd == CT_IOC_START && !err)
		call(fd, CT_IOC_STOP, NULL);
	if (s->cmd == CT_IOC_CLOCK && !err && size >= s->size) {
		const struct ct_clock_map *map = (void *)p;

		munmap((void *)(uintptr_t)map->address, map->length);
	}
	return err;
}

/* As a user's program has it, whatever the ioctl says of zeros. */
static int zeros(int fd, const struct shape *s, uint8_t *p, uint32_t size)
{
	memset(area, 0, PAGES * PAGE);
	return try(fd, s, p, size);
}

/* The bytes behind the caller's struct are the caller's. */
static int spills(int fd, const struct shape *s, uint32_t size)
{
	uint32_t i;

	memset(area, 0, PAGES * PAGE);
	memset(area + size, 0xa5, PAGE);
	try(fd, s, area, size);
	for (i = 0; i < PAGE; i++)
		if (area[size + i] != 0xa5)
			return 1;
	return 0;
}

static void one_shape(int fd, const struct shape *s)
{
	static const uint32_t wrong[] = { 0, 1, 4, 7, PAGE + 1, 65536, 1u << 31, ~0u };
	uint8_t *end = area + PAGES * PAGE;
	int normal = zeros(fd, s, area, s->size), err, bad = 0;
	uint32_t size;

	for (size = 0; size < sizeof(wrong) / sizeof(wrong[0]); size++)
		bad += zeros(fd, s, area, wrong[size]) != EINVAL;
	ok(!bad, "%s: a size below 8 or above a page is EINVAL (%d are not)", s->name, bad);

	/* Longer: zeros count as absent, anything else is a field that the module does not know. */
	bad = 0;
	for (size = s->size + 1; size <= PAGE; size += size < s->size + 16 ? 1 : 509) {
		bad += zeros(fd, s, area, size) != normal;
		memset(area, 0, PAGES * PAGE);
		area[size - 1] = 1;
		bad += try(fd, s, area, size) != E2BIG;
	}
	ok(!bad, "%s: a longer struct has zeros behind, or is E2BIG (%d are not)", s->name, bad);

	/* Shorter, to the last byte that may be read, and one byte too far. */
	bad = 0;
	for (size = 8; size <= s->size; size++) {
		bad += zeros(fd, s, end - size, size) == EFAULT;
		bad += spills(fd, s, size);
		if (size < s->size)
			continue;
		memset(area, 0, PAGES * PAGE);
		memcpy(end - size + 1, &size, sizeof(size));
		bad += call(fd, s->cmd, end - size + 1) != EFAULT;
	}
	ok(!bad, "%s: nothing behind a struct is read or written (%d)", s->name, bad);

	/* What was done stays done where the answer cannot be stored; so only this one is tried. */
	memset(area, 0, PAGES * PAGE);
	memcpy(area, &s->size, sizeof(s->size));
	mprotect(area, PAGES * PAGE, PROT_READ);
	err = call(fd, s->cmd, area);
	mprotect(area, PAGES * PAGE, PROT_READ | PROT_WRITE);
	if (s->cmd == CT_IOC_START)
		call(fd, CT_IOC_STOP, NULL);
	ok(err == (normal && normal != EBUSY && normal != ENOSPC ? normal : EFAULT),
	   "%s: an answer to memory that is read-only (%d; else %d)", s->name, err, normal);
}

void fuzz_shapes(void)
{
	int fd = device(O_RDWR);
	size_t i;

	area = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	mprotect(area + PAGES * PAGE, PAGE, PROT_NONE);
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		one_shape(fd, &shapes[i]);
	munmap(area, (PAGES + 1) * PAGE);
	close(fd);
}
