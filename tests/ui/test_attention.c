/* test_attention.c - tests the words of the attention pane: how a map was changed, its reference, the
 * distances not seen in training, and the terms that can't be separated. */
#include <math.h>
#include <stdio.h>

#include "attention_bench.h"

/* Without the first position, the rest of each row is rescaled to sum to one. */
static void test_the_first_left_out(void **state)
{
    struct bench *b = *state;
    struct pw_att w;
    b->ui.attention.first_hidden = true;
    assert_true(pw_att_init(&w, &b->ui));
    for (int q = 1; q < w.T; q++) {
        double sum = 0;
        assert_true(pw_att_value(&w, q, 0) == -INFINITY);
        for (int k = 1; k <= q; k++)
            sum += (double)pw_att_value(&w, q, k);
        assert_true(fabs(sum - 1) < 0.01);
        assert_true(pw_att_value(&w, q, 1) > pw_att_prob(&w, q, 1));
    }
    pw_att_fini(&w);
    assert_says(after(b, 20, 100, ""), "first key left out, rest renormalised");
    assert_silent(after(b, 20, 100, "x"), "left out");
}

static void test_mean_over_heads(void **state)
{
    struct bench *b = *state;
    struct pw_att w;
    double sum = 0;
    assert_true(pw_att_init(&w, &b->ui));
    for (int h = 0; h < w.a->heads; h++) {
        w.head = h;
        sum += (double)pw_att_prob(&w, 9, 4);
    }
    pw_att_fini(&w);
    b->ui.attention.mean = true;
    assert_true(pw_att_init(&w, &b->ui));
    assert_true(fabs((double)pw_att_value(&w, 9, 4) - sum / w.a->heads) < 1e-6);
    pw_att_fini(&w);
}

static void test_scales(void **state)
{
    struct bench *b = *state;
    struct pw_att w;
    assert_true(pw_att_init(&w, &b->ui));
    assert_true(pw_att_scaled(&w, PW_ATT_GLOBAL, 3, 0.25f) == 0.25f);
    assert_true(pw_att_scaled(&w, PW_ATT_ROW, 3, 0) == 0 && w.row_top[3] > 0);
    assert_true(fabsf(pw_att_scaled(&w, PW_ATT_ROW, 3, w.row_top[3]) - 1) < 1e-6f);
    assert_true(fabsf(pw_att_scaled(&w, PW_ATT_LOG, 3, 0.1f) - 2.0f / 3) < 1e-5f);
    assert_true(pw_att_scaled(&w, PW_ATT_LOG, 3, 0) == 0);
    assert_true(pw_att_scaled(&w, PW_ATT_LOG, 3, -INFINITY) == -INFINITY);
    pw_att_fini(&w);
    screen_set_view(b->s, 1, 1, PW_VIEW_SCORE);
    assert_true(pw_att_init(&w, &b->ui));
    assert_true(pw_att_scaled(&w, PW_ATT_LOG, 3, -w.top) == -1);
    assert_true(fabsf(pw_att_scaled(&w, PW_ATT_LOG, 3, w.top / 10) - 0.5f) < 1e-5f);
    pw_att_fini(&w);
    assert_says(after(b, 20, 100, "r"), "scores by row");
    assert_says(after(b, 20, 100, "r"), "scores log");
}

/* Difference from the map that was shown when c was pressed: by head, by time, and for as many tokens as
 * are equal. */
static void test_difference(void **state)
{
    struct bench *b = *state;
    static const char *const others[] = {"sort", " 3", " 1", " 4", " 2"};
    struct pw_att w;
    assert_says(after(b, 20, 120, "c"), "less 3 t5 8/16 ↻ head L1H1 step 640");
    assert_true(pw_att_init(&w, &b->ui));
    for (int i = 0; i < w.T * w.T; i++) {
        float v = pw_att_value(&w, i / w.T, i % w.T);
        assert_true(v == 0 || v == -INFINITY);
    }
    pw_att_fini(&w);
    float now = pw_from_half(b->s->attention.probs[((size_t)5 * 16 + 9) * 16 + 1]);
    b->ui.time = 200;
    assert_true(pw_att_init(&w, &b->ui));
    assert_true(w.past && w.step == 160);
    assert_true(pw_att_value(&w, 9, 1) == pw_att_prob(&w, 9, 1) - now);
    pw_att_fini(&w);
    b->ui.time = -1;
    screen_set_view(b->s, 1, 1, PW_VIEW_SCORE);
    assert_says(after(b, 20, 120, ""), "probabilities can't be compared with scores");
    screen_set_view(b->s, 1, 1, PW_VIEW_PROBS);
    screen_set_prompt(b->s, 12, others, 5);
    assert_says(after(b, 20, 160, ""), "the first 4 tokens, which are the same");
    assert_silent(after(b, 20, 120, "c"), "less");
}

