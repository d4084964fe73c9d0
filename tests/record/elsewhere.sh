# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154,SC2086
#
# record --pid of programs in another root or mount namespace, of other users, and without glibc.  Sourced by run.sh.

# A root with what record-running needs and nothing of ours, below $root; the traces' directory is to be mounted there.
make_root()
{
	local file
	root=$work/root
	shared=$work/shared
	rm -rf "$root" "$shared"
	mkdir -p "$root/proc" "$root/dev/shm" "$root/old" "$root/$shared" "$shared"
	for file in $(ldd "$PWD/build/tests/record-running" | grep -oE '/[^ :]*' | sort -u) "$PWD/build/tests/record-running"; do
		mkdir -p "$root/${file%/*}" && cp "$file" "$root/$file"
	done
}

# start_there NAME COMMAND...: COMMAND starts record-running in some root, as $pid
start_there()
{
	local name=$1
	shift
	: >"$work/$name.out"
	"$@" "$PWD/build/tests/record-running" 3 600 30 >"$work/$name.out" 2>"$work/$name.err" &
	pid=$!
	until grep -q ready "$work/$name.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
}

t_attach_root()
{
	local how root shared
	if [ "$(id -u)" != 0 ] || ! unshare -m chroot / true 2>/dev/null; then
		skip "record --pid in another root: needs root, and the right to unshare mounts"
		return
	fi
	make_root
	for how in mounts chroot pivot; do
		case $how in
		mounts) start_there $how unshare -m sh -c "mount -t tmpfs none /mnt && exec \"\$@\"" sh ;;
		chroot) start_there $how unshare -m sh -c "mount --bind $shared $root/$shared && mount -t proc none $root/proc && exec chroot $root \"\$@\"" sh ;;
		pivot) start_there $how unshare -m sh -c "mount --bind $root $root && mount --bind $shared $root/$shared && mount -t proc none $root/proc && cd $root &&
			pivot_root . old && exec \"\$@\"" sh ;;
		esac
		! [ $how != mounts ] || [ ! -e "/proc/$pid/root$PWD/build/libcudatrace.so" ]
		ok $? "$how: our library has no path there"
		"$cudatrace" record -q -f -o "$shared/trace-$how" --pid $pid --duration 0.3 2>"$work/$how.said"
		is $? 0 "$how: record --pid" || cat "$work/$how.said"
		ln -sfn "$shared/trace-$how" "$work/trace-$how"
		every_call "trace-$how"
		ok $? "... every call of each thread is there"
		if [ $how != mounts ]; then
			refuse "a trace that is not there" "has another root, in which .* is not the trace's directory" \
				"$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
		fi
		ended_well $how
	done
	start_there readonly unshare -m sh -c "mount --bind $shared $shared && mount -o remount,ro,bind $shared && exec \"\$@\"" sh
	refuse "a process that can't write there" "process $pid is not recorded: it can't make files in the trace's directory" \
		"$cudatrace" record -q -f -o "$shared/trace-no" --pid $pid
	ended_well readonly
	start_there bare unshare -m sh -c "mount --bind $shared $root/$shared && exec chroot $root \"\$@\"" sh
	refuse "a root without /proc" "has no /proc in its root" "$cudatrace" record -q -f -o "$shared/trace-no" --pid $pid
	ended_well bare
}

