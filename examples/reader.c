// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A complete reader of /dev/cudatrace by mmap(): starts a lossless session, prints a
 * line for every record as it comes, hands each packet back, and ends on a signal
 * with nothing left behind.  The protocol: cudatrace.h, sections 4 and 5.  As root.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../module/uapi/cudatrace.h"

static volatile sig_atomic_t stop;
static int fd;
static struct ct_session session = { .size = sizeof(session), .groups = ~0ull };

static void on_signal(int sig) { stop = sig; }

static void *map(uint64_t offset, size_t size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

/* Prints a record and returns its size: head, fields, and a text's bytes. */
static uint32_t print_record(const struct ct_cpu_record *r, uint32_t cpu, uint64_t packet_begin)
{
	static const uint8_t bytes[] = {
#define ROW(type, ctype, n) [CT_TYPE_##type] = n,
		CT_TYPES(ROW)
	};
	struct ct_define class = { .size = sizeof(class), .id = CT_RECORD_CLASS(r->stamp) };
	uint32_t size = sizeof(*r), i;

	if (ioctl(fd, CT_IOC_GET_DEFINE, &class))
		errx(1, "a record of class %u, which nobody defined", class.id);
	for (i = 0; i < class.fields_count; i++)
		size += bytes[class.fields[i].type];
	if (i && class.fields[i - 1].type == CT_TYPE_text)
		size += *(const uint16_t *)((const char *)r + size - 2);
	printf("%llu cpu=%u pid=%u tid=%u %s%s\n", (unsigned long long)
	       CT_UNSTAMP(packet_begin, r->stamp), cpu, r->pid, r->tid, class.name,
	       r->duration >> 56 & CT_F_BEGIN ? " begins" : "");
	return size;
}

/* Reads one CPU's ring from *pos on, up to what is committed, and hands it back. */
static void drain(uint32_t cpu, const struct ct_cpu_status *status, const char *data,
		  struct ct_cpu_consumer *consumer, uint64_t *pos)
{
	const uint64_t size = session.subbuf_size, ring = size * session.subbuf_count;
	uint64_t committed = __atomic_load_n(&status->committed, __ATOMIC_ACQUIRE);

	while (*pos < committed) {
		uint64_t begin = *pos & ~(size - 1), end = committed;
		const struct ct_packet *packet = (const void *)(data + begin % ring);

		if (committed >= begin + size)		/* closed: its head is final */
			end = begin + packet->content_size / 8;
		if (*pos == begin)
			*pos += sizeof(*packet);
		while (*pos < end)
			*pos += print_record((const void *)(data + *pos % ring), cpu, packet->ts_begin);
		if (committed >= begin + size)
			*pos = begin + size;
		__atomic_store_n(&consumer->consumed, *pos, __ATOMIC_RELEASE);
	}
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct ct_watermark watermark = { .size = sizeof(watermark), .bytes = 16384, .ns = 50000000 };
	uint32_t cpu, last = 0;

	fd = open(CT_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, CT_IOC_START, &session) || ioctl(fd, CT_IOC_WATERMARK, &watermark))
		err(1, CT_DEVICE_PATH);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);

	const struct ct_cpu_status *status[session.cpus];
	struct ct_cpu_consumer *consumer[session.cpus];
	const char *data[session.cpus];
	uint64_t pos[session.cpus];

	for (cpu = 0; cpu < session.cpus; cpu++) {	/* NULL where no CPU is possible */
		status[cpu] = map(CT_MMAP_STATUS(cpu), getpagesize(), PROT_READ);
		consumer[cpu] = map(CT_MMAP_CONSUMER(cpu), getpagesize(), PROT_READ | PROT_WRITE);
		data[cpu] = map(CT_MMAP_DATA(cpu), (size_t)session.subbuf_size *
				session.subbuf_count, PROT_READ);
		pos[cpu] = 0;
	}
	do {
		if (!stop)
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 1000);
		else if (!last++)
			ioctl(fd, CT_IOC_STOP);		/* nothing comes after this */
		for (cpu = 0; cpu < session.cpus; cpu++)
			if (status[cpu])
				drain(cpu, status[cpu], data[cpu], consumer[cpu], &pos[cpu]);
		fflush(stdout);
	} while (!last);
	return 0;
}
