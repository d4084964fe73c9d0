# SPDX-License-Identifier: MIT
#
# Kernels of Debian's source of 6.12 with small configurations (source/NAME.config), to watch
# cudatrace.ko: "debug" checks all it can, "bare" has nothing that cudatrace.ko can do without.
# Needs lib.sh and apt.sh.

# Modules are built against the tree that the kernel was built in, cut down to
# what kbuild asks of it.
fill_source_kernel() {
	local name=$1 source=$out/source
	say "building the $name kernel (on 2 processors $([ "$name" = debug ] && echo 8 || echo 3) minutes; once)"
	unpack only bookworm bookworm-security "$out/deb" linux-source-6.12
	mkdir "$source"
	tar -C "$source" --strip-components=1 -xf "$out"/deb/usr/src/linux-source-6.12.tar.*
	rm -rf "$out/deb"
	run_logged "configuring the $name kernel" "$cache/log/$name-config.log" \
		make -C "$source" KCONFIG_ALLCONFIG="$qemu_dir/source/$name.config" allnoconfig
	source_config_holds "$name" "$source/.config"
	run_logged "building the $name kernel" "$cache/log/$name-kernel.log" \
		make -C "$source" -j "$(nproc)" vmlinux modules_prepare
	keep_source_kernel "$source"
	rm -rf "$source"
}

# An option that the source no longer knows, or whose condition is not met, is left out without a
# word; one that another selects is there, though the configuration says that it is not set.
source_config_holds() {
	local name=$1 line wrong=
	while read -r line; do
		case $line in
		CONFIG_*) grep -qxF "$line" "$2" || wrong="$wrong ${line%%=*}" ;;
		"# CONFIG_"*) ! grep -q "^$(cut -d ' ' -f 2 <<< "$line")=" "$2" || wrong="$wrong $line," ;;
		esac
	done < "$qemu_dir/source/$name.config"
	[ -z "$wrong" ] || die "the kernel's source does not give$wrong"
}

# Fills $out with release, vmlinux, modules.cpio (no module: all is built in, which
# modprobe has to be told) and headers/.
keep_source_kernel() {
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

	[ ! -s "$source/certs/signing_key.pem" ] || keep_signing_key "$source/certs" "$headers/keys"

	# modpost wants the symbols of the kernel, which vmlinux alone leaves here.
	cp "$source/vmlinux.symvers" "$source/Module.symvers"
	(cd "$source" && tar -cf - Makefile Kbuild .config Module.symvers include scripts \
		arch/x86/Makefile* arch/x86/include arch/x86/tools tools/objtool/objtool) |
		tar -C "$headers" -xf -
}

# The build makes a key whose signatures this kernel trusts.  A user's kernel gets such a key by
# mokutil; here it lies where packaging/sign looks for one.
keep_signing_key() {
	local certs=$1 keys=$2
	mkdir -p "$keys"
	openssl pkey -in "$certs/signing_key.pem" -out "$keys/cudatrace.key"
	cp "$certs/signing_key.x509" "$keys/cudatrace.der"
}
