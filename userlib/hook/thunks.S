/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thunks: what a program gets instead of a pointer into libcuda.  A static
 * pool, so that no page is ever writable and executable, and so that unwind
 * tables describe every instruction: exceptions, backtraces and thread
 * cancellation pass through as through any function.
 *
 * A thunk jumps to its slot's way.  The full one calls ct_enter(), the target with a copy
 * of its stack arguments, and ct_leave(); most calls go a quick one, which does itself what
 * these do.  Must never change a return address (shadow stacks), nor a register that
 * carries an argument or a result.
 */
#include "call/frame.h"

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
	 * Of most calls nothing but a record has to be made.  What ct_enter() and ct_leave()
	 * do is then done here: the arguments stay where they are, in registers, and what is
	 * changed on the way in is what a call may change, and two that are put back.
	 *
	 * timed: with its begin, and not a query.  args: they go into the record; LAUNCH: those
	 * of a launch, which ct_x_launch() would take.  deeper: the
	 * same for a call inside others; that one's own is 0.
	 *
	 * The same steps in the same order as in call.c and packet.c, which say why.
	 */
	.set	LAUNCH, 2

	.macro	quick timed args deeper
	.set	nested, 0
	.ifc	\deeper, 0
	.set	nested, 1
	.endif
	.set	frame, CT_SIMPLE_SIZE	/* what is left of 16 bytes with the return address */
	.if \args
	.set	frame, CT_FRAME_SIZE + 8
	.endif
	.set	saved, CT_FRAME_RESULT + 8	/* rcx, where it is needed */
	.set	saved_rdx, CT_FRAME_RESULT
	.if \args
	.set	saved, CT_FRAME_ARG + 24
	.set	saved_rdx, CT_FRAME_ARG + 16
	.endif
	subq	$frame, %rsp
	.cfi_def_cfa_offset frame + 8
	movq	ct_self@gottpoff(%rip), %r10
	.if \timed
	/* With both halves: nor does the backend want to know of begins. */
	movq	ct_process_page(%rip), %rax
	cmpq	%rax, %fs:CT_THREAD_LIFE(%r10)
	.else
	movl	ct_process_page(%rip), %eax
	cmpl	%eax, %fs:CT_THREAD_LIFE(%r10)
	.endif
	jne	9f
	movq	%rax, CT_FRAME_LIFE(%rsp)	/* and no flags */
	movq	%fs:CT_THREAD_OPEN(%r10), %rax
	.if nested
	movq	%rcx, saved(%rsp)
	movl	CT_OPEN_DEPTH(%rax), %ecx
	movl	%ecx, CT_FRAME_LEVEL(%rsp)
	decl	%ecx
	cmpl	$CT_OPEN_SIMPLE - 1, %ecx
	jae	8f
	shll	$5, %ecx
	addq	%rax, %rcx
	/*
	 * The call around this one is there as long as its frame is above ours, which begins
	 * where that ends if libcuda has jumped to us.
	 */
	leaq	frame + 8(%rsp), %rax
	cmpq	%rax, CT_OPEN_STACK(%rcx)
	jb	8f
	addq	$32, %rcx
	.else
	cmpl	$0, CT_OPEN_DEPTH(%rax)
	jne	.Ldeeper\@
	.endif
	.if \args
	movq	%rdi, CT_FRAME_ARG+0(%rsp)
	movq	%rsi, CT_FRAME_ARG+8(%rsp)
	movq	%rdx, CT_FRAME_ARG+16(%rsp)
	.ifeq nested
	movq	%rcx, CT_FRAME_ARG+24(%rsp)
	.endif
	movq	%r8, CT_FRAME_ARG+32(%rsp)
	movq	%r9, CT_FRAME_ARG+40(%rsp)
	.endif
	.if \timed
	.ifeq \args
	movq	%rdx, saved_rdx(%rsp)
	.endif
	stamp	7f
	movq	%rax, CT_CLAIM_BEGIN(%rsp)
	movq	%r11, CT_FRAME_SLOT(%rsp)
	movl	$1, %edx
	xaddq	%rdx, %fs:CT_THREAD_OPS(%r10)
	movq	%rdx, CT_CLAIM_OP(%rsp)
	.else
	movq	%r11, CT_FRAME_SLOT(%rsp)
	movl	$1, %r11d
	xaddq	%r11, %fs:CT_THREAD_OPS(%r10)
	movq	%r11, CT_CLAIM_OP(%rsp)
	.endif
	.if nested
