/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The repeating pattern of a thread: which launches and synchronisations come again.  Tokens
 * are launches, replays of graphs, synchronisations and copies that block.  An anchor is a
 * token that comes once in each repetition; the template says how often each kernel does.
 */
#ifndef CT_CLI_PHASES_PATTERN_H
#define CT_CLI_PHASES_PATTERN_H

#include "phases/tokens.h"

struct ct_pattern_part {
	uint32_t coarse;	/* ct_phase_record_coarse() of a launch */
	uint32_t count;		/* in each repetition */
};

struct ct_pattern {
	bool found;
	bool all;		/* all tokens were looked at */
	enum ct_token_level level;
	uint64_t anchor;	/* ct_token_key() */
	struct ct_pattern_part *parts;	/* by .coarse */
	uint32_t parts_count;
	uint32_t kernels, graphs, waits;	/* in each repetition */
	double score;		/* 0 to 1: how much of its launches and waits it explains */
	uint64_t explained;	/* launches, weighed */
	uint64_t from, to;	/* its repetitions */
	/*
	 * Where a repetition begins: behind the .ordinal-th wait after the anchor (from 1), or
	 * with the .ordinal-th launch after it (0: the anchor itself).
	 */
	bool     at_wait;
	uint32_t ordinal;
	uint32_t offset;	/* behind so many launches, the anchor among them; of a wait */
	struct ct_phase_record boundary;	/* one such wait or launch */
	uint32_t most;		/* how often the token that came most often did, for people */
};

/**
 * ct_pattern_find() - the pattern of a thread
 *
 * Return: 0, with @p->found, or -ENOMEM.  Free with ct_pattern_free().
 */
int ct_pattern_find(struct ct_pattern *p, const struct ct_thread_events *slice);
void ct_pattern_free(struct ct_pattern *p);

#endif
