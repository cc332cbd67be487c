/* test_text.c - tests task text: tokens, windows, the held-out part, typed prompts, and the errors for
 * unusable texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "tasks/documents.h"

#define OWN PEWTER_SOURCE_DIR "/texts/chronicle.txt"

enum { MOST = 5000 };

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/pewter-text-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Writes n bytes to a file of the folder; returns its path. */
static const char *put(const char *name, const char *data, size_t n)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
    return path;
}

/* Writes `lines` numbered lines; returns the path. */
static const char *put_lines(const char *name, int from, int lines)
{
    struct pw_str s = {0};
    for (int i = 0; i < lines; i++)
        pw_str_add(&s, "line %d of %s\n", from + i, name);
    const char *path = put(name, s.s, s.len);
    pw_str_fini(&s);
    return path;
}

static void open_set(struct pw_taskset *set, const char *options)
{
    char line[512];
    struct pw_err err;
    bool own = strstr(options, "path=") == NULL;
    snprintf(line, sizeof line, "text %s %s", own ? "path=" OWN : "", options);
    if (pw_taskset_init(set, line, &err) != PW_OK)
        fail_msg("%s: %s", line, err.msg);
}

static struct pw_sample draw_sample(const struct pw_taskset *set, enum pw_split split, uint64_t index,
                                    int length)
{
    static int tokens[MOST];
    struct pw_sample s = {.tokens = tokens, .cap = MOST};
    pw_taskset_sample(set, 7, split, index, 0, length, &s);
    return s;
}

/* The text of a sample, in static memory. */
static const char *text_of(const struct pw_taskset *set, const struct pw_sample *s)
{
    static struct pw_str text;
    pw_str_clear(&text);
    for (int i = 0; i < s->n; i++)
        pw_vocab_put(&set->vocab, s->tokens[i], &text);
    return pw_str_text(&text);
}

static void a_window_is_a_piece_of_the_text(void **state)
{
    static const char *const kinds[] = {"tokens=bytes", "tokens=chars"};
    struct pw_taskset set;
    char *all, options[256];
    size_t size;
    (void)state;
    struct pw_str s = {0};
    for (int i = 0; i < 900; i++)
        pw_str_add(&s, "%d: naïve 猫 ✓\n", i);
    char path[128];
    strcpy(path, put("unicode.txt", s.s, s.len));
    pw_str_fini(&s);
    assert_int_equal(pw_file_read(path, 1 << 20, &all, &size, NULL), PW_OK);
    for (int k = 0; k < 2; k++) {
        snprintf(options, sizeof options, "path=%s lengths=5..20 %s", path, kinds[k]);
        open_set(&set, options);
        assert_int_equal(set.max_tokens, 41);
        for (uint64_t i = 0; i < 300; i++) {
            struct pw_sample x = draw_sample(&set, PW_SPLIT_TRAIN, i, 0);
            assert_in_range(x.length, 5, 20);
            assert_int_equal(x.n, x.length + 1);
            assert_int_equal(x.n_prompt, 1);
            const char *text = text_of(&set, &x);
            assert_non_null(strstr(all, text));
            assert_true(k == 0 || pw_utf8_valid(text, strlen(text)));
            x = draw_sample(&set, PW_SPLIT_TEST, i, 33);
            assert_int_equal(x.n, 34);
            assert_non_null(strstr(all, text_of(&set, &x)));
        }
        pw_taskset_fini(&set);
    }
    free(all);
}

