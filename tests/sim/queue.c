// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * queue.c - the work queued on a stream and the thread that does it.
 *
 * A stream runs its ops in order in a thread of its own, made when the first
 * op arrives. Results are real (copies copy, kernels that are known compute);
 * time is modelled: every op ends on the stream's own clock, and the thread
 * sleeps until then. Events take their times from that clock, so that what a
 * program measures does not depend on how late the machine wakes a thread.
 * No figure that comes from here may enter a comparison.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "sim.h"

/*
 * Where the model's numbers come from. Copies: 55 GB/s is what a PCIe 5.0
 * x16 link leaves after its overhead, 2 TB/s about half of an H200's memory
 * bandwidth, since a copy inside the device reads and writes; 1.5 us to start
 * an op and 2 us for the shortest kernel are assumptions.
 */
#define START_NS 1500
#define HOST_BYTES_PER_NS 55
#define DEVICE_BYTES_PER_NS 2000
#define KERNEL_NS 2000
#define WAVE_NS 1000			/* for each full load of the device */
#define WAVE_THREADS (132ull * 2048)	/* multiprocessors x threads, H200 */

uint64_t sim_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void sim_spin_until(uint64_t ns)
{
	while (sim_now() < ns)
		;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	if (sim_now() >= ns)
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

struct sim_op *sim_op_new(enum sim_op_kind kind, const void *blob,
			  size_t blob_size)
{
	struct sim_op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	op->kind = kind;
	if (blob_size) {
		op->blob = malloc(blob_size);
		if (!op->blob) {
			free(op);
			return NULL;
		}
		memcpy(op->blob, blob, blob_size);
		op->blob_size = blob_size;
	}
	return op;
}

/* Only what a graph can hold: never an op that refers to events or streams. */
struct sim_op *sim_op_clone(const struct sim_op *op)
{
	struct sim_op *copy = sim_op_new(op->kind, op->blob, op->blob_size);
	void *blob;

	if (!copy)
		return NULL;
	blob = copy->blob;
	*copy = *op;
	copy->blob = blob;
	copy->next = NULL;
	copy->correlation = 0;
	return copy;
}

void sim_op_free(struct sim_op *op)
{
	if (op->kind == SIM_OP_RECORD || op->kind == SIM_OP_WAIT_EVENT)
		sim_put(&op->event.event->object);
	else if (op->kind == SIM_OP_WAIT_STREAM)
		sim_put(&op->after.stream->object);
	free(op->blob);
	free(op);
}

static uint64_t duration(const struct sim_op *op)
{
	const struct sim_launch *launch = &op->launch;
	uint64_t bytes;

	switch (op->kind) {
	case SIM_OP_KERNEL:
		if (launch->cost_ns)
			return launch->cost_ns;
		return KERNEL_NS + launch->threads * WAVE_NS / WAVE_THREADS +
		       sim_kernel_asked_ns(launch, op->blob);
	case SIM_OP_COPY:
		bytes = op->copy.width * op->copy.height;
		if (op->copy.dst_device && op->copy.src_device)
			return START_NS + bytes / DEVICE_BYTES_PER_NS;
		return START_NS + bytes / HOST_BYTES_PER_NS;
	case SIM_OP_SET:
		bytes = op->set.width * op->set.height * op->set.value_size;
		return START_NS + bytes / DEVICE_BYTES_PER_NS;
	default:
		return 0;
	}
}

/* All of the rows between the first byte and the last one of the last row. */
static size_t extent(size_t pitch, size_t width, size_t height)
{
	return height ? pitch * (height - 1) + width : 0;
}

static CUresult hold(uintptr_t addr, size_t bytes, struct sim_memory **mem)
{
	pthread_mutex_lock(&sim_lock);
	*mem = sim_memory_find(addr, bytes);
	pthread_mutex_unlock(&sim_lock);
	return *mem ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

static void release(struct sim_memory *mem)
{
	if (!mem)
		return;
	pthread_mutex_lock(&sim_lock);
	sim_memory_put(mem);
	pthread_mutex_unlock(&sim_lock);
}

static CUresult run_copy(const struct sim_op *op)
{
	const struct sim_copy *copy = &op->copy;
	const char *src = op->blob ? op->blob : (const void *)copy->src;
	struct sim_memory *to = NULL, *from = NULL;
	CUresult result = CUDA_SUCCESS;
	size_t row;

	if (copy->dst_device)
		result = hold(copy->dst, extent(copy->dst_pitch, copy->width,
						copy->height), &to);
	if (result == CUDA_SUCCESS && copy->src_device)
		result = hold(copy->src, extent(copy->src_pitch, copy->width,
						copy->height), &from);
	if (result == CUDA_SUCCESS)
		for (row = 0; row < copy->height; row++)
			memmove((char *)copy->dst + row * copy->dst_pitch,
				src + row * copy->src_pitch, copy->width);
	release(to);
	release(from);
	return result;
}

static CUresult run_set(const struct sim_op *op)
{
	size_t width = op->set.width * op->set.value_size;
	struct sim_memory *mem;
	CUresult result;
	size_t row, i;

	result = hold(op->set.dst, extent(op->set.pitch, width, op->set.height),
		      &mem);
	if (result != CUDA_SUCCESS)
		return result;
	for (row = 0; row < op->set.height; row++) {
		char *at = (char *)op->set.dst + row * op->set.pitch;

		for (i = 0; i < op->set.width; i++)
			memcpy(at + i * op->set.value_size, &op->set.value,
			       op->set.value_size);
	}
	release(mem);
	return CUDA_SUCCESS;
}

static CUresult run(struct sim_op *op, CUresult status)
{
	switch (op->kind) {
	case SIM_OP_KERNEL:
		return sim_kernel_run(&op->launch, op->blob);
	case SIM_OP_COPY:
		return run_copy(op);
	case SIM_OP_SET:
		return run_set(op);
	case SIM_OP_FREE:
		return sim_memory_free(op->address, SIM_DEVICE);
	case SIM_OP_HOST:
		if (op->host.callback)
			op->host.callback(op->host.stream, status,
					  op->host.data);
		else if (status == CUDA_SUCCESS)
			op->host.fn(op->host.data);
		return CUDA_SUCCESS;
	default:
		return CUDA_SUCCESS;
	}
}

/* What waits for others; the lock is held, and given up while waiting. */
static void wait_for_others(struct sim_stream *stream, struct sim_op *op)
{
	uint64_t at = 0;

	if (op->kind == SIM_OP_WAIT_EVENT) {
		struct sim_event *event = op->event.event;

		while (event->completed < op->event.target)
			pthread_cond_wait(&sim_done, &sim_lock);
		at = event->time_ns;
	} else if (op->kind == SIM_OP_WAIT_STREAM) {
		struct sim_stream *other = op->after.stream;

		while (other->completed < op->after.target)
			pthread_cond_wait(&sim_done, &sim_lock);
		at = other->clock_ns;
	}
	if (stream->clock_ns < at)
		stream->clock_ns = at;
}

/* Nothing is done here but to wait, however long this thread had no processor. */
static bool only_lasts(const struct sim_op *op)
{
	return op->kind == SIM_OP_KERNEL && !op->launch.builtin;
}

/* One op, start to end. A kernel that took longer to compute here than the
 * model gives it has its real time. */
static void do_op(struct sim_stream *stream, struct sim_op *op)
{
	double scale = sim_knobs()->time_scale;
	struct sim_context *ctx = stream->context;
	uint64_t start, took, lasts;
	CUresult result, status = ctx->error;

	wait_for_others(stream, op);
	if (stream->clock_ns < op->queued_ns)
		stream->clock_ns = op->queued_ns;
	pthread_mutex_unlock(&sim_lock);

	start = sim_now();
	result = status == CUDA_SUCCESS || op->kind == SIM_OP_HOST ?
		 run(op, status) : status;
	took = sim_now() - start;
	lasts = (uint64_t)(duration(op) * scale);
	if (lasts < took && scale > 0 && !only_lasts(op))
		lasts = took;
	/*
	 * On none is it over before it has begun on all: however late this thread got its processor, it did not end before
	 * the others came.
	 */
	if (scale > 0 && op->kind == SIM_OP_KERNEL && sim_kernel_meets(&op->launch) && stream->clock_ns + lasts < sim_now())
		lasts = sim_now() - stream->clock_ns;
	start = stream->clock_ns + lasts;
	if (lasts)
		sleep_until(start);
	sim_activity_done(stream, op, start - lasts, start);

	pthread_mutex_lock(&sim_lock);
	stream->clock_ns = start;
	if (result != CUDA_SUCCESS && ctx->error == CUDA_SUCCESS)
		ctx->error = result;
	if (op->kind == SIM_OP_RECORD) {
		op->event.event->time_ns = start;
		if (op->event.event->completed < op->event.target)
			op->event.event->completed = op->event.target;
	}
	stream->completed = op->seq;
	sim_op_free(op);
	pthread_cond_broadcast(&sim_done);
}

static void *queue_thread(void *arg)
{
	struct sim_stream *stream = arg;

	/* The default slack of 50 us is longer than most kernels. */
	prctl(PR_SET_TIMERSLACK, 1);
	prctl(PR_SET_NAME, "sim-stream");
	pthread_mutex_lock(&sim_lock);
	for (;;) {
		struct sim_op *op = stream->first;

		if (op) {
			stream->first = op->next;
			if (!stream->first)
				stream->last = NULL;
			do_op(stream, op);
		} else if (stream->closing) {
			break;
		} else {
			pthread_cond_wait(&stream->wake, &sim_lock);
		}
	}
	sim_put(&stream->object);
	pthread_mutex_unlock(&sim_lock);
	return NULL;
}

/* Signals belong to the program's own threads. */
static CUresult start_thread(struct sim_stream *stream)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	int error;

	if (stream->running)
		return CUDA_SUCCESS;
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attr, queue_thread, stream);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (error)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream->running = true;
	sim_get(&stream->object);
	return CUDA_SUCCESS;
}

