/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The subcommands.  Each is one file, cmd/VERB.c, and parses its own arguments by
 * argp.  Returns the exit status: 0, or 1 after one line on stderr; a wrong
 * command line is argp's, which exits with 64 (EX_USAGE).
 */
#ifndef CT_CLI_CMD_H
#define CT_CLI_CMD_H

#include "trace/reader.h"

int cmd_record(int argc, char **argv);
int cmd_session(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_timeline(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/**
 * ct_open_trace() - open a trace for a command that reads it
 *
 * Finishes it first where that is possible, and says on stderr what a reader of
 * an unfinished trace has to know.  Complains itself.
 *
 * Return: 0, or 1: complained.  Close @t in both cases.
 */
int ct_open_trace(struct ct_trace *t, const char *dir);

#endif
