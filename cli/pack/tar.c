// SPDX-License-Identifier: LGPL-2.1-or-later
/* See tar.h.  What is read may have been made by anybody. */
#include "pack/tar.h"

#include <stdio.h>
#include <string.h>

struct tar_head {
	char name[100], mode[8], uid[8], gid[8], size[12], time[12], sum[8], type, link[100], magic[6], version[2];
	char user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct tar_head) == CT_TAR_BLOCK, "the format");

static unsigned int tar_sum(const uint8_t *head)
{
	unsigned int sum = 8 * ' ';

	for (size_t i = 0; i < CT_TAR_BLOCK; i++)
		if (i < offsetof(struct tar_head, sum) || i >= offsetof(struct tar_head, type))
			sum += head[i];
	return sum;
}

/* Octal where it fits, else as GNU tar has it. */
static void tar_put(char *field, size_t size, uint64_t value)
{
	if (value < 1ull << 3 * (size - 1)) {
		for (size_t i = size - 1; i--; value >>= 3)
			field[i] = (char)('0' + (value & 7));
		return;
	}
	for (size_t i = size; i-- > 1; value >>= 8)
		field[i] = (char)(value & 0xff);
	field[0] = (char)0x80;
}

static bool tar_get(const char *field, size_t size, uint64_t *value)
{
	size_t i = 0;

	*value = 0;
	if ((uint8_t)field[0] == 0x80) {
		for (i = 1; i < size; i++) {
			if (*value >> 55)
				return false;
			*value = *value << 8 | (uint8_t)field[i];
		}
		return true;
	}
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
		*value = *value << 3 | (uint64_t)(field[i] - '0');
	return i && (i == size || !field[i] || field[i] == ' ');
}

bool ct_tar_head(uint8_t head[CT_TAR_BLOCK], const char *folder, const char *name, uint64_t size, uint64_t seconds)
{
	struct tar_head h = { .type = '0', .magic = "ustar", .version = { '0', '0' } };
	size_t folder_len = strlen(folder), name_len = strlen(name);

	if (folder_len + 1 + name_len > sizeof(h.name))
		return false;
	memcpy(h.name, folder, folder_len);
	h.name[folder_len] = '/';
	memcpy(h.name + folder_len + 1, name, name_len);
	tar_put(h.mode, sizeof(h.mode), 0644);
	tar_put(h.uid, sizeof(h.uid), 0);
	tar_put(h.gid, sizeof(h.gid), 0);
	tar_put(h.size, sizeof(h.size), size);
	tar_put(h.time, sizeof(h.time), seconds);
	memcpy(head, &h, sizeof(h));
	tar_put(h.sum, 7, tar_sum(head));
	h.sum[6] = '\0';
	h.sum[7] = ' ';
	memcpy(head, &h, sizeof(h));
	return true;
}

int ct_tar_read(const uint8_t head[CT_TAR_BLOCK], char name[101], uint64_t *size)
{
	struct tar_head h;
	uint64_t sum;
	char *slash;

	memcpy(&h, head, sizeof(h));
	if (!h.name[0] && tar_sum(head) == 8 * ' ')
		return 0;
	if (memcmp(h.magic, "ustar", 5) || !tar_get(h.sum, sizeof(h.sum), &sum) || sum != tar_sum(head) ||
	    (h.type != '0' && h.type) || h.prefix[0] || !tar_get(h.size, sizeof(h.size), size))
		return -1;
	memcpy(name, h.name, 100);
	name[100] = '\0';
	slash = strchr(name, '/');
	if (slash)
		memmove(name, slash + 1, strlen(slash + 1) + 1);
	if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		return -1;
	return 1;
}
