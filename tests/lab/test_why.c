/* test_why.c - tests the command why. Causes are planted in trained models: at least 9 of 10 must be named
 * first. A model that works has 'none of these', and so has one that fails for another reason. */
#include "ref_lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/actions.h"

/* Arms 1 to 6. After 800 steps all of them answer at least 9 of 10 samples of length 5. */
#define SET_UP                                                                                               \
    "task sort lengths=1..6 test=7..9 alphabet=8; model tiny layers=2 width=32 heads=4 context=64; "         \
    "optim batch=32 lr=0.008 warmup=20 steps=800; race t5,sinusoidal,learned,rotary,alibi,none; train 800"

static struct pw_model *model_of(const struct bench *b, int id)
{
    return pw_lab_arm(b->lab, id)->model;
}

static const struct pw_finding *found(const struct bench *b, int arm)
{
    const struct pw_finding_view *list[PW_MAX_FINDINGS];
    char topic[16];
    snprintf(topic, sizeof topic, "%d", arm);
    for (int i = 0, n = pw_findings(b->s, list); i < n; i++)
        if (strcmp(list[i]->f.name, "why") == 0 && strcmp(list[i]->f.topic, topic) == 0)
            return &list[i]->f;
    fail_msg("no finding about arm %d", arm);
    return NULL;
}

/* Is there a remark that begins with this text? */
static bool remarks(const struct pw_finding *f, const char *text)
{
    for (int i = 0; i < f->n_remarks; i++)
        if (strncmp(f->remarks[i].text, text, strlen(text)) == 0)
            return true;
    return false;
}

static const struct pw_block *block(const struct pw_finding *f, const char *title)
{
    for (int i = 0; i < f->n_blocks; i++)
        if (strncmp(f->blocks[i].title, title, strlen(title)) == 0)
            return &f->blocks[i];
    return NULL;
}

/* ---- causes that are planted in weights */

/* Returns the named tensor. */
static const struct pw_param *tensor(const struct pw_model *m, const char *name)
{
    int n;
    const struct pw_param *p = pw_model_params(m, &n);
    for (int i = 0; i < n; i++)
        if (strcmp(p[i].name, name) == 0)
            return &p[i];
    fail_msg("no tensor %s", name);
    return NULL;
}

/* The scores of all heads are three times as large: q is. */
static void sharpen(const struct pw_model *m, float *weights)
{
    static const char *const names[] = {"layers.0.attn.q.weight", "layers.1.attn.q.weight"};
    for (int l = 0; l < 2; l++) {
        const struct pw_param *p = tensor(m, names[l]);
        for (size_t i = 0; i < pw_param_count(p); i++)
            weights[p->offset + i] *= 3;
    }
}

/* Position r reads the row of position r - 2. */
static void shift_rows(const struct pw_model *m, float *weights)
{
    const struct pw_param *p = tensor(m, "pe.table");
    size_t C = (size_t)p->cols, n = pw_param_count(p) - 2 * C;
    memmove(weights + p->offset + 2 * C, weights + p->offset, n * sizeof *weights);
}

/* All buckets from the second on have one bias. */
static void clamp_buckets(const struct pw_model *m, float *weights)
{
    const struct pw_param *p = tensor(m, "pe.bias");
    for (int r = 2; r < p->rows; r++)
        memcpy(weights + p->offset + (size_t)r * (size_t)p->cols, weights + p->offset + p->cols,
               (size_t)p->cols * sizeof *weights);
}

/* A head of the last layer reads other tokens: its queries have the opposite sign. Nothing but another arm's
 * pattern can repair that. */
static void turn_queries(const struct pw_model *m, float *weights)
{
    const struct pw_param *p = tensor(m, "layers.1.attn.q.weight");
    for (size_t i = 0; i < pw_param_count(p); i++)
        weights[p->offset + i] = -weights[p->offset + i];
}

