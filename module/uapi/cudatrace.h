/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * cudatrace: the interface between the kernel module, the preload library and
 * the command line.  They share this header and cudatrace_events.h, and nothing
 * else.
 *
 * 1. RECORDS, PACKETS, STREAMS
 *
 * Everything that happens is a *record* of an *event class* in a *stream*.
 * Streams are cut into *packets*; a packet in memory is, byte for byte, a packet
 * of a Common Trace Format 1.8 trace.  There are two kinds of streams:
 *
 *   CT_STREAM_CPU     written by the module, one per possible CPU (file k-CPU).
 *                     A record's head is struct ct_cpu_record.
 *   CT_STREAM_THREAD  written by the preload library, one per thread and life of
 *                     the thread (file u-PID-N).  A record's head is struct
 *                     ct_thread_record; pid and tid stand in the packet.
 *
 * A third, CT_STREAM_STATE (file state), is written by the recorder alone: what
 * changes rarely (processes, clock pairs, probes, losses).  Its records have the
 * head of a CPU stream.
 *
 * A call that returned is ONE record, stamped with its END, so that time never
 * steps back inside a stream; its begin is end - duration.  CT_F_BEGIN marks a
 * record written when the call was entered (functions that may block for long,
 * and every call that goes to the device by CT_IOC_BEGIN); the record of its
 * end then carries CT_F_HAS_BEGIN and the same op.  CT_F_INSTANT marks a record
 * that has no duration.
 *
 * All times are nanoseconds of CLOCK_MONOTONIC.  A record holds the low 48 bits,
 * its packet the whole of them (a packet spans less than 78 hours).
 *
 * A record's size is a multiple of 8 bytes: head, then the fields of the class's
 * layout (cudatrace_events.h).  A record never crosses a packet.
 *
 * 2. THE TRACE DIRECTORY
 *
 *   metadata       CTF 1.8 text, generated from the tables and the registry
 *   k-CPU, u-PID-N, state     streams
 *   .registry      text, append-only under an exclusive lock (flock): one line
 *                  for each thing that got an id at run time (section 3)
 *   .open-PID-N    the open calls of the thread whose stream is u-PID-N: a
 *                  struct ct_inflight_page, mapped by its thread; of a busy thread
 *                  also the slots of struct ct_subbufs with its newest packets:
 *                  those whose seq is higher than the stream's last belong behind it
 *   .recorder      struct ct_recorder_page, while cudatrace record stores for them
 *   .lost-UID      struct ct_lost_page, mapped by all processes of this user: lost
 *                  records that no packet could count, as their threads had none
 *   u-0-0          without records, in a finished trace where there are such: lost
 *                  of its last packet is their number
 * Every other name begins with a dot, or babeltrace2 takes it for a stream.  One
 * directory holds all processes of a recording.
 *
 * A thread's packet is a valid CTF packet at every moment: its writer stores the
 * record, then ts_end, then content_size, so that a thread that is killed at any
 * instruction leaves a readable stream.  (A packet without a magic ends a stream; one
 * that is copied to its end gets its magic last.)  Whoever finishes the trace (cudatrace
 * record, or any command that opens a trace that nobody finished) cuts off a
 * last packet without a magic, turns what stands in .open-PID-N into call_open
 * records at the end of the stream, writes what the .lost-UID say beyond u-0-0's last
 * packet into a new u-0-0 (a reader adds what it lacks), and writes metadata.  A .lost-UID
 * that says 0 and that nobody has mapped goes, with the registry locked.
 *
 * 3. THE REGISTRY
 *
 * Lines, words separated by one blank, every byte of a word outside 0x21..0x7e
 * and every '%' written as %XX:
 *
 *   cudatrace ABI uuid=32HEX start=NS realtime=NS
 *       first line; start: CLOCK_MONOTONIC at the start of the trace; realtime:
 *       CLOCK_REALTIME at the same moment
 *   class ID LAYER CATEGORY OP FIELDS NAME SYMBOL
 *       ID decimal; LAYER, CATEGORY and OP the words of the tables ('-' for no
 *       op); FIELDS as CT_LAYOUT_SPEC() ("size:u64,ptr:x64,", '-' for none);
 *       NAME as users know it (cuMemAlloc), SYMBOL as exported (cuMemAlloc_v2)
 *   string ID TEXT
 *       ID decimal, from 1; TEXT e.g. the mangled name of a kernel
 *   info KEY TEXT
 *       e.g. "info gpu simulated", "info command python%20x.py"; way (module or
 *       files) is the recorder's, sink (device or files) the library's
 * The same lines stand in metadata, each behind "@ " inside a comment.  Ids are
 * never reused within a trace.  With the module, the module gives the ids
 * (CT_IOC_DEFINE, CT_IOC_STRING) and the recorder writes the lines.
 *
 * 4. THE DEVICE
 *
 * /dev/cudatrace, by the mode it was opened with:
 *   O_WRONLY   a producer: CT_IOC_VERSION, CT_IOC_DEFINE, CT_IOC_STRING,
 *              CT_IOC_MARK, CT_IOC_BEGIN, CT_IOC_CLOCK, CT_IOC_THREADBUF; it reads
 *              nothing.  Anyone whom the file's mode lets open it.
 *   O_RDONLY   a reader: read(), poll(), mmap() of what is read-only, and the
 *              CT_IOC_GET_* calls.  Needs CAP_PERFMON or CAP_SYS_ADMIN, or to be
 *              the device file's owner or in its group (else EACCES).
 *   O_RDWR     as a reader, and may own the session (CT_IOC_START), which needs
 *              CAP_PERFMON or CAP_SYS_ADMIN.
 * docs/permissions.md has a table of who may do what.
 *
 * The *session* is global: it says how large the rings are, whether they
 * overwrite, and which probe groups are armed.  It belongs to the file that
 * started it and ends with CT_IOC_STOP or when that file is closed; a second
 * CT_IOC_START gets EBUSY and the holder's pid.  If that file is closed without
 * CT_IOC_STOP (its process was killed) while rings or thread buffers hold what it has not
 * or asked for, the session ends as well, but is *left*: CT_IOC_ADOPT gives it to
 * whoever comes next.  A read() with no session starts
 * one with the defaults (all groups, overwrite), which ends when its file is
 * closed; a CT_IOC_START takes over from such a default session.  With no
 * session nothing is written and nothing counts as lost.
 *
 * read() gives text, one JSON object a line, of all CPUs in the order of time;
 * it blocks until there is something (O_NONBLOCK: EAGAIN; EINTR; EFAULT; ENOMEM).  Every open file has
 * a position of its own, which starts at what is written after the open, and
 * each loss is told by a line {"type":"tracer","name":"lost",...}.
 *
 * Lines of one call share an op_id.  An E line whose B was recorded and lost stands
 * alone: its call began duration_us before it.
 *
 * A blocking read() and poll(), select() and epoll wait for a *watermark*
 * (CT_IOC_WATERMARK), by default for one record.  What is unread is counted from
 * where this file's read() stands; once the file has mapped a CPU's data, from
 * what the consumer page says (the owner) or from the last CT_IOC_READ_DONE.  Bytes are as
 * they lie in the rings, headers of packets included.
 *
 * pids and tids in the text are those of the pid namespace of the task that opened the
 * file, uids those of its user namespace, whoever reads or waits: in the head of a line,
 * and in the fields ppid, uid, owner_pid, and other and waker of sched_switch and
 * sched_wakeup.  A process that is not visible there, or is gone by then, shows as 0; a
 * user who has no number there as the kernel's overflow uid (65534).  Records in memory,
 * packets of thread buffers and so what is recorded hold the initial namespaces' numbers, in these
 * fields as well: mmap() and CT_IOC_THREADBUF_READ are refused in any other (EPERM).
 *
 * mmap() of an O_RDONLY or O_RDWR file, by offset (CT_MMAP_*):
 *   facts      one page, read-only: struct ct_facts
 *   status     one page a CPU, read-only: struct ct_cpu_status
 *   consumer   one page a CPU, may be written, only by the owner's O_RDWR file:
 *              struct ct_cpu_consumer
 *   data       subbuf_size * subbuf_count bytes a CPU, read-only
 * Mappings need a running session (else ENODATA), keep its memory alive until
 * they are unmapped, and belong to that session alone: after CT_IOC_STOP they
 * stay readable and no longer change.  Errors: EINVAL not one of these offsets, no
 * such CPU, another size than stated, MAP_PRIVATE; EPERM PROT_WRITE or PROT_EXEC
 * where not allowed, or outside the initial pid namespace; EACCES a file that is
 * not open for reading, or PROT_WRITE of one that is not open for writing; ENOMEM.
 *
 * 5. THE RING
 *
 * Positions are bytes since the session began and only grow.  Packet k of a CPU
 * occupies the positions k * subbuf_size up to (k + 1) * subbuf_size and lies at
 * position % (subbuf_size * subbuf_count) of the data.  Only that CPU writes.
 *   committed  everything below is completely written.  Read it with acquire
 *              semantics before the data.
 *   packet k is closed when committed >= (k + 1) * subbuf_size; its header is
 *              then final.  An open packet (committed inside it) may be read up
 *              to committed; its header's content_size and ts_end are not valid
 *              yet.
 *   oldest     positions below it have been, or are being, overwritten.  After
 *              copying, read it again (behind a read barrier): a copied packet
 *              whose begin is below it must be thrown away.
 *   consumed   (consumer page) the owner of a lossless session writes how far it
 *              has read; the module takes it for at most committed and never
 *              lets it go back.  When the ring is full, the new record is
 *              dropped and counted in lost[].
 *
 * Everything that a producer or a mapping's owner writes is a claim: the module
 * checks sizes, ids and positions, and stamps time, cpu, pid, tid and uid itself.
 *
 * 6. THE CLOCK AND THREAD BUFFERS
 *
 * CT_IOC_CLOCK maps a page (struct ct_clock_page) that turns the time-stamp counter
 * into CLOCK_MONOTONIC without a system call, by the same lines that the module
 * stamps its own records with: so a time taken in a program and one taken in the
 * kernel compare exactly.  Line n lies at line[n % CT_CLOCK_SEGMENTS]:
 *   1. n = newest (acquire).  0: there is no line, use clock_gettime().
 *   2. Read the counter, then take line n; if the counter is below its tsc, take
 *      line n - 1 instead.
 *   3. If counter - tsc >= CT_CLOCK_VALID_SPANS * (until - tsc) there is no line for it
 *      (also where line n - 1 is none, which is zeros): use clock_gettime().
 *   4. ns = line.ns + ((counter - line.tsc) * line.mult >> 32), in 64 bits.
 *   5. newest again; if it has moved by more than 1, begin anew.
 * Between tsc and until a line may be kept and used without looking at the page.
 * A line goes on where the one before it ends: time never steps back, on no CPU,
 * nor between two of them, as far as their counters agree (the kernel says so).
 *
 * A *thread buffer* is memory of the module's that a thread has mapped, a ring of slots, each
 * of which takes one packet of a thread's stream.  A thread writes records there by
 * plain stores, as it would into a file of its own (section 2), without a system
 * call.  It exists while a session runs whose owner reads thread buffers (CT_SESSION_THREADBUFS);
 * the clock page tells a number in "session" then, else 0: while another file than the
 * owner's reads the session by read(), or waits for it by poll(), threads record by
 * CT_IOC_MARK, for those readers see rings alone.  The thread writes
 *   - into slot i % slots the packet number i: head without the magic, then magic,
 *     then records; content_size after each record (release);
 *   - "produced" in the thread buffer's head: packets begun.  It may begin packet i only if
 *     i - consumed < slots; if not, the record is lost and counted in the head's
 *     "lost", and in "lost" of the next packet that it begins;
 *   - its open calls into the second page (struct ct_inflight_page).
 * A thread buffer is not inherited by fork().  It ends when it is unmapped, and so with its
 * process; what was written is read all the same.
 *
 * A pause and a filter close the thread buffers that there are: of what a thread writes there from
 * then on nothing is passed on (a record that it was just writing counts as lost).  The
 * clock page tells 0 as long as that lasts, and another number afterwards: a thread whose
 * thread buffer has not the number that the page tells asks for a new one, and unmaps the old.
 *
 * Readers never see this memory.  CT_IOC_THREADBUF_READ copies records that are there,
 * looks at each (class, size, time), and makes a packet of its own of them, whose
 * head it fills: pid, tid, uuid and stream as the module knows them, seq, times.
 * A time before the thread buffer's begin, before the last record's or after now is moved
 * into that range; a uid is the thread buffer's; what cannot be a record ends the packet, and
 * the rest of it counts as lost.  A record that its producer's rate (CT_IOC_LIMITS) has
 * no room for is left out, and counted in the packet's lost and in the facts page.
 * Inside these bounds, what a thread buffer says is the claim of its process.
 *
 * 7. VERSIONS
 *
 * CT_ABI_VERSION changes when an ioctl or the ring's protocol changes
 * incompatibly, CT_SCHEMA_VERSION when a reader could not understand what is
 * recorded (a static class or a layout of cudatrace_events.h was changed or
 * added).  Both stand in the facts page, in CT_IOC_VERSION and in modinfo; sides
 * that differ in either refuse to talk and say which one is older.  All ioctl structs
 * begin with their size, so that fields may be added at their end: a caller with
 * a shorter struct is served with zeros for what it lacks; a longer one must
 * have zeros in what the module doesn't know (else E2BIG).
 *
 * Version 0.2.0 renamed C names of this header (a lane is now a thread buffer, an open
 * call an in-flight call, and so on).  Numbers, layouts and words in traces stayed, and
 * so did both versions.
 */
