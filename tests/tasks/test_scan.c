/* test_scan.c - tests SCAN. Every command of the grammar, generated here word by word, is checked by an
 * interpreter of the text. Counts and histograms are compared with the public data. It also tests the
 * trained, held-out and test inputs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"
#include "tasks/task.h"

#define MAX      128
#define COMMANDS 20910

/* ---- the grammar, written out */

static char clauses[102][40], *commands[COMMANDS];

static void add_clauses(int *n, const char *v)
{
    static const char *const ends[] = {"", " twice", " thrice"};
    for (int i = 0; i < 3; i++)
        snprintf(clauses[(*n)++], sizeof clauses[0], "%s%s", v, ends[i]);
}

static int make(void **state)
{
    static const char *const verbs[] = {"walk", "look", "run", "jump", "turn"};
    static const char *const turns[] = {
        " left", " right", " opposite left", " opposite right", " around left", " around right", ""};
    static const char *const joints[] = {" and ", " after "};
    int n = 0, all = 0;
    (void)state;
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 7 - (i == 4); k++) { /* "turn" alone is no command */
            char v[40];
            snprintf(v, sizeof v, "%s%s", verbs[i], turns[k]);
            add_clauses(&n, v);
        }
    assert_int_equal(n, 102);
    for (int a = 0; a < n; a++)
        for (int k = -1; k < 2 * n; k++) {
            struct pw_str text = {0};
            pw_str_add(&text, "%s%s%s", clauses[a], k < 0 ? "" : joints[k / n], k < 0 ? "" : clauses[k % n]);
            commands[all++] = text.s;
        }
    assert_int_equal(all, COMMANDS);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    for (int i = 0; i < COMMANDS; i++)
        free(commands[i]);
    return 0;
}

/* ---- an interpreter by rewriting: the meaning of a text, word by word */

static int count_words(const char *text)
{
    int n = 0;
    for (const char *c = text; *c != '\0'; c++)
        n += *c != ' ' && (c == text || c[-1] == ' ');
    return n;
}

static void meaning(const char *text, struct pw_str *out)
{
    static const char *const says[][2] = {{"walk", "Walk"}, {"look", "Look"}, {"run", "Run"},
                                          {"jump", "Jump"}, {"left", "Left"}, {"right", "Right"}};
    const char *joint = strstr(text, " after "), *gap;
    char one[100];
    if (joint != NULL) {
        meaning(joint + strlen(" after "), out);
        snprintf(one, sizeof one, "%.*s", (int)(joint - text), text);
        meaning(one, out);
        return;
    }
    joint = strstr(text, " and ");
    if (joint != NULL) {
        snprintf(one, sizeof one, "%.*s", (int)(joint - text), text);
        meaning(one, out);
        meaning(joint + strlen(" and "), out);
        return;
    }
    snprintf(one, sizeof one, "%s", text);
    int times = strstr(text, " twice") != NULL ? 2 : strstr(text, " thrice") != NULL ? 3 : 1;
    if (times > 1) {
        snprintf(one, sizeof one, "%.*s", (int)(strrchr(text, ' ') - text), text);
        for (int i = 0; i < times; i++)
            meaning(one, out);
        return;
    }
    bool opposite = strstr(one, "opposite") != NULL, around = strstr(one, "around") != NULL;
    gap = strrchr(one, ' ');
    if (gap == NULL) {
        for (int i = 0; i < 6; i++)
            if (strcmp(one, says[i][0]) == 0)
                pw_str_add(out, " %s", says[i][1]);
        return;
    }
    char verb[100];
    snprintf(verb, sizeof verb, "%.*s", (int)strcspn(one, " "), one);
    for (int i = 0; i < (around ? 4 : 1); i++) {
        for (int k = 0; k < 1 + opposite; k++)
            meaning(gap + 1, out);
        meaning(verb, out); /* "turn" has no action */
    }
}

