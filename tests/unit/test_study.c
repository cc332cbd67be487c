/* test_study.c - tests the text of a study, the names of its cells, and which cells are wanted after forged
 * results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/folder.h"
#include "study/place.h"
#include "study/report.h"
#include "study/results.h"

static void read_study(struct pw_study *s, const char *text)
{
    struct pw_err err;
    if (pw_study_read(s, text, &err) != PW_OK)
        fail_msg("%s: %s", text, err.msg);
}

static void test_text(void **state)
{
    struct pw_study s;
    (void)state;
    read_study(&s, "race none,t5(buckets=8,distance=16),\"expr bias = -a*d; a = learn(0.1) per head\"\n"
                   "# it's a comment; race x\n"
                   "task sort,copy(variant=rsc); seeds 5..20; level 0.01 # and this\n"
                   "ask none;budget time=2h steps=500 operations=3e15;first 7; optim steps=10;keep weights");
    assert_int_equal(s.races.n, 3);
    assert_string_equal(s.races.items[1], "t5 buckets=8 distance=16");
    assert_string_equal(s.races.items[2], "expr bias = -a*d; a = learn(0.1) per head");
    assert_string_equal(s.tasks.items[1], "copy variant=rsc");
    assert_int_equal(s.seeds_min, 5);
    assert_int_equal(s.seeds_max, 20);
    assert_int_equal(s.n_ask, 2);
    assert_int_equal(s.ask[1].b, 2);
    assert_true(s.level == 0.01 && s.budget_s == 7200.0 && s.budget_steps == 500 && s.first == 7);
    assert_true(s.budget_operations == 3e15 && s.keep_weights);
    pw_study_fini(&s);
    read_study(&s, "race none, # a list goes on behind a comma\n  t5\ntask sort,\n\n copy\nseeds 3");
    assert_string_equal(s.races.items[1], "t5");
    assert_string_equal(s.tasks.items[1], "copy");
    assert_false(s.keep_weights);
    pw_study_fini(&s);
    read_study(&s, "race none,t5; model tiny,small(layers=2); optim lr=0.01,lr=0.001; task sort");
    assert_int_equal(s.n_arms, 8);
    assert_string_equal(s.arms[7], "t5, small layers=2, lr=0.001");
    assert_int_equal(s.n_ask, 28);
    pw_study_fini(&s);
}

static void test_mistakes(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "a study needs 'race'"},
        {"race none", "a study needs 'task'"},
        {"race none,; task sort", "race: an entry of the list is empty"},
        {"race none,'t5; task sort", "a quote is not closed"},
        {"race none; task sort; seeds 0", "seeds: allowed are a number"},
        {"race none; task sort; seeds 4..2", "seeds: allowed are a number"},
        {"race none; task sort; level 1", "level: allowed are numbers"},
        {"race none; task sort; budget time=2", "budget: allowed are time=90s"},
        {"race none; task sort; budget operations=0", "budget: operations=0: must be a number from 1 on"},
        {"race none; task sort; budget operations=3e", "budget: operations=3e: must be a number"},
        {"race none; task sort; keep all", "keep: 'all': allowed is weights"},
        {"race none; task sort; budget time=0h", "budget: time=0: must be 1.."},
        {"race none,t5; task sort; ask none:none", "ask: 'none' is compared with itself"},
        {"race none; task sort; ask t5", "ask: no arm 't5'"},
        {"race none; task", "task: a value is missing"},
        {"race none; task sort; zzzzzzzz 1", "no such statement; there are race"},
        {"race a,b,c,d,e,f,g,h,i,j,k,l,m; model a,b,c,d,e; optim a,b; task x", "130 arms and 650 cells"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_study s;
        struct pw_err err;
        assert_int_equal(pw_study_read(&s, cases[i].text, &err), PW_EUSER);
        if (strstr(err.msg, cases[i].says) == NULL)
            fail_msg("'%s' says '%s'", cases[i].text, err.msg);
        assert_int_equal(s.n_arms, 0);
    }
}

/* The name of a cell depends on its script alone: more seeds, tasks or other arms change no name. */
static void test_names(void **state)
{
    struct pw_study a, b;
    struct pw_study_cell cell;
    (void)state;
    read_study(&a, "race none,t5; task sort; seeds 3");
    read_study(&b, "task copy,sort\nrace alibi,t5,none\nseeds 3..9");
    struct pw_study_cell one = pw_study_cell_of(&a, 1, 0, 2), same = pw_study_cell_of(&b, 1, 1, 2);
    assert_string_equal(one.id, same.id);
    assert_string_not_equal(one.id, pw_study_cell_of(&a, 1, 0, 1).id);
    assert_string_not_equal(one.id, pw_study_cell_of(&a, 0, 0, 2).id);
    assert_true(pw_study_cell_find(&b, one.id, &cell));
    assert_int_equal(cell.task, 1);
    b.keep_weights = true; /* with weights it is another result */
    assert_string_not_equal(one.id, pw_study_cell_of(&b, 1, 1, 2).id);
    assert_false(pw_study_cell_find(&a, "0123456789abcdef", &cell));
    pw_study_fini(&a);
    pw_study_fini(&b);
}