#ifndef _UAPI_CUDATRACE_H
#define _UAPI_CUDATRACE_H

#include <linux/types.h>
#include <linux/ioctl.h>
#include "cudatrace_events.h"

#define CT_ABI_VERSION		1
#define CT_SCHEMA_VERSION	1
#define CT_VERSION		"0.2.0"	/* of the product; dkms.conf says it too */
#define CT_DEVICE_NAME		"cudatrace"
#define CT_DEVICE_PATH		"/dev/cudatrace"

/* ------------------------------------------------------------- packets --- */
#define CT_MAGIC		0xc1fc1fc1u	/* CTF 1.8 packet magic */

enum ct_stream_class {
	CT_STREAM_CPU		= 0,
	CT_STREAM_THREAD	= 1,
	CT_STREAM_STATE		= 2,
};

/*
 * The head of every packet: CTF packet header (to stream_class), then packet
 * context.  Sizes are in bits, as CTF wants them.  seq counts the packets of a
 * stream from 0; lost is the number of records of this stream lost so far.
 */
struct ct_packet {
	__u32 magic;
	__u8  uuid[16];
	__u32 stream_class;

	__u64 ts_begin;		/* ns; <= the first record's time */
	__u64 ts_end;		/* ns; >= the last record's time */
	__u64 content_size;	/* bits, up to the end of the last record */
	__u64 packet_size;	/* bits */
	__u64 seq;
	__u64 lost;
	__u32 cpu;		/* CPU streams: the CPU; else 0 */
	__u32 pid;		/* thread streams: process and thread; else 0 */
	__u32 tid;
	__u32 reserved;
	__u64 op_base;		/* thread streams (op unique in its process): added to a record's op;
				 * CPU streams: records written before this packet,
				 * but for a few that were being written just then
				 */
};

