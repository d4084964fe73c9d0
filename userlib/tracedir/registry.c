// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading and extending DIR/.registry by the rules of cudatrace.h, section 3.
 *
 * No process waits for another one, so there is no lock on the file.  An id is claimed by
 * appending its line with one write; then the file is read on, and if a line of another
 * process with this id came first, the next id is tried.
 *
 * What is known is changed step by step so that it is right at every instruction: a child
 * that another thread forks meanwhile goes on with its copy.
 */
#include "tracedir/registry.h"

#include "base/clock.h"
#include "base/options.h"
#include "base/process.h"
#include "tracedir/lost.h"

#define TRIES		64		/* ids that are tried for one text */
#define FILE_MAX	(64u << 20)	/* what is behind is not read: somebody may append for ever */
#define NAMES_MAX	(FILE_MAX - (4u << 20))	/* names are behind no more of it, so that classes are not lost */
#define INFOS_MAX	4096

#define E_STALE		116		/* not the directory of this recording */

static char path[2112];			/* "": there is no registry */
static u8 uuid[16];
static bool have_uuid;
static u64 offset;			/* of the first line that was not read yet */
static u32 last_class, last_string;	/* the highest ids */
static u32 infos;

/*
 * Ids by the hash of what a line says beside the id.  Two texts of one hash (64 bits) would
 * share an id; with a million lines that is one in 10^7.
 */
struct entry {
	u64 hash;
	u32 id;
	u32 reserved;
};

static struct table {
	u32 size, used;
	struct entry entry[];
} *table;

static char buffer[CT_REGISTRY_LINE + 1];	/* lines that are read */
static char line[CT_REGISTRY_LINE];	/* a line that is written */
static char text[14 << 10];		/* what it says beside the id */

static struct entry *slot_of(struct table *t, u64 hash)
{
	u32 i = (u32)hash & (t->size - 1);

	while (t->entry[i].hash && t->entry[i].hash != hash)
		i = (i + 1) & (t->size - 1);
	return &t->entry[i];
}

static u32 find(u64 hash)
{
	return table ? slot_of(table, hash)->id : 0;
}

/* Not before the pointer to it is gone: a child must not unmap what has its place by then. */
static void free_table(struct table *t)
{
	if (t)
		ct_unmap(t, sizeof(*t) + t->size * sizeof(struct entry));
}

/* Is there room for one more text? */
static bool make_room(void)
{
	struct table *old = table, *bigger;
	u32 size = old ? old->size * 2 : 1024;

	if (old && old->used < old->size / 2)
		return true;
	bigger = ct_map_private(sizeof(*bigger) + size * sizeof(struct entry));
	if (!bigger)
		return false;
	bigger->size = size;
	for (u32 i = 0; old && i < old->size; i++)
		if (old->entry[i].hash)
			*slot_of(bigger, old->entry[i].hash) = old->entry[i];
	bigger->used = old ? old->used : 0;
	ct_store(&table, bigger);
	free_table(old);
	return true;
}

