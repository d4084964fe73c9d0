# SPDX-License-Identifier: MIT
#
# What the scripts of tests/qemu share: where things lie, how they complain,
# how a step is done exactly once. Sourced by bash; writes only into the cache.

set -euo pipefail
# A caller's language or MAKEFLAGS must not change what tools print or build.
export LC_ALL=C
unset MAKEFLAGS MAKELEVEL MFLAGS KBUILD_OUTPUT CDPATH

qemu_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$qemu_dir/../.." && pwd)
build=${CUDATRACE_BUILD:-$top/build}
cache=${CUDATRACE_CACHE:-$build/cache}
me="tests/qemu/$(basename "$0")"

kernels="5.10 6.1 6.12 7.2"	# of Debian; "all" means these
source_kernels="debug bare"	# built from Debian's source
any_kernel="$kernels $source_kernels"
drivers="535 550"
arch_lib=usr/lib/x86_64-linux-gnu

say() { echo "$me: $*" >&2; }

# The guest's own command may end with any status below 125, so that a status
# of 125 or more from these scripts is about them and not about the command.
die() {
	say "$*"
	exit 125
}

usage_die() {
	say "$* (try --help)"
	exit 125
}

# The leading comment of a script, without the licence line, is its help.
help_of() {
	awk 'NR <= 3 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$1"
}

is_one_of() {
	local wanted=$1 word
	shift
	for word in $*; do
		[ "$word" = "$wanted" ] && return 0
	done
	return 1
}

# need_packages FILE...: each line is "package  a-program-it-brings".
need_packages() {
	local package program missing=
	while read -r package program _; do
		case $package in '' | '#'*) continue ;; esac
		[ -e "$program" ] || command -v "$program" >/dev/null ||
			PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null ||
			missing="$missing $package"
	done < <(cat "$@")
	[ -z "$missing" ] || die "missing packages; install them with: apt-get install -y$missing"
}

# Takes the cache's lock for as long as this process lives. Children that may
# stay behind must not inherit it.
lock_cache() {
	[ -z "${cache_locked:-}" ] || return 0
	mkdir -p "$cache"
	exec 9> "$cache/lock"
	if ! flock -n 9; then
		say "waiting for another preparation to finish"
		flock 9
	fi
	cache_locked=1
}

# make_dir DIR COMMAND...: DIR exists only once COMMAND, which fills the folder
# named by $out, has succeeded: a step that was cut short is started afresh.
# Only whoever finds DIR missing waits for the lock.
make_dir() {
	local dir=$1 out
	shift
	[ ! -d "$dir" ] || return 0
	lock_cache
	[ ! -d "$dir" ] || return 0
	out=$dir.part
	rm -rf "$out"
	mkdir -p "$out"
	out=$out "$@"
	mv "$out" "$dir"
}

# run_logged WHAT LOG COMMAND...: quiet when it works, the end of the log when not.
run_logged() {
	local what=$1 log=$2
	shift 2
	mkdir -p "$(dirname "$log")"
	if ! "$@" > "$log" 2>&1 < /dev/null; then
		tail -n 30 "$log" >&2
		die "$what failed; the whole log is $log"
	fi
}

retry() {
	local try
	for try in 1 2 3; do
		"$@" && return 0
		[ "$try" = 3 ] || sleep $((try * 3))
	done
	return 1
}

hash_of() { cat "$@" | sha256sum | cut -c 1-12; }

# cpio_of FOLDER: its files as an archive, all root's, whoever built them.
cpio_of() {
	(cd "$1" && find . -mindepth 1 -print0 | sort -z |
		cpio --quiet --null --create --format=newc --owner=0:0 --reproducible)
}

# That of a kernel built from source by its configuration, so that a changed one is built.
kernel_dir() {
	if is_one_of "$1" "$source_kernels"; then
		echo "$cache/kernel/$1-$(hash_of "$qemu_dir/source/$1.config")"
	else
		echo "$cache/kernel/$1"
	fi
}

# The release of a prepared kernel, as uname -r prints it in the guest.
kernel_release() { cat "$(kernel_dir "$1")/release"; }

# The folder with the root in which modules for a kernel are built, where Debian 12 can't.
build_root() {
	case $1 in
	5.10) echo "$cache/bullseye" ;;
	7.2) echo "$cache/trixie" ;;
	esac
}

# Where the headers' build folder of a kernel lies.
kernel_kdir() {
	local root
	root=$(build_root "$1")
	root=${root:+$root/root}
	root=${root:-$(kernel_dir "$1")/headers}
	echo "$root/usr/src/linux-headers-$(kernel_release "$1")"
}
