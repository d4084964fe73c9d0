// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Telling an interrupted writer from one that was left by longjmp; see writer.h.
 *
 * Reads the stack by a system call that fails where a plain read would crash:
 * the stack of the writer may be gone.  In doubt a writer lives: taking a dead
 * one for alive costs records, the other way round would damage them.
 */
#include "writer.h"

bool ct_stack_read(void *to, u64 from, u64 size)
{
	struct { u64 base, len; } local = { (u64)to, size }, remote = { from, size };

	return ct_sys6(SYS_process_vm_readv, ct_sys0(SYS_getpid), &local, 1, &remote,
		       1, 0) == (long)size;
}

/*
 * Where a signal handler of this process returns to: the kernel puts it on the
 * stack below what it interrupts.  0 if no signal has a handler.
 */
static u64 handler_return(void)
{
	struct { u64 handler, flags, restorer, mask; } action;

	for (int sig = 1; sig <= 64; sig++)
		if (!ct_sys4(SYS_rt_sigaction, sig, NULL, &action, 8) &&
		    action.handler > 1 && action.restorer)
			return action.restorer;
	return 0;
}

#define LOOK_MAX	(64u << 10)

/* Can a handler lie between our frame and what it interrupted? */
static bool handler_between(u64 low, u64 high)
{
	u64 want = handler_return(), words[64];

	if (!want)
		return false;
	low &= ~7ull;
	if (high - low > LOOK_MAX)
		return true;
	for (; low < high; low += sizeof(words)) {
		u64 size = high - low < sizeof(words) ? (high - low) & ~7ull :
			   sizeof(words);

		if (!ct_stack_read(words, low, size))
			return true;
		for (u64 i = 0; i < size / 8; i++)
			if (words[i] == want)
				return true;
	}
	return false;
}

cold bool ct_writer_lives(u64 claim, u64 frame)
{
	struct { u64 sp; int flags; u64 size; } alt = { 0, 0, 0 };
	u32 there;

	ct_sys2(SYS_sigaltstack, NULL, &alt);
	if (!(alt.flags & 1 /* SS_ONSTACK */)) {
		/* A stack holds one frame at a place, and deeper ones below it. */
		if (frame >= claim || !handler_between(frame, claim))
			return false;
	}
	return !ct_stack_read(&there, claim + offsetof(struct ct_claim, mark), 4) ||
	       there == CT_CLAIMED || there == CT_CLAIM_DONE;
}
