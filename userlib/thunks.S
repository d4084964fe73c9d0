/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thunks: what a program gets instead of a pointer into libcuda.  A static
 * pool, so that no page is ever writable and executable, and so that unwind
 * tables describe every instruction: exceptions, backtraces and thread
 * cancellation pass through as through any function.
 *
 * A thunk calls ct_enter(), the target with a copy of its stack arguments, and
 * ct_leave(); for a simple query it does the first itself.  Must never change a return
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
	.balign	64
	.type	thunk_common, @function
thunk_common:
	.cfi_startproc
	testb	$CT_SLOT_SIMPLE, CT_SLOT_FLAGS(%r11)
	jnz	simple_query
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

	/*
	 * Eight of ten calls are these: nothing of the arguments is needed, so they stay
	 * where they are, and what ct_enter() does is done with the three registers
	 * that a call may change, and one that is put back.
	 */
	.balign	64
	.type	simple_query, @function
simple_query:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$CT_QUERY_FRAME, %rsp
	movq	ct_self@gottpoff(%rip), %r10
	movl	ct_process_page(%rip), %eax
	cmpl	%eax, %fs:CT_THREAD_LIFE(%r10)
	jne	.Lnot_simple
	movl	%eax, CT_QUERY_LIFE(%rsp)
	movq	%fs:CT_THREAD_OPEN(%r10), %rax
	movq	%rcx, CT_QUERY_RESULT(%rsp)
	movl	CT_OPEN_DEPTH(%rax), %ecx
	cmpl	$CT_OPEN_SIMPLE, %ecx
	jae	.Lnot_simple_rcx
	movl	%ecx, CT_QUERY_LEVEL(%rsp)
	movq	%r11, CT_QUERY_SLOT(%rsp)
	leaq	16(%rbp), %r11
	shlq	$5, %rcx
	jz	1f
	/* The call around this one is there as long as its frame is above ours. */
	cmpq	%r11, CT_OPEN_STACK-32(%rax,%rcx)
	jbe	.Lnot_simple_slot
1:	addq	%rax, %rcx
	movl	$1, %r11d
	xaddq	%r11, %fs:CT_THREAD_OPS(%r10)
	incq	%r11
	movq	%r11, CT_QUERY_OP(%rsp)
	/* The op first: see open_call() in call.c. */
	movq	%r11, CT_OPEN_OP(%rcx)
	leaq	16(%rbp), %r11
	movq	%r11, CT_OPEN_STACK(%rcx)
	movq	%fs:CT_THREAD_PACKET(%r10), %r11
	movq	CT_PACKET_TS_END(%r11), %r11
	movq	%r11, CT_OPEN_BEGIN(%rcx)
	movq	CT_QUERY_SLOT(%rsp), %r11
	movq	CT_SLOT_OPEN(%r11), %r10
	movq	%r10, CT_OPEN_CLASS(%rcx)
	incl	CT_OPEN_DEPTH(%rax)
	movq	CT_QUERY_OP(%rsp), %r10
	cmpq	%r10, CT_OPEN_OP(%rcx)
	jne	.Lopen_again
.Lopened:
	movq	CT_QUERY_RESULT(%rsp), %rcx
	call	*(%r11)
	movq	%rax, CT_QUERY_RESULT(%rsp)
	movq	%rsp, %rdi
	call	ct_leave_query
	movq	CT_QUERY_RESULT(%rsp), %rax
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_restore_state
	/* A handler used our place before we had it; now it is ours. */
.Lopen_again:
	movq	%r10, CT_OPEN_OP(%rcx)
	leaq	16(%rbp), %rax
	movq	%rax, CT_OPEN_STACK(%rcx)
	movq	CT_SLOT_OPEN(%r11), %rax
	movq	%rax, CT_OPEN_CLASS(%rcx)
	jmp	.Lopened
.Lnot_simple_slot:
	movq	CT_QUERY_SLOT(%rsp), %r11
.Lnot_simple_rcx:
	movq	CT_QUERY_RESULT(%rsp), %rcx
.Lnot_simple:
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	jmp	.Lfull
	.cfi_endproc
	.size	simple_query, . - simple_query

	/* Code here begins with endbr64 and returns only where it was called. */
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

	.section .note.GNU-stack, "", @progbits
