#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The packages: what `make tarball` and `make wheel` leave, in roots of Debian 11, 12 and 13 that
# have no compiler.  The programs that are recorded there call the simulated libcuda.
#
#	tests/build/packages.sh [--list | --only PATTERN]
#
# Prints TAP.  Needs root, and the network for what the cache does not have.  What is tested is made by the test
# "portable"; without it, it is made first.
set -u
cd "$(dirname "$0")/../.."
. tests/judge.sh
. tests/pick.sh
. tests/build/roots.sh
choose_parts "portable tarball wheel deb image rpm" "$@"
work=$PWD/build/tests/packages
rm -rf "$work"
mkdir -p "$work"
tarball=build/dist/cudatrace-$version-linux-x86_64.tar.gz
wheel=cudatrace-$version-py3-none-manylinux_2_31_x86_64.whl

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

# changed RELEASE SCRIPT: runs SCRIPT in a copy of that root, and prints the files that then differ
# from it, but dpkg's own.  The script's output is in $work/changed.out.
changed()
{
	local root over=$work/over
	root=$(root_of "$1") || return 125
	mkdir -p "$over"
	unshare --mount --net sh -c '
		root=$1 work=$2 over=$3 script=$4
		mount -t tmpfs tmpfs "$over" && mkdir "$over/upper" "$over/work" "$over/root" || exit 125
		mount -t overlay overlay -o "lowerdir=$root,upperdir=$over/upper,workdir=$over/work" "$over/root" || exit 125
		mount --bind "$work" "$over/root/work"
		mount --rbind /dev "$over/root/dev"
		mount -t proc proc "$over/root/proc"
		mount -t tmpfs tmpfs "$over/root/tmp"
		chroot "$over/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C LD_LIBRARY_PATH=/work/program \
			sh -ec "$script" </dev/null >"$work/changed.out" 2>&1 || echo "the script ended with $?"
		cd "$over/upper"
		find . ! -type d | grep -vE "^\./(var/lib/dpkg/|var/log/|var/cache/|etc/(\.pwd\.lock|ld\.so\.cache|[a-z]*-)$|dev/|tmp/)" | sort | while read -r file; do
			# dpkg takes an empty folder away that is no other package'"'"'s.
			{ [ -c "$file" ] && [ -d "$root/$file" ]; } || cmp -s "$file" "$root/$file" || echo "${file#.}"
		done' sh "$root" "$work" "$over" "$2"
}

