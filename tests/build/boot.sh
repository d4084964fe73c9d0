#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A machine on which the packages are installed, and that starts: a root of Debian 12 in a guest, with
# the module as DKMS builds it from cudatrace-dkms, and what systemd runs at every boot.
#
#	tests/build/boot.sh [--list | --only PATTERN]
#
# Prints TAP.  Needs root, and the network for what the cache does not have.
set -u
cd "$(dirname "$0")/../.."
. tests/judge.sh
. tests/pick.sh
. tests/build/roots.sh
choose_parts "boot" "$@"
work=$PWD/build/tests/boot
rm -rf "$work"
mkdir -p "$work"
kernel=6.1

# root_with_systemd: prints such a root of Debian 12, made once
root_with_systemd()
(
	. tests/qemu/lib.sh
	. tests/qemu/apt.sh
	base=$(root_of bookworm) || exit
	fill()
	{
		mkdir -p "$out" && cp -a "$base/." "$out"
		unpack closure bookworm bookworm "$out" systemd udev util-linux kmod
		# As in the other roots.
		rm -f "$out/usr/share/debconf/confmodule"
		echo member:x:1000:1000:member:/tmp:/bin/sh >>"$out/etc/passwd"
		echo stranger:x:1001:1001:stranger:/tmp:/bin/sh >>"$out/etc/passwd"
		printf '%s\n' member:x:1000: stranger:x:1001: >>"$out/etc/group"
		# What udev's rules name.
		for group in kmem disk tty dialout lp input video audio render sgx kvm cdrom tape; do
			echo "$group:x:$((gid = ${gid:-700} + 1)):"
		done >>"$out/etc/group"
	}
	make_dir "$cache/boot-root-1" fill
	echo "$cache/boot-root-1"
)

# installed: $work/root is that root with the packages, and their module built for the guest's kernel
installed()
{
	local root kdir release
	make -s deb programs sim >"$work/deb.log" 2>&1 || return
	root=$(root_with_systemd) || return
	kdir=$(tests/qemu/kdir --kernel $kernel) && release=$(tests/qemu/kdir --release --kernel $kernel) || return
	cp -a "$root" "$work/root"
	mkdir -p "$work/dkms" "$work/root/opt" "$work/root/lib/modules/$release" "$work/root/sys" "$work/root/run"
	cp build/dist/cudatrace_"$version"_amd64.deb build/dist/cudatrace-dkms_"$version"_all.deb "$work/root/opt" || return
	unshare --mount --net sh -c 'mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/tmp" &&
		chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C sh -ec "dpkg -i /opt/*.deb; usermod -aG cudatrace member"' \
		sh "$work/root" >"$work/dpkg.log" 2>&1 </dev/null || return
	# The root has no compiler, so this machine's DKMS builds what the package put there.
	dkms install cudatrace/"$version" --dkmstree "$work/dkms" --sourcetree "$work/root/usr/src" \
		--installtree "$work/root/lib/modules" --no-depmod -k "$release" --kernelsourcedir "$kdir" >"$work/dkms.log" 2>&1 || return
	touch "$work/root/lib/modules/$release"/modules.{order,builtin,builtin.modinfo}
	depmod -b "$work/root" "$release"
	rm -f "$work/root"/opt/*.deb
	# As docs/install.md has it in "Load it at boot".
	sed -i 's/^#cudatrace$/cudatrace/' "$work/root/etc/modules-load.d/cudatrace.conf"
	cp build/tests/sim/libcuda.so.1 build/examples/inference "$work/root/opt/"
}

# What PID 1 starts before anything else, in that root, and then two users.
start()
{
	cat >"$work/start" <<-'END'
		#!/bin/bash
		root=/mnt/share/root
		for dir in dev proc sys run; do mount --rbind /$dir $root/$dir; done
		mount -t tmpfs tmpfs $root/tmp
		chmod 1777 $root/tmp
		in_root() { chroot $root /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C SYSTEMD_IGNORE_CHROOT=1 SYSTEMD_LOG_TARGET=console "$@"; }
		echo "before: $(ls $root/dev/cudatrace 2>/dev/null) $(grep -c ^cudatrace /proc/modules)"
		in_root systemd-sysusers
		in_root /lib/systemd/systemd-udevd --daemon
		in_root /lib/systemd/systemd-modules-load
		in_root udevadm trigger --action=add
		in_root udevadm settle
		echo "loaded: $(grep -c ^cudatrace /proc/modules) $(cat /sys/module/cudatrace/version)"
		echo "device: $(in_root stat -c '%U %G %a' /dev/cudatrace)"
		as() { user=$1; shift; in_root setpriv --reuid=$user --regid=$user --init-groups "$@"; }
		for user in member stranger; do
			as $user sh -c 'LD_LIBRARY_PATH=/opt cudatrace record -q -f -o /tmp/$1 -- /opt/inference >/tmp/$1.out 2>/tmp/$1.err; echo "$1: $?"' sh $user
			sed "s/^/$user said: /" $root/tmp/$user.err
			echo "$user calls: $(in_root cudatrace report --format csv cuda_api_sum /tmp/$user 2>/dev/null | grep -c cuLaunchKernel)"
		done
		# Who reads what root has begun to record, while somebody runs a program.
		in_root cudatrace session start >/dev/null
		for user in member stranger; do
			(while :; do as stranger env LD_LIBRARY_PATH=/opt LD_PRELOAD=/usr/lib/cudatrace/libcudatrace.so /opt/inference; done >/dev/null 2>&1) & runs=$!
			as $user timeout 20 cat /dev/cudatrace 2>&1 | head -n 3 | cut -c 1-100 | sed "s/^/$user reads: /"
			kill $runs
		done
		in_root udevadm control --exit
	END
	chmod +x "$work/start"
	tests/qemu/run --kernel $kernel --no-driver --no-module --share "$work" -- /mnt/share/start >"$work/out" 2>"$work/err"
}

t_boot()
{
	installed
	ok $? "the packages are installed in a root of Debian 12, and DKMS builds their module" || { tail -n 20 "$work"/*.log; return; }
	start
	is $? 0 "a guest starts with it" || tail -n 20 "$work/out" "$work/err"
	is "$(sed -n 's/^before: //p' "$work/out")" " 0" "before systemd's programs have run there is no module"
	is "$(sed -n 's/^loaded: //p' "$work/out")" "1 $version" "modules-load.d loads the packages' module at boot"
	is "$(sed -n 's/^device: //p' "$work/out")" "root cudatrace 666" "udev gives its device to the group; who may do what the module decides"
	is "$(sed -n 's/^member\(:\| calls:\) //p' "$work/out" | paste -sd ' ')" "0 1" "a member of the group records a program"
	is "$(grep -c '^member reads: {"event_id":' "$work/out")" 3 "... and reads what root has begun to record"
	is "$(sed -n 's/^stranger\(:\| calls:\) //p' "$work/out" | paste -sd ' ')" "0 1" "so does a stranger, without the module"
	grep -q '^stranger said: .*: /dev/cudatrace may not be opened by this user (run as root, or: usermod -aG cudatrace USER, then log in again)$' "$work/out"
	ok $? "... who is told why"
	is "$(sed -n 's/^stranger reads: //p' "$work/out")" "cat: /dev/cudatrace: Permission denied" "... and reads nothing" || cat "$work/out"
}

if may_make_roots; then
	run_parts
else
	skip "boot" "needs root, and the right to make namespaces"
fi
plan