static void every_command_is_there_and_means_what_it_says(void **state)
{
    static const int by_length[49] = {
        [1] = 6,    [2] = 88,   [3] = 398,   [4] = 860,   [5] = 1184,  [6] = 1178, [7] = 1104,
        [8] = 1450, [9] = 1256, [10] = 1696, [11] = 1072, [12] = 1578, [13] = 432, [14] = 848,
        [15] = 688, [16] = 304, [17] = 512,  [18] = 784,  [19] = 448,  [20] = 464, [21] = 64,
        [22] = 576, [24] = 336, [25] = 448,  [26] = 512,  [27] = 448,  [28] = 448, [30] = 576,
        [32] = 448, [33] = 256, [36] = 64,   [40] = 256,  [48] = 128};
    static const int by_words[10] = {
        [1] = 4, [2] = 18, [3] = 72, [4] = 328, [5] = 1288, [6] = 3520, [7] = 6080, [8] = 6400, [9] = 3200};
    static bool seen[COMMANDS];
    struct pw_taskset set;
    int lengths[49] = {0}, words[10] = {0};
    (void)state;
    texts_open(&set, "scan lengths=1..48");
    const struct pw_task_use *use = &set.use[0];
    for (int i = 0; i < COMMANDS; i++) {
        struct pw_item item;
        struct pw_err err = {0};
        struct pw_str prompt = {0}, answer = {0}, want = {0}, want_prompt = {0};
        if (use->task->payload(&use->o, commands[i], &item, &err) != PW_OK)
            fail_msg("'%s': %s", commands[i], err.msg);
        assert_int_equal(item.n, 1);
        assert_true(item.v[0] >= 0 && item.v[0] < COMMANDS && !seen[item.v[0]]); /* all different */
        seen[item.v[0]] = true;
        use->task->write(&use->o, &item, &prompt, &answer);
        pw_str_add(&want_prompt, "scan %s >", commands[i]);
        assert_string_equal(prompt.s, want_prompt.s);
        meaning(commands[i], &want);
        assert_string_equal(answer.s, want.s);
        assert_int_equal(item.length, count_words(want.s));
        lengths[item.length]++;
        words[count_words(commands[i])]++;
        pw_str_fini(&prompt);
        pw_str_fini(&answer);
        pw_str_fini(&want);
        pw_str_fini(&want_prompt);
    }
    assert_memory_equal(lengths, by_length, sizeof lengths);
    assert_memory_equal(words, by_words, sizeof words);
    for (int length = 1; length <= 48; length++) {
        assert_true(pw_task_inputs(use, length) == by_length[length]);
        assert_int_equal(pw_task_has(use, length), by_length[length] > 0);
        for (int k = 0; k < by_length[length]; k++) { /* each has its index */
            struct pw_item item;
            use->task->nth(&use->o, length, k, &item);
            assert_int_equal(item.length, length);
            assert_true(seen[item.v[0]]);
            seen[item.v[0]] = false;
        }
    }
    pw_taskset_fini(&set);
}

/* ---- splits */

/* The index of a sample's command. */
static int command_of(const struct pw_taskset *set, const struct pw_sample *s)
{
    struct pw_item item;
    assert_true(pw_taskset_item(set, s, &item));
    return item.v[0];
}

