/* test_taskset.c - tests the command text of a task: its meaning, refusals, its printed form, and the
 * resulting vocabulary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref_texts.h"
#include "tasks/task.h"

#define TASKS                                                                                                \
    "sort copy lego reverse addition summation parity polynomial scan pcfg session needle flipflop recall "  \
    "file text ids"

static void assert_range(struct pw_range r, int lo, int hi)
{
    assert_int_equal(r.lo, lo);
    assert_int_equal(r.hi, hi);
}

static void defaults_are_the_measured_ones(void **state)
{
    static const struct {
        const char *text;
        int lo, hi, test_lo, test_hi;
    } cases[] = {
        {"sort", 2, 8, 9, 16},
        {"copy", 2, 10, 11, 20},
        {"lego", 4, 8, 9, 16},
        {"sort lengths=2..20", 2, 20, 21, 40},
        {"sort lengths=3", 3, 3, 4, 6},
        {"sort lengths=5..8 test=2..4", 5, 8, 2, 4},
        {"sort test=30", 2, 8, 30, 30},
        {"lego lengths=4..20", 4, 20, 21, 26}, /* there are 26 letters */
        {"copy lengths=2..200", 2, 200, 201, 256},
    };
    struct pw_taskset set;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        texts_open(&set, cases[i].text);
        assert_range(pw_task_train(&set.use[0]), cases[i].lo, cases[i].hi);
        assert_range(pw_task_test(&set.use[0]), cases[i].test_lo, cases[i].test_hi);
        pw_taskset_fini(&set);
    }
}

static void a_mixture_shares_its_words(void **state)
{
    static const char *const words[] = {"<pad>", "</s>", "copy", " >", " 0", " 1",   " 2",   " 3", " 4",
                                        " 5",    " 6",   " 7",   " 8", " 9", "sort", "lego", " -", " +",
                                        " -1",   " +1",  " a",   " b", " c", " d",   " e",   " f", " g",
                                        " h",    " i",   " j",   " k", " l", " m",   " n",   " o", " p"};
    struct pw_taskset set, other;
    (void)state;
    texts_open(&set, "copy(alphabet=10),sort,lego(alphabet=16)");
    assert_int_equal(set.n, 3);
    assert_int_equal(set.vocab.n, (int)(sizeof words / sizeof *words));
    for (int id = 0; id < set.vocab.n; id++)
        assert_string_equal(set.vocab.words[id], words[id]);
    assert_int_equal(pw_vocab_find(&set.vocab, "<pad>", 5), PW_PAD);
    assert_int_equal(pw_vocab_find(&set.vocab, "</s>", 4), PW_EOS);

    texts_open(&other, "copy(alphabet=10,lengths=2..5),sort,lego(alphabet=16)"); /* lengths don't matter */
    assert_true(pw_vocab_same(&set.vocab, &other.vocab));
    pw_taskset_fini(&other);
    texts_open(&other, "copy(alphabet=10),lego(alphabet=16),sort"); /* the order matters */
    assert_false(pw_vocab_same(&set.vocab, &other.vocab));
    pw_taskset_fini(&other);
    pw_taskset_fini(&set);
}

