/* places.c - see places.h. */
#include "base/places.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds a folder beside the program. */
static char *find_own(const char *name)
{
    static const char *const places[] = {"", "/../share/pewter", "/../.."};
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return NULL;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct pw_str one = {0};
        pw_str_add(&one, "%s%s/%s", self, places[i], name);
        if (access(one.s, R_OK | X_OK) == 0)
            return one.s;
        pw_str_fini(&one);
    }
    return NULL;
}

bool pw_place_own(struct pw_str *path, const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        const char *name;
        char *path; /* NULL: there is none */
    } own[8];
    size_t i = 0;
    pthread_mutex_lock(&lock);
    while (own[i].name != NULL && strcmp(own[i].name, name) != 0)
        i++;
    assert(i + 1 < sizeof own / sizeof *own);
    if (own[i].name == NULL) {
        own[i].name = name;
        own[i].path = find_own(name);
    }
    const char *found = own[i].path;
    pthread_mutex_unlock(&lock);
    if (found != NULL)
        pw_str_add(path, "%s", found);
    return found != NULL;
}

const char *pw_place_own_hint(void)
{
    struct pw_str path = {0};
    bool found = pw_place_own(&path, "encodings");
    pw_str_fini(&path);
    return found ? "" : "; this program was copied without share/pewter of its package, which has more";
}

static bool in_home(struct pw_str *path, const char *variable, const char *fallback, const char *name)
{
    const char *folder = getenv(variable), *home = getenv("HOME");
    if (folder != NULL && *folder == '/') /* the XDG standard says to ignore relative paths */
        pw_str_add(path, "%s/pewter/%s", folder, name);
    else if (home != NULL && *home == '/')
        pw_str_add(path, "%s/%s/pewter/%s", home, fallback, name);
    else
        return false;
    return true;
}

bool pw_place_config(struct pw_str *path, const char *name)
{
    return in_home(path, "XDG_CONFIG_HOME", ".config", name);
}

bool pw_place_state(struct pw_str *path, const char *name)
{
    return in_home(path, "XDG_STATE_HOME", ".local/state", name);
}
