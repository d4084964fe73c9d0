// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Telling an interrupted writer from one that was left by longjmp; see writer.h.
 *
 * Reads the stack by a system call that fails where a plain read would crash:
 * the stack of the writer may be gone.  In doubt a writer lives: taking a dead
 * one for alive costs records, the other way round would damage them.
 */
#include "record/writer.h"

bool ct_stack_read(void *to, u64 from, u64 size)
{
	struct { u64 base, len; } local = { (u64)to, size }, remote = { from, size };

	return ct_sys6(SYS_process_vm_readv, ct_sys0(SYS_getpid), &local, 1, &remote,
		       1, 0) == (long)size;
}

#define RETURNS_MAX	4u	/* libc's, and those of runtimes that do without it */
#define LOOK_MAX	(64u << 10)

/*
 * Where signal handlers of this process return to: the kernel puts it on the stack below
 * what it interrupts.  Also of signals that have none any more: one may run that was
 * there for a single time.  Return: how many, at most RETURNS_MAX + 1.
 */
static u32 handler_returns(u64 to[RETURNS_MAX])
{
	struct { u64 handler, flags, restorer, mask; } action;
	u32 n = 0;

	for (int sig = 1; sig <= 64; sig++) {
		u32 i = 0;

		if (ct_sys4(SYS_rt_sigaction, sig, NULL, &action, 8) || !action.restorer)
			continue;
		while (i < n && to[i] != action.restorer)
			i++;
		if (i < n)
			continue;
		if (n == RETURNS_MAX)
			return n + 1;
		to[n++] = action.restorer;
	}
	return n;
}

/* Can a handler lie between our frame and what it interrupted? */
static bool handler_between(u64 low, u64 high)
{
	u64 want[RETURNS_MAX], words[64];
	u32 wanted = handler_returns(want);

	if (!wanted)
		return false;
	low &= ~7ull;
	if (high - low > LOOK_MAX || wanted > RETURNS_MAX)
		return true;
	for (; low < high; low += sizeof(words)) {
		u64 size = high - low < sizeof(words) ? (high - low) & ~7ull :
			   sizeof(words);

		if (!ct_stack_read(words, low, size))
			return true;
		for (u64 i = 0; i < size / 8; i++)
			for (u32 j = 0; j < wanted; j++)
				if (words[i] == want[j])
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
