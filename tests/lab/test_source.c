/* test_source.c - tests that a session refers to the files of another program's model in place of copying
 * its weights, for as long as no step could change them. */
#include "../unit/ref_session.h"

#include <ftw.h>

#include "base/file.h"
#include "kernels/backend.h"
#include "ref_lab.h"

#define GGUF    PEWTER_SOURCE_DIR "/tests/golden/gguf/"
#define WEIGHTS 52864 /* bytes of the weights of llama.gguf as floats */

static char session[4096], model[4096], from[5000];

/* Sets the paths; the model is a copy of a file of tests/golden/gguf. */
static void begin(void **state, const char *file)
{
    char golden[4200];
    scratch_path(state, "s.pewter", session);
    scratch_path(state, "m.gguf", model);
    snprintf(golden, sizeof golden, GGUF "%s", file);
    session_copy(golden, model);
    snprintf(from, sizeof from, "model from=%s context=32; prompt 2 7 3", model);
}

static void lab_on(struct bench *b, bool verify)
{
    bench_open_as(b, (struct pw_lab_config){.threads = 2, .session = session, .from = -1, .verify = verify});
}

/* Runs a script in the session, and copies the digests of all arms. */
static void run(const char *script, char digests[4096])
{
    struct bench b;
    char line[8000];
    snprintf(line, sizeof line, "%s; digest", script);
    lab_on(&b, false);
    bench_must(&b, line);
    assert_string_not_equal(b.digests, "");
    memcpy(digests, b.digests, sizeof b.digests);
    bench_close(&b);
}

static void verify(const char *what)
{
    struct bench b;
    lab_on(&b, true);
    bench_until_idle(&b);
    const struct pw_verdict *v = pw_lab_verdict(b.lab);
    if (v->end != PW_FOLLOW_EQUAL || v->models == 0)
        fail_msg("%s: %s", what, v->text);
    bench_close(&b);
}

static long n_bytes;

static int add_size(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)path, (void)ftw;
    n_bytes += type == FTW_F ? (long)st->st_size : 0;
    return 0;
}

/* The bytes of all checkpoints in the session. */
static long session_bytes(void)
{
    char files[4200];
    snprintf(files, sizeof files, "%s/files", session);
    n_bytes = 0;
    nftw(files, add_size, 16, FTW_PHYS);
    return n_bytes;
}

/* Runs a script on a new model, resumes from its checkpoint, and compares the weights of all arms. Returns
 * the bytes of the session, without its first checkpoint. */
static long resumes_equal(void **state, const char *file, const char *script)
{
    char line[6000], then[4096], now[4096];
    begin(state, file);
    run("digest", then); /* the checkpoint of the lab's own model */
    long own = session_bytes();
    snprintf(line, sizeof line, "%s%s", from, script);
    run(line, then);
    long bytes = session_bytes() - own;
    run("inspect head=1", now);
    assert_string_equal(now, then);
    verify(script);
    pw_session_remove(session);
    return bytes;
}

static void test_unchanged(void **state)
{
    assert_in_range(resumes_equal(state, "llama.gguf", ""), 500, WEIGHTS / 8);
    assert_in_range(resumes_equal(state, "llama.gguf", "; checkpoint; pe none; checkpoint"), 1000,
                    WEIGHTS / 4);
    assert_in_range(resumes_equal(state, "llama.gguf", "; ablate 0.1; fork alibi; fork; tune base=700"), 1000,
                    WEIGHTS / 4);
}

/* Parameters of the encoding are those of the file, or the arm's own. */
static void test_encoding(void **state)
{
    assert_in_range(resumes_equal(state, "gpt2.gguf", ""), 500, 5000);
    resumes_equal(state, "gpt2.gguf", "; pe none; pe learned; fork t5");
    resumes_equal(state, "gpt2.gguf", "; fork; pe learned; transplant 2");
}

