/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the trace says about the backend and about libcuda. */
#ifndef CT_ANNOUNCE_H
#define CT_ANNOUNCE_H

/* Writes it, unless that was done since libcuda was found last. */
void ct_announce(void);

#endif
