/* test_codec_wire.c - tests payloads written byte by byte: which are skipped, refused or cleaned. A few
 * bytes that claim a large size must not cost memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <limits.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "ref_codec.h"

/* A field begins with 4 * number + type (0 varint, 1 of 4 bytes, 2 of 8, 3 of a length and bytes) */

static enum pw_code decode(struct pw_event **e, enum pw_event_kind kind, const char *bytes, size_t n,
                           int *unknown)
{
    struct pw_err err = {.msg = ""};
    enum pw_code code = pw_event_decode(e, (int)kind, bytes, n, unknown, &err);
    if (code != PW_OK)
        assert_true(err.code == code && strstr(err.msg, pw_messages[kind].name) != NULL);
    return code;
}
#define DECODE(e, kind, bytes, unknown) decode(e, kind, bytes, sizeof(bytes) - 1, unknown)

static void refused(enum pw_event_kind kind, const char *bytes, size_t n)
{
    struct pw_event *e;
    int unknown = 0;
    assert_int_equal(decode(&e, kind, bytes, n, &unknown), PW_EUSER);
    assert_null(e);
}
#define REFUSED(kind, bytes) refused(kind, bytes, sizeof(bytes) - 1)

static void test_unknown_fields_are_skipped_and_counted(void **state)
{
    struct pw_event *e;
    int unknown = 0;
    (void)state;
    assert_int_equal(DECODE(&e, PW_EV_NOTE,
                            "\x07\x02hi\xa0\x06\x05\xa5\x06"
                            "1234"
                            "\xaa\x06"
                            "12345678"
                            "\xaf\x06\x03xyz",
                            &unknown),
                     PW_OK);
    assert_int_equal(unknown, 4);
    assert_string_equal(e->u.text, "hi");
    pw_event_free(e);
    /* Unknown fields within a struct of a list, before and after known ones: a row of task 1 and length 3. */
    assert_int_equal(
        DECODE(&e, PW_EV_EVAL, "\x04\x02\x0b\x09\x08\x04\x02\x08\x06\xa0\x06\x05\x78\x02", &unknown),
        PW_EUSER); /* its length is smaller than its content */
    unknown = 0;
    assert_int_equal(
        DECODE(&e, PW_EV_EVAL, "\x04\x02\x0b\x08\x07\x04\x02\x08\x06\xa0\x06\x05\x78\x02", &unknown), PW_OK);
    assert_int_equal(unknown, 2);
    assert_int_equal(e->u.eval.rows[0].task, 1);
    assert_int_equal(e->u.eval.rows[0].length, 3);
    pw_event_free(e);
    assert_int_equal(DECODE(&e, PW_EV_NOTE, "", &unknown), PW_OK); /* missing fields are zero */
    assert_string_equal(e->u.text, "");
    pw_event_free(e);
    unknown = 0;
    assert_int_equal(DECODE(&e, PW_EV_DROP, "\x04\x02", &unknown), PW_OK);
    assert_int_equal(unknown, 1);
    pw_event_free(e);
}

