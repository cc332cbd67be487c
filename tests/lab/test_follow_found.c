/* test_follow_found.c - tests that a re-run finds every changed bit, and names it. The last test runs the
 * program, whose path is in PEWTER (set by ctest). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "lab/core/lab_int.h"
#include "lab/recording/state.h"
#include "model/safetensors.h"
#include "ref_record.h"

#define SMALL "model tiny width=16 layers=1 heads=2; optim batch=4; "

static void flip(void *p)
{
    *(unsigned char *)p ^= 1;
}

static void flip_loss(struct pw_event *e)
{
    flip(&e->u.step.loss);
}
static void flip_accuracy(struct pw_event *e)
{
    flip(&e->u.step.accuracy);
}
static void flip_lr(struct pw_event *e)
{
    flip(&e->u.step.lr);
}
static void flip_norm(struct pw_event *e)
{
    flip(&e->u.step.grad_norm);
}
static void flip_flops(struct pw_event *e)
{
    flip(&e->u.step.flops);
}
static void flip_ratio(struct pw_event *e)
{
    flip(&e->u.updates.ratio[1]);
}
static void flip_digest(struct pw_event *e)
{
    flip(&e->u.digest[1]);
}
/* Changes an error count, and keeps the sum of the row: a store refuses impossible rows. */
static void take_error(struct pw_eval_row *row)
{
    int kind = 0, place = 0;
    while (row->errors[kind] == 0)
        kind++;
    while (row->places[place] == 0)
        place++;
    row->errors[kind]--;
    row->places[place]--;
}
static void flip_exact(struct pw_event *e)
{
    take_error(&e->u.eval.rows[1]);
    e->u.eval.rows[1].exact++;
}
static void flip_outcome(struct pw_event *e)
{
    flip(&e->u.eval.outcomes[0]);
}
static void flip_place(struct pw_event *e)
{
    struct pw_eval_row *row = &e->u.eval.rows[0];
    take_error(row);
    row->errors[PW_ERROR_LATE]++;
    row->places[PW_PLACES - 1]++;
}
static void flip_draw(struct pw_event *e)
{
    flip(&e->u.eval.draw);
}
static void flip_prompt(struct pw_event *e)
{
    flip(&e->u.prompt.tokens[1]);
}
static void flip_token(struct pw_event *e)
{
    flip(&e->u.token.token);
}
static void flip_logit(struct pw_event *e)
{
    flip(&e->u.token.logit);
}
static void flip_prob(struct pw_event *e)
{
    flip(&e->u.token.prob);
}
static void flip_cursor(struct pw_event *e)
{
    flip(&e->u.cursor.at.token);
}
static void flip_part(struct pw_event *e)
{
    flip(&e->u.look.part[3]);
}
static void flip_lens(struct pw_event *e)
{
    flip(&e->u.look.lens_prob[0]);
}
static void flip_map(struct pw_event *e)
{
    flip(&e->u.attention.probs[0]);
}
static void flip_bias(struct pw_event *e)
{
    flip(&e->u.table.bucket_bias[0]);
}
static void flip_met(struct pw_event *e)
{
    e->u.table.met[1]++;
}
static void flip_head(struct pw_event *e)
{
    e->u.heads.mode[0] = PW_ABLATE_MEAN;
}
static void flip_patch(struct pw_event *e)
{
    flip(&e->u.patch.recovery[1]);
}
static void flip_example(struct pw_event *e)
{
    e->u.failing.list[0].index++;
}
static void flip_value(struct pw_event *e)
{
    flip(&e->u.finding.values[2]);
}
static void flip_label(struct pw_event *e)
{
    flip(e->u.finding.labels[1]);
}
static void flip_verdict(struct pw_event *e)
{
    e->u.finding.claims[0].verdict++;
}
static void forget_lr(struct pw_event *e)
{
    snprintf(e->u.command.text, PW_COMMAND, "say hi");
}
static void too_early(struct pw_event *e)
{
    e->u.command.at[0]--;
}
static void too_late(struct pw_event *e)
{
    e->u.command.at[0] += 1000;
}
static void no_error(struct pw_event *e)
{
    e->kind = PW_EV_NOTE;
}