.Lopen\@:
	open	\timed, %rcx
	/* The entry's page, though a handler may have moved it. */
	movq	%rcx, %rax
	andq	$-4096, %rax
	movl	CT_FRAME_LEVEL(%rsp), %r10d
	incl	%r10d
	movl	%r10d, CT_OPEN_DEPTH(%rax)
	taken	\timed, %rcx
	.elseif \timed
	movq	%fs:CT_THREAD_OPEN(%r10), %r10
.Lopen\@:
	open	\timed, %r10
	movl	$1, CT_OPEN_DEPTH(%r10)
	taken	\timed, %r10
	.else
.Lopen\@:
	open	\timed, %rax
	movl	$1, CT_OPEN_DEPTH(%rax)
	taken	\timed, %rax
	.endif
	jne	3f
	.if nested
	movq	saved(%rsp), %rcx
	.endif
	.if \timed
	movq	saved_rdx(%rsp), %rdx
	.endif
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
	jmp	6f
	.endif
1:	call	*(%r11)
6:	movq	%rax, CT_FRAME_RESULT(%rsp)
	/*
	 * To read the counter waits for libcuda's last instructions: what can be done before
	 * is done meanwhile, but for what takes longer than they do.
	 */
	.if \args == 1
	movq	ct_self@gottpoff(%rip), %r10
	stamp	.Lunstamped\@
	movl	CT_FRAME_LIFE(%rsp), %ecx
	cmpl	%ecx, ct_process_page(%rip)
	jne	.Lslowly\@
	movq	%rax, CT_CLAIM_STAMP(%rsp)
	movq	CT_FRAME_SLOT(%rsp), %rax
	movq	%rsp, %rdi
	leaq	CT_FRAME_PAYLOAD(%rsp), %rsi
	movl	$1, %edx
	call	*CT_SLOT_EXTRACT(%rax)
	movq	ct_self@gottpoff(%rip), %r10
	undisturbed .Lstamped\@
	result_word \timed, \args
	movq	CT_CLAIM_STAMP(%rsp), %rax
	.else
	.if \args == LAUNCH
	launch_words .Lsearch\@, .Lnamed\@
	.endif
	movq	ct_self@gottpoff(%rip), %r10
	movl	CT_FRAME_LIFE(%rsp), %eax
	cmpl	%eax, ct_process_page(%rip)
	jne	.Lunstamped\@
	undisturbed .Lunstamped\@
	result_word \timed, \args
	stamp	.Lunstamped\@
	.endif
	/* rax: when the call ended. */
	.if \timed
	/* Its duration: 48 bits. */
	movq	%rax, %r9
	subq	CT_CLAIM_BEGIN(%rsp), %r9
	movq	%r9, %rdx
	shrq	$48, %rdx
	jnz	.Lslowly\@
	.endif
	/* The claim.  rdx: the record's first word; ecx: the upper half of its second. */
	movq	%rax, %rdx
	shlq	$16, %rdx
	movw	CT_SLOT_CLASS(%r11), %dx
	rorq	$16, %rdx
	movq	%rdx, CT_CLAIM_STAMP(%rsp)
	movl	%ecx, CT_CLAIM_WORD(%rsp)
	.if \args
	leaq	CT_FRAME_PAYLOAD(%rsp), %rsi
	movl	%r8d, CT_CLAIM_SIZE(%rsp)
	movq	%rsi, CT_CLAIM_PAYLOAD(%rsp)
	movl	$CT_CLAIMED, CT_CLAIM_MARK(%rsp)
	.else
	movq	$CT_CLAIMED, CT_CLAIM_MARK(%rsp)	/* and no payload */
	.endif
	movq	%rsp, %fs:CT_THREAD_WRITER(%r10)
	/* Is its op one that the packet can tell, is there room, and is it later than what is there? */
	movq	CT_CLAIM_OP(%rsp), %rsi
	subq	%fs:CT_THREAD_OP_BASE(%r10), %rsi
	cmpq	$CT_OP_SPAN, %rsi
	jae	4f
	shlq	$32, %rcx
	orq	%rsi, %rcx
	movq	%fs:CT_THREAD_PACKET(%r10), %rdi
	movq	CT_PACKET_CONTENT(%rdi), %r11
	cmpq	CT_PACKET_TS_END(%rdi), %rax
	jbe	4f
	.if \args
	leaq	24 * 8(%r11,%r8,8), %r8
	.else
	leaq	24 * 8(%r11), %r8
	.endif
	cmpq	%r8, %fs:CT_THREAD_LIMIT(%r10)
	jb	4f
	shrq	$3, %r11
	addq	%rdi, %r11
	/* The next records' line, which the CPU that stores packets may have. */
	prefetchw 192(%r11)
	/*
	 * In whole words: a handler may have stored and committed this record since its
	 * place was read, and then the same is stored over it.
	 */
	movq	%rdx, (%r11)
	movq	%rcx, 8(%r11)
	movq	%fs:CT_THREAD_CPU(%r10), %rcx
	movl	(%rcx), %ecx
	shlq	$48, %rcx
	.if \timed
	orq	%r9, %rcx
	.endif
	movq	%rcx, 16(%r11)
	.if \args == LAUNCH
	.irp	word, 0, 8, 16, 24, 32
	movq	CT_FRAME_PAYLOAD+\word(%rsp), %rcx
	movq	%rcx, 24+\word(%r11)
	.endr
	.elseif \args
	movl	CT_CLAIM_SIZE(%rsp), %edx
