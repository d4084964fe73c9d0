#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The build and the installation: what `make` leaves, `make install`, DKMS.
#
#	tests/build/run.sh [--module | --dkms KERNEL | --options] [--list | --only PATTERN]
#
# Prints TAP.
set -u
cd "$(dirname "$0")/../.."
. tests/judge.sh
. tests/pick.sh
names="tree needs until help install service container" dkms_kernel=6.1
# The module outside of a guest.
[ "${1:-}" != --module ] || { names="sign conftest static dkms"; shift; }
# DKMS builds for one kernel in `make test-all`, and for another one in `make test-kernels`.
[ "${1:-}" != --dkms ] || { names=dkms dkms_kernel=$2; shift 2; }
# Kernels without an option: each is a build.
[ "${1:-}" != --options ] || { names="bare kretprobes tracepoints ftrace cgroups fences"; shift; }
choose_parts "$names" "$@"
work=$PWD/build/tests/build-${names##* }-$dkms_kernel
rm -rf "$work"
mkdir -p "$work"

# What is in the tree, and what make leaves in build/.
t_tree()
{
	[ -x build/cudatrace ] && [ -e build/libcudatrace.so ] && [ -e build/libcudatrace-nvtx.so ] && [ -e build/libcudatrace-gpu.so ] && [ -e build/libcudatrace-stacks.so ]
	ok $? "make leaves build/cudatrace, build/libcudatrace.so and its plugin"
	for tree in module userlib cli; do
		is "$(tests/build/layers includes $tree)" "" "$tree: includes point downwards, without a circle"
	done
	for tree in userlib cli; do
		is "$(tests/build/layers calls $tree)" "" "$tree: calls point downwards, without a circle"
		is "$(tests/build/layers exports $tree)" "" "$tree: other folders use few names of each folder"
	done
	# So that a file can be told from all others in a backtrace, an #include and a message.
	is "$(find cli -path cli/cmd -prune -o -name '*.[ch]' -print | sed 's|.*/||' | sort | uniq -d)" "" \
		"cli: two files have one name only where a command of cli/cmd is named after its verb"
	is "$(find cli -name '*.c' -exec awk '
		/^static / && /[a-z0-9_]\(/ && !/;$/ && !/=/ { name = $0; sub(/__attribute__\(\(.*\)\) /, "", name); sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); print name, FILENAME }' {} + |
		sort -u | awk '{ print $1 }' | uniq -d)" "" "cli: no static function is defined in two files"
	# The files of a suite are sourced by one shell, where the later one wins.
	for tree in record cli export userlib; do
		is "$(grep -hoE '^[a-z_0-9]+ ?\(\)' tests/$tree/*.sh | tr -d ' ' | sort | uniq -d)" "" "tests/$tree: no function is defined twice"
	done
	if [ -d .git ]; then
		is "$(git status --porcelain --ignored -- Kbuild module userlib cli tests examples | grep -v '\.swp$' | grep '^!!')" "" "the build writes nothing beside the sources"
	fi
	# As the compilers of Ubuntu and Fedora do it by default.
	# shellcheck disable=SC2046
	is "$(gcc -D_FORTIFY_SOURCE=3 $(make -n -B build/obj/userlib/base/string.o | sed -n 's/.*-std=/-std=/; s/ -MMD .*//p') -c -o /dev/null userlib/base/string.c 2>&1)" "" \
		"the library builds with a compiler that fortifies"
	bad=$(git ls-files 2>/dev/null | grep -vE '^(LICENSE|packaging/NOTICE|tests/fuzz/(mended|seeds)/.*|.*\.(png|txt|md|json|in|xz|const)|.gitignore)$' |
		xargs -d '\n' awk '
		FNR == 1 { if (file != "" && !named) print file; file = FILENAME; named = 0 }
		FNR <= 5 && /SPDX-License-Identifier/ { named = 1 } FNR > 5 { nextfile }
		END { if (!named) print file }')
	is "$bad" "" "every source file names its licence"
	tests/build/documents >"$work/documents"
	ok $? "the documents name files that exist, README.md is short, docs/mutations.md is in step" || cat "$work/documents"
	# As checkpatch says in the suite kbuild, which takes minutes.
	is "$(expand module/uapi/cudatrace.h | awk 'length($0) > 100 { print FNR ": " $0 }')" "" "lines of module/uapi/cudatrace.h have at most 100 columns"
	is "$(tests/debug/syzkaller/check 2>&1)" "" "the description for syzkaller has what module/uapi/cudatrace.h has"
	is "$(nm -D --defined-only build/libcudatrace.so | awk '$3 !~ /^(dlsym|dlvsym|ioctl|InitializeInjection|cudatrace_.*|LIBCUDATRACE_.*)(@.*)?$/ {print $3}' | tr '\n' ' ')" "" "the library exports dlsym, dlvsym, ioctl, InitializeInjection and cudatrace_* alone"
	is "$(nm -D --defined-only build/libcudatrace-nvtx.so | awk '{print $3}')" InitializeInjectionNvtx2 "the NVTX plugin exports what NVTX calls"
	is "$(nm -D --defined-only build/libcudatrace-gpu.so | awk '{print $3}' | sort | paste -sd ' ')" \
		"InitializeInjection cudatrace_gpu_begin cudatrace_gpu_end cudatrace_gpu_find cuptiActivityEnableHWTrace cuptiActivityRegisterCallbacks cuptiActivityRegisterTimestampCallback cuptiFinalize" \
		"that of the GPU what libcuda, doctor and profilers call"
	is "$(nm -D --defined-only build/libcudatrace-stacks.so | awk '{print $3}' | xargs)" "cudatrace_stack cudatrace_stacks_begin" "that of stacks what the library calls"
	is "$(readelf -d build/libcudatrace{,-nvtx,-gpu,-stacks}.so | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|ld-linux-x86-64\.so\.2)$')" "" "and all need libc alone"
	is "$(nm -D --undefined-only build/libcudatrace{,-nvtx,-gpu,-stacks}.so | grep -oE 'GLIBC_2\.(1[89]|[2-9][0-9]).*')" "" "... a libc of 2013 is enough"
}

# recorder_stub: a command that does what the recorder asks of cudatrace, and writes down what that was
recorder_stub()
{
	cat >"$work/stub" <<-'END'
		#!/bin/bash
		echo "$*" >>"$STUB/asked"
		case "$1 ${2:-}" in
		"session start") [ ! -e "$STUB/refuse" ] ;;
		"snapshot -q")
			echo "cudatrace: waiting for a trigger" >&2
			for n in 1 2 3 4; do
				mkdir "$4-$n" && head -c 300000 /dev/zero >"$4-$n/stream"
				[ $n = 2 ] && why='' || why=" (iteration 7 took 9 ms, 3.1 times the median of 3 ms)"
				echo "cudatrace: 5 packets in $4-$n$why" >&2
			done
			exec sleep 600 ;;
		"explain "*) echo VERDICT ;;
		"export --format") echo page >"$5" ;;
		esac
	END
	chmod 755 "$work/stub"
}

