/* test_file.c - tests task file, the user's own lines: which lines are drawn, which are held out, and the
 * errors for unusable files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tasks/task.h"

#define MAX 1200

static char path[] = "/tmp/pewter-file-XXXXXX";

static void put(const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static enum pw_code open_with(struct pw_taskset *set, const char *options, struct pw_err *err)
{
    char text[600];
    snprintf(text, sizeof text, "file path=%s %s", path, options);
    return pw_taskset_init(set, text, err);
}

static void open_set(struct pw_taskset *set, const char *options)
{
    struct pw_err err = {0};
    if (open_with(set, options, &err) != PW_OK)
        fail_msg("%s", err.msg);
}

/* 3000 lines of 1 to 6 words; the answer is the line's number. The draws show which lines are held out. */
static void put_lines(void)
{
    struct pw_str text = {0};
    for (int i = 0; i < 3000; i++) {
        for (int k = 0; k <= i % 6; k++)
            pw_str_add(&text, "%sw%d", k > 0 ? " " : "", k == 0 ? i : k);
        pw_str_add(&text, "\tyes\n");
    }
    put(text.s, text.len);
    pw_str_fini(&text);
}

/* The number of the sample's line. Its length must match. */
static int line_of(const struct pw_taskset *set, const struct pw_sample *s)
{
    int line = atoi(set->vocab.words[s->tokens[0]] + 2);
    assert_int_equal(s->length, line % 6 + 1);
    assert_int_equal(s->n_prompt, s->length + 1);
    assert_string_equal(set->vocab.words[s->tokens[s->length]], " >");
    assert_string_equal(set->vocab.words[s->tokens[s->n_prompt]], " yes");
    assert_int_equal(s->n, s->n_prompt + 2);
    return line;
}

static void what_is_measured_was_never_trained(void **state)
{
    struct pw_taskset set;
    int tokens[MAX], count[3000] = {0}, n_held = 0, n_trained = 0, in_range = 0;
    bool held[3000] = {false};
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    (void)state;
    put_lines();
    open_set(&set, "lengths=2..4");
    assert_int_equal(pw_task_train(&set.use[0]).lo, 2);
    assert_int_equal(pw_task_train(&set.use[0]).hi, 4);
    assert_int_equal(pw_task_test(&set.use[0]).lo, 5);
    assert_int_equal(pw_task_test(&set.use[0]).hi, 6);
    for (uint64_t i = 0; i < 30000; i++) {
        pw_taskset_sample(&set, 1, PW_SPLIT_TRAIN, i, 0, 0, &s);
        assert_true(s.length >= 2 && s.length <= 4);
        count[line_of(&set, &s)]++;
    }
    for (uint64_t i = 0; i < 5000; i++) {
        pw_taskset_sample(&set, 1, PW_SPLIT_VALID, i, 0, 0, &s);
        assert_true(s.length >= 2 && s.length <= 4);
        held[line_of(&set, &s)] = true;
        for (int length = 2; length <= 4; length++) {
            pw_taskset_sample(&set, 1, PW_SPLIT_TEST, i, 0, length, &s);
            assert_int_equal(s.length, length);
            held[line_of(&set, &s)] = true;
        }
    }
    for (int i = 0; i < 3000; i++) {
        assert_false(held[i] && count[i] > 0);
        n_held += held[i];
        n_trained += count[i] > 0;
        in_range += i % 6 + 1 >= 2 && i % 6 + 1 <= 4;
    }
    assert_int_equal(n_held + n_trained, in_range); /* all are used: 20 draws per line miss none of 1500 */
    assert_true(n_held > in_range / 20 && n_held < in_range * 3 / 20);
    for (int i = 0; i < 3000; i++)
        assert_true(count[i] < 60); /* 22 expected */

    /* Longer test lengths use all lines of the length. */
    memset(count, 0, sizeof count);
    for (uint64_t i = 0; i < 8000; i++) {
        pw_taskset_sample(&set, 1, PW_SPLIT_TEST, i, 0, 6, &s);
        count[line_of(&set, &s)]++;
    }
    for (int i = 5; i < 3000; i += 6)
        assert_true(count[i] > 0);
    pw_taskset_fini(&set);
}

