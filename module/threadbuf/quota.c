// SPDX-License-Identifier: GPL-2.0
/*
 * The quota counts memory, not what a session has in its list: a program may keep a thread buffer
 * mapped after its session has ended, as often as sessions begin.
 */
#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "threadbuf/quota.h"
#include "cudatrace.h"

/* Only of producers that have a thread buffer. */
struct quota_use {
	struct hlist_node node;
	u64 producer;
	u64 bytes;
	u32 count;
};

/* One thread buffer never exceeds it. */
static_assert(CT_THREADBUF_DATA + (u64)CT_THREADBUF_SUBBUFS_MAX * CT_THREADBUF_SUBBUF_MAX <=
	      CT_THREADBUF_QUOTA);

static DEFINE_HASHTABLE(quota_uses, 6);
static DEFINE_MUTEX(quota_lock);

static struct quota_use *quota_find(u64 producer)
{
	struct quota_use *use;

	hash_for_each_possible(quota_uses, use, node, producer)
		if (use->producer == producer)
			return use;
	return NULL;
}

int ct_threadbuf_quota_charge(u64 producer, u64 bytes)
{
	struct quota_use *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *use;
	int err = 0;

	if (!new)
		return -ENOMEM;
	mutex_lock(&quota_lock);
	use = quota_find(producer);
	if (!use) {
		use = new;
		new = NULL;
		use->producer = producer;
		hash_add(quota_uses, &use->node, producer);
	}
	if (use->bytes + bytes > CT_THREADBUF_QUOTA || use->count >= CT_THREADBUF_QUOTA_COUNT) {
		err = -EDQUOT;
	} else {
		use->bytes += bytes;
		use->count++;
	}
	mutex_unlock(&quota_lock);
	kfree(new);
	return err;
}

void ct_threadbuf_quota_uncharge(u64 producer, u64 bytes)
{
	struct quota_use *use;

	mutex_lock(&quota_lock);
	use = quota_find(producer);
	use->bytes -= bytes;
	if (!--use->count) {
		hash_del(&use->node);
		kfree(use);
	}
	mutex_unlock(&quota_lock);
}