/* Puts a result into memory: exact match `in` in range and `beyond` beyond it, in per cent. */
static void forge(struct pw_results *r, int arm, int task, int seed, int in, int beyond)
{
    int i = pw_results_at(r, arm, task, seed);
    struct pw_result *x = &r->results[i];
    r->state[i] = PW_CELL_THERE;
    x->rows = pw_alloc(2, sizeof *x->rows);
    x->n = 2;
    x->steps = 10;
    x->operations = 1e12;
    for (int k = 0; k < 2; k++)
        x->rows[k] = (struct pw_result_row){.length = 4 + k,
                                            .trained = k == 0,
                                            .samples = 100,
                                            .exact = k == 0 ? in : beyond,
                                            .wrong = 100 - (k == 0 ? in : beyond),
                                            .loss = NAN};
}

/* Seeds go on for arms with an open comparison, and one by one; a decided comparison stays decided. */
static void test_wanted(void **state)
{
    struct pw_study s;
    struct pw_results r;
    struct pw_judgement j[3];
    int wanted[3 * 20];
    (void)state;
    read_study(&s, "race none,t5,alibi; task sort; seeds 2..20");
    pw_results_init(&r, &s);
    assert_int_equal(pw_results_wanted(&r, true, wanted), 6); /* the first two seeds at once */
    int seed = 0;
    for (; seed < 20; seed++) {
        int n = pw_results_wanted(&r, true, wanted);
        if (n == 0)
            break;
        if (seed >= 2) /* none is better from the start; t5 and alibi do not differ */
            assert_in_range(n, 2, 3);
        for (int i = 0; i < n; i++)
            if (r.cells[wanted[i]].seed == seed)
                forge(&r, r.cells[wanted[i]].arm, 0, seed, 100,
                      r.cells[wanted[i]].arm == 0
                          ? 90 + seed % 3
                          : 40 + (seed * 7 + r.cells[wanted[i]].arm * (seed % 2 ? 3 : -3)) % 11);
    }
    assert_int_equal(seed, 20); /* t5 against alibi was never decided */
    pw_results_judge(&r, 0, 20, j);
    assert_int_equal(j[0].judged, PW_JUDGED_FIRST);
    assert_int_equal(j[1].judged, PW_JUDGED_FIRST);
    assert_int_equal(j[2].judged, PW_JUDGED_OPEN);
    assert_true(j[0].n < 20 && j[0].n >= 6 && j[2].n == 20);
    assert_int_equal(r.state[pw_results_at(&r, 0, 0, 19)], PW_CELL_MISSING); /* not needed any more */
    pw_results_fini(&r);
    pw_study_fini(&s);
}

/* An arm that has not learned its task is compared with none, and a budget ends a study. */
static void test_rules(void **state)
{
    struct pw_study s;
    struct pw_results r;
    struct pw_judgement j;
    int wanted[200];
    (void)state;
    read_study(&s, "race none,t5; task sort; seeds 2..50; budget steps=100");
    pw_results_init(&r, &s);
    for (int seed = 0; seed < 5; seed++) {
        assert_true(pw_results_wanted(&r, true, wanted) > 0);
        forge(&r, 0, 0, seed, 98, 90);
        forge(&r, 1, 0, seed, 100, 10 + seed % 2 * 85);
    }
    assert_int_equal(pw_results_wanted(&r, true, wanted), 0); /* 100 steps are spent */
    assert_int_equal(pw_results_seeds(&r, 0), 5);
    pw_results_judge(&r, 0, 5, &j);
    assert_int_equal(j.judged, PW_JUDGED_UNLEARNED);
    pw_results_fini(&r);
    pw_study_fini(&s);
}