/* The last tenth serves validation and evaluation; nothing of it is trained. */
static void the_end_of_a_file_is_held_out(void **state)
{
    struct pw_taskset set;
    char options[256];
    (void)state;
    snprintf(options, sizeof options, "path=%s lengths=12", put_lines("numbers.txt", 10000, 1000));
    open_set(&set, options);
    int most = 0, least = 1 << 20;
    for (uint64_t i = 0; i < 4000; i++)
        for (int split = PW_SPLIT_TRAIN; split <= PW_SPLIT_TEST; split++) {
            struct pw_sample x = draw_sample(&set, (enum pw_split)split, i, 12);
            const char *at = strstr(text_of(&set, &x), "line 1");
            int number = at != NULL && strlen(at) >= 10 ? atoi(at + 5) : -1;
            if (number < 10000)
                continue;
            if (split == PW_SPLIT_TRAIN)
                most = number > most ? number : most;
            else
                least = number < least ? number : least;
        }
    assert_in_range(most, 10880, 10900);
    assert_in_range(least, 10899, 10920);
    pw_taskset_fini(&set);
}

static void a_sample_is_a_function_of_seed_split_and_index(void **state)
{
    struct pw_taskset a, b;
    (void)state;
    open_set(&a, "lengths=8..32");
    open_set(&b, "lengths=8..32");
    struct pw_str first = {0};
    for (int round = 0; round < 2; round++)
        for (int split = PW_SPLIT_TRAIN; split <= PW_SPLIT_TEST; split++) {
            struct pw_sample x = draw_sample(round == 0 ? &a : &b, (enum pw_split)split, 41, 48);
            const char *text = text_of(&a, &x);
            if (round == 0)
                pw_str_put(&first, text, strlen(text) + 1);
            else
                assert_non_null(memmem(first.s, first.len, text, strlen(text) + 1));
        }
    pw_str_fini(&first);
    pw_taskset_fini(&a);
    pw_taskset_fini(&b);
}

/* Every window has the same chance, in every document: none is longer than another by its document. */
static void windows_are_uniform_over_documents(void **state)
{
    struct pw_documents *d;
    struct pw_err err;
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/docs", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    for (int i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "docs/%02d", i);
        put_lines(name, 0, 1 + i);
    }
    put("docs/.hidden", "no", 2);
    put("docs/empty", "", 0);
    assert_int_equal(pw_documents_open(&d, path, path, PW_PIECES_CHARS, NULL, &err), PW_OK);
    assert_int_equal(d->n, 12);
    assert_int_equal(d->parts[PW_PART_HELD].n, 1);
    assert_int_equal(d->parts[PW_PART_TRAINED].n, 11);
    for (int tokens = 1; tokens < 200; tokens += 13) {
        int64_t n = pw_documents_windows(d, PW_PART_TRAINED, tokens), sum = 0;
        for (int i = 0; i < 11; i++) {
            int64_t has = d->parts[PW_PART_TRAINED].list[i].tokens;
            sum += has >= tokens ? has - tokens + 1 : 0;
        }
        assert_int_equal(n, sum);
        int document, before = -1;
        int64_t start, last = -1;
        for (int64_t k = 0; k < n; k++) { /* each window once, in order */
            pw_documents_window(d, PW_PART_TRAINED, tokens, k, &document, &start);
            assert_true(start + tokens <= d->list[document].tokens);
            assert_int_equal(start, document == before ? last + 1 : 0);
            before = document, last = start;
        }
    }
    pw_documents_close(d);
}

/* A large file is mapped; a session has one line of it, with which a re-run compares. */
static struct pw_str witness;

static void keep_witness(void *arg, const char *path, const char *data, size_t size)
{
    (void)arg;
    (void)path;
    pw_str_clear(&witness);
    pw_str_put(&witness, data, size);
}

static const char *instead(void *arg, const char *path)
{
    (void)path;
    return arg;
}