static void test_time(void **state)
{
    struct bench *b = *state;
    struct pw_str status = {0};
    b->ui.time = 400;
    screen_set_view(b->s, 1, 1, PW_VIEW_BIAS); /* a view that is not kept over time */
    after(b, 20, 100, "");
    pw_pane_attention.status(&b->ui, &status);
    assert_says(status.s, "probs");
    assert_says(status.s, "step 320, kept");
    b->ui.time = 640;
    pw_str_clear(&status);
    pw_pane_attention.status(&b->ui, &status);
    assert_says(status.s, "bias");
    assert_silent(status.s, "kept");
    struct pw_event *e = pw_event_new(PW_EV_PROMPT); /* another prompt: the kept maps don't belong to it */
    e->u.prompt.id = 2;
    e->u.prompt.n = 1;
    e->u.prompt.tokens = calloc(1, sizeof(int));
    e->u.prompt.labels = calloc(1, PW_LABEL);
    pw_fold(b->s, e);
    pw_event_free(e);
    b->ui.time = 100;
    assert_says(after(b, 20, 100, ""), "no attention was kept from this step");
    pw_str_fini(&status);
}

/* A term that can't be separated has a note; the note on a separable term names the method. */
static void test_words(void **state)
{
    struct bench *b = *state;
    struct pw_ev_attention *a = &b->s->attention;
    screen_set_view(b->s, 0, 1, PW_VIEW_CC);
    assert_says(after(b, 20, 100, ""), "nothing to separate here: no position enters layer 0");
    screen_set_view(b->s, 1, 1, PW_VIEW_PP);
    a->terms = calloc(4 * 16 * 16, sizeof *a->terms);
    assert_says(after(b, 20, 100, ""), "exact, the norm's scale frozen");
    a->samples = 64;
    assert_says(after(b, 20, 100, ""), "position: mean over 64 samples");
    assert_says(after(b, 20, 100, ""), "content = +0.00 cc +0.00 cp +0.00 pc +0.00 pp");
    a->biases = false;
    screen_set_view(b->s, 1, 1, PW_VIEW_BIAS);
    assert_says(after(b, 20, 100, ""), "no encoding acts on the scores");
    a->adds = true;
    assert_says(after(b, 20, 100, ""), "this encoding adds its rows to the embeddings");
    a->rotates = true;
    assert_says(after(b, 20, 100, ""), "content by rotation");
    assert_says(after(b, 20, 100, "s"), "chance");
}

/* The contextual position of the key, those of all keys as a ruler, and the rest of a stick. */
static void test_scans(void **state)
{
    struct bench *b = *state;
    struct pw_ev_attention *a = &b->s->attention;
    assert_silent(after(b, 40, 120, ""), "contextual position");
    a->positions = calloc((size_t)a->T * a->T, sizeof *a->positions);
    int q = b->ui.attention.query, k = b->ui.attention.key;
    for (int i = 0; i <= q; i++)
        a->positions[(size_t)q * a->T + i] = pw_half((float)(q + 1 - i) + 0.25f);
    char text[48];
    snprintf(text, sizeof text, "contextual position %.2f", q + 1 - k + 0.25);
    assert_says(after(b, 40, 120, ""), text);
    snprintf(text, sizeof text, " %.1f", q + 1.25);
    assert_says(after(b, 40, 160, ""), text);
    a->rests = true;
    assert_says(after(b, 40, 120, ""), "for the query's own value");
}

/* The words that a screen reader gets of the pane. The caller frees them. */
static char *words_of(struct bench *b)
{
    char *words = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&words, &size);
    pw_att_words(out, &b->ui);
    fclose(out);
    return words;
}

