// SPDX-License-Identifier: LGPL-2.1-or-later
/* See seccomp.h.  A filter is a program of classic BPF: it is run here for each call that will be made there. */
#include "attach/seccomp.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

#define FILTERS_MOST	64	/* of a thread; the kernel has no such limit, but adds their lengths up */
#define STEPS_MOST	65536	/* a filter has 4,096 instructions, and jumps forwards only */

#define THREAD_FLAGS	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | \
			 CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

/*
 * What the loader does to bring the library in, and what that does then; those arguments by which filters decide.
 * tests/userlib/calls_made.c compares the list with what is made.
 */
static const struct call {
	const char *name;
	int nr;
	uint64_t args[3];
} calls[] = {
#define CALL(name, ...) { #name, SYS_##name, { __VA_ARGS__ } }
	CALL(memfd_create, 0, MFD_CLOEXEC), CALL(openat), CALL(read), CALL(pread64), CALL(fstat), CALL(newfstatat), CALL(close),
	CALL(mmap, 0, 4096, PROT_READ | PROT_EXEC), CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE),
	CALL(mprotect, 0, 4096, PROT_READ), CALL(munmap), CALL(mremap), CALL(madvise),
	CALL(clone, THREAD_FLAGS), CALL(rt_sigprocmask), CALL(rt_sigpending), CALL(futex), CALL(prctl, PR_GET_NAME), CALL(prctl, PR_SET_NAME),
	CALL(prlimit64), CALL(nanosleep),
	CALL(write), CALL(poll), CALL(pwrite64), CALL(fallocate), CALL(ftruncate), CALL(unlinkat), CALL(readlink), CALL(readlinkat),
	CALL(getdents64), CALL(getpid), CALL(gettid), CALL(getppid), CALL(getuid), CALL(geteuid), CALL(clock_gettime),
	CALL(process_vm_readv), CALL(process_vm_writev), CALL(exit), CALL(set_robust_list), CALL(sched_yield),
#ifdef SYS_rseq
	CALL(rseq),
#endif
#ifdef SYS_clone3
	CALL(clone3),
#endif
};

/* What the filter answers.  One that is no program that the kernel would take allows the call. */
static uint32_t seccomp_run(const struct sock_filter *code, unsigned int count, const struct seccomp_data *data)
{
	uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = { 0 };
	unsigned int pc = 0;

	for (int steps = 0; pc < count && steps < STEPS_MOST; steps++) {
		const struct sock_filter *f = &code[pc++];
		uint32_t operand = BPF_SRC(f->code) == BPF_X ? x : f->k, word = f->k % BPF_MEMWORDS;
		bool jump = false;

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
		case BPF_LDX:
			switch (BPF_MODE(f->code)) {
			case BPF_ABS:
				if (f->k > sizeof(*data) - sizeof(a))
					return SECCOMP_RET_ALLOW;
				memcpy(&a, (const char *)data + f->k, sizeof(a));
				continue;
			case BPF_IMM: operand = f->k; break;
			case BPF_MEM: operand = memory[word]; break;
			case BPF_LEN: operand = sizeof(*data); break;
			default: return SECCOMP_RET_ALLOW;
			}
			*(BPF_CLASS(f->code) == BPF_LD ? &a : &x) = operand;
			break;
		case BPF_ST: memory[word] = a; break;
		case BPF_STX: memory[word] = x; break;
		case BPF_ALU:
			switch (BPF_OP(f->code)) {
			case BPF_ADD: a += operand; break;
			case BPF_SUB: a -= operand; break;
			case BPF_MUL: a *= operand; break;
			case BPF_DIV: a = operand ? a / operand : 0; break;
			case BPF_OR: a |= operand; break;
			case BPF_AND: a &= operand; break;
			case BPF_XOR: a ^= operand; break;
			case BPF_LSH: a = operand < 32 ? a << operand : 0; break;
			case BPF_RSH: a = operand < 32 ? a >> operand : 0; break;
			case BPF_NEG: a = -a; break;
			}
			break;
		case BPF_JMP:
			if (BPF_OP(f->code) == BPF_JA) {
				pc += f->k;
				break;
			}
			switch (BPF_OP(f->code)) {
			case BPF_JEQ: jump = a == operand; break;
			case BPF_JGT: jump = a > operand; break;
			case BPF_JGE: jump = a >= operand; break;
			case BPF_JSET: jump = a & operand; break;
			}
			pc += jump ? f->jt : f->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(f->code) == BPF_A ? a : f->k;
		case BPF_MISC:
			if (BPF_MISCOP(f->code) == BPF_TAX)
				x = a;
			else
				a = x;
			break;
		}
	}
	return SECCOMP_RET_ALLOW;
}

static bool seccomp_is_end(uint32_t answer)
{
	uint32_t action = answer & SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_KILL_PROCESS || action == SECCOMP_RET_KILL_THREAD || action == SECCOMP_RET_TRAP;
}

const char *ct_seccomp_ends(pid_t tid)
{
	struct sock_filter *code = malloc(BPF_MAXINSNS * sizeof(*code));
	const char *ends = NULL;

	for (long i = 0; code && !ends && i < FILTERS_MOST; i++) {
		long count = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, i, NULL);

		if (count <= 0 || count > BPF_MAXINSNS || ptrace(PTRACE_SECCOMP_GET_FILTER, tid, i, code) != count)
			break;
		for (unsigned int c = 0; c < sizeof(calls) / sizeof(calls[0]) && !ends; c++) {
			struct seccomp_data data = { .nr = calls[c].nr, .arch = AUDIT_ARCH_X86_64 };

			for (int arg = 0; arg < 3; arg++)
				data.args[arg] = calls[c].args[arg];
			if (seccomp_is_end(seccomp_run(code, (unsigned int)count, &data)))
				ends = calls[c].name;
		}
	}
	free(code);
	return ends;
}
