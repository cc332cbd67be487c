/* disk.c - see disk.h. Durable data and queued changes are kept apart; a loss of power applies some of the
 * changes. */
#include "disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../unit/ref_codec.h"
#include "base/alloc.h"

enum { SECTOR = 512 };

struct change {
    bool truncate;
    int64_t at;
    const uint8_t *data; /* [n] */
    size_t n;
};

/* A file's content, independent of its names. */
struct content {
    bool folder;
    uint8_t *bytes; /* [n] bytes that are on the disk */
    size_t n;
    struct change *changes; /* [n_changes] changes that are not synced */
    int n_changes;
};

/* A change of a name: created or removed. */
struct naming {
    char *path;
    int content; /* -1: the name is removed */
    bool pair;   /* the next change belongs to the same rename */
};

struct names {
    struct naming *at; /* [n] */
    int n;
};

struct disk {
    enum disk_model model;
    enum disk_mutant mutant;
    uint64_t rng;
    struct content *contents; /* [n_contents] */
    int n_contents;
    struct names now, durable, changes; /* as the process sees them, on the disk, not synced */
};

struct disk *disk_new(enum disk_model model, enum disk_mutant mutant, uint64_t seed)
{
    struct disk *d = pw_alloc(1, sizeof *d);
    *d = (struct disk){.model = model, .mutant = mutant, .rng = seed};
    return d;
}

static void free_names(struct names *n)
{
    for (int i = 0; i < n->n; i++)
        free(n->at[i].path);
    free(n->at);
    *n = (struct names){0};
}

void disk_free(struct disk *d)
{
    for (int i = 0; i < d->n_contents; i++) {
        free(d->contents[i].bytes);
        free(d->contents[i].changes);
    }
    free(d->contents);
    free_names(&d->now);
    free_names(&d->durable);
    free_names(&d->changes);
    free(d);
}

/* ---- names */

static int find(const struct names *names, const char *path)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->at[i].path, path) == 0)
            return i;
    return -1;
}

static void add(struct names *names, const char *path, int content, bool pair)
{
    names->at = pw_grow(names->at, (size_t)names->n + 1, sizeof *names->at);
    names->at[names->n++] = (struct naming){pw_text_dup(path), content, pair};
}

static void drop(struct names *names, int i)
{
    free(names->at[i].path);
    memmove(names->at + i, names->at + i + 1, (size_t)(--names->n - i) * sizeof *names->at);
}

static void change_name(struct names *names, const struct naming *c)
{
    int i = find(names, c->path);
    if (i >= 0)
        drop(names, i);
    if (c->content >= 0)
        add(names, c->path, c->content, false);
}

/* Changes a name for the process, and queues the change for the disk. */
static void set_name(struct disk *d, const char *path, int content, bool pair)
{
    change_name(&d->now, &(struct naming){(char *)path, content, pair});
    add(&d->changes, path, content, pair);
}

static size_t parent_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) : 0;
}

static bool is_in(const char *path, const char *folder)
{
    size_t n = parent_length(path);
    return strlen(folder) == n && strncmp(path, folder, n) == 0;
}

/* Writes the queued changes of names to the disk: those in `folder`, or all if it is NULL. */
static void sync_names(struct disk *d, const char *folder)
{
    for (int i = 0; i < d->changes.n;) {
        if (folder != NULL && !is_in(d->changes.at[i].path, folder)) {
            i++;
            continue;
        }
        change_name(&d->durable, &d->changes.at[i]);
        drop(&d->changes, i);
    }
}

/* ---- contents */

static int new_content(struct disk *d, bool folder)
{
    d->contents = pw_grow(d->contents, (size_t)d->n_contents + 1, sizeof *d->contents);
    d->contents[d->n_contents] = (struct content){.folder = folder};
    return d->n_contents++;
}