1:	movq	CT_FRAME_PAYLOAD-8(%rsp,%rdx), %rcx
	movq	%rcx, 24-8(%r11,%rdx)
	subl	$8, %edx
	jnz	1b
	.endif
	/*
	 * The commit.  After the look at the mark a handler that writes changes what we are
	 * about to store.  (What is popped stays in the red zone as long as it is needed.)
	 */
	movq	%rax, CT_CLAIM_END(%rsp)
	movq	%r8, CT_CLAIM_CONTENT(%rsp)
	cmpl	$CT_CLAIMED, CT_CLAIM_MARK(%rsp)
	jne	4f
	popq	CT_PACKET_TS_END(%rdi)
	.cfi_adjust_cfa_offset -8
	popq	CT_PACKET_CONTENT(%rdi)
	.cfi_adjust_cfa_offset -8
	movq	%rax, %fs:CT_THREAD_LAST(%r10)
	/* As long as a writer is inside, no handler moves the page. */
.Lwritten\@:
	movq	%fs:CT_THREAD_OPEN(%r10), %rax
	.if nested
	movl	CT_FRAME_LEVEL-16(%rsp), %ecx
	movl	%ecx, CT_OPEN_DEPTH(%rax)
	.else
	movl	$0, CT_OPEN_DEPTH(%rax)
	.endif
	movq	$0, %fs:CT_THREAD_WRITER(%r10)
.Lleft\@:
	movq	CT_FRAME_RESULT-16(%rsp), %rax
	addq	$frame - 16, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_def_cfa_offset frame + 8

	/* A handler has written our record. */
5:	addq	$16, %rsp
	.cfi_adjust_cfa_offset -16
	jmp	.Lwritten\@
	.cfi_adjust_cfa_offset 16

	/* A handler used our place before we had it; now it is ours. */
3:
	.if \timed
	movq	CT_CLAIM_BEGIN(%rsp), %rax
	.else
	movq	CT_CLAIM_OP(%rsp), %r11
	movq	ct_self@gottpoff(%rip), %r10
	.endif
	jmp	.Lopen\@
	/* A handler was first, and has perhaps written our record; or there is no room. */
4:	cmpl	$CT_CLAIM_DONE, CT_CLAIM_MARK(%rsp)
	je	5b
	movq	$0, %fs:CT_THREAD_WRITER(%r10)
	/* (One that came in between has done it, too.) */
	cmpl	$CT_CLAIM_DONE, CT_CLAIM_MARK(%rsp)
	je	5b
	jmp	.Lslowly\@
	.if \args == 1