/* The gates of an encoding that reads the tokens, and its part of the scores. */
static void test_gates(void **state)
{
    struct bench *b = *state;
    struct pw_ev_attention *a = &b->s->attention;
    screen_set_view(b->s, 1, 1, PW_VIEW_GATE);
    assert_says(after(b, 20, 100, ""), "nothing to separate here: this encoding has no gates");
    a->biases = false, a->gates = true;
    a->gate = calloc((size_t)a->T * a->T, sizeof *a->gate);
    a->gate_values = calloc((size_t)a->heads * a->T, sizeof *a->gate_values);
    for (int i = 0; i < a->T * a->T; i++)
        a->gate[i] = pw_half(-2);
    for (int t = 0; t < a->T; t++)
        a->gate_values[a->T + t] = (float)t / 64;
    const char *screen = after(b, 44, 120, "");
    assert_says(screen, "gate, ln of what is kept");
    assert_says(screen, "gate of \"");
    assert_says(screen, "content -2.00 gate");
    assert_says(screen, "\ngate 0.00 0.02 0.03 0.05"); /* the row below the map */
    char *words = words_of(b);
    assert_says(words,
                "gate of each token, the share of what came before that the head keeps: 0 'sort' 0.000,");
    assert_says(words, "gate, ln of what is kept, one row per query:");
    free(words);
    screen_set_view(b->s, 1, 1, PW_VIEW_BIAS);
    assert_says(after(b, 20, 100, ""), "v: the part of the gates");
}

/* The losses of keys to votes, as a ruler and in words. Tokens have no gates of their own. */
static void test_losses(void **state)
{
    struct bench *b = *state;
    struct pw_ev_attention *a = &b->s->attention;
    screen_set_view(b->s, 1, 1, PW_VIEW_GATE);
    a->biases = false, a->gates = true;
    a->gate = calloc((size_t)a->T * a->T, sizeof *a->gate);
    for (int i = 0; i < a->T * a->T; i++)
        a->gate[i] = pw_half(-(float)(i % a->T) - 0.5f);
    const char *screen = after(b, 44, 120, "");
    assert_says(screen, "gate, ln of what is kept");
    assert_says(screen, "\nlost 0.5  1.5  2.5");
    assert_silent(screen, "gate of \"");
    char *words = words_of(b);
    assert_says(words, " lost 0.50");
    free(words);
}

/* A walk has numbers of its own: factors of reflections (path), or gates of channels as a mean (wall). */
static void test_walks(void **state)
{
    struct bench *b = *state;
    struct pw_ev_attention *a = &b->s->attention;
    screen_set_view(b->s, 1, 1, PW_VIEW_BIAS);
    a->gate_values = calloc((size_t)a->heads * a->T, sizeof *a->gate_values);
    for (int t = 0; t < a->T; t++)
        a->gate_values[a->T + t] = 1 + (float)t / 64;
    a->rotates = true;
    const char *screen = after(b, 44, 120, "");
    assert_says(screen, "content by reflections");
    assert_says(screen, "\nfactor 1.00 1.02 1.03 1.05");
    assert_says(screen, "\" reflects with factor 1.");
    char *words = words_of(b);
    assert_says(words,
                "factor of each token's reflection, 1 to erase a direction, 2 to mirror it: 0 'sort' 1.000,");
    free(words);
    a->rotates = false;
    for (int t = 0; t < a->T; t++)
        a->gate_values[a->T + t] = (float)t / 64;
    screen = after(b, 44, 120, "");
    assert_says(screen, "what fading takes");
    assert_says(screen, "\ngate 0.00 0.02 0.03 0.05");
    words = words_of(b);
    assert_says(words, "gate of each token, the mean over the entries of the head: 0 'sort' 0.000,");
    free(words);
}

/* Distances, buckets and positions not seen in training. */
static void test_hatch(void **state)
{
    struct bench *b = *state;
    struct pw_ev_table *t = &b->s->arms[2].table;
    struct pw_att w;
    assert_silent(after(b, 24, 100, ""), "hatched");
    free(t->met);
    t->met = NULL;
    t->trained = 6; /* distance 7 shares its bucket with 6, 8 has a new one */
    assert_says(after(b, 24, 100, ""), "hatched: bucket never trained");
    assert_true(pw_att_init(&w, &b->ui));
    assert_false(pw_att_untrained(&w, 9, 2));
    assert_true(pw_att_untrained(&w, 9, 1));
    pw_att_fini(&w);
    t->met = calloc(32, sizeof *t->met); /* counts: the hatch covers distances without one */
    t->met[0] = t->met[1] = t->met[6] = 5;
    assert_true(pw_att_init(&w, &b->ui));
    assert_true(pw_att_untrained(&w, 9, 7));
    assert_false(pw_att_untrained(&w, 9, 8));
    assert_false(pw_att_untrained(&w, 9, 2));
    pw_att_fini(&w);
    assert_silent(after(b, 24, 100, "H"), "hatched");
    after(b, 24, 100, "H");
    free(t->bucket);
    t->bucket = NULL;
    assert_says(after(b, 24, 100, ""), "hatched: distance never trained");
    for (int cols = 40; cols < 100; cols++) { /* the note is complete or absent */
        const char *at = strstr(after(b, 24, cols, ""), "hatched");
        assert_true(at == NULL || strncmp(at, "hatched: distance never trained", 31) == 0 ||
                    strncmp(at, "hatched: untrained", 18) == 0);
    }
    t->added = calloc(32, sizeof *t->added);
    assert_says(after(b, 24, 100, ""), "hatched: position never trained");
    assert_true(pw_att_init(&w, &b->ui));
    assert_true(pw_att_untrained(&w, 7, 1) && pw_att_untrained(&w, 1, 7) && !pw_att_untrained(&w, 6, 6));
    pw_att_fini(&w);
    b->s->arms[2].has_table = false; /* another arm has no table, so no hatch */
    assert_silent(after(b, 24, 100, ""), "hatched");
}

