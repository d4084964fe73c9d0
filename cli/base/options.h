/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options that several subcommands have. */
#ifndef CT_CLI_OPTIONS_H
#define CT_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#define CT_OPTION_GROUPS	"ioctl,memory,scheduler,interrupt,context,uvm,added,fence,switch"

/* "ioctl,memory" as bits of struct ct_session.groups; -EINVAL. */
int ct_option_groups(const char *list, unsigned long long *groups);

/* A power of two; argp_error() if it is none. */
uint32_t ct_option_power(struct argp_state *state, const char *what, const char *arg);

/* "10ms", "500us", "2s", "5min", "1h", "1d" in ns; 0 if it is no time. */
uint64_t ct_option_time(const char *text);

/* The same in seconds, which need no unit: "10", "0.5", "5min"; negative if it is no time. */
double ct_option_seconds(const char *text);

/* A number from @least to @most; one line and status CT_USAGE if it is none.  @what: "--top". */
uint64_t ct_option_number(struct argp_state *state, const char *what, const char *arg, uint64_t least,
			  uint64_t most);

/* The options -o, -f and -q of a command that makes a trace. */
struct ct_option_output {
	const char *dir;
	bool force, quiet;
};

/* 0, or ARGP_ERR_UNKNOWN for every other key. */
error_t ct_option_output(int key, char *arg, struct argp_state *state, struct ct_option_output *output);

/* The name after -o; one line and exit status 64 if it is empty, before anything is done. */
const char *ct_option_named(struct argp_state *state, const char *arg);

/* Bytes with K, M or G behind the number, a power of two up to 1 GiB; argp_error() if not. */
uint32_t ct_option_bytes(struct argp_state *state, const char *what, const char *arg);

/*
 * At the end of the options: @ring bytes (0: not given) as packets.  The size of a packet
 * stays 0 where it was not given, unless @ring says more.
 */
void ct_option_ring(struct argp_state *state, uint32_t ring, uint32_t *subbuf_size,
		    uint32_t *subbuf_count);

/*
 * The end of a parser whose one argument is the directory of a trace: stores it in
 * *DIR and fails unless there is exactly one; ARGP_ERR_UNKNOWN for every other key.
 */
error_t ct_option_trace(int key, char *arg, struct argp_state *state, const char **dir);

#define CT_DIRS_MAX	1024u

/* The directories of the traces that a command reads as one. */
struct ct_dirs {
	const char *list[CT_DIRS_MAX];
	unsigned int count;
};

/*
 * The end of a parser whose arguments are directories of traces: stores them in @dirs and fails where there is
 * none; ARGP_ERR_UNKNOWN for every other key.
 */
error_t ct_option_traces(int key, char *arg, struct argp_state *state, struct ct_dirs *dirs);

#endif
