// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The page that a child gets as zeros, and the lock on it; see process.h.
 */
#include "base/process.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18
#endif

#define PAGE	4096

/* Whole pages of zeros in the file's image are memory without a file. */
struct ct_proc ct_process_page __attribute__((aligned(PAGE)));

early_data u8 ct_ready;
early_data u8 ct_stopped;
early_data void (*ct_first_call)(void);
static u32 lives;
static u32 said;		/* inherited: a child doesn't say it again */

void ct_process_wipe(void)
{
	memset(ct_process, 0, sizeof(*ct_process));
}

bool ct_process_start(void)
{
	return ct_sys3(SYS_madvise, ct_process, PAGE, MADV_WIPEONFORK) >= 0;
}

bool ct_process_renew(void)
{
	if (ct_process->life)
		return false;
	ct_process->pid = (u32)ct_sys0(SYS_getpid);
	ct_store(&ct_process->life, ++lives);
	return true;
}

void ct_process_restart(void)
{
	ct_process->pid = (u32)ct_sys0(SYS_getpid);
	ct_process->streams = ct_process->process_record = 0;
	ct_store(&ct_process->life, ++lives);
}

#define FUTEX_WAIT_PRIVATE_OP	128
#define FUTEX_WAKE_PRIVATE_OP	129

u64 ct_lock(void)
{
	u64 mask = ct_signals_block();
	u32 *lock = &ct_process->lock;

	if (!ct_cas(lock, 0u, 1u))
		while (__atomic_exchange_n(lock, 2u, __ATOMIC_ACQUIRE))
			ct_sys4(SYS_futex, lock, FUTEX_WAIT_PRIVATE_OP, 2, NULL);
	return mask;
}

void ct_unlock(u64 mask)
{
	u32 *lock = &ct_process->lock;

	if (__atomic_exchange_n(lock, 0u, __ATOMIC_RELEASE) == 2)
		ct_sys3(SYS_futex, lock, FUTEX_WAKE_PRIVATE_OP, 1);
	ct_signals_restore(mask);
}

void ct_say_once(enum ct_once once, const char *text, const char *more)
{
	u32 bit = 1u << once;

	if (!(__atomic_fetch_or(&said, bit, __ATOMIC_RELAXED) & bit))
		ct_say(text, more);
}
