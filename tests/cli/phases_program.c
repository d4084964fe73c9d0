// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Synthetic programs and what is said of their phases, see phases.h.  Writes traces by the ABI
 * header alone.
 */
#include "phases.h"

#include <sys/stat.h>

#include "../tap.h"
#include "writer.h"

enum {
	GETTER = CT_CLASS_DYNAMIC, CONTEXT, MODULE, ALLOC, COPY, SET, LAUNCH, GRAPH, WAIT, RUNTIME, CAPTURE, CAPTURED,
	COMMUNICATOR, COMMUNICATOR_STATE, GROUP_BEGIN, GROUP_END, ASK,
};

uint64_t now;
static uint64_t operation;

/* What gave the GPU work, of the trace that was begun last. */
static struct work {
	uint64_t at;
	uint32_t pid;
	bool launch, load;
} *works;
static unsigned int works_count, works_room;
static uint32_t thread_pid, thread_tid;
static struct writer stream;

static void registry(void)
{
	FILE *f = create_registry();

#define CLASS(id, words, layout, names)	registry_class(f, id, words, CT_LAYOUT_SPEC(layout), names)
	CLASS(GETTER, "user query -", none, "cuCtxGetCurrent cuCtxGetCurrent");
	CLASS(CONTEXT, "user context create", context, "cuCtxCreate cuCtxCreate_v4");
	CLASS(MODULE, "user module load", module, "cuModuleLoadData cuModuleLoadData");
	CLASS(ALLOC, "user memory alloc", alloc, "cuMemAlloc cuMemAlloc_v2");
	CLASS(COPY, "user transfer copy", copy, "cuMemcpyAsync cuMemcpyAsync");
	CLASS(SET, "user transfer set", set, "cuMemsetD8Async cuMemsetD8Async");
	CLASS(LAUNCH, "user kernel launch", launch, "cuLaunchKernel cuLaunchKernel");
	CLASS(GRAPH, "user graph launch", graph, "cuGraphLaunch cuGraphLaunch");
	CLASS(WAIT, "user sync wait", handle, "cuStreamSynchronize cuStreamSynchronize");
	CLASS(CAPTURE, "user stream -", handle, "cuStreamBeginCapture cuStreamBeginCapture_v2");
	CLASS(CAPTURED, "user stream -", handle, "cuStreamEndCapture cuStreamEndCapture");
	CLASS(COMMUNICATOR, "user collective -", communicator, "ncclCommSplit ncclCommSplit");
	CLASS(COMMUNICATOR_STATE, "user query -", communicator_state, "ncclCommGetAsyncError ncclCommGetAsyncError");
	CLASS(GROUP_BEGIN, "user collective -", none, "ncclGroupStart ncclGroupStart");
	CLASS(GROUP_END, "user collective -", none, "ncclGroupEnd ncclGroupEnd");
	CLASS(ASK, "user event -", handle, "cuEventQuery cuEventQuery");
	CLASS(RUNTIME, "user runtime -", none, "cudaLaunchKernel cudaLaunchKernel");
	fclose(f);
}

/* What the GPU did, of the trace that was begun last. */
static struct { uint64_t begin, end; } worked[8192];
static unsigned int worked_count;

void gpu_works(uint64_t ns)
{
	if (worked_count == sizeof(worked) / sizeof(*worked))
		exit(2);
	worked[worked_count].begin = now;
	worked[worked_count++].end = now + ns;
}

void end_gpu(void)
{
	open_writer(&stream, "g-100-0", CT_STREAM_GPU, 16384);
	stream.head.pid = 100;
	for (unsigned int i = 0; i < worked_count; i++) {
		struct ct_gpu_kernel k = { .kernel = 1, .context_id = 1, .stream_id = 1, .grid_x = 1, .block_x = 1 };

		thread_record(&stream, (struct spec){ CT_CLASS_gpu_kernel, 0, CT_F_NO_RESULT, 0, worked[i].begin, worked[i].end,
			      stream.head.op_base + i, 0, 0xffff }, &k, sizeof(k));
	}
	close_writer(&stream);
	worked_count = 0;
}

void begin_thread(uint32_t pid, uint32_t tid, unsigned int number)
{
	char name[64];

	snprintf(name, sizeof(name), "u-%u-%u", pid, number);
	open_writer(&stream, name, CT_STREAM_THREAD, 16384);
	stream.head.pid = thread_pid = pid;
	stream.head.tid = thread_tid = tid;
	now += 1000;
}

