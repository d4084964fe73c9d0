#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The build and the installation: what `make` leaves, `make install`, DKMS.
#
#	tests/build/run.sh [--dkms KERNEL] [--list | --only PATTERN]
#
# Prints TAP.
set -u
cd "$(dirname "$0")/../.."
. tests/judge.sh
. tests/pick.sh
# DKMS builds for one kernel in `make test`, and for another one in `make test-kernels`.
names="tree install sign dkms" dkms_kernel=6.1
[ "${1:-}" != --dkms ] || { names=dkms dkms_kernel=$2; shift 2; }
choose_parts "$names" "$@"
work=$PWD/build/tests/install-$dkms_kernel
rm -rf "$work"
mkdir -p "$work"

# What is in the tree, and what make leaves in build/.
t_tree()
{
	[ -x build/cudatrace ] && [ -e build/libcudatrace.so ] && [ -e build/libcudatrace-nvtx.so ]
	ok $? "make leaves build/cudatrace, build/libcudatrace.so and its plugin"
	for tree in module userlib cli; do
		is "$(tests/build/layers includes $tree)" "" "$tree: includes point downwards, without a circle"
		is "$(tests/build/layers sizes $tree)" "" "$tree: no folder has too many sources, no source too many lines"
	done
	for tree in userlib cli; do
		is "$(tests/build/layers calls $tree)" "" "$tree: calls point downwards, without a circle"
	done
	if [ -d .git ]; then
		is "$(git status --porcelain --ignored -- Kbuild module userlib cli tests examples | grep -v '\.swp$' | grep '^!!')" "" "the build writes nothing beside the sources"
	fi
	bad=$(git ls-files 2>/dev/null | grep -vE '^(LICENSE|tests/fuzz/(mended|seeds)/.*|.*\.(png|txt|md|json|in|xz)|.gitignore)$' | while read -r f; do
		[ -s "$f" ] && ! head -n 5 "$f" | grep -q SPDX-License-Identifier && echo "$f"; done)
	is "$bad" "" "every source file names its licence"
	tests/build/documents >"$work/documents"
	ok $? "the documents name files that exist, README.md is short, docs/mutations.md is in step" || cat "$work/documents"
	is "$(nm -D --defined-only build/libcudatrace.so | awk '$3 !~ /^(dlsym|dlvsym|ioctl|InitializeInjection|cudatrace_.*|LIBCUDATRACE_.*)(@.*)?$/ {print $3}' | tr '\n' ' ')" "" "the library exports dlsym, dlvsym, ioctl, InitializeInjection and cudatrace_* alone"
	is "$(nm -D --defined-only build/libcudatrace-nvtx.so | awk '{print $3}')" InitializeInjectionNvtx2 "the NVTX plugin exports what NVTX calls"
	is "$(readelf -d build/libcudatrace{,-nvtx}.so | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|ld-linux-x86-64\.so\.2)$')" "" "and both need libc alone"
	is "$(nm -D --undefined-only build/libcudatrace{,-nvtx}.so | grep -oE 'GLIBC_2\.(1[89]|[2-9][0-9]).*')" "" "... a libc of 2013 is enough"
}

# make install and make uninstall.
t_install()
{
	make -s install DESTDIR="$work/root" PREFIX=/usr >"$work/install.log" 2>&1
	ok $? "make install" || cat "$work/install.log"
	"$work/root/usr/bin/cudatrace" record -q --no-module -o "$work/trace" -- true 2>"$work/record.err"
	ok $? "the installed command finds its installed library" || cat "$work/record.err"
	is "$(find "$work/root" -name 'libcuda.so*')" "" "the simulated libcuda is not installed"

	for file in udev/rules.d/60-cudatrace.rules sysusers.d/cudatrace.conf modules-load.d/cudatrace.conf modprobe.d/cudatrace.conf; do
		[ -s "$work/root/usr/lib/$file" ]
		ok $? "make install puts $file in place"
	done
	grep -q '^KERNEL=="cudatrace".*GROUP="cudatrace"' "$work/root/usr/lib/udev/rules.d/60-cudatrace.rules"
	ok $? "the udev rule gives the device its group"
	make -s uninstall DESTDIR="$work/root" PREFIX=/usr
	is "$(find "$work/root" -type f)" "" "make uninstall takes all of it away"
}