static void test_refusals(void **state)
{
    struct pw_event *e;
    struct pw_err err;
    int unknown = 0;
    (void)state;
    assert_int_equal(pw_event_decode(&e, PW_EV_KINDS, "", 0, &unknown, &err), PW_EUSER);
    assert_int_equal(pw_event_decode(&e, -1, "", 0, &unknown, &err), PW_EUSER);
    REFUSED(PW_EV_NOTE, "\x07\x03hi");                                  /* the payload ends early */
    REFUSED(PW_EV_NOTE, "\x07\x01h\x07\x01h");                          /* twice */
    REFUSED(PW_EV_NOTE, "\x00\x01");                                    /* field 0 */
    REFUSED(PW_EV_NOTE, "\x04\x01");                                    /* a text that is a number */
    REFUSED(PW_EV_NOTE, "\x80");                                        /* half a key */
    REFUSED(PW_EV_GAP, "\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"); /* more than 64 bits */
    REFUSED(PW_EV_GAP, "\x04\x01");                                     /* -1 */
    REFUSED(PW_EV_ARM, "");                                             /* arm 0 */
    REFUSED(PW_EV_ARM, "\x04\x12");                                     /* arm 9 */
    REFUSED(PW_EV_STATE, "\x04\x06");                                   /* a fourth state */
    REFUSED(PW_EV_UPDATES, "\x04\x02");                                 /* one ratio claimed, none present */
    REFUSED(PW_EV_UPDATES, "\x04\x88\x01");                             /* 68 */
    REFUSED(PW_EV_UPDATES, "\x04\x02\x0b\x08"
                           "12345678"); /* one claimed, two present */
    REFUSED(PW_EV_EVAL, "\x04\x02");    /* consumers rely on rows */
    REFUSED(PW_EV_PROMPT, "\x0c\x02");  /* n_prompt is greater than n */
}

static void more_rows(struct pw_block *b)
{
    b->rows++;
}
static void more_values(struct pw_block *b)
{
    b->n_values++;
}
static void more_labels(struct pw_block *b)
{
    b->n_labels++;
}
static void later_values(struct pw_block *b)
{
    b->value = 1;
}
static void later_labels(struct pw_block *b)
{
    b->label = INT_MAX;
}
static void references(struct pw_block *b)
{
    b->n_reference = b->cols + 1;
}
static void no_heads(struct pw_block *b)
{
    b->n_labels = 0; /* allowed in a map */
}

/* A finding's blocks index its values and names, and drawing code trusts these indices. */
static void test_findings_hang_together(void **state)
{
    static void (*const damage[])(struct pw_block * b) = {
        more_rows, more_values, more_labels, later_values, later_labels, references, no_heads};
    (void)state;
    for (int kind = PW_BLOCK_TABLE; kind <= PW_BLOCK_MAP; kind++)
        for (size_t i = 0; i <= sizeof damage / sizeof *damage; i++) {
            struct pw_event *e = pw_event_new(PW_EV_FINDING), *back;
            struct pw_finding *f = &e->u.finding;
            struct pw_str bytes = {0};
            int unknown = 0;
            pw_finding_init(f, "buckets", "", "T5's buckets");
            if (kind == PW_BLOCK_TABLE)
                pw_finding_table(f, "", 2, 3);
            else if (kind == PW_BLOCK_PLOT)
                pw_finding_plot(f, "", "x", "y", 2, 3, true);
            else
                pw_finding_map(f, "", 2, 3, 0, 1, true);
            if (i > 0)
                damage[i - 1](f->blocks);
            pw_event_encode(&bytes, e);
            enum pw_code code = decode(&back, PW_EV_FINDING, bytes.s, bytes.len, &unknown);
            bool sound = i == 0 || (kind == PW_BLOCK_MAP && damage[i - 1] == no_heads);
            assert_int_equal(code, sound ? PW_OK : PW_EUSER);
            pw_event_free(back);
            pw_event_free(e);
            pw_str_fini(&bytes);
        }
}

/* Drawing code uses a query's position as an index into the table, and takes the last query for the
 * farthest. */
static void test_queries_are_positions(void **state)
{
    static const struct {
        int queries[3];
        enum pw_code code;
    } cases[] = {{{0, 1, 3}, PW_OK},
                 {{0, 1, 4}, PW_EUSER}, /* beyond the table */
                 {{0, 1, 1}, PW_EUSER},
                 {{2, 1, 3}, PW_EUSER}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int queries[3], unknown = 0;
        struct pw_event e = {.kind = PW_EV_TABLE, .u.table = {.length = 4, .heads = 1, .n_queries = 3}},
                        *back;
        struct pw_str bytes = {0};
        memcpy(queries, cases[i].queries, sizeof queries);
        e.u.table.queries = queries;
        pw_event_encode(&bytes, &e);
        assert_int_equal(decode(&back, PW_EV_TABLE, bytes.s, bytes.len, &unknown), cases[i].code);
        pw_event_free(back);
        pw_str_fini(&bytes);
    }
}

