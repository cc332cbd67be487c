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

/* The instruction set of that name if the processor runs it, NULL if not; NULL or "auto" is the best there
 * is. allowed: the names that would do. */
static const struct isa *find(const char *name, char allowed[64])
{
    const struct isa *found = NULL;
    bool any = name == NULL || name[0] == '\0' || strcmp(name, "auto") == 0;
    allowed[0] = '\0';
    for (int i = N_ISAS - 1; i >= 0; i--) {
        if (!isas[i].runs())
            continue;
        if (any || strcmp(name, isas[i].name) == 0)
            found = &isas[i];
        strcat(allowed, allowed[0] != '\0' ? "|" : "");
        strcat(allowed, isas[i].name);
    }
    return found;
}

enum pw_code pw_cpu_choose(const struct pw_backend_ops **ops, struct pw_err *err)
{
    char allowed[64];
    const char *name = getenv("PEWTER_ISA");
    const struct isa *found = find(name, allowed);
    *ops = (found != NULL ? found : find(NULL, allowed))->ops;
    if (found != NULL)
        return PW_OK;
    return pw_fail(err, PW_EUSER, "PEWTER_ISA=%s: this processor and build allow auto|%s", name, allowed);
}

const struct pw_backend_ops *pw_backend_cpu(void)
{
    const struct pw_backend_ops *ops;
    pw_cpu_choose(&ops, NULL); /* a wrong PEWTER_ISA is reported by open */
    return ops;
}

const struct pw_backend_ops *pw_backend_cpu_isa(const char *isa, struct pw_err *err)
{
    char allowed[64];
    const struct isa *found;
    if (strcmp(isa, "auto") == 0)
        return pw_backend_cpu();
    found = find(isa, allowed);
    if (found != NULL)
        return found->ops;
    pw_fail(err, PW_EUSER, "isa=%s: this processor and build allow auto|%s", isa, allowed);
    return NULL;
}
