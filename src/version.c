/* version.c - prints the version. */
#include "version.h"

#include <stdio.h>

#include "kernels/backend.h"

void pw_version_print(void)
{
    struct pw_err err;
    char path[4096];
    printf("pewter %s", PEWTER_VERSION);
    if (pw_commit[0] != '\0')
        printf(" (commit %s)", pw_commit);
    printf("\ncpu: %s\n", pw_backend_cpu()->isa);
    const struct pw_backend_plugin *cuda = pw_backend_plugin_of("cuda", path, sizeof path, &err);
    if (cuda != NULL)
        printf("cuda: plug-in %s\n", path);
    else
        puts(err.msg); /* begins with "cuda: " */
}