static void a_large_text_is_compared_with_the_record(void **state)
{
    struct pw_str s = {0};
    struct pw_documents *d;
    struct pw_err err;
    char path[128], copy[128];
    (void)state;
    while (s.len <= PW_DOCUMENTS_COPY)
        pw_str_add(&s, "%zu é\n", s.len);
    strcpy(path, put("large.txt", s.s, s.len));
    pw_file_watch((struct pw_file_watch){.read = keep_witness});
    assert_int_equal(pw_documents_open(&d, path, path, PW_PIECES_CHARS, NULL, &err), PW_OK);
    assert_false(d->list[0].mapped);
    size_t bytes;
    const char *far = pw_documents_text(d, 0, 1000000, 10, &bytes); /* over the index */
    size_t at = 0;
    for (int k = 0; k < 1000000; k++) {
        uint32_t cp;
        at += pw_utf8_next(s.s + at, s.len - at, &cp);
    }
    assert_memory_equal(far, s.s + at, bytes);
    pw_documents_close(d);
    assert_true(witness.len < 300);
    strcpy(copy, put("witness", witness.s, witness.len));
    pw_file_watch((struct pw_file_watch){.instead = instead, .arg = copy});
    assert_int_equal(pw_documents_open(&d, path, path, PW_PIECES_BYTES, NULL, &err), PW_OK);
    pw_documents_close(d);
    s.s[s.len / 2] ^= 1;
    put("large.txt", s.s, s.len);
    assert_int_equal(pw_documents_open(&d, path, path, PW_PIECES_BYTES, NULL, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "has changed since the session read it"));
    pw_documents_close(d);
    unlink(path);
    assert_int_equal(pw_documents_open(&d, path, path, PW_PIECES_BYTES, NULL, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "is missing"));
    pw_documents_close(d);
    pw_file_watch((struct pw_file_watch){0});
    pw_str_fini(&witness);
    pw_str_fini(&s);
}

/* Of a text that is too large for memory, files are mapped. */
static void a_very_large_text_is_mapped(void **state)
{
    static char part[1 << 20];
    struct pw_documents *d;
    struct pw_err err;
    char path[128];
    size_t bytes;
    (void)state;
    for (size_t i = 0; i < sizeof part; i++)
        part[i] = i % 64 == 63 ? '\n' : (char)('a' + i % 23);
    snprintf(path, sizeof path, "%s/huge.txt", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 257; i++)
        assert_int_equal(fwrite(part, 1, sizeof part, f), sizeof part);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(pw_documents_open(&d, path, path, PW_PIECES_BYTES, NULL, &err), PW_OK);
    assert_true(d->list[0].mapped);
    assert_memory_equal(pw_documents_text(d, 0, (200 << 20) + 77, 50, &bytes), part + 77, 50);
    pw_documents_close(d);
    assert_int_equal(unlink(path), 0);
}

/* A text beyond the limit of a session's copies, which another program then empties or changes. */
static void a_change_of_the_file_changes_no_sample(void **state)
{
    struct pw_taskset set;
    char options[256], path[128], then[512];
    (void)state;
    strcpy(path, put_lines("large.txt", 0, 400000));
    snprintf(options, sizeof options, "path=%s lengths=40 tokens=bytes", path);
    open_set(&set, options);
    struct pw_sample x = draw_sample(&set, PW_SPLIT_TRAIN, 11, 0);
    snprintf(then, sizeof then, "%s", text_of(&set, &x));
    assert_int_equal(truncate(path, 1), 0);
    x = draw_sample(&set, PW_SPLIT_TRAIN, 11, 0);
    assert_string_equal(text_of(&set, &x), then);
    x = draw_sample(&set, PW_SPLIT_TEST, 3, 60);
    assert_int_equal(x.n, 61);
    pw_taskset_fini(&set);
}

