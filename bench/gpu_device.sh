#!/usr/bin/env bash
# gpu_device.sh - tests and benchmarks on a machine with an NVIDIA device, without any installation or build
# there. `pack` collects all needed files in one folder on this machine.
#
# usage: bench/gpu_device.sh pack FOLDER              here: build with nvcc, and fill FOLDER (about 30 MB)
#        FOLDER/gpu_device.sh test [MINUTES]          there: tests on the device, then under compute-sanitizer
#        FOLDER/gpu_device.sh bench [quick] [...]     there: bench/gpu.py with these options
#
# The other machine needs bash, python3 and cuBLASLt 12 or 13 (from a toolkit or from PyTorch's packages). Its
# driver must be at least as new as the toolkit here. Its C library must not be older than the one here.
# PyTorch (for comparison), compute-sanitizer, ncu and nsys are used if present. $ARCHITECTURES selects the
# device code, like PEWTER_CUDA_ARCHITECTURES; 90 compiles fast.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    sed -n '5,7s/^# *//p' "${BASH_SOURCE[0]}" >&2
    exit 2
}

# Prints the libraries that a program needs and that a machine without pewter's packages lacks.
libraries() {
    ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
        grep -vE '/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux[^/]*)\.so'
}

pack() {
    local to=$1 build=$here/../build/release library
    cd "$here/.."
    cmake --preset release -DBUILD_TESTING=ON -DPEWTER_CUDA=ON ${ARCHITECTURES:+-DPEWTER_CUDA_ARCHITECTURES=$ARCHITECTURES}
    cmake --build --preset release --target pewter pewter_cuda bench_train bench_limits cuda_device
    cd - >/dev/null
    mkdir -p "$to/bench" "$to/tests" "$to/lib"
    cp "$build/pewter" "$build/libpewter_cuda.so" "$to"
    cp "$build"/bench/bench_{train,limits} "$here"/{gpu,gpu_blas,gpu_report,gpu_kernels,torch_gpu,torch_train}.py "$to/bench"
    cp "$build"/tests/cuda/device/device_* "$to/tests"
    cp "$here/gpu_device.sh" "$to"
    for library in $(libraries "$to/pewter" "$to"/bench/bench_* "$to"/tests/*); do
        cp -L "$library" "$to/lib"
    done
    strip "$to/pewter" "$to/libpewter_cuda.so" "$to"/bench/bench_* "$to"/tests/*
    du -sh "$to"
}

# on_device SECONDS NAME COMMAND...: runs a command and prints one line; on failure also the end of its
# output. Standard input is passed on, for bench_train.
failed=0
on_device() {
    local name=$2 left=$(($1 - SECONDS)) status=0 begin=$SECONDS
    shift 2
    if [ "$left" -lt 2 ]; then
        echo "NOT RUN  $name: no time left"
        failed=1
        return
    fi
    timeout "$left" "$@" >"$log" 2>&1 <<<"steps 3" || status=$?
    if [ $status -eq 0 ]; then
        echo "ok       $name ($((SECONDS - begin)) s)"
        return
    fi
    failed=1
    echo "FAILED   $name: status $status after $((SECONDS - begin)) s (124: no time left)"
    tail -n 15 "$log"
}

run_tests() {
    local end=$((${1:-9} * 60)) program tool mode small
    log=$(mktemp)
    export PEWTER_BACKEND_DIR=${PEWTER_BACKEND_DIR:-$here}
    LD_LIBRARY_PATH=$here/lib:${LD_LIBRARY_PATH:-}:$(python3 "$here/bench/gpu_blas.py")
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH%:}
    on_device $end "pewter devices" "$here/pewter" devices
    cat "$log"
    for program in "$here"/tests/*; do
        on_device $end "${program##*/}" "$program"
    done
    if ! command -v compute-sanitizer >/dev/null; then
        echo "NOT RUN  compute-sanitizer: it is not there"
        return $failed
    fi
    # Every operation in every mode, and whole steps. Models are small: under these tools a step takes a
    # hundred times as long.
    small=(pe=t5 layers=2 width=64 heads=4 "task=copy lengths=2..20" batch=8 batches=2 dropout=0.1)
    for tool in memcheck racecheck initcheck synccheck; do
        for mode in "ref fp32" "fast tf32" "fast bf16"; do
            on_device $end "$tool, steps in $mode" compute-sanitizer --tool $tool --error-exitcode 9 \
                "$here/bench/bench_train" backend=cuda "mode=${mode% *}" "precision=${mode#* }" "${small[@]}"
        done
    done
    for tool in memcheck racecheck initcheck synccheck; do
        for program in "$here"/tests/*; do
            on_device $end "$tool, ${program##*/}" compute-sanitizer --tool $tool --error-exitcode 9 "$program"
        done
    done
    return $failed
}

verb=${1:-}
[ $# -eq 0 ] || shift
case $verb in
pack)
    [ $# -eq 1 ] || usage
    pack "$1"
    ;;
test) run_tests "$@" ;;
bench) exec python3 "$here/bench/gpu.py" --build "$here" "$@" ;;
*) usage ;;
esac