/* Readers find the values of a learned parameter by its place. */
static void test_learned_parameters_have_their_values(void **state)
{
    static const struct {
        struct pw_table_param second;
        int n_learned;
        enum pw_code code;
    } cases[] = {{{"T", 1, 2, 2, 1, 0, 0}, 3, PW_OK},
                 {{"T", 1, 2, 2, 1, -1, 0}, 3, PW_OK}, /* its entries were not emitted */
                 {{"T", 1, 2, 2, 1, 1, 0}, 3, PW_EUSER},
                 {{"T", 1, 2, 2, 0, 0, 0}, 3, PW_EUSER}, /* shares a value with the first */
                 {{"T", 1, 2, 2, 1, 0, 0}, 4, PW_EUSER},
                 {{"T", 1, 3, 1, 1, 0, 0}, 3, PW_EUSER},
                 {{"T", 64, 1024, 1 << 20, 1, 0, 0}, 3, PW_EUSER}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_table_param params[] = {{"a", 1, 1, 1, 0, -1, 0}, cases[i].second};
        float values[4] = {1, 2, 3, 4};
        struct pw_event e = {.kind = PW_EV_TABLE,
                             .u.table = {.n_params = 2,
                                         .params = params,
                                         .n_learned = cases[i].n_learned,
                                         .learned = values,
                                         .n_entries = 4,
                                         .entries = values}},
                        *back;
        struct pw_str bytes = {0};
        int unknown = 0;
        pw_event_encode(&bytes, &e);
        assert_int_equal(decode(&back, PW_EV_TABLE, bytes.s, bytes.len, &unknown), cases[i].code);
        pw_event_free(back);
        pw_str_fini(&bytes);
    }
}

/* A few bytes claim large counts: refused before any allocation for them. */
static void test_claims_are_not_paid(void **state)
{
    struct pw_str bytes = {0};
    struct pw_ev_attention a = {.T = 1 << 20, .layers = 64, .heads = 1024};
    struct pw_event e = {.kind = PW_EV_ATTENTION, .u.attention = a};
    (void)state;
    pw_event_encode(&bytes, &e);
    struct pw_event *back;
    int unknown = 0;
    assert_int_equal(decode(&back, PW_EV_ATTENTION, bytes.s, bytes.len, &unknown),
                     PW_OK); /* no array: accepted */
    pw_event_free(back);
    pw_put_varint(&bytes, 10 * 4 + 3); /* probs: 2^56 entries */
    pw_put_varint(&bytes, 4);
    pw_str_put(&bytes, "1234", 4);
    refused(PW_EV_ATTENTION, bytes.s, bytes.len);
    pw_str_clear(&bytes); /* 2^20 labels of 24 bytes: they are present, but each is empty: 24 MiB */
    struct pw_str empty = {0};
    for (int i = 0; i < 1 << 20; i++)
        pw_str_put(&empty, "", 1);
    for (int times = 1; times <= 3; times++) {
        pw_str_clear(&bytes);
        pw_put_varint(&bytes, 8 * 4); /* of a patch: T */
        pw_put_varint(&bytes, 2u << 20);
        for (int i = 0; i < 2 && i < times; i++) {
            pw_put_varint(&bytes, (uint64_t)(10 + i) * 4 + 3);
            pw_put_varint(&bytes, empty.len);
            pw_str_put(&bytes, empty.s, empty.len);
        }
        if (times == 3) { /* and a table of 2^20 rows of 17: more than the limit of 64 MiB */
            pw_str_clear(&bytes);
            pw_put_varint(&bytes, 2 * 4);
            pw_put_varint(&bytes, 2u << 20);
            pw_put_varint(&bytes, 4 * 4);
            pw_put_varint(&bytes, 2 * 17);
            pw_put_varint(&bytes, 13 * 4 + 3);
            pw_put_varint(&bytes, (uint64_t)17 << 22);
            for (int i = 0; i < 17 * 4; i++)
                pw_str_put(&bytes, empty.s, empty.len);
            refused(PW_EV_TABLE, bytes.s, bytes.len);
        } else {
            assert_int_equal(decode(&back, PW_EV_PATCH, bytes.s, bytes.len, &unknown), PW_OK);
            pw_event_free(back);
        }
    }
    pw_str_fini(&empty);
    pw_str_fini(&bytes);
}

