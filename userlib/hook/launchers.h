/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which rank of a job a process is, by its environment: for the library, which looks at its own, and for
 * cudatrace snapshot, which looks at that of the processes in the module's session.
 */
#ifndef CT_LAUNCHERS_H
#define CT_LAUNCHERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CT_ENVIRONMENT_MAX	(256u << 10)	/* bytes; what is behind them is not looked at */
#define CT_RANK_LINE_MAX	192

/*
 * What launchers set: rank, ranks, rank on the node, ranks of the node, node.  The first whose rank
 * and whose sign are there counts.  The sign tells launchers apart that set the same; "": none.
 */
static const struct ct_launcher {
	char name[12], sign[24];
	char variables[5][28];
} ct_launchers[] = {
	{ "torchrun", "TORCHELASTIC_RUN_ID",
	  { "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK" } },
	{ "deepspeed", "CROSS_SIZE", { "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK" } },
	{ "ray", "RAY_JOB_ID", { "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK" } },
	{ "", "", { "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK" } },
	{ "mpirun", "OMPI_COMM_WORLD_SIZE",
	  { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
	    "OMPI_COMM_WORLD_LOCAL_SIZE", "" } },
	{ "mpirun", "PMI_SIZE", { "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "" } },
	/* A batch script has these, too, and is no rank: it is no step. */
	{ "srun", "SLURM_STEP_ID",
	  { "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", "SLURM_NODEID" } },
};

/* Its value in the n bytes of an environment, which ends with NUL; NULL: it is not there. */
static inline const char *ct_environment_value(const char *env, size_t n, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = env; len && p < env + n; p += strlen(p) + 1)
		if (!strncmp(p, name, len) && p[len] == '=')
			return p + len + 1;
	return NULL;
}

static inline size_t ct_rank_put(char *line, size_t used, const char *text, size_t n)
{
	if (n > CT_RANK_LINE_MAX - 1 - used)
		n = CT_RANK_LINE_MAX - 1 - used;
	memcpy(line + used, text, n);
	line[used + n] = 0;
	return used + n;
}

/*
 * The text of the line "info rank": "PID rank=3 size=8 local_rank=3 local_size=8 node=0 launcher=torchrun".  @env: @n bytes,
 * the last one NUL.  False: it is no rank.
 */
static inline int ct_rank_line(char line[CT_RANK_LINE_MAX], uint32_t pid, const char *env, size_t n)
{
	static const char words[5][16] = { " rank=", " size=", " local_rank=", " local_size=", " node=" };
	const struct ct_launcher *l = ct_launchers, *end = l + sizeof(ct_launchers) / sizeof(*ct_launchers);
	char digits[10];
	size_t used = 0, count = sizeof(digits);

	while (l < end && ((*l->sign && !ct_environment_value(env, n, l->sign)) || !ct_environment_value(env, n, l->variables[0])))
		l++;
	if (l == end)
		return 0;
	do {
		digits[--count] = (char)('0' + pid % 10);
		pid /= 10;
	} while (pid);
	used = ct_rank_put(line, used, digits + count, sizeof(digits) - count);
	for (int i = 0; i < 5; i++) {
		const char *value = ct_environment_value(env, n, l->variables[i]);

		/* The digits at the begin of a value; of "2(x3)" 2. */
		for (count = 0; value && count < 10 && value[count] >= '0' && value[count] <= '9'; count++)
			;
		if (!count)
			continue;
		used = ct_rank_put(line, used, words[i], strlen(words[i]));
		used = ct_rank_put(line, used, value, count);
	}
	if (*l->name) {
		used = ct_rank_put(line, used, " launcher=", 10);
		ct_rank_put(line, used, l->name, strlen(l->name));
	}
	return 1;
}

#endif
