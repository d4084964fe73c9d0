/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The subcommands.  Each is one file, cmd/VERB.c, and parses its own arguments by
 * argp.  Returns the exit status: 0, or 1 after one line on stderr; after a wrong
 * command line CT_USAGE, which is argp's status, too.  diff --fail-above has one more.
 */
#ifndef CT_CLI_CMD_H
#define CT_CLI_CMD_H

int cmd_record(int argc, char **argv);
int cmd_session(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_summarize(int argc, char **argv);
int cmd_timeline(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_mcp(int argc, char **argv);
int cmd_metrics(int argc, char **argv);

#endif
