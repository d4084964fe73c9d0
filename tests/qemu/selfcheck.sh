#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Run in the guest by selfcheck: shows, in TAP, that the real driver is there
# and does what tests of cudatrace count on. Its folder has to have "probe" too.

here=$(dirname "$0")
tracing=/sys/kernel/tracing
count=0 failed=0

check() {
	local what=$1
	shift
	count=$((count + 1))
	if "$@"; then
		echo "ok $count - $what"
	else
		echo "not ok $count - $what"
		failed=$((failed + 1))
	fi
}

# Hits of the kernel probe NAME so far.
hits() { awk -v name="$1" '$1 == name { print $2 }' $tracing/kprobe_profile; }

check "nvidia and nvidia-uvm are loaded" \
	eval '[ -d /sys/module/nvidia ] && [ -d /sys/module/nvidia_uvm ]'
check "the driver says its version" grep -q "$(cat /opt/nvidia/version)" /proc/driver/nvidia/version
[ "$PERSONA" = nvswitch ] ||
	check "the driver lists the fake GPU" grep -q "Bus Location" /proc/driver/nvidia/gpus/*/information

answer=$("$here/probe" rm)
echo "# $answer"
check "/dev/nvidiactl allocates and frees a client" \
	[ "$answer" = "alloc status 0x0, free status 0x0" ]

echo 'p:selfcheck_isr nvidia:nvidia_isr' > $tracing/kprobe_events
echo 'p:selfcheck_pages nvidia:nv_alloc_pages' >> $tracing/kprobe_events
echo 1 > $tracing/events/kprobes/enable

strace -f -e trace=ioctl -o /tmp/strace "$here/probe" cuinit > /tmp/cuinit
echo "# $(cat /tmp/cuinit)"
check "libcuda.so.1 is Debian's and cuInit returns" grep -q 'cuInit returned' /tmp/cuinit
ioctls=$(grep -c '0x46, ' /tmp/strace)
echo "# $ioctls ioctls of the driver in cuInit"
check "strace sees cuInit's ioctls" [ "$ioctls" -ge 10 ]

if [ "$PERSONA" != nvswitch ]; then
	# Open, it holds the interrupt; that it fails in the end is known.
	for i in 1 2 3; do
		(exec 3<> /dev/nvidia0) 2> /dev/null
	done
	echo "# nvidia_isr ran $(hits selfcheck_isr) times, nv_alloc_pages $(hits selfcheck_pages) times"
	check "nvidia_isr runs" [ "$(hits selfcheck_isr)" -gt 0 ]
	check "an open of /dev/nvidia0 allocates pages" [ "$(hits selfcheck_pages)" -gt 0 ]
fi

echo 0 > $tracing/events/kprobes/enable
echo > $tracing/kprobe_events

check "the driver unloads" unload-driver
check "the driver loads again" load-driver
check "jq, gawk and strace are there" eval '{ jq --version && gawk --version && strace -V; } > /dev/null'
echo "1..$count"
echo "$((count - failed)) passed, $failed failed"
[ "$failed" = 0 ]
