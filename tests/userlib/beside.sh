# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library beside what puts itself before libc as well; run.sh reads
# this, its functions and $B, $W, $D.

# compiled_with SANITIZER FILE: FILE is $W/sanitized, if the compiler has that.
compiled_with() {
	echo 'int main(void) { return 0; }' | cc "-fsanitize=$1" -x c -o "$W/sanitized" - 2>/dev/null &&
		cc -w -D_GNU_SOURCE -g "-fsanitize=$1" -o "$W/sanitized" "$2" -lpthread -ldl
}

t_sanitizers() {
	if compiled_with address tests/userlib/inject_app.c; then
		injected "$W/sanitized"
		{ exits 0 && silent && valid && counts 100 ' cuCtxSetCurrent '; }
		ok "a program with AddressSanitizer, which cannot be preloaded" $?
	else
		skip "a program with AddressSanitizer" "the compiler has none"
	fi
	if compiled_with thread tests/userlib/inject_app.c; then
		# It asks dlsym() for the functions that it replaces, before these work.
		traced "$W/sanitized"
		{ exits 0 && silent && valid && counts 100 ' cuCtxSetCurrent ' && counts 1 ' cuInit '; }
		ok "a program with ThreadSanitizer, preloaded" $?
		injected "$W/sanitized"
		{ exits 0 && silent && valid && counts 100 ' cuCtxSetCurrent '; }
		ok "... and injected" $?
		compiled_with thread tests/userlib/victim.c
		traced "$W/sanitized" threads
		{ exits 0 && silent && valid && counts 10000 ' cuCtxSetCurrent '; }
		ok "... with 1,000 threads, of which it has nothing to report" $?
	else
		skip "a program with ThreadSanitizer" "the compiler has none"
	fi
}

t_jemalloc() {
	local j=$(ls /usr/lib/*/libjemalloc.so.2 2>/dev/null | head -1)

	if [ -z "$j" ]; then
		skip "jemalloc" "apt-get install libjemalloc2"
		return
	fi
	LIB="$B/libcudatrace.so $j" traced "$B/victim" threads
	{ exits 0 && silent && valid && counts 10000 ' cuCtxSetCurrent '; }
	ok "jemalloc, preloaded behind us" $?
	LIB="$j $B/libcudatrace.so" traced "$B/victim" threads
	{ exits 0 && silent && valid && counts 10000 ' cuCtxSetCurrent '; }
	ok "... and before us" $?
}
