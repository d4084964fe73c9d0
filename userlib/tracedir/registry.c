// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading and extending DIR/.registry; see registry.h.
 *
 * Each change is: lock the file, read the lines that others appended, append one
 * line by one write, unlock.  A child forgets all and reads again.  Must never
 * leave half a line behind, nor give an id twice.
 */
#include "tracedir/registry.h"

#include "tracedir/lost.h"
#include "base/options.h"
#include "base/process.h"
#include "tracedir/preallocate.h"

#define CLASS_FIRST	CT_CLASS_DYNAMIC

static char path[2112];
static u8 uuid[16];
static bool have_uuid;
static u64 offset;		/* of the first byte not read yet */
static u32 next_class, next_string;

/*
 * Lines by the hash of what stands in them beside the id.  Two texts of one hash
 * (64 bits) would share an id; with a million lines that is one in 10^7.
 */
static struct entry {
	u64 hash;
	u32 id;
	u32 reserved;
} *table;
static u32 table_size, table_used;

static char buffer[32 << 10];	/* reading */
static char line[16 << 10];	/* writing: longer than any line */

void ct_registry_renew(void)
{
	/* The parent's table may have been changing at the fork: leave it. */
	table = NULL;
	table_size = table_used = 0;
	offset = 0;
	have_uuid = false;
	next_class = CLASS_FIRST;
	next_string = 1;
}

static struct entry *slot_of(struct entry *in, u32 size, u64 hash)
{
	u32 i = (u32)hash & (size - 1);

	while (in[i].hash && in[i].hash != hash)
		i = (i + 1) & (size - 1);
	return &in[i];
}

static u32 find(u64 hash)
{
	return table ? slot_of(table, table_size, hash)->id : 0;
}