#define CT_PACKET_HEAD		((__u32)sizeof(struct ct_packet))	/* 96 */
#define CT_PACKET_MIN		4096u
#define CT_PACKET_MAX		(16u << 20)
/* Largest record, head and text included, so that it always fits a packet. */
#define CT_RECORD_MAX		2048u

/* ------------------------------------------------------------- records --- */
#define CT_TS_BITS		48
#define CT_TS_MASK		((1ull << CT_TS_BITS) - 1)
#define CT_STAMP(ts, class)	(((ts) & CT_TS_MASK) | (__u64)(class) << CT_TS_BITS)
#define CT_DURATION_MAX		CT_TS_MASK

/* Flags of a record. */
#define CT_F_BEGIN		0x01	/* written at entry, no result yet */
#define CT_F_HAS_BEGIN		0x02	/* a CT_F_BEGIN record came before */
#define CT_F_INSTANT		0x04	/* has no duration: a point in time */
#define CT_F_NO_RESULT		0x08	/* result means nothing (void, pointer) */
#define CT_F_ABANDONED		0x10	/* left by exception or longjmp */
#define CT_F_TRUNCATED		0x20	/* a text was cut; a mark: see CT_IOC_MARK */
#define CT_F_CONTEXT		0xc0	/* where it ran, kernel records only: */
#define CT_F_TASK		0x00
#define CT_F_SOFTIRQ		0x40
#define CT_F_HARDIRQ		0x80
#define CT_F_NMI		0xc0

/* Head of a record in a CPU stream or the state stream. */
struct ct_cpu_record {
	__u64 stamp;		/* CT_STAMP(ns at the end, class) */
	__u32 pid;		/* process (tgid) in the initial pid namespace */
	__u32 tid;
	__u64 op;		/* same in a call's begin and end; unique */
	__u64 duration;		/* ns: 48 bits; depth << 48; flags << 56 */
	__s64 result;		/* return value */
};

/* Head of a record in a thread's stream. */
struct ct_thread_record {
	__u64 stamp;
	__u32 op;		/* relative to the packet's op_base */
	__u8  depth;		/* 0: called by the program itself */
	__u8  flags;
	__u16 result;		/* CUresult; cudaError_t */
	__u64 duration;		/* ns: 48 bits; cpu << 48, 0xffff: not known */
};

#define CT_DURATION(ns, depth, flags)					\
	((__u64)(ns) | (__u64)(depth) << 48 | (__u64)(flags) << 56)

/* The head of any record: the class and the time can be read without knowing it. */
#define CT_RECORD_CLASS(stamp)	((__u16)((stamp) >> CT_TS_BITS))

/*
 * A 48-bit time made whole: the first moment at or after the packet's begin that
 * has these low bits.
 */
#define CT_UNSTAMP(ts_begin, stamp)					\
	((ts_begin) + (((stamp) - (ts_begin)) & CT_TS_MASK))

/* Bytes of a text field (from its first byte) that end the record at 8. */
#define CT_TEXT_BYTES(offset, len)	((((offset) + (len) + 7) & ~7ull) - (offset))

/* ------------------------------------------- open calls of a thread -------- */
/*
 * .open-PID-N: one page, mapped shared by its thread.  depth is how many calls
 * are open; entry[i] is valid for i < min(depth, CT_INFLIGHT_MAX).  The thread
 * stores the entry before it raises depth, and lowers depth after it has written the
 * call's record: an entry whose op is also that of the stream's last record returned.
 */
