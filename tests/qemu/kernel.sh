# SPDX-License-Identifier: MIT
#
# Kernels and the headers to build modules against, unpacked from Debian's
# packages into the cache. Needs lib.sh and apt.sh.

# The cloud flavours boot a little quicker but have no 9p, which is how the
# guest sees folders of the host; this is also the flavour that most users run.
flavour=amd64

# The Debian release and the suite that a kernel comes from.
kernel_origin() {
	case $1 in
	5.10) echo "bullseye bullseye" ;;
	6.1) echo "bookworm bookworm" ;;
	6.12) echo "bookworm bookworm-backports" ;;
	7.2) echo "trixie trixie-backports" ;;
	esac
}

# The newest kernel of a series for which headers exist too.
newest_release() {
	local origin package
	origin=$(kernel_origin "$1")
	package=$(apt_newest "${origin%% *}" "linux-headers-${1//./\\.}\\.[0-9]+(-[0-9]+|\\+deb[0-9.]+)-$flavour") || exit
	[ -n "$package" ] || die "no headers of kernel $1 in Debian ${origin#* }"
	echo "${package#linux-headers-}"
}

# Packages are built to lie at the root of a machine. These lie in the cache: every
# absolute path of the makefiles, and every absolute link, is made one from where it
# stands, so that the cache may be moved.
relocate_headers() {
	local root=$1 link
	local here='$(abspath $(dir $(lastword $(MAKEFILE_LIST)))../../..)'
	grep -rlE --include=Makefile --include=.kernelvariables '/usr/(src|lib)/linux-' "$root/usr/src" 2>/dev/null |
		while read -r file; do
			sed -i -E "s#(^|[^A-Za-z0-9_./)-])/usr/(src|lib)/linux-#\1$here/usr/\2/linux-#g" "$file"
		done
	find "$root" -type l -lname '/*' | while read -r link; do
		ln -sfnr "$root$(readlink "$link")" "$link"
	done
}

# What the guest needs to start, and what a test may want to load.
guest_modules="virtio_pci virtio_console 9pnet_virtio 9p overlay loop ext4 drm video"

# fill_modules ROOT RELEASE: the wanted modules with all that they depend on,
# decompressed (quicker here than in the guest), in a tree that modprobe reads.
fill_modules() {
	local root=$1 release=$2 module file
	local tree=$out/tree/usr/lib/modules/$release
	depmod -b "$root" "$release"
	mkdir -p "$tree"
	cp "$root/lib/modules/$release"/modules.{order,builtin,builtin.modinfo} "$tree/"
	for module in $guest_modules; do
		modprobe -d "$root" -S "$release" --show-depends "$module" |
			awk '$1 == "insmod" { print $2 }'
	done | awk '!seen[$0]++' | while read -r file; do
		case $file in
		*.ko) cp "$file" "$tree/" ;;
		*.ko.xz) xz -dc "$file" > "$tree/$(basename "$file" .xz)" ;;
		esac
	done
	depmod -b "$out/tree/usr" "$release"
}

number_at() { od -A n -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '; }

# unpack_kernel VMLINUZ VMLINUX: a kernel that unpacks itself does so under
# emulation, which takes longer than all the rest of its start. QEMU starts the
# bare ELF file too, by the PVH entry. The header's fields are those of the
# kernel's Documentation/arch/x86/boot.rst; the last four bytes of what is
# packed are its size and none of the packer's.
unpack_kernel() {
	local setup start length packer
	setup=$(number_at "$1" $((0x1f1)) 1)
	start=$(((setup + 1) * 512 + $(number_at "$1" $((0x248)) 4)))
	length=$(($(number_at "$1" $((0x24c)) 4) - 4))
	case $(od -A n -t x1 -j "$start" -N 4 "$1") in
	" fd 37 7a 58") packer=xz ;;
	" 28 b5 2f fd") packer=zstd ;;
	*) die "$1 is packed in a way that is not known here" ;;
	esac
	head -c $((start + length)) "$1" | tail -c "$length" | $packer -dc > "$2"
}

# Fills $out with release, vmlinux, modules.cpio and, where they can be used on
# Debian 12 as they are, headers/.
fill_kernel() {
	local kernel=$1 origin release root=$out/root headers scripts packages packed
	origin=$(kernel_origin "$kernel")
	release=$(newest_release "$kernel")
	say "fetching kernel $release"
	echo "$release" > "$out/release"

	packages=linux-image-$release
	[ "$kernel" != 7.2 ] || packages="linux-binary-$release linux-modules-$release linux-base-$release"
	# $origin is two words.
	unpack only $origin "$root" $packages
	packed=$root/boot/vmlinuz-$release
	[ "$kernel" != 7.2 ] || packed=$root/usr/lib/modules/$release/vmlinuz
	unpack_kernel "$packed" "$out/vmlinux"
	fill_modules "$root" "$release"
	cpio_of "$out/tree" > "$out/modules.cpio"
	rm -rf "$root" "$out/tree"

	[ -z "$(build_root "$kernel")" ] || return 0
	headers=linux-headers-$release
	scripts=$(apt_dependency "${origin% *}" "$headers" 'linux-kbuild-.*')
	unpack only $origin "$out/headers" "$headers" "${headers%-$flavour}-common" "$scripts"
	relocate_headers "$out/headers"
}