static const struct mutant {
    enum pw_event_kind kind;
    const char *command; /* a part of the command's text */
    void (*change)(struct pw_event *e);
    const char *what; /* a part of the verdict's text */
} mutants[] = {
    {PW_EV_STEP, NULL, flip_loss, "step: loss was "},
    {PW_EV_STEP, NULL, flip_accuracy, "step: accuracy was "},
    {PW_EV_STEP, NULL, flip_lr, "step: lr was "},
    {PW_EV_STEP, NULL, flip_norm, "step: grad_norm was "},
    {PW_EV_STEP, NULL, flip_flops, "step: flops was "},
    {PW_EV_UPDATES, NULL, flip_ratio, "updates: ratio of block [1] was "},
    {PW_EV_DIGEST, NULL, flip_digest, "digest: digest was "},
    {PW_EV_EVAL, NULL, flip_exact, "evaluation: exact at length 3 was "},
    {PW_EV_EVAL, NULL, flip_outcome, "evaluation: outcomes"},
    {PW_EV_EVAL, NULL, flip_place, "evaluation: places of first errors at length 2 ["},
    {PW_EV_EVAL, NULL, flip_draw, "evaluation: draw was "},
    {PW_EV_PROMPT, NULL, flip_prompt, "prompt: token [1] was "},
    {PW_EV_TOKEN, NULL, flip_token, "token: token at position "},
    {PW_EV_TOKEN, NULL, flip_logit, "token: logit at position "},
    {PW_EV_TOKEN, NULL, flip_prob, "token: probability at position "},
    {PW_EV_CURSOR, NULL, flip_cursor, "cursor: token at position "},
    {PW_EV_LOOK, NULL, flip_part, "look: part [3] was "},
    {PW_EV_LOOK, NULL, flip_lens, "look: logit lens [0] was "},
    {PW_EV_ATTENTION, NULL, flip_map, "attention: attention [0] was "},
    {PW_EV_TABLE, NULL, flip_bias, "table: bucket's bias [0] was "},
    {PW_EV_TABLE, NULL, flip_met, "table: pairs seen [1] was "},
    {PW_EV_HEADS, NULL, flip_head, "heads: mode of head [0] was "},
    {PW_EV_PATCH, NULL, flip_patch, "patch: recovery [1] was "},
    {PW_EV_FAILING, NULL, flip_example, "failing examples: sample of example [0] was "},
    {PW_EV_FINDING, NULL, flip_value, "finding: value [2] was "},
    {PW_EV_FINDING, NULL, flip_label, "finding: name [1] was "},
    {PW_EV_FINDING, NULL, flip_verdict, "finding: verdict of claim [0] was "},
    {PW_EV_COMMAND, "lr=0.01", forget_lr, "step: lr was "},
    {PW_EV_COMMAND, "lr=0.01", too_early, "training is already past that step"},
    {PW_EV_COMMAND, "lr=0.01", too_late, "no work is left"},
    {PW_EV_ERROR, NULL, no_error,
     "a command fails now that did not fail when it was recorded: inspect: layer=7"},
};

