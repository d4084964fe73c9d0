/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counter of libcudatrace-reset.so; see odd_clock.c. */
extern unsigned long long test_back __attribute__((visibility("hidden")));
#define CT_COUNTER()	(__builtin_ia32_rdtsc() - test_back)
