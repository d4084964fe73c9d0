/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thunks: what a program gets instead of a pointer into libcuda.  A static
 * pool, so that no page is ever writable and executable, and so that unwind
 * tables describe every instruction: exceptions, backtraces and thread
 * cancellation pass through as through any function.
 *
 * A thunk calls ct_enter(), the target with a copy of its stack arguments, and
 * ct_leave(); for a simple call it does itself what these do.  Must never change a return
 * address (shadow stacks), nor a register that carries an argument or a result.
 */
#include "thunk.h"

	.text

	.globl	ct_thunks
	.hidden	ct_thunks
	.type	ct_thunks, @function
	.balign	64
ct_thunks:
	.cfi_startproc
	.set	index, 0
	.rept	CT_THUNKS
	.balign	1 << CT_THUNK_SHIFT
	endbr64
	/* scratch in the ABI, never an argument */
	leaq	ct_slots + (index << CT_SLOT_SHIFT)(%rip), %r11
	.byte	0xe9			/* jmp, never the short one */
	.long	thunk_common - . - 4
	.set	index, index + 1
	.endr
	.cfi_endproc
	.size	ct_thunks, . - ct_thunks

	.section .text.hot, "ax", @progbits	/* with call.c's */

	/*
	 * Eight of ten calls are queries of which nothing but a record has to be made: the
	 * arguments stay where they are, and what ct_enter() and ct_leave() do is done with
	 * the registers that a call may change, and two that are put back.  And so with calls
	 * that have their time, but no arguments to record.
	 *
	 * The same steps in the same order as in call.c and packet.h, which say why.
	 */
	.macro	simple timed
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$CT_SIMPLE_FRAME, %rsp
	movq	ct_self@gottpoff(%rip), %r10
	movl	ct_process_page(%rip), %eax
	cmpl	%eax, %fs:CT_THREAD_LIFE(%r10)
	jne	.Lnot_simple
	movl	%eax, CT_SIMPLE_LIFE(%rsp)
	movq	%fs:CT_THREAD_OPEN(%r10), %rax
	movq	%rcx, CT_SIMPLE_RESULT(%rsp)
	movl	CT_OPEN_DEPTH(%rax), %ecx
	cmpl	$CT_OPEN_SIMPLE, %ecx
	jae	.Lnot_simple_rcx
	movl	%ecx, CT_SIMPLE_LEVEL(%rsp)
	movq	%r11, CT_SIMPLE_SLOT(%rsp)
	leaq	16(%rbp), %r11
	shlq	$5, %rcx
	jz	1f
	/* The call around this one is there as long as its frame is above ours. */
	cmpq	%r11, CT_OPEN_STACK-32(%rax,%rcx)
	jbe	.Lnot_simple_slot
1:	addq	%rax, %rcx
	.if \timed
	cmpl	$0, %fs:CT_THREAD_BEGINS(%r10)
	jne	.Lnot_simple_slot
	movq	%rdx, CT_SIMPLE_RDX(%rsp)
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	CT_SIMPLE_RDX(%rsp), %rdx
	subq	%fs:CT_THREAD_TSC(%r10), %rax
	cmpq	%fs:CT_THREAD_SPAN(%r10), %rax
	jae	.Lnot_simple_slot
	imulq	%fs:CT_THREAD_MULT(%r10), %rax
	shrq	$32, %rax
	addq	%fs:CT_THREAD_NS(%r10), %rax
	movq	%rax, CT_SIMPLE_BEGIN(%rsp)
	.endif
	movl	$1, %r11d
	xaddq	%r11, %fs:CT_THREAD_OPS(%r10)
	incq	%r11
	movq	%r11, CT_SIMPLE_OP(%rsp)
	/* The op first: see open_call() in call.c. */
	movq	%r11, CT_OPEN_OP(%rcx)
	leaq	16(%rbp), %r11
	movq	%r11, CT_OPEN_STACK(%rcx)
	.if \timed
	movq	%rax, CT_OPEN_BEGIN(%rcx)
	movq	%fs:CT_THREAD_OPEN(%r10), %rax
	.else
	movq	%fs:CT_THREAD_LAST(%r10), %r11
	movq	%r11, CT_OPEN_BEGIN(%rcx)
	.endif
	movq	CT_SIMPLE_SLOT(%rsp), %r11
	movq	CT_SLOT_OPEN(%r11), %r10
	movq	%r10, CT_OPEN_CLASS(%rcx)
	movl	CT_SIMPLE_LEVEL(%rsp), %r10d
	incl	%r10d
	movl	%r10d, CT_OPEN_DEPTH(%rax)
	movq	CT_SIMPLE_OP(%rsp), %r10
	cmpq	%r10, CT_OPEN_OP(%rcx)
	jne	3f