.Lstamped\@:
	movq	CT_CLAIM_STAMP(%rsp), %rax
	jmp	.Lslowly\@
	.endif
.Lunstamped\@:
	xorl	%eax, %eax
.Lslowly\@:
	.ifeq nested
	movl	$0, CT_FRAME_LEVEL(%rsp)
	.endif
	movq	%rsp, %rdi
	movq	%rax, %rsi
	call	ct_leave
	addq	$16, %rsp
	.cfi_adjust_cfa_offset -16
	jmp	.Lleft\@
	.cfi_adjust_cfa_offset 16
	.if \args == LAUNCH
.Lsearch\@:
	call	ct_kernel_name
	movl	%eax, %eax
	jmp	.Lnamed\@
	.endif
	/* Another way: all as it came. */
	.if \timed
7:	movq	saved_rdx(%rsp), %rdx
	.endif
8:
	.if nested
	movq	saved(%rsp), %rcx
	.endif
9:	addq	$frame, %rsp
	.cfi_def_cfa_offset 8
	jmp	ct_way_full
	.ifeq nested
	.cfi_def_cfa_offset frame + 8
.Ldeeper\@:
	addq	$frame, %rsp
	.cfi_def_cfa_offset 8
	jmp	\deeper
	.endif
	.endm

	/* rax: the time; see clock.h. */
	.macro	stamp else
	CT_RDTSC
	subl	%fs:CT_THREAD_TSC(%r10), %eax
	sbbl	%fs:CT_THREAD_TSC+4(%r10), %edx
	jne	\else
	imulq	%fs:CT_THREAD_MULT(%r10), %rax
	shrq	$31, %rax
	addq	%fs:CT_THREAD_NS(%r10), %rax
	.endm

	/* Nothing has happened that ct_leave() has to see to.  ecx: the result; r8: the level. */
	.macro	undisturbed else
	movl	CT_FRAME_RESULT(%rsp), %ecx
	cmpl	$0xffff, %ecx
	ja	\else
	movq	%fs:CT_THREAD_OPEN(%r10), %r9
	.if nested
	movl	CT_FRAME_LEVEL(%rsp), %r8d
	leal	1(%r8), %eax
	cmpl	%eax, CT_OPEN_DEPTH(%r9)
	.else
	cmpl	$1, CT_OPEN_DEPTH(%r9)
	.endif
	jne	\else
	cmpq	$0, %fs:CT_THREAD_WRITER(%r10)
	jne	\else
	movq	%fs:CT_THREAD_ACCEPTING(%r10), %rax
	movl	(%rax), %eax
	cmpl	%fs:CT_THREAD_SESSION(%r10), %eax
	jne	\else
	.endm

	/* ecx: what the record says of the call's end.  r11: the slot; r8: the payload's size. */
	.macro	result_word timed args
	movq	CT_FRAME_SLOT(%rsp), %r11
	shll	$16, %ecx
	.if nested
	orl	%r8d, %ecx
	.endif
	.if \args
	movzbl	CT_SLOT_SIZE(%r11), %r8d
	.endif
	.ifeq \timed
	orl	$CT_WORD_INSTANT, %ecx
	.endif
	.endm

	/* As ct_x_launch() does: of all calls with arguments it is the most frequent. */
	.macro	launch_words search named
	movq	CT_FRAME_ARG(%rsp), %rdi
	movq	ct_kernels(%rip), %rdx
	movabsq	$CT_KERNEL_HASH, %rax
	testq	%rdx, %rdx
	jz	\search
	imulq	%rdi, %rax
	shrq	$64 - CT_KERNEL_BITS, %rax
	leaq	(%rax,%rax,2), %rax
	cmpq	%rdi, (%rdx,%rax,8)
	jne	\search
	movl	CT_KERNEL_NAME(%rdx,%rax,8), %eax
