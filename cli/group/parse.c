// SPDX-License-Identifier: LGPL-2.1-or-later
/* See parse.h. */
#include "group/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "group/keys.h"

/* The index of a word; -EINVAL with a line in @err that has all of them. */
static int parse_word(const char *option, const char *const *words, unsigned int count, const char *word,
		      struct ct_error *err)
{
	int found = ct_word_index(words, count, word);
	char list[256] = "";
	size_t len = 0;

	if (found >= 0)
		return found;
	for (unsigned int i = 0; i < count; i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", words[i]);
	return ct_fail(err, EINVAL, "%s: there is no '%s': it takes %s", option, word, list);
}

static int parse_by(struct ct_group_spec *spec, const char *by, struct ct_error *err)
{
	char word[64];
	int key;

	for (size_t len = strcspn(by, ","); ; len = strcspn(by, ",")) {
		snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word)), by);
		key = parse_word("--by", ct_group_by_word, CT_BY_COUNT, word, err);
		if (key < 0)
			return key;
		for (unsigned int i = 0; i < spec->keys; i++)
			if (spec->by[i] == (enum ct_group_by)key)
				return ct_fail(err, EINVAL, "--by: '%s' is there twice", word);
		if (spec->keys == CT_GROUP_KEYS)
			return ct_fail(err, EINVAL, "--by takes %u words at most", CT_GROUP_KEYS);
		spec->by[spec->keys++] = key;
		by += len;
		if (!*by++)
			return 0;
	}
}

int ct_group_parse(struct ct_group_spec *spec, const char *by, const char *of, const char *measure,
		   struct ct_error *err)
{
	int rc, found;

	*spec = (struct ct_group_spec){ 0 };
	rc = parse_by(spec, by, err);
	if (rc)
		return rc;
	found = measure ? parse_word("--measure", ct_group_measure_word, CT_MEASURES, measure, err) :
			  CT_MEASURE_DURATION;
	if (found < 0)
		return found;
	spec->measure = found;
	found = of ? parse_word("--of", ct_group_of_word, CT_OF_COUNT, of, err) : (int)ct_group_keys[spec->by[0]].of;
	if (found < 0)
		return found;
	spec->of = found;
	if (spec->measure == CT_MEASURE_GPU && !ct_group_submits(spec))
		return ct_fail(err, EINVAL, "--measure gpu is of what gives the GPU work: --of calls, launches, kernels, "
			       "copies or work, not %s", ct_group_of_word[spec->of]);
	return 0;
}