/* The last layer's MLP adds nothing: no candidate can repair that. */
static void cut_mlp(const struct pw_model *m, float *weights)
{
    const struct pw_param *p = tensor(m, "layers.0.mlp.down.weight");
    memset(weights + p->offset, 0, pw_param_count(p) * sizeof *weights);
}

struct plant {
    int arm;
    const char *line, *undo;                       /* the plant as commands, or "" */
    void (*put)(const struct pw_model *, float *); /* the plant in weights, or NULL */
    const char *cause;                             /* what the first remark about causes must begin with */
};

static const struct plant plants[] = {
    {1, "tune temperature=3", "tune off", NULL, "cause 1: score temperature: 'temperature=1'"},
    {1, "tune distance=5", "tune distance=16", NULL, "cause 1: option distance of the encoding: "},
    {1, "", "", clamp_buckets, "cause 1: learned values of the encoding, by another arm: 'values of arm 7'"},
    {1, "ablate 1.1", "restore", NULL, "cause 1: head that is switched off: 'head 1.1 restored'"},
    {1, "", "", turn_queries, "cause 1: attention patterns, by another arm: 'patterns of arm 7'"},
    {1, "pe none", "pe t5; transplant 7", NULL, "cause 1: encoding of another arm: 'encoding of arm 7'"},
    {2, "tune offset=3", "tune off", NULL, "cause 1: shifted positions: 'offset=0'"},
    {3, "", "", shift_rows, "cause 1: shifted positions: 'offset=2'"},
    {3, "ablate 0.1,0.2", "restore", NULL, "cause 1: heads that are switched off: 'all heads restored'"},
    {4, "", "", sharpen, "cause 1: score temperature: 'temperature="},
    {4, "tune stretch=0.5", "tune off", NULL, "cause 1: scale of distances: 'stretch=1'"},
    {4, "tune base=20", "tune base=10000", NULL, "cause 1: option base of the encoding: "},
    {5, "tune gain=4", "tune off", NULL, "cause 1: strength of the fixed bias: 'gain=1'"},
    {6, "pe expr 'w = option(4, 1..1000); mask = d < w'", "pe none", NULL,
     "cause 1: option w of the encoding: "},
};

/* Runs why at length 5 with a cause planted; the arm is as before afterwards. */
static const struct pw_finding *why_planted(struct bench *b, const struct plant *x)
{
    size_t n = pw_model_size(model_of(b, x->arm));
    float *before = malloc(n * sizeof *before), *planted = malloc(n * sizeof *planted);
    char line[32];
    assert_true(before != NULL && planted != NULL);
    snprintf(line, sizeof line, "arm %d", x->arm);
    bench_must(b, line);
    if (x->line[0] != '\0')
        bench_must(b, x->line);
    pw_model_get(model_of(b, x->arm), before, NULL, NULL);
    if (x->put != NULL) {
        memcpy(planted, before, n * sizeof *planted);
        x->put(model_of(b, x->arm), planted);
        pw_model_put(model_of(b, x->arm), planted, NULL, NULL);
    }
    bench_must(b, "why 5");
    pw_model_put(model_of(b, x->arm), before, NULL, NULL);
    if (x->undo[0] != '\0')
        bench_must(b, x->undo);
    free(before);
    free(planted);
    return found(b, x->arm);
}

/* The values of a row must agree with each other. */
static void check_table(const struct pw_finding *f)
{
    const struct pw_block *t = block(f, "candidates by recovered exact match");
    double last = 100, n = 64;
    assert_non_null(t);
    assert_true(t->rows > 10);
    for (int i = 0; i < t->rows; i++) {
        double recovered = pw_finding_cell(f, t, i, 1), low = pw_finding_cell(f, t, i, 2);
        double high = pw_finding_cell(f, t, i, 3), fixed = pw_finding_cell(f, t, i, 4);
        assert_true(low <= recovered && recovered <= high && recovered <= last);
        assert_true(fabs(recovered - 100 * (fixed - pw_finding_cell(f, t, i, 5)) / n) < 1e-9);
        last = recovered;
    }
}

