// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See rank.h.  The environment is read from the kernel's copy, as the process was started with it:
 * a program that uses no CUDA pays nothing, and setenv() of another thread is no danger.
 */
#include "hook/rank.h"

#include "backend/backend.h"
#include "base/process.h"

#define ENVIRONMENT_MAX	(256u << 10)	/* bytes; what is behind them is not looked at */

/*
 * What launchers set: rank, ranks, rank on the node, ranks of the node, node.  The first whose rank
 * and whose sign are there counts.  The sign tells launchers apart that set the same; "": none.
 */
static const struct launcher {
	char name[12], sign[24];
	char variables[5][28];
} launchers[] = {
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

static const char words[5][12] = { "rank", "size", "local_rank", "local_size", "node" };

/* Its value in the n bytes of an environment, which ends with NUL; NULL: it is not there. */
static const char *rank_value(const char *env, size_t n, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = env; len && p < env + n; p += strlen(p) + 1)
		if (!strncmp(p, name, len) && p[len] == '=')
			return p + len + 1;
	return NULL;
}

/* The digits at the begin of a value; of "2(x3)" 2. */
static void rank_put(struct ct_text *line, const char *word, const char *value)
{
	size_t digits = 0;

	while (value && digits < 10 && value[digits] >= '0' && value[digits] <= '9')
		digits++;
	if (!digits)
		return;
	ct_put(line, " ");
	ct_put(line, word);
	ct_put(line, "=");
	ct_put_n(line, value, digits);
}

static void rank_say(const char *env, size_t n, const struct launcher *l)
{
	char buf[192];
	struct ct_text line = { buf, sizeof(buf), 0 };

	ct_put_u(&line, (u32)ct_process->pid);
	for (int i = 0; i < 5; i++)
		rank_put(&line, words[i], rank_value(env, n, l->variables[i]));
	if (*l->name) {
		ct_put(&line, " launcher=");
		ct_put(&line, l->name);
	}
	ct_backend->info("rank", buf);
}

void ct_rank_tell(void)
{
	char *env = ct_map_private(ENVIRONMENT_MAX);
	long n = env ? ct_read_file("/proc/self/environ", env, ENVIRONMENT_MAX - 1) : 0;

	for (unsigned i = 0; n > 0 && i < sizeof(launchers) / sizeof(*launchers); i++) {
		const struct launcher *l = &launchers[i];

		if ((*l->sign && !rank_value(env, (size_t)n, l->sign)) ||
		    !rank_value(env, (size_t)n, l->variables[0]))
			continue;
		rank_say(env, (size_t)n, l);
		break;
	}
	if (env)
		ct_sys2(SYS_munmap, env, ENVIRONMENT_MAX);
}
