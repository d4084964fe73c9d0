// SPDX-License-Identifier: GPL-2.0
/*
 * Quotas count memory as long as it is there, not what a session knows of: a program may keep a
 * thread buffer mapped after its session has ended, as often as sessions begin.
 */
#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "core/producer.h"
#include "core/quota.h"
#include "cudatrace.h"

/* How much of one quota a producer has used.  There is none for nothing. */
struct quota_use {
	struct hlist_node node;
	u64 producer;
	enum ct_quota quota;
	u64 count;
	u64 bytes;
};

/* For each producer, and for all of them but root. */
static const struct quota_limit {
	u64 count, bytes, all_count, all_bytes;
} limits[CT_QUOTAS] = {
	[CT_QUOTA_OF_CLASSES] = { CT_QUOTA_CLASSES, U64_MAX, CT_QUOTA_CLASSES_ALL, U64_MAX },
	[CT_QUOTA_OF_STRINGS] = { CT_QUOTA_STRINGS, CT_QUOTA_STRING_BYTES,
				  CT_QUOTA_STRINGS_ALL, CT_QUOTA_STRING_BYTES_ALL },
	[CT_QUOTA_OF_THREADBUFS] = { CT_THREADBUF_QUOTA_COUNT, CT_THREADBUF_QUOTA,
				     U64_MAX, U64_MAX },
};

/* One thread buffer never exceeds it. */
static_assert(CT_THREADBUF_DATA + (u64)CT_THREADBUF_SUBBUFS_MAX * CT_THREADBUF_SUBBUF_MAX <=
	      CT_THREADBUF_QUOTA);

static DEFINE_HASHTABLE(quota_uses, 6);
static struct quota_use quota_all[CT_QUOTAS];
static DEFINE_MUTEX(quota_lock);

static struct quota_use *quota_find(enum ct_quota quota, u64 producer)
{
	struct quota_use *use;

	hash_for_each_possible(quota_uses, use, node, producer)
		if (use->producer == producer && use->quota == quota)
			return use;
	return NULL;
}

static bool quota_allows(const struct quota_use *use, u64 bytes, u64 count_max, u64 bytes_max)
{
	return use->count < count_max && use->bytes + bytes <= bytes_max;
}

int ct_quota_charge(enum ct_quota quota, u64 producer, u64 bytes)
{
	struct quota_use *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *use;
	const struct quota_limit *max = &limits[quota];
	struct quota_use *all = &quota_all[quota];
	int err = 0;

	if (!new)
		return -ENOMEM;
	mutex_lock(&quota_lock);
	use = quota_find(quota, producer) ?: new;
	if (!quota_allows(use, bytes, max->count, max->bytes) ||
	    (producer != CT_PRODUCER_ROOT &&
	     !quota_allows(all, bytes, max->all_count, max->all_bytes))) {
		err = -EDQUOT;
		goto out;
	}
	if (use == new) {
		new->producer = producer;
		new->quota = quota;
		hash_add(quota_uses, &new->node, producer);
		new = NULL;
	}
	use->count++;
	use->bytes += bytes;
	if (producer != CT_PRODUCER_ROOT) {
		all->count++;
		all->bytes += bytes;
	}
out:
	mutex_unlock(&quota_lock);
	kfree(new);
	return err;
}

void ct_quota_uncharge(enum ct_quota quota, u64 producer, u64 bytes)
{
	struct quota_use *use;

	mutex_lock(&quota_lock);
	use = quota_find(quota, producer);
	use->bytes -= bytes;
	if (!--use->count) {
		hash_del(&use->node);
		kfree(use);
	}
	if (producer != CT_PRODUCER_ROOT) {
		quota_all[quota].count--;
		quota_all[quota].bytes -= bytes;
	}
	mutex_unlock(&quota_lock);
}
