#!/usr/bin/env bash
# bits.sh - compares the trained bits of all compilers, optimisation levels and processors. For each
# combination it builds the base, the kernels and the model, with no library but libc, and runs bench/bits.c.
# This compares the golden digests of tests/model/ref_digests.c on every instruction set, with 1, 2, 3 and 8
# threads.
#
# usage: bench/bits.sh [every=N] [BUILD...]    for example gcc-O2 clang-O3 aarch64-O2; default: all that this machine can
# build. every=8: only every eighth model.
#
# `./dev distros` runs each distribution's gcc and clang with -O1 and every eighth model. aarch64 is cross-compiled and run by
# qemu-user (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user). docs/bits.md has the results of the last full run.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# PEWTER_LIBDIR and PEWTER_FULL_LIBDIR: folders of plug-ins; no plug-in is used here.
flags=(-std=c11 -D_GNU_SOURCE -I. -Isrc -ffp-contract=off -fno-math-errno '-DPEWTER_LIBDIR="lib"' '-DPEWTER_FULL_LIBDIR="/lib"')

# sources BUILD: prints "object source flags..." for every object of a build, one line each.
sources() {
    local file isa isas=(scalar)
    for file in src/base/*.c src/model/{pe,expr}/*.c src/model/*.c kernels/backend kernels/cpu/{cpu,isa} \
        tests/model/ref_digests bench/bits; do
        file=${file%.c}
        case $file in # these need a library
        */checkpoint* | */metadata | */safetensors | */json | */npz* | */sha256 | */file_sha) continue ;;
        esac
        echo "$work/${file//\//_}.o $file.c"
    done
    [[ $1 == aarch64* ]] || isas+=(avx2 avx512)
    for file in kernels/cpu/*.c; do
        case $file in */cpu.c | */isa.c | */amx*.c) continue ;; esac
        for isa in "${isas[@]}"; do
            echo "$work/$(basename "$file" .c)_$isa.o $file $(isa_flags "$isa") -DPW_ISA=$isa"
        done
    done
    [[ $1 == aarch64* ]] || for file in kernels/cpu/{amx,amx_linear,table}.c; do # linked, but not compared
        echo "$work/$(basename "$file" .c)_bf16.o $file $(isa_flags amx) -DPW_ISA=avx512 -DPW_AMX"
    done
}

isa_flags() {
    case $1 in
    avx2) echo -mavx2 -mfma -mf16c ;;
    avx512) echo -mavx512f -mfma ;;
    amx) echo -mavx512f -mfma -mavx512bw -mavx512bf16 -mamx-tile -mamx-bf16 ;;
    esac
}

# one BUILD: builds and runs it. Status 77: no compiler; 3: the build fails.
one() {
    local compiler=${1%-O*} level=O${1##*-O} run=() link=()
    case $compiler in
    aarch64)
        compiler=aarch64-linux-gnu-gcc link=(-static) run=(qemu-aarch64)
        command -v qemu-aarch64 >/dev/null || return 77
        ;;
    esac
    command -v "$compiler" >/dev/null || return 77
    rm -f "$work"/*.o
    sources "$1" | xargs -P "$(nproc)" -L 1 "$compiler" "-$level" "${flags[@]}" -c -o || return 3
    "$compiler" ${link[@]+"${link[@]}"} -o "$work/bits" "$work"/*.o -lm -lpthread || return 3
    ${run[@]+"${run[@]}"} "$work/bits" "$every"
}

every=1
case ${1:-} in
every=*)
    every=${1#every=}
    shift
    ;;
esac
[ $# -gt 0 ] || set -- gcc-O1 gcc-O2 gcc-O3 clang-O1 clang-O2 clang-O3 aarch64-O2
failed=0
for build in "$@"; do
    status=0
    one "$build" >"$work/out" || status=$?
    case $status in
    0) echo "$build: equal on $(grep -oE "^[a-z0-9]+: [0-9]+ of" "$work/out" | cut -d: -f1 | xargs)" ;;
    77) echo "$build: skipped, no compiler or emulator here" ;;
    3)
        echo "$build: DOES NOT BUILD"
        failed=1
        ;;
    *)
        cat "$work/out"
        echo "$build: DIFFERS"
        failed=1
        ;;
    esac
done
exit $failed
