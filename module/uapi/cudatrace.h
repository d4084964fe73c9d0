/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * cudatrace: the interface between the kernel module, the preload library and the
 * command line.  They share this header and cudatrace_events.h, and nothing else.
 *
 * 1. RECORDS, PACKETS, STREAMS
 *
 * Each event is a *record* of an *event class* in a *stream*.  A stream is a sequence
 * of *packets*.  A packet in memory is, byte for byte, a packet of a Common Trace
 * Format 1.8 trace.  There are four kinds of streams:
 *
 *   CT_STREAM_CPU     written by the module: one per possible CPU (file k-CPU).  Each
 *                     record begins with struct ct_cpu_record.
 *   CT_STREAM_THREAD  written by the preload library: one per thread and process
 *                     generation (file u-PID-N).  Each record begins with struct
 *                     ct_thread_record; pid and tid stand in the packet's header.
 *   CT_STREAM_STATE   written by the recorder alone (file state): facts that change
 *                     rarely (processes, clock pairs, probes, losses); and samples of threads
 *                     (files s-PID-N, section 9).  Each record begins with struct
 *                     ct_cpu_record.
 *   CT_STREAM_GPU     written by libcudatrace-gpu.so: several per process (file
 *                     g-PID-N).  Each record begins with struct ct_thread_record; pid
 *                     stands in the packet's header, tid is 0.  Section 8.
 *
 * A call that returned is ONE record, stamped with the call's END, so that time never
 * steps back inside a stream.  The call's begin is end - duration.  CT_F_BEGIN marks an
 * entry event: a record that is written when the call is entered (for functions that
 * may block for long, and for every call that goes to the device by CT_IOC_BEGIN).  The
 * record of that call's end carries CT_F_HAS_BEGIN and the same op.  A reader joins the two
 * by op and tid, because a program says the op of its marks itself; of thread streams, by op
 * and stream.  CT_F_INSTANT marks a record that has no duration.
 *
 * All times are nanoseconds of CLOCK_MONOTONIC; in another time namespace of the machine's,
 * which has no offset.  A record holds the low 48 bits of its
 * time, its packet all 64.  So a packet takes no record CT_PACKET_SPAN (39 hours) or more
 * after its begin: a writer that comes later begins another packet.
 *
 * A record's size is a multiple of 8 bytes: the head, then the fields of its class's
 * layout (cudatrace_events.h).  A record never crosses a packet boundary.
 *
 * 2. THE TRACE DIRECTORY
 *
 *   metadata       CTF 1.8 text, generated from the tables and the registry
 *   k-CPU, u-PID-N, state, g-PID-N, s-PID-N     the streams
 *   .registry      text, which writers append to without a lock.  It has one line for
 *                  each object that got an id at run time (section 3)
 *   .open-PID-N    the in-flight calls of the thread whose stream is u-PID-N: a struct
 *                  ct_inflight_page that the thread has mapped.  The file also holds the
 *                  sub-buffers of struct ct_subbufs with its newest packets: packets
 *                  whose seq is higher than that of the stream's last packet belong
 *                  behind it.  When the thread has ended, another thread of its process
 *                  may take over both files: each packet says whose it is (tid)
 *   .library       a link to the folder of the preload library, where LD_PRELOAD could not
 *                  name it: cudatrace record makes it
 *   .sample-PID    where the interpreter of a process keeps its threads, while cudatrace record
 *                  samples them: written by libcudatrace-stacks.so, read by no one else
 *   .recorder      struct ct_recorder_page, while cudatrace record drains sub-buffers
 *                  Its fields "written" and "allowed" bound the directory of record --keep
 *   .lost-UID      struct ct_lost_page, mapped by all processes of this user: counts
 *                  lost records that no packet could count, because their threads had
 *                  no packet
 *   u-0-0          a stream without records; a finished trace has it if such records
 *                  were lost.  "lost" of its last packet is their number
 * The name of every other file begins with a dot; otherwise babeltrace2 would read the
 * file as a stream.  One directory holds all processes of a recording.
 *
 * A thread's packet is a valid CTF packet at every moment: its writer stores the
 * record, then ts_end, then content_size.  So a thread that is killed at any
 * instruction leaves a readable stream.  A packet without a magic ends a stream; a
 * packet that is copied to the stream's end gets its magic last.
 *
 * A trace with the line "info keep ..." holds the newest records only (record --keep).  While it
 * is recorded, a stream's file may begin with a hole where packets were dropped, and their magics
 * are 0.  Their numbers are no loss, nor is a stream that is not there.  A stream of CT_STREAM_LONG
 * bytes, or of half of the size that its writer's files may have, gets no further packet: its
 * writer goes on in another one.
 *
 * cudatrace record finishes a trace; if it did not, the next command that opens the
 * trace does.  Finishing
 *   - moves the packets of a file that begins with a hole to its front;
 *   - cuts off a last packet without a magic;
 *   - turns the calls in .open-PID-N into call_open records at the stream's end;
 *   - writes a new u-0-0 if the .lost-UID files count more than u-0-0's last packet (a
 *     reader adds the difference);
 *   - writes metadata.
 * .lost-UID files stay: a process may have mapped one just now.
 *
 * 3. THE REGISTRY
 *
 * The registry consists of lines of words, separated by one blank each.  In a word,
 * every byte outside 0x21..0x7e and every '%' is written as %XX.
 *
 *   cudatrace ABI uuid=32HEX start=NS realtime=NS
 *       the head; start: CLOCK_MONOTONIC at the start of the trace; realtime:
 *       CLOCK_REALTIME at the same moment
 *   class ID LAYER CATEGORY OP FIELDS NAME SYMBOL
 *       ID is decimal; LAYER, CATEGORY and OP are words of the tables ('-' for no op);
 *       FIELDS as CT_LAYOUT_SPEC() ("size:u64,ptr:x64,", '-' for none); NAME as users
 *       know it (cuMemAlloc), SYMBOL as exported (cuMemAlloc_v2)
 *   string ID TEXT
 *       ID is decimal, from 1; TEXT is for instance the mangled name of a kernel.  Of a text
 *       longer than CT_STRING_MAX the library writes the first CT_STRING_MAX - 17 bytes, '~'
 *       and 16 hex digits, a hash of the whole
 *   info KEY TEXT
 *       for instance "info gpu simulated", "info command python%20x.py".  The recorder
 *       writes the key "way" (module or files), the library the key "sink" (device or
 *       files)
 * The same lines stand in metadata, each behind "@ " inside a comment.  An id is never
 * reused within a trace.  With the module, the module assigns the ids (CT_IOC_DEFINE,
 * CT_IOC_STRING) and the recorder writes the lines.
 *
 * Without the module, processes assign the ids, and no process waits for another.  To get
 * an id, a process reads the file to its end.  If there is no line with its text, it
 * appends one with the lowest id above all ids of this kind, by one write() with O_APPEND,
 * and reads on.  If another process's line with this id comes first, it tries again.
 *
 * Rules for everyone who reads the file:
 *   - The first head counts.  The first line of an id counts; later ones are void.
 *   - A line without its newline is not complete yet.  If the file ends in such a line, its
 *     writer may have died in it (or the disk was full): then an append begins with " %",
 *     newline.  A line that ends in the word "%" is void and claims no id.
 *   - An empty line, and a line that is not as described above or has CT_REGISTRY_LINE
 *     bytes or more, is ignored.  But for those who assign ids, every line that begins with
 *     "class ID" or "string ID" claims that id.
 *   - Ids of strings are below CT_REGISTRY_STRINGS, those of classes at most CT_CLASS_MAX.
 *   - Two ids may have the same text.  They mean the same.
 * A process that assigns ids may stop reading at a line of CT_REGISTRY_LINE bytes, or after
 * 64 MiB; then it gets no new ids.
 *
 * 4. THE DEVICE
 *
 * /dev/cudatrace.  The mode in which a file was opened decides what it may do:
 *   O_WRONLY   a producer: CT_IOC_VERSION, CT_IOC_DEFINE, CT_IOC_STRING, CT_IOC_MARK,
 *              CT_IOC_BEGIN, CT_IOC_CLOCK, CT_IOC_THREADBUF.  A producer reads nothing.
 *              Any user whom the device file's mode allows may be a producer.
 *   O_RDONLY   a reader: read(), poll(), read-only mmap() and the CT_IOC_GET_* calls.
 *              Needs CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace, or to be
 *              in the device file's group (otherwise open() fails with EACCES).  The group
 *              counts if it is not gid 0, if the file is the one in devtmpfs, and in the
 *              initial pid and user namespaces: elsewhere root of a container chooses it.
 *   O_RDWR     a reader that may also own the session (CT_IOC_START), for which it
 *              needs CAP_PERFMON or CAP_SYS_ADMIN.
 * docs/permissions.md has a table of all operations and the rights that they need.
 *
 * Limits and quotas go by *producer*: a container (a task whose outermost pid namespace, or
 * else whose outermost user namespace, was made by root of the initial user namespace), or
 * else a user (who made the outermost user namespace of the task, or in the initial one its
 * real uid).
 *
 * The *session* is global.  It says how large the rings are, whether they overwrite,
 * and which probe groups are armed.  The open file that started the session is its
 * *owner*.  The session ends with CT_IOC_STOP or when its owner is closed; a second
 * CT_IOC_START fails with EBUSY and returns the owner's pid.
 *
 * If the owner is closed without CT_IOC_STOP (its process was killed), the session ends
 * as well.  If rings or thread buffers then hold records that the owner has not
 * consumed, the session is *orphaned*: the module keeps it until another file *adopts*
 * it with CT_IOC_ADOPT.
 *
 * A read() or poll() without a session starts a default session (all groups, overwrite),
 * which ends when its file is closed, if the file was opened with CAP_PERFMON or
 * CAP_SYS_ADMIN.  By any other file read() then fails with ENODATA (but returns 0 where it
 * has read a session to its end), and poll() tells POLLERR.  A CT_IOC_START replaces a
 * default session.  Without a session nothing is written and nothing counts as lost.
 *
 * read() returns text: one JSON object per line, of all CPUs in the order of time.  It
 * blocks until there is a line.  Errors: EAGAIN with O_NONBLOCK; ENODATA; EINTR; EFAULT;
 * ENOMEM.
 * Every open file has its own position, which starts behind the last record that was
 * written before the open.  Each loss is reported as a line
 * {"type":"tracer","name":"lost",...}.
 *
 * The lines of one call share op_id and tid.  If the ring overwrote a call's B line before it
 * was read, its E line stands alone: the call began duration_us before it.
 *
 * A blocking read(), poll(), select() and epoll wait for a *watermark*
 * (CT_IOC_WATERMARK), by default for one record.  Unread bytes and records are counted
 * from the file's read() position; once the owner has mapped a CPU's data, from its
 * consumer pages.  Bytes are counted as they lie in the rings, packet headers included.
 *
 * pids and tids in the text are those of the pid namespace of the task that opened the
 * file, no matter which task reads or waits.  This holds for the head of a line and for
 * the fields ppid and owner_pid, and for other and waker of sched_switch and
 * sched_wakeup.  A process that is not visible there, or that has gone meanwhile, shows
 * as 0.  uids are those of the initial user namespace, in which every reader is.  Records
 * in memory and packets of thread buffers, and so all recorded data, hold the initial
 * namespaces' numbers, in these fields too: so mmap() and CT_IOC_THREADBUF_READ are
 * refused in any other namespace (EPERM).
 *
 * In the text of a file that was opened without CAP_SYSLOG, addresses of the kernel in
 * records of layer "kernel" (values in the upper half of the address space, and bus
 * addresses) are replaced by the hashes that the kernel's %p prints.
 *
 * mmap() of an O_RDONLY or O_RDWR file, by offset (CT_MMAP_*):
 *   facts      one page, read-only: struct ct_facts
 *   status     one page per CPU, read-only: struct ct_cpu_status
 *   consumer   one page per CPU: struct ct_cpu_consumer.  Only the owner's O_RDWR file
 *              may map it, and may write it
 *   data       subbuf_size * subbuf_count bytes per CPU, read-only.  They hold addresses
 *              of the kernel: only for the owner, and for a file that was opened with
 *              CAP_PERFMON or CAP_SYS_ADMIN
 * A mapping needs a running or adopted session (otherwise ENODATA), keeps the session's
 * memory alive until it is unmapped, and belongs to that session alone: after
 * CT_IOC_STOP it stays readable and no longer changes.  Errors: EINVAL the offset is not
 * one of these, there is no such CPU, the size differs from the size above, MAP_PRIVATE;
 * EPERM PROT_WRITE or PROT_EXEC where it is not allowed, no right to the data, or a pid or
 * user namespace other than the initial ones; EACCES the file is not open for reading, or
 * PROT_WRITE and the file is not open for writing; ENOMEM.
 *
 * 5. THE RING
 *
 * Positions are bytes since the session began; they only grow.  Packet k of a CPU
 * occupies the positions from k * subbuf_size up to (k + 1) * subbuf_size.  Position p
 * lies at byte p % (subbuf_size * subbuf_count) of the data.  Only that CPU writes.
 *   committed  All bytes below this position are completely written.  Load it with
 *              acquire semantics before you load the data.
 *   packet k   It is closed when committed >= (k + 1) * subbuf_size; its header is then
 *              final.  A packet that committed lies in is open: it may be read up to
 *              committed, but its header's content_size, ts_end and lost are not valid yet.
 *              An open packet may be older than CT_PACKET_SPAN; its last record is not.
 *   oldest     The module has overwritten, or is overwriting, positions below this one.
 *              Load it again after copying a packet (behind a read barrier): if the
 *              packet's begin is below it, throw the copy away.
 *   consumed   (consumer page)  The owner of a session that does not overwrite stores
 *              here how far it has read.  The module ignores a value above committed or
 *              below an earlier value.  When the ring is full, the new record is dropped
 *              and counted in lost[].
 *
 * The module does not trust values that a producer or the owner of a mapping writes: it
 * checks sizes, ids and positions, and stamps time, cpu, pid, tid and uid itself.
 *
 * 6. THE CLOCK AND THREAD BUFFERS
 *
 * CT_IOC_CLOCK maps a page (struct ct_clock_page) by which a program converts the
 * time-stamp counter to CLOCK_MONOTONIC without a system call.  The module stamps its
 * own records by the same *clock segments*, so times taken in a program and in the
 * kernel compare exactly.  Segment n lies at segment[n % CT_CLOCK_SEGMENTS].  To read the
 * time:
 *   1. n = newest (acquire).  If n is 0 there is no segment: use clock_gettime().
 *   2. Read the counter, then load segment n.  If the counter is below its tsc, use
 *      segment n - 1 instead.
 *   3. If counter - tsc >= CT_CLOCK_VALID_SPANS * (until - tsc), no segment covers this
 *      counter: use clock_gettime().  (A segment n - 1 that never existed is all zeros,
 *      so this test rejects it too.)
 *   4. ns = segment.ns + ((counter - segment.tsc) * segment.mult >> 32), in 64 bits.
 *   5. Load newest again; if it has grown by more than 1, start again at step 1.
 * Between tsc and until a program may cache a segment and use it without looking at the
 * page.  A segment begins where the one before it ends: time never steps back, neither
 * on one CPU nor between two, as far as their counters agree (the kernel checks that).
 *
 * A *thread buffer* is memory of the module that one thread has mapped: a ring of
 * sub-buffers, each of which holds one packet of the thread's stream.  The thread writes
 * records into it by plain stores, without a system call, as it would write into a file
 * of its own (section 2).  Thread buffers exist while a session runs whose owner reads
 * them (CT_SESSION_THREADBUFS).  "session" in the clock page is then a number other than
 * 0; otherwise it is 0.  It is also 0 while the session has *extra readers*: a file other
 * than the owner's that reads by read() or waits by poll().  Extra readers see the rings
 * alone, so threads then record by CT_IOC_MARK.  The thread writes
 *   - packet number i into sub-buffer i % subbufs: the header without the magic, then
 *     the magic, then records; content_size after each record (release);
 *   - "produced" in the thread buffer's head: the number of packets begun.  It may begin
 *     packet i only if i - consumed < subbufs.  If not, the record is lost; the thread
 *     counts it in the head's "lost" and in "lost" of the next packet that it begins;
 *   - its in-flight calls into the second page (struct ct_inflight_page).
 * A child does not inherit a thread buffer by fork().  A thread buffer ends when it is
 * unmapped, and so at the latest with its process's memory; its packets are still read.  If
 * a child made by clone(CLONE_VM) keeps that memory, the thread buffer is closed when its
 * process ends: what the child writes there is discarded.  The same if its process calls exec, from
 * the next CT_IOC_THREADBUF_READ on.
 *
 * A pause and a filter close the existing thread buffers: records that a thread writes
 * into a closed one are discarded (a record that was being written at that moment counts
 * as lost).  "session" in the clock page is 0 as long as the pause or the filter lasts,
 * and a new number afterwards.  A thread whose thread buffer has another number than the
 * clock page asks for a new thread buffer and unmaps the old one.
 *
 * Readers never see this memory.  CT_IOC_THREADBUF_READ copies records out of it, checks
 * each one (class, size, time), and builds a packet of its own from them.  The module
 * fills that packet's header: pid, tid, uuid and stream as the module knows them, seq and
 * times.  A time that lies before the thread buffer's begin, before the previous record
 * or after now is moved into that range; a uid is replaced by that of the thread buffer.
 * Bytes that cannot be a record end the packet; the remaining bytes count as a lost
 * record.  A record that exceeds its producer's rate (CT_IOC_LIMITS) is left out and
 * counted in the packet's "lost" and in the facts page.  A "lost" of the thread buffer's head above
 * CT_THREADBUF_LOST_MAX counts as that.  Within these bounds, the content
 * of a thread buffer is the claim of its process.
 *
 * 7. VERSIONS
 *
 * CT_ABI_VERSION changes when an ioctl or the ring's protocol changes incompatibly;
 * CT_SCHEMA_VERSION when a reader could not understand recorded data any more (a static
 * class or a layout of cudatrace_events.h was changed or added).  Both stand in the facts
 * page, in CT_IOC_VERSION and in modinfo.  Two sides that differ in either refuse to
 * work together and say which one is older.
 *
 * All ioctl structs begin with their size, so that fields can be added at their end.  A
 * caller with a shorter struct is served, with zeros for the fields that it lacks.  A
 * caller with a longer struct must have zeros in the fields that the module does not
 * know (otherwise E2BIG).  Every field named "reserved" must be 0, also in a struct whose
 * other fields are answers (otherwise EINVAL), so that it can get a meaning later.
 *
 * Version 0.2.0 renamed C names of this header (a lane is now a thread buffer, an open
 * call an in-flight call, and so on).  Numbers, layouts and words in traces stayed, and
 * so did both versions.  It dropped an ioctl that no program of cudatrace used, and one that
 * armed probes together, which CT_IOC_COUNT_ADD replaces: numbers 21 and 25 stay unused.
 * CT_SCHEMA_VERSION 2 added the layout k_firmware,
 * 3 the GPU streams with their layouts, the type memk and the op "exec", 4 the layout stack,
 * 5 the layout sample with the streams s-PID-N, 6 libnccl's calls, 7 the layout gpu_metrics,
 * 8 graph_node and graph_made, 9 communicator_state, 10 gil_wait.
 *
 * 8. GPU STREAMS
 *
 * A process that is recorded with `record --gpu` writes what its GPUs did into files of its
 * own, g-PID-0 and up, also where the module is used: such records are delivered late, and
 * by many at a time.  Their layouts are those named gpu_* in cudatrace_events.h.
 *
 *   g-PID-0    gpu_state and gpu_clock records (after an exec, the first of the new numbers)
 *   g-PID-N    kernels, copies, sets and graph launches.  As in every stream, records are in
 *              the order of their end; but they overlap, as several of them run at a time.
 *              A record that is delivered too late for one stream goes to the next.
 *
 * A packet is written by one write() when it is complete.  So a process that was killed
 * leaves whole packets, and perhaps a part of one at the end.  There is no .open-PID-N.
 * Records that CUPTI dropped, that had no time or that could not be written are counted in
 * .lost-UID; "lost" of a packet is 0.
 *
 * depth is 0, the result is none (CT_F_NO_RESULT) and the CPU is unknown.  op counts the
 * records of a stream; the call that caused a record is found by its correlation: among the
 * calls of its process that submit work, in the order in which they began, checked by
 * kernel, grid and block, or by bytes.
 *
 * 9. STACKS
 *
 * In a process that is recorded with `record --stacks` a call may have a stack record
 * before it (class stack), which names the call by its op: so a record that is lost costs
 * one stack, and no call gets another's.  stack is the number of a node: a string of the
 * registry, "PARENT FUNCTION LINE" in decimal. PARENT is the node of the caller, 0 for the
 * outermost one, and below the node's own number; FUNCTION is the number of a string
 * "LANGUAGE<tab>NAME<tab>FILE"; LINE is 0 if it is not known. Where the outermost frames
 * were left out, the outermost node's function is "(deeper frames)", without a file.
 * A return address of compiled code is the function
 * "native<tab>0xOFFSET<tab><tab>OBJECT<tab>BUILDID", without a line: OFFSET is that of the file
 * OBJECT.  A later string "native<tab>=ADDRESS FUNCTION LINE" says that the function of the
 * number ADDRESS is the line LINE of FUNCTION, "native<tab>NAME<tab>FILE<tab>OBJECT".
 *
 * The recorder may sample threads from outside: the class sample has such a node, and what the
 * thread did; a thread that waits for Python's lock has the class gil_wait instead, which says who
 * holds it.  Samples of a process are in files of their own, s-PID-N, streams of the kind
 * CT_STREAM_STATE.  Sampled are the threads that made calls with a stack, and before the
 * first such call the main thread.  A process without such a call has no file.  Of one that was
 * attached to (record --pid, --all) the main thread is always sampled, and the file is kept.
 */