# As in each container: a program that has another number there, 1, than here.
t_attach_pids()
{
	local outer dir=$work/trace-pids
	if [ "$(id -u)" != 0 ] || ! unshare -pf --mount-proc true 2>/dev/null; then
		skip "record --pid in another namespace of pids: needs root, and one"
		return
	fi
	CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 start_there pids unshare -pf --mount-proc
	outer=$pid
	pid=$(pgrep -P "$outer")
	"$cudatrace" record -q -f -o "$dir" --pid "$pid" --gpu --duration 0.5 2>"$work/pids.said"
	is "$? $(grep -c "process $pid: CUPTI took [0-9.]* ms to begin" "$work/pids.said") $(grep -vc 'recording\|CUPTI took\|trace in' "$work/pids.said")" "0 1 0" \
		"record --pid --gpu of process $pid, which is 1 there" || cat "$work/pids.said"
	every_call trace-pids
	ok $? "... every call of each thread is there"
	kill -TERM "$pid"
	wait "$outer"
	is "$? $(grep -c '^wrong 0$' "$work/pids.out") $(grep -c CHANGED "$work/pids.out")" "0 1 0" "... its results are right, and libcuda's table is as it was" || cat "$work/pids.out"
	rm -f "$work/pids.go"
	WAIT=$work/pids.go unshare -pf --mount-proc "$PWD/build/tests/record-ranged" profiler >"$work/ranged.out" 2>&1 &
	outer=$!
	wait_until pgrep -P "$outer" record-ranged >/dev/null
	pid=$(pgrep -P "$outer")
	wait_until grep -q libcuda "/proc/$pid/maps"
	"$cudatrace" record -q -f -o "$dir" --pid "$pid" --capture-range cudaProfilerApi 2>"$work/pids.said" &
	wait_until grep -q recording "$work/pids.said"
	touch "$work/pids.go"
	wait $!
	is "$? $(grep -c "process $pid: the range has ended" "$work/pids.said")" "0 1" "--capture-range of such a process" || cat "$work/pids.said"
	wait "$outer"
	is "$? $(tail -n 1 "$work/ranged.out")" "0 wrong 0" "... which goes on"
}

# Programs, and a command, with filters for system calls.
t_attach_filtered()
{
	local call status refuse=$work/refuse
	"${CC:-cc}" -D_GNU_SOURCE -o "$refuse" tests/userlib/refuse.c
	for call in memfd_create fallocate; do
		# What ends a process for it can't be tried. Only root may look, without a filter of its own, where the kernel can show it.
		if unshare -m true 2>/dev/null && grep -q '^Seccomp:.*0$' /proc/self/status && grep -q ' seccomp_get_filter$' /proc/kallsyms; then
			start_there filtered "$refuse" $call 0
			refuse "a program that is ended for $call" "process $pid: its seccomp filter ends it for $call, which the library calls" \
				"$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
			ended_well filtered
		fi
		start_there filtered "$refuse" $call 1
		"$cudatrace" record -q -f -o "$work/trace-filtered" --pid $pid --duration 0.3 2>"$work/filtered.said"
		status=$?
		if [ $call = fallocate ]; then
			is $status 0 "record --pid of a program that may not call $call" || cat "$work/filtered.said"
			every_call trace-filtered
			ok $? "... every call of each thread is there"
		else
			is "$status $(grep -c "process $pid can't have a file in memory" "$work/filtered.said")" "1 1" "refused: a program that may not call $call" || cat "$work/filtered.said"
		fi
		ended_well filtered
	done
	start_there filtered
	refuse "a command that may not read memory" "process $pid: its memory can't be read: Operation not permitted" \
		"$refuse" process_vm_readv 1 "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	ended_well filtered
	"$refuse" process_vm_readv 1 "$cudatrace" doctor 2>&1 | grep -q '^note .*record --pid: ptrace, or process_vm_readv, is refused here'
	ok $? "... of which doctor says so"
}

