// SPDX-License-Identifier: LGPL-2.1-or-later
/* See options.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/words.h"
#include "module/uapi/cudatrace.h"

#define PACKET (64u << 10) /* where nobody chose it */
#define PACKETS_MAX 65536u /* that the module takes */

int ct_option_groups(const char *list, unsigned long long *groups)
{
	static const char *const words[] = {
#define CT_ROW(id, word)	word,
		CT_GROUPS(CT_ROW)
#undef CT_ROW
	};
	char *copy = strdup(list), *save, *word;
	int i;

	*groups = 0;
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		i = ct_word_index(words, CT_GROUP_COUNT, word);
		if (i < 0)
			break;
		*groups |= 1ull << i;
	}
	free(copy);
	return word || !*groups ? -EINVAL : 0;
}

uint32_t ct_option_power(struct argp_state *state, const char *what, const char *arg)
{
	char *end;
	unsigned long v = strtoul(arg, &end, 0);

	if (*end || !v || v & (v - 1) || v > 1u << 30)
		argp_error(state, "%s is a power of two, not '%s'", what, arg);
	return v;
}

/* ns, 0: there is no such unit of time. */
static double option_unit(const char *name)
{
	static const struct { const char *name; double ns; } units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 },
	};

	for (unsigned int i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(name, units[i].name))
			return units[i].ns;
	return 0;
}

uint64_t ct_option_time(const char *text)
{
	char *unit;
	double v = strtod(text, &unit) * option_unit(unit);

	return v > 0 && v < 1e18 ? v : 0;
}

double ct_option_seconds(const char *text)
{
	char *unit;
	double v = strtod(text, &unit), ns = *unit ? option_unit(unit) : 1e9;

	return unit != text && ns > 0 ? v * ns / 1e9 : -1;
}

uint64_t ct_option_number(struct argp_state *state, const char *what, const char *arg, uint64_t least,
			  uint64_t most)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(arg, &end, 10);
	if (!errno && end != arg && !*end && *arg != '-' && n >= least && n <= most)
		return n;
	if (most < UINT32_MAX)
		argp_failure(state, CT_USAGE, 0, "%s takes a number from %llu to %llu, not '%s'", what,
			     (unsigned long long)least, (unsigned long long)most, arg);
	else if (least)
		argp_failure(state, CT_USAGE, 0, "%s takes a number of at least %llu, not '%s'", what,
			     (unsigned long long)least, arg);
	else
		argp_failure(state, CT_USAGE, 0, "%s takes a number, not '%s'", what, arg);
	return n;
}

const char *ct_option_named(struct argp_state *state, const char *arg)
{
	if (!*arg)
		argp_failure(state, 64, 0, "-o is empty: give it a name");
	return arg;
}

error_t ct_option_output(int key, char *arg, struct argp_state *state, struct ct_option_output *output)
{
	switch (key) {
	case 'o':
		output->dir = ct_option_named(state, arg);
		return 0;
	case 'f':
		output->force = true;
		return 0;
	case 'q':
		output->quiet = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

uint32_t ct_option_bytes(struct argp_state *state, const char *what, const char *arg)
{
	static const char units[] = "KMG";
	char *end;
	unsigned long long v = strtoull(arg, &end, 0);
	const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;

	if (unit && v <= 1u << 30) {
		v <<= 10 * (unit - units + 1);
		end++;
	}
	if (*end || !v || v & (v - 1) || v > 1u << 30)
		argp_error(state, "%s is a power of two up to 1G, as 32M, not '%s'", what, arg);
	return v;
}

void ct_option_ring(struct argp_state *state, uint32_t ring, uint32_t *subbuf_size,
		    uint32_t *subbuf_count)
{
	if (!ring)
		return;
	if (*subbuf_count)
		argp_error(state, "--ring-size and --subbufs say the same: give one of them");
	if (!*subbuf_size)
		*subbuf_size = ring >= 2 * PACKET ? PACKET : ring / 2;
	if (ring / 2 < *subbuf_size || ring / *subbuf_size > PACKETS_MAX ||
	    ring < 2 * CT_PACKET_MIN)
		argp_error(state,
			   "--ring-size is 2 to %u packets (--subbuf-size) of at least %u bytes",
			   PACKETS_MAX, CT_PACKET_MIN);
	*subbuf_count = ring / *subbuf_size;
}

error_t ct_option_trace(int key, char *arg, struct argp_state *state, const char **dir)
{
	switch (key) {
	case ARGP_KEY_ARG:
		if (*dir)
			argp_failure(state, 64, 0, "one DIR, not also '%s'", arg);
		*dir = arg;
		return 0;
	case ARGP_KEY_END:
		if (!*dir)
			argp_failure(state, 64, 0, "name the directory of a trace");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

error_t ct_option_traces(int key, char *arg, struct argp_state *state, struct ct_dirs *dirs)
{
	switch (key) {
	case ARGP_KEY_ARG:
		if (dirs->count == CT_DIRS_MAX)
			argp_failure(state, 64, 0, "at most %u traces are read as one", CT_DIRS_MAX);
		if (!*arg)
			argp_failure(state, 64, 0, "an empty word is no trace: name its directory");
		dirs->list[dirs->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!dirs->count)
			argp_failure(state, 64, 0, "name the directory of a trace");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}
