/* test_codec_format.c - protects the format on disk: one event of each kind with a value in every member, and
 * its committed bytes. If the bytes differ, later versions can't read today's sessions. A new member needs a
 * new field at the end; PEWTER_ACCEPT=1 rewrites the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "ref_codec.h"

/* The file has lines "KIND bytes". */
static void test_bytes_are_those_committed(void **state)
{
    struct pw_str bytes = {0}, text = {0};
    const char *path = PEWTER_SOURCE_DIR "/tests/unit/golden/events.txt";
    char *golden = NULL;
    size_t n = 0;
    struct pw_err err;
    (void)state;
    for (int i = 0; i <= PW_EV_KINDS; i++) {
        struct pw_event *e = i < PW_EV_KINDS ? codec_full((enum pw_event_kind)i) : codec_full_rows(), *back;
        int unknown = 0;
        pw_str_clear(&bytes);
        pw_event_encode(&bytes, e);
        pw_str_add(&text, "%s ", pw_messages[e->kind].name);
        for (size_t k = 0; k < bytes.len; k++)
            pw_str_add(&text, "%02x", (unsigned char)bytes.s[k]);
        pw_str_add(&text, "\n");
        if (pw_event_decode(&back, (int)e->kind, bytes.s, bytes.len, &unknown, &err) != PW_OK)
            fail_msg("%s", err.msg);
        pw_event_free(back);
        pw_event_free(e);
    }
    if (getenv("PEWTER_ACCEPT") != NULL) {
        struct pw_file *f;
        assert_int_equal(pw_file_create(&f, path, &err), PW_OK);
        fputs(text.s, pw_file_stream(f));
        assert_int_equal(pw_file_commit(f, &err), PW_OK);
    }
    if (pw_file_read(path, 1 << 20, &golden, &n, &err) != PW_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(n, text.len);
    assert_memory_equal(golden, text.s, n);
    free(golden);
    pw_str_fini(&bytes);
    pw_str_fini(&text);
}

/* ---- the tables */

static void test_tables_in_order(void **state)
{
    (void)state;
    for (int kind = 0; kind < PW_EV_KINDS; kind++) {
        const struct pw_message *m = &pw_messages[kind];
        for (int i = 0; i < m->n; i++) {
            const struct pw_field *f = &m->fields[i];
            assert_true(f->number > (i > 0 ? f[-1].number : 0)); /* no number is used twice */
            for (int k = 0; k < 4; k++) {                        /* the counts of an array precede it */
                bool found = f->by[k].member == 0;
                for (int j = 0; j < i; j++)
                    found = found || (m->fields[j].at + 1 == f->by[k].member &&
                                      m->fields[j].type == PW_F_INT && m->fields[j].lo >= 0);
                assert_true(found);
            }
            if (f->form == PW_FORM_LIST && f->type <= PW_F_LONG)
                assert_true(f->lo <= 0 && f->hi >= 0); /* a message may end early */
        }
    }
}

#if defined __has_builtin
#if __has_builtin(__builtin_clear_padding)
#define HAS_CLEAR_PADDING
#endif
#endif

#ifdef HAS_CLEAR_PADDING
static void cover(const struct pw_message *m, unsigned char *base)
{
    for (int i = 0; i < m->n; i++) {
        const struct pw_field *f = &m->fields[i];
        int n = f->form == PW_FORM_LIST || f->form == PW_FORM_COUNTED ? f->most : 1;
        if (f->form == PW_FORM_ARRAY)
            memset(base + f->at, 0, sizeof(void *));
        else if (f->type != PW_F_STRUCT)
            memset(base + f->at, 0, f->size * (size_t)n);
        else
            for (int k = 0; k < n; k++)
                cover(f->of, base + f->at + (size_t)k * f->size);
    }
}

static const struct pw_message *entries_of(enum pw_event_kind kind, const char *name)
{
    for (int i = 0; i < pw_messages[kind].n; i++)
        if (strcmp(pw_messages[kind].fields[i].name, name) == 0)
            return pw_messages[kind].fields[i].of;
    return NULL;
}

/* After all fields are cleared, the set bits are padding or members without a field. gcc 12 doesn't clear the
 * padding behind an array of structs: 4 bytes at `hole`. */
#define COVERED(type, message, hole)                                                                         \
    do {                                                                                                     \
        type x;                                                                                              \
        unsigned char *p = (void *)&x;                                                                       \
        memset(&x, 0xff, sizeof x);                                                                          \
        __builtin_clear_padding(&x);                                                                         \
        cover(message, p);                                                                                   \
        for (size_t i = 0; i < sizeof x; i++)                                                                \
            if (p[i] != 0 && i / 4 * 4 != (hole))                                                            \
                fail_msg(#type ": the member at byte %zu is no field", i);                                   \
    } while (0)
#define COVERED_KIND(type, kind)        COVERED(type, &pw_messages[kind], SIZE_MAX)
#define COVERED_ENTRY(type, kind, name) COVERED(type, entries_of(kind, name), SIZE_MAX)
#define BEHIND(type, member)            (offsetof(type, member) + sizeof((type *)0)->member)

static void test_every_member_is_a_field(void **state)
{
    (void)state;
    COVERED(struct pw_ev_lab, &pw_messages[PW_EV_LAB], BEHIND(struct pw_ev_lab, tasks));
    COVERED_KIND(struct pw_ev_arm, PW_EV_ARM);
    COVERED_KIND(struct pw_ev_state, PW_EV_STATE);
    COVERED_KIND(struct pw_ev_step, PW_EV_STEP);
    COVERED_KIND(struct pw_ev_updates, PW_EV_UPDATES);
    COVERED_KIND(struct pw_ev_eval, PW_EV_EVAL);
    COVERED_ENTRY(struct pw_eval_row, PW_EV_EVAL, "rows");
    COVERED_ENTRY(struct pw_eval_pair, PW_EV_EVAL, "pairs");
    COVERED_KIND(struct pw_ev_failing, PW_EV_FAILING);
    COVERED_ENTRY(struct pw_failing, PW_EV_FAILING, "list");
    COVERED_KIND(struct pw_ev_prompt, PW_EV_PROMPT);
    COVERED_KIND(struct pw_ev_token, PW_EV_TOKEN);
    COVERED_KIND(struct pw_ev_cursor, PW_EV_CURSOR);
    COVERED_KIND(struct pw_ev_inspection, PW_EV_LOOK);
    COVERED_ENTRY(struct pw_inspection_token, PW_EV_LOOK, "token");
    COVERED_ENTRY(struct pw_inspection_part, PW_EV_LOOK, "parts");
    COVERED_ENTRY(struct pw_inspection_lens, PW_EV_LOOK, "lens");
    COVERED(struct pw_ev_attention, &pw_messages[PW_EV_ATTENTION], BEHIND(struct pw_ev_attention, kinds));
    COVERED_ENTRY(struct pw_gold, PW_EV_ATTENTION, "gold");
    COVERED_KIND(struct pw_ev_table, PW_EV_TABLE);
    COVERED_ENTRY(struct pw_table_tensor, PW_EV_TABLE, "tensors");
    COVERED_KIND(struct pw_ev_job, PW_EV_JOB);
    COVERED_KIND(struct pw_ev_heads, PW_EV_HEADS);
    COVERED_KIND(struct pw_ev_patch, PW_EV_PATCH);
    COVERED_KIND(struct pw_ev_checkpoint, PW_EV_CHECKPOINT);
    COVERED_KIND(struct pw_ev_file, PW_EV_FILE);
    COVERED_KIND(struct pw_ev_session, PW_EV_SESSION);
    COVERED_KIND(struct pw_finding, PW_EV_FINDING);
    COVERED_ENTRY(struct pw_block, PW_EV_FINDING, "blocks");
    COVERED_ENTRY(struct pw_claim, PW_EV_FINDING, "claims");
    COVERED_ENTRY(struct pw_remark, PW_EV_FINDING, "remarks");
    COVERED_ENTRY(struct pw_action, PW_EV_FINDING, "actions");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_those_committed),
        cmocka_unit_test(test_tables_in_order),
#ifdef HAS_CLEAR_PADDING
        cmocka_unit_test(test_every_member_is_a_field),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