2:	movq	CT_SIMPLE_RESULT(%rsp), %rcx
	call	*(%r11)
	movq	%rax, CT_SIMPLE_RESULT(%rsp)
	/* First, so that nothing of what follows is taken for the call's time. */
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	ct_self@gottpoff(%rip), %r10
	subq	%fs:CT_THREAD_TSC(%r10), %rax
	xorl	%esi, %esi
	cmpq	%fs:CT_THREAD_SPAN(%r10), %rax
	jae	.Lleave_slowly\@
	imulq	%fs:CT_THREAD_MULT(%r10), %rax
	shrq	$32, %rax
	addq	%fs:CT_THREAD_NS(%r10), %rax
	movq	%rax, %rsi
	movl	CT_SIMPLE_LIFE(%rsp), %eax
	cmpl	%eax, ct_process_page(%rip)
	jne	.Lleave_slowly\@
	movl	CT_SIMPLE_RESULT(%rsp), %ecx
	cmpl	$0xffff, %ecx
	ja	.Lleave_slowly\@
	movq	%fs:CT_THREAD_OPEN(%r10), %r9
	movl	CT_SIMPLE_LEVEL(%rsp), %r8d
	leal	1(%r8), %eax
	cmpl	%eax, CT_OPEN_DEPTH(%r9)
	jne	.Lleave_slowly\@
	cmpq	$0, %fs:CT_THREAD_WRITER(%r10)
	jne	.Lleave_slowly\@
	movq	%fs:CT_THREAD_ACCEPTING(%r10), %rax
	movl	(%rax), %eax
	cmpl	%fs:CT_THREAD_SESSION(%r10), %eax
	jne	.Lleave_slowly\@
	/* The claim: rdx becomes the record's first word, rcx its second but for the op. */
	movq	CT_SIMPLE_SLOT(%rsp), %rdx
	movzwl	CT_SLOT_CLASS(%rdx), %edx
	shlq	$48, %rdx
	movq	%rsi, %rax
	shlq	$16, %rax
	shrq	$16, %rax
	orq	%rax, %rdx
	shlq	$48, %rcx
	shlq	$32, %r8
	orq	%r8, %rcx
	.ifeq \timed
	btsq	$CT_WORD_INSTANT, %rcx
	.endif
	movq	%rdx, CT_SIMPLE_STAMP(%rsp)
	movq	%rcx, CT_SIMPLE_WORD(%rsp)
	movq	$CT_CLAIMED, CT_SIMPLE_MARK(%rsp)
	leaq	CT_SIMPLE_OP(%rsp), %rax
	movq	%rax, %fs:CT_THREAD_WRITER(%r10)
	/* Is there room, and is it later than what is there? */
	movq	%fs:CT_THREAD_PACKET(%r10), %rdi
	movq	CT_PACKET_CONTENT(%rdi), %r11
	movq	CT_PACKET_TS_END(%rdi), %rax
	cmpq	%rax, %rsi
	jb	4f
	leaq	24 * 8(%r11), %r8
	cmpq	%r8, %fs:CT_THREAD_LIMIT(%r10)
	jb	4f
	cmpq	%rsi, %fs:CT_THREAD_DEADLINE(%r10)
	jb	4f
	movq	%r11, %r9
	shrq	$3, %r9
	addq	%rdi, %r9
	movq	%rdx, (%r9)
	.if \timed
	/* Its duration: 48 bits. */
	movq	%rsi, %rdx
	subq	CT_SIMPLE_BEGIN(%rsp), %rdx
	movq	%rdx, 16(%r9)
	shrq	$48, %rdx
	jnz	4f
	.endif
	movl	CT_SIMPLE_OP(%rsp), %edx
	subl	%fs:CT_THREAD_OP_BASE(%r10), %edx
	orq	%rdx, %rcx
	movq	%rcx, 8(%r9)
	movq	%fs:CT_THREAD_CPU(%r10), %rcx
	movl	(%rcx), %ecx
	.if \timed
	movw	%cx, 22(%r9)
	.else
	shlq	$48, %rcx
	movq	%rcx, 16(%r9)
	.endif
	/* ct_packet_commit() */
	cmpxchgq %rsi, CT_PACKET_TS_END(%rdi)
	jne	4f
	movq	%r11, %rax
	cmpxchgq %r8, CT_PACKET_CONTENT(%rdi)
	jne	4f
	movq	%rsi, %fs:CT_THREAD_LAST(%r10)
	movq	$0, %fs:CT_THREAD_WRITER(%r10)
