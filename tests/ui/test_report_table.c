/* test_report_table.c - tests a table as lines and as JSON: each bias by both positions names its query. */
#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref_screen.h"
#include "ui/report.h"

/* The printed table of the current arm; the caller frees it. */
static char *printed(const struct pw_snapshot *s, bool json)
{
    struct pw_event e = {.kind = PW_EV_TABLE, .arm = s->current, .u.table = *pw_table_of(s, s->current)};
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    pw_report_event(out, &e, s, json);
    fclose(out);
    return text;
}

static void lines(void **state)
{
    static const char *const want[] = {
        "  c 0.5, L 6 = |0.75 x 8|; distance d of query i is ln(c d + 1) / ln(c max(i,L) + 1)\n",
        "  pe.mlp.0.weight      [32,1]       2.8          0.00042\n",
        "  pe.mlp.2.bias           [4]      0.25                -\n",
        /* -0.8 + sin(3 u) / 3 with u 0 and ln 1.5 / ln 4: no key is more distant */
        "  head 0 bias of the query at 1, by distance -0.8 -0.5436\n",
        "  head 3 bias of the query at 31, by distance 0.7 ",
        "  head 0 bias by distance, mean over queries ",
    };
    struct pw_snapshot *s = screen_race();
    (void)state;
    screen_set_table(s, SCREEN_FIRE);
    char *text = printed(s, false);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (strstr(text, want[i]) == NULL)
            fail_msg("'%s' is not in\n%s", want[i], text);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "head 0 bias by distance -")); /* every bias names its query */
    free(text);
    screen_set_table(s, SCREEN_T5);
    text = printed(s, false);
    assert_non_null(strstr(text, "  head 0 bias by distance "));
    assert_null(strstr(text, "query"));
    free(text);
    screen_set_table(s, SCREEN_FORMULA);
    text = printed(s, false);
    assert_non_null(strstr(text, "\n  a h0                        1.5            0.001  per head\n"));
    assert_non_null(strstr(text, "  per head, layer, table of 16; value: root mean square\n    entries "));
    free(text);
    pw_snapshot_free(s);
}

static void json(void **state)
{
    struct pw_snapshot *s = screen_race();
    (void)state;
    screen_set_table(s, SCREEN_FIRE);
    char *text = printed(s, true);
    cJSON *o = cJSON_Parse(text), *fire = cJSON_GetObjectItem(o, "fire");
    const cJSON *bias = cJSON_GetObjectItem(o, "query_bias"), *tensors = cJSON_GetObjectItem(o, "tensors");
    assert_true(cJSON_GetObjectItem(o, "bias_query")->valuedouble == 31);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(o, "queries")), 8);
    assert_true(cJSON_GetObjectItem(fire, "L")->valuedouble == 6);
    assert_int_equal(cJSON_GetArraySize(bias), 4);
    assert_true(cJSON_IsNull(cJSON_GetArrayItem(cJSON_GetArrayItem(cJSON_GetArrayItem(bias, 2), 0), 2)));
    assert_true(cJSON_IsNumber(cJSON_GetArrayItem(cJSON_GetArrayItem(cJSON_GetArrayItem(bias, 2), 0), 1)));
    assert_int_equal(cJSON_GetArraySize(tensors), 4);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetArrayItem(tensors, 2), "shape")), 2);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetArrayItem(tensors, 3), "grad")));
    cJSON_Delete(o);
    free(text);
    screen_set_table(s, SCREEN_FORMULA);
    text = printed(s, true);
    o = cJSON_Parse(text);
    const cJSON *list = cJSON_GetObjectItem(o, "learned"), *T = cJSON_GetArrayItem(list, 1);
    assert_int_equal(cJSON_GetArraySize(list), 2);
    assert_true(cJSON_GetObjectItem(o, "learned_steps")->valuedouble == 64);
    assert_true(
        cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 0), "value"), 0)->valuedouble == 1.5);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(T, "rms")), 8);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(T, "entries")), 128);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(T, "entry_grads")), 128);
    cJSON_Delete(o);
    free(text);
    screen_set_table(s, SCREEN_ALIBI);
    text = printed(s, true);
    assert_non_null(strstr(text, "\"bias_query\":-1"));
    assert_null(strstr(text, "\"fire\""));
    free(text);
    screen_set_table(s, SCREEN_LEARNED); /* no bias, no query */
    text = printed(s, true);
    assert_null(strstr(text, "bias_query"));
    free(text);
    pw_snapshot_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
