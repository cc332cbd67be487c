/* usage.c - the space that a session takes on disk, and the time of its last write. They need no open
 * database, so damaged sessions have them, too. */
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sessions/store_int.h"

int64_t pw_session_usage(const char *path)
{
    char *roots[] = {(char *)path, NULL}; /* fts does not change it */
    int64_t bytes = 0;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
    if (tree == NULL)
        return 0;
    for (FTSENT *e; (e = fts_read(tree)) != NULL;)
        if (e->fts_info == FTS_F || e->fts_info == FTS_D)
            bytes += (int64_t)e->fts_statp->st_blocks * 512;
    fts_close(tree);
    return bytes;
}

time_t pw_session_written(const char *folder)
{
    static const char *const names[] = {PW_SESSION_DB, PW_SESSION_DB "-wal"};
    char path[PW_PATH];
    struct stat st;
    time_t last = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]) < (int)sizeof path &&
            lstat(path, &st) == 0 && st.st_mtime > last)
            last = st.st_mtime;
    return last;
}
