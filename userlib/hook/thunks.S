/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thunks: what a program gets instead of a pointer into libcuda.  A static
 * pool, so that no page is ever writable and executable, and so that unwind
 * tables describe every instruction: exceptions, backtraces and thread
 * cancellation pass through as through any function.
 *
 * A thunk jumps to its slot's path.  The slow one calls ct_enter(), the target with a copy
 * of its stack arguments, and ct_leave(); most calls take a fast one, which does itself
 * what these do.  Must never change a return address (shadow stacks), nor a register that
 * carries an argument or a result.
 */
#include "base/asm.h"
#include "call/frame.h"

#ifndef CT_OPEN_WAIT
#define CT_OPEN_WAIT		/* tests make it long */
#endif
#ifndef CT_RDTSC
#define CT_RDTSC	rdtsc
#endif

	.bss
	.globl	ct_slots
	.hidden	ct_slots
	.type	ct_slots, @object
	.balign	64
ct_slots:
	.zero	CT_THUNKS << CT_SLOT_SHIFT
	.size	ct_slots, . - ct_slots

	.text

	.globl	ct_thunks
	.hidden	ct_thunks
	.type	ct_thunks, @function
	.balign	64
ct_thunks:
	.cfi_startproc
	.set	index, 0
	.rept	CT_THUNKS
	.org	ct_thunks + (index << CT_THUNK_SHIFT)	/* an error if one is longer */
	endbr64
	/* scratch in the ABI, never an argument */
	leaq	ct_slots + (index << CT_SLOT_SHIFT)(%rip), %r11
	notrack jmp *CT_SLOT_WAY(%r11)
	.set	index, index + 1
	.endr
	.cfi_endproc
	.size	ct_thunks, . - ct_thunks

	.section .text.hot, "ax", @progbits	/* with call.c's */

	/*
	 * The fast paths, of calls of which nothing but a record has to be made: these do what
	 * ct_enter() and ct_leave() do, in the same order; call.c says why.  The arguments stay
	 * where they are, in registers, and what is changed on the way in is what a call may
	 * change, and two that are put back.
	 *
	 * timed: with its begin, and not a query.  args: they go into the record.
	 */

	.macro	path name timed args
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	64
\name:
	.cfi_startproc
	.set	frame, CT_SIMPLE_SIZE	/* with the return address a multiple of 16 */
	.set	saved_rcx, CT_FRAME_RESULT
	.set	saved_rdx, CT_FRAME_RESULT + 8
	.if \args
	.set	frame, CT_FRAME_SIZE + 8
	.set	saved_rcx, CT_FRAME_ARG + 24
	.set	saved_rdx, CT_FRAME_ARG + 16
	.endif
	subq	$frame, %rsp
	.cfi_def_cfa_offset frame + 8
	self
	.if \timed
	/* With both halves: nor does the backend want to know of begins. */
	movq	ct_process_page(%rip), %rax
	cmpq	%rax, CT_THREAD_LIFE(%r10)
	.else
	movl	ct_process_page(%rip), %eax
	cmpl	%eax, CT_THREAD_LIFE(%r10)
	.endif
	jne	.Lslow\@
	movq	%rax, CT_FRAME_LIFE(%rsp)	/* and no flags */
	movq	%rcx, saved_rcx(%rsp)
	movq	%rdx, saved_rdx(%rsp)
	/* Where it stands among the in-flight calls: rcx. */
	movq	CT_THREAD_OPEN(%r10), %rcx
	movl	CT_OPEN_DEPTH(%rcx), %eax
	movl	%eax, CT_FRAME_LEVEL(%rsp)
	testl	%eax, %eax
	jnz	.Lnested\@
.Loutermost\@:
	.if \args
	testb	$8, %spl		/* the decoder wants its stack aligned */
	jnz	.Lrestore\@
	movq	%rdi, CT_FRAME_ARG+0(%rsp)
	movq	%rsi, CT_FRAME_ARG+8(%rsp)
	movq	%r8, CT_FRAME_ARG+32(%rsp)
	movq	%r9, CT_FRAME_ARG+40(%rsp)
	.endif
	.if \timed
	stamp	.Lrestore\@
	.else
	movq	CT_THREAD_LAST(%r10), %rax
	.endif
	movq	%rax, CT_FRAME_BEGIN(%rsp)
	movq	%r11, CT_FRAME_SLOT(%rsp)
	movl	$1, %edx
	xaddq	%rdx, CT_THREAD_OPS(%r10)
	movq	%rdx, CT_FRAME_OP(%rsp)
	CT_OPEN_WAIT