# Headers of another Debian than 12 want its compiler and C library: they lie in a root of
# that release (build_root). Packages are only unpacked there, not set up: a compiler and
# make need no more than that.
fill_build_root() {
	local kernel=$1 origin release headers scripts compiler libraries
	origin=$(kernel_origin "$kernel")
	release=$(kernel_release "$kernel")
	headers=linux-headers-$release
	case $kernel in
	5.10) compiler=gcc-10 libraries="libelf1 libssl1.1" ;;
	7.2) compiler=gcc-14 libraries="libelf1t64 libssl3t64 pahole" ;;
	esac
	say "fetching a root of ${origin% *} to build modules for $release in"
	scripts=$(apt_dependency "${origin% *}" "$headers" 'linux-kbuild-.*')
	# $libraries is several words, and so is $origin.
	skip="debconf perl perl-base perl-modules-5.32 perl-modules-5.40 libperl5.32 libperl5.40t64" \
		unpack closure "${origin% *}" "${origin% *}" "$out/root" \
		$compiler make dash bash coreutils sed grep gawk mawk findutils diffutils \
		$libraries zlib1g libc6-dev binutils libc-bin
	unpack only $origin "$out/root" "$headers" "${headers%-$flavour}-common" "$scripts"
	ln -sf gawk "$out/root/usr/bin/awk"
	ln -sf $compiler "$out/root/usr/bin/gcc"
	ln -sf $compiler "$out/root/usr/bin/cc"
	[ -e "$out/root/usr/bin/sh" ] || ln -s dash "$out/root/usr/bin/sh"
	mkdir -p "$out/root"/{proc,dev,tmp}
}

# for_kernel KERNEL COMMAND...: runs COMMAND where modules for KERNEL can be
# built: here, or inside the kernel's build root with the repository and the cache at
# their usual places. The mounts are private to the command and end with it.
for_kernel() {
	local root
	root=$(build_root "$1")
	shift
	if [ -z "$root" ]; then
		"$@"
		return
	fi
	unshare --mount sh -ec '
		root=$1 top=$2 cache=$3 dir=$PWD
		shift 3
		for place in "$top" "$cache" /tmp /dev; do
			mkdir -p "$root$place"
			mount --rbind "$place" "$root$place"
		done
		mount -t proc proc "$root/proc"
		exec chroot "$root" /bin/sh -ec "cd \"\$0\" && exec \"\$@\"" "$dir" "$@"
	' sh "$root/root" "$top" "$cache" "$@"
}

# The headers' folder as the command that for_kernel runs sees it.
inner_kdir() {
	local root
	root=$(build_root "$1")
	kernel_kdir "$1" | sed "s#^${root:-//}/root/#/#"
}

# kbuild KERNEL FOLDER ARGUMENT...: builds the module whose Kbuild file and
# sources lie in FOLDER, in place: hand it a copy.
kbuild() {
	local kernel=$1 folder=$2
	shift 2
	# With W=1 it would check comments too, by perl, which is not in that root.
	[ "$kernel" != 5.10 ] || set -- "$@" cmd_checkdoc=
	for_kernel "$kernel" make -C "$(inner_kdir "$kernel")" -j "$(nproc)" M="$folder" "$@" modules
}

fake_gpu_dir() {
	echo "$cache/fake_gpu/$(kernel_release "$1")-$(hash_of "$qemu_dir"/fake_gpu/*)"
}

fill_fake_gpu() {
	cp "$qemu_dir"/fake_gpu/{Kbuild,*.c} "$out/"
	run_logged "building the fake GPU" "$cache/log/fake_gpu-$1.log" kbuild "$1" "$out"
}

# What a guest on emulated processors loads first.  5.10 changes code in a function that cannot be
# hooked, and forgives a breakpoint that is no longer there.  The bare kernel changes none of its code.
wants_stale_code() { ! is_one_of "$1" "5.10 bare"; }

stale_code_dir() {
	echo "$cache/stale_code/$(kernel_release "$1")-$(hash_of "$qemu_dir"/stale_code/*)"
}

fill_stale_code() {
	cp "$qemu_dir"/stale_code/{Kbuild,*.c} "$out/"
	run_logged "building stale_code" "$cache/log/stale_code-$1.log" kbuild "$1" "$out"
}