# recorder CONF-LINE...: the recorder by these lines, in the background; REFUSE: its session does not start
recorder()
{
	rm -rf "$work/state"
	mkdir -p "$work/state"
	: >"$work/recorder.err"		# what the one before said is not waited for
	[ -z "${REFUSE:-}" ] || touch "$work/state/refuse"
	printf '%s\n' '# comment' '' "directory=$work/state/snapshots" pause=0 "$@" >"$work/recorder.conf"
	STUB=$work/state CUDATRACE=$work/stub packaging/service/cudatrace-recorder "$work/recorder.conf" 2>"$work/recorder.err" &
	recorder_pid=$!
}
recorder_waits() { [ "$(grep -c ': snapshot in ' "$work/recorder.err")" = 4 ]; }

# The service: what it asks for, what a trigger leaves, how much stays; and what it may do.
t_service()
{
	local line exposure
	recorder_stub
	recorder groups=ioctl,memory ring_size=32M 'filter=--uid=alice --type=memory' 'limit=--rate=10 --by=process' triggers=xid,slow=50ms,slow-iteration=3x,stuck=60s last=7 snapshots=2
	wait_until recorder_waits
	is "$(sed "s,$work/,,g" "$work/state/asked" | head -n 7 | paste -sd ';')" "session stop;session start --groups=ioctl,memory --ring-size=32M;session filter --uid=alice --type=memory;session limit --rate=10 --by=process;snapshot -q -o state/snapshots/.next/trace --last 7 --on xid,slow=50ms,slow-iteration=3x,stuck=60s --again 0;explain state/snapshots/.saved/trace;export --format html -o state/snapshots/.saved/page.html state/snapshots/.saved/trace" "the recorder asks for what its configuration says"
	is "$(ls "$work/state/snapshots" | wc -l)" 2 "as many snapshots stay as it says"
	is "$(cd "$work/state/snapshots" && ls "$(ls | tail -n 1)" | paste -sd ' ')" "explain.txt log page.html trace why.txt" "a snapshot has its explanation and its page"
	is "$(sed -n 's/.*snapshot in [^ ]* //p' "$work/recorder.err" | paste -sd ';'),$(cat "$work/state/snapshots"/*/why.txt | tail -n 1)" \
		"(iteration 7 took 9 ms, 3.1 times the median of 3 ms);(a trigger of the module);(iteration 7 took 9 ms, 3.1 times the median of 3 ms);(iteration 7 took 9 ms, 3.1 times the median of 3 ms),iteration 7 took 9 ms, 3.1 times the median of 3 ms" "... and what made it"
	kill -TERM $recorder_pid
	wait $recorder_pid
	is "$?,$(tail -n 1 "$work/state/asked")" "0,session stop" "a signal ends it, and the session"
	recorder snapshots=9 megabytes=1 page=no
	wait_until recorder_waits
	is "$(du -sm "$work/state/snapshots" | awk '{ print $1 <= 1 }'),$(find "$work/state/snapshots" -name page.html)" "1," "no more disk is taken than it says"
	kill -TERM $recorder_pid
	wait $recorder_pid
	for line in 'nonsense' 'colour=red' 'last=soon' 'directory=relative' 'page=maybe' 'groups=$(touch x)' 'snapshots=0'; do
		recorder "$line"
		wait $recorder_pid
		is "$?,$(wc -l <"$work/recorder.err"),$(cat "$work/state/asked" 2>/dev/null)" "78,1," "a wrong configuration is told: $line" || cat "$work/recorder.err"
	done
	# The words are those of the commands.
	for line in "$(sed -n 's/^#triggers=//p' packaging/service/recorder.conf)" xid,status,errno,error,slow-iteration=3x,stuck=60s,stuck; do
		grep -q 'module is not loaded' <<<"$(build/cudatrace snapshot -q -o "$work/none" --on "$line" --again 60 2>&1)"
		ok $? "snapshot takes the triggers $line"
	done
	value() { sed -n "s/^#$1=//p" packaging/service/recorder.conf; }
	# shellcheck disable=SC2046
	build/cudatrace session limit $(value limit) --help >/dev/null && build/cudatrace session start --groups="$(value groups)" --ring-size=32M --help >/dev/null &&
		build/cudatrace session filter $(sed -n 's/.*for example \(--.*\)/\1/p' packaging/service/recorder.conf | sed 's/alice/root/') --help >/dev/null
	ok $? "... and session the groups, the limit and the filter of the example"
	REFUSE=1 recorder
	wait $recorder_pid
	is $? 78 "a session that does not start ends it" || cat "$work/recorder.err"
	is "$(sed -n 's/^#\([a-z_]*=.*\)/\1/p' packaging/service/recorder.conf | grep -vxF -e "$(sed -n '/^groups=/,/^directory=/p' packaging/service/cudatrace-recorder | tr -d "'" |
		awk '{ n = split($0, part, /[[:blank:]]+/); word = ""; for (i = 1; i <= n; i++) { if (part[i] ~ /^[a-z_]+=/) { if (word != "") print word; word = part[i] } else word = word " " part[i] } print word }')")" "" "the example says what counts without it"
	if ! systemd-analyze security --help >/dev/null 2>&1 || ! exposure=$(systemd-analyze security --offline=true packaging/service/cudatrace-recorder.service 2>&1); then
		skip "systemd-analyze security: this systemd has none without a running one"
		return
	fi
	grep -qE '(OK|SAFE|PERFECT)' <<<"$(tail -n 1 <<<"$exposure")"
	ok $? "systemd calls the service's rights OK" || tail -n 1 <<<"$exposure"
	mkdir -p "$work/units/usr/lib/cudatrace"
	is "$(systemd-analyze verify --man=no packaging/service/cudatrace-recorder.service 2>&1 | grep -v 'is not executable')" "" "and has no complaint about the unit"
}