static void labels_are_short_and_different(void **state)
{
    struct pw_taskset set;
    (void)state;
    open_set(&set, "");
    assert_int_equal(set.vocab.n, 258);
    assert_string_equal(set.vocab.words[PW_PIECE + ' '], "·");
    assert_string_equal(set.vocab.words[PW_PIECE + '\n'], "↵");
    assert_string_equal(set.vocab.words[PW_PIECE + '\t'], "⇥");
    assert_string_equal(set.vocab.words[PW_PIECE + 'e'], "e");
    assert_string_equal(set.vocab.words[PW_PIECE + 0xc3], "\\xC3");
    for (int id = 0; id < set.vocab.n; id++) {
        assert_true(pw_utf8_valid(set.vocab.words[id], strlen(set.vocab.words[id])));
        assert_int_equal(pw_vocab_find(&set.vocab, set.vocab.words[id], strlen(set.vocab.words[id])), id);
    }
    pw_taskset_fini(&set);
    struct pw_str s = {0};
    char options[256];
    for (int i = 0; i < 20; i++)
        pw_str_add(&s, "a·b \n↵\t⇥ \u00a0\u0301x ");
    snprintf(options, sizeof options, "path=%s tokens=chars lengths=2", put("marks.txt", s.s, s.len));
    pw_str_fini(&s);
    open_set(&set, options);
    assert_int_equal(set.vocab.n, 2 + 11);
    assert_true(pw_vocab_find(&set.vocab, "\\u00B7", 6) > 0 && pw_vocab_find(&set.vocab, "·", 2) > 0);
    assert_true(pw_vocab_find(&set.vocab, "\\u0301", 6) > 0 && pw_vocab_find(&set.vocab, "\\u00A0", 6) > 0);
    pw_taskset_fini(&set);
}

static void any_text_is_a_prompt(void **state)
{
    static const char *const typed[] = {"In the year", "text is read as it is", "wolves; \"who?\"", "x"};
    struct pw_taskset set;
    struct pw_sample s = {.tokens = (int[MOST]){0}, .cap = MOST};
    struct pw_err err;
    (void)state;
    open_set(&set, "");
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        assert_int_equal(pw_taskset_prompt(&set, typed[i], MOST, &s, &err), PW_OK);
        assert_int_equal(s.n, s.n_prompt);
        assert_string_equal(text_of(&set, &s), typed[i]);
    }
    assert_int_equal(pw_taskset_prompt(&set, "one↵two⇥é", MOST, &s, &err), PW_OK);
    assert_string_equal(text_of(&set, &s), "one\ntwo\té");
    assert_int_equal(s.n, 10);
    assert_int_equal(pw_taskset_prompt(&set, "", MOST, &s, &err), PW_EUSER);
    assert_int_equal(pw_taskset_prompt(&set, "too long", 5, &s, &err), PW_EUSER);
    struct pw_str own = {0};
    pw_taskset_example(&set, 0, &own);
    assert_in_range(own.len, 10, 24);
    assert_int_equal(pw_taskset_prompt(&set, own.s, MOST, &s, &err), PW_OK);
    pw_str_fini(&own);
    pw_taskset_fini(&set);
    open_set(&set, "tokens=chars");
    assert_int_equal(pw_taskset_prompt(&set, "In 牛", MOST, &s, &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "the character '牛' does not occur"));
    pw_taskset_fini(&set);
}

/* The suggested prompt of a text with blank lines, and of one that has nothing else. */
static void a_prompt_is_suggested_for_any_text(void **state)
{
    static const struct {
        const char *line, *suggests;
    } texts[] = {{"  one line.\n\n", "one line."}, {"\n", "↵"}, {"\t\n", "↵"}, {" \r\n", "↵"}};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pw_taskset set;
        struct pw_str s = {0}, own = {0};
        char options[160];
        for (int k = 0; k < 300; k++)
            pw_str_add(&s, "%s", texts[i].line);
        snprintf(options, sizeof options, "path=%s lengths=2", put("blank.txt", s.s, s.len));
        open_set(&set, options);
        pw_taskset_example(&set, 0, &own);
        assert_string_equal(own.s, texts[i].suggests);
        pw_str_fini(&own);
        pw_str_fini(&s);
        pw_taskset_fini(&set);
    }
}

