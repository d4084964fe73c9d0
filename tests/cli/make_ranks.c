// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes traces with calls and kernels of libnccl whose figures are known exactly, by the ABI header alone.
 *
 *	make_ranks loose=N DIR		a process with N kernels of libnccl and no call
 *	make_ranks launched=N DIR	the same, with their launches, as where a program has its own libnccl inside
 *	make_ranks group DIR		two ranks that were attached to while they were in a group: of it the calls behind
 *					ncclGroupStart() are recorded.  Then ten all-reduces
 *	make_ranks step DIR		four ranks that were attached to, in two communicators that work in step: the kernels of one end
 *					as near to those of the other as to each other, but begin when those are over
 *	make_ranks hang DIR		three ranks that were attached to, one all-reduce after the other.  Rank 2 does not call
 *					the last one, the others wait for it in cuStreamSynchronize: the files are as they are then
 *	make_ranks hang=elsewhere DIR	the same, but rank 2 waits, too
 *	make_ranks hang=pairs DIR	four ranks in two communicators
 */
#include <stdbool.h>
#include <sys/stat.h>

#include "writer.h"

#define US(us)	(START + (uint64_t)(us) * 1000)

enum { LAUNCH = CT_CLASS_DYNAMIC, ALL_REDUCE, GROUP_START, GROUP_END, SEND, RECEIVE, SYNC };
enum { KERNEL_REDUCE = 1, KERNEL_PAIRS };

static uint32_t pid;
static struct writer u, g;	/* the process's calls, and its GPU's work */
static uint64_t op;
static uint32_t submitted;

static void registry(unsigned int ranks)
{
	FILE *f = create_registry();

#define CLASS(id, words, spec, names)	registry_class(f, id, words, spec, names)
	CLASS(LAUNCH, "user kernel launch", CT_LAYOUT_SPEC(launch), "cuLaunchKernel cuLaunchKernel");
	CLASS(ALL_REDUCE, "user collective -", CT_LAYOUT_SPEC(collective), "ncclAllReduce ncclAllReduce");
	CLASS(GROUP_START, "user collective -", "", "ncclGroupStart ncclGroupStart");
	CLASS(GROUP_END, "user collective -", "", "ncclGroupEnd ncclGroupEnd");
	CLASS(SEND, "user collective -", CT_LAYOUT_SPEC(collective), "ncclSend ncclSend");
	CLASS(SYNC, "user sync wait", CT_LAYOUT_SPEC(handle), "cuStreamSynchronize cuStreamSynchronize");
	CLASS(RECEIVE, "user collective -", CT_LAYOUT_SPEC(collective), "ncclRecv ncclRecv");
	fprintf(f, "string %d ncclDevKernel_AllReduce_Sum_f32_RING_LL\nstring %d ncclDevKernel_SendRecv\n", KERNEL_REDUCE, KERNEL_PAIRS);
	fprintf(f, "info command train.py\ninfo attached yes\n");
	for (unsigned int i = 0; i < ranks; i++)
		fprintf(f, "info rank %u%%20rank=%u%%20size=%u\n", PID + i, i, ranks);
	fclose(f);
}

static void begin_process(uint32_t number)
{
	char name[32];

	pid = number;
	submitted = 0;
	snprintf(name, sizeof(name), "u-%u-1", pid);
	open_writer(&u, name, CT_STREAM_THREAD, 4096);
	u.head.pid = u.head.tid = pid;
	u.head.op_base = op = 1ull << 32;
	snprintf(name, sizeof(name), "g-%u-0", pid);
	open_writer(&g, name, CT_STREAM_GPU, 4096);
	g.head.pid = pid;
}

static void say(uint64_t t, uint32_t value)
{
	uint8_t buf[64];
	uint32_t len = with_text(buf, &value, sizeof(value), "made");

	thread_record(&g, (struct spec){ CT_CLASS_gpu_state, 0, CT_F_NO_RESULT | CT_F_INSTANT, 0, t, t,
		      g.head.op_base + records, 0, 0xffff }, buf, len);
}

static void end_process(void)
{
	say(g.last > u.last ? g.last : u.last, CT_GPU_COMPLETE);
	close_writer(&u);
	close_writer(&g);
}

static void call(unsigned int class, unsigned int depth, uint64_t begin, uint64_t end, const void *fields, uint32_t len)
{
	op++;
	thread_record(&u, (struct spec){ class, depth, 0, 0, begin, end, op, pid, 1 }, fields, len);
}

static void launch(uint32_t kernel, unsigned int depth, uint64_t begin, uint64_t end)
{
	struct ct_launch l = { .kernel = kernel, .grid_x = 2, .grid_y = 1, .grid_z = 1, .block_x = 288, .block_y = 1, .block_z = 1, .stream = 7 };

	submitted++;
	call(LAUNCH, depth, begin, end, &l, sizeof(l));
}

static void ran(uint32_t kernel, uint32_t correlation, uint64_t begin, uint64_t end)
{
	struct ct_gpu_kernel k = {
		.kernel = kernel, .context_id = 1, .stream_id = 7, .correlation = correlation,
		.grid_x = 2, .grid_y = 1, .grid_z = 1, .block_x = 288, .block_y = 1, .block_z = 1,
	};

	thread_record(&g, (struct spec){ CT_CLASS_gpu_kernel, 0, CT_F_NO_RESULT, 0, begin, end, g.head.op_base + records, 0, 0xffff },
		      &k, sizeof(k));
}

