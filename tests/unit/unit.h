/* unit.h - shared by the unit tests: cmocka with its headers in order, and a temporary folder. */
#ifndef PW_TESTS_UNIT_H
#define PW_TESTS_UNIT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Setup and teardown of a test that writes: *state is a new folder, removed with its files. */
static inline int scratch_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    char *dir = malloc(4096);

    if (dir == NULL)
        return -1;
    snprintf(dir, 4096, "%s/pewter-unit-XXXXXX", base != NULL ? base : "/tmp");
    *state = mkdtemp(dir);
    return *state != NULL ? 0 : -1;
}

/* Counts the names in a folder, without . and .., and copies the last one to name, which may be NULL. */
static inline int scratch_count(const char *dir, char name[256])
{
    DIR *d = opendir(dir);
    int n = 0;

    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        n++;
        if (name != NULL)
            snprintf(name, 256, "%s", e->d_name);
    }
    if (d != NULL)
        closedir(d);
    return n;
}

static inline int scratch_teardown(void **state)
{
    char name[256], path[4096 + 256];

    while (scratch_count(*state, name) > 0) {
        snprintf(path, sizeof path, "%s/%s", (char *)*state, name);
        if (remove(path) != 0)
            return -1;
    }
    int failed = rmdir(*state);
    free(*state);
    return failed;
}

static inline const char *scratch_path(void **state, const char *name, char path[4096])
{
    int n = snprintf(path, 4096, "%s/%s", (char *)*state, name);

    assert_in_range(n, 1, 4095);
    return path;
}

#endif