static void the_splits_are_those_of_the_papers(void **state)
{
    static const struct {
        const char *text;
        int trained, tested, first_tested;
    } cases[] = {
        {"scan", 17774, 3136, 26},
        {"scan lengths=1..22", 16990, 3920, 24},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        static bool held[COMMANDS], trained[COMMANDS], tested[COMMANDS];
        static int tokens[MAX];
        struct pw_taskset set;
        struct pw_sample s = {.tokens = tokens, .cap = MAX};
        int n_inside = 0, n_held = 0, n_tested = 0;
        memset(held, 0, sizeof held);
        memset(trained, 0, sizeof trained);
        memset(tested, 0, sizeof tested);
        texts_open(&set, cases[k].text);
        const struct pw_task_use *use = &set.use[0];
        struct pw_range train = pw_task_train(use), test = pw_task_test(use);
        assert_int_equal(test.lo, cases[k].first_tested);
        assert_int_equal(test.hi, 48);
        assert_int_equal(pw_task_data(use, PW_SPLIT_TEST), cases[k].tested);
        for (int length = 1; length <= 48; length++) {
            int n = pw_task_has(use, length) ? pw_task_samples_at(use, length, 1000000) : 0;
            n_inside += length <= train.hi ? (int)pw_task_inputs(use, length) : 0;
            for (int i = 0; i < n; i++) { /* an evaluation contains each command once */
                pw_taskset_sample(&set, 4, PW_SPLIT_TEST, (uint64_t)i, 0, length, &s);
                int c = command_of(&set, &s);
                bool *seen = length <= train.hi ? held : tested;
                assert_int_equal(s.length, length);
                assert_false(seen[c]);
                seen[c] = true;
                n_held += length <= train.hi;
                n_tested += length > train.hi;
                assert_true(s.n <= pw_taskset_tokens_at(&set, 0, length));
            }
        }
        assert_int_equal(n_inside, cases[k].trained);
        assert_int_equal(n_tested, cases[k].tested);
        assert_true(abs(n_held - cases[k].trained / 10) < 150); /* the standard deviation is 40 */
        int met = 0, longest = 0;
        for (uint64_t i = 0; i < 30000; i++) {
            pw_taskset_sample(&set, 4, PW_SPLIT_TRAIN, i, 0, 0, &s);
            int c = command_of(&set, &s);
            assert_true(s.length <= train.hi && pw_task_share(use, s.length) > 0);
            assert_true(!held[c] || pw_task_seen(use, s.length)); /* length 1: too few to hold any out */
            met += !trained[c];
            trained[c] = true;
            longest = s.length > longest ? s.length : longest;
        }
        assert_int_equal(longest, train.hi);
        assert_true(met > (cases[k].trained - n_held) * 8 / 10); /* 1 - e^-1.87 */
        for (uint64_t i = 0; i < 2000; i++) {
            pw_taskset_sample(&set, 4, PW_SPLIT_VALID, i, 0, 0, &s);
            assert_true(held[command_of(&set, &s)]);
        }
        pw_taskset_fini(&set);
    }
}

/* Every command is equally likely, so the share of a length is its number of commands. dist= changes this,
 * but not for lengths without commands. */
static void lengths_come_as_often_as_commands_have_them(void **state)
{
    struct pw_taskset set;
    int tokens[MAX], count[49] = {0};
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    (void)state;
    texts_open(&set, "scan");
    for (uint64_t i = 0; i < 20000; i++) {
        pw_taskset_sample(&set, 4, PW_SPLIT_TRAIN, i, 0, 0, &s);
        count[s.length]++;
    }
    for (int length = 1; length <= 25; length++) {
        double share = pw_task_share(&set.use[0], length), mean = 20000 * share;
        assert_true(fabs(share - (length == 23 ? 0 : pw_task_inputs(&set.use[0], length) / 17774)) < 1e-12);
        assert_true(fabs(count[length] - mean) <= 5 * sqrt(mean));
    }
    pw_taskset_fini(&set);
    static const char *const dists[] = {"scan dist=uniform lengths=20..25",
                                        "scan dist=geometric lengths=20..25"};
    for (int k = 0; k < 2; k++) {
        memset(count, 0, sizeof count);
        texts_open(&set, dists[k]);
        for (uint64_t i = 0; i < 5000; i++) {
            pw_taskset_sample(&set, 4, PW_SPLIT_TRAIN, i, 0, 0, &s);
            count[s.length]++;
        }
        for (int length = 20; length <= 25; length++)
            assert_true(fabs(count[length] - 5000 * pw_task_share(&set.use[0], length)) < 180);
        assert_int_equal(count[23], 0);
        pw_taskset_fini(&set);
    }
}

/* ---- texts */

