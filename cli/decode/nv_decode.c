// SPDX-License-Identifier: LGPL-2.1
/* See nv_decode.h.  Must know no number by itself: numbers are in the tables. */
#include "decode/nv_decode.h"

#include <stddef.h>

#include "decode/tables/nv_tables.h"

/* The first row of @table with @nr, or NULL. */
static const struct nv_name *nv_name_rows(const struct nv_name *table, unsigned int count,
					  uint32_t nr)
{
	unsigned int lo = 0, hi = count;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (table[mid].nr < nr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < count && table[lo].nr == nr ? &table[lo] : NULL;
}

static const char *nv_name_at(const struct nv_name *table, unsigned int count, uint32_t nr,
			      unsigned int version)
{
	const struct nv_name *row = nv_name_rows(table, count, nr);

	if (!row)
		return NULL;
	while (row + 1 < table + count && row[1].nr == nr && (!version || row[1].since <= version))
		row++;
	return row->name;
}

const char *nv_escape_name_at(unsigned int nr, unsigned int version)
{
	return nv_name_at(nv_escape_names, NV_COUNT(nv_escape_names), nr, version);
}

const char *nv_escape_name(unsigned int nr)
{
	return nv_escape_name_at(nr, 0);
}

const char *nv_uvm_ioctl_name_at(uint32_t cmd, unsigned int version)
{
	const struct nv_uvm_layout *l = nv_uvm_layout_find(cmd, version);

	return l ? l->name : NULL;
}

const char *nv_uvm_ioctl_name(uint32_t cmd)
{
	return nv_uvm_ioctl_name_at(cmd, 0);
}

const char *nv_ctrl_name_at(uint32_t cmd, unsigned int version)
{
	return nv_name_at(nv_ctrl_names, nv_ctrl_names_count, cmd, version);
}

const char *nv_ctrl_name(uint32_t cmd)
{
	return nv_ctrl_name_at(cmd, 0);
}

const char *nv_class_name_at(uint32_t hclass, unsigned int version)
{
	return nv_name_at(nv_class_names, nv_class_names_count, hclass, version);
}

const char *nv_class_name(uint32_t hclass)
{
	return nv_class_name_at(hclass, 0);
}

const char *nv_status_name(uint32_t status)
{
	return nv_name_at(nv_status_names, nv_status_names_count, status, 0);
}

const char *cu_result_name(int result)
{
	return nv_name_at(cu_result_names, cu_result_names_count, (uint32_t)result, 0);
}

const char *cudart_error_name(int error)
{
	return nv_name_at(cudart_error_names, cudart_error_names_count, (uint32_t)error, 0);
}