void end_thread(void)
{
	close_writer(&stream);
}

void begin_state(void)
{
	open_writer(&stream, "state", CT_STREAM_STATE, 16384);
}

static void record_answer(unsigned int class, uint64_t ns, int result, const void *fields, uint32_t len)
{
	thread_record(&stream, (struct spec){
		class, 0, ns ? 0 : CT_F_INSTANT, result, now, now + ns, ++operation, thread_tid, 0 },
		fields, len);
	if (class == LAUNCH || class == GRAPH || class == COPY || class == SET || class == MODULE) {
		if (works_count == works_room) {
			works_room = works_room ? 2 * works_room : 4096;
			works = realloc(works, works_room * sizeof(*works));
		}
		works[works_count++] = (struct work){ now, thread_pid, class == LAUNCH || class == GRAPH, class == MODULE };
	}
	now += ns + 500;
}

static void record(unsigned int class, uint64_t ns, const void *fields, uint32_t len)
{
	record_answer(class, ns, 0, fields, len);
}

void ask(uint64_t event, bool done)
{
	record_answer(ASK, 100, done ? 0 : 600, &(struct ct_handle){ event }, sizeof(struct ct_handle));
}

static void text(unsigned int class, const char *words)
{
	uint32_t fields[2] = { 1, 1000 };
	uint8_t buf[512];

	record(class, 0, buf, with_text(buf, fields, class == CT_CLASS_process ? 8 : 4, words));
}

void process(const char *command)	{ text(CT_CLASS_process, command); }

void dropped_process(uint32_t pid, const char *command)
{
	uint32_t fields[2] = { 1, 1000 }, len;
	struct ct_cpu_record r = {
		.stamp = CT_STAMP(now, CT_CLASS_process), .pid = pid, .tid = pid, .duration = CT_DURATION(0, 0, CT_F_INSTANT | CT_F_NO_RESULT),
	};
	uint8_t buf[512], *p;

	len = with_text(buf, fields, 8, command);
	p = room(&stream, now, sizeof(r) + len);
	memcpy(p, &r, sizeof(r));
	memcpy(p + sizeof(r), buf, len);
	now += 500;
}

void mark(const char *words)		{ text(CT_CLASS_mark, words); }
void push(const char *words)		{ text(CT_CLASS_range_push, words); }
void pop(void)				{ record(CT_CLASS_range_pop, 0, "", 0); }
void getter(void)			{ record(GETTER, 50, "", 0); }

void context(void)
{
	record(CONTEXT, 5000000, &(struct ct_context){ 1, 0, 0 }, sizeof(struct ct_context));
}

void module(void)
{
	record(MODULE, 2000000, &(struct ct_module){ 1, 0, 0 }, sizeof(struct ct_module));
}

void capture(bool begins)
{
	record(begins ? CAPTURE : CAPTURED, 1000, &(struct ct_handle){ 1 }, sizeof(struct ct_handle));
}

static void made(uint64_t comm, uint64_t ns)
{
	struct ct_communicator c = { .communicator = comm, .comm = comm, .ranks = 2 };

	record(COMMUNICATOR, ns, &c, sizeof(c));
}

void communicator_begun(uint64_t comm)	{ made(comm, 1000); }
void group_begins(void)			{ record(GROUP_BEGIN, 100, "", 0); }
void group_ends(uint64_t ns)		{ record(GROUP_END, ns, "", 0); }

void communicator_state(uint64_t comm, bool in_progress)
{
	struct ct_communicator_state s = { .communicator = comm, .comm = comm, .state = in_progress ? 7 : 0 };

	record(COMMUNICATOR_STATE, 0, &s, sizeof(s));
}

/* Two copies are made inside it. */
void communicator(uint64_t ns)
{
	struct ct_copy copy = { .size = 1 << 14, .direction = CT_DIR_H2D };
	uint64_t begin = now;

	now += ns / 4;
	for (int i = 0; i < 2; i++)
		record(COPY, ns / 4, &copy, sizeof(copy));
	now = begin;
	made(1, ns);
}

void alloc(void)
{
	record(ALLOC, 3000, &(struct ct_alloc){ 4096, 0x7000 }, sizeof(struct ct_alloc));
}

void copy(unsigned int direction, uint64_t size, bool async)
{
	struct ct_copy c = { .size = size, .direction = direction, .async = async };

	record(COPY, 4000, &c, sizeof(c));
}

