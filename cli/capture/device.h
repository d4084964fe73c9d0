/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recorder's side of /dev/cudatrace: owns a session and copies finished
 * packets from the rings into a trace directory.
 */
#ifndef CT_CLI_DEVICE_H
#define CT_CLI_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/keyed.h"

#include "base/error.h"
#include "write/write_registry.h"
#include "module/uapi/cudatrace.h"

#define CT_DEVICE_CLOCK_PAGE	"anon_inode:[cudatrace-clock]"	/* what processes of a session have mapped */

/* One CPU's ring, mapped, and the file that its packets go to. */
struct ct_device_ring {
	const struct ct_cpu_status *status;
	struct ct_cpu_consumer *consumer;
	const uint8_t *data;
	uint64_t pos;			/* next packet to copy */
	int fd;				/* of its stream, -1 until there is a packet */
	uint32_t part;			/* of the stream: k-CPU is the first */
};

/* A thread's stream that goes on in another one.  key: PID << 32 | number. */
struct ct_device_part {
	uint64_t key;
	uint32_t part;
};

#define CT_DEVICE_PART	(1u << 16)	/* between the numbers of two parts of one stream */

struct ct_device {
	int fd;
	struct ct_session session;
	uint64_t ring_wanted;		/* bytes; the session's are fewer where memory was short */
	const struct ct_facts *facts;
	struct ct_device_ring *ring;	/* session.cpus of them */
	uint32_t classes;		/* of the registry already written */
	uint32_t strings;
	/* Where the oldest records are dropped (record --keep): */
	uint64_t stream_long;		/* bytes of a stream that gets no more; 0: there is no end */
	void (*room)(void *arg, uint64_t bytes);	/* so many are about to be written; NULL: nobody asks */
	void *room_arg;
	CT_KEYED(struct ct_device_part) parts;
};

/**
 * ct_device_open() - open the device and check that both sides speak one ABI
 *
 * Return: 0 or a negative errno, with a line in @err that names the cure.
 */
int ct_device_open(struct ct_device *dev, struct ct_error *err);

/* For writing records only, which any user may. */
int ct_device_open_producer(struct ct_device *dev, struct ct_error *err);

/**
 * ct_device_start() - start a lossless session and map its rings
 * @subbuf_size, @subbuf_count: as in struct ct_session, 0: chosen (ring.h)
 * @threadbufs: threads may write into thread buffers, which the caller drains
 */
int ct_device_start(struct ct_device *dev, uint32_t subbuf_size, uint32_t subbuf_count,
		    uint64_t groups, bool threadbufs, struct ct_error *err);

/* ct_device_how_to_open() - what gives this user the right to open the device for reading */
void ct_device_how_to_open(char *text, size_t size);

/**
 * ct_device_attach() - read the running session of another process
 * @data: map the records, too, which needs more rights than the counters
 *
 * Opens and maps for reading only: the owner still gets every record.
 */
int ct_device_attach(struct ct_device *dev, bool data, struct ct_error *err);

/**
 * ct_device_adopt() - read the orphaned session of a killed recorder
 *
 * Its rings no longer change.  ct_device_stop() makes the module forget it.
 *
 * Return: 0; -ENODATA: there is none; a negative errno with a line in @err.
 */
int ct_device_adopt(struct ct_device *dev, struct ct_error *err);

/* Where module and command differ: is it the module that should be updated? */
bool ct_device_is_older(const struct ct_version *version);

/**
 * ct_device_copy_open() - append what no drained packet has yet to the k-CPU streams of a copy of the recording, in @dirfd
 *
 * By the thread that drains.
 */
int ct_device_copy_open(struct ct_device *dev, int dirfd, struct ct_error *err);

/**
 * ct_device_snapshot() - copy what the rings hold into directory @dirfd
 * @since: ns: only packets that ended later
 *
 * The session goes on meanwhile; packets that it overwrites during the copy are missing.
 */
int ct_device_snapshot(struct ct_device *dev, int dirfd, uint64_t since, struct ct_error *err);

/**
 * ct_device_look() - copy the packet at the position of a CPU's ring, as far as it is written
 * @known: bytes of it that were copied before; where it is as it was then, nothing is copied
 * @copy: subbuf_size bytes, whose head says then what it would say if the packet were full
 * @full: set to whether it is: the next one is behind it
 *
 * The position goes to the oldest packet that is there, where that one was overwritten.
 *
 * Return: its bytes, head included; 0: none, or no more than were known.
 */
uint32_t ct_device_look(struct ct_device *dev, uint32_t cpu, uint32_t known, struct ct_packet *copy, bool *full);

/**
 * ct_device_drain() - copy the finished packets into directory @dirfd
 * @last: the session is over: also copy packets that are not full
 *
 * Return: packets copied, or a negative errno of a write.
 */
int ct_device_drain(struct ct_device *dev, int dirfd, bool last, struct ct_error *err);

/**
 * ct_device_drain_threadbufs() - copy the threads' packets into directory @dirfd
 * @last: the session is over: also copy packets that are not full, and the calls in flight
 *
 * Return: packets copied, or a negative errno of a write.
 */
int ct_device_drain_threadbufs(struct ct_device *dev, int dirfd, bool last, struct ct_error *err);

/* Appends what was defined since the last call. */
int ct_device_registry(struct ct_device *dev, struct ct_registry_writer *w);

/* Ends the session; the mappings stay readable until the device is closed. */
int ct_device_stop(struct ct_device *dev);
void ct_device_close(struct ct_device *dev);

#endif