# packages OUT: all of them, from the portable installation
packages()
{
	local make
	rm -f "$1"/*.{tar.gz,whl,deb,rpm}
	for make in make-tarball wheel/make-wheel deb/make-deb rpm/make-rpm; do
		"packaging/$make" build/dist/portable "$version" "$1" >/dev/null || return
	done
}

# A program and its libcuda that run with glibc 2.31, too; and what the packages are made of.
portable()
{
	packaging/portable --with build/tests/sim/libcuda.so.1 --with build/examples/inference build/dist/portable 2>"$work/portable.err" || return
	mkdir -p "$work/program"
	mv build/dist/portable/extra/build/tests/sim/libcuda.so* build/dist/portable/extra/build/examples/inference "$work/program/"
	rm -rf build/dist/portable/extra
}

t_portable()
{
	portable
	ok $? "the command is built in a root of Debian 11" || cat "$work/portable.err"
	is "$(packaging/check build/dist/portable 2>&1)" "" "what is in the packages needs glibc 2.31 alone"
	cp -R build/dist/portable "$work/broken"
	cp /bin/true "$work/broken/lib/cudatrace/libcudatrace-gpu.so"
	rm "$work/broken/lib/cudatrace/libcudatrace-nvtx.so"
	echo >"$work/broken/more"
	packaging/check "$work/broken" >"$work/broken.out" 2>&1
	is "$?,$(grep -cE 'nvtx.so is missing|does not belong here|gpu.so needs GLIBC' "$work/broken.out")" 1,3 "a file too much, too few and too new are told" ||
		cat "$work/broken.out"
	rm -rf "$work/broken"
	packages build/dist
	ok $? "a tar file, a wheel, and packages"
	sum=$(cd build/dist && sha256sum *.tar.gz *.whl *.deb *.rpm)
	packages build/dist
	is "$(cd build/dist && sha256sum *.tar.gz *.whl *.deb *.rpm)" "$sum" "the same input gives the same bytes"
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

# sources_are DIR: DIR has what `make dkms-install` copies.
sources_are()
{
	is "$(ls "$1" | paste -sd ' ') $(for file in Kbuild dkms.conf module; do diff -r $file "$1/$file"; done)" "Kbuild dkms.conf module " \
		"DKMS gets the module's sources, and nothing else"
	[ -x "$1/module/conftest/run" ]
	ok $? "its script can be executed"
}

t_deb()
{
	local release left debs="cudatrace_${version}_amd64 cudatrace-dkms_${version}_all libcudatrace-dev_${version}_all" deb
	rm -rf "$work/deb" "$work/newer"
	mkdir -p "$work/deb" "$work/src"
	for deb in $debs; do
		cp "build/dist/$deb.deb" "$work/deb/" || { skip "$deb.deb" "it was not made"; return; }
	done
	# Who answers for a package is who builds it (MAINTAINER).
	is "$(lintian --allow-root --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact "$work"/deb/*.deb 2>&1)" "" "lintian"
	dpkg-deb -x "$work/deb/cudatrace-dkms_${version}_all.deb" "$work/src"
	sources_are "$work/src/usr/src/cudatrace-$version"
	packaging/deb/make-deb build/dist/portable 99.1 "$work/newer" >/dev/null
	for release in bullseye bookworm trixie; do
		left=$(changed $release '
			dpkg -i /work/deb/*.deb
			echo "version: $(cudatrace --version)"
			echo "group: $(getent group cudatrace | cut -d : -f 1)"
			cudatrace record -q --no-module -f -o /tmp/trace -- /work/program/inference
			echo "verdict: $(cudatrace explain /tmp/trace | grep -c ^VERDICT)"
			echo "dkms: $(dkms status)"
			ls /usr/include/cudatrace/cudatrace.h /usr/share/man/man1/cudatrace-record.1.gz')
		is "$(sed -n 's/^\(version\|group\|verdict\): //p' "$work/changed.out" | paste -sd ' ')" "$(build/cudatrace --version) cudatrace 1" "$release: the packages work" ||
			cat "$work/changed.out"
		grep -q '^dkms: cudatrace.*added' "$work/changed.out"
		ok $? "$release: DKMS knows the module" || cat "$work/changed.out"
		is "$(grep -c ^/usr/bin/cudatrace <<<"$left")" 1 "$release: and the files are there"
		left=$(changed $release '
			dpkg -i /work/deb/*.deb
			dpkg -i /work/newer/*.deb
			echo "dkms: $(dkms status)"
			find / -xdev -name "cudatrace-'"$version"'*" | sed "s/^/old: /"
			dpkg --purge cudatrace cudatrace-dkms libcudatrace-dev
			getent group cudatrace || true')
		is "$(grep -E '^(dkms|old):' "$work/changed.out" | grep -oE '^old.*|^dkms: [^:]*[/,] *99\.1' | tr -d ' ' | tr / ,)" "dkms:cudatrace,99.1" "$release: an upgrade leaves nothing of the old version" ||
			cat "$work/changed.out"
		is "$left" "" "$release: purging leaves nothing" || cat "$work/changed.out"
	done
}

# The image of the Dockerfile, on the root of Debian 12 in place of the image that it begins from.
t_image()
{
	local where=$work/image container size build
	local -x BUILDAH_ISOLATION=chroot
	build="buildah --storage-driver vfs --root $where/storage --runroot $where/run"
	command -v buildah >/dev/null || { skip "the image" "buildah is not installed"; return; }
	[ -e "build/dist/cudatrace_${version}_amd64.deb" ] || { skip "the image" "its package was not made"; return; }
	rm -rf "$where"
	mkdir -p "$where"
	{
		container=$($build from scratch) &&
		$build add -q "$container" "$(root_of bookworm)" / &&
		$build config --env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$container" &&
		$build commit -q "$container" docker.io/library/debian:12-slim
	} >"$where/base" 2>&1 || { skip "the image" "buildah can't make one here: $(tail -n 1 "$where/base")"; return; }
	$build bud -q --pull-never -t cudatrace -f packaging/container/Dockerfile build/dist >"$where/out" 2>&1
	ok $? "the Dockerfile makes an image" || cat "$where/out"
	size=$($build images --format '{{.Name}} {{.Size}}' |
		awk '{ mb[$1] = $2 * ($3 == "GB" ? 1000 : $3 == "KB" ? 0.001 : 1) } END { print mb["localhost/cudatrace"] - mb["docker.io/library/debian"] }')
	awk -v mb="$size" 'BEGIN { exit !(mb > 1 && mb < 30) }'
	ok $? "of $size MB more than the one that it begins from"
	container=$($build from --pull-never localhost/cudatrace)
	is "$($build run "$container" -- cudatrace --version 2>&1)" "$(build/cudatrace --version)" "the command runs in it"
	is "$($build inspect --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}' "$container")" "[/usr/bin/cudatrace] [doctor]" "and is what it starts"
	$build run "$container" -- cudatrace doctor --selftest >"$where/out" 2>&1
	grep -q '^ok .*selftest: 100,000 ranges are recorded' "$where/out"
	ok $? "and records there" || cat "$where/out"
	rm -rf "$where"
}

t_rpm()
{
	local rpms="build/dist/cudatrace-$version-1.x86_64.rpm build/dist/cudatrace-dkms-$version-1.noarch.rpm build/dist/cudatrace-devel-$version-1.noarch.rpm"
	local root=$work/rpm
	ls $rpms >/dev/null 2>&1 || { skip "the packages of rpm" "they were not made"; return; }
	rpmlint -c packaging/rpm/rpmlint.toml $rpms >"$work/rpmlint.out" 2>&1
	grep -q ' 0 errors, 0 warnings' "$work/rpmlint.out"
	ok $? "rpmlint" || cat "$work/rpmlint.out"
	rm -rf "$root"
	mkdir "$root"
	# Debian's rpm keeps its list below $HOME.
	rpm --root "$root" --dbpath /rpm --nodeps --noscripts -i $rpms >"$work/out" 2>&1
	ok $? "rpm installs them" || cat "$work/out"
	is "$("$root/usr/bin/cudatrace" --version)" "$(build/cudatrace --version)" "the command runs"
	sources_are "$root/usr/src/cudatrace-$version"
	rpm --root "$root" --dbpath /rpm --nodeps --noscripts -e cudatrace cudatrace-dkms cudatrace-devel >"$work/out" 2>&1
	is "$(find "$root" -path "$root/rpm" -prune -o -type f -print)" "" "and takes all of them away"
}

if may_make_roots; then
	# What is told while they are made is no output of what is tested.
	for release in bullseye bookworm trixie; do
		root_of $release >/dev/null || ok 1 "a root of $release"
	done
	[[ " $parts " == *" portable "* ]] || { portable && packages build/dist && cp "build/dist/$wheel" "$work/"; } ||
		{ ok 1 "what is tested is made"; cat "$work/portable.err"; }
	run_parts
else
	skip "packages" "needs root, and the right to make namespaces"
fi
plan
