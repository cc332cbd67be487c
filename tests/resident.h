/* resident.h - how much memory a test holds. */
#ifndef PW_TESTS_RESIDENT_H
#define PW_TESTS_RESIDENT_H
#include <stdio.h>

/* Anonymous memory of this process, in bytes. 0: the system does not say, or a sanitizer keeps freed memory.
 */
static inline size_t resident(void)
{
    size_t kib = 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    char line[128];
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "Anonymous: %zu kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
#endif
    return kib * 1024;
}

#endif
