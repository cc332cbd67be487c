/* plan.c - draws random plans, prints them, and makes them smaller. */
#include "plan.h"

#include <signal.h>
#include <string.h>

#include "choose.h"
#include "lines.h"

/* Draws a delay: many are short, some long. */
static int some_us(uint64_t *rng)
{
    static const int most[] = {1000, 10000, 40000, 40000, 150000};
    return below(rng, ONE(rng, most));
}

static void plan_act(uint64_t *rng, struct act *a, bool first)
{
    static const char *const keys[] = {"\003", " ", "]", "[", ">", "<", "\003"};
    struct pw_str line = {0};
    a->wait_us = first ? 0 : some_us(rng);
    if (first)
        lines_first(&line, rng);
    else if (below(rng, 6) > 0)
        lines_random(&line, rng);
    if (line.len > 0)
        snprintf(a->keys, sizeof a->keys, ":%.250s\r", line.s);
    else
        snprintf(a->keys, sizeof a->keys, "%s", ONE(rng, keys));
    pw_str_fini(&line);
}

static void plan_life(uint64_t *rng, struct life *l, bool first)
{
    static const int others[] = {SIGTERM, SIGHUP};
    *l = (struct life){.threads = 1 + below(rng, 2), .signal = SIGKILL};
    l->begin_us = first ? 100000 : some_us(rng);
    l->n = first ? 2 + below(rng, LIFE_ACTS - 2) : below(rng, LIFE_ACTS);
    for (int i = 0; i < l->n; i++)
        plan_act(rng, &l->act[i], first && i == 0);
    l->end_us = some_us(rng);
    if (below(rng, 12) == 0)
        l->signal = ONE(rng, others);
}

void plan_case(struct plan *p, uint64_t seed)
{
    uint64_t rng =
        codec_next(&seed); /* mixes the seed: consecutive states would give the same numbers, shifted */
    p->n = 2 + below(&rng, PLAN_LIVES - 1);
    for (int i = 0; i < p->n; i++)
        plan_life(&rng, &p->life[i], i == 0);
}

void plan_print(FILE *f, const struct plan *p)
{
    for (int i = 0; i < p->n; i++) {
        const struct life *l = &p->life[i];
        fprintf(f, "life %d: threads %d, after %.1f ms\n", i + 1, l->threads, l->begin_us * 1e-3);
        for (int k = 0; k < l->n; k++) {
            fprintf(f, "  %7.1f ms  ", l->act[k].wait_us * 1e-3);
            for (const char *c = l->act[k].keys; *c != '\0'; c++)
                if (*c == '\r')
                    fputs(" Enter", f);
                else if (*c < ' ')
                    fprintf(f, "Ctrl-%c", *c + '@');
                else
                    fputc(*c, f);
            fputc('\n', f);
        }
        fprintf(f, "  %7.1f ms  signal %d\n", l->end_us * 1e-3, l->signal);
    }
}

bool plan_without_life(struct plan *out, const struct plan *p, int life)
{
    if (p->n < 2 || life == 0) /* the first line begins the session */
        return false;
    *out = *p;
    memmove(&out->life[life], &out->life[life + 1], (size_t)(p->n - life - 1) * sizeof out->life[0]);
    out->n--;
    return true;
}

bool plan_without_acts(struct plan *out, const struct plan *p, int life, int from, int n)
{
    *out = *p;
    struct life *l = &out->life[life];
    if (from + n > l->n)
        return false;
    int *next = from + n < l->n ? &l->act[from + n].wait_us : &l->end_us; /* others keep their times */
    for (int i = from; i < from + n; i++)
        *next += l->act[i].wait_us;
    memmove(&l->act[from], &l->act[from + n], (size_t)(l->n - from - n) * sizeof l->act[0]);
    l->n -= n;
    return true;
}