# validator: Kubernetes's schemas from npm, once.  $without says why they are not there.
validator()
{
	local modules=$PWD/build/kubernetes
	[ ! -e "$modules/complete" ] || return 0
	without="npm is missing"
	command -v npm >/dev/null || return 1
	mkdir -p "$modules"
	cp packaging/kubernetes/validate.js "$modules/"
	(cd "$modules" && timeout $hang npm install --ignore-scripts --no-audit --no-fund kubernetes-models@5.1.0 js-yaml@5.5.0) >"$work/npm.log" 2>&1 &&
		touch "$modules/complete" && return
	without="npm can't install them: $(grep -m 1 -i error "$work/npm.log")"
	return 1
}

# The image and the manifests: versions, schemas.
t_container()
{
	local without
	is "$(grep -hoE 'image: cudatrace:.*' packaging/kubernetes/*.yaml | sort -u)" "image: cudatrace:$(sed -n 's/^.define CT_VERSION.*"\(.*\)".*/\1/p' module/uapi/cudatrace.h)" "manifests name the image of this version"
	for version in "$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)" "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)"; do
		is "$version" "$(build/cudatrace version | sed 's/cudatrace \([^ ]*\).*/\1/')" "the version is that of module/uapi/cudatrace.h"
	done
	is "$(sed -n 's/^COPY \([^ ]*\).*/\1/p' packaging/container/Dockerfile)" "cudatrace_*_amd64.deb" "the image is made of the package"
	if ! validator; then
		skip "manifests by Kubernetes's schemas: $without"
		return
	fi
	cp packaging/kubernetes/validate.js build/kubernetes/
	is "$(node build/kubernetes/validate.js packaging/kubernetes/*.yaml)" "" "manifests are as Kubernetes's schemas ask"
	sed 's/hostPID: true/hostPID: 7/' packaging/kubernetes/recorder.yaml >"$work/wrong.yaml"
	is "$(node build/kubernetes/validate.js "$work/wrong.yaml" | grep -c 'hostPID must be boolean')" 1 "and a fault is found"
}