static void test_mutants(void **state)
{
    struct record r;
    struct bench b;
    int wrong = 0;
    (void)state;
    record_open(&b, &r, 1, true);
    bench_run(
        &b, SMALL
        "pe t5; train 10; prompt sort 3 1 2; next; eval lengths=2..3 samples=20; failing; table; "
        "patch heads from=\"sort 2 1 4\"; ablate 0.1; digest; optim lr=0.01; train 10; eval lengths=2..3 "
        "samples=20; probe dispersion samples=2; probe buckets; inspect layer=7");
    bench_must(&b, "digest");
    bench_close(&b);
    record_must(&r, 1);
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        const struct mutant *m = &mutants[i];
        int at = record_find(&r, m->kind, m->command);
        if (at < 0)
            print_error("nothing to change for '%s'; %s\n", m->what,
                        record_find(&r, PW_EV_ERROR, NULL) >= 0
                            ? r.e[record_find(&r, PW_EV_ERROR, NULL)]->u.text
                            : "");
        assert_true(at >= 0);
        uint64_t seq = r.e[at]->seq;
        record_add(&r, r.e[at]); /* a copy at the end, to restore it */
        struct pw_event *kept = r.e[--r.n];
        m->change(r.e[at]);
        record_follow(&r, 1);
        if (r.v.end != PW_FOLLOW_DIFFERENT || strstr(r.v.text, m->what) == NULL)
            print_error("'%s' expected: %s\n", m->what, r.v.text);
        wrong += r.v.end != PW_FOLLOW_DIFFERENT || strstr(r.v.text, m->what) == NULL;
        assert_true(m->command != NULL || m->kind == PW_EV_ERROR || r.v.seq == seq);
        pw_event_free(r.e[at]);
        r.e[at] = kept;
    }
    assert_int_equal(wrong, 0);
    record_free(&r);
}

/* ---- one bit of one weight */

/* The lab sleeps, so the test may change its models. */
static void flip_weight(struct pw_lab *lab, const char *name, int element)
{
    struct pw_model *m = lab->replicas[0].model;
    size_t n = pw_model_size(m);
    float *p = pw_alloc(n, sizeof *p);
    int n_params;
    const struct pw_param *params = pw_model_params(m, &n_params);
    pw_model_get(m, p, NULL, NULL);
    for (int i = 0; i < n_params; i++)
        if (strcmp(params[i].name, name) == 0)
            ((unsigned char *)&p[params[i].offset + (size_t)element])[2] ^= 0x40; /* a bit of the mantissa */
    pw_model_put(m, p, NULL, NULL);
    free(p);
}

/* Adds the list of replaced heads to the first image, of a model without any, as earlier versions could. */
static void add_empty_list(struct pw_lab_images *images)
{
    static const int64_t none[2] = {0}, no_table[2] = {-1, -1};
    struct pw_st st = {0};
    struct pw_err err;
    void *bytes;
    assert_int_equal(pw_st_open_bytes(&st, images->at[0].bytes, images->at[0].n, "it", &err), PW_OK);
    struct pw_st_tensor *list = pw_alloc((size_t)st.n + 2, sizeof *list);
    for (int i = 0; i < 2; i++)
        list[i] = (struct pw_st_tensor){.name = i == 0 ? "heads.as" : "heads.at",
                                        .type = PW_ST_I64,
                                        .n_dims = 2,
                                        .dims = {1, 2},
                                        .data = i == 0 ? none : no_table,
                                        .bytes = 2 * sizeof *none};
    memcpy(list + 2, st.tensors, (size_t)st.n * sizeof *list);
    assert_int_equal(pw_st_image(&bytes, &images->at[0].n, list, st.n + 2, pw_st_metadata(&st), &err), PW_OK);
    pw_st_close(&st);
    free(list);
    free(images->at[0].bytes);
    images->at[0].bytes = bytes;
}

/* Adds the current state of the lab to the record as a checkpoint, with its files in a folder. */
static void add_checkpoint(struct record *r, struct bench *b, const char *folder, bool empty_list)
{
    struct pw_event *e = pw_event_new(PW_EV_CHECKPOINT);
    struct pw_ev_checkpoint *c = &e->u.checkpoint;
    struct pw_lab_images images = {0};
    struct pw_str json = {0};
    struct pw_err err;
    assert_int_equal(pw_lab_state_save(b->lab, &json, &images, &err), PW_OK);
    if (empty_list)
        add_empty_list(&images);
    e->seq = r->e[r->n - 1]->seq;
    e->arm = 1;
    e->step = b->lab->replicas[0].step;
    c->as_of = e->seq;
    c->state = json.s;
    c->n_files = images.n;
    c->files = pw_alloc((size_t)images.n, sizeof *c->files);
    for (int i = 0; i < images.n; i++) {
        char sha[65], path[256];
        pw_sha256_of(c->files[i], images.at[i].bytes, images.at[i].n);
        pw_sha256_text(sha, c->files[i]);
        snprintf(path, sizeof path, "%s/%s", folder, sha);
        FILE *f = fopen(path, "w");
        assert_int_equal(fwrite(images.at[i].bytes, 1, images.at[i].n, f), images.at[i].n);
        fclose(f);
    }
    record_add(r, e);
    pw_event_free(e);
    pw_lab_images_fini(&images);
}

