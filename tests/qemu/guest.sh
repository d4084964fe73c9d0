# SPDX-License-Identifier: MIT
#
# The guest's root: one initramfs, put together from pieces of the cpio format
# (which may simply be joined): Debian's userland, the kernel's modules, the
# driver with its libcuda, and our own scripts. It is unpacked into memory, so
# it is writable, needs no file system driver, and starts clean at every boot.
# Needs lib.sh, apt.sh, kernel.sh and driver.sh.

guest_root() { echo "$cache/guest"; }

fill_guest() {
	local packages root=$out/root
	say "fetching the guest's userland"
	packages=$(grep -v '^#' "$qemu_dir/guest/packages.txt")
	skip="debconf passwd libpam-modules libpam-modules-bin perl perl-base
		perl-modules-5.36 libperl5.36 dpkg tar login adduser" \
		unpack closure bookworm bookworm "$root" $packages
	rm -rf "$root"/usr/share/{bug,lintian,bash-completion,zoneinfo,perl5,pam*} \
		"$root/$arch_lib/gconv" "$root"/etc/{pam.d,init.d} "$root"/var
	mkdir -p "$root"/{dev,proc,sys,run,tmp,root,var/tmp,mnt/share,mnt/build,mnt/run,home/user}
	chmod 1777 "$root/tmp" "$root/var/tmp"
	chmod 755 "$root" "$root/root"
	ln -sf gawk "$root/usr/bin/awk"
	[ -e "$root/usr/bin/sh" ] || ln -s dash "$root/usr/bin/sh"
	ln -sf /proc/self/mounts "$root/etc/mtab"
	printf '%s\n' root:x:0:0:root:/root:/bin/bash \
		user:x:1000:1000:user:/home/user:/bin/bash \
		nobody:x:65534:65534:nobody:/nonexistent:/bin/false > "$root/etc/passwd"
	printf '%s\n' root:x:0: user:x:1000: nogroup:x:65534: > "$root/etc/group"
	echo guest > "$root/etc/hostname"
	cpio_of "$root" > "$out/root.cpio"
	rm -rf "$root"
}