# plan_of ARGUMENT...: the suites that tests/run would run in $work/clone, in one line.
plan_of() { "$work/clone/tests/run" --plan "$@" 2>&1 | sed -n 's/^    \([^ ]*\) *for .*/\1/p' | sort | paste -sd ' '; }

# What a change runs: tests/needs, and what it is compared with.
t_needs()
{
	local git="git -C $work/clone -c user.name=t -c user.email=t@localhost" file suites path
	suites=$(sed -n "/^suites='/,/^'/p" tests/run | awk '$2 ~ /t/ { print $1 }')
	is "$(awk '!/^#/ { for (i = 2; i <= NF; i++) print $i }' tests/needs | sort -u | grep -vxF "$suites")" all \
		"tests/needs: each suite is one of make test"
	is "$(for path in $(git ls-files | cut -d / -f 1 | sort -u) $(git ls-files cli | cut -d / -f 1,2 | sort -u); do
		awk -v path="$path" '$1 == path || $1 == path "/" { found = 1 } END { exit !found }' tests/needs || echo "$path"
	done)" "" "each folder of the top and of cli/ has a row"
	is "$(awk '!/^#/ && NF { print $1 }' tests/needs | while read -r path; do [ -e "$path" ] || echo "$path"; done)" "" \
		"each row names something that exists"
	is "$(awk '!/^#/ && NF && $2 != "build" && $2 != "all"' tests/needs)" "" "each row has the suite of licences, layers and documents"

	mkdir -p "$work/upstream/tests" "$work/upstream/cli/export" "$work/upstream/module"
	cp tests/run tests/needs tests/changes.sh tests/pick.sh "$work/upstream/tests"
	cp .gitignore "$work/upstream"
	touch "$work/upstream/cli/export/csv.c" "$work/upstream/module/main.c" "$work/upstream/new"
	"$work/upstream/tests/run" --plan | grep -q '^All suites run: this is no git checkout'
	ok $? "without git: all"
	git -C "$work/upstream" init -q -b main
	git -C "$work/upstream" add .
	git -C "$work/upstream" -c user.name=t -c user.email=t@localhost commit -qm first
	"$work/upstream/tests/run" --plan | grep -q '^All suites run: there is no upstream branch, and no commit has passed'
	ok $? "without an upstream branch: all"
	git clone -q "$work/upstream" "$work/clone"
	"$work/clone/tests/run" --plan | grep -q '^All suites run: nothing differs from where this branch left its upstream'
	ok $? "a fresh clone: all"
	echo >>"$work/clone/cli/export/csv.c"
	is "$(plan_of --test)" "build cli export" "a changed file: the suites of its row"
	"$work/clone/tests/run" --plan | grep -q 'Left out.* 7.2-short .*make test-all runs all'
	ok $? "and what is left out is said"
	"$work/clone/tests/run" --plan --test --all | grep -q 'Behind them, if there is time: .* 7.2-short'
	ok $? "with --all the others run behind them"
	$git commit -qam second
	is "$(plan_of)" "build cli export" "a commit that upstream has not: the same"
	mkdir -p "$work/clone/build/tests"
	$git rev-parse HEAD >"$work/clone/build/tests/passed"
	echo >>"$work/clone/module/main.c"
	is "$(plan_of)" "5.10-short 6.1 6.12-short 7.2-short build debug kbuild" "a commit that passed is not tested again"
	$git checkout -q module/main.c
	"$work/clone/tests/run" --plan | grep -q '^All suites run: nothing differs from the last commit that passed here'
	ok $? "nothing new since then: all"
	echo >"$work/clone/docs.txt"
	"$work/clone/tests/run" --plan | grep -q '^All suites run: docs.txt has changed'
	ok $? "a new file that no row names: all"
}