\named:
	movq	frame + 16(%rsp), %rdx
	two_words 0
	movl	CT_FRAME_ARG+8(%rsp), %eax
	movq	CT_FRAME_ARG+16(%rsp), %rdx
	two_words 8
	movl	CT_FRAME_ARG+24(%rsp), %eax
	movq	CT_FRAME_ARG+32(%rsp), %rdx
	two_words 16
	movl	CT_FRAME_ARG+40(%rsp), %eax
	movq	frame + 8(%rsp), %rdx
	two_words 24
	movq	frame + 24(%rsp), %rax
	movq	%rax, CT_FRAME_PAYLOAD+32(%rsp)
	.endm

	.macro	two_words at
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, CT_FRAME_PAYLOAD+\at(%rsp)
	.endm

	/*
	 * An open call's entry, but for the depth.  The op first: see call.c.  It is in rdx,
	 * with the begin in rax, of a timed call, else in r11.  Leaves the slot in r11.
	 */
	.macro	open timed entry
	.if \timed
	movq	%rdx, CT_OPEN_OP(\entry)
	movq	%rax, CT_OPEN_BEGIN(\entry)
	movq	%rsp, CT_OPEN_STACK(\entry)
	movq	CT_SLOT_OPEN(%r11), %rax
	movq	%rax, CT_OPEN_CLASS(\entry)
	.else
	movq	%r11, CT_OPEN_OP(\entry)
	movq	%fs:CT_THREAD_LAST(%r10), %r11
	movq	%r11, CT_OPEN_BEGIN(\entry)
	movq	%rsp, CT_OPEN_STACK(\entry)
	movq	CT_FRAME_SLOT(%rsp), %r11
	movq	CT_SLOT_OPEN(%r11), %r10
	movq	%r10, CT_OPEN_CLASS(\entry)
	.endif
	.endm

	/* Is it still ours?  The op as above. */
	.macro	taken timed entry
	.if \timed
	cmpq	%rdx, CT_OPEN_OP(\entry)
	.else
	movq	CT_CLAIM_OP(%rsp), %r10
	cmpq	%r10, CT_OPEN_OP(\entry)
	.endif
	.endm

	/* ecx words of the caller's stack, which begin above the frame, go below it. */
	.macro	copy_words
	leal	1(%rcx), %eax
	andl	$-2, %eax
	shll	$3, %eax
	subq	%rax, %rsp
1:	subl	$1, %ecx
	movq	16(%rbp,%rcx,8), %rax
	movq	%rax, (%rsp,%rcx,8)
	jnz	1b
	.endm

	.macro	way name timed args deeper
	.balign	64
	.type	\name, @function
\name:
	.cfi_startproc
	quick	\timed, \args, \deeper
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.macro	entry way
	.globl	\way
	.hidden	\way
	.endm

	entry	ct_way_query
	entry	ct_way_call
	entry	ct_way_ask
	entry	ct_way_args
	entry	ct_way_launch
	entry	ct_way_full

	way	ct_way_query, 0, 0, query_nested
	way	ct_way_call, 1, 0, call_nested
	way	ct_way_ask, 0, 1, ask_nested
	way	ct_way_args, 1, 1, args_nested
	way	ct_way_launch, 1, LAUNCH, launch_nested
	way	query_nested, 0, 0, 0
	way	call_nested, 1, 0, 0
	way	ask_nested, 0, 1, 0
	way	args_nested, 1, 1, 0
	way	launch_nested, 1, LAUNCH, 0

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
	movq	%rdi, CT_FRAME_ARG-CT_FRAME_SIZE+0(%rbp)
	movq	%rsi, CT_FRAME_ARG-CT_FRAME_SIZE+8(%rbp)
	movq	%rdx, CT_FRAME_ARG-CT_FRAME_SIZE+16(%rbp)
	movq	%rcx, CT_FRAME_ARG-CT_FRAME_SIZE+24(%rbp)
	movq	%r8, CT_FRAME_ARG-CT_FRAME_SIZE+32(%rbp)
	movq	%r9, CT_FRAME_ARG-CT_FRAME_SIZE+40(%rbp)
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
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+0(%rbp), %rdi
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+8(%rbp), %rsi
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+16(%rbp), %rdx
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+24(%rbp), %rcx
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+32(%rbp), %r8
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+40(%rbp), %r9
	call	*%r11
	movq	%rax, CT_FRAME_RESULT-CT_FRAME_SIZE(%rbp)
	leaq	-CT_FRAME_SIZE(%rbp), %rdi
	xorl	%esi, %esi
	call	ct_leave
	movq	CT_FRAME_RESULT-CT_FRAME_SIZE(%rbp), %rax
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_restore_state

