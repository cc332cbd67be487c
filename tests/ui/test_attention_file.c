/* test_attention_file.c - tests the attention pane with attention of a file, alone and as the reference. */
#include "attention_bench.h"

static const char *status_of(struct bench *b)
{
    pw_str_clear(&b->line);
    pw_pane_attention.status(&b->ui, &b->line);
    return b->line.s;
}

/* A newly imported file comes to the front. Keys choose among its heads without a lab command; i returns to
 * the arm. */
static void test_file(void **state)
{
    struct bench *b = *state;
    static const char *const labels[] = {"a", "b", "b"};
    struct pw_att w;
    screen_import(b->s, 5, labels, 3);
    const char *screen = after(b, 24, 100, "");
    assert_says(screen, "q=4 \"b\"");
    assert_silent(screen, "gold");
    assert_string_equal(status_of(b), "head L0H0 probs  file theirs.npz");
    after(b, 24, 100, "[");
    assert_int_equal(b->line.len, 0);
    after(b, 24, 100, "{X");
    assert_string_equal(status_of(b), "head L1H3 probs  file theirs.npz");
    assert_says(after(b, 24, 100, "v"), "score +8.00");
    assert_string_equal(status_of(b), "head L1H3 score  file theirs.npz");
    assert_true(pw_att_init(&w, &b->ui));
    assert_true(w.T == 5 && pw_att_value(&w, 4, 2) == 8);
    pw_att_fini(&w);
    after(b, 24, 100, "a");
    assert_string_equal(status_of(b), "layer 1 mean of 4 heads  file theirs.npz");
    after(b, 24, 100, "]\n");
    pw_str_clear(&b->line);
    assert_true(pw_pane_attention.click(&b->ui, 20, 60, (struct pw_rect){0, 0, 24, 100}, &b->line));
    assert_true(b->ui.attention.file.layer == 1 && b->ui.attention.file.head == 2 && b->line.len == 0);
    after(b, 24, 100, "\ni]");
    assert_string_equal(b->line.s, "inspect head=+1");
    assert_says(status_of(b), "step 640");
    screen_import(b->s, 5, labels, 3); /* another file */
    assert_says(status_of(b), "file theirs.npz");
    b->s->has_attention = false;
    after(b, 24, 100, "i"); /* no other attention exists */
    assert_says(status_of(b), "file theirs.npz");
    struct pw_event *e = pw_event_new(PW_EV_ATTENTION);
    pw_text_copy(e->u.attention.source, PW_LINE, "off");
    pw_fold(b->s, e);
    pw_event_free(e);
    assert_says(after(b, 24, 100, "icjm"), "no prompt to look at yet");
}

/* Difference between an arm and a file: by token if labels are equal, by position if lengths are equal. */
static void test_file_difference(void **state)
{
    struct bench *b = *state;
    static const char *const same[] = {"sort", " 3", " 9"}, *const others[] = {"7", "8", "9"};
    struct pw_att w;
    screen_import(b->s, 16, others, 3);
    assert_says(after(b, 24, 160, "ci"),
                "less theirs.npz head L0H0, by position: its tokens have other names");
    assert_true(pw_att_init(&w, &b->ui));
    float own = pw_from_half(b->s->attention.probs[(size_t)5 * 256 + 9 * 16 + 4]),
          theirs = pw_from_half(b->s->foreign.probs[9 * 16 + 4]);
    assert_true(w.T == 16 && pw_att_value(&w, 9, 4) == own - theirs);
    pw_att_fini(&w);
    assert_says(after(b, 24, 160, "cci"), "less 3 t5 8/16 ↻ head L1H1 step 640, by position");
    screen_import(b->s, 7, same, 3);
    assert_says(after(b, 24, 160, ""), "the first 2 tokens, which are the same");
    screen_import(b->s, 7, others, 3);
    assert_says(after(b, 24, 160, ""), "the reference has different tokens");
    assert_silent(after(b, 24, 160, "c"), "reference");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_file), TEST(test_file_difference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
