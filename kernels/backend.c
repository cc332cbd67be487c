/* backend.c - the table of built-in backends. */
#include "kernels/backend.h"

#include <string.h>

static const struct pw_backend_ops *(*const backends[])(void) = {pw_backend_cpu};

const struct pw_backend_ops *pw_backend_find(const char *name, struct pw_err *err)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        const struct pw_backend_ops *ops = backends[i]();
        if (strcmp(ops->name, name) == 0)
            return ops;
    }
    pw_fail(err, PW_EUSER, "no backend '%s'; allowed is cpu", name);
    return NULL;
}
