/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Appending a record to the thread's packet so that no signal handler can come in between.
 *
 * The record is stored behind the packet's content and then committed, ts_end before
 * content_size, so that the packet is valid after each instruction.  A handler that came in
 * between would store its own record at the same place.  So all of this is a restartable
 * sequence (rseq(2)): before the kernel delivers a signal, or gives the CPU to somebody
 * else, it lets the thread go on elsewhere.  Then nothing has been written that counts.
 */
#ifndef CT_APPEND_H
#define CT_APPEND_H

/* What the assembly knows of struct ct_thread and struct ct_packet; packet.c checks it. */
#define CT_THREAD_LIFE		0	/* of struct ct_thread */
#define CT_THREAD_OPEN		8
#define CT_THREAD_OPS		16
#define CT_THREAD_PACKET	24
#define CT_THREAD_LIMIT		32
#define CT_THREAD_OP_BASE	40
#define CT_THREAD_RSEQ		56
#define CT_THREAD_TSC		64	/* its clock: */
#define CT_THREAD_NS		72
#define CT_THREAD_MULT		80
#define CT_THREAD_CPU		88
#define CT_THREAD_ACCEPTING	96
#define CT_THREAD_SESSION	104
#define CT_THREAD_LAST		112
#define CT_PACKET_TS_END	32	/* of struct ct_packet */
#define CT_PACKET_CONTENT	40
#define CT_OP_SPAN		0x7fffffff	/* a packet's ops lie so close together */
#define CT_WORD_INSTANT		0x400	/* CT_RECORD_WORD() of CT_F_INSTANT */

#define CT_RSEQ_CS		8	/* of the kernel's struct rseq */
#define CT_RSEQ_SIGNATURE	0x53053053	/* glibc's */

#ifdef __ASSEMBLER__
#ifndef CT_APPEND_WAIT
#define CT_APPEND_WAIT		/* tests make it long */
#endif

	/*
	 * stamp rdi, word rcx, ts r8, duration r9: see ct_packet_append(); the thread r10; op in
	 * memory.  sized: with a payload, rsi, of rdx bytes.  rseq: 0 where signals are blocked.
	 * Goes to refused if it could not.  Keeps r8.
	 */
	.macro	append_record sized rseq op refused
	.if \rseq
	.pushsection __rseq_cs, "aw"
	.balign	32
.Lsequence\@:
	.long	0, 0
	.quad	.Lbegin\@, .Lcommitted\@ - .Lbegin\@, \refused
	.popsection
	movq	CT_THREAD_RSEQ(%r10), %r11
	leaq	.Lsequence\@(%rip), %rax
	testq	%r11, %r11
	jz	\refused
	movq	%rax, %fs:CT_RSEQ_CS(%r11)
	.endif
.Lbegin\@:
	movq	CT_THREAD_PACKET(%r10), %r11
	movq	\op, %rax
	subq	CT_THREAD_OP_BASE(%r10), %rax
	cmpq	$CT_OP_SPAN, %rax
	jae	\refused
	orq	%rax, %rcx
	cmpq	CT_PACKET_TS_END(%r11), %r8
	jb	\refused
	movq	CT_PACKET_CONTENT(%r11), %rax
	.if \sized
	leaq	24 * 8(%rax,%rdx,8), %rax
	.else
	addq	$24 * 8, %rax
	.endif
	cmpq	%rax, CT_THREAD_LIMIT(%r10)
	jb	\refused
	/* Where it ends, and its payload begins. */
	movq	%rax, %r10
	shrq	$3, %r10
	addq	%r11, %r10
	/* The next records' line, which the CPU that drains sub-buffers may have. */
	prefetchw 168(%r10)
	.if \sized
	subq	%rdx, %r10
	.endif
	movq	%rdi, -24(%r10)
	movq	%rcx, -16(%r10)
	movq	%r9, -8(%r10)
	.if \sized
	testq	%rdx, %rdx
	jz	.Lcopied\@
.Lcopy\@:
	movq	-8(%rsi,%rdx), %rcx
	movq	%rcx, -8(%r10,%rdx)
	subq	$8, %rdx
	jnz	.Lcopy\@
.Lcopied\@:
	.endif
	CT_APPEND_WAIT
	movq	%r8, CT_PACKET_TS_END(%r11)
	CT_APPEND_WAIT
	movq	%rax, CT_PACKET_CONTENT(%r11)
.Lcommitted\@:
	.endm

	/*
	 * Has to stand in front of "refused": the kernel wants to see it where it lets a thread
	 * go on.  An invalid instruction.
	 */
	.macro	append_refused
	.byte	0x0f, 0xb9, 0x3d
	.long	CT_RSEQ_SIGNATURE
	.endm
#else

#include "base/sys.h"

struct ct_thread;

/*
 * Appends a record of the calling thread and commits it: its first word (CT_STAMP), size bytes of payload (a
 * multiple of 8), CT_RECORD_WORD() << 32, its time, and its duration with the CPU in the
 * upper 16 bits.  False: nothing was written, because a signal came or the CPU was taken
 * away, the thread has no struct rseq, the packet has no room, or the record is earlier
 * than its last one or has an op that it cannot tell.
 */
bool ct_packet_append(u64 stamp, const u64 *payload, u64 size, u64 word, u64 ts, u64 duration,
		      u64 op, struct ct_thread *t);

/* The same with signals blocked, which needs no struct rseq. */
bool ct_packet_append_blocked(u64 stamp, const u64 *payload, u64 size, u64 word, u64 ts,
			      u64 duration, u64 op, struct ct_thread *t);

#endif
#endif