void set(uint64_t size)
{
	record(SET, 2000, &(struct ct_set){ .size = size }, sizeof(struct ct_set));
}

void launch_for(uint32_t kernel, uint32_t grid, uint64_t ns)
{
	struct ct_launch l = {
		.kernel = kernel, .grid_x = grid, .grid_y = 1, .grid_z = 1,
		.block_x = 128, .block_y = 1, .block_z = 1,
	};

	record(LAUNCH, ns, &l, sizeof(l));
}

void launch(uint32_t kernel, uint32_t grid)
{
	launch_for(kernel, grid, 3000);
}

void graph(uint64_t handle)
{
	record(GRAPH, 3000, &(struct ct_graph){ handle, 0 }, sizeof(struct ct_graph));
}

void wait_for(uint64_t ns)
{
	record(WAIT, ns, &(struct ct_handle){ 1 }, sizeof(struct ct_handle));
}

void wait_gpu(void)
{
	wait_for(9000);
}

void pause_for(uint64_t ns)
{
	now += ns;
}

static uint32_t seed;

void begin_chance(uint32_t from)
{
	seed = from;
}

uint32_t chance(uint32_t n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 8) % n;
}

uint32_t any(uint32_t n)
{
	chance(1);
	return (seed >> 16) % n;
}

void begin_named(const char *group, const char *name)
{
	char folder[64];

	snprintf(folder, sizeof(folder), "%s-%s", group, name);
	begin(folder);
	begin_thread(100, 100, 0);
	process(name);
	begin_chance(1);
}

/* What every program does first. */
void start(void)
{
	getter();
	context();
	module();
	alloc();
	copy(CT_DIR_H2D, 1 << 20, false);
	copy(CT_DIR_H2D, 1 << 20, false);
}

/* One thread whose records are in the streams of two CPUs: @count times three launches. */
void program_on_two_cpus(int count)
{
	struct writer cpus[2];
	uint8_t buf[256];
	uint32_t ids[2] = { 1, 0 };

	open_writer(&cpus[0], "k-0", CT_STREAM_CPU, 8192);
	open_writer(&cpus[1], "k-1", CT_STREAM_CPU, 8192);
	cpus[1].head.cpu = 1;
	cpu_record(&cpus[0],
		   (struct spec){ CT_CLASS_process, 0, CT_F_INSTANT, 0, now, now, 1, PID, 0 },
		   buf, with_text(buf, ids, sizeof(ids), "spread"));
	for (int i = 0; i < count; i++)
		for (int k = 0; k < 4; k++) {
			struct ct_launch l = { .kernel = k + 1, .grid_x = 1 };
			struct ct_handle h = { 1 };

			now += 500;
			cpu_record(&cpus[(i * 4 + k) / 3 % 2],
				   (struct spec){ k < 3 ? LAUNCH : WAIT, 0, 0, 0, now, now + 2000,
				   ++operation, PID, 0 }, k < 3 ? (void *)&l : &h,
				   k < 3 ? sizeof(l) : sizeof(h));
			now += 2000;
		}
	close_writer(&cpus[0]);
	close_writer(&cpus[1]);
}

struct ct_trace trace;
struct ct_phases found;
const char *top, *trace_dir;

void begin(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	dir = trace_dir = path;
	if (mkdir(path, 0777))
		die(path);
	registry();
	now = START + 1000000;
	operation = works_count = 0;
}

void forget(void)
{
	ct_phases_free(&found);
	ct_trace_close(&trace);
}

bool look(const char *path)
{
	struct ct_error err = { 0 };

	return !ct_trace_open(&trace, path, &err) && !ct_phases_find(&found, &trace);
}

/* The one process of the trace that was begun last. */
const struct ct_process_phases *find(void)
{
	static const struct ct_process_phases nothing;

	return look(dir) && found.processes_count ? &found.processes[0] : &nothing;
}

/* How many iterations do not begin where the one before ends. */
unsigned int breaks(const struct ct_process_phases *p)
{
	unsigned int n = 0;

	for (uint32_t i = 1; i < p->iterations_count; i++)
		n += p->iterations[i].begin != p->iterations[i - 1].end;
	return n;
}

static bool launches_are(const struct ct_process_phases *p, uint32_t launches)
{
	for (uint32_t i = 0; i < p->iterations_count; i++)
		if (p->iterations[i].launches != launches)
			return false;
	return true;
}

