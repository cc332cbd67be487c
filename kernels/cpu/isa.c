/* isa.c - choose the instruction set and the precision at run time. All instruction sets give the same bits
 * (tests/ops/test_bits.c); precision bf16 has its own. */
#include "kernels/cpu/cpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
}

/* With the conversions of half precision (F16C), which some compilers' builtin does not know. */
static bool has_avx2(void)
{
    unsigned a, b, c, d, f16c = 1u << 29;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __get_cpuid(1, &a, &b, &c, &d) && (c & f16c);
}

/* Does the processor have AMX with bf16 tiles, and AVX-512's conversions to bf16 (Intel SDM, CPUID leaf
 * 7)? */
static bool has_amx(void)
{
    unsigned a, b, c, d, bw = 1u << 30, tile = 1u << 24, bf16 = 1u << 22, conversions = 1u << 5;
    if (!has_avx512() || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bw) || !(d & tile) || !(d & bf16))
        return false;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & conversions);
}

/* Tiles add 8 KiB to the state that the kernel saves per thread, so a process must request permission. */
static bool may_use_amx(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}
#endif

static bool always(void)
{
    return true;
}

/* best first */
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

/* Find the instruction set of that name if the processor supports it, else NULL; NULL or "auto": the best.
 * allowed receives the supported names. */
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
    pw_cpu_choose(&ops, NULL); /* open reports an invalid PEWTER_ISA */
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

/* Return the table of bf16, or NULL and the reason. */
static const struct pw_backend_ops *bf16(struct pw_err *err)
{
#if defined(__x86_64__)
    if (has_amx() && may_use_amx())
        return &pw_table_amx;
    if (has_amx()) {
        pw_fail(err, PW_EUSER,
                "precision=bf16: the system refuses the processor's bf16 matrix units (AMX); "
                "fp32 is allowed");
        return NULL;
    }
#endif
    pw_fail(err, PW_EUSER, "precision=bf16: this processor has no bf16 matrix units (AMX); fp32 is allowed");
    return NULL;
}

const struct pw_backend_ops *pw_backend_cpu_precision(const char *isa, const char *precision,
                                                      struct pw_err *err)
{
    const struct pw_backend_ops *ops = pw_backend_cpu_isa(isa, err), *table;
    if (ops == NULL || strcmp(precision, "fp32") == 0)
        return ops;
    if (strcmp(precision, "bf16") != 0) {
        pw_fail(err, PW_EUSER, "precision=%.20s: the cpu has fp32 and bf16", precision);
        return NULL;
    }
    table = bf16(err);
    if (table == NULL || strcmp(ops->isa, table->isa) == 0)
        return table;
    pw_fail(err, PW_EUSER, "precision=bf16 goes with isa=%s, not with isa=%s; fp32 goes with all", table->isa,
            ops->isa);
    return NULL;
}