.Lopen\@:
	movq	%rdx, CT_OPEN_OP(%rcx)	/* first: see inflight.h */
	movq	%rax, CT_OPEN_BEGIN(%rcx)
	movq	%rsp, CT_OPEN_STACK(%rcx)
	movq	CT_SLOT_OPEN(%r11), %rax
	movq	%rax, CT_OPEN_CLASS(%rcx)
	movq	%rcx, %rax	/* the entry's page */
	andq	$-4096, %rax
	movl	CT_FRAME_LEVEL(%rsp), %r10d
	incl	%r10d
	movl	%r10d, CT_OPEN_DEPTH(%rax)
	cmpq	%rdx, CT_OPEN_OP(%rcx)
	jne	.Lagain\@
	self
	cmpq	%rax, CT_THREAD_OPEN(%r10)
	jne	.Lmoved\@
	movq	saved_rcx(%rsp), %rcx
	movq	saved_rdx(%rsp), %rdx
	.if \args
	movzbl	CT_SLOT_WORDS(%r11), %eax
	testl	%eax, %eax
	jz	1f
	/* Its arguments on the stack, at most CT_QUICK_WORDS, two at a time. */
	subq	$48, %rsp
	.cfi_adjust_cfa_offset 48
	movups	frame + 56(%rsp), %xmm0
	movups	%xmm0, (%rsp)
	cmpl	$2, %eax
	jbe	0f
	movups	frame + 56+16(%rsp), %xmm0
	movups	%xmm0, 16(%rsp)
	cmpl	$4, %eax
	jbe	0f
	movups	frame + 56+32(%rsp), %xmm0
	movups	%xmm0, 32(%rsp)
0:	call	*(%r11)
	addq	$48, %rsp
	.cfi_adjust_cfa_offset -48
	jmp	2f
	.endif
1:	call	*(%r11)
2:	movq	%rax, CT_FRAME_RESULT(%rsp)
	/*
	 * To read the counter waits for libcuda's last instructions: what can be done before
	 * is done meanwhile, but for what takes longer than they do.
	 */
	.if \args
	self
	stamp	.Lunstamped\@
	movq	%rax, CT_FRAME_END(%rsp)
	movl	CT_FRAME_LIFE(%rsp), %ecx
	cmpl	%ecx, ct_process_page(%rip)
	jne	.Lstamped\@
	movq	CT_FRAME_SLOT(%rsp), %rax
	movq	%rsp, %rdi
	leaq	CT_FRAME_PAYLOAD(%rsp), %rsi
	movl	$1, %edx
	call	*CT_SLOT_EXTRACT(%rax)
	self
	undisturbed .Lstamped\@, \timed, \args
	movq	CT_FRAME_END(%rsp), %r8
	.else
	self
	movl	CT_FRAME_LIFE(%rsp), %eax
	cmpl	%eax, ct_process_page(%rip)
	jne	.Lunstamped\@
	undisturbed .Lunstamped\@, \timed, \args
	stamp	.Lunstamped\@
	movq	%rax, %r8
	.endif
	/* r8: when the call ended. */
	.if \timed
	movq	%r8, %rax
	subq	CT_FRAME_BEGIN(%rsp), %rax
	orq	%rax, %r9
	shrq	$48, %rax		/* of a duration are 48 bits */
	jnz	.Lleave\@
	.endif
	movq	%r8, %rax
	shlq	$16, %rax
	orq	%rax, %rdi
	rorq	$16, %rdi
	.if \args
	movzbl	CT_SLOT_SIZE(%r11), %edx
	.endif
	append_record \args, 1, CT_FRAME_OP(%rsp), .Lleave\@
	self
	movq	%r8, CT_THREAD_LAST(%r10)
	movl	CT_FRAME_LEVEL(%rsp), %ecx
	/* A handler may move the page. */
