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
	# What the two modules are built from; the others need a GPU.  The prebuilt core is 17
	# times smaller without its debugging information, and linked and checked that much faster.
	mv "$root"/usr/src/nvidia-*"$upstream" "$out/source"
	rm -rf "$out/source"/nvidia-{drm,modeset,peermem}
	strip --strip-debug "$out/source/nvidia/nv-kernel.o_binary"
	mkdir "$out/lib" "$out/firmware"
	find "$root/usr/lib" -name "lib*.so.$upstream" -exec mv {} "$out/lib/" \;
	ln -s "libcuda.so.$upstream" "$out/lib/libcuda.so.1"
	ln -s "libnvidia-ptxjitcompiler.so.$upstream" "$out/lib/libnvidia-ptxjitcompiler.so.1"
	find "$root" -name 'gsp*.bin' -exec mv {} "$out/firmware/" \;
	rm -rf "$root"
}

# replace FILE SED-SCRIPT: fails where the source is not what was expected.
replace() {
	local before
	before=$(hash_of "$1")
	sed -i -E "$2" "$1"
	[ "$before" != "$(hash_of "$1")" ] || die "the driver's source $1 is not what it was"
}

# Debian's driver predates some changes of the kernel's interfaces. Each is made
# up for only where the headers have it, and none touches what tests look at.
adapt_driver() {
	local source=$1 headers=$2/include/linux file

	# These flags ask the compiler what it can.  They are made out once, not for each of some
	# 250 tests of the kernel.
	replace "$source/Kbuild" 's/^NV_CONFTEST_CFLAGS =$/NV_CONFTEST_CFLAGS :=/'

	# Stable kernels, too: a fourth argument, the BARs to leave where they are.
	if grep -A1 'pci_resize_resource(' "$headers/pci.h" | grep -q exclude_bars; then
		replace "$source/nvidia/nv-pci.c" \
			's/(pci_resize_resource\([^,()]+,[^,()]+,[^,()]+)\)/\1, 0)/'
	fi

	# Sharing page tables with a GPU needs a GPU, and in the kernel an option that
	# only its other users can switch on.
	[ "$kernel" != debug ] || replace "$source/nvidia-uvm/uvm_linux.h" \
		's/(define UVM_CAN_USE_MMU_NOTIFIERS\(\)) 1/\1 0/'

	[ "$kernel" = 7.2 ] || return 0
	# in_irq() became in_hardirq().
	grep -rlE '\bin_irq\(\)' --include='*.[ch]' "$source" | while read -r file; do
		replace "$file" 's/\bin_irq\(\)/in_hardirq()/'
	done
	# strncpy() is gone.
	grep -rlw strncpy --include='*.c' "$source" | while read -r file; do
		replace "$file" \
			'1i #define strncpy(to, from, size) ({ strscpy_pad(to, from, size); (char *)(to); })'
	done
	# The driver copies a function of the kernel that it may call, being GPL too,
	# and writes a member that only the kernel's own functions still may.
	replace "$source/common/inc/nv-mm.h" '
		s/(define NV_CAN_CALL_VMA_START_WRITE) 0/\1 1/
		s/vma->vm_flags \|= flags;/vm_flags_set(vma, flags);/
		s/vma->vm_flags &= ~flags;/vm_flags_clear(vma, flags);/'
	replace "$source/nvidia/nv-dma.c" 's/ops->map_resource != NULL/ops->map_phys != NULL/'
	# Sharing page tables with a GPU needs a GPU; its interface to the kernel changed.
	replace "$source/nvidia-uvm/uvm_linux.h" 's/(define UVM_IS_CONFIG_HMM\(\)) 1/\1 0/'
}

# Where the headers that do not depend on the configuration lie, beside those of
# KDIR.  The debug kernel has one folder for both.
common_of() {
	case $1 in
	*-$flavour) echo "${1%-$flavour}-common" ;;
	*) echo "$1" ;;
	esac
}

# Fills $out with nvidia.ko and nvidia-uvm.ko, without the debugging information
# (ten times the size) but with every symbol that a probe may name.
fill_driver_modules() {
	local kernel=$1 driver=$2 release kdir common
	release=$(kernel_release "$kernel")
	kdir=$(kernel_kdir "$kernel")
	cp -a "$(driver_dir "$driver")/source" "$out/source"
	adapt_driver "$out/source" "$(common_of "$kdir")"
	kdir=$(inner_kdir "$kernel")
	common=$(common_of "$kdir")
	say "building NVIDIA driver $(cat "$(driver_dir "$driver")/version") for $release"
	# No debugging information, which is stripped below anyway, and no BTF: it takes as long
	# as the build, and nothing here reads it.
	run_logged "building the driver" "$cache/log/driver-$driver-$kernel.log" \
		for_kernel "$kernel" make -C "$out/source" -j "$(nproc)" modules \
		SYSSRC="$common" SYSOUT="$kdir" KERNEL_UNAME="$release" \
		NV_KERNEL_MODULES="nvidia nvidia-uvm" IGNORE_CC_MISMATCH=1 \
		CONFIG_DEBUG_INFO_BTF_MODULES= KCFLAGS=-g0
	strip --strip-debug -o "$out/nvidia.ko" "$out/source/nvidia.ko"
	strip --strip-debug -o "$out/nvidia-uvm.ko" "$out/source/nvidia-uvm.ko"
	rm -rf "$out/source"
}

# The driver that a kernel gets if none is asked for: the older, as long as it
# builds, since its names differ most from those of today's.
default_driver() {
	case $1 in
	7.2) echo 550 ;;
	*) echo 535 ;;
	esac
}

need_driver_for() {
	[ "$1 $2" != "7.2 535" ] || die "driver 535 does not build for kernel 7.2; take 550, or --no-driver"
}
