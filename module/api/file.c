// SPDX-License-Identifier: GPL-2.0
/* What the file operations and the ioctls share of an open file. */
#include "api/file.h"
#include "core/session.h"

void ct_file_unlock(struct ct_file *f)
{
	mutex_unlock(&f->lock);
	/*
	 * The lock before overlooked: a poll() that found it taken and has not set overlooked yet
	 * finds it free when it tries again.  Pairs with the barrier in chardev_poll().
	 */
	smp_mb();
	if (READ_ONCE(f->overlooked) && xchg(&f->overlooked, false))
		wake_up_interruptible_all(&ct_session_wait);
}

struct ct_session_state *ct_file_adopted(struct ct_file *f)
{
	struct ct_session_state *s;

	spin_lock(&f->adopted_lock);
	s = f->adopted;
	if (s)
		kref_get(&s->ref);
	spin_unlock(&f->adopted_lock);
	return s;
}

void ct_file_set_adopted(struct ct_file *f, struct ct_session_state *s)
{
	lockdep_assert_held(&f->start);
	spin_lock(&f->adopted_lock);
	swap(f->adopted, s);
	spin_unlock(&f->adopted_lock);
	ct_session_put(s);
}