# What --until begins and what it does not.
t_until()
{
	local until
	mkdir -p "$work/until/tests"
	cp tests/run tests/needs tests/changes.sh tests/pick.sh "$work/until/tests"
	sed -i "/^suites='/,/^'/ { /^suites='/! { /^'/! d } }
		/^suites='/ a quick t host 1 60 tests/quick\nover k host 0 60 tests/over\nlate k host 900 900 echo not" "$work/until/tests/run"
	until=$(($(date +%s) + 6))
	printf '#!/bin/sh\nprintf "ok 1\\n1..1\\n"\n' >"$work/until/tests/quick"
	printf '#!/bin/sh\nwhile [ "$(date +%%s)" -le %d ]; do sleep 0.1; done\nexec tests/quick\n' $until >"$work/until/tests/over"
	chmod +x "$work/until/tests/quick" "$work/until/tests/over"
	"$work/until/tests/run" --no-build --kernels --until $until quick >"$work/until.out" 2>&1
	is "$? $(sed -n '$p' "$work/until.out")" "0 2 passed, 0 failed, 1 skipped" "with --until: what is begun in time runs to its end" || cat "$work/until.out"
	is "$(grep -c '^late  *not started: it usually takes 900 s, and [0-6] s are left$' "$work/until.out")" 1 "... and what takes longer is not begun"
}