static void test_planted(void **state)
{
    int n = (int)(sizeof plants / sizeof *plants), first = 0;
    char digests[sizeof((struct bench *)0)->digests];
    struct bench b;
    (void)state;
    bench_open(&b, 2, false);
    bench_must(&b, SET_UP);
    for (int id = 1; id <= 6; id++) {
        char line[32];
        snprintf(line, sizeof line, "why 5 arm=%d", id);
        bench_must(&b, line);
        if (!remarks(found(&b, id), "none of these: "))
            fail_msg("arm %d: %s", id, found(&b, id)->title);
    }
    bench_must(&b, "arm 1; fork; digest"); /* arm 7: the values that the buckets had */
    memcpy(digests, b.digests, sizeof digests);
    for (int i = 0; i < n; i++) {
        const struct pw_finding *f = why_planted(&b, &plants[i]);
        bool named = remarks(f, plants[i].cause);
        first += named;
        if (!named)
            for (int k = 0; k < f->n_remarks; k++)
                print_message("%s%s: %s\n", f->title, plants[i].line, f->remarks[k].text);
        if (remarks(f, "cause 1"))
            check_table(f);
    }
    assert_true(10 * first >= 9 * n);
    bench_must(&b, "digest"); /* nothing of this has changed an arm */
    assert_string_equal(digests, b.digests);
    const struct plant other = {1, "", "", cut_mlp, ""};
    if (!remarks(why_planted(&b, &other), "none of these: "))
        fail_msg("%s", found(&b, 1)->remarks[1].text);
    bench_close(&b);
}

/* A model that was never trained has no cause among the candidates. */
static void test_untrained(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b,
               "task copy lengths=1..3; model tiny layers=1 width=16 heads=2; pe rotary; why 3 samples=16");
    assert_true(remarks(found(&b, 1), "none of these: no candidate recovers exact match"));
    bench_close(&b);
}

/* The commands of every row make an arm, also while another arm is current. */
static void test_commands_make_arms(void **state)
{
    struct bench b;
    int n = 0;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task copy lengths=1..3; model tiny layers=1 width=16 heads=2; pe t5 buckets=8 "
                   "distance=64; arm add alibi; train 20; "
                   "why 3 samples=16 arm=1");
    struct pw_event e = {.kind = PW_EV_FINDING, .u.finding = *found(&b, 1)};
    struct pw_event *copy = pw_event_copy(&e);
    const struct pw_finding *f = &copy->u.finding;
    for (int i = 0; i < f->n_actions; i++) {
        assert_string_equal(f->blocks[f->actions[i].block].title, block(f, "candidates")->title);
        bench_must(&b, f->actions[i].commands);
        assert_int_equal(b.s->current, 3); /* the copy is changed, not the arm */
        bench_must(&b, "arm drop 3; arm 2");
        n++;
    }
    assert_true(n > 5);
    pw_event_free(copy);
    bench_close(&b);
}

static void test_refused(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {{"why", "usage: why LENGTH"},
                 {"why long", "'long' is not a length"},
                 {"why 3 4", "usage: why LENGTH"},
                 {"why 500", "why: length 500: "},
                 {"why 3 arm=2", "there is no arm 2"},
                 {"why 3 samples=2", "samples=2: allowed are 8.."},
                 {"why 12", "length 12: its samples have 26 tokens, arm 1 reads at most 20"}};
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, "task copy lengths=1..3; model tiny layers=1 width=16 heads=2 context=20; pe rotary");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_run(&b, cases[i].line);
        assert_int_equal(b.errors, 1);
        if (strstr(b.error, cases[i].why) == NULL)
            fail_msg("%s: %s", cases[i].line, b.error);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_planted), cmocka_unit_test(test_untrained),
                                       cmocka_unit_test(test_commands_make_arms),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
