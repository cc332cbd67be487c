/* backend.c - find a backend by name: built in, or as a plug-in.
 *
 * A plug-in is searched for only when it is requested, so the program starts, trains and explains itself
 * without the plug-in, a driver or a device. It exports one function. It is never unloaded: its threads and
 * its exit handlers outlive every backend. */
#include "kernels/backend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { PATH = 1024 };

/* ---- plug-ins */

/* Write the i-th folder in which a plug-in may lie. If $PEWTER_BACKEND_DIR is set, it is the only one.
 * Otherwise: the program's folder (as in a build folder), the library folder next to it, and the configured
 * installation folder. Returns false if there is no i-th folder. */
static bool folder(int i, char dst[PATH])
{
    const char *chosen = getenv("PEWTER_BACKEND_DIR");
    char self[PATH];
    if (chosen != NULL && chosen[0] != '\0')
        return i == 0 && snprintf(dst, PATH, "%s", chosen) < PATH;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL)
        *slash = '\0';
    switch (i) {
    case 0: return snprintf(dst, PATH, "%s", self) < PATH;
    case 1: return snprintf(dst, PATH, "%s/../" PEWTER_LIBDIR "/pewter", self) < PATH;
    case 2: return snprintf(dst, PATH, "%s", PEWTER_FULL_LIBDIR "/pewter") < PATH;
    default: return false;
    }
}

/* Replace a path by one without "..", if that is not too long. */
static void shorten(char path[PATH + 64])
{
    char *whole = realpath(path, NULL);
    if (whole != NULL && strlen(whole) < PATH + 64)
        snprintf(path, PATH + 64, "%s", whole);
    free(whole);
}

/* Write the path of the plug-in's file. If there is none, err lists the folders that were searched. */
static bool look_for(const char *name, char path[PATH + 64], struct pw_err *err)
{
    char in[PATH];
    struct pw_str where = {0};
    for (int i = 0; folder(i, in); i++) {
        snprintf(path, PATH + 64, "%s/libpewter_%s.so", in, name);
        if (access(path, F_OK) == 0) {
            shorten(path);
            pw_str_fini(&where);
            return true;
        }
        pw_str_add(&where, "%s%s", i > 0 ? ", " : "", in);
    }
    pw_fail(err, PW_EUSER, "%s: no plug-in libpewter_%s.so in %s", name, name, pw_str_text(&where));
    pw_str_fini(&where);
    return false;
}

const struct pw_backend_plugin *pw_backend_plugin_of(const char *name, char *path, size_t size,
                                                     struct pw_err *err)
{
    char file[PATH + 64];
    pw_backend_entry *entry;
    if (!look_for(name, file, err))
        return NULL;
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        pw_fail(err, PW_EUSER, "%s: the plug-in can't be loaded: %s", name, dlerror());
        return NULL;
    }
    /* POSIX's way to convert an object pointer to a function pointer, which ISO C lacks */
    *(void **)&entry = dlsym(handle, PW_BACKEND_ENTRY);
    const struct pw_backend_plugin *plugin = entry != NULL ? entry() : NULL;
    if (plugin == NULL || plugin->abi != PW_BACKEND_ABI) {
        if (plugin == NULL)
            pw_fail(err, PW_EUSER, "%s: %s is not a plug-in of pewter", name, file);
        else
            pw_fail(err, PW_EUSER, "%s: %s is of another pewter (contract %d, this one has %d)", name, file,
                    plugin->abi, PW_BACKEND_ABI);
        dlclose(handle);
        return NULL;
    }
    pw_text_copy(path, size, file);
    return plugin;
}

/* ---- the choice among a plug-in's tables */

static bool fits(const char *wanted, const char *is)
{
    return wanted == NULL || strcmp(wanted, is) == 0;
}

static const struct pw_backend_ops *choose(const struct pw_backend_plugin *p, const char *mode,
                                           const char *precision, struct pw_err *err)
{
    struct pw_str all = {0};
    for (int i = 0; p->tables[i] != NULL; i++) {
        const struct pw_backend_ops *t = p->tables[i];
        if (fits(mode, t->mode) && fits(precision, t->precision)) {
            pw_str_fini(&all);
            return t;
        }
        pw_str_add(&all, "%s%s in %s", i > 0 ? ", " : "", t->mode, t->precision);
    }
    pw_fail(err, PW_EUSER, "%s has no mode %s%s%s; there are %s", p->tables[0]->name,
            mode != NULL ? mode : "", mode != NULL && precision != NULL ? " in " : "",
            precision != NULL ? precision : "", pw_str_text(&all));
    pw_str_fini(&all);
    return NULL;
}

static const struct pw_backend_ops *find_plugin(const char *name, const char *mode, const char *precision,
                                                int *unit, struct pw_err *err)
{
    char path[PATH], stem[16];
    const char *colon = strchr(name, ':');
    long n = 0;
    snprintf(stem, sizeof stem, "%.*s", colon != NULL ? (int)(colon - name) : (int)strlen(name), name);
    if (strcmp(stem, "cuda") != 0) {
        pw_fail(err, PW_EUSER, "no backend '%.40s'; there are cpu, cuda, cuda:N for device N, and auto",
                name);
        return NULL;
    }
    if (colon != NULL && !pw_text_int(colon + 1, 0, 1023, &n)) {
        pw_fail(err, PW_EUSER, "backend '%.40s': after the colon write a device number: 0, 1, ...", name);
        return NULL;
    }
    *unit = (int)n;
    const struct pw_backend_plugin *p = pw_backend_plugin_of(stem, path, sizeof path, err);
    return p != NULL ? choose(p, mode, precision, err) : NULL;
}

const struct pw_backend_ops *pw_backend_find(const char *name, const char *mode, const char *precision,
                                             int *unit, struct pw_err *err)
{
    bool cpu = strncmp(name, "cpu", 3) == 0 && (name[3] == '\0' || name[3] == ':');
    *unit = 0;
    if (!cpu)
        return find_plugin(name, mode, precision, unit, err);
    if (mode != NULL) {
        pw_fail(err, PW_EUSER, "mode=%.20s: the cpu has no modes; cuda has fast and ref", mode);
        return NULL;
    }
    return pw_backend_cpu_precision(name[3] == ':' ? name + 4 : "auto",
                                    precision != NULL ? precision : "fp32", err);
}
