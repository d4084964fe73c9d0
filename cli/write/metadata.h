/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The metadata file of a trace: CTF 1.8 TSDL text, from the table of classes, the
 * registry and what the records use.  The registry is in its comments, so
 * that a trace that was copied without its dotfiles can be read.
 */
#ifndef CT_CLI_METADATA_H
#define CT_CLI_METADATA_H

#include "trace/reader.h"

/**
 * ct_metadata_write() - write @t's metadata, replacing an old one
 *
 * By a temporary dotfile and rename(): a reader sees the old file or the new one.
 * Numbers get names (kernels, RM commands, statuses) as far as records of @t have
 * them, so write it when the recording has ended.
 *
 * Return: 0 or a negative errno, with a line in @err.
 */
int ct_metadata_write(const struct ct_trace *t, struct ct_error *err);

#endif