/* An option that was given keeps its value, also where it equals the default in effect. */
static void test_options(void **state)
{
    char digests[4096];
    scratch_path(state, "s.pewter", session);
    run("pe rotary dims=8", digests);
    run("say more", digests);
    verify("dims=8");
}

/* Opening the session must fail with one line, which names the file and contains `why`. The lab stays as it
 * was. */
static void refuses(const char *why)
{
    struct bench b;
    char line[4200];
    snprintf(line, sizeof line, "open %s", session);
    bench_open(&b, 1, false);
    bench_run(&b, line);
    assert_int_equal(b.errors, 1);
    if (strstr(b.error, model) == NULL || strstr(b.error, why) == NULL)
        fail_msg("%s", b.error);
    assert_non_null(strstr(b.error, "the session needs"));
    assert_int_equal(b.s->arms[0].info.width, 64);
    bench_close(&b);
}

/* Steps of some tensors leave the others in the file, which the session needs. */
static void test_partly_trained(void **state)
{
    char then[4096], line[6000];
    assert_in_range(resumes_equal(state, "llama.gguf", "; optim trains=norms; train 3; checkpoint; train 2"),
                    1000, WEIGHTS / 5 * 2);
    assert_in_range(resumes_equal(state, "llama.gguf",
                                  "; pe t5; optim trains=encoding; train 2; optim trains=norms; train 2"),
                    1000, WEIGHTS / 5 * 2);
    /* weights and moments of an adapter of rank 1 are 2 * 3 * 4 * (12 * 16 + ...) bytes: half of the weights
     */
    assert_in_range(resumes_equal(state, "llama.gguf", "; optim trains=adapter rank=1"), 1000,
                    WEIGHTS / 5 * 2);
    assert_in_range(resumes_equal(state, "llama.gguf", "; optim trains=adapter rank=1; train 3"), 1000,
                    WEIGHTS);
    resumes_equal(state, "gpt2.gguf",
                  "; optim trains=adapter rank=2; train 2; pe none; optim trains=norms; train 2");
    resumes_equal(state, "llama.gguf",
                  "; optim trains=adapter; train 2; fork; pe none; train 2; optim trains=all; "
                  "train 2");
    begin(state, "llama.gguf");
    snprintf(line, sizeof line, "%s; optim trains=norms; train 2", from);
    run(line, then);
    assert_int_equal(unlink(model), 0);
    refuses("there is no such file");
}

/* A model of pewter's own. */
static void test_adapter(void **state)
{
    char then[4096], now[4096];
    scratch_path(state, "s.pewter", session);
    run("race alibi; train 30; pe rotary; optim trains=adapter rank=4; train 30", then);
    run("say more", now);
    assert_string_equal(now, then);
    verify("adapter");
}

/* After the first step the session has the weights, and needs the file no longer. */
static void test_trained(void **state)
{
    char then[4096], now[4096], line[6000];
    assert_true(resumes_equal(state, "llama.gguf", "; train 2") > WEIGHTS);
    begin(state, "llama.gguf");
    snprintf(line, sizeof line, "%s; train 2", from);
    run(line, then);
    assert_int_equal(unlink(model), 0);
    run("inspect head=1", now);
    assert_string_equal(now, then);
}

static void test_missing(void **state)
{
    char digests[4096], moved[4200];
    begin(state, "llama.gguf");
    run(from, digests);
    snprintf(moved, sizeof moved, "%s.moved", model);
    assert_int_equal(rename(model, moved), 0);
    refuses("there is no such file");
    session_copy(GGUF "gpt2.gguf", model);
    refuses("the file there has other content");
    assert_int_equal(rename(moved, model), 0);
    FILE *f = fopen(model, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, -1, SEEK_END), 0);
    assert_int_equal(fputc(7, f), 7); /* one weight, the size is the same */
    assert_int_equal(fclose(f), 0);
    refuses("the file there has other content");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unchanged, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_encoding, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_trained, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_partly_trained, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_adapter, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_options, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(test_missing, session_setup, session_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
