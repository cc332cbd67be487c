/* backend.c - the built-in backends by name. */
#include "kernels/backend.h"

#include <string.h>

const struct pw_backend_ops *pw_backend_find(const char *name, struct pw_err *err)
{
    if (strcmp(name, "cpu") == 0)
        return pw_backend_cpu();
    if (strncmp(name, "cpu:", 4) == 0)
        return pw_backend_cpu_isa(name + 4, err);
    pw_fail(err, PW_EUSER, "no backend '%s'; allowed is cpu, or cpu:ISA", name);
    return NULL;
}