static void texts_to_the_character(void **state)
{
    static const struct typed cases[] = {
        {"scan text=paper", "Solve: walk after turn right[SEP] ",
         "Solve: walk after turn right[SEP]| Right Walk</s>"},
        {"scan text=paper", "scan jump left", "Solve: jump left[SEP]| Left Jump</s>"},
        {"scan", "scan walk after turn right", "scan walk after turn right >| Right Walk</s>"},
        {"scan", "scan run and jump twice >", "scan run and jump twice >| Run Jump Jump</s>"},
        {"scan", "scan look opposite right", "scan look opposite right >| Right Right Look</s>"},
        {"scan", "scan",
         "scan: the command ends where walk, look, run, jump or turn must follow; write: scan "
         "walk left twice after run"},
        {"scan", "scan jog",
         "scan: 'jog' instead of walk, look, run, jump or turn; write: scan walk "
         "left twice after run"},
        {"scan", "scan turn",
         "scan: the command ends where left or right must follow; write: scan walk left "
         "twice after run"},
        {"scan", "scan turn twice",
         "scan: 'twice' instead of left or right; write: scan walk left "
         "twice after run"},
        {"scan", "scan walk around and run",
         "scan: 'and' instead of left or right; write: scan walk left twice after run"},
        {"scan", "scan walk twice left", "scan: unexpected 'left'; write: scan walk left twice after run"},
        {"scan", "scan walk and run and look",
         "scan: unexpected 'and'; write: scan walk left twice after run"},
        {"scan", "scan walk and",
         "scan: the command ends where walk, look, run, jump or turn must follow; "
         "write: scan walk left twice after run"},
        {"scan text=paper", "Solve walk",
         "'Solve' begins no prompt of the current task (scan); write: Solve: run[SEP]"},
    };
    (void)state;
    texts_typed(cases, sizeof cases / sizeof *cases, MAX);
}

/* A turn must point to its direction, an action to its verb: the words are equal except for the capital. */
static void pointers_lead_to_the_word(void **state)
{
    static const char *const sets[] = {"scan lengths=1..40", "scan text=paper"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct pw_taskset set;
        int tokens[MAX], at[MAX];
        struct pw_sample s = {.tokens = tokens, .cap = MAX};
        texts_open(&set, sets[k]);
        for (uint64_t i = 0; i < 1000; i++) {
            pw_taskset_sample(&set, 4, PW_SPLIT_TRAIN, i, 0, 0, &s);
            for (int a = 0; a < s.length; a++) {
                assert_int_equal(pw_taskset_pointers(&set, &s, a, at), 1);
                const char *action = set.vocab.words[tokens[s.n_prompt + a]],
                           *word = set.vocab.words[tokens[at[0]]];
                assert_true(at[0] < s.n_prompt && strcmp(action + 2, word + 2) == 0);
                assert_int_equal(action[1] - 'A', word[1] - 'a');
            }
            assert_int_equal(pw_taskset_pointers(&set, &s, s.length, at), 0);
        }
        pw_taskset_fini(&set);
    }
    /* Of two equal words, the pointer must select the one in its own half. */
    struct pw_taskset set;
    struct pw_err err;
    int tokens[MAX], at[MAX];
    struct pw_sample s = {.tokens = tokens, .cap = MAX};
    texts_open(&set, "scan");
    assert_int_equal(pw_taskset_prompt(&set, "scan run left after run opposite left", MAX, &s, &err), PW_OK);
    static const int want[] = {6, 6, 4, 2, 1}; /* scan run left after run opposite left > */
    for (int a = 0; a < 5; a++) {
        assert_int_equal(pw_taskset_pointers(&set, &s, a, at), 1);
        assert_int_equal(at[0], want[a]);
    }
    pw_taskset_fini(&set);
}

static void what_cannot_be_is_said(void **state)
{
    static const char *const cases[] = {"scan lengths=23", "scan lengths=1..49", "scan text=appendix",
                                        "scan alphabet=5", "sort dist=natural",  "lego dist=natural",
                                        "scan dist=pairs", "scan test=20..30",   "scan lengths=0..3"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_taskset set;
        struct pw_err err = {0};
        if (pw_taskset_init(&set, cases[i], &err) != PW_EUSER)
            fail_msg("'%s' should be refused", cases[i]);
        assert_true(err.msg[0] != '\0' && strchr(err.msg, '\n') == NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_is_there_and_means_what_it_says),
        cmocka_unit_test(the_splits_are_those_of_the_papers),
        cmocka_unit_test(lengths_come_as_often_as_commands_have_them),
        cmocka_unit_test(texts_to_the_character),
        cmocka_unit_test(pointers_lead_to_the_word),
        cmocka_unit_test(what_cannot_be_is_said),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