# completed WORD...: what bash offers for the last WORD, on one line.
completed()
{
	bash -c 'compopt() { :; }
		. build/completion/cudatrace.bash
		COMP_WORDS=(cudatrace "$@") COMP_CWORD=$#
		_cudatrace
		printf "%s\n" "${COMPREPLY[@]}" | paste -sd " "' bash "$@"
}

# Man pages and completion are made from --help, and have all of it.
t_help()
{
	local verb verbs option page text line lines offered missing=
	make -s help-files >"$work/help.log" 2>&1
	ok $? "make help-files" || cat "$work/help.log"
	verbs=$(build/cudatrace --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
	is "$(ls build/man | paste -sd ' ')" "$(for verb in '' $verbs; do echo "cudatrace${verb:+-$verb}.1"; done | sort | paste -sd ' ')" "a man page for each command"
	is "$(mandoc -T lint build/man/*.1 2>&1)" "" "mandoc has nothing against them"
	is "$(for page in build/man/*.1; do MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null; done)" "" "nor has man"
	for verb in $verbs; do
		page=$(mandoc -O width=900 -T utf8 "build/man/cudatrace-$verb.1" | sed 's/.\x08//g')
		text=$(build/cudatrace "$verb" --help)
		offered=" $(completed "$verb" --) "
		for option in $(grep -oE '^ +(-., )?--[a-z-]+' <<<"$text" | grep -oE -- '--.*'); do
			grep -qE -- "^ +(-., )?$option\\b" <<<"$page" || missing+=" man:$verb:$option"
			grep -qE -- "^.complete .*from $verb'.* -l ${option#--} " <(sed 's/^/ /' build/completion/cudatrace.fish) || missing+=" fish:$verb:$option"
			[[ $offered =~ " $option"=?" " ]] || missing+=" bash:$verb:$option"
		done
		while read -r line; do
			grep -qF -- "$line" <<<"$page" || missing+=" man:$verb:$line"
		done < <(sed -n '/^EXAMPLES/,$s/^  \(cudatrace [^ ]* [^ ]* *[^ ]*\).*/\1/p' <<<"$text")
	done
	# What is wider is broken in the middle of its lines.
	is "$(for verb in $verbs; do
		ARGP_HELP_FMT=rmargin=300 build/cudatrace "$verb" --help | awk -v RS= -F '\n' -v verb="$verb" '
			/(^|\n) +(-., )?--/ || NF < 2 + /^Usage/ { next } { for (i = 1; i <= NF; i++) if (length($i) > 78) print verb ": " $i }'
	done)" "" "no line of a text of --help is wider than a terminal"
	is "$missing" "" "each option of each command is in its page, and offered by bash and fish; so are the examples"
	lines=$(tests/build/examples build/cudatrace)
	[[ $lines =~ ^[0-9]+$ ]] && [ "$lines" -gt 90 ]
	ok $? "the command lines of the documents have words that the command knows ($lines)"
	is "$(completed sn)" snapshot "bash: a command"
	is "$(completed report cuda_api_)" "cuda_api_sum cuda_api_trace" "bash: a report"
	is "$(completed export --format = p)" "perfetto parquet" "bash: a format, behind ="
	is "$(completed export -F s)" "sqlite" "bash: and behind the letter"
	is "$(completed record --groups ioctl,mem)" "ioctl,memory" "bash: one more word of a list"
	is "$(completed record --on sl)" "slow= slow-iteration=" "bash: words that take a value"
	is "$(completed session pa)" pause "bash: what to do with a session"
	is "$(completed record -o x -- tru)" "$(compgen -c tru | paste -sd ' ')" "bash: behind -- a command"
	is "$(completed explain pack)" packaging "bash: a directory"
	is "$(zsh -n build/completion/_cudatrace 2>&1; fish -n build/completion/cudatrace.fish 2>&1)" "" "zsh and fish can read theirs"
	is "$(fish -c 'source build/completion/cudatrace.fish; complete -C "cudatrace export --format p"' 2>&1 | cut -f 1 | paste -sd ' ')" \
		"parquet perfetto" "fish: a format"
}