#ifndef _UAPI_CUDATRACE_H
#define _UAPI_CUDATRACE_H

#include <linux/types.h>
#include <linux/ioctl.h>
#include "cudatrace_events.h"

#define CT_ABI_VERSION		1
#define CT_SCHEMA_VERSION	10
#define CT_VERSION		"0.2.0"	/* of the product; dkms.conf says it too */
#define CT_DEVICE_NAME		"cudatrace"
#define CT_DEVICE_PATH		"/dev/cudatrace"

/* ------------------------------------------------------------- packets --- */
#define CT_MAGIC		0xc1fc1fc1u	/* CTF 1.8 packet magic */

enum ct_stream_class {
	CT_STREAM_CPU		= 0,
	CT_STREAM_THREAD	= 1,
	CT_STREAM_STATE		= 2,
	CT_STREAM_GPU		= 3,
};

/*
 * The header of every packet: the CTF packet header (up to stream_class), then the packet
 * context.  Sizes are in bits, as CTF demands.  seq counts the packets of a stream from 0;
 * lost is the number of records of this stream that were lost so far.
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
	__u32 pid;		/* thread and GPU streams: the process; else 0 */
	__u32 tid;		/* thread streams: the thread; else 0 */
	__u32 reserved;
	__u64 op_base;		/* thread and GPU streams: added to a record's op, which is then
				 * unique in its process; CPU streams: records written before this
				 * packet, except a few that were being written at that moment
				 */
};

