// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See http.h.  Must never wait for a client for more than some seconds, and never read more of it than a
 * short request.
 */
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST_MAX	8192u
#define PATIENCE_S	5

/* "1.2.3.4:80", "[::1]:80", "localhost:80". */
static int http_parse(const char *text, struct sockaddr_storage *address, socklen_t *len, struct ct_error *err)
{
	const char *colon = strrchr(text, ':');
	struct sockaddr_in *four = (struct sockaddr_in *)address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
	char host[64], *end;
	unsigned long port;
	size_t n;

	n = colon ? colon - text : 0;
	port = colon ? strtoul(colon + 1, &end, 10) : 0;
	if (!n || n >= sizeof(host) || !colon[1] || *end || port > 65535)
		return ct_fail_usage(err, "'%s' is no ADDRESS:PORT and no path that begins with /", text);
	snprintf(host, sizeof(host), "%.*s", (int)n, text);
	memset(address, 0, sizeof(*address));
	if (!strcmp(host, "localhost"))
		strcpy(host, "127.0.0.1");
	if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		*len = sizeof(*four);
		return 0;
	}
	if (*host == '[' && host[n - 1] == ']') {
		host[n - 1] = 0;
		if (inet_pton(AF_INET6, host + 1, &six->sin6_addr) == 1) {
			six->sin6_family = AF_INET6;
			six->sin6_port = htons(port);
			*len = sizeof(*six);
			return 0;
		}
	}
	return ct_fail_usage(err, "'%s': give the address in numbers, as 127.0.0.1:9464 or [::1]:9464", text);
}

static int http_open_unix(struct ct_http *h, const char *path, struct ct_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;

	if (strlen(path) >= sizeof(address.sun_path))
		return ct_fail_usage(err, "%s: the path of a socket has at most %zu bytes", path, sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	/* One that a killed server left; never a file of another kind. */
	if (!lstat(path, &st) && S_ISSOCK(st.st_mode)) {
		int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (other >= 0 && !connect(other, (struct sockaddr *)&address, sizeof(address))) {
			close(other);
			return ct_fail(err, EADDRINUSE, "%s: another server answers there", path);
		}
		if (other >= 0)
			close(other);
		unlink(path);
	}
	h->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->fd < 0 || bind(h->fd, (struct sockaddr *)&address, sizeof(address)) || listen(h->fd, 16))
		return ct_fail(err, errno, "%s: %s", path, strerror(errno));
	snprintf(h->address, sizeof(h->address), "%s", path);
	h->unix_socket = true;
	return 0;
}

int ct_http_open(struct ct_http *h, const char *text, struct ct_error *err)
{
	struct sockaddr_storage address;
	char host[INET6_ADDRSTRLEN];
	socklen_t len;
	int rc, on = 1;

	*h = (struct ct_http){ .fd = -1 };
	if (*text == '/') {
		rc = http_open_unix(h, text, err);
		goto out;
	}
	rc = http_parse(text, &address, &len, err);
	if (rc)
		return rc;
	h->fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->fd >= 0)
		setsockopt(h->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (h->fd < 0 || bind(h->fd, (struct sockaddr *)&address, len) || listen(h->fd, 16) ||
	    getsockname(h->fd, (struct sockaddr *)&address, &len)) {
		rc = ct_fail(err, errno, "%s: %s", text, strerror(errno));
		goto out;
	}
	if (address.ss_family == AF_INET)
		snprintf(h->address, sizeof(h->address), "%s:%u",
			 inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, host, sizeof(host)),
			 ntohs(((struct sockaddr_in *)&address)->sin_port));
	else
		snprintf(h->address, sizeof(h->address), "[%s]:%u",
			 inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&address)->sin6_addr, host, sizeof(host)),
			 ntohs(((struct sockaddr_in6 *)&address)->sin6_port));
out:
	if (rc) {
		h->unix_socket = false;
		ct_http_close(h);
	}
	return rc;
}

/* The request's head; false: it is none, or it did not come in time. */
static bool http_read(int fd, char *request)
{
	size_t used = 0;
	ssize_t n;

	while (used < REQUEST_MAX - 1) {
		n = recv(fd, request + used, REQUEST_MAX - 1 - used, 0);
		if (n <= 0)
			return false;
		used += n;
		request[used] = 0;
		if (strstr(request, "\r\n\r\n") || strstr(request, "\n\n"))
			return true;
	}
	return false;
}

static void http_send(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		data += n;
		size -= n;
	}
}

static void http_reply(int fd, const char *status, const char *type, const char *body, size_t size, bool head)
{
	char line[300];
	int n = snprintf(line, sizeof(line), "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
			 status, type, size);

	http_send(fd, line, n);
	if (!head)
		http_send(fd, body, size);
}

static int http_serve(int fd, int (*print)(void *arg, FILE *out, bool plain), void *arg)
{
	static const char nothing[] = "cudatrace answers /metrics\n";
	char request[REQUEST_MAX], method[8], path[256], *body = NULL;
	bool head, plain;
	size_t size;
	FILE *out;
	int rc;

	if (!http_read(fd, request))
		return 0;
	if (sscanf(request, "%7s %255s", method, path) != 2 || (strcmp(method, "GET") && strcmp(method, "HEAD"))) {
		http_reply(fd, "405 Method Not Allowed", "text/plain", nothing, strlen(nothing), false);
		return 0;
	}
	head = !strcmp(method, "HEAD");
	path[strcspn(path, "?")] = 0;
	if (strcmp(path, "/metrics")) {
		http_reply(fd, strcmp(path, "/") ? "404 Not Found" : "200 OK", "text/plain", nothing, strlen(nothing), head);
		return 0;
	}
	plain = !strstr(request, "application/openmetrics-text");
	out = open_memstream(&body, &size);
	rc = out ? print(arg, out, plain) : -ENOMEM;
	if (out && fclose(out))
		rc = -ENOMEM;
	if (!rc)
		http_reply(fd, "200 OK", plain ? "text/plain; version=0.0.4; charset=utf-8" :
			   "application/openmetrics-text; version=1.0.0; charset=utf-8", body, size, head);
	free(body);
	return rc;
}

int ct_http_answer(struct ct_http *h, int ms, int (*print)(void *arg, FILE *out, bool plain), void *arg)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	struct pollfd p = { .fd = h->fd, .events = POLLIN };
	int fd, rc;

	if (poll(&p, 1, ms) <= 0)
		return 0;
	fd = accept4(h->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return 0;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	rc = http_serve(fd, print, arg);
	close(fd);
	return rc;
}

void ct_http_close(struct ct_http *h)
{
	if (h->fd >= 0)
		close(h->fd);
	if (h->unix_socket)
		unlink(h->address);
	h->fd = -1;
}