# make install and make uninstall.
t_install()
{
	make -s install DESTDIR="$work/root" PREFIX=/usr >"$work/install.log" 2>&1
	ok $? "make install" || cat "$work/install.log"
	"$work/root/usr/bin/cudatrace" record -q --no-module -o "$work/trace" -- true 2>"$work/record.err"
	ok $? "the installed command finds its installed library" || cat "$work/record.err"
	[ -s "$work/root/usr/share/man/man1/cudatrace-record.1" ] && [ -s "$work/root/usr/share/bash-completion/completions/cudatrace" ]
	ok $? "man pages and completion are installed"
	is "$(find "$work/root" -name 'libcuda.so*')" "" "the simulated libcuda is not installed"

	for file in udev/rules.d/60-cudatrace.rules sysusers.d/cudatrace.conf modules-load.d/cudatrace.conf modprobe.d/cudatrace.conf systemd/system/cudatrace-recorder.service; do
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
		is "$(tests/build/layers exports module "build/$release/module")" "" "module: other folders use few names of each folder"
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

# conftest_with COMPILER-BODY: a build whose compiler is a script with that body.
conftest_with()
{
	printf '#!/bin/sh\n%s\n' "$1" >"$work/cc"
	chmod +x "$work/cc"
	rm -rf "$work/conftest"
	packaging/copy-module "$work/conftest"
	make -j4 -C "$kdir" M="$work/conftest" CC="$work/cc" modules >"$work/conftest.log" 2>&1
}
# conftest_stops TEXT WHAT: it failed, and exactly one line of ours says TEXT.
conftest_stops()
{
	local status=$?
	is "$status $(grep -c '^cudatrace: ' "$work/conftest.log") $(grep -c "^cudatrace: $1" "$work/conftest.log")" "2 1 1" "$2" ||
		tail -n 5 "$work/conftest.log"
}

# What differs between kernels is found by compiling (module/conftest/run), or the build stops.
t_conftest()
{
	kdir=$(tests/qemu/kdir --kernel 6.1 2>"$work/kdir.log")
	if [ ! -e "$kdir/Makefile" ]; then
		skip "conftest: headers of 6.1 can't be had: $(tail -n 1 "$work/kdir.log")"
		return
	fi
	conftest_with 'case "$*" in *conftest/*) exit 1 ;; esac; exec gcc "$@"'
	conftest_stops "the compiler fails without an error in a source" "a compiler that dies is no missing feature"
	conftest_with 'case "$*" in *conftest/*) exit 0 ;; esac; exec gcc "$@"'
	conftest_stops "the compiler accepts a function that does not exist" "nor is one that accepts everything all features"
	echo '#error broken' >"$work/broken.h"
	conftest_with "case \"\$*\" in *conftest/*) set -- \"\$@\" -include $work/broken.h ;; esac; exec gcc \"\$@\""
	conftest_stops "no module can be compiled, for the kernel's headers are broken: .*error: #error broken" "broken headers stop the build"
	conftest_with "case \"\$*\" in *conftest/vm_flags.c*) set -- \"\$@\" -include $work/broken.h ;; esac; exec gcc \"\$@\""
	conftest_stops "this kernel has none of the forms of vm_flags that are known: .*error: #error broken" "so does a kernel of no known form"

	rm -rf "$work/conftest"
	packaging/copy-module "$work/conftest"
	make -j4 -C "$kdir" M="$work/conftest" module/main.o >"$work/conftest.log" 2>&1
	is "$(sort "$work/conftest/conftest.h")" "$(cd "$work/conftest/conftest" && cat $(ls -- *.h | grep -v control.h) | sort)" "conftest.h has each result"
	is "$(grep -c '^ct-tests +\?:\?=' Kbuild)" "$(grep -c '^#define CT_[A-Z0-9_]* [0-9]$' "$work/conftest/conftest.h")" "of all tests"
	make -j4 -C "$kdir" M="$work/conftest" module/main.o >"$work/conftest.log" 2>&1
	is "$(grep -c 'CONFTEST\|CC ' "$work/conftest.log")" 0 "nothing is tested again while nothing has changed"
	printf '#!/bin/sh\ncase $1 in --version) echo another gcc ;; *) exec gcc "$@" ;; esac\n' >"$work/cc"
	make -j4 -C "$kdir" M="$work/conftest" CC="$work/cc" module/main.o >"$work/conftest.log" 2>&1
	is "$(grep -c 'CONFTEST' "$work/conftest.log")" "$(($(wc -l <"$work/conftest/conftest.h") + 2))" "but with another compiler: control, each test, conftest.h"
	is "$(grep -rn 'LINUX_VERSION_CODE\|linux/version.h' module Kbuild)" "" "no source asks for the kernel's version"
}

# without WHAT USES OPTION...: the module builds for a kernel without these options (patterns), and
# uses none of its functions whose names match USES.
kprobes='KPROBES KPROBES_ON_FTRACE OPTPROBES KPROBE_EVENTS.* KRETPROBE.* RETHOOK'
tracepoints='TRACEPOINTS EVENT_TRACING'
ftrace='FUNCTION_.* DYNAMIC_FTRACE.* KPROBES_ON_FTRACE LIVEPATCH'
cgroups='CGROUP.* [A-Z_]*_CGROUP.* MEMCG.* CPUSETS'
fences='DMA_SHARED_BUFFER'
without()
{
	local what=$1 uses=$2
	shift 2
	if ! tests/qemu/kdir --kernel 6.1 >/dev/null 2>"$work/kdir.log"; then
		skip "without $what: headers of 6.1 can't be had: $(tail -n 1 "$work/kdir.log")"
		return
	fi
	# shellcheck disable=SC2068
	tests/build/options 6.1 "$work" "without-$what" $@ >"$work/uses-$what" 2>"$work/without-$what.err"
	ok $? "the module builds without a warning for a kernel without $what" || cat "$work/without-$what.err"
	is "$(grep -E "$uses" "$work/uses-$what" | paste -sd ' ')" "" "and does not use it"
	is "$(grep '^ct_' "$work/uses-$what" | paste -sd ' ')" "" "... nor a function of its own that is left out"
}
t_bare() { without options 'probe|tracepoint|ftrace|kallsyms|cgroup|fence' $kprobes $tracepoints $ftrace $cgroups $fences 'UPROBE.*' 'KALLSYMS.*'; }
t_kretprobes() { without kretprobes 'register_k.*probe' $kprobes; }
t_tracepoints() { without tracepoints 'tracepoint' $tracepoints; }
t_ftrace() { without ftrace 'ftrace' $ftrace; }
t_cgroups() { without cgroups 'cgroup' $cgroups; }
t_fences() { without fences 'fence' $fences; }

# What the kernel's own tools say of the module's sources.  After "sign", which has built the
# objects with the same flags.
t_static()
{
	local tool found
	for tool in checkpatch sparse smatch; do
		found=$(tests/build/static $tool 2>"$work/static.err")
		if [ $? = 3 ]; then
			skip "$tool: $(tail -n 1 "$work/static.err")"
		else
			is "$found" "" "$tool finds nothing in module/ but what tests/build/static.except explains"
		fi
	done
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