#define CT_PACKET_HEAD		((__u32)sizeof(struct ct_packet))	/* 96 */
#define CT_PACKET_MIN		4096u
#define CT_PACKET_MAX		(16u << 20)
/* The largest record, head and text included, so that it fits every packet. */
#define CT_RECORD_MAX		2048u

/* ------------------------------------------------------------- records --- */
#define CT_TS_BITS		48
#define CT_TS_MASK		((1ull << CT_TS_BITS) - 1)
/*
 * A packet takes no record this many ns (39 h) or more after its ts_begin: half of what the
 * bits of a record's time allow.
 */
#define CT_PACKET_SPAN		(1ull << 47)
#define CT_STAMP(ts, class)	(((ts) & CT_TS_MASK) | (__u64)(class) << CT_TS_BITS)
#define CT_DURATION_MAX		CT_TS_MASK

/* Flags of a record. */
#define CT_F_BEGIN		0x01	/* written at entry, no result yet */
#define CT_F_HAS_BEGIN		0x02	/* an entry event (CT_F_BEGIN) came before */
#define CT_F_INSTANT		0x04	/* has no duration: a point in time */
#define CT_F_NO_RESULT		0x08	/* result means nothing (void, pointer) */
#define CT_F_ABANDONED		0x10	/* the call was left by exception or longjmp */
#define CT_F_TRUNCATED		0x20	/* a text was cut */
#define CT_F_CONTEXT		0xc0	/* context of the call, kernel records only: */
#define CT_F_TASK		0x00
#define CT_F_SOFTIRQ		0x40
#define CT_F_HARDIRQ		0x80
#define CT_F_NMI		0xc0

