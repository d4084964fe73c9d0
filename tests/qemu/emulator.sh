# SPDX-License-Identifier: MIT
#
# QEMU from bookworm-backports, unpacked into the cache with its libraries.
# (Debian 12's own 7.2 fails to boot a 6.12 kernel about once in ten times.)
# Needs lib.sh and apt.sh.

emulator=$cache/qemu

fill_emulator() {
	say "fetching QEMU"
	# The machine's C library has to stay the one of its own dynamic linker.
	skip="libc6 debconf passwd adduser libpam-modules ipxe-qemu" \
		unpack closure bookworm bookworm-backports "$out" qemu-system-x86
}

emulator_env() {
	export LD_LIBRARY_PATH=$emulator/$arch_lib
	export QEMU_MODULE_DIR=$emulator/$arch_lib/qemu
}

# emulator_exec LIMIT OPTION...: becomes a machine with nothing in it but what
# the options say, ended after LIMIT seconds (status 124 or 137). Should the
# parent be killed outright, the machine goes with it.
emulator_exec() {
	local limit=$1
	shift
	emulator_env
	exec setpriv --pdeathsig KILL timeout -k 5 "$limit" \
		setpriv --pdeathsig KILL "$emulator/usr/bin/qemu-system-x86_64" \
		-nodefaults -no-user-config -no-reboot -display none -monitor none \
		-L "$emulator/usr/share/qemu" -L "$emulator/usr/share/seabios" "$@" < /dev/null
}

# A /dev/kvm that can be opened may still not run a kernel (on machines that are
# guests themselves): let one start far enough to miss its root.
probe_kvm() {
	local log
	log=$(mktemp "$cache/log/kvm.XXXXXX")
	(emulator_exec 20 -accel kvm -cpu max -smp 2 -m 512 -kernel "$1" \
		-append "console=ttyS0 panic=-1" -serial "file:$log") > "$log.qemu" 2>&1 &&
		grep -q 'Kernel panic.*VFS' "$log" &&
		echo kvm || echo tcg
	rm -f "$log" "$log.qemu"
}

# What runs the guest's processors, kvm or tcg: CUDATRACE_ACCEL says, or a probe
# once for each start of this machine.
accelerator() {
	local kernel=$1 known
	known=$cache/accelerator-$(cat /proc/sys/kernel/random/boot_id)
	if [ -n "${CUDATRACE_ACCEL:-}" ]; then
		echo "$CUDATRACE_ACCEL"
	elif [ ! -w /dev/kvm ]; then
		echo tcg
	else
		if [ ! -s "$known" ]; then
			rm -f "$cache"/accelerator-*
			probe_kvm "$(kernel_dir "$kernel")/vmlinux" > "$known.part"
			mv "$known.part" "$known"
		fi
		cat "$known"
	fi
}

# The rate in kHz of the counter that emulated processors have: this machine's own.
# Measured once for each start of this machine; nothing where it is not constant.
counter_khz() {
	local known
	known=$cache/counter-$(cat /proc/sys/kernel/random/boot_id)
	grep -qw constant_tsc /proc/cpuinfo || return 0
	if [ ! -s "$known" ]; then
		rm -f "$cache"/counter-*
		gcc -O1 -o "$cache/counter-program" "$qemu_dir/counter.c" || return 0
		"$cache/counter-program" > "$known.part"
		mv "$known.part" "$known"
	fi
	cat "$known"
}
