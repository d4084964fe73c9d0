# SPDX-License-Identifier: MIT
#
# The debug kernel: Debian's source of 6.12 with a small configuration
# (debug/config) that checks all it can. It exists to watch cudatrace.ko. Needs lib.sh
# and apt.sh.

# Modules are built against the tree that the kernel was built in, cut down to
# what kbuild asks of it.
fill_debug_kernel() {
	local source=$out/source release headers
	say "building the debug kernel (on 2 processors 8 minutes; once)"
	unpack only bookworm bookworm-security "$out/deb" linux-source-6.12
	mkdir "$source"
	tar -C "$source" --strip-components=1 -xf "$out"/deb/usr/src/linux-source-6.12.tar.*
	rm -rf "$out/deb"
	run_logged "configuring the debug kernel" "$cache/log/debug-config.log" \
		make -C "$source" KCONFIG_ALLCONFIG="$qemu_dir/debug/config" allnoconfig
	debug_config_holds "$source/.config"
	run_logged "building the debug kernel" "$cache/log/debug-kernel.log" \
		make -C "$source" -j "$(nproc)" vmlinux modules_prepare
	keep_debug_kernel "$source"
	rm -rf "$source"
}

# An option that the source no longer knows, or whose condition is not met, is
# left out without a word.
debug_config_holds() {
	local line missing=
	while read -r line; do
		grep -qxF "$line" "$1" || missing="$missing ${line%%=*}"
	done < <(grep '^CONFIG_' "$qemu_dir/debug/config")
	[ -z "$missing" ] || die "the kernel's source does not give$missing"
}

# Fills $out with release, vmlinux, modules.cpio (no module: all is built in, which
# modprobe has to be told) and headers/.
keep_debug_kernel() {
	local source=$1 release headers tree
	release=$(make -s -C "$source" kernelrelease)
	headers=$out/headers/usr/src/linux-headers-$release
	tree=$out/tree/usr/lib/modules/$release
	echo "$release" > "$out/release"
	strip -o "$out/vmlinux" "$source/vmlinux"

	mkdir -p "$tree" "$headers"
	: > "$tree/modules.order"
	cp "$source"/modules.{builtin,builtin.modinfo} "$tree/"
	depmod -b "$out/tree/usr" "$release"
	cpio_of "$out/tree" > "$out/modules.cpio"
	rm -rf "$out/tree"

	# modpost wants the symbols of the kernel, which vmlinux alone leaves here.
	cp "$source/vmlinux.symvers" "$source/Module.symvers"
	(cd "$source" && tar -cf - Makefile Kbuild .config Module.symvers include scripts \
		arch/x86/Makefile* arch/x86/include arch/x86/tools tools/objtool/objtool) |
		tar -C "$headers" -xf -
}
