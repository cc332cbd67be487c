/* blas_library.c - opens the newest cuBLASLt that is installed. */
#include "kernels/cuda/blas_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifndef PW_LT_LIBRARIES /* an emulated build has its own */
#define PW_LT_LIBRARIES "libcublasLt.so.13", "libcublasLt.so.12"
#endif
#define WANTED "cuda: mode=fast needs cuBLASLt 12 or 13, mode=ref doesn't: "

/* Once opened it stays loaded (RTLD_NODELETE): it has half a gigabyte, which must not be read again for
 * every query of a device, and graphs refer to its kernels. */
enum { OLDEST = 12 };

/* A function pointer is not an object pointer, so it is copied as bytes (POSIX, dlsym). */
static bool take(void *library, void *into, const char *name)
{
    void *found = dlsym(library, name);

    memcpy(into, &found, sizeof found);
    return found != NULL;
}

static enum pw_code look_up(struct pw_lt *lt, struct pw_err *err)
{
#define PW_LT(name)                                                                                          \
    if (!take(lt->library, &lt->name, "cublasLt" #name))                                                     \
        return pw_fail(err, PW_EUSER, WANTED "this one has no function cublasLt" #name);
    PW_LT_FUNCTIONS
#undef PW_LT
    int version = (int)lt->GetVersion(); /* 130002 */
    lt->version[0] = version / 10000;
    lt->version[1] = version / 100 % 100;
    lt->version[2] = version % 100;
    if (lt->version[0] < OLDEST)
        return pw_fail(err, PW_EUSER, WANTED "this is %d.%d.%d", lt->version[0], lt->version[1],
                       lt->version[2]);
    return PW_OK;
}

enum pw_code pw_lt_open(struct pw_lt *lt, struct pw_err *err)
{
    static const char *const names[] = {PW_LT_LIBRARIES};
    char why[256] = "";
    size_t n = 0;

    memset(lt, 0, sizeof *lt);
    for (size_t i = 0; i < sizeof names / sizeof *names && lt->library == NULL; i++) {
        lt->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (lt->library == NULL && n < sizeof why)
            n += (size_t)snprintf(why + n, sizeof why - n, "%s%s", i > 0 ? "; " : "", dlerror());
    }
    if (lt->library == NULL)
        return pw_fail(err, PW_EUSER, WANTED "%s", why);
    enum pw_code code = look_up(lt, err);
    if (code != PW_OK)
        pw_lt_close(lt);
    return code;
}

void pw_lt_close(struct pw_lt *lt)
{
    if (lt->library != NULL)
        dlclose(lt->library);
    memset(lt, 0, sizeof *lt);
}
