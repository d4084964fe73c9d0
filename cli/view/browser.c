// SPDX-License-Identifier: LGPL-2.1-or-later
/* See browser.h.  Must never give a path to a shell: anyone may have named the trace. */
#include "view/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX	16

/* In a child that nobody waits for; what it can't do it says to @report. */
static void browser_run(char **words, int report)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), error;

	setsid();
	if (fork())
		_exit(0);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
	execvp(words[0], words);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(2);
	_exit(1);
}

static bool browser_start(char **words)
{
	int report[2], error, got;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid)
		browser_run(words, report[1]);
	close(report[1]);
	/* The end of the pipe is closed by exec. */
	do
		got = read(report[0], &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	close(report[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid > 0 && !got;
}

/* @word with the path in the place of its first "%s"; NULL: no memory. */
static char *browser_word(const char *word, const char *path, bool *placed)
{
	const char *place = strstr(word, "%s");
	char *made;

	if (!place)
		return strdup(word);
	*placed = true;
	return asprintf(&made, "%.*s%s%s", (int)(place - word), word, path, place + 2) < 0 ? NULL : made;
}

/* A command of $BROWSER: words, where "%s" is the path; without one the path comes last. */
static bool browser_try(char *command, const char *path)
{
	char *words[WORDS_MAX + 2] = { NULL }, *save, *word;
	bool placed = false, started;
	unsigned int count = 0;

	for (word = strtok_r(command, " ", &save); word && count < WORDS_MAX; word = strtok_r(NULL, " ", &save)) {
		words[count] = browser_word(word, path, &placed);
		if (!words[count])
			break;
		count++;
	}
	if (count && !placed)
		words[count++] = strdup(path);
	started = count && words[count - 1] && browser_start(words);
	for (unsigned int i = 0; i < count; i++)
		free(words[i]);
	return started;
}

bool ct_browser_open(const char *path)
{
	const char *browser = getenv("BROWSER");
	char desktop[] = "xdg-open", *list, *save, *command;
	bool started = false;

	list = browser ? strdup(browser) : NULL;
	if (list)
		for (command = strtok_r(list, ":", &save); command && !started;
		     command = strtok_r(NULL, ":", &save))
			started = browser_try(command, path);
	free(list);
	if (!started && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")))
		started = browser_try(desktop, path);
	return started;
}