/* The operations of done runs end a study like its steps. */
static void test_operations(void **state)
{
    static const char *const texts[] = {"race none,t5; task sort; seeds 2..50; budget operations=1e13",
                                        "race none,t5; task sort; seeds 2..50; budget operations=1.01e13"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pw_study s;
        struct pw_results r;
        int wanted[200];
        read_study(&s, texts[i]);
        pw_results_init(&r, &s);
        for (int seed = 0; seed < 5; seed++) {
            forge(&r, 0, 0, seed, 100, 90);
            forge(&r, 1, 0, seed, 100, 10 + seed % 2 * 85);
        }
        assert_int_equal(pw_results_wanted(&r, true, wanted), i == 0 ? 0 : 2); /* 1e13 are spent */
        pw_results_fini(&r);
        pw_study_fini(&s);
    }
}

/* The last step of a run has the operations of all its steps. */
static void test_lines(void **state)
{
    struct pw_result r = {.n = 0};
    struct pw_result_reader reader = {.r = &r};
    (void)state;
    pw_result_line(&reader, "{\"seq\":4,\"kind\":\"step\",\"arm\":1,\"step\":1,\"flops\":236639232}\n");
    pw_result_line(&reader, "{\"seq\":5,\"kind\":\"step\",\"arm\":1,\"step\":2,\"flops\":4.5e8}\n");
    pw_result_line(&reader, "{\"seq\":6,\"kind\":\"note\",\"text\":\"flops\"}\n");
    assert_true(r.operations == 4.5e8);
}

/* A result that was written is read again, and a forged file is refused. */
static void test_results(void **state)
{
    static const char *const forged[] = {
        "",
        "{",
        "[]",
        "{\"format\":1}",
        "{\"format\":1,\"id\":\"0123456789abcdef\",\"digest\":\"x\",\"steps\":1,\"seconds\":1,\"rows\":[]}",
        "{\"format\":1,\"id\":\"0123456789abcdef\",\"digest\":\"x\",\"steps\":1,\"seconds\":1,\"rows\":[{"
        "\"length\":1,"
        "\"samples\":2,\"exact\":3,\"early\":0,\"late\":0,\"wrong\":0}]}",
        "{\"format\":1,\"id\":\"0123456789abcdef\",\"digest\":\"x\",\"steps\":-1,\"seconds\":1,\"rows\":[{"
        "\"length\":1,"
        "\"samples\":2,\"exact\":1,\"early\":0,\"late\":0,\"wrong\":0}]}"};
    char folder[] = "/tmp/pewter-study-XXXXXX";
    struct pw_str path = {0};
    struct pw_err err;
    struct pw_result_row row = {
        .length = 3, .trained = true, .samples = 8, .exact = 5, .wrong = 3, .loss = 0.25};
    struct pw_result r = {.id = "0123456789abcdef",
                          .digest = "d",
                          .steps = 7,
                          .operations = 3e15,
                          .seconds = 1.5,
                          .n = 1,
                          .rows = &row},
                     back;
    (void)state;
    assert_non_null(mkdtemp(folder));
    pw_study_cell_path(&path, folder, r.id, ".json");
    assert_int_equal(pw_folder_make_above(path.s, &err), PW_OK);
    assert_int_equal(pw_result_write(folder, &r, &err), PW_OK);
    assert_int_equal(pw_result_read(&back, folder, r.id, &err), PW_OK);
    assert_true(back.operations == 3e15);
    assert_true(back.steps == 7 && back.n == 1 && back.rows[0].exact == 5 && back.rows[0].loss == 0.25 &&
                back.rows[0].trained && pw_result_is_loss(&back) && pw_result_mean(&back, true) == -0.25);
    pw_result_fini(&back);
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        FILE *f = fopen(path.s, "w");
        assert_non_null(f);
        fputs(forged[i], f);
        fclose(f);
        assert_int_not_equal(pw_result_read(&back, folder, r.id, &err), PW_OK);
        assert_null(back.rows);
    }
    unlink(path.s);
    *strrchr(path.s, '/') = '\0';
    rmdir(path.s);
    rmdir(folder);
    pw_str_fini(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),   cmocka_unit_test(test_mistakes), cmocka_unit_test(test_names),
        cmocka_unit_test(test_wanted), cmocka_unit_test(test_rules),    cmocka_unit_test(test_operations),
        cmocka_unit_test(test_lines),  cmocka_unit_test(test_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