/* Head of a record in a CPU stream or the state stream. */
struct ct_cpu_record {
	__u64 stamp;		/* CT_STAMP(ns at the end, class) */
	__u32 pid;		/* process (tgid) in the initial pid namespace */
	__u32 tid;
	__u64 op;		/* the same in a call's begin and end; unique */
	__u64 duration;		/* ns: 48 bits; depth << 48; flags << 56 */
	__s64 result;		/* return value */
};

/* Head of a record in a thread's or a GPU stream. */
struct ct_thread_record {
	__u64 stamp;
	__u32 op;		/* relative to the packet's op_base */
	__u8  depth;		/* 0: called by the program itself */
	__u8  flags;
	__u16 result;		/* CUresult; cudaError_t */
	__u64 duration;		/* ns: 48 bits; cpu << 48, 0xffff: unknown */
};

#define CT_DURATION(ns, depth, flags)					\
	((__u64)(ns) | (__u64)(depth) << 48 | (__u64)(flags) << 56)

/* The class of a record of either head, from its stamp. */
#define CT_RECORD_CLASS(stamp)	((__u16)((stamp) >> CT_TS_BITS))

/*
 * The full time of a record, from its 48 bits: the first moment at or after the packet's
 * begin that has these low bits.
 */
#define CT_UNSTAMP(ts_begin, stamp)					\
	((ts_begin) + (((stamp) - (ts_begin)) & CT_TS_MASK))

/* Bytes of a text field, from its first byte, that end the record at a multiple of 8. */
#define CT_TEXT_BYTES(offset, len)	((((offset) + (len) + 7) & ~7ull) - (offset))

/* -------------------------------------- in-flight calls of a thread -------- */
/*
 * .open-PID-N: its first page, which the thread has mapped shared.  depth is the number of
 * in-flight calls; entry[i] is valid for i < min(depth, CT_INFLIGHT_MAX).  The thread
 * stores the entry before it raises depth, and lowers depth after it has written the
 * call's record: so a call whose op is also that of the stream's last record has returned.
 */
#define CT_INFLIGHT_MAX		60
#define CT_INFLIGHT_PACKET	4096u	/* where the first sub-buffer begins */
struct ct_inflight_call {
	__u64 begin;		/* ns */
	__u64 op;
	__u64 stack;		/* the end of its frame, the lowest address */
	__u32 class;
	__u32 flags;		/* CT_INFLIGHT_*; bytes of its record's payload << 8 */
};

#define CT_INFLIGHT_NO_BEGIN	1	/* a query: begin is only a lower bound */
#define CT_INFLIGHT_HAS_BEGIN	2	/* its entry event was written */
#define CT_INFLIGHT_RECORDED	4	/* its record was written, in a packet before this one */
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
 * The sub-buffers of a thread.  This struct lies at byte CT_INFLIGHT_SUBBUFS of
 * .open-PID-N, sub-buffer i at CT_INFLIGHT_PACKET + i * subbuf_size.
 *
 * The thread builds packet n (0, 1, ...) in sub-buffer n % subbufs.  When the packet is
 * full, the thread stores its place in the stream in at[n % subbufs], then raises
 * published.  The recorder writes the packet to that place in the stream and then raises
 * drained.  If the thread needs the sub-buffer before that, it writes the packet itself, and
 * raises drained.  (A late recorder may set drained back to a lower number.)
 *
 * A thread begins with one small sub-buffer.  When it is full, the thread writes all packets
 * to the stream, sets subbufs to 0, and then both sizes to larger ones.  Packet numbers go
 * on.
 *
 * Both may write the same packet: they write the same records to the same place, the
 * header last, and no packet before the packet in front of it was written.  The recorder
 * first copies the packet; the copy is consistent if both sizes are still the same after
 * copying, and published is still below n + subbufs.
 */
#define CT_INFLIGHT_SUBBUFS	2048u
#define CT_SUBBUFS_MAX		8u
struct ct_subbufs {
	__u32 subbufs;		/* 0: none yet */
	__u32 subbuf_size;	/* bytes */
	__u64 published;	/* packets, by the thread */
	__u64 drained;		/* packets that are in the stream, at least */
	struct {
		__u64 offset;	/* in the stream */
		__u64 size;	/* bytes of content, and so the packet_size there */
	} at[CT_SUBBUFS_MAX];
};

