#!/usr/bin/env bash
# Shows what the loops of a program call that are compiled for a level of vectors: `scripts/calls_in_vectors.sh PROGRAM`.
# A closure or a small function of `core` among them is compiled without the machine's vectors, and should be a loop.
set -euo pipefail

objdump --disassemble --demangle --no-show-raw-insn "$1" | awk '
    /^[0-9a-f]+ <.*>:$/ { is_loop = /vectorize::imp|simd::level::run_v/ }
    is_loop && /\tcall / { sub(/.*\tcall +[0-9a-f]* */, ""); count[$0]++ }
    END { for (callee in count) printf "%6d %s\n", count[callee], callee }
' | sort --reverse --numeric-sort
