/* test_prompt_file.c - tests prompts that are longer than a line: a prompt by file, its errors, and that a
 * re-run needs no file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "ref_record.h"
#include "tasks/task.h"

#define TEXT  "task text path=" PEWTER_SOURCE_DIR "/texts/chronicle.txt lengths=16; "
#define MODEL "seed 3; model tiny layers=1 width=16 heads=2 context=1200; "

static char folder[] = "/tmp/pewter-prompt-file-XXXXXX";
static char path[64], line[128];

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/prompt.txt", folder);
    snprintf(line, sizeof line, "prompt path=%s", path);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_prompt(const char *text, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Writes n letters and a final newline. */
static void write_letters(size_t n)
{
    char *text = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)('a' + i % 7);
    text[n] = '\n';
    write_prompt(text, n + 1);
    free(text);
}

static void a_file_is_a_prompt(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, MODEL TEXT);
    write_letters(1100); /* more than any sample of a task has */
    bench_must(&b, line);
    assert_int_equal(b.s->prompt.n_prompt, 1100);
    assert_string_equal(b.s->prompt.text, line + strlen("prompt "));
    assert_int_equal(b.s->prompt.tokens[1099], PW_PIECE + 'a' + 1099 % 7); /* without the newline */
    assert_int_equal(b.s->attention.T, 1100 + 48);
    assert_true(b.s->has_look);
    write_prompt("In the\nyear\r\n", 13); /* lines stay lines */
    bench_must(&b, line);
    assert_int_equal(b.s->prompt.n_prompt, 11);
    assert_int_equal(b.s->prompt.tokens[6], PW_PIECE + '\n');
    bench_must(&b, "task sort; model tiny context=64");
    write_prompt("sort 3 1 2\n", 11); /* of any task */
    bench_must(&b, line);
    assert_int_equal(b.s->prompt.n_prompt, 5);
    assert_true(b.s->prompt.has_answer);
    bench_close(&b);
}

static void refuse(struct bench *b, const char *text)
{
    bench_run(b, line);
    if (b->errors != 1 || strstr(b->error, text) == NULL || strchr(b->error, '\n') != NULL)
        fail_msg("%d errors, '%s', not '%s'", b->errors, b->error, text);
    assert_int_equal(b->s->prompt.n_prompt, 2); /* the old prompt is still pinned */
}

static void faults_are_one_line(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 1, false);
    bench_must(&b, MODEL TEXT "prompt In");
    unlink(path);
    refuse(&b, "prompt.txt: cannot open");
    write_prompt("a\0b", 3);
    refuse(&b, "prompt.txt has a zero byte; a prompt is UTF-8 text");
    write_prompt("a\xff", 2);
    refuse(&b, "not valid UTF-8");
    write_prompt("\n", 1);
    refuse(&b, "the prompt is empty");
    write_letters(1201);
    refuse(&b, "the prompt has 1201 tokens; at most 1200 are allowed");
    write_letters(1200);
    refuse(&b, "the prompt has 1200 tokens; the model reads at most 1200, including the answer");
    bench_close(&b);
}

/* Copies the files that commands read to the folder, by SHA-256, as a session does. Returns their number. */
static int keep_copies(const struct record *r, char copies[4][160])
{
    int n = 0;
    for (int i = 0; i < r->n; i++) {
        char sha[65], *data;
        size_t size;
        struct pw_err err;
        if (r->e[i]->kind != PW_EV_FILE)
            continue;
        assert_true(n < 4);
        pw_sha256_text(sha, r->e[i]->u.file.sha);
        snprintf(copies[n], sizeof copies[n], "%s/%s", folder, sha);
        assert_int_equal(pw_file_read(r->e[i]->u.file.name, 1 << 20, &data, &size, &err), PW_OK);
        FILE *f = fopen(copies[n++], "w");
        assert_int_equal(fwrite(data, 1, size, f), size);
        assert_int_equal(fclose(f), 0);
        free(data);
    }
    return n;
}

/* The event has the tokens, and the session a copy of the file. */
static void a_rerun_needs_no_file(void **state)
{
    struct record r = {0};
    struct bench b;
    char copies[4][160];
    (void)state;
    record_open(&b, &r, 1, false);
    bench_must(&b, MODEL TEXT);
    write_letters(700);
    bench_must(&b, line);
    bench_close(&b);
    int prompt = record_find(&r, PW_EV_PROMPT, NULL), n = keep_copies(&r, copies);
    assert_true(prompt >= 0);
    assert_int_equal(r.e[prompt]->u.prompt.n_prompt, 700);
    assert_int_equal(n, 2); /* the task's text and the prompt */
    unlink(path);
    r.files = folder;
    record_must(&r, 1);
    for (int i = 0; i < n; i++)
        unlink(copies[i]);
    record_follow(&r, 1);
    assert_non_null(strstr(r.v.text, "the session has no copy of this file"));
    record_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_a_prompt),
        cmocka_unit_test(faults_are_one_line),
        cmocka_unit_test(a_rerun_needs_no_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