/*
 * Where the oldest packets are dropped: file systems, limits and address spaces end somewhere.
 * CT_STREAM_LONG_FOR: for a writer whose files may have @limit bytes (RLIMIT_FSIZE; RLIM_INFINITY).
 */
#define CT_STREAM_LONG		(4ull << 30)
#define CT_STREAM_LONG_FOR(limit)	\
	((limit) / 2 < CT_STREAM_LONG ? (limit) / 2 : CT_STREAM_LONG)

/* .recorder: all threads write it; a futex wakes the recorder. */
struct ct_recorder_page {
	__u32 magic;		/* CT_MAGIC */
	__u32 abi;		/* CT_ABI_VERSION */
	__u32 published;	/* packets of all threads; the futex */
	__u32 threads;		/* threads that began to fill more than one sub-buffer */
	__u32 waiting;		/* 1: the recorder wants to be woken */
	__u32 reserved;
	__u64 alive;		/* CLOCK_MONOTONIC in ns, stored again and again; 0: never */
	/*
	 * With CUDATRACE_KEEP (record --keep) the directory is bounded: who is about to write or
	 * to allocate bytes there adds them to "written".  If that is above "allowed" then, the
	 * bytes are taken back and nothing is written: there is no room, and records are lost.
	 * The recorder, which drops the oldest packets, raises "allowed".  Without the page
	 * nothing is written.
	 */
	__u64 written;
	__u64 allowed;
};

/*
 * A process that was attached to leaves the recording when "alive" is older than this: its
 * recorder was killed.  One that records through the module leaves when no session has run for
 * so long ("running" in the clock page).
 */
#define CT_RECORDER_GONE_NS	5000000000ull

/*
 * .lost-UID: at least 4096 bytes, of which the first 4096 are used.  They are appended when
 * the file is made (by the recorder, or by a process's first call; where several make it
 * at once it gets longer), so a full disk keeps no thread from counting.  Threads add
 * atomically.  A process that was attached to has it mapped while it records, and no longer:
 * by that others see where it records, also where it makes no call.
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
	__u32 running;		/* 0 once the session has ended */
	__u32 defines;		/* classes and strings defined so far, in total */
	__u32 probes;		/* probes in the table */
	__u32 triggers;		/* triggers that have fired so far */
	__u32 schema;		/* CT_SCHEMA_VERSION */
	__u32 reserved;
	__u64 threadbufs_limited; /* records of thread buffers lost for CT_LOST_RATE */
};

/* Why a record was lost, the index of lost[]: X(ID, word in the output). */
#define CT_LOSSES(X)							\
	X(FULL,		"full")		/* lossless ring full */	\
	X(NESTED,	"nested")	/* writers nested too deep in the ring */ \
	X(RATE,		"rate")		/* its producer's rate: CT_IOC_LIMITS */ \
	X(SHARE,	"share")	/* its producer's share of the ring */
#define CT_ENUM_ROW(id, word)	CT_LOST_##id,
enum ct_lost { CT_LOSSES(CT_ENUM_ROW) CT_LOST_REASONS };
#undef CT_ENUM_ROW

struct ct_cpu_status {
	__u64 committed;
	__u64 oldest;
	__u64 records;		/* written so far, overwritten ones included */
	__u64 overwritten;	/* packets that were overwritten */
	__u64 lost[CT_LOST_REASONS];
	__u64 consumed;		/* the consumer page's value when the session ended */
};

struct ct_cpu_consumer {
	__u64 consumed;
};

/* ------------------------------------------ clock and thread buffers ------- */
struct ct_clock_segment {
	__u64 tsc;		/* the counter where the segment begins */
	__u64 ns;		/* CLOCK_MONOTONIC there */
	__u64 until;		/* the next segment begins here or later */
	__u64 mult;		/* ns per tick, fixed point: 32 bits behind the point */
};

#define CT_CLOCK_SEGMENTS	4
#define CT_CLOCK_VALID_SPANS	8	/* a segment is used for this many times (until - tsc) */
struct ct_clock_page {
	__u32 magic;		/* CT_MAGIC */
	__u32 abi;		/* CT_ABI_VERSION */
	__u32 newest;		/* number of the newest segment, 0: there is none */
	__u32 session;		/* thread buffers with this number are read, 0: none are */
	__u32 recording;	/* 0: CT_IOC_MARK and CT_IOC_BEGIN would write nothing */
	__u32 running;		/* 0: no session runs, not even a paused one */
	__u64 reserved[5];
	struct ct_clock_segment segment[CT_CLOCK_SEGMENTS];
};

/*
 * The first page of a thread buffer.  The second page is a struct ct_inflight_page; the
 * sub-buffers follow.  The module fills all fields once, before the thread maps the
 * buffer; later it stores consumed alone, and the thread produced and lost.
 */
struct ct_threadbuf_head {
	__u32 magic;		/* CT_MAGIC */
	__u32 abi;		/* CT_ABI_VERSION, of the module */
	__u32 stream;		/* N of u-PID-N */
	__u32 session;		/* as in the clock page when the thread buffer was made */
	__u32 subbufs;
	__u32 subbuf_size;	/* bytes of a packet */
	__u64 reserved[2];
	__u8  uuid[16];
	__u64 reserved2;
	__u64 consumed;		/* by the module: packets whose sub-buffers are free again */
	__u64 produced;		/* by the thread: packets begun */
	__u64 lost;		/* by the thread: records for which no sub-buffer was free */
};

#define CT_THREADBUF_DATA		8192u	/* where the first sub-buffer begins */
#define CT_THREADBUF_SUBBUF_MIN		4096u
#define CT_THREADBUF_SUBBUF_MAX		(1u << 20)
#define CT_THREADBUF_SUBBUFS_MAX	64u
#define CT_THREADBUF_LOST_MAX		(1ull << 40)	/* records */
/* Of a producer's thread buffers, those that it keeps mapped after their session included. */
#define CT_THREADBUF_QUOTA		(256ull << 20)	/* bytes */
#define CT_THREADBUF_QUOTA_COUNT	4096
/* Streams that its thread buffers begin in a session: each is a file of the recorder. */
#define CT_THREADBUF_QUOTA_STREAMS	16384

/* -------------------------------------------------------------- ioctls ----- */
#define CT_IOC_TYPE		0xc7

/*
 * Errors that any ioctl may return: ENOTTY there is no such ioctl; EBADF the file is not
 * open in the mode that the ioctl needs (producer: for writing; reader: for reading; an
 * ioctl that configures: for writing; start and stop: for both); EFAULT a bad pointer;
 * EINVAL a struct's size below 8 or above a page, a reserved field that is not 0; E2BIG
 * (section 7); ENOMEM.  Further errors are listed with each ioctl.  A call that fails has
 * changed nothing.  The one exception: EFAULT when the module could not store the answer.
 */

/*
 * CT_IOC_VERSION: any file.  Fills the struct.  module: the version as text.
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
 * Errors: EPERM no right; EBADF not open for reading and writing; EBUSY a session runs
 * (owner_pid: pid of its owner in the caller's pid namespace, 0 if it is not visible there,
 * as in all answers of ioctls); EINVAL sizes, unknown flags or groups, a persistent
 * session that does not overwrite; ENOMEM.
 * CT_IOC_STOP: ends the session.  ENODATA: none runs; EPERM: see CT_IOC_GET_SESSION.
 */
