// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * knobs.c - what the environment asks of the simulation: limits, time scale,
 * injected failures and hangs (README.md has the list).
 *
 * The environment is read once, at the first call. A value that cannot be
 * read ends the process with one line: a test that believes it injected a
 * failure and did not must never pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define MAX_RULES 16
#define DEFAULT_MEMORY (4ull << 30)

struct rule {
	char name[64];
	unsigned long nth;		/* 0: every call */
	unsigned long seen;
	bool hang;
	unsigned long value;		/* CUresult, or ms (0: for ever) */
};

static struct sim_knobs knobs;
static struct rule rules[MAX_RULES];
static unsigned int rule_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void bad(const char *variable, const char *text)
{
	fprintf(stderr, "simulated libcuda: cannot read %s=%s\n", variable,
		text);
	_exit(125);
}

/* NAME:NTH:VALUE, several separated by commas. */
static void read_rules(const char *variable, bool hang)
{
	const char *text = getenv(variable);
	char *copy, *item, *save = NULL;

	if (!text || !*text)
		return;
	copy = strdup(text);
	if (!copy)
		return;
	for (item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		struct rule *rule = &rules[rule_count];
		int used = 0, fields;

		if (rule_count == MAX_RULES)
			bad(variable, text);
		fields = sscanf(item, "%63[^:]:%lu%n:%lu%n", rule->name,
				&rule->nth, &used, &rule->value, &used);
		if (fields < (hang ? 2 : 3) || item[used])
			bad(variable, text);
		rule->hang = hang;
		rule_count++;
	}
	free(copy);
}

static uint64_t read_size(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);
	char *end;
	uint64_t value;

	if (!text || !*text)
		return otherwise;
	value = strtoull(text, &end, 0);
	switch (*end) {
	case 'G':
		value <<= 10;
		/* fallthrough */
	case 'M':
		value <<= 10;
		/* fallthrough */
	case 'K':
		value <<= 10;
		end++;
	}
	if (*end || !value)
		bad(variable, text);
	return value;
}

static void read_knobs(void)
{
	const char *text = getenv("CUDASIM_TIME_SCALE");
	char *end;

	knobs.memory = read_size("CUDASIM_MEMORY", DEFAULT_MEMORY);
	knobs.time_scale = 1.0;
	if (text && *text) {
		knobs.time_scale = strtod(text, &end);
		if (*end || !(knobs.time_scale >= 0))
			bad("CUDASIM_TIME_SCALE", text);
	}
	knobs.ioctls = true;
	text = getenv("CUDASIM_IOCTLS");
	if (text && !strcmp(text, "0"))
		knobs.ioctls = false;
	else if (text && !strcmp(text, "force"))
		knobs.ioctls_forced = true;
	else if (text && *text && strcmp(text, "1"))
		bad("CUDASIM_IOCTLS", text);
	read_rules("CUDASIM_FAIL", false);
	read_rules("CUDASIM_HANG", true);
}

const struct sim_knobs *sim_knobs(void)
{
	pthread_once(&once, read_knobs);
	return &knobs;
}

/* cuMemAlloc means cuMemAlloc_v2 and every other version too. */
static bool rule_matches(const struct rule *rule, const char *name)
{
	size_t len = strlen(rule->name);

	if (strncmp(rule->name, name, len))
		return false;
	return !name[len] || name[len] == '_';
}

static void hang(unsigned long ms)
{
	struct timespec rest = { ms / 1000, ms % 1000 * 1000000L };

	if (ms) {
		nanosleep(&rest, NULL);
		return;
	}
	for (;;)
		pause();
}

CUresult sim_inject(const char *name)
{
	unsigned int i;

	sim_knobs();
	for (i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];
		unsigned long seen;

		if (!rule_matches(rule, name))
			continue;
		seen = __atomic_add_fetch(&rule->seen, 1, __ATOMIC_RELAXED);
		if (rule->nth && seen != rule->nth)
			continue;
		if (!rule->hang)
			return (CUresult)rule->value;
		hang(rule->value);
	}
	return CUDA_SUCCESS;
}
