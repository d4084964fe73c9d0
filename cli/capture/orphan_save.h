/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Saving an orphaned session before a new one replaces it. */
#ifndef CT_CLI_ORPHAN_SAVE_H
#define CT_CLI_ORPHAN_SAVE_H

/**
 * ct_orphan_save() - make a trace of the unread records of a killed recorder, if any
 * @dir: the directory of the new recording; the orphaned one becomes DIR-left
 *
 * Prints a line on stderr about what was saved and where.
 */
void ct_orphan_save(const char *dir);

#endif
