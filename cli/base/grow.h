/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays that grow: a pointer, and a number of any unsigned type that says how many elements it has
 * room for; NULL and 0 at first.
 *
 *	if (!ct_room(s->list, s->count, s->room))
 *		return -ENOMEM;
 *	s->list[s->count++] = one;
 */
#ifndef CT_CLI_GROW_H
#define CT_CLI_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for one element behind @count of them.  false: no memory; nothing has changed. */
#define ct_room(list, count, room)	((count) < (room) || CT_GROW(list, room, (count) + (size_t)1, false))

/* Makes room for the element @index; new elements are zeros. */
#define ct_room_at(list, index, room)	((index) < (room) || CT_GROW(list, room, (index) + (size_t)1, true))

#define CT_GROW(list, room, need, zeros)						\
	({										\
		size_t room_ = (room);							\
		void *list_ = ct_grow(list, &room_, sizeof(*(list)), need,		\
				      (__typeof__(room))-1, zeros);			\
											\
		if (list_) {								\
			(list) = list_;							\
			(room) = room_;							\
		}									\
		list_ != NULL;								\
	})

/*
 * Doubles *@room, or makes it @need if that is more, but at most @most.  NULL: no memory, or @need is
 * too large; then the list is as it was.
 */
void *ct_grow(void *list, size_t *room, size_t size, size_t need, size_t most, bool zeros);

#endif
