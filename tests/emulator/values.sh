#!/usr/bin/env bash
# values.sh ROOT CC CXX - where there is a CUDA toolkit, the emulator's headers agree with NVIDIA's: every constant that
# they define, sizes and alignments, and conversions to bfloat16 and back. One program is compiled with either.
set -eu
root=$1 cc=$2 cxx=$3
include=$root/tests/emulator/include

nvidia=
for candidate in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /opt/cuda /usr; do
    [ -n "$candidate" ] || continue
    for folder in "$candidate/include" "$candidate/targets/x86_64-linux/include"; do
        [ -z "$nvidia" ] && [ -f "$folder/cuda_runtime_api.h" ] && [ -f "$folder/cublasLt.h" ] && nvidia=$folder
    done
done
if [ -z "$nvidia" ]; then
    echo "skipped: there is no CUDA toolkit here"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mapfile -t names < <(sed -nE -e 's/^ *([A-Za-z0-9_]+) = [0-9]+,?$/\1/p' -e 's/^#define (cuda[A-Za-z]+) +0x.*/\1/p' \
    -e 's/^typedef enum( [A-Za-z_]+)? \{ (.*) \} .*/\2/p' "$include/cuda_runtime_api.h" "$include/cublasLt.h" |
    tr ',' '\n' | sed -E 's/ *= *[0-9]+//; s/ //g' | sort -u)
mapfile -t types < <(sed -nE 's/^typedef struct (PW_EMU_ALIGNED\([0-9]+\) )?([a-z]+[2-4]) \{$/\2/p' "$include/cuda_runtime_api.h")
if [ "${#names[@]}" -lt 100 ] || [ "${#types[@]}" -lt 8 ]; then
    echo "FAILED: ${#names[@]} constants and ${#types[@]} types are found in the emulator's headers: more are due"
    exit 1
fi

{
    printf '#include <cublasLt.h>\n#include <cuda_runtime_api.h>\n#include <stdalign.h>\n#include <stdio.h>\n'
    printf 'int main(void)\n{\n'
    for name in "${names[@]}"; do
        printf '    printf("%s %%lld\\n", (long long)%s);\n' "$name" "$name"
    done
    for type in "${types[@]}"; do
        printf '    printf("%s %%zu %%zu\\n", sizeof(%s), alignof(%s));\n' "$type" "$type" "$type"
    done
    printf '    printf("algorithm %%zu\\n", sizeof(cublasLtMatmulAlgo_t));\n'
    printf '    printf("heuristic %%zu\\n", sizeof(cublasLtMatmulHeuristicResult_t));\n'
    printf '}\n'
} >"$work/values.c"

cat >"$work/bf16.cpp" <<'END'
#include <cuda_bf16.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
int main()
{
    uint64_t hash = 14695981039346656037u;
    for (uint64_t i = 0; i < (uint64_t)1 << 32; i += 509) {
        uint32_t bits = (uint32_t)i;
        float x;
        unsigned short y;
        memcpy(&x, &bits, 4);
        __nv_bfloat16 half = __float2bfloat16_rn(x);
        memcpy(&y, &half, 2);
        hash = (hash ^ y) * 1099511628211u;
    }
    for (uint32_t i = 0; i < 65536; i++) {
        unsigned short bits = (unsigned short)i;
        __nv_bfloat16 half;
        memcpy(&half, &bits, 2);
        float x = __bfloat162float(half);
        uint32_t y;
        memcpy(&y, &x, 4);
        hash = (hash ^ y) * 1099511628211u;
    }
    printf("bf16 %016llx, %zu and %zu bytes\n", (unsigned long long)hash, sizeof(__nv_bfloat16), sizeof(__nv_bfloat162));
}
END

for which in emulator nvidia; do
    folder=$include
    [ $which = nvidia ] && folder=$nvidia
    "$cc" -std=c11 -isystem "$folder" "$work/values.c" -o "$work/values"
    "$cxx" -std=c++17 -O2 -isystem "$folder" "$work/bf16.cpp" -o "$work/bf16"
    { "$work/values" && "$work/bf16"; } >"$work/$which"
done
diff "$work/emulator" "$work/nvidia" || {
    echo "FAILED: < is the emulator's, > NVIDIA's ($nvidia)"
    exit 1
}
echo "${#names[@]} constants, ${#types[@]} types and bf16 agree with $nvidia"