static void the_text_is_words(void **state)
{
    static const char text[] = "\xef\xbb\xbf  a  b \t b   a \r\nc\xc3\xa9 a\tx y z\r\na\ta";
    struct pw_taskset set;
    struct pw_err err = {0};
    int tokens[MAX];
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    static const char *const typed[] = {"a b", " a   b ", "a b >", "file a b", "file a b >"};
    (void)state;
    put(text, sizeof text - 1);
    open_set(&set, "");
    assert_int_equal(set.max_tokens, 7); /* cé a > x y z end */
    assert_int_equal(pw_task_train(&set.use[0]).lo, 1);
    assert_int_equal(pw_task_train(&set.use[0]).hi, 2);
    assert_true(pw_task_has(&set.use[0], 1) && pw_task_has(&set.use[0], 2) && !pw_task_has(&set.use[0], 3));
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        struct pw_str got = {0};
        assert_int_equal(pw_taskset_prompt(&set, typed[i], MAX, &s, &err), PW_OK);
        for (int k = 0; k < s.n; k++)
            pw_str_add(&got, "%s%s", k == s.n_prompt ? "|" : "", set.vocab.words[tokens[k]]);
        assert_string_equal(got.s, " a b >| b a</s>");
        assert_int_equal(s.length, 2);
        pw_str_fini(&got);
    }
    /* Known words that form no line: there is no known answer. */
    assert_int_equal(pw_taskset_prompt(&set, "b b a", MAX, &s, &err), PW_OK);
    assert_int_equal(s.n_prompt, 4);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.length, 3);
    assert_int_equal(pw_taskset_prompt(&set, "a zebra", MAX, &s, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "file: 'zebra' is not a word of"));
    assert_int_equal(pw_taskset_prompt(&set, "file", MAX, &s, &err), PW_EUSER);
    assert_int_equal(pw_taskset_prompt(&set, "", MAX, &s, &err), PW_EUSER);
    assert_int_equal(pw_taskset_prompt(&set, ">", MAX, &s, &err), PW_EUSER);
    pw_taskset_fini(&set);

    /* In a mixture, and printed and parsed again, with a name that needs quotes. */
    char odd[64], command[200];
    struct pw_str printed = {0}, again = {0};
    snprintf(odd, sizeof odd, "%s (1), b=\\\".tsv", path);
    odd[strcspn(odd, "\\")] = '!';
    odd[strcspn(odd, "\"")] = '!';
    assert_int_equal(rename(path, odd), 0);
    snprintf(command, sizeof command, "copy,file(path=\"%s\"),sort", odd);
    if (pw_taskset_init(&set, command, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(set.n, 3);
    pw_taskset_print(&set, &printed);
    pw_taskset_fini(&set);
    if (pw_taskset_init(&set, printed.s, &err) != PW_OK)
        fail_msg("%s: %s", printed.s, err.msg);
    pw_taskset_print(&set, &again);
    assert_string_equal(printed.s, again.s);
    assert_int_equal(pw_taskset_prompt(&set, "a b", MAX, &s, &err), PW_OK);
    assert_int_equal(s.task, 1);
    assert_int_equal(pw_taskset_prompt(&set, "sort 2 1", MAX, &s, &err), PW_OK);
    assert_int_equal(s.task, 2);
    pw_taskset_fini(&set);
    pw_str_fini(&printed);
    pw_str_fini(&again);
    assert_int_equal(rename(odd, path), 0);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *text, *options, *message;
        size_t n;
    } cases[] = {
        {"", "", " is empty", 0},
        {"a\tb\nc d\n", "", ": line 2 has no TAB between prompt and answer", 0},
        {"a\tb\n\nc\td\n", "", ": line 2 has no TAB between prompt and answer", 0},
        {"a\tb\n \tb\n", "", ": line 2 has no prompt", 0},
        {"a\tb\nc\t \r\n", "", ": line 2 has no answer", 0},
        {"a\tb\tc\n", "", ": line 1 has more than one TAB", 0},
        {"a\tb\na \xff\tb\n", "", ": line 2 is not valid UTF-8", 0},
        {"a\tb\x1b\n", "", ": line 1 has a control character, its byte 4", 0},
        {"a\tb\0c\n", "", ": line 1 has a control character, its byte 4", 6},
        {"a\tb\n", "lengths=5..9", ": the lines of ", 0},
        {"a\tb\na b c\tb\n", "lengths=2", " has no lines of these lengths", 0},
        {"a\tb\na b c\tb\n", "lengths=1..3 test=2", "overlaps the trained lengths 1..3", 0},
    };
    struct pw_taskset set;
    struct pw_err err = {0};
    struct pw_str text = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(cases[i].text, cases[i].n > 0 ? cases[i].n : strlen(cases[i].text));
        assert_int_equal(open_with(&set, cases[i].options, &err), PW_EUSER);
        if (strstr(err.msg, cases[i].message) == NULL)
            fail_msg("case %zu: %s", i, err.msg);
        assert_null(strchr(err.msg, '\n'));
        assert_int_equal(set.n, 0);
    }
    pw_str_add(&text, "a\t");
    for (int i = 0; i < 10240; i++)
        pw_str_put(&text, "x", 1);
    put(text.s, text.len);
    assert_int_equal(open_with(&set, "", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, ": line 1 has a word of 10240 bytes; at most 256 are allowed"));
    pw_str_clear(&text);
    for (int i = 0; i < 4097; i++)
        pw_str_add(&text, "w%d\tw0\n", i);
    put(text.s, text.len);
    assert_int_equal(open_with(&set, "", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, ": line 4097 exceeds the limit of 4096 different words"));
    pw_str_clear(&text);
    for (int i = 0; i < 501; i++)
        pw_str_add(&text, "a ");
    pw_str_add(&text, "\tb");
    put(text.s, text.len);
    assert_int_equal(open_with(&set, "", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, ": line 1 has 501 words in its prompt; at most 500 are allowed"));
    pw_str_fini(&text);

    assert_int_equal(truncate(path, (64 << 20) + 1), 0);
    assert_int_equal(open_with(&set, "", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "the limit is 67108864"));
    assert_int_equal(pw_taskset_init(&set, "file", &err), PW_EUSER);
    assert_string_equal(err.msg, "file: path=F is missing; each line of F is a prompt, a TAB and its answer");
    assert_int_equal(pw_taskset_init(&set, "file path=/nowhere/at/all", &err), PW_EIO);
    assert_int_equal(pw_taskset_init(&set, "file path=/", &err), PW_EUSER);
}