/* Without memory the text is forgotten: it gets another id if it is asked for again. */
static bool insert(u64 hash, u32 id)
{
	struct entry *e;

	if (!make_room())
		return false;
	e = slot_of(table, hash);
	if (e->hash)
		return false;
	e->id = id;
	ct_store(&e->hash, hash);
	table->used++;
	return true;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_uuid(const char *s, u8 to[16])
{
	for (int i = 0; i < 16; i++) {
		int a = hex(s[2 * i]), b = a < 0 ? -1 : hex(s[2 * i + 1]);

		if (b < 0)
			return false;
		to[i] = (u8)(a << 4 | b);
	}
	return true;
}

static void put_head(struct ct_text *t)
{
	ct_put(t, "cudatrace ");
	ct_put_u(t, CT_ABI_VERSION);
	ct_put(t, " uuid=");
}

/* cudatrace ABI uuid=32HEX start=NS realtime=NS */
static void parse_head(const char *s)
{
	char begin[64];
	struct ct_text t = { begin, sizeof(begin), 0 };

	put_head(&t);
	if (!strncmp(s, begin, t.len) && parse_uuid(s + t.len, uuid))
		ct_store(&have_uuid, true);
}

/* The hash of a line without its id; kind is its first letter. */
static u64 hash_of(char kind, const char *rest, size_t n)
{
	return (ct_hash(rest, n) ^ (u64)kind << 56) | 1;
}

/*
 * A line that claims an id at or below the highest one is void.  Whether the rest of it is
 * well formed is not asked: an id must never be claimed twice, and what is not well formed
 * is no text that anybody asks for.
 */
static void parse_line(const char *s, size_t n)
{
	bool class = !strncmp(s, "class ", 6);
	u32 *last = class ? &last_class : &last_string;
	u32 max = class ? CT_CLASS_MAX : CT_REGISTRY_STRINGS - 1;
	const char *p = s + (class ? 6 : 7);
	u64 id = 0;

	if (n >= 2 && !memcmp(s + n - 2, " %", 2))
		return;		/* it was cut */
	if (!class && strncmp(s, "string ", 7)) {
		if (!strncmp(s, "info ", 5))
			infos += infos < INFOS_MAX && insert(hash_of('i', s, n), 1);
		else if (!have_uuid)
			parse_head(s);
		return;
	}
	while (*p >= '0' && *p <= '9' && id <= max)
		id = id * 10 + (u64)(*p++ - '0');
	if (id <= *last || id > max || (*p && *p != ' '))
		return;
	if (*p++)
		insert(hash_of(class ? 'c' : 's', p, n - (size_t)(p - s)), (u32)id);
	ct_store(last, (u32)id);
}

/* Reads what was appended; *cut: the last line has no end.  Returns a negative errno. */
static long read_new(int fd, bool *cut)
{
	for (;;) {
		long n = ct_sys4(SYS_pread64, fd, buffer, sizeof(buffer) - 1, offset);
		char *s = buffer, *end;

		*cut = n > 0;
		if (n <= 0)
			return n;
		buffer[n] = 0;
		while ((end = memchr(s, '\n', (size_t)(buffer + n - s)))) {
			*end = 0;
			parse_line(s, (size_t)(end - s));
			s = end + 1;
		}
		if (offset + (u64)(s - buffer) > FILE_MAX)
			return -27;	/* EFBIG */
		if (s == buffer)	/* nobody of us writes a line that long */
			return n < (long)sizeof(buffer) - 1 ? 0 : -22;
		ct_store(&offset, offset + (u64)(s - buffer));
	}
}

/* A line that was cut ends in a word that makes it void, and not in the middle of ours. */
static struct ct_text begin_line(bool cut)
{
	struct ct_text t = { line, sizeof(line), 0 };

	if (cut)
		ct_put(&t, " %\n");
	return t;
}

static long append(int fd, struct ct_text *t)
{
	long n;

	ct_put(t, "\n");
	n = ct_write(fd, t->buf, t->len);
	return n == (long)t->len ? 0 : n < 0 ? n : -28;		/* ENOSPC */
}

static long append_head(int fd, bool cut)
{
	struct ct_text t = begin_line(cut);
	struct timespec real;
	u8 random[16];
	u64 start = ct_clock_real();

	ct_sys2(SYS_clock_gettime, CLOCK_REALTIME, &real);
	if (ct_sys3(SYS_getrandom, random, 16, 0) != 16)
		memcpy(random, &real, 16);
	put_head(&t);
	for (int i = 0; i < 16; i++)
		ct_put_hex(&t, random[i], 2);
	ct_put(&t, " start=");
	ct_put_u(&t, start);
	ct_put(&t, " realtime=");
	ct_put_u(&t, (u64)real.tv_sec * 1000000000ull + (u64)real.tv_nsec);
	return append(fd, &t);
}

/* Claims the next id; whether it is ours shows when the line is read. */
static long append_text(int fd, bool cut, char kind, const char *rest, size_t n)
{
	struct ct_text t = begin_line(cut);
	u32 id = kind == 'c' ? last_class + 1 : last_string + 1;

	if (kind == 'i' ? infos >= INFOS_MAX :
	    id >= (kind == 'c' ? CT_CLASS_MAX + 1u : CT_REGISTRY_STRINGS))
		return -105;	/* ENOBUFS */
	if (kind != 'i') {
		ct_put(&t, kind == 'c' ? "class " : "string ");
		ct_put_u(&t, id);
		ct_put(&t, " ");
	}
	ct_put_n(&t, rest, n);
	return append(fd, &t);
}

/*
 * Who may only read gets the ids that others have claimed.  On a file system that is read-only
 * here no file of ours can be made either.  O_NONBLOCK: for a lease, which the file's owner
 * could take, nobody waits.
 */
static int open_registry(int flags)
{
	int fd = ct_open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | flags, 0644);

	if (fd == -13 || fd == -1)	/* EACCES, EPERM */
		fd = ct_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	return fd;
}

static long open_and_read(const char *dir, bool create)
{
	struct ct_text t = { path, sizeof(path), 0 };
	u8 wanted[16];
	bool cut, asked = *ct_options.trace;
	long error;
	int fd;

	ct_put(&t, dir);
	ct_put(&t, "/.registry");
	create &= !asked;
	if (create)
		ct_sys3(SYS_mkdirat, AT_FDCWD, dir, 0755);
	fd = open_registry(create ? O_CREAT : 0);
	if (fd < 0)
		return asked && (fd == -2 || fd == -20) ? -E_STALE : fd;	/* ENOENT, ENOTDIR */
	error = read_new(fd, &cut);
	/* A file that is not ours stays as it is. */
	if (!error && create && !offset && (!cut || !strncmp(buffer, "cudatrace ", 10))) {
		error = append_head(fd, cut);
		if (!error)
			error = read_new(fd, &cut);
	}
	ct_close(fd);
	if (have_uuid && asked && (!parse_uuid(ct_options.trace, wanted) ||
				   memcmp(uuid, wanted, sizeof(uuid))))
		return -E_STALE;
	if (!have_uuid)
		return error ? error : -22;	/* EINVAL */
	ct_lost_open(dir);
	return 0;
}