1:	movq	CT_THREAD_OPEN(%r10), %rax
	movl	%ecx, CT_OPEN_DEPTH(%rax)
	cmpq	CT_THREAD_OPEN(%r10), %rax
	jne	1b
.Lleft\@:
	movq	CT_FRAME_RESULT(%rsp), %rax
	addq	$frame, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_def_cfa_offset frame + 8

.Lnested\@:
	decl	%eax
	cmpl	$CT_OPEN_SIMPLE - 1, %eax
	jae	.Lrestore\@
	shll	$5, %eax
	addq	%rax, %rcx
	/*
	 * The call around this one is there as long as its frame is above ours, which begins
	 * where that ends if libcuda has jumped to us.
	 */
	leaq	frame + 8(%rsp), %rax
	cmpq	%rax, CT_OPEN_STACK(%rcx)
	jb	.Lrestore\@
	addq	$32, %rcx
	jmp	.Loutermost\@
	/* A handler has moved the in-flight calls to another page before ours was there. */
.Lmoved\@:
	movl	CT_FRAME_LEVEL(%rsp), %ecx
	shll	$5, %ecx
	addq	CT_THREAD_OPEN(%r10), %rcx
	/* A handler used our place before we had it; now it is ours. */
.Lagain\@:
	movq	CT_FRAME_BEGIN(%rsp), %rax
	jmp	.Lopen\@
	/* ct_leave() makes the record, of a call that ended now, or at r8. */
.Lunstamped\@:
	xorl	%r8d, %r8d
	jmp	.Lleave\@
	.if \args
.Lstamped\@:
	movq	CT_FRAME_END(%rsp), %r8
	jmp	.Lleave\@
	.endif
	append_refused
.Lleave\@:
	movq	%r8, %rsi
	movq	%rsp, %rdi
	call	ct_leave
	jmp	.Lleft\@
	/* The slow path: all as it came. */
.Lrestore\@:
	movq	saved_rcx(%rsp), %rcx
	movq	saved_rdx(%rsp), %rdx
.Lslow\@:
	addq	$frame, %rsp
	.cfi_def_cfa_offset 8
	jmp	ct_way_full
	.cfi_endproc
	.size	\name, . - \name
	.endm

	/* r10: the thread's state. */
	.macro	self
	movq	ct_self@gottpoff(%rip), %r10
	movq	%fs:(%r10), %r10
	.endm

	/* rax: the time; see clock.h. */
	.macro	stamp else
	CT_RDTSC
	subl	CT_THREAD_TSC(%r10), %eax
	sbbl	CT_THREAD_TSC+4(%r10), %edx
	jne	\else
	imulq	CT_THREAD_MULT(%r10), %rax
	shrq	$31, %rax
	addq	CT_THREAD_NS(%r10), %rax
	.endm

	/*
	 * Nothing has happened that ct_leave() has to see to.  What ct_packet_append() is given,
	 * but for the times, in the registers that it wants them in; the slot in r11.
	 */
	.macro	undisturbed else timed args
	movl	CT_FRAME_RESULT(%rsp), %ecx
	cmpl	$0xffff, %ecx
	ja	\else
	movq	CT_THREAD_OPEN(%r10), %r9
	movl	CT_FRAME_LEVEL(%rsp), %edx
	leal	1(%rdx), %eax
	cmpl	%eax, CT_OPEN_DEPTH(%r9)
	jne	\else
	/* Its place may be another's, if a coroutine made that go on. */
	movl	%edx, %eax
	shll	$5, %eax
	movq	CT_FRAME_OP(%rsp), %rdi
	cmpq	%rdi, CT_OPEN_OP(%r9,%rax)
	jne	\else
	movq	CT_THREAD_ACCEPTING(%r10), %rax
	movl	(%rax), %eax
	cmpl	CT_THREAD_SESSION(%r10), %eax
	jne	\else
	shll	$16, %ecx
	orl	%edx, %ecx
	.ifeq \timed
	orl	$CT_WORD_INSTANT, %ecx
	.endif
	shlq	$32, %rcx
	movq	CT_FRAME_SLOT(%rsp), %r11
	movzwl	CT_SLOT_CLASS(%r11), %edi
	movq	CT_THREAD_CPU(%r10), %r9
	movl	(%r9), %r9d
	shlq	$48, %r9
	.if \args
	leaq	CT_FRAME_PAYLOAD(%rsp), %rsi
	.endif
	.endm

	path	ct_way_query, 0, 0
	path	ct_way_call, 1, 0
	path	ct_way_ask, 0, 1
	path	ct_way_args, 1, 1

	/* Outside of the capture range. */
	.globl	ct_way_pass
	.hidden	ct_way_pass
	.balign	16
	.type	ct_way_pass, @function
