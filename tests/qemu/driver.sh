# SPDX-License-Identifier: MIT
#
# NVIDIA's open kernel driver, built for a kernel, and the userspace library
# and firmware of the same version. Needs lib.sh, apt.sh and kernel.sh.

driver_dir() { echo "$cache/driver/$1"; }

# Where the driver's modules for a kernel lie; keyed by the full release and
# version, so that a new kernel or driver in Debian is never mistaken for the old.
driver_modules() {
	echo "$(driver_dir "$2")/$(kernel_release "$1")"
}

driver_origin() {
	case $1 in
	535) echo bookworm ;;
	550) echo trixie ;;
	esac
}

# driver_unpack ROOT PACKAGE...: packages of the driver's exact upstream version.
driver_unpack() {
	local root=$1 package version packages=
	shift
	for package in "$@"; do
		version=$(apt_version "$origin" "$package" "$upstream-")
		[ -n "$version" ] || die "no $package $upstream in Debian $origin"
		packages="$packages $package=$version"
	done
	unpack only "$origin" "$origin" "$root" $packages
}

# Fills $out with source/ (to build from), lib/ (libcuda and what it opens)
# and firmware/ (of the chips that the fake GPU can claim to be).
fill_driver() {
	local driver=$1 origin upstream root file
	origin=$(driver_origin "$driver")
	upstream=$(apt_version "$origin" nvidia-open-kernel-dkms "$driver.")
	upstream=${upstream%%-*}
	[ -n "$upstream" ] || die "no NVIDIA driver $driver in Debian $origin"
	say "fetching NVIDIA driver $upstream"
	root=$out/root
	driver_unpack "$root" nvidia-open-kernel-dkms libcuda1 libnvidia-ptxjitcompiler1 firmware-nvidia-gsp
	echo "$upstream" > "$out/version"
	mv "$root"/usr/src/nvidia-*"$upstream" "$out/source"
	mkdir "$out/lib" "$out/firmware"
	find "$root/usr/lib" -name "lib*.so.$upstream" -exec mv {} "$out/lib/" \;
	ln -s "libcuda.so.$upstream" "$out/lib/libcuda.so.1"
	ln -s "libnvidia-ptxjitcompiler.so.$upstream" "$out/lib/libnvidia-ptxjitcompiler.so.1"
	find "$root" -name 'gsp*.bin' -exec mv {} "$out/firmware/" \;
	rm -rf "$root"
}

# Later stable kernels gave pci_resize_resource() a fourth argument, the BARs
# to leave where they are; the driver in Debian stable predates it.
adapt_driver() {
	local source=$1 headers=$2
	if grep -A1 'pci_resize_resource(' "$headers/include/linux/pci.h" | grep -q exclude_bars; then
		sed -i -E 's/(pci_resize_resource\([^,()]+,[^,()]+,[^,()]+)\)/\1, 0)/' "$source/nvidia/nv-pci.c"
	fi
}

# Fills $out with nvidia.ko and nvidia-uvm.ko, without the debugging information
# (ten times the size) but with every symbol that a probe may name.
fill_driver_modules() {
	local kernel=$1 driver=$2 kdir common
	kdir=$(kernel_kdir "$kernel")
	common=${kdir%-$flavour}-common
	cp -a "$(driver_dir "$driver")/source" "$out/source"
	adapt_driver "$out/source" "$common"
	say "building NVIDIA driver $(cat "$(driver_dir "$driver")/version") for $(kernel_release "$kernel")"
	# No BTF: it takes as long as the build, and nothing here reads it.
	run_logged "building the driver" "$cache/log/driver-$driver-$kernel.log" \
		make -C "$out/source" -j "$(nproc)" modules \
		SYSSRC="$common" SYSOUT="$kdir" KERNEL_UNAME="$(kernel_release "$kernel")" \
		NV_KERNEL_MODULES="nvidia nvidia-uvm" IGNORE_CC_MISMATCH=1 \
		CONFIG_DEBUG_INFO_BTF_MODULES=
	strip --strip-debug -o "$out/nvidia.ko" "$out/source/nvidia.ko"
	strip --strip-debug -o "$out/nvidia-uvm.ko" "$out/source/nvidia-uvm.ko"
	rm -rf "$out/source"
}