#define CT_SESSION_OVERWRITE	1u	/* flight recorder: overwrite the oldest packet */
#define CT_SESSION_PERSISTENT	2u	/* goes on when the owner is closed */
#define CT_SESSION_PAUSED	4u	/* CT_IOC_PAUSE: nothing is recorded */
#define CT_SESSION_DEFAULT	8u	/* started by a read() */
#define CT_SESSION_THREADBUFS	32u	/* the owner reads thread buffers; not with OVERWRITE */
#define CT_SESSION_ORPHANED	16u	/* the owner was closed without CT_IOC_STOP */
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
	/* out, of CT_IOC_GET_SESSION: bytes that the kernel keeps for calls of probed functions */
	__u64 probe_memory;
};

/* Probe groups: X(ID, word) */
#define CT_GROUPS(X)							\
	X(IOCTL, "ioctl") X(MEMORY, "memory") X(SCHEDULER, "scheduler")	\
	X(INTERRUPT, "interrupt") X(CONTEXT, "context") X(UVM, "uvm")	\
	X(ADDED, "added")	/* by CT_IOC_PROBE_ADD */		\
	X(FENCE, "fence")	/* tracepoints of dma_fence */		\
	X(SWITCH, "switch")	/* sched events of traced threads */
#define CT_ENUM_ROW(id, word)	CT_GROUP_##id,
enum ct_group { CT_GROUPS(CT_ENUM_ROW) CT_GROUP_COUNT };
#undef CT_ENUM_ROW

/*
 * CT_IOC_DEFINE: producer; returns the id of the event class with this name, symbol and
 * fields, and makes the class if it does not exist.  A producer's classes have layer user.
 * Errors: EINVAL a word without NUL or with a byte outside 0x21..0x7e, a field's name that
 * is no C identifier or that another field has, an unknown type, fields that are not naturally
 * aligned or whose size is no multiple of 8, the category tracer (of records about the trace
 * itself, which no producer may imitate); ENOSPC the producer's quota (CT_QUOTA_CLASSES), that
 * of all producers but root together (CT_QUOTA_CLASSES_ALL: it keeps ids free for probes), or
 * all ids are used up; ENOMEM.
 * CT_IOC_GET_DEFINE: reader; in: id; out: all fields, of the class with this id or else the
 * next higher one.  ENOENT: id is beyond the last.
 *
 * A class or string that a program has defined keeps its id as long as the session exists in
 * which it was defined (with its readers), the file with which it was defined is open, or the
 * program has the clock page mapped (CT_IOC_CLOCK).  Once no session, no such file and no such
 * mapping is left, the module frees them all, and their quotas.
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
#define CT_QUOTA_STRINGS_ALL	262144		/* of all producers but root */
#define CT_QUOTA_STRING_BYTES	(16u << 20)	/* of all strings of a producer */
#define CT_QUOTA_STRING_BYTES_ALL (64u << 20)	/* of all producers but root */

/*
 * CT_IOC_STRING: producer; returns the id of this text (len bytes at text, without NUL; a
 * text longer than CT_STRING_MAX is cut).
 * CT_IOC_GET_STRING: reader; in: id, text and len of a buffer; out: len.
 * Errors: EFAULT, EINVAL, ENOMEM.  CT_IOC_STRING: ENOSPC the producer's quota
 * (CT_QUOTA_STRINGS, CT_QUOTA_STRING_BYTES) or that of all but root together
 * (CT_QUOTA_STRINGS_ALL, CT_QUOTA_STRING_BYTES_ALL).  CT_IOC_GET_STRING: ENOENT id is
 * beyond the last; ENOSPC the buffer is too short.
 */
#define CT_STRING_MAX		4096
#define CT_REGISTRY_LINE	16384u		/* lines of .registry are shorter */
#define CT_REGISTRY_STRINGS	(1u << 20)	/* ids in .registry are below */
struct ct_string {
	__u32 size;
	__u32 id;
	__u64 text;
	__u32 len;
	__u32 reserved;
};

/*
 * CT_IOC_MARK(n): producer.  The argument points to n bytes: an array of one or more
 * marks.  Each mark is a struct ct_mark_head and its payload (the fields of its class).
 * All sizes are multiples of 8; in the ring, where a mark takes 8 bytes more, the array
 * takes at most CT_RECORD_MAX bytes.  The whole array gets one time stamp, is copied once,
 * and is written completely or not at all.
 *
 * begin: ns when the call began (a value in the future counts as now), 0 for a mark
 * without a duration.  op: one that CT_IOC_BEGIN gave to this thread, or 0: the module
 * assigns one.  The module does not know whose an op is: a thread that gives one of another
 * thread ends no call of it, because readers join by op and tid.
 *
 * The module overwrites the u32 field "uid" of a class whose first field it is, and ppid
 * and uid of a process record.  A producer may not write clock and call_open records.
 * (In files, the library writes the user of the process's first marker into all of them.)
 *
 * Returns 0, also when the ring was full (the loss is counted; a program must not behave
 * differently because it is traced) or when no session runs.
 * Errors: EBADF not open for writing; EINVAL sizes, flags or class, an op other than 0
 * without CT_OP_BEGUN (that of a call that the kernel saw); EFAULT; ENOMEM (only if the
 * array's pages were not in memory).
 *
 * CT_IOC_BEGIN(n): the same for one mark, which is written with CT_F_BEGIN.  The module
 * stores op (a new one, with the bit CT_OP_BEGUN) and begin in the struct, for the mark of
 * the call's end.  Without a session op
 * stays 0: the end is then a mark without CT_F_HAS_BEGIN.
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

#define CT_MARK_MAX		4096u	/* the largest n */
#define CT_OP_BEGUN		(1ull << 12)	/* set in the ops of CT_IOC_BEGIN alone */

/*
 * CT_IOC_GET_PROBE: reader; in: index; out: all other fields.  ENOENT: index is beyond the
 * last.  Removing a probe lowers the index of each probe behind it, so a program that
 * lists probes at that moment may miss one.
 * hits: handlers that had a record to write (two per call if the entry is recorded too),
 * so that hits = records written + lost.  missed: the kernel's count of calls whose
 * handler could not run.  lost: records of this probe that the ring did not take.
 */
enum ct_probe_state {
	CT_PROBE_IDLE	  = 0,	/* no session runs, or the group is not armed */
	CT_PROBE_ARMED	  = 1,
	CT_PROBE_ABSENT	  = 2,	/* the loaded driver has no such function */
	CT_PROBE_NO_MODULE = 3,	/* the driver's module is not loaded */
	CT_PROBE_FAILED	  = 4,	/* the kernel refused to arm it: see error */
	CT_PROBE_SHADOWED = 5,	/* another name of the same function is armed */
};

/*
 * For a tracepoint, symbol is its name, and module is the module that defines it ("": the
 * kernel itself, or any module).  ABSENT: neither the kernel nor a loaded module defines
 * it.  hits are records (not events), and missed is always 0.
 */
#define CT_PROBE_IS_TRACEPOINT	1u
struct ct_probe_info {
	__u32 size;
	__u32 index;
	__u32 class;		/* event class of its records, 0: not yet made */
	__u16 group;		/* enum ct_group */
	__u16 state;		/* enum ct_probe_state */
	__s32 error;		/* negative errno of CT_PROBE_FAILED */
	__u32 flags;		/* CT_PROBE_IS_* */
	__u64 address;		/* of an armed probe; 0 if the file was opened without CAP_SYSLOG */
	__u64 hits;
	__u64 missed;
	__u64 lost;
	__u64 reserved;
	char  module[56];
	char  symbol[CT_NAME_LEN];
	char  name[CT_NAME_LEN];
	__u64 cost;		/* ns in the handlers per hit, from every 64th; 0: none yet */
};

