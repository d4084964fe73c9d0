// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * many DIR [COMMAND]: many command lines, one after the other.
 *
 * Reads lines of words that are separated by tabs: what would stand behind `cudatrace`.  Each is run by
 * a child; what line N prints is DIR/N.out and DIR/N.err, and a line "N STATUS" is printed, with the
 * status that a shell would give (128 and the signal's number).  What does not end in 600 seconds is
 * killed, and has the status 124.
 *
 * Without COMMAND a child is this program, which has the whole command line in it: nothing is started
 * again.  A start of what is built with the sanitizers takes longer than most of what the tests let it
 * do.  A child has its own memory and is looked through for leaks at its end, as the command itself is.
 */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS	64
#define HANG	600

/* The main() of cli/main.c. */
int ct_main(int argc, char **argv);

static volatile sig_atomic_t hangs;

static void on_alarm(int sig)
{
	(void)sig;
	hangs = 1;
}

/* What is written to descriptor @fd goes to DIR/N.KIND. */
static void redirect(const char *dir, unsigned int n, const char *kind, int fd)
{
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%s/%u.%s", dir, n, kind);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (file < 0 || dup2(file, fd) < 0)
		error(125, errno, "%s", path);
	close(file);
}

static int wait_for(pid_t pid)
{
	int status;

	hangs = 0;
	alarm(HANG);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			error(125, errno, "waitpid");
		if (hangs)
			kill(pid, SIGKILL);
	}
	alarm(0);
	if (hangs)
		return 124;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	static char name[] = "cudatrace";
	struct sigaction action = { .sa_handler = on_alarm };
	char *line = NULL, *words[WORDS + 1];
	size_t size = 0;
	int nothing;

	if (argc < 2 || argc > 3)
		error(125, 0, "usage: many DIR [COMMAND]");
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (nothing < 0)
		error(125, errno, "/dev/null");
	sigaction(SIGALRM, &action, NULL);
	program_invocation_name = program_invocation_short_name = name;
	for (unsigned int n = 1; getline(&line, &size, stdin) > 0; n++) {
		unsigned int count = 0;
		char *rest = line;
		pid_t pid;

		line[strcspn(line, "\n")] = 0;
		words[count++] = argc == 3 ? argv[2] : name;
		while (rest && count < WORDS)
			words[count++] = strsep(&rest, "\t");
		if (rest)
			error(125, 0, "a line of more than %d words", WORDS - 1);
		words[count] = NULL;
		fflush(stdout);
		pid = fork();
		if (pid < 0)
			error(125, errno, "fork");
		if (!pid) {
			dup2(nothing, 0);
			redirect(argv[1], n, "out", 1);
			redirect(argv[1], n, "err", 2);
			if (argc == 2)
				exit(ct_main((int)count, words));
			execv(words[0], words);
			error(125, errno, "%s", words[0]);
		}
		printf("%u %d\n", n, wait_for(pid));
	}
	free(line);
	return 0;
}