#define CT_INFLIGHT_MAX		60
#define CT_INFLIGHT_PACKET		4096u
struct ct_inflight_call {
	__u64 begin;		/* ns */
	__u64 op;
	__u64 stack;		/* the end of its frame, the lowest address */
	__u32 class;
	__u32 flags;		/* CT_OPEN_*; bytes of its record's payload << 8 */
};
#define CT_INFLIGHT_NO_BEGIN	1	/* a query: begin is only a lower bound */
#define CT_INFLIGHT_HAS_BEGIN	2	/* a record of its begin was written */
struct ct_inflight_page {
	__u32 magic;		/* CT_MAGIC */
	__u32 abi;		/* CT_ABI_VERSION */
	__u32 pid;
	__u32 tid;
	__u32 depth;
	__u32 reserved[3];
	struct ct_inflight_call entry[CT_INFLIGHT_MAX];
};

/*
 * At byte CT_INFLIGHT_SUBBUFS of .open-PID-N; slot i is at CT_INFLIGHT_PACKET + i * slot_size.  A
 * busy thread makes packet n (0, 1, ...) in slot n % slots.  When it is full, the thread
 * says in at[] where in the stream it belongs, then raises filled.  It is stored there by
 * the recorder, which then raises stored; or, if the slot is wanted before that, by the
 * thread itself.  Both may: they write the same records to the same place, its head last,
 * and never a packet before the one that precedes it is stored.  The recorder takes a
 * copy first, which is good if filled is still less than n + slots after that.
 */
#define CT_INFLIGHT_SUBBUFS	2048u
#define CT_SUBBUFS_MAX	8u	/* at most */
struct ct_subbufs {
	__u32 subbufs;		/* 0: none yet */
	__u32 subbuf_size;	/* bytes */
	__u64 published;
	__u64 drained;
	struct {
		__u64 offset;	/* in the stream */
		__u64 size;	/* bytes: its content, and so its packet_size there */
	} at[CT_SUBBUFS_MAX];
};

/* .recorder: written by all threads; a futex wakes the recorder. */
struct ct_recorder_page {
	__u32 magic;		/* CT_MAGIC */
	__u32 abi;		/* CT_ABI_VERSION */
	__u32 published;		/* packets, by all threads: the futex */
	__u32 threads;		/* that began to fill slots */
	__u32 waiting;		/* 1: the recorder wants to be woken */
};

/*
 * .lost-UID: 4096 bytes, allocated when it is made (by the recorder, or with a process's
 * first call): a full disk can't keep anybody from adding.  Each adds atomically.
 */
#define CT_LOST_STREAM		"u-0-0"
struct ct_lost_page {
	__u32 magic;		/* CT_MAGIC */
	__u32 abi;		/* CT_ABI_VERSION */
	__u64 lost;
};

/* --------------------------------------------------------------- mmap ------ */
#define CT_MMAP_FACTS		0ull
#define CT_MMAP_STATUS(cpu)	(((__u64)(cpu) + 1) << 32)
#define CT_MMAP_CONSUMER(cpu)	(CT_MMAP_STATUS(cpu) | 1ull << 30)
#define CT_MMAP_DATA(cpu)	(CT_MMAP_STATUS(cpu) | 2ull << 30)

struct ct_facts {
	__u32 magic;		/* CT_MAGIC */
	__u32 abi;		/* CT_ABI_VERSION */
	__u8  uuid[16];		/* of the session: the trace's uuid */
	__u64 start;		/* ns: CLOCK_MONOTONIC when the session began */
	__u32 cpus;		/* possible CPUs are numbered below this */
	__u32 subbuf_size;	/* bytes, a power of two */
	__u32 subbuf_count;	/* a power of two */
	__u32 flags;		/* CT_SESSION_* */
	__u32 running;		/* 0 once the session ended */
	__u32 defines;		/* classes and strings defined so far, all told */
	__u32 probes;		/* probes in the table */
	__u32 triggers;		/* triggers that have fired so far */
	__u32 schema;		/* CT_SCHEMA_VERSION */
	__u32 reserved;
	__u64 threadbufs_limited;	/* records of thread buffers that limits kept out (CT_LOST_RATE) */
};

/* Why a record was lost, the index of lost[]: X(ID, word in the output). */
#define CT_LOSSES(X)							\
	X(FULL,		"full")		/* lossless ring full */	\
	X(NESTED,	"nested")	/* interrupted too deep in the ring itself */ \
	X(RATE,		"rate")		/* its producer's rate: CT_IOC_LIMITS */ \
	X(SHARE,	"share")	/* its producer's share of the ring */
#define CT_ENUM_ROW(id, word)	CT_LOST_##id,
enum ct_lost { CT_LOSSES(CT_ENUM_ROW) CT_LOST_REASONS };
#undef CT_ENUM_ROW

struct ct_cpu_status {
	__u64 committed;
	__u64 oldest;
	__u64 records;		/* written, those overwritten since included */
	__u64 overwritten;	/* packets that were overwritten */
	__u64 lost[CT_LOST_REASONS];
	__u64 consumed;		/* set when the session ends: see the consumer page */
};

struct ct_cpu_consumer {
	__u64 consumed;
};

/* ------------------------------------------------------- clock and thread buffers --- */
struct ct_clock_segment {
	__u64 tsc;		/* the counter where the line begins */
	__u64 ns;		/* CLOCK_MONOTONIC there */
	__u64 until;		/* the next line begins here or later */
	__u64 mult;		/* ns a tick, 32 bits of it behind the point */
};
#define CT_CLOCK_SEGMENTS	4
#define CT_CLOCK_VALID_SPANS	8	/* times its promise that a line may be used at most */
struct ct_clock_page {
	__u32 magic;		/* CT_MAGIC */
	__u32 abi;		/* CT_ABI_VERSION */
	__u32 newest;		/* number of the newest line, 0: none */
	__u32 session;		/* number of the thread buffers that are taken now, 0: none are */
	__u32 recording;	/* 0: CT_IOC_MARK and CT_IOC_BEGIN would write nothing */
	__u32 reserved32;
	__u64 reserved[5];
	struct ct_clock_segment segment[CT_CLOCK_SEGMENTS];
};