static void append(struct sim_stream *stream, struct sim_op *op)
{
	sim_activity_submit(op);
	op->seq = ++stream->queued;
	op->queued_ns = sim_now();
	if (stream->last)
		stream->last->next = op;
	else
		stream->first = op;
	stream->last = op;
	pthread_cond_signal(&stream->wake);
}

/* Before what comes next, @stream waits for all that @other has now. */
static CUresult wait_after(struct sim_stream *stream, struct sim_stream *other)
{
	struct sim_op *op;

	if (!other || other == stream || other->completed == other->queued)
		return CUDA_SUCCESS;
	op = sim_op_new(SIM_OP_WAIT_STREAM, NULL, 0);
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	op->after.stream = other;
	op->after.target = other->queued;
	sim_get(&other->object);
	append(stream, op);
	return CUDA_SUCCESS;
}

/* The legacy default stream and every blocking stream wait for each other. */
static CUresult order_with_legacy(struct sim_stream *stream)
{
	struct sim_context *ctx = stream->context;
	struct sim_stream *other;
	CUresult result = CUDA_SUCCESS;

	if (stream->flags & CU_STREAM_NON_BLOCKING)
		return CUDA_SUCCESS;
	if (stream != ctx->legacy)
		return wait_after(stream, ctx->legacy);
	for (other = ctx->streams; other && result == CUDA_SUCCESS;
	     other = other->next_in_context)
		if (!(other->flags & CU_STREAM_NON_BLOCKING))
			result = wait_after(stream, other);
	return result;
}