static void tells(const char *options, const char *want, bool told)
{
    struct pw_taskset set;
    struct pw_str out = {0};
    open_set(&set, options);
    set.use[0].task->tell(&set.use[0].o, &out);
    if ((strstr(pw_str_text(&out), want) != NULL) != told)
        fail_msg("%s: '%s' is %s in: %s", options, want, told ? "missing" : "there", pw_str_text(&out));
    pw_str_fini(&out);
    pw_taskset_fini(&set);
}

/* The report must state how many lines are held out and list them: the lines that are drawn for validation,
 * and no others. */
static void the_user_is_told_what_is_held_out(void **state)
{
    struct pw_taskset set;
    struct pw_str want = {0};
    int tokens[MAX], n_held = 0, listed = 0;
    bool held[3000] = {false};
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    struct pw_every every;
    struct pw_item item;
    (void)state;
    put_lines();
    open_set(&set, "lengths=2..4");
    for (uint64_t i = 0; i < 5000; i++) {
        pw_taskset_sample(&set, 1, PW_SPLIT_VALID, i, 0, 0, &s);
        n_held += !held[line_of(&set, &s)];
        held[line_of(&set, &s)] = true;
    }
    pw_every_begin(&every, &set.use[0]);
    while (pw_every_next(&every, &item))
        if (item.length <= 4)
            assert_int_equal(pw_task_holds_out(&set.use[0], &item), held[item.v[0]]);
    pw_taskset_fini(&set);
    pw_str_add(&want, "%d lines are held out for evaluation, one in ten by its prompt: lines ", n_held);
    for (int i = 0; i < 3000 && listed < 12; i++)
        if (held[i])
            pw_str_add(&want, "%s%d", listed++ > 0 ? ", " : "", i + 1);
    tells("lengths=2..4", want.s, true);
    pw_str_clear(&want);
    pw_str_add(&want, "3000 lines: %d for training, 1000 longer (for testing), 500 shorter (not used)",
               1500 - n_held);
    tells("lengths=2..4", want.s, true);
    tells("", "starts with", false);
    pw_str_fini(&want);

    put("a b\tb a\n", 8); /* a single line is trained and evaluated, whatever its hash */
    tells("", "1 lines: 1 for training", true);
    tells("", "too few lines to hold any out; evaluation uses the trained ones", true);
}

