/* ref_quotient.c - see ref_quotient.h. It is compiled for AVX-512 if the compiler supports it
 * (tests/CMakeLists.txt), because v_quotient is plain division on all other instruction sets. */
#include "tests/ops/ref_quotient.h"

#include <string.h>

#include "kernels/cpu/vmath.h"

bool ref_quotients_run(void)
{
#if defined(__AVX512F__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

int ref_quotients_differ(const float *x, int n, float by)
{
    struct v_divisor d = v_divisor(by);
    for (int i = 0; i < n; i += 16) {
        float got[16], want[16];
        v_store(got, v_quotient(v_load_n(x + i, n - i), &d));
        v_store(want, v_div(v_load_n(x + i, n - i), d.by));
        for (int l = 0; l < 16 && memcmp(got, want, sizeof got) != 0; l++)
            if (memcmp(&got[l], &want[l], sizeof got[l]) != 0)
                return i + l;
    }
    return -1;
}