.Lcopy_stack:
	copy_words
	jmp	.Lcall

	/* Anything in, anything out. */
.Lvectors:
	movq	%rax, CT_FRAME_RAX-CT_FRAME_SIZE(%rbp)
	movq	%r10, CT_FRAME_R10-CT_FRAME_SIZE(%rbp)
	movaps	%xmm0, CT_FRAME_XMM-CT_FRAME_SIZE+0(%rbp)
	movaps	%xmm1, CT_FRAME_XMM-CT_FRAME_SIZE+16(%rbp)
	movaps	%xmm2, CT_FRAME_XMM-CT_FRAME_SIZE+32(%rbp)
	movaps	%xmm3, CT_FRAME_XMM-CT_FRAME_SIZE+48(%rbp)
	movaps	%xmm4, CT_FRAME_XMM-CT_FRAME_SIZE+64(%rbp)
	movaps	%xmm5, CT_FRAME_XMM-CT_FRAME_SIZE+80(%rbp)
	movaps	%xmm6, CT_FRAME_XMM-CT_FRAME_SIZE+96(%rbp)
	movaps	%xmm7, CT_FRAME_XMM-CT_FRAME_SIZE+112(%rbp)
	call	ct_enter
	movq	%rax, %r11
	movl	CT_FRAME_WORDS-CT_FRAME_SIZE(%rbp), %ecx
	testl	%ecx, %ecx
	jz	2f
	copy_words
2:	movaps	CT_FRAME_XMM-CT_FRAME_SIZE+0(%rbp), %xmm0
	movaps	CT_FRAME_XMM-CT_FRAME_SIZE+16(%rbp), %xmm1
	movaps	CT_FRAME_XMM-CT_FRAME_SIZE+32(%rbp), %xmm2
	movaps	CT_FRAME_XMM-CT_FRAME_SIZE+48(%rbp), %xmm3
	movaps	CT_FRAME_XMM-CT_FRAME_SIZE+64(%rbp), %xmm4
	movaps	CT_FRAME_XMM-CT_FRAME_SIZE+80(%rbp), %xmm5
	movaps	CT_FRAME_XMM-CT_FRAME_SIZE+96(%rbp), %xmm6
	movaps	CT_FRAME_XMM-CT_FRAME_SIZE+112(%rbp), %xmm7
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+0(%rbp), %rdi
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+8(%rbp), %rsi
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+16(%rbp), %rdx
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+24(%rbp), %rcx
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+32(%rbp), %r8
	movq	CT_FRAME_ARG-CT_FRAME_SIZE+40(%rbp), %r9
	movq	CT_FRAME_RAX-CT_FRAME_SIZE(%rbp), %rax
	movq	CT_FRAME_R10-CT_FRAME_SIZE(%rbp), %r10
	call	*%r11
	movq	%rax, CT_FRAME_RESULT-CT_FRAME_SIZE(%rbp)
	movq	%rdx, CT_FRAME_RESULT-CT_FRAME_SIZE+8(%rbp)
	movaps	%xmm0, CT_FRAME_XMM-CT_FRAME_SIZE+0(%rbp)
	movaps	%xmm1, CT_FRAME_XMM-CT_FRAME_SIZE+16(%rbp)
	leaq	-CT_FRAME_SIZE(%rbp), %rdi
	xorl	%esi, %esi
	call	ct_leave
	movaps	CT_FRAME_XMM-CT_FRAME_SIZE+0(%rbp), %xmm0
	movaps	CT_FRAME_XMM-CT_FRAME_SIZE+16(%rbp), %xmm1
	movq	CT_FRAME_RESULT-CT_FRAME_SIZE(%rbp), %rax
	movq	CT_FRAME_RESULT-CT_FRAME_SIZE+8(%rbp), %rdx
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	ct_way_full, . - ct_way_full

	/* Code here begins with endbr64 and returns only where it was called. */
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

	.section .note.GNU-stack, "", @progbits
