/* isa.c - chooses the instruction set at run time. All give the same bits (tests/ops/test_bits.c). */
#include "kernels/cpu/cpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

static bool always(void)
{
    return true;
}

/* Best first. */
static const struct isa {
    const char *name;
    const struct pw_backend_ops *ops;
    bool (*runs)(void);
} isas[] = {
#if defined(__x86_64__)
    {"avx512", &pw_table_avx512, has_avx512},
    {"avx2", &pw_table_avx2, has_avx2},
#endif
    {"scalar", &pw_table_scalar, always},
};
enum { N_ISAS = sizeof isas / sizeof *isas };

enum pw_code pw_cpu_choose(const struct pw_backend_ops **ops, struct pw_err *err)
{
    char allowed[64] = "";
    const struct isa *best = NULL;
    const char *name = getenv("PEWTER_ISA");
    for (int i = 0; i < N_ISAS; i++) {
        if (!isas[i].runs())
            continue;
        if (best == NULL)
            best = &isas[i];
        if (name != NULL && strcmp(name, isas[i].name) == 0) {
            *ops = isas[i].ops;
            return PW_OK;
        }
        if (allowed[0] != '\0')
            strcat(allowed, "|");
        strcat(allowed, isas[i].name);
    }
    *ops = best->ops;
    if (name == NULL || name[0] == '\0')
        return PW_OK;
    return pw_fail(err, PW_EUSER, "PEWTER_ISA=%s: this processor and build allow %s", name, allowed);
}

const struct pw_backend_ops *pw_backend_cpu(void)
{
    const struct pw_backend_ops *ops;
    pw_cpu_choose(&ops, NULL); /* a wrong PEWTER_ISA is reported by open */
    return ops;
}