# make sign.
t_sign()
{
	# With the flags of the guests' suites, so that the module is built once.
	kdir=$(tests/qemu/kdir --kernel 6.1 2>"$work/kdir.log")
	if [ -e "$kdir/Makefile" ]; then
		release=$(tests/qemu/kdir --release --kernel 6.1)
		make -s -j2 sign KDIR="$kdir" W=1e KEYS="$work/keys" >"$work/sign.log" 2>&1
		ok $? "make sign" || tail -n 5 "$work/sign.log"
		is "$(tests/build/layers calls module "build/$release/module")" "" "module: calls point downwards, without a circle"
		is "$(modinfo -F signer "build/$release/cudatrace.ko")" "cudatrace module signing key of $(uname -n)" "modinfo shows the signer"
		grep -q 'mokutil --import' "$work/sign.log"
		ok $? "and it says how the key is enrolled"
		is "$(stat -c %a "$work/keys/cudatrace.key")" 600 "the key is its owner's alone"
		sum=$(sha256sum <"$work/keys/cudatrace.key")
		make -s -j2 sign KDIR="$kdir" W=1e KEYS="$work/keys" >"$work/sign2.log" 2>&1
		is "$(sha256sum <"$work/keys/cudatrace.key")" "$sum" "the key is made once"
		size=$(stat -c %s "build/$release/cudatrace.ko")
		openssl x509 -inform DER -in "$work/keys/cudatrace.der" -out "$work/keys/cert.pem"
		# The signature is the module's last bytes but 40: a PKCS#7 over what is before it.
		length=$(tail -c 32 "build/$release/cudatrace.ko" | head -c 4 | od -An -tu1 | awk '{print (($1 * 256 + $2) * 256 + $3) * 256 + $4}')
		head -c $((size - 40 - length)) "build/$release/cudatrace.ko" >"$work/keys/unsigned.ko"
		tail -c $((40 + length)) "build/$release/cudatrace.ko" | head -c "$length" >"$work/keys/signature"
		openssl cms -verify -inform DER -in "$work/keys/signature" -content "$work/keys/unsigned.ko" -binary \
			-certfile "$work/keys/cert.pem" -CAfile "$work/keys/cert.pem" -purpose any -nointern -out /dev/null 2>"$work/verify.log"
		ok $? "openssl finds the signature right" || cat "$work/verify.log"
	else
		skip "signing: the headers of 6.1 can't be had: $(tail -n 1 "$work/kdir.log")"
	fi
}

# make dkms-install.
t_dkms()
{
	local kernel=$dkms_kernel kdir release
	kdir=$(tests/qemu/kdir --kernel $kernel 2>"$work/kdir.log")
	if [ ! -e "$kdir/Makefile" ]; then
		skip "DKMS for $kernel: its headers can't be had: $(tail -n 1 "$work/kdir.log")"
		return
	fi
	release=$(tests/qemu/kdir --release --kernel $kernel)
	mkdir -p "$work/dkms-$kernel" "$work/src-$kernel" "$work/lib-$kernel/$release"
	make -s dkms-install DKMS_SRC="$work/src-$kernel" \
		DKMS_ARGS="--dkmstree $work/dkms-$kernel --sourcetree $work/src-$kernel --installtree $work/lib-$kernel" \
		DKMS_KERNEL="--no-depmod -k $release --kernelsourcedir $kdir" >"$work/dkms-$kernel.log" 2>&1
	ok $? "make dkms-install builds for $release" || tail -n 15 "$work/dkms-$kernel.log"
	find "$work/lib-$kernel" -name 'cudatrace.ko*' | grep -q .
	ok $? "and installs the module" || tail -n 15 "$work/dkms-$kernel.log"
}

run_parts
plan