static void options_after_the_list_go_to_all_who_know_them(void **state)
{
    struct pw_taskset set;
    (void)state;
    texts_open(&set, "  copy( variant=rsc, lengths=2..5 ) , sort   lengths=3..7  variant=rdc text=paper ");
    assert_int_equal(set.n, 2);
    assert_range(pw_task_train(&set.use[0]), 2, 5); /* a task's own option takes precedence */
    assert_range(pw_task_train(&set.use[1]), 3, 7);
    assert_int_equal(set.use[0].o.common.text, PW_TEXT_PAPER);
    assert_int_equal(set.use[1].o.common.text, PW_TEXT_PAPER);
    assert_int_equal(pw_vocab_find(&set.vocab, "Replace", 7), -1); /* rsc */
    pw_taskset_fini(&set);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "task: a name is missing; tasks are " TASKS},
        {"   ", "task: a name is missing; tasks are " TASKS},
        {"sort,", "task: a name is missing; tasks are " TASKS},
        {",sort", "task: a name is missing; tasks are " TASKS},
        {"srot", "task: no task 'srot'; did you mean 'sort'?"},
        {"multiplication", "task: no task 'multiplication'; tasks are " TASKS},
        {"Sort\x1b[1m", "task: no task 'Sort?[1m'; tasks are " TASKS},
        {"sort,sort", "task: 'sort' occurs twice in the mixture; each task may occur once"},
        {"copy(variant=rsc),copy(variant=rdc)",
         "task: 'copy' occurs twice in the mixture; each task may occur once"},
        {"copy sort",
         "task: 'sort' is not key=value (the tasks of a mixture are joined by commas: copy,sort)"},
        {"sort =3", "task: '=3' is not key=value (the tasks of a mixture are joined by commas: copy,sort)"},
        {"copy(variant=rsc", "task: ')' is missing after 'copy('"},
        {"sort()x", "task: 'x' after 'sort': a blank or a comma must follow"},
        {"sort=3", "task: '=3' after 'sort': a blank or a comma must follow"},
        {"sort lenghts=2..8", "task: no option 'lenghts'; did you mean 'lengths'?"},
        {"sort qqq=2", "sort: no option 'qqq'; there are lengths test text dist data held scratchpad "
                       "alphabet variant sampling"},
        {"sort,copy qqq=2", "task: no option 'qqq' in any of these tasks; 'help task' lists them"},
        {"sort abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz=1",
         "task: 'abcdefghijklmnopqrstuvwxyzabcde...' is too long for an option"},
        {"lego lengths=4..26", "lego: lengths=4..26: no longer lengths are left to test; use at most 25, or "
                               "test= below the trained"},
        {"sort test=5..16", "sort: test=5..16 overlaps the trained lengths 2..8"},
        {"sort test=1..2", "sort: test=1..2 overlaps the trained lengths 2..8"},
        {"sort test=1..20", "sort: test=1..20 overlaps the trained lengths 2..8"},
        {"sort lengths=3..4 test=0..2", "sort: test=0..2: allowed are 1..256"},
        {"lego alphabet=15", "lego: chains of 16 variables need alphabet=16 or more, not 15"},
        {"lego alphabet=8 test=2..3", NULL},
        {"lego alphabet=7 test=2..3", "lego: chains of 8 variables need alphabet=8 or more, not 7"},
        {"copy variant=rdc alphabet=1",
         "copy: variant=rdc replaces a symbol by another; use alphabet=2 or more"},
        {"copy variant=rsc alphabet=1", NULL},
        {"sort lengths=2..8\xff", "task: the text is not valid UTF-8"},
    };
    /* The option table makes these messages. Here they must only occur and name the task. */
    static const char *const refused[] = {
        "sort lengths=0..8",      "sort lengths=2..257",
        "lego lengths=1..8",      "lego lengths=4..27",
        "sort lengths=8..2",      "sort lengths=",
        "sort lengths=a..b",      "sort alphabet=0",
        "sort alphabet=63",       "lego alphabet=27",
        "copy variant=zzz",       "sort text=long",
        "sort(variant=rsc)",      "sort,lego alphabet=62",
        "copy(lengths=2..8",      "sort lengths=2..8,test=9..12",
        "copy(variant=rsc sort)", "sort test=2147483648",
        "sort lengths=-1..3",
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_taskset set;
        struct pw_err err = {0};
        enum pw_code code = pw_taskset_init(&set, cases[i].text, &err);
        if (cases[i].message == NULL) {
            assert_int_equal(code, PW_OK);
        } else {
            assert_string_equal(err.msg, cases[i].message);
            assert_int_equal(code, PW_EUSER);
            assert_int_equal(set.n, 0); /* left empty */
            assert_null(set.vocab.words);
        }
        pw_taskset_fini(&set);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct pw_taskset set;
        struct pw_err err = {0};
        if (pw_taskset_init(&set, refused[i], &err) != PW_EUSER)
            fail_msg("'%s' should be refused", refused[i]);
        assert_true(strlen(err.msg) > 10);
        assert_non_null(strchr(err.msg, ':'));
        pw_taskset_fini(&set);
    }
}

