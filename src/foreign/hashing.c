/* hashing.c - see hashing.h. */
#include "foreign/hashing.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/progress.h"

#define LOOK_NS 20000000 /* between two looks at the progress */

struct pw_hashing {
    const struct pw_weights *weights;
    pthread_t thread;
    bool runs;                   /* the thread must be joined */
    struct pw_progress progress; /* of the thread */
    /* the result, of the thread until it is joined */
    struct pw_digest digest;
    enum pw_code code;
    struct pw_err err;
};

static void compute(struct pw_hashing *h)
{
    struct pw_digest *d = &h->digest;
    h->code = pw_weights_sha(h->weights, d->sha, d->files, &d->n, &h->err);
}

static void *run(void *arg)
{
    struct pw_hashing *h = arg;
    pw_progress_watch(&h->progress);
    compute(h);
    return NULL;
}

struct pw_hashing *pw_hashing_begin(const struct pw_weights *w)
{
    struct pw_hashing *h = pw_alloc(1, sizeof *h);
    h->weights = w;
    h->digest.files = pw_alloc(PW_SOURCE_FILES, sizeof *h->digest.files);
    h->runs = pthread_create(&h->thread, NULL, run, h) == 0;
    return h;
}

/* Joins the thread, unless the caller is to give up before. */
static enum pw_code wait_for(struct pw_hashing *h, struct pw_err *err)
{
    size_t seen = 0;
    pw_progress_begin("reading the model's files", pw_weights_bytes(h->weights));
    enum pw_code code = pw_progress_add(0, err);
    while (h->runs && code == PW_OK) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        h->runs = pthread_timedjoin_np(h->thread, NULL, &until) != 0;
        size_t done = pw_progress_read(&h->progress).done;
        code = pw_progress_add(done > seen ? done - seen : 0, err);
        seen = done > seen ? done : seen;
    }
    pw_progress_end();
    return code;
}

enum pw_code pw_hashing_end(struct pw_hashing *h, struct pw_digest *out, struct pw_err *err)
{
    *out = (struct pw_digest){.files = NULL};
    if (!h->runs)
        compute(h);
    else if (wait_for(h, err) != PW_OK)
        return PW_ECANCEL;
    if (h->code != PW_OK)
        return pw_fail(err, h->code, "%s", h->err.msg);
    *out = h->digest;
    h->digest.files = NULL;
    return PW_OK;
}

void pw_hashing_close(struct pw_hashing *h)
{
    if (h == NULL)
        return;
    atomic_store(&h->progress.cancel, true);
    if (h->runs)
        pthread_join(h->thread, NULL);
    free(h->digest.files);
    free(h);
}