/*
 * CT_IOC_GET_SESSION: reader; returns the running session as CT_IOC_START returned it,
 * with its present flags.  ENODATA: none runs.
 *
 * CT_IOC_PAUSE, CT_IOC_RESUME: the owner, or a file that may start a session.  While the
 * session is paused, nothing is written and nothing counts as lost.  ENODATA: none runs.
 * CT_IOC_FLUSH: reader; returns when every record that was reserved before the call is
 * committed.  Each of these records is then readable, also in a packet that is still open.
 * CT_IOC_STOP by another file than the owner: EPERM.  Exception: a persistent session, for
 * a process with CAP_PERFMON or CAP_SYS_ADMIN.
 */

/*
 * CT_IOC_FILTER: the owner, or a file that may start a session.  Sets the filter, which
 * is applied before a record goes into the ring.  A record passes if it matches every
 * criterion that is set; it matches a criterion with several values if it matches one of
 * them.  The filter replaces the previous one at once; a struct of zeros removes it.
 * CT_IOC_GET_FILTER: reader; returns the filter.
 *
 * Criteria about tasks (pid, uid, comm, cgroup) never match an interrupt's record.
 * pid: processes by their tgid in the initial pid namespace; with CT_FILTER_CHILDREN also
 * the children that they fork from now on.  comm: the first characters of the task's
 * command name.  cgroup: descriptors of cgroup v2 directories: the task's cgroup or one of
 * its ancestors.  categories: bits 1 << CT_CAT_*.
 * Errors: EINVAL a count too large or an unknown flag; EBADF a descriptor that is no
 * cgroup; ENODATA no session runs; EPERM; EOPNOTSUPP CT_FILTER_CHILDREN in a kernel
 * without tracepoints; ENOMEM.
 */
#define CT_FILTER_CHILDREN	1u
#define CT_FILTER_MAX		16
struct ct_filter {
	__u32 size;
	__u32 flags;
	__u64 categories;	/* 0: all */
	__u32 pids;		/* how many of pid[] are used; likewise the next three */
	__u32 uids;
	__u32 comms;
	__u32 cgroups;
	__u32 pid[CT_FILTER_MAX];
	__u32 uid[CT_FILTER_MAX];
	char  comm[CT_FILTER_MAX][16];
	__s32 cgroup[CT_FILTER_MAX];
};

/*
 * CT_IOC_PROBE_ADD: needs CAP_PERFMON or CAP_SYS_ADMIN.  Adds a probe on a function of the
 * kernel (module is empty) or of a kernel module, which may be loaded later.  The probe is
 * armed with every session whose groups include CT_GROUP_ADDED, and stays until
 * CT_IOC_PROBE_REMOVE (by module and symbol) or until cudatrace's module is unloaded.  Each
 * argument is a field of the probe's records: number (0 to 5, or CT_ARG_RETURN for the
 * return value), name and type (any but text and str).  If the kernel refuses to arm the
 * probe, its row of CT_IOC_GET_PROBE says so.
 * Errors: EEXIST there is a probe on this function; ENOENT the module is loaded and has no
 * such function; EINVAL a name, number, type or flag, or the kernel does not allow a
 * probe on this function; ENOSPC the ids of classes are used up; EPERM no right, or the
 * kernel is locked down (confidentiality); ENOMEM.
 * CT_IOC_PROBE_REMOVE: ENOENT no such probe was added; EINVAL a name; EPERM.
 *
 * CT_IOC_PROBE_SET: sets sample (1 in N calls is recorded, 0 and 1: all) of every probe
 * with this module and symbol, or of all probes if symbol is "*".  ENOENT there is no such
 * probe; EINVAL a name, or flags or args is not 0; EPERM.
 */
#define CT_ARG_RETURN		0xff
#define CT_ARGS_MAX		8
#define CT_PROBE_ENTRY		1u	/* record the entry too */
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
	__u64 hits;		/* out, of CT_IOC_PROBE_REMOVE: its final counts */
	__u64 missed;
	__u64 lost;
};

/*
 * CT_IOC_COUNT_ADD: needs CAP_PERFMON or CAP_SYS_ADMIN, and a file that was opened for reading and
 * writing with CAP_SYSLOG.  Counts the calls of many functions of the kernel and of its modules,
 * by all tasks and in all contexts, from now until the session ends, the file is closed or
 * the function's module goes; while the session is paused, nothing is counted.  No record is
 * written, and filters do not apply.  Functions with an ftrace site are armed together, the others
 * one after the other; a signal ends that, and the functions left over have the error EINTR.
 * in: count, and functions: the address of count struct ct_count_function.
 * out: first, the number of the first of these functions; the functions of a file have
 * consecutive numbers.  Errors: EINVAL count is 0 or too large; ENODATA no session runs with
 * CT_GROUP_ADDED; ENOSPC too many calls of this ioctl by this file; EPERM no right, or the kernel
 * is locked down (confidentiality); EFAULT; ENOMEM.
 *
 * CT_IOC_COUNT_READ: fills in a struct ct_function_count for each of count functions from number
 * first on, which this file added by one CT_IOC_COUNT_ADD; with CT_COUNT_STOP they are no longer
 * counted from then on.  in: first, count, flags, counts: where to.
 * out: count, of which there may be fewer.  The counts stay until the file is closed.
 * Errors: EINVAL count is 0 or too large, or an unknown flag; ENOENT no such function; EFAULT;
 * ENOMEM.
 */
#define CT_COUNT_MAX		4096u	/* functions of a CT_IOC_COUNT_ADD */
#define CT_COUNT_STOP		1u	/* of CT_IOC_COUNT_READ */
#define CT_COUNT_ADDS_MAX	64u	/* CT_IOC_COUNT_ADD of a file */
struct ct_count_function {
	__u64 address;		/* of its begin, as in /proc/kallsyms */
	char  module[56];	/* "": a function of the kernel itself */
};

struct ct_count_add {
	__u32 size;
	__u32 count;
	__u64 functions;
	__u32 first;
	__u32 reserved;
};

struct ct_count_read {
	__u32 size;
	__u32 first;
	__u32 count;
	__u32 flags;		/* CT_COUNT_STOP */
	__u64 counts;
};

/*
 * error, a negative errno: 0 the calls are counted.  Never counted: EPERM a function of cudatrace's
 * own module; ENOENT the module is not loaded, or not at this address (/proc/kallsyms also has
 * functions of a module's initialization, which are gone); EINVAL the kernel does not allow a
 * breakpoint there; EEXIST the same address twice; EINTR; ENOMEM.  Counted until now: ENODEV its
 * module is gone; ECANCELED stopped, or the session ended.
 */
struct ct_function_count {
	__u64 calls;		/* entries, also of calls that have not returned */
	__u64 missed;		/* calls by breakpoint inside the handler of another probe */
	__s32 error;
	__u32 site;		/* 1: counted by ftrace site, 0: by breakpoint */
};