/* The first page of a thread buffer.  The second is a struct ct_inflight_page, then come slots. */
struct ct_threadbuf_head {
	__u32 magic;		/* CT_MAGIC; this and the next eight by the module */
	__u32 abi;
	__u32 stream;		/* N of u-PID-N */
	__u32 session;		/* as in the clock page when the thread buffer was made */
	__u32 subbufs;
	__u32 subbuf_size;	/* bytes of a packet */
	__u32 pid;		/* in the initial pid namespace */
	__u32 tid;
	__u8  uuid[16];
	__u64 reserved;
	__u64 consumed;		/* by the module: packets whose slots are free again */
	__u64 produced;		/* by the thread: packets begun */
	__u64 lost;		/* by the thread: records that found no room */
};
#define CT_THREADBUF_DATA		8192u	/* where the first slot begins */
#define CT_THREADBUF_SUBBUF_MIN	4096u
#define CT_THREADBUF_SUBBUF_MAX	(1u << 20)
#define CT_THREADBUF_SUBBUFS_MAX	64u
#define CT_THREADBUF_QUOTA		(256ull << 20)	/* bytes of all thread buffers of a user */
#define CT_THREADBUF_QUOTA_COUNT	4096		/* and how many he may have */

/* -------------------------------------------------------------- ioctls ----- */
#define CT_IOC_TYPE		0xc7

/*
 * Errors that any of them may give: ENOTTY not one of these; EBADF the file is not
 * open in the mode that it needs (producer: for writing; reader: for reading; what
 * configures: for writing, start and stop: for both); EFAULT a bad pointer; EINVAL
 * a struct's size below 8 or above a page; E2BIG (section 6); ENOMEM.  Those beside
 * them stand with each.  A call that is refused has changed nothing, but for EFAULT
 * where only the answer could not be written.
 */

/*
 * CT_IOC_VERSION: any file.  Fills the struct.  module: text of the version.
 */
struct ct_version {
	__u32 size;
	__u32 abi;
	char  module[56];
	__u32 schema;
	__u32 reserved;
};

/*
 * CT_IOC_START: starts the session; out: uuid, start, cpus.
 * subbuf_size, subbuf_count: powers of two, 0 for the defaults (64 KiB, 64).
 * groups: bits 1 << CT_GROUP_*; ~0 for all.
 * Errors: EPERM no right; EBADF not open for reading and writing; EBUSY
 * (holder: pid of the owner); EINVAL sizes, unknown flags or groups, a persistent
 * session that does not overwrite; ENOMEM.
 * CT_IOC_STOP: ends it.  ENODATA: none runs; EPERM: see CT_IOC_GET_SESSION.
 */
#define CT_SESSION_OVERWRITE	1u	/* flight recorder: overwrite the oldest */
#define CT_SESSION_PERSISTENT	2u	/* goes on when the owner's file is closed */
#define CT_SESSION_PAUSED	4u	/* CT_IOC_PAUSE: nothing is recorded */
#define CT_SESSION_DEFAULT	8u	/* started by a read() */
#define CT_SESSION_THREADBUFS	32u	/* the owner reads thread buffers; not with OVERWRITE */
#define CT_SESSION_ORPHANED		16u	/* CT_IOC_ADOPT: its owner was closed without stopping it */
struct ct_session {
	__u32 size;
	__u32 flags;
	__u32 subbuf_size;
	__u32 subbuf_count;
	__u64 groups;
	__u8  uuid[16];
	__u64 start;
	__u32 cpus;
	__u32 owner_pid;
};

/* Probe groups: X(ID, word) */
#define CT_GROUPS(X)							\
	X(IOCTL, "ioctl") X(MEMORY, "memory") X(SCHEDULER, "scheduler")	\
	X(INTERRUPT, "interrupt") X(CONTEXT, "context") X(UVM, "uvm")	\
	X(ADDED, "added")	/* by CT_IOC_PROBE_ADD */		\
	X(FENCE, "fence")	/* tracepoints of dma_fence */		\
	X(SWITCH, "switch")	/* traced threads leave and get a CPU */
#define CT_ENUM_ROW(id, word)	CT_GROUP_##id,
enum ct_group { CT_GROUPS(CT_ENUM_ROW) CT_GROUP_COUNT };
#undef CT_ENUM_ROW

/*
 * CT_IOC_DEFINE: gives the id of the event class with this name, symbol and
 * fields, making it if nobody has yet.  A producer's classes have layer user.
 * Errors: EINVAL a word without NUL or outside 0x21..0x7e, a field whose name is not a
 * word as in C or is another field's, unknown type, fields
 * that are not naturally aligned or not a multiple of 8; ENOSPC the user's quota
 * (CT_QUOTA_CLASSES), that of all users but root together (CT_QUOTA_CLASSES_ALL, so that
 * probes find ids whoever takes them), or the ids are used up; ENOMEM.
 * CT_IOC_GET_DEFINE: reader; in: id; out: the rest.  ENOENT beyond the last.
 */
#define CT_NAME_LEN		128
#define CT_FIELD_LEN		24
#define CT_FIELDS_MAX		16
struct ct_field {
	char  name[CT_FIELD_LEN];
	__u8  type;		/* enum ct_type */
	__u8  reserved[7];
};
struct ct_define {
	__u32 size;
	__u32 id;
	__u8  layer;
	__u8  category;
	__u8  op;
	__u8  fields_count;
	__u32 reserved;
	char  name[CT_NAME_LEN];
	char  symbol[CT_NAME_LEN];
	struct ct_field fields[CT_FIELDS_MAX];
};
#define CT_QUOTA_CLASSES	8192
#define CT_QUOTA_CLASSES_ALL	32768
#define CT_QUOTA_STRINGS	65536
#define CT_QUOTA_STRINGS_ALL	262144		/* of all users but root */
#define CT_QUOTA_STRING_BYTES	(16u << 20)	/* of all strings of a user */
#define CT_QUOTA_STRING_BYTES_ALL (64u << 20)	/* of all users but root */

/*
 * CT_IOC_STRING: producer; gives the id of this text (len bytes at text, no NUL
 * inside; longer than CT_STRING_MAX is cut).  CT_IOC_GET_STRING: reader; in: id,
 * text and len of a buffer; out: len; ENOENT beyond the last, ENOSPC if the
 * buffer is shorter.  Errors: EFAULT, EINVAL, ENOMEM, ENOSPC (the
 * user's quota, CT_QUOTA_STRINGS or CT_QUOTA_STRING_BYTES, or that of all users but root).
 */