static void test_bit(void **state)
{
    static const char weight[] = "layers.0.mlp.up.weight";
    char folder[] = "/tmp/pewter-follow-XXXXXX", rm[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int when = 0; when < 3; when++) { /* no checkpoint; one directly after; one later */
        struct bench b;
        struct record r;
        record_open(&b, &r, 1, false);
        bench_must(&b, SMALL "race none,alibi; train 40");
        add_checkpoint(&r, &b, folder, false);
        bench_must(&b, "train 37");
        if (when < 2)
            flip_weight(b.lab, weight, 17);
        if (when == 1)
            add_checkpoint(&r, &b, folder, false);
        if (when == 2) {
            flip_weight(b.lab, weight, 17);
            bench_must(&b, "train 1");
            add_checkpoint(&r, &b, folder, false);
        }
        bench_must(&b, "train 5");
        bench_close(&b);
        r.files = folder;
        record_follow(&r, 1);
        assert_int_equal(r.v.end, PW_FOLLOW_DIFFERENT);
        assert_int_equal(r.v.models, 2);
        assert_int_equal(r.v.step, when == 1 ? 77 : 78);
        assert_int_equal(r.v.kind, when == 1 ? PW_EV_CHECKPOINT : PW_EV_STEP);
        if (when == 1) {
            assert_non_null(strstr(r.v.text, "tensor layers.0.mlp.up.weight [17] was "));
            assert_non_null(strstr(r.v.text, "of 1 tensors 1 element differs"));
        } else {
            assert_non_null(strstr(r.v.text, "step: "));
        }
        assert_true((strstr(r.v.text, "checkpoint: tensor ") != NULL) == (when > 0));
        record_free(&r);
    }
    snprintf(rm, sizeof rm, "rm -r '%s'", folder);
    assert_int_equal(system(rm), 0);
}

/* A model whose heads were all restored is one whose heads were never replaced: after a change of backend,
 * which a re-run does not make, and in the checkpoints of earlier versions. */
static void test_restored_heads(void **state)
{
    char folder[] = "/tmp/pewter-follow-XXXXXX", rm[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int earlier = 0; earlier < 2; earlier++) {
        struct bench b;
        struct record r;
        record_open(&b, &r, 1, false);
        bench_must(&b, SMALL "train 2; ablate 0.1 mode=zero; ablate 0.0; restore; set isa scalar");
        add_checkpoint(&r, &b, folder, earlier);
        bench_close(&b);
        r.files = folder;
        record_must(&r, 1);
        assert_int_equal(r.v.models, 1);
        record_free(&r);
    }
    snprintf(rm, sizeof rm, "rm -r '%s'", folder);
    assert_int_equal(system(rm), 0);
}

/* Equal weights with other options: the metadata that differ are named. */
static void test_metadata(void **state)
{
    char folder[] = "/tmp/pewter-follow-XXXXXX", rm[64];
    struct bench b;
    struct record r;
    (void)state;
    assert_non_null(mkdtemp(folder));
    record_open(&b, &r, 1, false);
    bench_must(&b, SMALL "say hi");
    add_checkpoint(&r, &b, folder, false);
    bench_close(&b);
    snprintf(r.e[record_find(&r, PW_EV_COMMAND, "optim")]->u.command.text, PW_COMMAND, "optim batch=5");
    r.files = folder;
    record_follow(&r, 1);
    assert_int_equal(r.v.end, PW_FOLLOW_DIFFERENT);
    assert_non_null(strstr(r.v.text, "checkpoint: pewter.optim was {"));
    assert_non_null(strstr(r.v.text, "\"batch\":4} when it was recorded and is {"));
    assert_non_null(strstr(r.v.text, "\"batch\":5} now"));
    record_free(&r);
    snprintf(rm, sizeof rm, "rm -r '%s'", folder);
    assert_int_equal(system(rm), 0);
}

