// SPDX-License-Identifier: LGPL-2.1-or-later
/* See work.h.  Must never count a kernel or a copy twice: by its call and by its record. */
#include "spans/work.h"

#include "view/term.h"

bool ct_gpu_counts(struct ct_gpu_source *s, const struct ct_span *span)
{
	const struct ct_class *class = span->class;

	if ((class->layer == CT_LAYER_GPU) != s->measured)
		return false;
	if (ct_class_is(class, CT_IS_GPU_GRAPH)) {
		s->graphs++;
		s->graphs_ns += span->duration;
		return false;
	}
	if (span->flags & CT_SPAN_FAILED) {
		s->failed++;
		return false;
	}
	if (ct_gpu_is_graph(class)) {
		s->graphs++;
		return false;
	}
	return true;
}

void ct_gpu_notes(const struct ct_gpu_source *s, struct ct_table *t, const char *what)
{
	char ns[CT_TERM_TEXT];

	if (s->failed)
		ct_table_note(t, "%llu calls failed and are left out.", (unsigned long long)s->failed);
	if (s->graphs && s->measured)
		ct_table_note(t, "%llu graph launches (%s on the GPU) are left out: each is one record; "
			      "record --gpu=nodes shows their %s.", (unsigned long long)s->graphs,
			      ct_term_ns(ns, s->graphs_ns), what);
	else if (s->graphs)
		ct_table_note(t, "%llu graph launches are left out: no record of the GPU tells their %s.",
			      (unsigned long long)s->graphs, what);
}

unsigned int ct_gpu_operation(const struct ct_record *r)
{
	uint64_t direction = ct_record_known(r, CT_KNOWN_DIRECTION);

	if (ct_gpu_is_set(r->class))
		return CT_DIR_COUNT;
	return direction < CT_DIR_COUNT ? direction : CT_DIR_UNKNOWN;
}

const char *ct_gpu_operation_name(unsigned int operation)
{
	static const char *const names[CT_GPU_OPERATIONS] = {
		[CT_DIR_UNKNOWN] = "[CUDA memcpy Unknown]",
		[CT_DIR_H2D] = "[CUDA memcpy Host-to-Device]",
		[CT_DIR_D2H] = "[CUDA memcpy Device-to-Host]",
		[CT_DIR_D2D] = "[CUDA memcpy Device-to-Device]",
		[CT_DIR_H2H] = "[CUDA memcpy Host-to-Host]",
		[CT_DIR_P2P] = "[CUDA memcpy Peer-to-Peer]",
		[CT_DIR_H2A] = "[CUDA memcpy Host-to-Array]",
		[CT_DIR_A2H] = "[CUDA memcpy Array-to-Host]",
		[CT_DIR_D2A] = "[CUDA memcpy Device-to-Array]",
		[CT_DIR_A2D] = "[CUDA memcpy Array-to-Device]",
		[CT_DIR_A2A] = "[CUDA memcpy Array-to-Array]",
		[CT_DIR_COUNT] = "[CUDA memset]",
	};

	return names[operation];
}

const char *ct_gpu_work_name(const struct ct_record *r)
{
	if (r->class->layer != CT_LAYER_GPU || !r->fields)
		return NULL;
	if (ct_class_is(r->class, CT_IS_GPU_GRAPH))
		return "[CUDA graph]";
	return ct_gpu_is_transfer(r->class) ? ct_gpu_operation_name(ct_gpu_operation(r)) : NULL;
}
