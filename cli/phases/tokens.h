/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tokens of a thread with small numbers as names, and how well an anchor cuts them.
 * Tokens are launches, replays of graphs, synchronisations and copies that block.
 */
#ifndef CT_CLI_PHASES_TOKENS_H
#define CT_CLI_PHASES_TOKENS_H

#include "phases/process.h"

#define CT_PATTERN_FEW		(16u << 10)	/* so many tokens are looked at first */
#define CT_PATTERN_TOKENS	(128u << 10)	/* and at most so many */
#define CT_PATTERN_ALIKE	0.6	/* an iteration is so much like the template, or more */

/* What a token is recognised by. */
enum ct_token_level {
	CT_TOKEN_FINE,		/* kernel, block and grid */
	CT_TOKEN_COARSE,	/* kernel and block */
	CT_TOKEN_PAIR,		/* the same, and the token before it */
	CT_TOKEN_LEVELS
};

static inline bool ct_token_is(const struct ct_phase_record *h)
{
	return ct_phase_record_launch(h) || ct_phase_record_wait(h);
}

/* @before: the key of the token before at CT_TOKEN_COARSE; for CT_TOKEN_PAIR */
uint64_t ct_token_key(const struct ct_phase_record *h, enum ct_token_level level, uint64_t before);

/* One level's names of the tokens. */
struct ct_token_names {
	uint32_t *name;		/* of each token: 0, 1, 2 ... */
	uint64_t *key;		/* of each name */
	uint32_t *occurs;	/* how often each name occurs */
	uint32_t count;		/* of names */
	/* Working memory of ct_tokens_score(), by name. */
	uint32_t *in_segment, *segment, *usual, *votes, *segments, *hits;
};

struct ct_tokens {
	const struct ct_phase_record *list;
	uint32_t *index;	/* of each token in the list */
	bool     *wait;		/* of each token */
	uint32_t count;
	struct ct_token_names levels[CT_TOKEN_LEVELS];
	uint32_t *touched;	/* working memory: names of a segment */
	uint32_t *cuts;		/* tokens at which the last score cut */
	uint32_t cuts_count;
	struct ct_token_segment *segments;
};

/* What is between two anchors. */
struct ct_token_segment {
	uint32_t launches, waits;
	uint32_t exact;		/* launches that the template has with their grid */
	uint32_t alike;		/* launches that the template has, whatever their grid */
	uint32_t waited;	/* waits that the template has */
};

struct ct_token_score {
	double score;
	double period;		/* tokens */
	uint64_t explained;	/* launches, weighed */
	bool waits;		/* the template has some */
	uint32_t first, last;	/* segments: those before and after are not alike */
};

/* At most @max tokens.  0 or -ENOMEM; free with ct_tokens_free() also then. */
int ct_tokens_make(struct ct_tokens *t, const struct ct_thread_events *slice, uint32_t max);
void ct_tokens_free(struct ct_tokens *t);

/* Cuts before each token @name.  Afterwards .usual of each level is the template. */
void ct_tokens_score(struct ct_tokens *t, enum ct_token_level level, uint32_t name,
		     struct ct_token_score *s);

#endif