t_attach_user()
{
	local dir before user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	if [ "$(id -u)" != 0 ] || [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" != 0 ]; then
		skip "record --pid as an ordinary user: needs root, and ptrace_scope 0"
		return
	fi
	# In a place that everybody reaches.
	dir=$(mktemp -d) && chmod 777 "$dir"
	cp "$cudatrace" build/libcudatrace.so build/tests/record-running build/tests/sim/libcuda.so.1 "$dir"
	: >"$work/user.out"
	LD_LIBRARY_PATH=$dir "${user[@]}" "$dir/record-running" 3 600 30 >"$work/user.out" 2>"$work/user.err" &
	pid=$!
	until grep -q ready "$work/user.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	"${user[@]}" "$dir/cudatrace" record -q -f -o "$dir/trace" --pid $pid --duration 0.3 2>"$work/user.said"
	is $? 0 "an ordinary user: record --pid of a process of one's own" || cat "$work/user.said"
	cp -r "$dir/trace" "$work/trace-user"
	every_call trace-user
	ok $? "... every call of each thread is there"
	ended_well user
	# By a limit a thread may come before others, but who may do no more than that can't take it back.
	if prlimit --rtprio=10 true 2>/dev/null; then
		: >"$work/user.out"
		LD_LIBRARY_PATH=$dir prlimit --rtprio=10 "${user[@]}" "$dir/record-running" 3 600 30 >"$work/user.out" 2>"$work/user.err" &
		pid=$!
		until grep -q ready "$work/user.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
		before=$(threads_are)
		prlimit --rtprio=10 "${user[@]}" "$dir/cudatrace" record -q -f -o "$dir/trace" --pid $pid --duration 0.1 2>"$work/user.said"
		is "$? $(threads_are | tr '\t\n' '  ')" "0 $(echo "$before" | tr '\t\n' '  ')" "... with a limit for priorities that come before others (RLIMIT_RTPRIO): its threads have those they had" || cat "$work/user.said"
		ended_well user
	else
		skip "... with RLIMIT_RTPRIO: it can't be set here"
	fi
	start_running other_user 1 30
	refuse "another user's process" "run as root|can't be attached to|Permission denied" \
		"${user[@]}" "$dir/cudatrace" record -q -f -o "$dir/trace" --pid $pid
	ended_well other_user
	rm -rf "$dir"
}

# A program of musl's, or what is as good as one to the command: its loader is mapped, and there is no glibc.
t_attach_musl()
{
	cat >"$work/musl.c" <<-'EOF'
	#include <fcntl.h>
	#include <sys/mman.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(argv[1], O_RDONLY), 0);
		return argc > 2 ? 1 : pause();
	}
	EOF
	if ! cc -static -o "$work/musl" "$work/musl.c" 2>/dev/null; then
		skip "musl: no static libc"
		return
	fi
	head -c 4096 /dev/zero >"$work/ld-musl-x86_64.so.1"
	"$work/musl" "$work/ld-musl-x86_64.so.1" &
	pid=$!
	until grep -q ld-musl "/proc/$pid/maps" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	refuse "musl" "uses musl or another libc, not glibc: no library can be brought in" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	kill -0 $pid
	ok $? "... and it goes on"
	kill $pid
	wait $pid 2>/dev/null
}

# Musl itself, and a libcuda for it.  Debian's has its loader in a file that is called libc.so.
t_attach_real_musl()
{
	local dir=$work/musl-real
	if ! command -v musl-gcc >/dev/null; then
		skip "a program of real musl: no musl-gcc (musl-tools)"
		return
	fi
	mkdir -p "$dir"
	echo 'int cuInit(unsigned int flags) { return flags != 0; }' | musl-gcc -shared -fPIC -o "$dir/libcuda.so.1" -x c -
	musl-gcc -x c -o "$dir/program" - <<-'EOF'
	#include <dlfcn.h>
	#include <signal.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile sig_atomic_t stop;
	static void on_term(int s) { stop = s; }
	int main(int argc, char **argv)
	{
		int (*init)(unsigned int) = (int (*)(unsigned int))dlsym(dlopen(argv[1], RTLD_NOW), "cuInit");
		unsigned long wrong = 0;
		signal(SIGTERM, on_term);
		puts("ready");
		fflush(stdout);
		for (; !stop; usleep(1000))
			wrong += !init || init(0);
		printf("wrong %lu\n", wrong);
		return 0;
	}
	EOF
	"$dir/program" "$dir/libcuda.so.1" >"$dir/out" 2>&1 &
	pid=$!
	until grep -q ready "$dir/out" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	refuse "real musl" "uses musl or another libc, not glibc: no library" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	is "$(grep -c . "$work/refuse.err")" 1 "... in one line" || cat "$work/refuse.err"
	! grep -q memfd "/proc/$pid/maps"
	ok $? "... nothing was brought into it"
	kill -TERM $pid
	wait $pid && grep -q '^wrong 0$' "$dir/out"
	ok $? "... its results are right" || cat "$dir/out"
}