/* Runs a command and copies its first line that begins with `begins`. Returns the command's status. */
static int run(const char *command, const char *begins, char line[512])
{
    char got[512];
    FILE *f = popen(command, "r");
    assert_non_null(f);
    line[0] = '\0';
    while (fgets(got, sizeof got, f) != NULL)
        if (line[0] == '\0' && strncmp(got, begins, strlen(begins)) == 0)
            snprintf(line, 512, "%.*s", (int)strcspn(got, "\n"), got);
    int status = pclose(f);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* A session whose machine flipped a bit after step 77, verified by `pewter replay NAME --verify`. */
static void test_bit_on_disk(void **state)
{
    const char *program = getenv("PEWTER");
    char folder[] = "/tmp/pewter-follow-XXXXXX", session[64], command[512], line[512];
    (void)state;
    if (program == NULL)
        skip();
    assert_non_null(mkdtemp(folder));
    snprintf(session, sizeof session, "%s/bit.pewter", folder);
    struct bench b = {.lab = lab_open((struct pw_lab_config){.threads = 1, .session = session, .from = -1})};
    bench_must(&b, SMALL "race none,alibi; train 77; checkpoint before");
    flip_weight(b.lab, "layers.0.mlp.up.weight", 17);
    bench_must(&b, "train 1; checkpoint after; train 5");
    bench_close(&b);

    snprintf(command, sizeof command, "'%s' replay '%s' --verify 2>&1", program, session);
    assert_int_equal(run(command, "arm 1, step 78: step: ", line), 3);
    assert_non_null(strstr(line, " was "));
    assert_non_null(strstr(line, " when it was recorded and is "));
    assert_non_null(strstr(line, "checkpoint: tensor "));
    assert_non_null(strstr(line, ", the most layers.0.mlp.up.weight [17]: ")); /* the flipped weight */
    snprintf(command, sizeof command, "'%s' replay '%s' --verify --json 2>&1", program, session);
    assert_int_equal(run(command, "{\"kind\":\"verdict\"", line), 3);
    assert_non_null(strstr(line, "\"end\":\"different\""));
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* The appendix's styles had another name before edition 5, which older recordings have in the lab's task; the
 * samples of an evaluation have the identity that they had then. */
static void test_renamed_choices(void **state)
{
    struct bench b;
    struct record r;
    int n = 0;
    (void)state;
    record_open(&b, &r, 1, false);
    bench_must(&b, SMALL "task sort text=appendix sampling=appendix; train 2; eval samples=2");
    bench_close(&b);
    for (int i = 0; i < r.n; i++) {
        struct pw_event *e = r.e[i];
        e->older = 1;
        if (e->kind == PW_EV_LAB && strstr(e->u.lab.task, "=appendix") != NULL)
            n += snprintf(e->u.lab.task, sizeof e->u.lab.task, "sort text=seed sampling=seed") > 0;
        if (e->kind == PW_EV_EVAL)
            assert_true(e->u.eval.draw == UINT64_C(0x93e224fd8c5fd333)); /* computed by version 0.1 */
    }
    assert_true(n > 0);
    record_follow(&r, 1);
    assert_int_equal(r.v.end, PW_FOLLOW_EQUAL);
    record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutants),         cmocka_unit_test(test_bit),
        cmocka_unit_test(test_restored_heads),  cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_renamed_choices), cmocka_unit_test(test_bit_on_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
