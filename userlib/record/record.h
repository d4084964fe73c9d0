/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a record: into the thread's packet, or by the backend where there is no memory
 * for packets.  The thread is attached.
 */
#ifndef CT_RECORD_H
#define CT_RECORD_H

#include "record/packet.h"

void ct_record(struct ct_thread *t, const struct ct_record *e);

/*
 * A call begins, and the backend wants to know of it.  True if it has recorded that, and has
 * set e->op and e->begin.
 */
bool ct_record_begin(struct ct_thread *t, struct ct_record *e);

#endif