/* The legend has the map's own sign for gold pointers, and disappears with it. */
static void test_gold_sign(void **state)
{
    struct bench *b = *state;
    const char *screen = after(b, 24, 100, ""), *legend = strstr(screen, "◆ gold");
    assert_non_null(legend);
    assert_true(strstr(screen, "◆") < legend); /* in the map */
    b->ui.attention.no_gold = true;
    assert_silent(after(b, 24, 100, ""), "◆");
}

static void test_long_sequences(void **state)
{
    struct bench *b = *state;
    static const char *const labels[] = {"a", "b", "c"};
    screen_set_prompt(b->s, 120, labels, 3);
    const char *screen = after(b, 24, 90, "");
    assert_says(screen, "max-pooled 3x, w scrolls");
    assert_says(screen, "small: pooled 15x"); /* the small maps beside it are pooled more */
    screen = after(b, 24, 90, "wg");
    assert_says(screen, "rows 0..");
    assert_says(screen, " of 120");
    assert_silent(screen, "max-pooled");
    assert_says(after(b, 24, 90, "G"), "..119");
    assert_int_equal(b->ui.attention.query, 119);
    for (int h = 1; h < 30; h += 4) /* at any size */
        for (int w = 1; w < 90; w += 7)
            after(b, h, w, "hk");
}

static void test_overview(void **state)
{
    struct bench *b = *state;
    const char *screen = after(b, 30, 100, "\n");
    assert_says(screen, "2 layers x 4 heads  gold pointers (m: next)  most L1H0 0.84, chance 0.12");
    assert_says(screen, "L1H3 .20");
    assert_says(after(b, 30, 100, "m"), "previous token (m: next)  most L0H0 0.84");
    assert_silent(after(b, 30, 100, "m"), "not defined here");          /* induction is passed over */
    assert_says(after(b, 30, 100, "mmmmm"), "gold pointers (m: next)"); /* after all other scores */
    after(b, 30, 100, "j");
    assert_string_equal(b->line.s, "inspect layer=+1");
    after(b, 30, 100, "l");
    assert_string_equal(b->line.s, "inspect head=+1");
    struct pw_event *e = pw_event_new(PW_EV_HEADS);
    e->arm = 3;
    e->u.heads = (struct pw_ev_heads){.layers = 2, .heads = 4, .mode = calloc(8, 1)};
    e->u.heads.mode[2] = PW_ABLATE_ZERO;
    pw_fold(b->s, e);
    pw_event_free(e);
    assert_says(after(b, 30, 100, ""), "L0H2✗.14");
    assert_says(after(b, 6, 20, ""), "✗");
}

/* At 200x60 no map is pooled, and the maps have most of the room. Pooled maps have a note. */
static void test_overview_fills_the_room(void **state)
{
    struct bench *b = *state;
    const char *screen = after(b, 56, 198, "\n");
    int drawn = 0;
    assert_silent(screen, "pooled");
    for (int i = 0; i < b->c.rows * b->c.cols; i++)
        drawn +=
            b->c.cells[i].style.bg < PW_ANSI(0) || b->c.cells[i].cp == 0x2580 || b->c.cells[i].cp == 0x2584;
    print_message("%d of %d cells\n", drawn, b->c.rows * b->c.cols);
    assert_true(drawn > b->c.rows * b->c.cols / 4); /* half of each map is masked (causal) */
    assert_says(after(b, 14, 60, ""), "pooled 2x");
    assert_says(after(b, 14, 78, ""), "max-pooled 2x");
}

