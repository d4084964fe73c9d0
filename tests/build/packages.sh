#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The packages: what `make tarball` and `make wheel` leave, in roots of Debian 11, 12 and 13 that
# have no compiler.  The programs that are recorded there call the simulated libcuda.
#
#	tests/build/packages.sh [--list | --only PATTERN]
#
# Prints TAP.  Needs root, and the network for what the cache does not have.
set -u
cd "$(dirname "$0")/../.."
. tests/judge.sh
. tests/pick.sh
choose_parts "portable tarball wheel" "$@"
work=$PWD/build/tests/packages
rm -rf "$work"
mkdir -p "$work"
version=$(sed -n 's/^.define CT_VERSION.*"\(.*\)".*/\1/p' module/uapi/cudatrace.h)
tarball=build/dist/cudatrace-$version-linux-x86_64.tar.gz
wheel=cudatrace-$version-py3-none-manylinux_2_31_x86_64.whl

# root_of RELEASE: prints a root of this release with Python and pip, made once
root_of()
(
	. tests/qemu/lib.sh
	. tests/qemu/apt.sh
	release=$1
	fill()
	{
		unpack closure "$release" "$release" "$out" python3 python3-venv python3-pip ca-certificates coreutils bash dash grep
		ln -sf dash "$out/usr/bin/sh"
		# What ca-certificates' own script makes when it is installed.  Debian 13's pip does
		# not start without it, not even for a file.
		mkdir -p "$out/etc/ssl/certs"
		cat "$out"/usr/share/ca-certificates/mozilla/*.crt >"$out/etc/ssl/certs/ca-certificates.crt"
		mkdir -p "$out"/{proc,dev,tmp,work}
	}
	make_dir "$cache/packages-root-2/$release" fill
	echo "$cache/packages-root-2/$release"
)

# inside RELEASE COMMAND...: runs it in that root, where $work is /work
inside()
{
	local root
	root=$(root_of "$1") || return 125
	shift
	unshare --mount --net sh -ec '
		root=$1 work=$2
		shift 2
		mount --rbind "$work" "$root/work"
		mount --rbind /dev "$root/dev"
		mount -t proc proc "$root/proc"
		mount -t tmpfs tmpfs "$root/tmp"
		exec chroot "$root" "$@"
	' sh "$root" "$work" env -i PATH=/usr/bin:/bin HOME=/tmp LC_ALL=C LD_LIBRARY_PATH=/work/program "$@" </dev/null
}

# A program and its libcuda that run with glibc 2.31, too; and what the packages are made of.
t_portable()
{
	packaging/portable --with build/tests/sim/libcuda.so.1 --with build/examples/inference build/dist/portable 2>"$work/portable.err"
	ok $? "the command is built in a root of Debian 11" || cat "$work/portable.err"
	mkdir -p "$work/program"
	mv build/dist/portable/extra/build/tests/sim/libcuda.so* build/dist/portable/extra/build/examples/inference "$work/program/"
	rm -rf build/dist/portable/extra
	is "$(packaging/check build/dist/portable 2>&1)" "" "what is in the packages needs glibc 2.31 alone"
	cp -R build/dist/portable "$work/broken"
	cp /bin/true "$work/broken/lib/cudatrace/libcudatrace-gpu.so"
	rm "$work/broken/lib/cudatrace/libcudatrace-nvtx.so"
	echo >"$work/broken/more"
	packaging/check "$work/broken" >"$work/broken.out" 2>&1
	is "$?,$(grep -cE 'nvtx.so is missing|does not belong here|gpu.so needs GLIBC' "$work/broken.out")" 1,3 "a file too much, too few and too new are told" ||
		cat "$work/broken.out"
	rm -rf "$work/broken"
	packaging/make-tarball build/dist/portable "$version" build/dist >/dev/null && packaging/wheel/make-wheel build/dist/portable "$version" build/dist >/dev/null
	ok $? "a tar file and a wheel"
	sum=$(sha256sum "$tarball" "build/dist/$wheel")
	packaging/make-tarball build/dist/portable "$version" build/dist >/dev/null && packaging/wheel/make-wheel build/dist/portable "$version" build/dist >/dev/null
	is "$(sha256sum "$tarball" "build/dist/$wheel")" "$sum" "the same input gives the same bytes"
	cp "build/dist/$wheel" "$work/"
}

# used RELEASE WHAT COMMAND: records the program, and reads the trace, with each format
used()
{
	local release=$1 what=$2 command=$3 format
	is "$(inside "$release" $command --version 2>&1)" "$(build/cudatrace --version)" "$release, $what: it runs" || return
	inside "$release" $command record --gpu --stacks --no-module -f -o /work/trace -- /work/program/inference >"$work/out" 2>"$work/err"
	is $? 0 "$release, $what: records" || cat "$work/err"
	is "$(inside "$release" $command report --format csv --from start --name cuLaunchKernel cuda_api_sum /work/trace 2>/dev/null | sed -n 's/^[^,]*,[^,]*,\([0-9]*\),.*,cuLaunchKernel,.*/\1/p')" \
		"$(build/cudatrace report --format csv --from start --name cuLaunchKernel cuda_api_sum "$work/trace" 2>/dev/null | sed -n 's/^[^,]*,[^,]*,\([0-9]*\),.*,cuLaunchKernel,.*/\1/p')" \
		"$release, $what: reads what it recorded"
	inside "$release" $command explain /work/trace 2>/dev/null | grep -q '^VERDICT'
	ok $? "$release, $what: explain"
	for format in html perfetto sqlite parquet; do
		inside "$release" $command export --format $format -f -o "/work/trace.$format" /work/trace >"$work/out" 2>&1 && [ -e "$work/trace.$format" ]
		ok $? "$release, $what: export --format $format" || cat "$work/out"
		rm -rf "$work/trace.$format"
	done
}

t_tarball()
{
	[ -e "$tarball" ] || { skip "the tar file" "it was not made"; return; }
	tar -C "$work" -xzf "$tarball"
	# Where it is unpacked does not matter.
	mv "$work/cudatrace-$version-linux-x86_64" "$work/moved"
	for release in bullseye trixie; do
		used $release "the tar file" "/work/moved/bin/cudatrace"
	done
}

# environment RELEASE: a new environment of Python with pip in $work/venv.  venv tells nothing of
# why it could not get pip, so that is a step of its own.
environment()
{
	rm -rf "$work/venv"
	inside "$1" python3 -m venv --without-pip /work/venv && inside "$1" /work/venv/bin/python3 -m ensurepip --upgrade --default-pip
}

t_wheel()
{
	[ -e "$work/$wheel" ] || { skip "the wheel" "it was not made"; return; }
	for release in bullseye bookworm trixie; do
		environment $release >"$work/out" 2>&1
		ok $? "$release: a new environment of Python, with pip" || { cat "$work/out"; continue; }
		inside $release /work/venv/bin/pip install --no-index "/work/$wheel" >"$work/out" 2>&1
		ok $? "$release: pip installs the wheel into it" || { cat "$work/out"; continue; }
		used $release "the wheel" /work/venv/bin/cudatrace
		is "$(inside $release /work/venv/bin/python3 -m cudatrace --version 2>&1)" "$(build/cudatrace --version)" "$release: python -m cudatrace"
		inside $release /work/venv/bin/pip uninstall -y cudatrace >"$work/out" 2>&1
		is "$(find "$work/venv" -name '*cudatrace*')" "" "$release: pip takes all of it away"
	done
	inside trixie /work/venv/bin/pip install --no-index --target /work/target "/work/$wheel" >"$work/out" 2>&1
	is "$(inside trixie env PYTHONPATH=/work/target /work/venv/bin/python3 -m cudatrace --version 2>&1)" "$(build/cudatrace --version)" \
		"pip install --target: python -m cudatrace" || cat "$work/out"
}

if [ "$(id -u)" = 0 ] && unshare --mount --net true 2>/dev/null; then
	# What is told while they are made is no output of what is tested.
	for release in bullseye bookworm trixie; do
		root_of $release >/dev/null || ok 1 "a root of $release"
	done
	run_parts
else
	skip "packages" "needs root, and the right to make namespaces"
fi
plan
