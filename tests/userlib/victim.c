// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The program that the tests trace: each subcommand does one thing that has
 * broken a tracer somewhere, checks that it worked, and exits 0.  It is run with
 * and without the library; its output must be the same.
 */
#include "victim.h"

#include <string.h>
#include <sys/wait.h>

void *lib;

void load(void)
{
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	CHECK(lib);
}

void calls(int n)
{
	__typeof__(cuCtxSetCurrent) *set = GET(cuCtxSetCurrent);

	for (int i = 0; i < n; i++)
		CHECK(!set((void *)1));
}

int await(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static const struct {
	const char *name;
	int (*run)(void);
} commands[] = {
	{ "basic", basic }, { "args", args }, { "floats", floats }, { "edge", edge }, { "proc", proc },
	{ "lookups", lookups }, { "dlmopen", namespaces }, { "threads", threads }, { "crowd", crowd },
	{ "many", many }, { "held", held }, { "capture", capture }, { "names", names }, { "shutdown", shutdown_calls },
	{ "fork", forks }, { "fork_early", fork_early }, { "fork_lookups", fork_lookups },
	{ "fork_first_look", fork_first_look }, { "fork_in_first_look", fork_in_first_look },
	{ "vfork", vforks },
	{ "vfork_calls", vfork_calls }, { "exec", exec_self }, { "exec_bare", exec_bare },
	{ "killed", killed }, { "_exit", quick_exit_now }, { "abort", aborts }, { "hang", hang }, { "crash", crashes },
	{ "longjmp", longjmps }, { "nested", nested }, { "jumped_to", jumped_to }, { "signals", signals },
	{ "signal_jumps", signal_jumps }, { "coroutines", coroutines }, { "reload", reload }, { "errno", errnos },
	{ "marks", marks }, { "exits", exits }, { "closes_all", closes_all },
	{ "fds", fds }, { "limit", limit }, { "limit_all", limit_all },
	{ "unread", unread }, { "directory", directory },
	{ "clock", clocks }, { "until_killed", until_killed }, { "ioctls", ioctls },
	{ "losses", losses }, { "short_names", short_names }, { "short_threads", short_threads }, { "short_crowd", short_crowd },
	{ "short_hang", short_hang }, { "no_files", no_files },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run();
	fprintf(stderr, "usage: victim COMMAND\n");
	return 2;
}