/* Stages are one after the other, from its begin to its end, in their order. */
/* A steady state behind the execution. */
static bool stages_both(const struct ct_stage_span *s)
{
	return s->stage == CT_STAGE_STEADY && s[-1].stage == CT_STAGE_EXECUTION;
}

bool stages_fit(const struct ct_process_phases *p)
{
	uint64_t at = p->begin;

	for (unsigned int i = 0; i < p->stages_count; i++) {
		const struct ct_stage_span *s = &p->stages[i];

		if (s->begin != at || s->end <= s->begin || (i && s->stage <= s[-1].stage && !stages_both(s)))
			return false;
		at = s->end;
	}
	return p->stages_count && at == p->end;
}

bool iterations_fit(const struct ct_process_phases *p)
{
	for (uint32_t i = 0; i < p->iterations_count; i++) {
		const struct ct_iteration *it = &p->iterations[i];
		uint64_t middle = it->begin + (it->end - it->begin) / 2;

		if (it->end <= it->begin || (i && it->begin < it[-1].end) || it->begin < p->begin ||
		    it->end > p->end || ct_phases_iteration(p, it->begin) != i ||
		    ct_phases_iteration(p, middle) != i)
			return false;
	}
	return true;
}

/* So many iterations are a steady state also after a warm-up with more launches. */
#define MANY	32u

/*
 * The warm-up of many iterations may have most launches, if kernels are tried in it: their code is loaded.  Or they are
 * those that a graph was captured from.
 */
static bool tries(const struct ct_process_phases *p)
{
	unsigned int launches = 0, loads = 0;

	for (unsigned int i = 0; i < works_count; i++) {
		if (works[i].pid != p->pid || ct_phases_stage(p, works[i].at) != CT_STAGE_WARMUP)
			continue;
		launches += works[i].launch;
		loads += works[i].load;
	}
	return p->iterations_count >= MANY && (loads * 64 > launches || strstr(p->what, "launch of a graph"));
}

bool main_holds(const struct ct_process_phases *p)
{
	unsigned int all = 0, held = 0, launches = 0;
	bool warmup = tries(p);

	for (unsigned int i = 0; i < works_count; i++)
		launches += works[i].pid == p->pid && works[i].launch;
	for (unsigned int i = 0; i < works_count; i++) {
		enum ct_stage in;

		if (works[i].pid != p->pid || works[i].at < p->begin || works[i].at > p->end || works[i].load ||
		    (launches && !works[i].launch))
			continue;
		in = ct_phases_stage(p, works[i].at);
		all++;
		held += ct_stage_is_main(in) || (warmup && in == CT_STAGE_WARMUP);
	}
	if (2 * held >= all)
		return true;
	printf("# of %u %s %u are in the main stage\n", all, launches ? "launches" : "copies and sets", held);
	return false;
}

unsigned int launched(const struct ct_process_phases *p, enum ct_stage which)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < works_count; i++)
		n += works[i].pid == p->pid && works[i].launch &&
		     (which == CT_STAGE_COUNT || ct_phases_stage(p, works[i].at) == which);
	return n;
}

const struct ct_stage_span *stage(const struct ct_process_phases *p, enum ct_stage stage)
{
	for (unsigned int i = 0; i < p->stages_count; i++)
		if (p->stages[i].stage == stage)
			return &p->stages[i];
	return NULL;
}

void expect(const char *name, const struct ct_process_phases *p, uint32_t count,
		   uint32_t launches)
{
	if (!ok(p->iterations_count == count && launches_are(p, launches),
		"%s: %u iterations of %u launches", name, count, launches))
		printf("# %u of %u: %s%s\n", p->iterations_count,
		       p->iterations_count ? p->iterations[0].launches : 0, p->what, p->why_none);
	ok(iterations_fit(p) && stages_fit(p), "%s: times are in order", name);
	ok(main_holds(p), "%s: the steady state holds most of its work", name);
}

void expect_none(const char *name, const struct ct_process_phases *p, const char *why)
{
	if (!ok(p->source == CT_ITER_NONE && !p->iterations_count && strstr(p->why_none, why),
		"%s: no iterations, because of '%s'", name, why))
		printf("# %u: %s%s\n", p->iterations_count, p->what, p->why_none);
	ok(stages_fit(p) && !stage(p, CT_STAGE_STEADY) && !stage(p, CT_STAGE_WARMUP),
	   "%s: no steady state", name);
	ok(main_holds(p), "%s: the execution holds most of its work", name);
}
