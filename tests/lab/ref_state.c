/* ref_state.c - see ref_state.h. */
#include "ref_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "command/commands/commands.h"
#include "sessions/codec.h"

static const struct pw_commands commands = {pw_lab_commands};

/* The clock or the machine determines these. */
static bool by_clock(enum pw_event_kind kind)
{
    return kind == PW_EV_STATE || kind == PW_EV_JOB || kind == PW_EV_LAB;
}

static void on_event(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    struct life *l = arg;
    struct pw_str bytes = {0};
    uint8_t sha[32];
    (void)s;
    if (by_clock(e->kind))
        return;
    l->failed = l->failed || e->kind == PW_EV_ERROR;
    pw_event_encode(&bytes, e);
    pw_sha256_of(sha, pw_str_text(&bytes), bytes.len);
    bool text = e->kind == PW_EV_NOTE || e->kind == PW_EV_ERROR;
    pw_str_add(&l->told, "%d arm %d.%d step %lld %02x%02x%02x%02x %s\n", e->kind, e->arm, e->replica,
               (long long)e->step, sha[0], sha[1], sha[2], sha[3], text ? e->u.text : "");
    pw_str_fini(&bytes);
}

void life_open(struct life *l, int threads, bool live)
{
    *l = (struct life){0};
    l->lab = lab_open(
        (struct pw_lab_config){.threads = threads, .live = live, .on_event = on_event, .on_event_arg = l});
    do
        lab_look(l->lab, 60000);
    while (!pw_lab_idle(l->lab));
    pw_str_clear(&l->told);
}

void life_close(struct life *l)
{
    pw_lab_destroy(l->lab, NULL);
    pw_str_fini(&l->told);
}

/* Runs all work except training to its end. */
static void finish(struct pw_lab *lab)
{
    while (pw_lab_slice(lab))
        ;
}

enum pw_code life_try(struct life *l, const char *command, struct pw_err *err)
{
    struct pw_args args = {0};
    const struct pw_command *cmd;
    enum pw_code code = pw_command_parse(&commands, command, &args, &cmd, err);
    if (code == PW_OK)
        code = cmd->run(l->lab, &args, err);
    pw_args_fini(&args);
    finish(l->lab);
    return code;
}

static enum pw_code run_one(void *arg, const char *command, int line)
{
    (void)line;
    struct pw_err err;
    if (strcmp(command, "wait") == 0)
        life_train(arg);
    else if (life_try(arg, command, &err) != PW_OK)
        fail_msg("%s: %s", command, err.msg);
    return PW_OK;
}

void life_run(struct life *l, const char *text)
{
    struct pw_err err;
    assert_int_equal(pw_commands_split(text, run_one, l, &err), PW_OK);
}

bool life_turns(struct life *l, int n)
{
    struct pw_lab *lab = l->lab;
    for (; n > 0; n--) {
        if (!pw_lab_training(lab) || (lab->paused && lab->allowed == 0))
            return false;
        pw_lab_train_step(lab);
        finish(lab);
    }
    return true;
}

void life_train(struct life *l)
{
    while (life_turns(l, 1)) {
    }
}

const char *life_told(struct life *l)
{
    pw_lab_snapshot(l->lab);
    return pw_str_text(&l->told);
}

void life_save(struct life *l, struct saved *s)
{
    struct pw_err err;
    *s = (struct saved){0};
    if (pw_lab_state_save(l->lab, &s->json, &s->images, &err) != PW_OK)
        fail_msg("%s", err.msg);
}

static enum pw_code get(void *arg, int i, void **bytes, size_t *n, struct pw_err *err)
{
    const struct saved *s = arg;
    if (i >= s->images.n)
        return pw_fail(err, PW_EUSER, "there is no image %d", i);
    *n = s->images.at[i].n;
    *bytes = malloc(*n + 1);
    assert_non_null(*bytes);
    memcpy(*bytes, s->images.at[i].bytes, *n);
    return PW_OK;
}

enum pw_code life_restore(struct life *l, struct saved *s, struct pw_err *err)
{
    return pw_lab_state_restore(l->lab, s->json.s, get, s, err);
}

void saved_free(struct saved *s)
{
    pw_str_fini(&s->json);
    pw_lab_images_fini(&s->images);
}

bool saved_equal(const struct saved *a, const struct saved *b)
{
    bool same = strcmp(a->json.s, b->json.s) == 0 && a->images.n == b->images.n;
    for (int i = 0; same && i < a->images.n; i++)
        same = a->images.at[i].n == b->images.at[i].n &&
               memcmp(a->images.at[i].bytes, b->images.at[i].bytes, a->images.at[i].n) == 0;
    return same;
}
