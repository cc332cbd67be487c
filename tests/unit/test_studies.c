/* test_studies.c - the table of studies: names that differ, scripts that there are, and a list of what is
 * missing that names every item of the documents which no study has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "reproduce/study.h"

static void test_table(void **state)
{
    (void)state;
    for (int i = 0; pw_studies[i] != NULL; i++) {
        const struct pw_study *s = pw_studies[i];
        assert_true(s->document[0] != '\0' && s->summary[0] != '\0' && s->finding[0] != '\0');
        assert_true((s->lines != NULL) != (s->script != NULL));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(s->name, pw_studies[k]->name);
    }
}

/* Of an item a study's document or the list of what is left has to speak. */
static void test_items(void **state)
{
    static const char *const left[] = {"Figure A.1",  "Table 2",         "D.1",
                                       "Eq. 4 to 11", "own size",        "appendix F",
                                       "Yoochoose",   "Eq. 16, 17",      "pre-trained models",
                                       "RNNs",        "natural language"};
    static const struct {
        const char *study, *document;
    } judged[] = {{"layernorm", "Kazemnejad et al. 2023, Eq. 3, C.1"},
                  {"relative", "Kazemnejad et al. 2023, C.2"},
                  {"equations", "Kazemnejad et al. 2023, Eq. 13, 14; Qiu et al. 2021, Eq. 13, 14, 24"},
                  {"linearity", "Qiu et al. 2021, Eq. 15 to 23"}};
    const struct pw_study *s;
    (void)state;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        bool named = false;
        for (int k = 0; pw_studies_left[k] != NULL; k++)
            named = named || strstr(pw_studies_left[k], left[i]) != NULL;
        if (!named)
            fail_msg("'%s' is missing in the list of what is not reproduced", left[i]);
    }
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        assert_int_equal(pw_study_find(&s, judged[i].study, NULL), PW_OK);
        assert_string_equal(s->document, judged[i].document);
    }
    /* What compared constants with a copy, or counts a user's file, is no study. */
    assert_int_equal(pw_study_find(&s, "table2", &(struct pw_err){0}), PW_EUSER);
    assert_int_equal(pw_study_find(&s, "histogram", &(struct pw_err){0}), PW_EUSER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_items)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
