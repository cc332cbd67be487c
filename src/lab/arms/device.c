/* device.c - the backend that computes: its arithmetic and its description. */
#include <stdio.h>
#include <string.h>

#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"

void pw_lab_arithmetic(char dst[16], const struct pw_backend_ops *ops)
{
    if (ops->portable)
        snprintf(dst, 16, "fp32");
    else
        snprintf(dst, 16, "%s%s", ops->host ? "" : "cuda-", ops->precision);
}

enum pw_code pw_lab_open_arithmetic(const struct pw_lab *lab, const char *arithmetic,
                                    const struct pw_backend_ops **ops, struct pw_backend **be, int *unit,
                                    struct pw_err *err)
{
    bool cuda = strncmp(arithmetic, "cuda-", 5) == 0;
    *ops = cuda ? pw_backend_find("cuda", "fast", arithmetic + 5, unit, err)
                : pw_backend_cpu_precision(lab->ops->host ? lab->ops->isa : "auto", arithmetic, err);
    if (*ops == NULL)
        return PW_EUSER;
    if (!cuda)
        *unit = lab->threads;
    return (*ops)->open(be, *unit, err);
}

void pw_lab_place(const struct pw_lab *lab, char *dst, size_t size)
{
    struct pw_device d;
    bool known = lab->ops->device_at != NULL && lab->ops->device_at(&d, lab->unit, NULL) == PW_OK;
    snprintf(dst, size, "%s: %s%s%s", lab->ops->name, lab->ops->device(lab->be), known ? "; " : "",
             known ? d.libraries : "");
}