/* A map that is too large to be recorded is left out; the other members are decoded. */
static void test_too_large_is_left_out(void **state)
{
    enum { T = 6000 };
    struct pw_event *e = pw_event_new(PW_EV_ATTENTION), *back;
    struct pw_str bytes = {0};
    int unknown = 0;
    (void)state;
    e->u.attention = (struct pw_ev_attention){.T = T, .layers = 1, .heads = 1};
    e->u.attention.labels = pw_alloc(T, PW_LABEL);
    e->u.attention.probs = pw_alloc((size_t)T * T, sizeof(uint16_t));
    pw_event_encode(&bytes, e);
    assert_int_equal(decode(&back, PW_EV_ATTENTION, bytes.s, bytes.len, &unknown), PW_OK);
    assert_non_null(back->u.attention.labels);
    assert_null(back->u.attention.probs);
    pw_event_free(back);
    pw_event_free(e);
    pw_str_fini(&bytes);
}

static void test_texts_are_clean(void **state)
{
    struct pw_event *e;
    int unknown = 0;
    (void)state;
    assert_int_equal(DECODE(&e, PW_EV_NOTE, "\x07\x08\x1b[2J\0\n\xff\xc3", &unknown), PW_OK);
    assert_string_equal(e->u.text, "?[2J????");
    pw_event_free(e);
    struct pw_str bytes = {0};
    pw_put_varint(&bytes, 7);
    pw_put_varint(&bytes, 2000);
    for (int i = 0; i < 1000; i++)
        pw_str_put(&bytes, "é", 2);
    assert_int_equal(decode(&e, PW_EV_NOTE, bytes.s, bytes.len, &unknown),
                     PW_OK);                  /* from a version with longer texts */
    assert_int_equal(strlen(e->u.text), 510); /* cut between characters */
    pw_event_free(e);
    e = pw_event_new(PW_EV_NOTE);
    strcpy(e->u.text, "a\nb"); /* live events, too, so that both sides compare equal */
    pw_str_clear(&bytes);
    pw_event_encode(&bytes, e);
    assert_memory_equal(bytes.s,
                        "\x07\x03"
                        "a?b",
                        5);
    pw_event_free(e);
    pw_str_fini(&bytes);
}

static void test_every_nan_is_the_same(void **state)
{
    static const uint32_t nans[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0x7fffffff};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct pw_event *e = pw_event_new(PW_EV_STEP);
        struct pw_str bytes = {0};
        memcpy(&e->u.step.loss, &nans[i], sizeof nans[i]);
        e->u.step.lr = -0.0f;
        pw_event_encode(&bytes, e);
        assert_int_equal(bytes.len, 13);
        assert_memory_equal(bytes.s, "\x05\x00\x00\xc0\x7f\x0d\x00\x00\x00\x80\xa0\x1f\x0a",
                            13); /* little-endian; -0 is not 0; the edition of the tables comes last */
        pw_event_free(e);
        pw_str_fini(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_fields_are_skipped_and_counted),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_findings_hang_together),
        cmocka_unit_test(test_queries_are_positions),
        cmocka_unit_test(test_learned_parameters_have_their_values),
        cmocka_unit_test(test_claims_are_not_paid),
        cmocka_unit_test(test_too_large_is_left_out),
        cmocka_unit_test(test_texts_are_clean),
        cmocka_unit_test(test_every_nan_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
