/* recall.c - a few dozen paths with what was read there, under one lock. The disk is read outside of the
 * lock, so that a thread that asks never waits for a thread that reads. */
#include "base/recall.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#define MOST 64 /* paths; the one that was asked for the longest time ago makes room */

struct memory {
    char *path;
    bool reading;         /* handed over */
    double read_at, used; /* CLOCK_MONOTONIC; read_at 0: never read */
    struct pw_folder list;
    char *data; /* of a file; NULL: it can't be read */
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory memories[MOST];

static _Thread_local struct {
    void (*ask)(void *arg, const char *path, size_t limit);
    void *arg;
    double since;
    bool missed;
} self;

void pw_recall_begin(void (*ask)(void *arg, const char *path, size_t limit), void *arg)
{
    self.ask = ask;
    self.arg = arg;
    pw_recall_since(0);
}

void pw_recall_since(double since)
{
    self.since = since;
    self.missed = false;
}

void pw_recall_again(void)
{
    self.missed = false;
}

bool pw_recall_missed(void)
{
    return self.missed;
}

/* ending "": all, as they are; else without the slash of a folder. */
static void add_ending(struct pw_folder *f, const struct pw_folder *all, const char *ending)
{
    *f = (struct pw_folder){.names = pw_alloc((size_t)all->n + 1, sizeof *f->names)};
    for (int i = 0; i < all->n; i++) {
        char *name = pw_text_dup(all->names[i]);
        if (*ending != '\0')
            name[strcspn(name, "/")] = '\0';
        if (pw_text_ends(name, ending) && strcmp(name, ending) != 0)
            f->names[f->n++] = name;
        else
            free(name);
    }
}

/* ---- memory, under the lock */

static void forget(struct memory *m)
{
    free(m->path);
    free(m->data);
    pw_folder_free(&m->list);
    *m = (struct memory){0};
}

static struct memory *find(const char *path)
{
    for (int i = 0; i < MOST; i++)
        if (memories[i].path != NULL && strcmp(memories[i].path, path) == 0)
            return &memories[i];
    return NULL;
}

static struct memory *find_or_make(const char *path)
{
    struct memory *m = find(path), *oldest = &memories[0];
    for (int i = 0; m == NULL && i < MOST; i++)
        oldest = memories[i].used < oldest->used ? &memories[i] : oldest;
    if (m == NULL) {
        m = oldest;
        forget(m);
        m->path = pw_text_dup(path);
    }
    m->used = pw_now();
    return m;
}

/* Finds a path for a thread that must not wait. Returns whether to hand it over. */
static bool look_up(struct memory **m, const char *path)
{
    *m = find_or_make(path);
    bool old = (*m)->read_at == 0 || (*m)->read_at < self.since;
    bool asks = old && !(*m)->reading;
    (*m)->reading = (*m)->reading || asks;
    self.missed = self.missed || old;
    return asks;
}

/* ---- asking */

void pw_recall_list(struct pw_folder *f, const char *folder, const char *ending)
{
    struct memory *m;
    if (self.ask == NULL) { /* on failure there are no entries */
        if (*ending != '\0')
            pw_folder_list(f, folder, ending, NULL);
        else
            pw_folder_entries(f, folder, NULL);
        return;
    }
    pthread_mutex_lock(&lock);
    bool asks = look_up(&m, folder);
    add_ending(f, &m->list, ending);
    pthread_mutex_unlock(&lock);
    if (asks)
        self.ask(self.arg, folder, 0);
}

bool pw_recall_has(const char *folder, const char *name)
{
    struct pw_folder f;
    bool has = false;
    if (self.ask == NULL) {
        struct pw_str path = {0};
        pw_str_add(&path, "%s/%s", folder, name);
        has = access(path.s, F_OK) == 0;
        pw_str_fini(&path);
        return has;
    }
    pw_recall_list(&f, folder, "");
    for (int i = 0; i < f.n && !has; i++) {
        size_t n = strcspn(f.names[i], "/");
        has = strlen(name) == n && memcmp(f.names[i], name, n) == 0;
    }
    pw_folder_free(&f);
    return has;
}

enum pw_code pw_recall_text(const char *name, const char *path, size_t limit, char **data, size_t *size,
                            struct pw_err *err)
{
    struct memory *m;
    if (self.ask == NULL || path == NULL)
        return pw_file_read_as(name, path, limit, data, size, err);
    pthread_mutex_lock(&lock);
    bool asks = look_up(&m, path);
    *size = m->size;
    *data = m->data != NULL ? pw_copy(m->data, m->size + 1, 1) : NULL;
    pthread_mutex_unlock(&lock);
    if (asks)
        self.ask(self.arg, path, limit);
    return *data != NULL ? PW_OK : pw_fail(err, PW_EUSER, "%.240s: was not read", path);
}

void pw_recall_read(const char *path, size_t limit)
{
    struct memory now = {.path = pw_text_dup(path)};
    if (limit == 0) /* on failure there are no entries, or there is no data */
        pw_folder_entries(&now.list, path, NULL);
    else
        pw_file_read(path, limit, &now.data, &now.size, NULL);
    now.read_at = pw_now();
    pthread_mutex_lock(&lock);
    struct memory *m = find_or_make(path);
    now.used = m->used;
    forget(m);
    *m = now;
    pthread_mutex_unlock(&lock);
}