/*
 * CT_IOC_TRIGGER: the owner, or a file that may start a session.  Sets on which events the
 * module writes a trigger record and counts it in the facts page, so that a program that
 * watches the page takes a snapshot.  A struct of zeros: on none.  Errors: EINVAL an
 * unknown flag, or CT_TRIGGER_SLOW with slow_ns 0; ENODATA no session runs; EPERM.
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
 * CT_IOC_CLOCK: producer; maps the clock page, read-only, into the caller's memory.
 * Errors: ENOMEM.
 *
 * CT_IOC_THREADBUF: producer; makes a thread buffer for the calling thread and maps it.
 * in: subbuf_size and subbufs: powers of two; previous: the stream of this thread's
 * unmapped thread buffer that the new one replaces (the stream goes on), or
 * CT_THREADBUF_NONE.  out: address, length.  The memory is charged to the caller's memory
 * cgroup.
 * Errors: ENODATA no session with CT_SESSION_THREADBUFS runs, a filter is set (the module
 * applies filters to CT_IOC_MARK alone), or the session has extra readers (section 6);
 * EINVAL sizes; EDQUOT CT_THREADBUF_QUOTA, CT_THREADBUF_QUOTA_COUNT or
 * CT_THREADBUF_QUOTA_STREAMS; ENOMEM.
 *
 * CT_IOC_THREADBUF_READ: the file that started the session, also after CT_IOC_STOP, or a
 * file that adopted the session (CT_IOC_ADOPT).
 * Returns the next packet of the thread buffers, in the order of each stream: a packet of
 * stream u-pid-stream, or (what = CT_THREADBUF_INFLIGHT) the in-flight calls of a thread
 * buffer that has ended.
 * in: buf; len: at least CT_THREADBUF_SUBBUF_MAX; flags.  CT_THREADBUF_READ_ALL: also the
 * records of packets that are not full and, once the session has ended, the in-flight
 * calls of threads that are alive.  out: what, pid, stream, bytes.
 * A packet is returned once and to one file.  So a file that adopted the session needs
 * CAP_PERFMON or CAP_SYS_ADMIN.  pids and uids are those of the initial namespaces.
 * Errors: ENOENT there is nothing to return now; EBADF not the owner; EPERM no right, or
 * the caller is in another namespace; ENOSPC len is too small; EFAULT.
 */
struct ct_clock_map {
	__u32 size;
	__u32 length;		/* out: bytes mapped */
	__u64 address;		/* out */
};

#define CT_THREADBUF_NONE	0xffffffffu
struct ct_threadbuf_new {
	__u32 size;
	__u32 subbuf_size;
	__u32 subbufs;
	__u32 previous;
	__u64 address;		/* out */
	__u64 length;		/* out */
};

#define CT_THREADBUF_READ_ALL	1u
#define CT_THREADBUF_PACKET	0u
#define CT_THREADBUF_INFLIGHT	1u
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
 * CT_IOC_WATERMARK: reader, for this file alone.  Sets how much must be unread before a
 * blocking read(), poll() or epoll returns: this many bytes in the rings, or this many
 * records, or a single record once ns have passed since the file began to wait (exact to
 * 10 ms).  A field that is 0 does not count.  All 0: return at the first record.  A file
 * that waits looks at the rings every 10 ms, so it costs a writer nothing.  A read() with
 * O_NONBLOCK returns all lines that there are.
 */
struct ct_watermark {
	__u32 size;
	__u32 reserved;
	__u64 bytes;
	__u64 records;
	__u64 ns;
};

/*
 * CT_IOC_LIMITS: the owner, or a file that may start a session.  Limits how much one
 * producer may write.  What a producer is stands in section 4; with CT_LIMIT_PROCESS it is a
 * process, with CT_LIMIT_CGROUP a cgroup v2.
 *
 * CT_LIMIT_PRODUCERS of them have limits of their own at the same time.  One that has
 * recorded nothing for a second gives its place to the next one, which begins with what the
 * former one still holds of the rings.  Further producers share one more entry as if they
 * were one; producers and shared say how far it has come.
 *
 * Each record that is written in a task is charged to its producer; records of interrupts
 * are not limited.  A record of sched_switch or sched_wakeup is charged to the thread that
 * it is about, in whichever context it is written.  Records and in-flight calls of a
 * thread buffer are charged when they are read: each to its own time, and to the producer
 * of the thread that made the thread buffer.  However late they are read, none is lost that
 * the rate allowed when it was written: records that are read more than a second late may also
 * use what their producer left of the rate in the last 256 seconds.
 *   records, bytes   per second, of all CPUs together; a burst of one second's worth
 *                    passes.  0: no limit.  Beyond it: lost[CT_LOST_RATE].
 *   share            percent of each CPU's ring that one producer's records may occupy
 *                    before they are consumed, exact to a packet: 1 to 100, 0: the
 *                    default.  Only for a session that does not overwrite: an
 *                    overwriting ring has no owner that it waits for.  Beyond it:
 *                    lost[CT_LOST_SHARE].  Thread buffers take no room of a ring; for
 *                    them there is CT_THREADBUF_QUOTA.
 * A session that does not overwrite begins with CT_SHARE_DEFAULT per producer and no rates.
 * CT_IOC_GET_LIMITS: reader; returns the limits.  Errors: EINVAL an unknown flag, both
 * flags, a share above 100; ENODATA no session runs; EPERM; ENOMEM.
 */
#define CT_LIMIT_PROCESS	1u
#define CT_LIMIT_CGROUP		2u
#define CT_SHARE_DEFAULT	75u
#define CT_LIMIT_PRODUCERS	127u
struct ct_limits {
	__u32 size;
	__u32 flags;
	__u64 records;
	__u64 bytes;
	__u32 share;
	__u32 reserved;
	/* Out, of CT_IOC_GET_LIMITS; CT_IOC_LIMITS ignores them. */
	__u64 producers;	/* entries that were used within the last second */
	__u64 shared;		/* charges to the shared entry */
};

/*
 * CT_IOC_ADOPT: reader; adopts the orphaned session: this file can then map it.  out: the
 * session (flags with CT_SESSION_ORPHANED; owner_pid is the pid of its former owner).
 * Its rings no longer change; the status pages say how far its owner had read.
 *
 * The module keeps an orphaned session until the next CT_IOC_START, until a file that
 * adopted it calls CT_IOC_STOP (needs CAP_PERFMON or CAP_SYS_ADMIN), or until the module is
 * unloaded.  A file that adopted a session and then starts its own releases the adopted
 * one: from then on it maps, stops and reads the thread buffers of its own session.  Its
 * existing mappings stay, and it may adopt another session later.
 * ENODATA: there is no orphaned session; EBUSY: this file has already adopted one.
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
#define CT_IOC_LIMITS		_IOWR(CT_IOC_TYPE, 22, struct ct_limits)
#define CT_IOC_GET_LIMITS	_IOWR(CT_IOC_TYPE, 23, struct ct_limits)
#define CT_IOC_ADOPT		_IOWR(CT_IOC_TYPE, 24, struct ct_session)
#define CT_IOC_COUNT_ADD	_IOWR(CT_IOC_TYPE, 26, struct ct_count_add)
#define CT_IOC_COUNT_READ	_IOWR(CT_IOC_TYPE, 27, struct ct_count_read)
#define CT_IOC_CLOCK		_IOWR(CT_IOC_TYPE, 30, struct ct_clock_map)
#define CT_IOC_THREADBUF	_IOWR(CT_IOC_TYPE, 31, struct ct_threadbuf_new)
#define CT_IOC_THREADBUF_READ	_IOWR(CT_IOC_TYPE, 32, struct ct_threadbuf_read)

#endif
