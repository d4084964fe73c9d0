/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pages that traced programs keep in a trace directory: the calls in flight of a
 * thread (struct ct_inflight_page), and lost records that no packet of a thread counts
 * (struct ct_lost_page).
 */
#ifndef CT_CLI_PAGES_H
#define CT_CLI_PAGES_H

#include <stdint.h>

#include "module/uapi/cudatrace.h"

/**
 * ct_inflight_page_read() - the valid entries of @dir/@name
 *
 * Return: number of entries copied to @page->entry (page->depth is set to it), or
 * a negative errno if it is no such page.
 */
int ct_inflight_page_read(const char *dir, const char *name, struct ct_inflight_page *page);

/* The records that page @dir/@name counts as lost; 0 if it is no such page. */
uint64_t ct_lost_read(const char *dir, const char *name);

#endif
