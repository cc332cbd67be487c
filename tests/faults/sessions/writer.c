/* writer.c - the process that records, and the content of its events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../unit/ref_codec.h"
#include "../../unit/ref_session.h"
#include "base/alloc.h"
#include "base/sha256.h"
#include "harness.h"

#define PATIENCE_S 300 /* limit to recover from a fault that is over */

static uint64_t rng_of(uint64_t seq)
{
    uint64_t rng = seq * 0x9e3779b97f4a7c15u;
    codec_next(&rng);
    return rng;
}

struct pw_event *writer_event(uint64_t seq)
{
    uint64_t rng = rng_of(seq);
    struct pw_event *e = session_event(seq, &rng);
    while (e->kind == PW_EV_CHECKPOINT) { /* checkpoints have files: see below */
        pw_event_free(e);
        e = session_event(seq, &rng);
    }
    return e;
}

void *writer_file(uint64_t seq, size_t *n)
{
    uint64_t rng = rng_of(seq);
    *n = 5000 + (codec_next(&rng) % 8 == 0 ? codec_next(&rng) % 1500000 : codec_next(&rng) % 60000);
    uint8_t *bytes = pw_alloc(*n + 8, 1);
    for (size_t i = 0; i < *n; i += 8)
        memcpy(bytes + i, &(uint64_t){codec_next(&rng)}, 8);
    return bytes;
}

static struct pw_event *checkpoint_event(uint64_t seq, uint64_t of, const uint8_t sha[PW_SHA256])
{
    struct pw_event *e = pw_event_new(PW_EV_CHECKPOINT);
    e->seq = seq;
    e->t_ns = (int64_t)seq * 1000;
    e->arm = 1;
    e->step = (int64_t)of;
    snprintf(e->u.checkpoint.text, sizeof e->u.checkpoint.text, "file");
    e->u.checkpoint.n_files = 1;
    e->u.checkpoint.files = pw_alloc(1, sizeof *e->u.checkpoint.files);
    memcpy(e->u.checkpoint.files[0], sha, PW_SHA256);
    return e;
}

static void put(struct pw_store *s, struct pw_event *e)
{
    pw_store_put(s, e);
    pw_event_free(e);
}

/* Prints a line by write(2), which the shim intercepts. Returns false if the reader has closed the pipe. */
static bool say(const char *what, const char *text)
{
    char line[600];
    int n = snprintf(line, sizeof line, "%s %.500s\n", what, text);
    return write(STDOUT_FILENO, line, (size_t)n) == n;
}

static bool say_number(const char *what, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return say(what, text);
}

/* Reports changes of the store's status. Returns false if the reader has closed the pipe. */
static bool tell(struct pw_store *s, uint64_t *saved, bool *paused)
{
    struct pw_ev_session status;
    pw_store_status(s, &status);
    bool heard = true, was = *paused;
    *paused = status.how == PW_REC_PAUSED;
    if (*paused != was)
        heard = say(*paused ? "P" : "G", status.why);
    if (status.saved > *saved)
        heard &= say_number("A", *saved = status.saved);
    return heard;
}

/* The file that is being stored. A checkpoint event refers to it once it is on disk. */
struct file {
    uint64_t of; /* number of its event; 0: none */
    uint8_t sha[PW_SHA256];
};

static void store_file(struct pw_store *s, struct file *f, uint64_t of)
{
    size_t n;
    void *bytes = writer_file(of, &n);
    f->of = of;
    pw_sha256_of(f->sha, bytes, n);
    pw_store_file(s, f->sha, bytes, n);
}

static int record(struct pw_store *s, uint64_t n)
{
    uint64_t seq = pw_store_last(s), saved = seq, end = n > 0 ? seq + n : UINT64_MAX;
    struct file file = {0};
    bool paused = false;
    while (seq < end && tell(s, &saved, &paused)) {
        seq++;
        if (file.of != 0 && pw_store_has_file(s, file.sha)) {
            put(s, checkpoint_event(seq, file.of, file.sha));
            file.of = 0;
        } else {
            put(s, writer_event(seq));
        }
        if (file.of == 0 && seq % FILE_EVERY == 0)
            store_file(s, &file, seq);
        if (seq % 5 == 0)
            pw_store_hurry(s);
        if (seq % 8 == 0)
            usleep(200);
    }
    for (int i = 0; i < PATIENCE_S * 1000 && saved < seq && tell(s, &saved, &paused); i++)
        usleep(1000);
    return saved == seq && say("D", "") ? 0 : 1;
}

struct pw_store *writer_open(const char *folder, struct pw_err *err)
{
    struct pw_store *s = NULL;
    struct pw_store_config cfg = {
        .folder = folder,
        .create = access(folder, F_OK) != 0,
        .env = {.pewter = "faults", .bits = "portable", .device = "none", .isa = "none"},
        .budget = (int64_t)1 << 40,
        .retry_s = 0.1};
    return pw_store_open(&s, &cfg, err) == PW_OK ? s : NULL;
}

int writer_main(const char *folder, uint64_t n)
{
    struct pw_err err;
    struct pw_store *s = writer_open(folder, &err);
    if (s == NULL) {
        say("E", err.msg);
        return 9;
    }
    say_number("S", pw_store_last(s));
    int status = record(s, n);
    pw_store_close(s, "quit");
    return status;
}
