// SPDX-License-Identifier: GPL-2.0
/* What the file operations and the ioctls share of an open file. */
#include "api/file.h"
#include "read/reader.h"
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

/* Readers without privileges. */
static LIST_HEAD(file_readers);
static DEFINE_MUTEX(file_readers_lock);

void ct_file_add_reader(struct ct_file *f)
{
	mutex_lock(&file_readers_lock);
	list_add(&f->node, &file_readers);
	mutex_unlock(&file_readers_lock);
}

void ct_file_remove_reader(struct ct_file *f)
{
	mutex_lock(&file_readers_lock);
	list_del(&f->node);
	mutex_unlock(&file_readers_lock);
}

void ct_file_drop_old(void)
{
	struct ct_session_state *s = ct_session_get();
	struct ct_file *f;

	mutex_lock(&file_readers_lock);
	list_for_each_entry(f, &file_readers, node) {
		/* A read() may wait for as long as it likes. */
		if (!s || !mutex_trylock(&f->lock))
			continue;
		if (f->reader && s->number - f->number > 1) {
			ct_reader_close(f->reader);
			f->reader = NULL;
		}
		ct_file_unlock(f);
	}
	mutex_unlock(&file_readers_lock);
	ct_session_put(s);
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
