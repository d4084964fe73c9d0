// SPDX-License-Identifier: GPL-2.0
/* What the file operations and the ioctls share of an open file. */
#include "api/file.h"
#include "read/reader.h"
#include "core/session.h"

static void file_look(struct timer_list *t)
{
	struct ct_file *f = container_of(t, struct ct_file, look);

	wake_up_interruptible_all(&f->wait);
}

void ct_file_init(struct ct_file *f)
{
	mutex_init(&f->lock);
	mutex_init(&f->start);
	spin_lock_init(&f->session_lock);
	init_waitqueue_head(&f->wait);
	timer_setup(&f->look, file_look, 0);
}

void ct_file_look_later(struct ct_file *f)
{
	mod_timer(&f->look, jiffies + CT_READER_PERIOD);
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
		mutex_unlock(&f->lock);
	}
	mutex_unlock(&file_readers_lock);
	ct_session_put(s);
}

struct ct_session_state *ct_file_adopted(struct ct_file *f)
{
	struct ct_session_state *s;

	spin_lock(&f->session_lock);
	s = f->adopted ? f->session : NULL;
	if (s)
		kref_get(&s->ref);
	spin_unlock(&f->session_lock);
	return s;
}

void ct_file_set_session(struct ct_file *f, struct ct_session_state *s, bool adopted)
{
	lockdep_assert_held(&f->start);
	spin_lock(&f->session_lock);
	swap(f->session, s);
	f->adopted = adopted;
	spin_unlock(&f->session_lock);
	ct_session_put(s);
}
