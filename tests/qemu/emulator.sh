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

# Runs a program of that QEMU; "exec" in front keeps the caller's process id.
emulator_env() {
	export LD_LIBRARY_PATH=$emulator/$arch_lib
	export QEMU_MODULE_DIR=$emulator/$arch_lib/qemu
}
