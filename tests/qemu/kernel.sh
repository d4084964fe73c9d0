# SPDX-License-Identifier: MIT
#
# Kernels and the headers to build modules against, unpacked from Debian's
# packages into the cache. Needs lib.sh and apt.sh.

# The Debian release and the suite that a kernel comes from.
kernel_origin() {
	case $1 in
	6.1) echo "bookworm bookworm" ;;
	6.12) echo "bookworm bookworm-backports" ;;
	7.2) echo "trixie trixie-backports" ;;
	esac
}

# The newest cloud kernel of a series for which headers exist too.
newest_release() {
	local origin package
	origin=$(kernel_origin "$1")
	package=$(apt_newest "${origin%% *}" "linux-headers-${1//./\\.}\\.[0-9]+(-[0-9]+|\\+deb[0-9.]+)-cloud-amd64")
	[ -n "$package" ] || die "no headers of kernel $1 in Debian ${origin#* }"
	echo "${package#linux-headers-}"
}

# Packages are built to lie at the root of a machine. These lie in the cache:
# every absolute path of the makefiles, and every absolute link, gets the
# folder that they really lie in.
relocate_headers() {
	local root=$1 final=$2 link
	grep -rlE --include=Makefile --include=.kernelvariables '/usr/(src|lib)/linux-' "$root/usr/src" 2>/dev/null |
		while read -r file; do
			sed -i -E "s#(^|[^A-Za-z0-9_./-])/usr/(src|lib)/linux-#\1$final/usr/\2/linux-#g" "$file"
		done
	find "$root" -type l -lname '/*' | while read -r link; do
		ln -sfn "$final$(readlink "$link")" "$link"
	done
}

# What the guest needs to start, and what a test may want to load.
guest_modules="virtio_pci virtio_console 9pnet_virtio 9p overlay loop ext4"

# fill_modules ROOT RELEASE: the wanted modules with all that they depend on,
# decompressed (quicker here than in the guest), in a tree that modprobe reads.
fill_modules() {
	local root=$1 release=$2 tree=$out/tree/usr/lib/modules/$release module file
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
		*.ko.zst) zstd -qdc "$file" > "$tree/$(basename "$file" .zst)" ;;
		esac
	done
	# The names alone: depmod looks the folder through.
	depmod -b "$out/tree/usr" "$release" 2>/dev/null || depmod -b "$out/tree" "$release"
}

fill_kernel() {
	local kernel=$1 origin release image root=$out/root
	origin=$(kernel_origin "$kernel")
	release=$(newest_release "$kernel")
	say "fetching kernel $release"
	echo "$release" > "$out/release"
	image=linux-image-$release
	[ "$kernel" != 7.2 ] || image=linux-binary-$release
	# Signing takes Debian a while: the unsigned image is there first.
	[ -n "$(apt_version "${origin% *}" "$image")" ] || image=${image/-$release/-unsigned-$release}
	unpack only $origin "$root" $image
}
