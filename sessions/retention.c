/* retention.c - how much a session takes on disk. */
#include <sys/stat.h>

#include "sessions/store_int.h"

static int64_t file_bytes(const struct pw_store *s, const char *name)
{
    char path[PW_PATH];
    struct stat st;
    pw_store_path(s, path, name);
    return lstat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

enum pw_code pw_store_measure(struct pw_store *s, struct pw_err *err)
{
    int64_t files = 0, checkpoints = 0;
    enum pw_code code = pw_sql_int(s->db, "SELECT sum(bytes) FROM file WHERE deleted=0", 0, &files, err);
    int64_t bytes = files + file_bytes(s, PW_SESSION_DB) + file_bytes(s, PW_SESSION_DB "-wal");
    pthread_mutex_lock(&s->lock);
    s->bytes = bytes;
    s->checkpoints = (int)checkpoints;
    pthread_mutex_unlock(&s->lock);
    return code;
}
