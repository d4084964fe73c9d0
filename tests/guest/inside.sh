# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced in the guest with the driver loaded: every ioctl must lie inside its call.
# $INSIDE: calls per thread; there are four threads.
inside=/mnt/build/tests/userlib/inside
for threadbufs in 1 0; do
	CUDATRACE_THREADBUFS=$threadbufs LD_LIBRARY_PATH=/mnt/build/tests/userlib \
		cudatrace record -f --subbufs 256 -o inside -- $inside calls "$INSIDE" 4 >inside.out 2>inside.err
	ok $? "four threads with $INSIDE calls each, an ioctl in each (thread buffers: $threadbufs)" || cat inside.out inside.err
	grep -q 'lost records  *0$' inside.err
	ok $? "none is lost" || cat inside.err
	cudatrace export --format jsonl inside | $inside check $((4 * INSIDE)) >inside.out
	ok $? "every ioctl lies inside its call: $(tail -n 1 inside.out)" || cat inside.out
	rm -rf inside
	# By ioctls the stamps are all the module's: the short form is enough.
	[ "$INSIDE" -le 5000 ] || break
done
