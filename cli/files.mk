# SPDX-License-Identifier: LGPL-2.1-or-later
# The sources of the command line, but for record (and what only record needs).
# CLI_LIBS: libiberty demangles kernels' names (Debian: libiberty-dev).
CLI_SRCS := \
	cli/main.c cli/open_trace.c cli/error.c cli/hash.c cli/out.c \
	cli/class.c cli/registry.c cli/registry_write.c cli/record.c \
	cli/stream.c cli/slots.c cli/reader.c cli/lane.c cli/merge.c \
	cli/names.c cli/usage.c cli/metadata.c cli/finish.c cli/lost.c \
	cli/jsonl.c cli/chrome.c cli/histogram.c cli/stats.c cli/report.c cli/driver_memory.c cli/handles.c cli/processes.c cli/term.c cli/timeline.c cli/live.c cli/live_follow.c cli/live_device.c \
	cli/cmd-export.c cli/cmd-report.c cli/cmd-timeline.c cli/cmd-live.c cli/cmd-doctor.c cli/doctor_kernel.c cli/doctor_device.c cli/doctor_cuda.c \
	cli/nv_decode.c $(wildcard cli/tables/*.c)
CLI_LIBS := -liberty