ct_way_pass:
	.cfi_startproc
	notrack jmp *(%r11)
	.cfi_endproc
	.size	ct_way_pass, . - ct_way_pass

	.globl	ct_way_full
	.hidden	ct_way_full
	.balign	16
	.type	ct_way_full, @function
ct_way_full:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$CT_FRAME_SIZE, %rsp
	/* Anything in: of an unknown function the vector registers, too, and rax and r10. */
	movq	%rax, CT_FRAME_RAX-CT_FRAME_SIZE(%rbp)
	movq	%r10, CT_FRAME_R10-CT_FRAME_SIZE(%rbp)
	movq	%rdi, CT_FRAME_ARG-CT_FRAME_SIZE+0(%rbp)
	movq	%rsi, CT_FRAME_ARG-CT_FRAME_SIZE+8(%rbp)
	movq	%rdx, CT_FRAME_ARG-CT_FRAME_SIZE+16(%rbp)
	movq	%rcx, CT_FRAME_ARG-CT_FRAME_SIZE+24(%rbp)
	movq	%r8, CT_FRAME_ARG-CT_FRAME_SIZE+32(%rbp)
	movq	%r9, CT_FRAME_ARG-CT_FRAME_SIZE+40(%rbp)
	/* Code that was written by hand may call with a stack that is 8 bytes off: no movaps. */
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movups	%xmm\n, CT_FRAME_XMM-CT_FRAME_SIZE+16*\n(%rbp)
	.endr
	movq	%r11, %rdi
	movq	%rsp, %rsi
	call	ct_enter
	movq	%rax, %r11
	/* So many words of the caller's stack, which begin above the frame, go below it. */
	movl	CT_FRAME_WORDS-CT_FRAME_SIZE(%rbp), %ecx
	leal	1(%rcx), %eax
	andl	$-2, %eax
	shll	$3, %eax
	subq	%rax, %rsp
	jmp	2f
1:	movq	16(%rbp,%rcx,8), %rax
	movq	%rax, (%rsp,%rcx,8)
2:	subl	$1, %ecx
	jns	1b
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+0(%rbp), %rdi
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+8(%rbp), %rsi
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+16(%rbp), %rdx
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+24(%rbp), %rcx
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+32(%rbp), %r8
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+40(%rbp), %r9
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movups	CT_FRAME_XMM-CT_FRAME_SIZE+16*\n(%rbp), %xmm\n
	.endr
	movq	CT_FRAME_RAX-CT_FRAME_SIZE(%rbp), %rax
	movq	CT_FRAME_R10-CT_FRAME_SIZE(%rbp), %r10
	call	*%r11
	/* Anything out. */
	movq	%rax, CT_FRAME_RESULT-CT_FRAME_SIZE(%rbp)
	movq	%rdx, CT_FRAME_RESULT-CT_FRAME_SIZE+8(%rbp)
	movups	%xmm0, CT_FRAME_XMM-CT_FRAME_SIZE+0(%rbp)
	movups	%xmm1, CT_FRAME_XMM-CT_FRAME_SIZE+16(%rbp)
	leaq	-CT_FRAME_SIZE(%rbp), %rdi
	xorl	%esi, %esi
	call	ct_leave
	movups	CT_FRAME_XMM-CT_FRAME_SIZE+0(%rbp), %xmm0
	movups	CT_FRAME_XMM-CT_FRAME_SIZE+16(%rbp), %xmm1
	movq	CT_FRAME_RESULT-CT_FRAME_SIZE(%rbp), %rax
	movq	CT_FRAME_RESULT-CT_FRAME_SIZE+8(%rbp), %rdx
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	ct_way_full, . - ct_way_full

	asm_end