static void lengths_of_an_evaluation_are_four_per_octave(void **state)
{
    struct pw_taskset set;
    int n = 0, at[64];
    (void)state;
    open_set(&set, "lengths=64 test=65..300");
    for (int length = 64; length <= 300; length++)
        if (pw_task_looks_at(&set.use[0], (struct pw_range){64, 300}, length))
            at[n++] = length;
    static const int want[] = {64, 80, 96, 112, 128, 160, 192, 224, 256, 300};
    assert_int_equal(n, sizeof want / sizeof *want);
    assert_memory_equal(at, want, sizeof want);
    assert_true(pw_task_looks_at(&set.use[0], (struct pw_range){77, 77}, 77));
    pw_taskset_fini(&set);
}

static void bad_input_is_named(void **state)
{
    static char many[20000];
    int n = 0;
    (void)state;
    for (uint32_t cp = 0x4e00; cp < 0x4e00 + 4200; cp++)
        n += (int)pw_utf8_put(many + n, cp);
    put("many", many, (size_t)n);
    put("nul", "one\ntwo\0three", 13);
    put("latin", "one\ntwo\nna\xefve\n", 14);
    put("short", "only this", 9);
    put("empty", "", 0);
    mkdir(strcat(strcpy(many, folder), "/nothing"), 0700);
    mkdir(strcat(strcpy(many, folder), "/same"), 0700);
    put("same/a", "the same text", 13);
    put("same/b", "the same text", 13);
    const struct {
        const char *name, *options, *message;
    } cases[] = {
        {"none", "", "cannot open: No such file"},
        {"many", "tokens=chars lengths=4", "has 4200 different characters; at most 4096 are allowed"},
        {"nul", "", "line 2 has a NUL byte; text has none"},
        {"latin", "tokens=chars", "line 3 is not valid UTF-8; use tokens=bytes"},
        {"short", "", "the longest trained run of"},
        {"short", "lengths=2 test=5..9", "the longest held-out run of"},
        {"empty", "", "is empty"},
        {"nothing", "", "the folder has no text"},
        {"same", "lengths=2", "all 2 documents are equal"},
        {"", "path=/dev/null", "is a device or a pipe"},
        {"", "tokens=words", "tokens=words: allowed are bytes, chars, and a file whose name ends in .json"},
        {"", "tokens=t.json", "tokens=t.json: cannot open: No such file"},
        {"", "tokenizer=0123456789abcdef", "tokens=bytes have no tokenizer"},
        {"", "path=" OWN " sha=0123456789abcdef", "is not the text that sha=0123456789abcdef names"},
        {"", "data=100", "the trained part of the text is the training set"},
        {"", "lengths=0", "lengths"},
        {"", "lengths=99999", "lengths"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_taskset set;
        struct pw_err err = {0};
        char line[512];
        snprintf(line, sizeof line, "text %s", cases[i].options);
        if (cases[i].name[0] != '\0')
            snprintf(line, sizeof line, "text path=%s/%s %s", folder, cases[i].name, cases[i].options);
        if (pw_taskset_init(&set, line, &err) != PW_EUSER || strstr(err.msg, cases[i].message) == NULL)
            fail_msg("%s: %s", line, err.msg);
    }
    struct pw_taskset set;
    struct pw_err err;
    assert_int_equal(pw_taskset_init(&set, "sort,text", &err), PW_EUSER);
    assert_non_null(strstr(err.msg, "can't be part of a mixture"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_a_piece_of_the_text),
        cmocka_unit_test(the_end_of_a_file_is_held_out),
        cmocka_unit_test(a_sample_is_a_function_of_seed_split_and_index),
        cmocka_unit_test(windows_are_uniform_over_documents),
        cmocka_unit_test(a_large_text_is_compared_with_the_record),
        cmocka_unit_test(a_very_large_text_is_mapped),
        cmocka_unit_test(a_change_of_the_file_changes_no_sample),
        cmocka_unit_test(labels_are_short_and_different),
        cmocka_unit_test(a_prompt_is_suggested_for_any_text),
        cmocka_unit_test(any_text_is_a_prompt),
        cmocka_unit_test(lengths_of_an_evaluation_are_four_per_octave),
        cmocka_unit_test(bad_input_is_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
