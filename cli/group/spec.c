// SPDX-License-Identifier: LGPL-2.1-or-later
/* See spec.h. */
#include "group/spec.h"

#include "trace/class.h"

#define SPEC_ROW(id, word, text)	word,
const char *const ct_group_of_word[CT_OF_COUNT] = { CT_GROUP_OF(SPEC_ROW) };
#undef SPEC_ROW
#define SPEC_ROW(id, word, text)	text,
const char *const ct_group_of_text[CT_OF_COUNT] = { CT_GROUP_OF(SPEC_ROW) };
#undef SPEC_ROW
#define SPEC_ROW(id, word)		word,
const char *const ct_group_by_word[CT_BY_COUNT] = { CT_GROUP_BY(SPEC_ROW) };
const char *const ct_group_measure_word[CT_MEASURES] = { CT_GROUP_MEASURES(SPEC_ROW) };
#undef SPEC_ROW

const struct ct_group_kind ct_group_kinds[CT_OF_COUNT] = {
	[CT_OF_CALLS] = { CT_IS_API, false },
	[CT_OF_LAUNCHES] = { CT_IS_LAUNCH, false },
	[CT_OF_WAITS] = { CT_IS_WAIT, false },
	[CT_OF_ALLOCATIONS] = { CT_IS_ALLOC, false },
	[CT_OF_FREES] = { CT_IS_FREE, false },
	[CT_OF_KERNELS] = { CT_IS_LAUNCH | CT_IS_GPU_KERNEL | CT_IS_GPU_GRAPH, true },
	[CT_OF_COPIES] = { CT_IS_TRANSFER | CT_IS_GRAPH_LAUNCH | CT_IS_GPU_COPY | CT_IS_GPU_SET | CT_IS_GPU_GRAPH, true },
	[CT_OF_WORK] = { CT_IS_GPU_KERNEL | CT_IS_GPU_COPY | CT_IS_GPU_SET | CT_IS_GPU_GRAPH, true },
	[CT_OF_IOCTLS] = { CT_IS_IOCTL, true },
	[CT_OF_DRIVER] = { 0, false },
	[CT_OF_RANGES] = { 0, true },
	[CT_OF_SWITCHES] = { CT_IS_SWITCH, true },
};

uint32_t ct_group_what(const struct ct_group_spec *spec)
{
	return spec->measure == CT_MEASURE_GPU ? ct_group_kinds[CT_OF_WORK].what : ct_group_kinds[spec->of].what;
}

bool ct_group_covers(const struct ct_group_spec *spec)
{
	return spec->measure == CT_MEASURE_GPU || spec->of == CT_OF_KERNELS || spec->of == CT_OF_COPIES ||
	       spec->of == CT_OF_WORK;
}

bool ct_group_submits(const struct ct_group_spec *spec)
{
	return spec->of == CT_OF_WORK || ct_class_is(&(struct ct_class){ .what = ct_group_kinds[spec->of].what },
						     CT_IS_API | CT_IS_WORK);
}
