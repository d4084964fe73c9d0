// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See mcp.h.  JSON-RPC 2.0, a message a line.  Nothing but answers may go to stdout, and no message of a
 * client may end the server.
 */
#include "serve/mcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CT_HAVE_JANSSON
#include "module/uapi/cudatrace.h"
#include "serve/tools.h"

#define MESSAGE_MAX	(1u << 20)

enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600, NO_METHOD = -32601, INVALID_PARAMS = -32602 };

/* Newest first.  What is answered is the same in all of them. */
static const char *const versions[] = { "2025-06-18", "2025-03-26", "2024-11-05" };

static const char instructions[] =
	"Traces of CUDA programs: calls to libcuda, their ioctls, the kernel driver, the GPU's work. Begin with 'traces', then "
	"'summary' and 'explain' of one. Show evidence for what you say: a table ('report'), records ('search'), or the inside of "
	"a call ('call'). 'diff' compares two traces and says what is noise. Never name a cause that no record shows; where "
	"an answer was cut, it says so, and how to ask for less.";

static int mcp_send(json_t *message)
{
	int rc = message && !json_dumpf(message, stdout, JSON_COMPACT) && putchar('\n') != EOF && !fflush(stdout) ? 0 : -EPIPE;

	json_decref(message);
	return rc;
}

static json_t *mcp_id(const json_t *id)
{
	return json_is_string(id) || json_is_number(id) ? json_incref((json_t *)id) : json_null();
}

static int mcp_error(const json_t *id, int code, const char *text)
{
	return mcp_send(json_pack("{s:s, s:o, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", mcp_id(id), "error", "code", code,
				  "message", text));
}

static int mcp_result(const json_t *id, json_t *result)
{
	return mcp_send(json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", mcp_id(id), "result", result));
}

static json_t *mcp_initialize(const json_t *params)
{
	const char *asked = json_string_value(json_object_get(params, "protocolVersion")), *version = versions[0];

	for (unsigned int i = 0; asked && i < sizeof(versions) / sizeof(*versions); i++)
		if (!strcmp(asked, versions[i]))
			version = versions[i];
	return json_pack("{s:s, s:{s:{}}, s:{s:s, s:s, s:s}, s:s}", "protocolVersion", version, "capabilities", "tools",
			 "serverInfo", "name", "cudatrace", "title", "cudatrace: traces of CUDA programs", "version", CT_VERSION,
			 "instructions", instructions);
}

static int mcp_call(const struct ct_tools *tools, const json_t *id, const json_t *params)
{
	const char *name = json_string_value(json_object_get(params, "name"));
	const json_t *arguments = json_object_get(params, "arguments");
	json_t *result;

	if (!name || (arguments && !json_is_object(arguments) && !json_is_null(arguments)))
		return mcp_error(id, INVALID_PARAMS, "tools/call takes a name and an object of arguments");
	result = ct_tools_call(tools, name, json_is_object(arguments) ? arguments : NULL);
	return result ? mcp_result(id, result) : mcp_error(id, INVALID_PARAMS, "there is no such tool: tools/list has them");
}

/* One message.  Return: 0, or a negative errno: nobody reads the answers. */
static int mcp_message(const struct ct_tools *tools, const json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	const json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");

	/* An answer: this server asks nothing. */
	if (json_is_object(message) && !method && (json_object_get(message, "result") || json_object_get(message, "error")))
		return 0;
	if (!method)
		return mcp_error(id, INVALID_REQUEST, "this is no request of JSON-RPC 2.0");
	/* A notification is not answered. */
	if (!id)
		return 0;
	if (!strcmp(method, "initialize"))
		return mcp_result(id, mcp_initialize(params));
	if (!strcmp(method, "ping"))
		return mcp_result(id, json_object());
	if (!strcmp(method, "tools/list"))
		return mcp_result(id, json_pack("{s:o}", "tools", ct_tools_list()));
	if (!strcmp(method, "tools/call"))
		return mcp_call(tools, id, params);
	return mcp_error(id, NO_METHOD, "there is no such method: this server has tools alone");
}

/* A line of at most MESSAGE_MAX bytes into @line.  1: it is there; 0: stdin has ended; -E2BIG: it was longer. */
static int mcp_line(char *line)
{
	int c;

	if (!fgets(line, MESSAGE_MAX, stdin))
		return 0;
	if (strchr(line, '\n') || feof(stdin))
		return 1;
	while ((c = getchar()) != EOF && c != '\n')
		;
	return -E2BIG;
}

int ct_mcp_serve(const struct ct_mcp *m, struct ct_error *err)
{
	struct ct_tools tools = { .bounds = m->bounds, .command = m->command };
	char *line;
	int rc = ct_confined_open(&tools.confined, m->dir, err), more;

	if (rc)
		return rc;
	line = malloc(MESSAGE_MAX);
	if (!line)
		return ct_fail(err, ENOMEM, "no memory");
	while (!rc && (more = mcp_line(line))) {
		json_t *message = more > 0 ? json_loads(line, 0, NULL) : NULL, *one;
		size_t i;

		if (more > 0 && strspn(line, " \t\r\n") == strlen(line))
			continue;
		if (!message)
			rc = mcp_error(NULL, PARSE_ERROR, more > 0 ? "this line is no JSON" : "a message has at most 1 MiB");
		/* Older clients may send several in one. */
		else if (json_is_array(message))
			json_array_foreach(message, i, one)
				rc = rc ? rc : mcp_message(&tools, one);
		else
			rc = mcp_message(&tools, message);
		json_decref(message);
	}
	free(line);
	return rc ? ct_fail(err, -rc, "%s", strerror(-rc)) : 0;
}
#else
int ct_mcp_serve(const struct ct_mcp *m, struct ct_error *err)
{
	(void)m;
	return ct_fail(err, ENOTSUP, "this cudatrace was built without jansson: apt-get install libjansson-dev, then make again");
}
#endif
