/* test_cancel.c - tests which jobs a change cancels, and in which order: recorded sessions have these events.
 */
#include <stdio.h>
#include <string.h>

#include "../unit/ref_session.h"
#include "ref_lab.h"

struct heard {
    char cancelled[512]; /* jobs that the notes name as cancelled: "a,b"; DROP: an arm was dropped, UNPIN: the
                            prompt */
    bool ended;
};

static void hear(void *arg, const struct pw_event *e, const struct pw_snapshot *s)
{
    struct heard *h = arg;
    char word[64];
    size_t n = strlen(h->cancelled);
    (void)s;
    if (e->kind == PW_EV_ERROR)
        fail_msg("%s", e->u.text);
    h->ended = h->ended || (e->kind == PW_EV_NOTE && strcmp(e->u.text, "end") == 0);
    if (h->ended)
        return;
    if (e->kind == PW_EV_NOTE && sscanf(e->u.text, "cancelled: %63[^;]", word) == 1)
        snprintf(h->cancelled + n, sizeof h->cancelled - n, "%s%s", n > 0 ? "," : "", word);
    else if (e->kind == PW_EV_DROP || (e->kind == PW_EV_PROMPT && e->u.prompt.id == 0))
        snprintf(h->cancelled + n, sizeof h->cancelled - n, "%s", e->kind == PW_EV_DROP ? " DROP" : " UNPIN");
}

#define ALL     "ablate,eval,patch,probe position,export activations,export data"
#define WEIGHTS "ablate,eval,patch,export activations"
#define NO_EVAL "ablate,patch,probe position,export activations,export data"

static const struct {
    const char *line, *cancelled;
} changes[] = {
    {"arm drop 2", "eval," NO_EVAL " DROP"},
    {"arm drop 1", "eval UNPIN," NO_EVAL " DROP"},
    {"arm add alibi", ""},
    {"fork", ""},
    {"arm next", ""},
    {"stop", ALL},
    {"pe rotary", ALL},
    {"reset arm=2", ALL},
    {"seed 3", ALL},
    {"model width=32", ALL " UNPIN"},
    {"task sort test=9..10", ALL " UNPIN"},
    {"task copy", ALL " UNPIN"},
    {"tune temperature=2", WEIGHTS},
    {"set threads 2", "probe position"},
    {"optim lr=0.1", ""},
    {"cancel", "ablate"},
    {"cancel data", "export data"},
};

static void test_changes(void **state)
{
    char data[4096], arrays[4096], line[9000];
    scratch_path(state, "d.jsonl", data);
    scratch_path(state, "a.npz", arrays);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct heard h = {.cancelled = ""};
        struct bench b = {
            .lab = lab_open((struct pw_lab_config){.threads = 1, .on_event = hear, .on_event_arg = &h})};
        /* one line: nothing else runs in between */
        snprintf(line, sizeof line,
                 "model tiny width=16 layers=2 heads=2; race none,t5; prompt sort 3 1 2; "
                 "eval samples=100000; export data %s n=9000000; export activations %s samples=5000; "
                 "patch resid from=\"sort 4 1 2\"; probe position; ablate 0.0 mode=mean samples=4096; %s",
                 data, arrays, changes[i].line);
        pw_lab_send(b.lab, line, PW_SEND_NOW);
        pw_lab_send(b.lab, "say end", PW_SEND_NOW);
        while (!h.ended)
            bench_look(&b, 1000);
        assert_string_equal(h.cancelled, changes[i].cancelled);
        pw_lab_destroy(b.lab, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_changes, session_setup, session_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
