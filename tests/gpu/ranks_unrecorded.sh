#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# For torchrun --no-python: rank 1 runs PROGRAM without the library, so that it is not recorded.
[ "$LOCAL_RANK" != 1 ] || unset LD_PRELOAD CUDA_INJECTION64_PATH
exec python3 "$@"