/* A word that starts every prompt must be reported, and be excluded from lengths on request. */
static void lengths_leave_out_the_tasks_word(void **state)
{
    static const char text[] = "sort 2 1\t1 2\nsort 3\t3\nsort 3 2 1\t1 2 3\n";
    struct pw_taskset set;
    struct pw_err err = {0};
    int tokens[MAX];
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    (void)state;
    put(text, strlen(text));
    tells("", "every prompt starts with 'sort', which counts towards its length; skip=1 excludes it", true);
    tells("skip=1", "which counts towards its length", false);
    open_set(&set, "");
    assert_int_equal(pw_task_train(&set.use[0]).lo, 2);
    assert_int_equal(pw_task_train(&set.use[0]).hi, 4);
    pw_taskset_fini(&set);
    open_set(&set, "skip=1 lengths=1..2");
    assert_int_equal(pw_task_train(&set.use[0]).hi, 2);
    assert_int_equal(pw_task_test(&set.use[0]).lo, 3);
    assert_int_equal(pw_taskset_prompt(&set, "sort 1 2 3", MAX, &s, &err), PW_OK); /* in no line */
    assert_int_equal(s.length, 3);
    assert_int_equal(pw_taskset_prompt(&set, "sort 3 2 1", MAX, &s, &err), PW_OK);
    assert_int_equal(s.length, 3);
    assert_string_equal(set.vocab.words[tokens[0]], " sort");
    pw_taskset_fini(&set);
    assert_int_equal(open_with(&set, "skip=2", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "line 2 has 2 words in its prompt; skip=2 leaves none"));
}

/* Options of other tasks must be refused with the reason, alone and in a mixture. */
static void what_has_no_meaning_is_refused(void **state)
{
    struct pw_taskset set;
    struct pw_err err = {0};
    char text[200];
    (void)state;
    put("a b\tb a\n", 8);
    assert_int_equal(open_with(&set, "data=100", &err), PW_EUSER);
    assert_string_equal(
        err.msg,
        "file: data=100: the lines of the file are the training set; a shorter file makes a smaller one");
    snprintf(text, sizeof text, "file(path=%s,held=on),sort", path);
    assert_int_equal(pw_taskset_init(&set, text, &err), PW_EUSER);
    assert_string_equal(err.msg, "file: held=on: one line in ten is always held out");
    snprintf(text, sizeof text, "file(path=%s),sort data=1000", path); /* sort's option */
    assert_int_equal(pw_taskset_init(&set, text, &err), PW_OK);
    pw_taskset_fini(&set);
}

static void a_million_lines(void **state)
{
    struct pw_str text = {0};
    struct pw_taskset set;
    int tokens[MAX];
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    struct timespec a, b;
    (void)state;
    for (int i = 0; i < 1000000; i++)
        pw_str_add(&text, "%d %d %d\t%d\n", i % 1000, i / 1000, i % 7, i % 10);
    put(text.s, text.len);
    pw_str_fini(&text);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    open_set(&set, "");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    assert_true((double)(b.tv_sec - a.tv_sec) < 20); /* under one second without sanitizers */
    for (uint64_t i = 0; i < 1000; i++) {
        pw_taskset_sample(&set, 1, PW_SPLIT_TRAIN, i, 0, 0, &s);
        assert_int_equal(s.n, 6);
    }
    pw_taskset_fini(&set);
}

static int make(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int drop(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_measured_was_never_trained),
        cmocka_unit_test(the_text_is_words),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(the_user_is_told_what_is_held_out),
        cmocka_unit_test(lengths_leave_out_the_tasks_word),
        cmocka_unit_test(what_has_no_meaning_is_refused),
        cmocka_unit_test(a_million_lines),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