#define CT_STRING_MAX		4096
struct ct_string {
	__u32 size;
	__u32 id;
	__u64 text;
	__u32 len;
	__u32 reserved;
};

/*
 * CT_IOC_MARK(n): producer.  The argument points to n bytes: one or more marks,
 * each a struct ct_mark_head with its payload behind it (the fields of its class), all
 * sizes multiples of 8, in the ring (8 bytes more a mark) at most CT_RECORD_MAX.  The whole array gets one time stamp, is copied once and
 * is written together or not at all.  begin: ns when the call began (a claim; the
 * module takes it for at most now), 0 for a mark without a duration.  op: from
 * CT_IOC_BEGIN, or 0 for one that the module gives.
 * The u32 field "uid" of a class that has one first is overwritten by the module,
 * as are ppid and uid of a process record; clock and call_open are not for
 * producers.
 * Memory that another thread takes away in the moment in which it is read may make
 * marks of zeros, with CT_F_TRUNCATED: where the room for them can't be given back any
 * more (it begins a packet, or an interrupt's record lies behind it).
 * Returns 0, also when the ring was full (the loss is counted; a program must not
 * behave differently because it is traced) or no session runs.
 * Errors: EBADF not open for writing; EINVAL sizes, flags or class; EFAULT; ENOMEM
 * (only where the array was not in memory).
 *
 * CT_IOC_BEGIN(n): the same with one mark, which is written with CT_F_BEGIN; op
 * and begin are written back into the struct, for the mark of the call's end.  With
 * no session op stays 0: the end is then a mark without CT_F_HAS_BEGIN.
 */
struct ct_mark_head {
	__u16 size;		/* of head and payload, a multiple of 8 */
	__u16 class;
	__u8  flags;
	__u8  depth;
	__u16 reserved;
	__u64 op;
	__u64 begin;
	__s64 result;
};
#define CT_MARK_MAX		4096u	/* largest n */

/*
 * CT_IOC_GET_PROBE: reader; in: index; out: the rest.  ENOENT beyond the last.  A probe
 * that is removed moves those behind it: who lists them meanwhile may miss one.
 * hits: handlers that had a record to write (two a call where the entry is recorded
 * too), so that hits = records written + lost; missed: the kernel's own count of calls whose handler
 * could not run; lost: records of this probe that the ring did not take.
 */
enum ct_probe_state {
	CT_PROBE_IDLE	  = 0,	/* not wanted: no session, or group not armed */
	CT_PROBE_ARMED	  = 1,
	CT_PROBE_ABSENT	  = 2,	/* no such function in the loaded driver */
	CT_PROBE_NO_MODULE = 3,	/* the driver's module is not loaded */
	CT_PROBE_FAILED	  = 4,	/* the kernel refused: see error */
	CT_PROBE_SHADOWED = 5,	/* an alternative name of it is armed */
};
/*
 * A tracepoint: symbol is its name, module the one that must bring it ("": the
 * kernel itself, or any).  ABSENT: nothing that is loaded has it.  hits are records
 * (not events) and nothing is missed.
 */
#define CT_PROBE_IS_TRACEPOINT	1u
struct ct_probe_info {
	__u32 size;
	__u32 index;
	__u32 class;		/* event class of its records, 0: none yet */
	__u16 group;		/* enum ct_group */
	__u16 state;		/* enum ct_probe_state */
	__s32 error;		/* negative errno of CT_PROBE_FAILED */
	__u32 flags;		/* CT_PROBE_IS_* */
	__u64 address;		/* of what is armed; 0 without CAP_PERFMON or CAP_SYS_ADMIN */
	__u64 hits;
	__u64 missed;
	__u64 lost;
	__u64 time;		/* ns inside, of a probe that only counts */
	char  module[56];
	char  symbol[CT_NAME_LEN];
	char  name[CT_NAME_LEN];
	__u64 cost;		/* ns that its handlers take a hit, of every 64th; 0: none yet */
};

/*
 * CT_IOC_GET_SESSION: reader; tells the running session as CT_IOC_START left it,
 * with its present flags.  ENODATA: none runs.
 *
 * CT_IOC_PAUSE, CT_IOC_RESUME: the owner, or anyone who may start a session: while
 * paused nothing is written and nothing counts as lost.  ENODATA: none runs.
 * CT_IOC_FLUSH: reader; returns when every record that was begun before the call
 * is committed, and wakes readers.  Any record is then readable, in a packet that
 * is still open too.
 * CT_IOC_STOP by who did not start it: EPERM, but for a persistent session and
 * CAP_PERFMON or CAP_SYS_ADMIN.
 */

/*
 * CT_IOC_FILTER: what is recorded, decided before the ring.  The owner, or anyone
 * who may start a session.  A record passes if it passes every part that is in use;
 * a part with several values takes any of them.  It replaces the last filter at
 * once; a struct of zeros is none.  CT_IOC_GET_FILTER: reader.
 *
 * Parts about tasks (pid, uid, comm, cgroup) never match an interrupt's record.
 * pid: processes by their tgid in the initial pid namespace; with
 * CT_FILTER_CHILDREN also those that they fork from now on.  comm: the task's
 * command name begins with it.  cgroup: descriptors of cgroup v2 directories, the
 * task's cgroup or one of its ancestors.  categories: bits 1 << CT_CAT_*.
 * Errors: EINVAL a count too large or an unknown flag; EBADF a descriptor that is
 * no cgroup; ENODATA; EPERM; EOPNOTSUPP children, in a kernel without tracepoints;
 * ENOMEM.
 */
#define CT_FILTER_CHILDREN	1u
#define CT_FILTER_MAX		16
struct ct_filter {
	__u32 size;
	__u32 flags;
	__u64 categories;	/* 0: all */
	__u32 pids;		/* how many of pid[] are in use, and so on */
	__u32 uids;
	__u32 comms;
	__u32 cgroups;
	__u32 pid[CT_FILTER_MAX];
	__u32 uid[CT_FILTER_MAX];
	char  comm[CT_FILTER_MAX][16];
	__s32 cgroup[CT_FILTER_MAX];
};

