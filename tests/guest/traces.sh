#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: tests/guest/traces.sh OUTDIR [NAME...]
#
# Records in a guest (kernel 6.1, NVIDIA's driver 535 on a PCI device without a GPU behind
# it) the traces of the module's side that tests/data keeps, and packs each to
# OUTDIR/NAME.tar.xz; with NAMEs only those.  in_guest() has them all.  Wants what
# `make all examples sim` builds, and the packages of tests/qemu/README.md.
#
# Programs that launch kernels run on the simulated libcuda: their CUDA calls are its, what
# the kernel driver does for them is real.  Nothing in their times says anything of a GPU.
set -u

# trace NAME OPTIONS -- COMMAND...: in the guest
trace()
{
	local name=$1
	shift
	wanted "$name" || return 0
	if ! cudatrace record -q -o "$name" "$@" >"$name.out" 2>&1; then
		echo "$name: failed" >&2
		tail -n 5 "$name.out" >&2
		status=1
	fi
}

# A snapshot while a program runs, of a flight recorder with rings that are too small for it.
flight()
{
	wanted "$1" || return 0
	cudatrace session start --subbuf-size 16384 --subbufs 4 || { status=1; return; }
	LD_PRELOAD=/mnt/build/libcudatrace.so /mnt/build/examples/inference --iterations 2000 \
		>/dev/null & program=$!
	sleep 3
	cudatrace snapshot -q -o "$1" || status=1
	wait $program
	cudatrace session stop
}

# In the guest: all of them.
in_guest()
{
	local inference=/mnt/build/examples/inference rm=/mnt/build/tests/rm
	local problems=/mnt/build/examples/problems
	mkdir -p /tmp/traces
	cd /tmp/traces || exit 2
	# Debian's libcuda, which the guest's linker finds by itself, knows the real driver only.
	trace guest-cuinit -- /mnt/build/tests/cuinit
	trace guest-uvm -- sh -c "for i in 1 2 3 4 5; do $rm >/dev/null || exit; done"
	# UVM's test of its queues makes more records than its limit allows: they are counted.
	trace guest-lost --groups scheduler,uvm,ioctl -- \
		sh -c "cudatrace session limit --rate 2000 --by process; $rm selftest; true"
	export LD_LIBRARY_PATH=/mnt/build/tests/sim
	trace guest-inference -- $inference --iterations 50
	trace guest-two -- sh -c "$inference --iterations 100 & $inference --iterations 100 && wait"
	trace guest-off-cpu -- $problems/off_cpu --iterations 60
	trace guest-off-cpu-mended -- $problems/off_cpu --mended --iterations 60
	flight guest-flight
	rm -f ./*.out
	cp -r . /mnt/share/
	exit $status
}

wanted()
{
	[ -z "$names" ] || case " $names " in *" $1 "*) ;; *) false ;; esac
}

status=0
if [ "${1:-}" = --in-guest ]; then
	shift
	names=$*
	in_guest
fi
if [ $# -lt 1 ]; then
	sed -n '4,/^set/ { /^set/d; s/^# \{0,1\}//; p }' "$0"
	exit 2
fi
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 2
shift
cd "$(dirname "$0")/../.." || exit 2
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
cp tests/guest/traces.sh "$share/"
make -s build/tests/cuinit build/tests/rm && tests/qemu/prepare --kernel 6.1 --driver 535 &&
	tests/qemu/build-module --kernel 6.1 >"$share/build.log" 2>&1 ||
	{ tail -n 5 "$share/build.log"; exit 2; }
tests/qemu/run --kernel 6.1 --driver 535 --share "$share" -- \
	bash /mnt/share/traces.sh --in-guest "$@" || status=1
for dir in "$share"/guest-*; do
	[ -d "$dir" ] || continue
	name=${dir##*/}
	rm -rf "$out/$name.tar.xz"
	tar -C "$share" --owner=0 --group=0 -cf - "$name" | xz -9e >"$out/$name.tar.xz"
	echo "$name: $(build/cudatrace export --format jsonl "$dir" 2>/dev/null | wc -l) records," \
		"$(du -sk "$dir" | cut -f 1) KiB, packed $(stat -c %s "$out/$name.tar.xz") bytes"
done
exit $status