5:	movl	CT_SIMPLE_LEVEL(%rsp), %ecx
	movq	%fs:CT_THREAD_OPEN(%r10), %rax
	movl	%ecx, CT_OPEN_DEPTH(%rax)
.Lleft\@:
	movq	CT_SIMPLE_RESULT(%rsp), %rax
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_restore_state
	/* A handler used our place before we had it; now it is ours. */
3:	movq	%r10, CT_OPEN_OP(%rcx)
	leaq	16(%rbp), %r10
	movq	%r10, CT_OPEN_STACK(%rcx)
	movq	CT_SLOT_OPEN(%r11), %r10
	movq	%r10, CT_OPEN_CLASS(%rcx)
	movl	CT_SIMPLE_LEVEL(%rsp), %r10d
	incl	%r10d
	movl	%r10d, CT_OPEN_DEPTH(%rax)
	.if \timed
	movq	CT_SIMPLE_BEGIN(%rsp), %rax
	movq	%rax, CT_OPEN_BEGIN(%rcx)
	.endif
	jmp	2b
	/* A handler was first, and has perhaps written our record; or there is no room. */
4:	movq	$0, %fs:CT_THREAD_WRITER(%r10)
	cmpq	$CT_CLAIM_DONE, CT_SIMPLE_MARK(%rsp)
	je	5b
.Lleave_slowly\@:
	movq	%rsp, %rdi
	call	ct_leave_simple
	jmp	.Lleft\@
	.endm

	.balign	64
	.type	thunk_common, @function
thunk_common:
	.cfi_startproc
	testb	$CT_SLOT_SIMPLE, CT_SLOT_FLAGS(%r11)
	jz	.Lno_query
	/* Reached without a jump: it is the most frequent. */
	simple	0
.Lnot_simple_slot:
	movq	CT_SIMPLE_SLOT(%rsp), %r11
.Lnot_simple_rcx:
	movq	CT_SIMPLE_RESULT(%rsp), %rcx
.Lnot_simple:
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	jmp	.Lfull
	.balign	16
.Lno_query:
	testb	$CT_SLOT_SIMPLE_CALL, CT_SLOT_FLAGS(%r11)
	jnz	simple_call
.Lfull:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$CT_FRAME_SIZE, %rsp
	movq	%rdi, 0(%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)
	movq	%r11, %rdi
	movq	%rsp, %rsi
	testb	$CT_SLOT_VECTOR, CT_SLOT_FLAGS(%r11)
	jnz	.Lvectors
	/* Integers in, an integer out. */
	call	ct_enter
	movq	%rax, %r11
	movl	CT_FRAME_WORDS-CT_FRAME_SIZE(%rbp), %ecx
	testl	%ecx, %ecx
	jnz	.Lcopy_stack
.Lcall:
	movq	0-CT_FRAME_SIZE(%rbp), %rdi
	movq	8-CT_FRAME_SIZE(%rbp), %rsi
	movq	16-CT_FRAME_SIZE(%rbp), %rdx
	movq	24-CT_FRAME_SIZE(%rbp), %rcx
	movq	32-CT_FRAME_SIZE(%rbp), %r8
	movq	40-CT_FRAME_SIZE(%rbp), %r9
	call	*%r11
	movq	%rax, CT_FRAME_RESULT-CT_FRAME_SIZE(%rbp)
	leaq	-CT_FRAME_SIZE(%rbp), %rdi
	call	ct_leave
	movq	CT_FRAME_RESULT-CT_FRAME_SIZE(%rbp), %rax
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_restore_state

	/* Two words at a time: below them is the frame, above them the caller's. */
.Lcopy_stack:
	incl	%ecx
	andl	$-2, %ecx
	leal	(, %rcx, 8), %eax
	subq	%rax, %rsp