/*
 * CT_IOC_PROBE_ADD: needs CAP_PERFMON or CAP_SYS_ADMIN.  Adds a probe on a function
 * of the kernel (module empty) or of a module, which may come later; it is armed
 * with every session whose groups have CT_GROUP_ADDED, and stays until
 * CT_IOC_PROBE_REMOVE (by module and symbol) or the module's end.  Each argument is
 * a field of its records: number (0 to 5, CT_ARG_RETURN: what it returned), name
 * and type (any but text and str).  Where the kernel refuses to arm it, its row of
 * CT_IOC_GET_PROBE says so.
 * Those with CT_PROBE_OWNED go together, and quickly, when the file that added them
 * is closed.
 * Errors: EEXIST it is probed already; ENOENT no such function, though its module
 * is loaded; EINVAL a name, number, type or flag, or a function that the kernel
 * does not let be probed; ENOSPC the ids of classes are used up; EPERM; ENOMEM.
 * CT_IOC_PROBE_REMOVE: ENOENT no such probe was added; EINVAL a name; EPERM.
 *
 * CT_IOC_PROBE_ARM: arms this file's probes with CT_PROBE_LATER together, which takes
 * a fraction of the time; what the kernel refuses is CT_PROBE_FAILED or ABSENT in
 * CT_IOC_GET_PROBE.  Errors: EPERM; ENODATA no session that wants the group added;
 * ENOMEM.
 *
 * CT_IOC_PROBE_SET: sets sample (1 in N calls is recorded, 0 and 1: all) of every
 * probe with this module and symbol; "*" as symbol: of all.  ENOENT there is none;
 * EINVAL a name, or flags or arguments; EPERM.
 */
#define CT_ARG_RETURN		0xff
#define CT_ARGS_MAX		8
#define CT_PROBE_ENTRY		1u	/* record the entry too */
#define CT_PROBE_COUNT		2u	/* only count calls and sum up their time */
#define CT_PROBE_OWNED		4u	/* removed when this file is closed */
#define CT_PROBE_LATER		8u	/* armed by CT_IOC_PROBE_ARM; with COUNT and OWNED alone */
struct ct_probe_arg {
	char  name[CT_FIELD_LEN];
	__u8  type;		/* enum ct_type */
	__u8  number;
	__u8  reserved[6];
};
struct ct_probe_add {
	__u32 size;
	__u32 flags;
	char  module[56];
	char  symbol[CT_NAME_LEN];
	__u32 args;
	__u32 sample;
	struct ct_probe_arg arg[CT_ARGS_MAX];
	__u64 hits;		/* out, of CT_IOC_PROBE_REMOVE: its last counts */
	__u64 missed;
	__u64 lost;
	__u64 time;
};

/*
 * CT_IOC_TRIGGER: the owner, or anyone who may start a session.  What makes the
 * module write a trigger record and count it in the facts page, so that whoever
 * watches takes a snapshot.  Zeros: nothing.  Errors: EINVAL an unknown flag, or
 * CT_TRIGGER_SLOW with no limit; ENODATA; EPERM.
 */
#define CT_TRIGGER_STATUS	1u	/* an RM or UVM status other than 0 */
#define CT_TRIGGER_ERRNO	2u	/* an ioctl that fails */
#define CT_TRIGGER_SLOW		4u	/* a call of slow_ns or more */
#define CT_TRIGGER_XID		8u	/* the driver reports an Xid */
struct ct_trigger_set {
	__u32 size;
	__u32 flags;
	__u64 slow_ns;
};

/*
 * CT_IOC_CLOCK: producer; maps the clock page, read-only, into the caller.
 * Errors: ENOMEM.
 *
 * CT_IOC_THREADBUF: producer; makes a thread buffer for the calling thread and maps it.  in:
 * slot_size and slots, powers of two; previous: the stream of this thread's thread buffer
 * that it takes the place of and that was unmapped (the stream goes on), or
 * CT_THREADBUF_NONE.  out: address, length.  Its memory is charged to the caller's cgroup.
 * Errors: ENODATA no session that takes thread buffers runs, a filter is set (it is applied to
 * CT_IOC_MARK), or somebody else reads (section 6); EINVAL sizes; EDQUOT
 * CT_THREADBUF_QUOTA or CT_THREADBUF_QUOTA_COUNT; ENOMEM.
 *
 * CT_IOC_THREADBUF_READ: the file that started the session, also after CT_IOC_STOP, or that
 * took it (CT_IOC_ADOPT).
 * Gives what the thread buffers have next, in the order of each stream: a packet of stream
 * u-pid-stream, or (what CT_THREADBUF_INFLIGHT) the open calls of one that has ended.
 * in: buf, len: at least CT_THREADBUF_SUBBUF_MAX; flags: CT_THREADBUF_READ_ALL: also what stands
 * in packets that are not full; with no session running any more also the open
 * calls of the threads that live.  out: what, pid, stream, bytes.
 * What is given is gone for all others, so what was taken needs CAP_PERFMON or
 * CAP_SYS_ADMIN; pids and uids are the initial namespaces'.
 * Errors: ENOENT there is nothing now; EBADF not the owner; EPERM no right, or in another
 * namespace; ENOSPC len; EFAULT.
 */
struct ct_clock_map {
	__u32 size;
	__u32 length;		/* out: bytes mapped */
	__u64 address;		/* out */
};
#define CT_THREADBUF_NONE		0xffffffffu
struct ct_threadbuf_new {
	__u32 size;
	__u32 subbuf_size;
	__u32 subbufs;
	__u32 previous;
	__u64 address;		/* out */
	__u64 length;		/* out */
};
#define CT_THREADBUF_READ_ALL	1u
#define CT_THREADBUF_PACKET		0u
#define CT_THREADBUF_INFLIGHT		1u
struct ct_threadbuf_read {
	__u32 size;
	__u32 flags;
	__u64 buf;
	__u32 len;
	__u32 what;		/* out: CT_THREADBUF_PACKET or CT_THREADBUF_INFLIGHT */
	__u32 pid;		/* out */
	__u32 stream;		/* out */
	__u32 bytes;		/* out: copied to buf */
	__u32 reserved;
};