bool ct_registry_open(const char *dir, bool create, long *error)
{
	struct table *old = table;

	/* Another one was asked for before, by a parent that forked meanwhile. */
	ct_store(&table, NULL);
	free_table(old);
	have_uuid = false;
	offset = 0;
	last_class = CT_CLASS_DYNAMIC - 1;
	last_string = infos = 0;
	*error = open_and_read(dir, create);
	if (*error)
		*path = 0;
	return !*error;
}

void ct_registry_none(void)
{
	*path = 0;
}

const char *ct_registry_why(long error)
{
	switch (error) {
	case -28:
		return "not tracing, the disk is full: ";
	case -30:	/* EROFS */
		return "not tracing, the trace directory is read-only here (another mount "
		       "namespace?), so mount it there writable or run cudatrace record inside: ";
	case -E_STALE:
		return "not tracing, the directory of this recording is not here (another root or "
		       "mount namespace?), so mount it there or run cudatrace record inside: ";
	}
	return "not tracing, cannot use this as a trace directory: ";
}

const u8 *ct_registry_uuid(void)
{
	return uuid;
}

/*
 * No name is ever dropped.  Those of programs that make new ones for ever would take all that is for records (record --keep),
 * and what is read of the file.
 */
static bool names_are_full(char kind)
{
	u64 most = ct_options.keep && ct_options.keep < NAMES_MAX ? ct_options.keep : NAMES_MAX;

	if (likely(kind != 's' || ct_load(&offset) < most))
		return false;
	ct_say_once(CT_ONCE_REGISTRY, most < NAMES_MAX ?
		    "names take as much as they may of what is kept (record --keep), further kernels and lines have none: " :
		    "names take as much as they may (60 MiB), further kernels and lines have none: ", path);
	return true;
}

/*
 * Finds the line with this text, or appends it.  kind is the line's first letter;
 * rest is what follows the id, and for an info line the whole line.
 */
static u32 find_or_add(char kind, const char *rest, size_t n)
{
	u64 hash = hash_of(kind, rest, n);
	u32 id = find(hash);
	long error = 0;
	bool cut;
	int fd;

	if (id || !*path || names_are_full(kind))
		return id;
	fd = open_registry(0);
	if (fd < 0)
		error = fd;
	for (int tries = 0; !error && !id; tries++) {
		error = read_new(fd, &cut);
		id = find(hash);
		if (error || id)
			break;
		if (tries == TRIES)
			error = -11;	/* EAGAIN: others were always first */
		else if (names_are_full(kind))
			error = -28;	/* ENOSPC */
		else
			error = make_room() ? append_text(fd, cut, kind, rest, n) : -12;
	}
	if (fd >= 0)
		ct_close(fd);
	if (!id && kind != 'i')
		ct_say_once(CT_ONCE_REGISTRY, error == -28 ?
			    "the disk is full, some records are lost: " :
			    "cannot write, some records are lost: ", path);
	return id;
}

static const char *const categories[] = {
#define ROW(id, word)	word,
	CT_CATEGORIES(ROW)
#undef ROW
};

static const char *const ops[] = {
#define ROW(id, word)	word,
	CT_OPS(ROW)
#undef ROW
};

static const char *const layouts[] = {
#define CT_LAYOUT_ROW(name)	CT_LAYOUT_SPEC(name),
	CT_LAYOUTS(CT_LAYOUT_ROW)
#undef CT_LAYOUT_ROW
};

static void put_or_dash(struct ct_text *t, const char *s)
{
	ct_put(t, *s ? s : "-");
	ct_put(t, " ");
}

u32 ct_registry_class(const struct ct_class_text *c)
{
	u64 mask = ct_lock();
	struct ct_text t = { text, sizeof(text), 0 };
	u32 id;

	ct_put(&t, "user ");
	put_or_dash(&t, categories[c->category]);
	put_or_dash(&t, ops[c->op]);
	put_or_dash(&t, layouts[c->layout]);
	ct_put_word(&t, c->name, strlen(c->name));
	ct_put(&t, " ");
	ct_put_word(&t, c->symbol, strlen(c->symbol));
	id = find_or_add('c', t.buf, t.len);
	ct_unlock(mask);
	return id;
}

u32 ct_registry_string(const char *s, size_t n)
{
	u64 mask = ct_lock();
	struct ct_text t = { text, sizeof(text), 0 };
	u32 id;

	ct_put_word(&t, s, n);
	id = t.len ? find_or_add('s', t.buf, t.len) : 0;
	ct_unlock(mask);
	return id;
}

void ct_registry_info(const char *key, const char *value)
{
	u64 mask = ct_lock();
	struct ct_text t = { text, sizeof(text), 0 };

	ct_put(&t, "info ");
	ct_put_word(&t, key, strlen(key));
	ct_put(&t, " ");
	ct_put_word(&t, value, strlen(value));
	find_or_add('i', t.buf, t.len);
	ct_unlock(mask);
}