static void insert(u64 hash, u32 id)
{
	struct entry *e;

	if (table_used * 2 >= table_size) {
		u32 size = table_size ? table_size * 2 : 1024;
		struct entry *bigger = ct_map_private(size * sizeof(*bigger));

		if (!bigger)
			return;
		for (u32 i = 0; i < table_size; i++)
			if (table[i].hash)
				*slot_of(bigger, size, table[i].hash) = table[i];
		if (table)
			ct_unmap(table, table_size * sizeof(*table));
		table = bigger;
		table_size = size;
	}
	e = slot_of(table, table_size, hash);
	if (e->hash)
		return;
	e->hash = hash;
	e->id = id;
	table_used++;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* cudatrace ABI uuid=32HEX start=NS realtime=NS */
static void parse_head(const char *s)
{
	const char *u = strstr(s, " uuid=");

	if (strncmp(s, "cudatrace ", 10) || !u)
		return;
	u += 6;
	for (int i = 0; i < 16; i++) {
		int a = hex(u[2 * i]), b = a < 0 ? -1 : hex(u[2 * i + 1]);

		if (b < 0)
			return;
		uuid[i] = (u8)(a << 4 | b);
	}
	have_uuid = true;
}

/* The hash of a line without its id; kind is its first letter. */
static u64 hash_of(char kind, const char *rest, size_t n)
{
	return (ct_hash(rest, n) ^ (u64)kind << 56) | 1;
}

static void parse_line(const char *s, size_t n)
{
	bool class = !strncmp(s, "class ", 6);
	const char *p;
	u64 id = 0;

	if (!class && strncmp(s, "string ", 7)) {
		if (!strncmp(s, "info ", 5))
			insert(hash_of('i', s, n), 1);
		else if (!have_uuid)
			parse_head(s);
		return;
	}
	p = s + (class ? 6 : 7);
	while (*p >= '0' && *p <= '9' && id < 1u << 31)
		id = id * 10 + (u64)(*p++ - '0');
	if (*p++ != ' ' || !id || (class && id > CT_CLASS_MAX))
		return;
	insert(hash_of(class ? 'c' : 's', p, n - (size_t)(p - s)), (u32)id);
	if (class && id >= next_class)
		next_class = (u32)id + 1;
	if (!class && id >= next_string)
		next_string = (u32)id + 1;
}

/* Reads complete lines from where we stopped.  Returns the file's size. */
static long read_new(int fd)
{
	for (;;) {
		long n = ct_sys4(SYS_pread64, fd, buffer, sizeof(buffer) - 1, offset);
		char *s = buffer, *end;

		if (n <= 0)
			return n < 0 ? n : (long)offset;
		buffer[n] = 0;
		while ((end = memchr(s, '\n', (size_t)(buffer + n - s)))) {
			*end = 0;
			parse_line(s, (size_t)(end - s));
			s = end + 1;
		}
		offset += (u64)(s - buffer);
		if (s == buffer && n < (long)sizeof(buffer) - 1)
			return (long)offset + n;	/* a line without its end */
		if (s == buffer)
			offset += (u64)n;		/* no line is that long */
	}
}

static long append(int fd, struct ct_text *t, long size)
{
	long n;

	/* Whoever wrote the last line died in it: nobody may take it for a whole one. */
	if (size > (long)offset) {
		size = (long)offset;
		n = ct_sys2(SYS_ftruncate, fd, size);
		if (n < 0)
			return n;
	}
	ct_put(t, "\n");
	/* The program's own limit would stop us with a signal. */
	if (ct_preallocate_beyond((u64)size + t->len))
		return -27;	/* EFBIG */
	n = ct_sys3(SYS_write, fd, t->buf, t->len);
	if (n == (long)t->len)
		return 0;
	ct_sys2(SYS_ftruncate, fd, size);
	return n < 0 ? n : -28;		/* ENOSPC */
}

#define LOCK_EX_OP	2
#define LOCK_UN_OP	8

static int open_locked(int flags, long *error)
{
	int fd = ct_open(path, O_RDWR | O_APPEND | flags, 0644);
	long err;

	if (fd < 0) {
		*error = fd;
		return -1;
	}
	do
		err = ct_sys2(SYS_flock, fd, LOCK_EX_OP);
	while (err == -4);	/* EINTR */
	return fd;
}

/* By its own call: a child that was forked meanwhile has the file open too. */
static void close_locked(int fd)
{
	ct_sys2(SYS_flock, fd, LOCK_UN_OP);
	ct_close(fd);
}

static void head_line(struct ct_text *t)
{
	struct timespec real;
	u8 random[16];
	u64 start = ct_clock_real();

	ct_sys2(SYS_clock_gettime, CLOCK_REALTIME, &real);
	if (ct_sys3(SYS_getrandom, random, 16, 0) != 16)
		memcpy(random, &real, 16);
	ct_put(t, "cudatrace ");
	ct_put_u(t, CT_ABI_VERSION);
	ct_put(t, " uuid=");
	for (int i = 0; i < 16; i++)
		ct_put_hex(t, random[i], 2);
	ct_put(t, " start=");
	ct_put_u(t, start);
	ct_put(t, " realtime=");
	ct_put_u(t, (u64)real.tv_sec * 1000000000ull + (u64)real.tv_nsec);
}

bool ct_registry_open(const char *dir, bool create, long *error)
{
	struct ct_text t = { path, sizeof(path), 0 };
	long size;
	int fd;

	ct_put(&t, dir);
	ct_put(&t, "/.registry");
	fd = open_locked(create ? O_CREAT : 0, error);
	if (fd < 0) {
		*path = 0;
		return false;
	}
	size = read_new(fd);
	if (!size && create) {
		struct ct_text l = { line, sizeof(line), 0 };

		head_line(&l);
		*error = append(fd, &l, 0);
		if (!*error)
			read_new(fd);
	} else {
		*error = size < 0 ? size : -22;	/* EINVAL: no registry of ours */
	}
	if (have_uuid)
		ct_lost_open(dir);
	close_locked(fd);
	if (!have_uuid)
		*path = 0;
	return have_uuid;
}

const u8 *ct_registry_uuid(void)
{
	long error;
	int fd;

	/* A child has forgotten it: it is in the file. */
	if (!have_uuid && *path) {
		fd = open_locked(0, &error);
		if (fd >= 0) {
			read_new(fd);
			close_locked(fd);
		}
	}
	return uuid;
}

/*
 * Finds the line with this text, or appends it.  kind is the line's first letter;
 * rest is what follows the id, and for an info line the whole line.
 */
static u32 find_or_add(char kind, const char *rest, size_t n)
{
	u64 hash = hash_of(kind, rest, n);
	struct ct_text t = { line, sizeof(line), 0 };
	long size, error = 0;
	u32 id = find(hash);
	int fd;

	if (id)
		return id;
	if (!*path)
		return 0;
	fd = open_locked(0, &error);
	if (fd < 0)
		goto failed;
	size = read_new(fd);
	id = find(hash);
	if (id || size < 0) {
		close_locked(fd);
		return id;
	}
	id = kind == 'c' ? next_class : kind == 's' ? next_string : 1;
	if (kind == 'c' && id > CT_CLASS_MAX)
		id = 0;
	if (id) {
		if (kind != 'i') {
			ct_put(&t, kind == 'c' ? "class " : "string ");
			ct_put_u(&t, id);
			ct_put(&t, " ");
		}
		ct_put_n(&t, rest, n);
		error = append(fd, &t, size);
		if (!error)
			read_new(fd);
		else
			id = 0;
	}
	close_locked(fd);
	if (id)
		return id;
failed:
	ct_say_once(CT_ONCE_REGISTRY, error == -28 ?
		    "the disk is full, some records are lost: " :
		    "cannot write, some records are lost: ", path);
	return 0;
}

static char text[14 << 10];	/* what a line says beside its id */

static u32 add_text(char kind, const struct ct_text *t)
{
	return find_or_add(kind, t->buf, t->len);
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
	id = add_text('c', &t);
	ct_unlock(mask);
	return id;
}

u32 ct_registry_string(const char *s, size_t n)
{
	u64 mask = ct_lock();
	struct ct_text t = { text, sizeof(text), 0 };
	u32 id;

	ct_put_word(&t, s, n < CT_STRING_MAX ? n : CT_STRING_MAX);
	id = t.len ? add_text('s', &t) : 0;
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
	if (*path)
		add_text('i', &t);
	ct_unlock(mask);
}