/* At any width a line ends after a complete part, never inside a number or before it. */
static void ends_whole(const char *line, size_t n, const char *all)
{
    while (n > 0 && line[n - 1] == ' ')
        n--;
    if (strncmp(line, all, n) != 0 || (all[n] != '\0' && strchr(" ,", all[n]) == NULL))
        fail_msg("'%.*s' of '%s'", (int)n, line, all);
}

static const char *last_line(char *screen)
{
    size_t n = strlen(screen);
    if (n > 0 && screen[n - 1] == '\n')
        screen[n - 1] = '\0';
    return strrchr(screen, '\n') + 1;
}

static void test_narrow_overview(void **state)
{
    struct bench *b = *state;
    const char *wide[2] = {"  gold pointers (m: next)  most L1H0 0.84, chance 0.12 linear",
                           "  gold pointers  most L1H0 0.84, chance 0.12 linear"};
    static char words[512];
    after(b, 20, 200, "\n");
    snprintf(words, sizeof words, "%s", last_line(b->text.s));
    for (int w = 20; w < 120; w++) {
        const char *screen = after(b, 20, w, "");
        size_t n = strcspn(screen, "\n");
        const char *heading = strstr(screen, "heads  ");
        heading = heading != NULL && heading < screen + n ? heading + 5 : screen + 5; /* "2 x 4" */
        const char *pooled = memmem(heading, n - (size_t)(heading - screen), "pooled ", 7);
        heading = pooled != NULL ? strchr(pooled, 'x') + 1 : heading;
        size_t left = n - (size_t)(heading - screen);
        bool hint = memmem(heading, left, "(m", 2) != NULL;
        ends_whole(heading, left, wide[!hint]);
        bool most = memmem(heading, left, "most", 4) != NULL,
             value = memmem(heading, left, "0.84", 4) != NULL;
        assert_true(most == value && (!hint || most)); /* the number has priority over the hint */
        const char *last = last_line(b->text.s);
        ends_whole(last, strlen(last), words);
    }
}

static void test_click_and_copy(void **state)
{
    struct bench *b = *state;
    struct pw_rect all = {0, 0, 30, 100};
    after(b, 30, 100, "gll");
    int found = 0;
    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 100; x++)
            if (b->c.cells[y * 100 + x].cp == '[') { /* the cursor; then move it elsewhere */
                b->ui.attention.query = 9, b->ui.attention.key = 9;
                after(b, 30, 100, "");
                found += pw_pane_attention.click(&b->ui, y, x, all, &b->line);
                assert_int_equal(b->ui.attention.query, 0);
                y = 30;
                break;
            }
    assert_int_equal(found, 1);
    assert_false(pw_pane_attention.click(&b->ui, 29, 99, all, &b->line));
    after(b, 30, 100, "\n");
    for (int head = 0; head < 8; head++) { /* each map is below its name */
        char name[8], line[32];
        int y = 0, x = -1;
        snprintf(name, sizeof name, "L%dH%d .", head / 4, head % 4);
        for (const char *row = b->text.s; x < 0; row = strchr(row, '\n') + 1, y++) {
            const char *at = strstr(row, name);
            x = at != NULL && at < strchr(row, '\n') ? (int)(at - row) : -1;
        }
        pw_str_clear(&b->line);
        assert_true(pw_pane_attention.click(&b->ui, y, x + 1, all, &b->line));
        snprintf(line, sizeof line, "inspect layer=%d head=%d", head / 4, head % 4);
        assert_string_equal(b->line.s, line);
    }
    pw_str_clear(&b->line);
    pw_pane_attention.copy(&b->ui, &b->line);
    assert_says(b->line.s, "layer\thead\tprevious token\t");
    assert_says(b->line.s, "\n1\t3\t");
    after(b, 30, 100, "\n");
    pw_str_clear(&b->line);
    pw_pane_attention.copy(&b->ui, &b->line);
    assert_int_equal(strncmp(b->line.s, "query\t0 sort\t1 3\t", 16), 0);
    assert_says(b->line.s, "\n0 sort\t1\t\t");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_first_left_out),
        TEST(test_mean_over_heads),
        TEST(test_scales),
        TEST(test_difference),
        TEST(test_time),
        TEST(test_words),
        TEST(test_gates),
        TEST(test_walks),
        TEST(test_losses),
        TEST(test_hatch),
        TEST(test_scans),
        TEST(test_gold_sign),
        TEST(test_long_sequences),
        TEST(test_overview),
        TEST(test_overview_fills_the_room),
        TEST(test_narrow_overview),
        TEST(test_click_and_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