static uint32_t members = 2;	/* of each communicator */

/* Of a communicator that was made before the recording. */
static void collective(unsigned int class, uint32_t number, int32_t root, uint64_t begin, uint64_t end)
{
	struct ct_collective c = {
		.size = 4096, .count = 1024, .comm = 0x1000, .stream = 7, .number = number, .ranks = members, .rank = (pid - PID) % members,
		.datatype = 7, .reduction = root < 0 ? 0 : -1, .root = root,
	};

	call(class, 0, begin, end, &c, sizeof(c));
}

static void many(unsigned int count, bool launches)
{
	registry(1);
	begin_process(PID);
	say(START, CT_GPU_STARTED);
	for (unsigned int i = 0; i < count; i++) {
		if (launches)
			launch(KERNEL_REDUCE, 0, US(10 * i), US(10 * i + 2));
		ran(KERNEL_REDUCE, i + 1, US(10 * i + 3), US(10 * i + 8));
	}
	end_process();
}

/* In us: the group's kernel runs at 20..30, those of the all-reduces, which are called each 100 from 100 on, for 40 each. */
static void group(void)
{
	registry(2);
	for (unsigned int rank = 0; rank < 2; rank++) {
		begin_process(PID + rank);
		say(START, CT_GPU_STARTED);
		collective(SEND, 0, !rank, US(10), US(11));
		collective(RECEIVE, 0, !rank, US(12), US(13));
		launch(KERNEL_PAIRS, 1, US(15), US(17));
		call(GROUP_END, 0, US(14), US(18), NULL, 0);
		ran(KERNEL_PAIRS, submitted, US(20), US(30));
		for (unsigned int i = 1; i <= 10; i++) {
			launch(KERNEL_REDUCE, 1, US(100 * i + 1), US(100 * i + 3));
			collective(ALL_REDUCE, i, -1, US(100 * i), US(100 * i + 4));
			ran(KERNEL_REDUCE, submitted, US(100 * i + 10), US(100 * i + 50));
		}
		end_process();
	}
}

/* In us, of each 20,000: the kernels of ranks 0 and 1 end 200 after each other, and so do those of 2 and 3, which begin then. */
static void step(void)
{
	static const uint32_t begins[] = { 100, 9000, 10300, 10310 }, ends[] = { 10000, 10200, 10700, 10500 };

	registry(4);
	for (unsigned int rank = 0; rank < 4; rank++) {
		begin_process(PID + rank);
		say(START, CT_GPU_STARTED);
		for (unsigned int i = 1; i <= 20; i++) {
			uint32_t t = 20000 * i;

			launch(KERNEL_REDUCE, 1, US(t + 51), US(t + 53));
			collective(ALL_REDUCE, i, -1, US(t + 50), US(t + 54));
			ran(KERNEL_REDUCE, submitted, US(t + begins[rank]), US(t + ends[rank]));
		}
		end_process();
	}
}

/* The page that says that the process is in a call since @begin. */
static void in_call(uint64_t begin)
{
	struct ct_inflight_page page = {
		.magic = CT_MAGIC, .abi = CT_ABI_VERSION, .pid = pid, .tid = pid, .depth = 1,
		.entry = { { .begin = begin, .op = op + 1, .class = SYNC } },
	};
	char name[32];
	FILE *f;

	snprintf(name, sizeof(name), ".open-%u-1", pid);
	f = create(name);
	if (fwrite(&page, sizeof(page), 1, f) != 1)
		die("fwrite");
	fclose(f);
}

/* In us: an all-reduce each 100 from 100 on, the ranks 5 behind each other, of which rank 1's first five were not recorded. */
static void hang(unsigned int ranks, bool all)
{
	registry(ranks);
	for (unsigned int rank = 0; rank < ranks; rank++) {
		unsigned int last = rank % members == members - 1 ? 89 : 90;

		begin_process(PID + rank);
		say(START, CT_GPU_STARTED);
		for (unsigned int i = rank == 1 ? 6 : 1; i <= last; i++)
			collective(ALL_REDUCE, rank == 1 ? i - 5 : i, -1, US(100 * i + 5 * rank), US(100 * i + 5 * rank + 3));
		if (last == 90 || all)
			in_call(US(9020 + 5 * rank));
		end_process();
	}
	/* Time goes on: nobody calls anything for a second. */
	begin_process(PID + 100);
	call(GROUP_START, 0, US(1000000), US(1009100), NULL, 0);
	end_process();
	fclose(create("metadata"));
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: make_ranks loose=N|launched=N|group|step|hang[=elsewhere|=pairs] NEWDIR\n");
		return 64;
	}
	dir = argv[2];
	if (mkdir(dir, 0777))
		die(dir);
	if (!strncmp(argv[1], "loose=", 6))
		many(atoi(argv[1] + 6), false);
	else if (!strncmp(argv[1], "launched=", 9))
		many(atoi(argv[1] + 9), true);
	else if (!strcmp(argv[1], "group"))
		group();
	else if (!strcmp(argv[1], "step"))
		step();
	else if (!strcmp(argv[1], "hang") || !strcmp(argv[1], "hang=elsewhere"))
		hang(members = 3, argv[1][4]);
	else if (!strcmp(argv[1], "hang=pairs"))
		hang(4, false);
	else
		return 64;
	return 0;
}
