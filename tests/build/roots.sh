# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Roots of Debian's releases, for what is installed in them.  Sourced.

# Of the packages.
version=$(sed -n 's/^.define CT_VERSION.*"\(.*\)".*/\1/p' module/uapi/cudatrace.h)

may_make_roots() { [ "$(id -u)" = 0 ] && unshare --mount --net true 2>/dev/null; }

# root_of RELEASE: prints a root of this release with Python and pip, made once
root_of()
(
	. tests/qemu/lib.sh
	. tests/qemu/apt.sh
	release=$1
	fill()
	{
		unpack closure "$release" "$release" "$out" python3 python3-venv python3-pip ca-certificates coreutils bash dash grep \
			dpkg tar gzip sed mawk findutils diffutils libc-bin passwd
		unpack only "$release" "$release" "$out" dkms kmod
		ln -sf dash "$out/usr/bin/sh"
		ln -sf mawk "$out/usr/bin/awk"
		# What their scripts would have made, and what dpkg asks for.
		rm -f "$out/usr/share/debconf/confmodule"
		mkdir -p "$out"/var/lib/dpkg/{info,updates,triggers} "$out"/var/{log,lib/dkms} "$out/lib/modules"
		echo root:x:0:0:root:/root:/bin/sh >"$out/etc/passwd"
		echo root:x:0: >"$out/etc/group"
		for package in libc6 passwd dkms; do
			printf 'Package: %s\nStatus: install ok installed\nMaintainer: tests\nArchitecture: amd64\nVersion: %s\nDescription: unpacked\n\n' \
				$package "$(apt_version "$release" $package)"
		done >"$out/var/lib/dpkg/status"
		# What ca-certificates' own script makes when it is installed.  Debian 13's pip does
		# not start without it, not even for a file.
		mkdir -p "$out/etc/ssl/certs"
		cat "$out"/usr/share/ca-certificates/mozilla/*.crt >"$out/etc/ssl/certs/ca-certificates.crt"
		mkdir -p "$out"/{proc,dev,tmp,work}
	}
	make_dir "$cache/packages-root-3/$release" fill
	echo "$cache/packages-root-3/$release"
)