static void what_is_printed_reads_back_to_the_same(void **state)
{
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"sort", "sort"},
        {"sort lengths=2..8 alphabet=10", "sort"},
        {"sort  lengths=2..6", "sort lengths=2..6"},
        {"copy(variant=rsc) alphabet=5", "copy alphabet=5 variant=rsc"},
        {"copy(variant=rsc),sort lengths=2..8", "copy(lengths=2..8,variant=rsc),sort"},
        {"copy,sort,lego text=paper", "copy(text=paper),sort(text=paper),lego(text=paper)"},
        {"copy,sort,lego", "copy,sort,lego"},
        {"lego lengths=4 test=5..9 alphabet=9", "lego lengths=4 test=5..9 alphabet=9"},
        {"sort held=off data=stream dist=uniform sampling=code", "sort"},
        {"sort variant=multi sampling=appendix held=on data=4000 dist=geometric",
         "sort dist=geometric data=4000 held=on variant=multi sampling=appendix"},
        {"addition,lego data=700 dist=pairs sampling=appendix",
         "addition(dist=pairs,data=700),lego(dist=pairs,data=700,sampling=appendix)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_taskset a, b;
        struct pw_str one = {0}, two = {0};
        texts_open(&a, cases[i].text);
        pw_taskset_print(&a, &one);
        texts_open(&b, one.s);
        pw_taskset_print(&b, &two);
        assert_string_equal(one.s, two.s);
        assert_true(pw_vocab_same(&a.vocab, &b.vocab));
        assert_int_equal(a.n, b.n);
        assert_int_equal(a.max_tokens, b.max_tokens);
        for (int t = 0; t < a.n; t++) {
            assert_ptr_equal(a.use[t].task, b.use[t].task);
            assert_memory_equal(&a.use[t].o, &b.use[t].o, a.use[t].task->opts_size);
        }
        assert_string_equal(one.s, cases[i].printed);
        pw_str_fini(&one);
        pw_str_fini(&two);
        pw_taskset_fini(&a);
        pw_taskset_fini(&b);
    }
}

/* A model that answers +1 to every chain is right half of the time. Sorting has no such chance level. */
static void chance_is_known_where_it_counts(void **state)
{
    const struct pw_task *lego = pw_task_find("lego");
    (void)state;
    assert_non_null(lego->chance);
    assert_true(lego->chance(NULL, 8) == 0.5);
    assert_null(pw_task_find("sort")->chance);
    assert_null(pw_task_find("nothing"));
    for (const struct pw_task *const *t = pw_tasks; *t != NULL; t++) {
        struct pw_item item;
        struct pw_err err = {0};
        char opts[PW_TASK_OPTS_MAX] = {0};
        assert_true((*t)->opts_size <= sizeof opts);
        assert_ptr_equal(pw_task_find((*t)->name), *t);
        pw_opt_defaults(pw_task_options(*t), opts);
        if ((*t)->open != NULL)
            continue;
        int tokens[64];
        bool valid = (*t)->cut != NULL ? (*t)->cut(opts, (*t)->example, tokens, 64, &err) > 0
                                       : (*t)->payload(opts, (*t)->example, &item, &err) == PW_OK;
        if (!valid) /* the help's example must be valid */
            fail_msg("%s: %s", (*t)->name, err.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_measured_ones),
        cmocka_unit_test(a_mixture_shares_its_words),
        cmocka_unit_test(options_after_the_list_go_to_all_who_know_them),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(what_is_printed_reads_back_to_the_same),
        cmocka_unit_test(chance_is_known_where_it_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