1:	subl	$2, %ecx
	movups	16(%rbp,%rcx,8), %xmm0
	movups	%xmm0, (%rsp,%rcx,8)
	jnz	1b
	jmp	.Lcall

	/* Anything in, anything out. */
.Lvectors:
	movq	%rax, CT_FRAME_RAX(%rsp)
	movq	%r10, CT_FRAME_R10(%rsp)
	movaps	%xmm0, CT_FRAME_XMM+0(%rsp)
	movaps	%xmm1, CT_FRAME_XMM+16(%rsp)
	movaps	%xmm2, CT_FRAME_XMM+32(%rsp)
	movaps	%xmm3, CT_FRAME_XMM+48(%rsp)
	movaps	%xmm4, CT_FRAME_XMM+64(%rsp)
	movaps	%xmm5, CT_FRAME_XMM+80(%rsp)
	movaps	%xmm6, CT_FRAME_XMM+96(%rsp)
	movaps	%xmm7, CT_FRAME_XMM+112(%rsp)
	call	ct_enter
	movq	%rax, %r11
	movl	CT_FRAME_WORDS-CT_FRAME_SIZE(%rbp), %ecx
	testl	%ecx, %ecx
	jz	2f
	leal	1(%rcx), %eax
	andl	$-2, %eax
	shll	$3, %eax
	subq	%rax, %rsp
1:	subl	$1, %ecx
	movq	16(%rbp,%rcx,8), %rax
	movq	%rax, (%rsp,%rcx,8)
	jnz	1b
2:	movaps	CT_FRAME_XMM+0-CT_FRAME_SIZE(%rbp), %xmm0
	movaps	CT_FRAME_XMM+16-CT_FRAME_SIZE(%rbp), %xmm1
	movaps	CT_FRAME_XMM+32-CT_FRAME_SIZE(%rbp), %xmm2
	movaps	CT_FRAME_XMM+48-CT_FRAME_SIZE(%rbp), %xmm3
	movaps	CT_FRAME_XMM+64-CT_FRAME_SIZE(%rbp), %xmm4
	movaps	CT_FRAME_XMM+80-CT_FRAME_SIZE(%rbp), %xmm5
	movaps	CT_FRAME_XMM+96-CT_FRAME_SIZE(%rbp), %xmm6
	movaps	CT_FRAME_XMM+112-CT_FRAME_SIZE(%rbp), %xmm7
	movq	0-CT_FRAME_SIZE(%rbp), %rdi
	movq	8-CT_FRAME_SIZE(%rbp), %rsi
	movq	16-CT_FRAME_SIZE(%rbp), %rdx
	movq	24-CT_FRAME_SIZE(%rbp), %rcx
	movq	32-CT_FRAME_SIZE(%rbp), %r8
	movq	40-CT_FRAME_SIZE(%rbp), %r9
	movq	CT_FRAME_RAX-CT_FRAME_SIZE(%rbp), %rax
	movq	CT_FRAME_R10-CT_FRAME_SIZE(%rbp), %r10
	call	*%r11
	movq	%rax, CT_FRAME_RESULT-CT_FRAME_SIZE(%rbp)
	movq	%rdx, CT_FRAME_RESULT+8-CT_FRAME_SIZE(%rbp)
	movaps	%xmm0, CT_FRAME_XMM+0-CT_FRAME_SIZE(%rbp)
	movaps	%xmm1, CT_FRAME_XMM+16-CT_FRAME_SIZE(%rbp)
	leaq	-CT_FRAME_SIZE(%rbp), %rdi
	call	ct_leave
	movaps	CT_FRAME_XMM+0-CT_FRAME_SIZE(%rbp), %xmm0
	movaps	CT_FRAME_XMM+16-CT_FRAME_SIZE(%rbp), %xmm1
	movq	CT_FRAME_RESULT-CT_FRAME_SIZE(%rbp), %rax
	movq	CT_FRAME_RESULT+8-CT_FRAME_SIZE(%rbp), %rdx
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	thunk_common, . - thunk_common

	.balign	64
	.type	simple_call, @function
simple_call:
	.cfi_startproc
	simple	1
	.cfi_endproc
	.size	simple_call, . - simple_call

	/* Code here begins with endbr64 and returns only where it was called. */
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

	.section .note.GNU-stack, "", @progbits
