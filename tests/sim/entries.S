/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The entries of a stand-in libcuda, in the shapes that the real one has: each exported
 * function goes through a word of its own in writable data.  The real function behind it is
 * inside_NAME; entry_NAME is the exported one, for tables of pointers.
 *
 *	SHAPE 470: of drivers 470 to 570, a compare and a jump
 *	SHAPE 580: a frame, a compare, a call
 *	SHAPE 595: a compare, a frame, a call
 *
 * (Of a libcuda without a table, link_libcuda lets entry_NAME be the function itself.)
 *
 * ENTRIES names a file with a line for each function: "entry NAME, words on the stack".
 */
	.text

	.macro	begin name
	.globl	\name
	.type	\name, @function
	.globl	entry_\name
	.hidden	entry_\name
	.balign	16
\name:
entry_\name:
	.cfi_startproc
	.endm

	.macro	finish name
	.cfi_endproc
	.size	\name, . - \name
	.pushsection .cuda_words, "aw"
	.balign	8
#ifdef TWICE	/* two functions go through one word, as those of no libcuda do */
	.ifc	\name, cuMockErrno
	.set	word_\name, word_cuMockCount
	.endif
#endif
	.ifndef	word_\name
word_\name:
	.quad	inside_\name
	.endif
	.popsection
	.endm

	/* After the end of libcuda. */
	.macro	alive
	cmpl	$0x0ff, libcuda_ended(%rip)
	.endm

	/* The arguments on the stack once more, below a frame that is made. */
	.macro	arguments words
	.if	\words & 1
	subq	$8, %rsp
	.endif
	.set	at, \words
	.rept	\words
	.set	at, at - 1
	pushq	16 + 8 * at(%rbp)
	.endr
	.endm

	.macro	frame
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	.endm

	.macro	entry name, words
#if SHAPE == 470
	begin	\name
	alive
	je	1f
	jmpq	*word_\name(%rip)
1:	movl	$4, %eax
	ret
	finish	\name
#elif SHAPE == 580
	begin	\name
	frame
	pushq	%r12
	.cfi_offset %r12, -24
	subq	$8, %rsp
	alive
	je	1f
	arguments \words
	callq	*word_\name(%rip)
	jmp	2f
1:	movl	$4, %eax
2:	leaq	-8(%rbp), %rsp
	popq	%r12
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %r12
	.cfi_restore %rbp
	ret
	finish	\name
#elif SHAPE == 595
	begin	\name
	alive
	je	1f
	frame
	arguments \words
	callq	*word_\name(%rip)
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
1:	movl	$4, %eax
	ret
	finish	\name
#else
#error SHAPE is none of 470, 580, 595
#endif
	.endm

	.pushsection .cuda_words, "aw"
	.balign	8
	.hidden	libcuda_ended
	.globl	libcuda_ended
libcuda_ended:
	.quad	0
	.hidden	libcuda_words
	.globl	libcuda_words
libcuda_words:
	.popsection

#include ENTRIES

	.pushsection .cuda_words, "aw"
	.hidden	libcuda_words_end
	.globl	libcuda_words_end
libcuda_words_end:
	.popsection

	.section .note.GNU-stack, "", @progbits
