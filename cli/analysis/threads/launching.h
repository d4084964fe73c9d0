/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a process does at each moment, where several of its threads give the GPU work.
 *
 * PyTorch launches the forward pass from one thread and the backward pass from another; the one
 * that does not launch waits for the other, and its records do not tell that from work of its own.
 * So the turn of a moment belongs to the thread that gives the GPU its next work: the process does
 * what this thread does.  Where it is in no call and another launching thread has called something
 * since, that one's call counts: it is what the GPU's next work waits for.  Where a sample says that it waits for
 * another thread, that one's call also counts if it began earlier; where one says that it does something itself,
 * no other one's does: that it waits for Python's lock, too, unless one of these threads holds it.  A thread off the CPU counts as the application while another one runs there.  After the last
 * work the turn is that of the thread that gave it.
 */
#ifndef CT_CLI_LAUNCHING_H
#define CT_CLI_LAUNCHING_H

#include "analysis/threads/account.h"

/* More threads of a process are not compared: the one with the last record has its turn. */
#define CT_LAUNCHING_COMPARED	64u

struct ct_launching_thread {
	uint32_t tid;
	uint64_t turn[CT_STAGE_COUNT];	/* ns: the sums over the threads are the stage's duration */
	const struct ct_track *track;	/* NULL: it has no record yet */
	/* Internal: ns since a turn ended last, of what the process would have done. */
	uint64_t sums[CT_ACCOUNT_COUNT];
};

/* What a thread does itself. */
struct ct_launching_doing {
	uint64_t last;			/* ns: its last record */
	uint64_t called;		/* ns: the call that it is in began */
	uint8_t  own;			/* account */
	/* Its last sample: it waits for another thread, or does something itself; it has made no record since. */
	bool     waits, busy;
};

struct ct_launching_process {
	/* In no order: those of the phases, and further ones as they give work. */
	struct ct_launching_thread *threads;
	struct ct_launching_doing *doing;	/* of the first CT_LAUNCHING_COMPARED threads */
	unsigned int count;
	/*
	 * Of CT_STAGE_COUNT; NULL: no thread launches.  Their times add up to the stage's duration; 0 of
	 * CT_ACCOUNT_ABSENT: that is the application.  The calls are counted by accounting.c.
	 */
	struct ct_stage_account *stages;
	struct ct_iteration_account *iterations;	/* as the phases have them; times alone */
	/* Internal. */
	const struct ct_process_phases *phases;
	unsigned int room;
	unsigned int latest, own;	/* index of the thread that made the last record; what it does */
	unsigned int gave;		/* of the one that gave the last work, where they are compared */
	struct ct_launching_order *order;	/* NULL: one thread launches */
	uint64_t settled, summed_up;	/* ns: a turn ended; .sums are until then */
	uint64_t bound;			/* ns: the stage or iteration changes */
	unsigned int stage;
	uint32_t iteration;
};

/* Internal. */
struct ct_launching_track {
	uint64_t until;		/* ns: the process is looked for again after it; 0: it is not known yet */
	bool     off;
	uint8_t  own;
	int      thread;	/* of .process, -1: it gives no work */
	struct ct_launching_process *process;	/* NULL: none */
};

struct ct_launching {
	struct ct_launching_process *processes;		/* as the phases have them */
	unsigned int processes_count;
	/* Internal: by the tracks' index. */
	struct ct_launching_track *tracks;
	unsigned int tracks_count;
};

/* Its state is a struct ct_launching, complete when it has ended. */
extern const struct ct_analyser ct_launching_analyser;

/* What the track's thread has been doing since the event that is handled now. */
static inline unsigned int ct_launching_account(const struct ct_launching *l, const struct ct_track *track)
{
	return track->index < l->tracks_count ? l->tracks[track->index].own : CT_ACCOUNT_APP;
}

/*
 * The process of the track, where several threads launch: an analyser that charges one of them asks what the
 * process would do, which each event of any of them may change.  NULL: a thread is charged by what it does.
 */
const struct ct_launching_process *ct_launching_several(const struct ct_launching *l, const struct ct_track *track);

/* What it does now, for each thread that the next work may come from: sets @accounts, of CT_LAUNCHING_COMPARED. */
void ct_launching_would(const struct ct_launching_process *lp, uint8_t *accounts);

#endif