/*
 * CT_IOC_WATERMARK: reader, for this file alone: how much must be unread before a
 * blocking read(), poll() or epoll says that there is something: so many bytes in
 * the rings, or so many records, or anything at all once ns have passed since
 * the file began to wait (exact to 10 ms).  What is 0 does not count; all 0: any
 * record, at once.  Writers do nothing for a watermark but at the first record: from
 * then on the rings are looked at every 10 ms.  A read() with O_NONBLOCK gives what
 * there is.  Errors: EINVAL reserved is not 0.
 *
 * CT_IOC_READ_DONE: reader by mmap() that does not own the session: what is committed now
 * counts as read for poll().  (Call it before you read committed.)  ENODATA: no
 * session.
 */
struct ct_watermark {
	__u32 size;
	__u32 reserved;
	__u64 bytes;
	__u64 records;
	__u64 ns;
};

/*
 * CT_IOC_LIMITS: the owner, or anyone who may start a session: what one producer may
 * use of it.  A producer is a user, or with CT_LIMIT_PROCESS a process, or with
 * CT_LIMIT_CGROUP a cgroup v2; two of them may fall together and then share.  It
 * holds for every record that is written in a task, interrupts' are not limited; those of
 * sched_switch and sched_wakeup are charged to the thread that they are about, wherever
 * they are written.  What a thread buffer holds is charged when it is read, each record and each
 * open call to its own time and to whose the thread buffer was when it was made.
 *   records, bytes   a second, of all CPUs together; a second's worth at once is let
 *                    through.  0: no limit.  Beyond: lost[CT_LOST_RATE].
 *   share            percent of each CPU's ring that one producer's records may
 *                    occupy before they are consumed, exact to a packet: 1 to 100,
 *                    0: the default.  For a lossless session alone: what overwrites
 *                    has no owner to wait for.  Beyond: lost[CT_LOST_SHARE].  A thread buffer
 *                    takes nothing of a ring; thread buffers have CT_THREADBUF_QUOTA.
 * A lossless session begins with CT_SHARE_DEFAULT by user and no rates.
 * CT_IOC_GET_LIMITS: reader.  Errors: EINVAL an unknown flag, both of them, a share
 * above 100; ENODATA; EPERM; ENOMEM.
 */
#define CT_LIMIT_PROCESS	1u
#define CT_LIMIT_CGROUP		2u
#define CT_SHARE_DEFAULT	75u
struct ct_limits {
	__u32 size;
	__u32 flags;
	__u64 records;
	__u64 bytes;
	__u32 share;
	__u32 reserved;
};

/*
 * CT_IOC_ADOPT: reader: this file now maps the session that a closed owner left, and
 * is told of it (flags with CT_SESSION_ORPHANED; holder is the pid that it had).  Its
 * rings no longer change; how far its owner had read stands in the status pages.
 * It stays until the next CT_IOC_START, until a file that has taken it calls
 * CT_IOC_STOP (needs CAP_PERFMON or CAP_SYS_ADMIN), or until the module goes.  A file
 * that has taken one and then starts its own has let go of the other: from then on it
 * maps, reads thread buffers of and stops its own (what it has mapped stays), and may take again.
 * ENODATA: nothing was left; EBUSY: this file has taken one already.
 */

#define CT_IOC_VERSION		_IOWR(CT_IOC_TYPE, 0, struct ct_version)
#define CT_IOC_START		_IOWR(CT_IOC_TYPE, 1, struct ct_session)
#define CT_IOC_STOP		_IO(CT_IOC_TYPE, 2)
#define CT_IOC_DEFINE		_IOWR(CT_IOC_TYPE, 3, struct ct_define)
#define CT_IOC_STRING		_IOWR(CT_IOC_TYPE, 4, struct ct_string)
#define CT_IOC_MARK(n)		_IOC(_IOC_WRITE, CT_IOC_TYPE, 5, (n))
#define CT_IOC_BEGIN(n)		_IOC(_IOC_WRITE | _IOC_READ, CT_IOC_TYPE, 6, (n))
#define CT_IOC_GET_DEFINE	_IOWR(CT_IOC_TYPE, 7, struct ct_define)
#define CT_IOC_GET_STRING	_IOWR(CT_IOC_TYPE, 8, struct ct_string)
#define CT_IOC_GET_PROBE	_IOWR(CT_IOC_TYPE, 9, struct ct_probe_info)
#define CT_IOC_GET_SESSION	_IOWR(CT_IOC_TYPE, 10, struct ct_session)
#define CT_IOC_PAUSE		_IO(CT_IOC_TYPE, 11)
#define CT_IOC_RESUME		_IO(CT_IOC_TYPE, 12)
#define CT_IOC_FLUSH		_IO(CT_IOC_TYPE, 13)
#define CT_IOC_FILTER		_IOWR(CT_IOC_TYPE, 14, struct ct_filter)
#define CT_IOC_GET_FILTER	_IOWR(CT_IOC_TYPE, 15, struct ct_filter)
#define CT_IOC_PROBE_ADD	_IOWR(CT_IOC_TYPE, 16, struct ct_probe_add)
#define CT_IOC_PROBE_REMOVE	_IOWR(CT_IOC_TYPE, 17, struct ct_probe_add)
#define CT_IOC_PROBE_SET	_IOWR(CT_IOC_TYPE, 18, struct ct_probe_add)
#define CT_IOC_TRIGGER		_IOWR(CT_IOC_TYPE, 19, struct ct_trigger_set)
#define CT_IOC_WATERMARK	_IOWR(CT_IOC_TYPE, 20, struct ct_watermark)
#define CT_IOC_READ_DONE		_IO(CT_IOC_TYPE, 21)
#define CT_IOC_LIMITS		_IOWR(CT_IOC_TYPE, 22, struct ct_limits)
#define CT_IOC_GET_LIMITS	_IOWR(CT_IOC_TYPE, 23, struct ct_limits)
#define CT_IOC_PROBE_ARM	_IO(CT_IOC_TYPE, 25)
#define CT_IOC_ADOPT		_IOWR(CT_IOC_TYPE, 24, struct ct_session)
#define CT_IOC_CLOCK		_IOWR(CT_IOC_TYPE, 30, struct ct_clock_map)
#define CT_IOC_THREADBUF		_IOWR(CT_IOC_TYPE, 31, struct ct_threadbuf_new)
#define CT_IOC_THREADBUF_READ	_IOWR(CT_IOC_TYPE, 32, struct ct_threadbuf_read)

#endif