static struct content *content_of(struct disk *d, const char *path)
{
    int i = find(&d->now, path);
    return i >= 0 ? &d->contents[d->now.at[i].content] : NULL;
}

static void resize(uint8_t **bytes, size_t *n, size_t size)
{
    if (size > *n) {
        *bytes = pw_grow(*bytes, size, 1);
        memset(*bytes + *n, 0, size - *n);
    }
    *n = size;
}

static void apply(uint8_t **bytes, size_t *n, const struct change *c)
{
    if (c->truncate) {
        resize(bytes, n, (size_t)c->at);
        return;
    }
    if ((size_t)c->at + c->n > *n)
        resize(bytes, n, (size_t)c->at + c->n);
    memcpy(*bytes + c->at, c->data, c->n);
}

static void sync_content(struct content *c)
{
    for (int i = 0; c != NULL && i < c->n_changes; i++)
        apply(&c->bytes, &c->n, &c->changes[i]);
    if (c != NULL)
        c->n_changes = 0;
}

static void change(struct content *c, struct change by)
{
    if (c == NULL)
        return;
    c->changes = pw_grow(c->changes, (size_t)c->n_changes + 1, sizeof *c->changes);
    c->changes[c->n_changes++] = by;
}

/* ---- operations of the process */

static bool ends(const char *path, const char *with)
{
    size_t n = strlen(path), m = strlen(with);
    return n >= m && strcmp(path + n - m, with) == 0;
}

static bool forgotten(const struct disk *d, const char *path, bool folder)
{
    bool sqlite = strstr(path, "/session.db") != NULL;
    switch (d->mutant) {
    case MUTANT_FILES: return !folder && strstr(path, "/tmp/") != NULL; /* renamed into files/ afterwards */
    case MUTANT_NAMES: return folder;
    case MUTANT_NORMAL: return ends(path, "session.db-wal");
    case MUTANT_OFF: return sqlite;
    default: return false;
    }
}

void disk_do(struct disk *d, const struct pw_log_op *op, const char *path, const char *to, const void *data)
{
    int content;
    switch (op->what) {
    case PW_LOG_CREATE:
    case PW_LOG_FOLDER:
        content = new_content(d, op->what == PW_LOG_FOLDER); /* the rename moves the temporary files */
        set_name(d, path, content, false);
        break;
    case PW_LOG_WRITE:
        if (d->mutant == MUTANT_NORMAL && ends(path, "session.db"))
            for (int i = 0; i < d->now.n; i++)
                if (ends(d->now.at[i].path, "session.db-wal"))
                    sync_content(&d->contents[d->now.at[i].content]);
        change(content_of(d, path), (struct change){.at = op->at, .data = data, .n = op->n});
        break;
    case PW_LOG_TRUNCATE: change(content_of(d, path), (struct change){.truncate = true, .at = op->at}); break;
    case PW_LOG_RENAME:
        content = find(&d->now, path);
        if (content < 0)
            break;
        set_name(d, to, d->now.at[content].content, true);
        set_name(d, path, -1, false);
        break;
    case PW_LOG_UNLINK: set_name(d, path, -1, false); break;
    case PW_LOG_SYNC:
        if (forgotten(d, path, false))
            break;
        sync_content(content_of(d, path));
        if (d->model == DISK_EXT4)
            sync_names(d, NULL);
        break;
    case PW_LOG_SYNC_FOLDER:
        if (!forgotten(d, path, true))
            sync_names(d, d->model == DISK_EXT4 ? NULL : path);
        break;
    default: break;
    }
}

/* ---- states after a loss of power */

static double chance(struct disk *d)
{
    return (double)(codec_next(&d->rng) >> 11) * 0x1p-53;
}