CUresult sim_queue(struct sim_stream *stream, struct sim_op *op)
{
	CUresult result;

	if (stream->capture) {
		sim_activity_capture(op);
		return sim_capture_op(stream, op);
	}
	result = sim_capture_forbids(stream);
	if (result == CUDA_SUCCESS)
		result = start_thread(stream);
	if (result == CUDA_SUCCESS)
		result = order_with_legacy(stream);
	if (result != CUDA_SUCCESS) {
		sim_op_free(op);
		return result;
	}
	append(stream, op);
	return CUDA_SUCCESS;
}

/* Until all that is queued now is done; the stream may be closed meanwhile. */
CUresult sim_stream_wait(struct sim_stream *stream)
{
	struct sim_context *ctx = stream->context;
	uint64_t target = stream->queued;
	CUresult result;

	sim_get(&stream->object);
	while (stream->completed < target)
		pthread_cond_wait(&sim_done, &sim_lock);
	result = ctx->error;
	sim_put(&stream->object);
	return result;
}

CUresult sim_context_wait(struct sim_context *ctx)
{
	struct sim_stream *stream;
	CUresult result;

	sim_get(&ctx->object);
again:
	for (stream = ctx->streams; stream; stream = stream->next_in_context)
		if (stream->completed < stream->queued) {
			/* The list may change while the lock is given up. */
			sim_stream_wait(stream);
			goto again;
		}
	result = ctx->error;
	sim_put(&ctx->object);
	return result;
}