static struct names some_names(struct disk *d)
{
    static const double stops[] = {0.0, 0.1, 0.3, 0.6, 1.0};
    struct names left = {0};
    double stop = stops[codec_next(&d->rng) % 5];
    int cut = (int)(codec_next(&d->rng) % ((uint64_t)d->changes.n + 1));
    for (int i = 0; i < d->durable.n; i++)
        add(&left, d->durable.at[i].path, d->durable.at[i].content, false);
    if (cut > 0 && d->changes.at[cut - 1].pair)
        cut++;
    for (int i = 0; d->model == DISK_EXT4 && i < cut; i++)
        change_name(&left, &d->changes.at[i]);
    /* POSIX: each folder keeps a random prefix of its own changes. */
    for (int i = 0; d->model == DISK_POSIX && i < d->changes.n; i++) {
        const struct naming *c = &d->changes.at[i];
        bool first = true, arrives = true;
        for (int j = 0; j < i; j++)
            first &= parent_length(d->changes.at[j].path) != parent_length(c->path) ||
                     strncmp(d->changes.at[j].path, c->path, parent_length(c->path)) != 0;
        for (int j = i; first && j < d->changes.n; j++) {
            const struct naming *other = &d->changes.at[j];
            if (parent_length(other->path) != parent_length(c->path) ||
                strncmp(other->path, c->path, parent_length(c->path)) != 0)
                continue;
            arrives &= chance(d) >= stop;
            if (arrives)
                change_name(&left, other);
        }
    }
    return left;
}

static void some_content(struct disk *d, const struct content *c, uint8_t **bytes, size_t *n)
{
    static const double shares[] = {0.0, 0.2, 0.5, 0.8, 1.0};
    double share = shares[codec_next(&d->rng) % 5];
    bool torn = codec_next(&d->rng) % 2 == 0;
    *bytes = NULL;
    *n = 0;
    resize(bytes, n, c->n);
    if (c->n > 0)
        memcpy(*bytes, c->bytes, c->n);
    for (int i = 0; i < c->n_changes; i++) {
        const struct change *whole = &c->changes[i];
        size_t step = torn && !whole->truncate ? SECTOR : whole->n + 1;
        for (size_t at = 0; at == 0 || at < whole->n; at += step) {
            struct change part = *whole;
            part.at += whole->truncate ? 0 : (int64_t)at;
            part.data += at;
            part.n = whole->n - at < step ? whole->n - at : step;
            if (chance(d) < share)
                apply(bytes, n, &part);
        }
    }
}

/* Whether all folders above the path, up to root, exist. */
static bool reachable(const struct names *left, const char *path, const char *root)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (;;) {
        folder[parent_length(folder)] = '\0';
        if (strlen(folder) <= strlen(root))
            return true;
        if (find(left, folder) < 0)
            return false;
    }
}

static void write_out(const char *path, const uint8_t *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool done = fd >= 0 && write(fd, bytes, n) == (ssize_t)n;
    if (fd >= 0)
        close(fd);
    if (!done) {
        perror(path);
        abort();
    }
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct naming *)a)->path, ((const struct naming *)b)->path);
}

void disk_lose_power(struct disk *d, const char *root, const char *state)
{
    struct names left = some_names(d);
    char path[4096];
    mkdir(state, 0700);
    qsort(left.at, (size_t)left.n, sizeof *left.at, by_path); /* folders before their contents */
    for (int i = 0; i < left.n; i++) {
        const struct content *c = &d->contents[left.at[i].content];
        uint8_t *bytes;
        size_t n;
        if (!reachable(&left, left.at[i].path, root))
            continue;
        snprintf(path, sizeof path, "%s%s", state, left.at[i].path + strlen(root));
        if (c->folder) {
            mkdir(path, 0700);
            continue;
        }
        some_content(d, c, &bytes, &n);
        if (ends(path, "-shm")) /* shared memory of SQLite, which is not on the disk */
            for (size_t j = 0; j < n; j++)
                bytes[j] = (uint8_t)codec_next(&d->rng);
        write_out(path, bytes, n);
        free(bytes);
    }
    free_names(&left);
}
