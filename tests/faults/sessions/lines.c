/* lines.c - two sources of random lines. Patterns hold frequent commands with numbers that suit the small
 * models here. The table of commands is walked through completion, so that a new command or option needs no
 * change here. */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "choose.h"
#include "command/commands/commands.h"
#include "lines_models.h"
#include "model/pe.h"
#include "probe/probe.h"

#define MOST_WORDS 4

/* ---- patterns */

static const char *encoding(uint64_t *rng)
{
    int n = 0;
    while (pw_pes[n] != NULL)
        n++;
    return pw_pes[below(rng, n)]->name;
}

static void add_digits(struct pw_str *s, uint64_t *rng, int most)
{
    for (int n = 1 + below(rng, most); n > 0; n--)
        pw_str_add(s, " %d", below(rng, 10));
}

static void add_race(struct pw_str *s, uint64_t *rng)
{
    pw_str_add(s, "race %s,%s", encoding(rng), encoding(rng));
    if (below(rng, 2) == 0)
        pw_str_add(s, ",%s", encoding(rng));
    pw_str_add(s, " seeds=%d", 1 + below(rng, 3));
}

static void add_task(struct pw_str *s, uint64_t *rng)
{
    static const char *const names[] = {"sort", "copy", "addition", "parity", "sort,copy"};
    pw_str_add(s, "task %s", ONE(rng, names));
    if (below(rng, 2) == 0)
        pw_str_add(s, " lengths=2..%d", 3 + below(rng, 3));
}

static void add_training(struct pw_str *s, uint64_t *rng)
{
    static const char *const untils[] = {"acc=0.02", "acc=0.3", "loss=2.2", "loss=0.1", "flops=2e7"};
    switch (below(rng, 6)) {
    case 0: pw_str_add(s, "train until %s", ONE(rng, untils)); break;
    case 1: pw_str_add(s, "train %d until %s", 50 + below(rng, 60), ONE(rng, untils)); break;
    case 2: pw_str_add(s, "train %d arm=%d", 1 + below(rng, 60), 1 + below(rng, 3)); break;
    default: pw_str_add(s, "train %d", 1 + below(rng, 200)); break;
    }
}

static void add_job(struct pw_str *s, uint64_t *rng)
{
    static const char *const modes[] = {"zero", "mean", "resample"};
    int n = 0;
    while (pw_probes[n] != NULL)
        n++;
    switch (below(rng, 7)) {
    case 0: pw_str_add(s, "eval lengths=2..%d samples=%d", 2 + below(rng, 6), 1 + below(rng, 200)); break;
    case 1: pw_str_add(s, "patch heads from=\"sort %d %d\"", below(rng, 10), below(rng, 10)); break;
    case 2: pw_str_add(s, "patch resid from=\"sort %d %d\"", below(rng, 10), below(rng, 10)); break;
    case 3:
        pw_str_add(s, "ablate %d.%d mode=%s samples=%d", below(rng, 2), below(rng, 2), ONE(rng, modes),
                   20 + below(rng, 400));
        break;
    case 4: pw_str_add(s, "probe %s every=%d", pw_probes[below(rng, n)]->name, below(rng, 60)); break;
    case 5: pw_str_add(s, "probe %s", pw_probes[below(rng, n)]->name); break;
    default: pw_str_add(s, "eval"); break;
    }
}

static void add_look(struct pw_str *s, uint64_t *rng)
{
    static const char *const views[] = {"probs", "score", "content", "bias", "cc"};
    switch (below(rng, 8)) {
    case 0:
        pw_str_add(s, "inspect layer=%d head=%d view=%s", below(rng, 2), below(rng, 2), ONE(rng, views));
        break;
    case 1: pw_str_add(s, "inspect head=+1"); break;
    case 2: pw_str_add(s, "edit %d %d", below(rng, 12), below(rng, 10)); break;
    case 3: pw_str_add(s, "next %d", 1 + below(rng, 4)); break;
    case 4: pw_str_add(s, "back"); break;
    case 5: pw_str_add(s, "sample length=%d", 2 + below(rng, 5)); break;
    case 6: pw_str_add(s, "table length=%d", 4 + below(rng, 12)); break;
    default: pw_str_add(s, "failing pin=on index=%d", below(rng, 9)); break;
    }
}

static void add_pattern(struct pw_str *s, uint64_t *rng)
{
    static const char *const plain[] = {"pause",
                                        "resume",
                                        "stop",
                                        "digest",
                                        "table",
                                        "next",
                                        "back",
                                        "restore",
                                        "failing",
                                        "paired",
                                        "runs",
                                        "cancel",
                                        "reset",
                                        "say hi; mark m",
                                        "nonsense",
                                        "step 3",
                                        "pause; step 2",
                                        "next 3",
                                        "set share flops",
                                        "set share steps",
                                        "sample",
                                        "probe off",
                                        "cancel probe",
                                        "arm drop 2",
                                        "checkpoint now",
                                        "eval; train 5",
                                        "arm next",
                                        "undo",
                                        "pause; eval; resume",
                                        "train 40; prompt sort 1 2; eval samples=30; digest"};
    switch (below(rng, 16)) {
    case 0:
    case 1:
    case 2: add_training(s, rng); break;
    case 3:
    case 4:
        if (below(rng, 4) == 0)
            lines_of_text(s, rng);
        else
            pw_str_add(s, "prompt sort"), add_digits(s, rng, below(rng, 2) == 0 ? 7 : 26);
        break;
    case 5:
    case 6: add_job(s, rng); break;
    case 7:
    case 8: add_look(s, rng); break;
    case 9: pw_str_add(s, "arm %d", 1 + below(rng, 3)); break;
    case 10: pw_str_add(s, "pe %s", encoding(rng)); break;
    case 11: pw_str_add(s, "%s %s", below(rng, 2) == 0 ? "fork" : "arm add", encoding(rng)); break;
    case 12:
        if (below(rng, 3) > 0)
            pw_str_add(s, "set temperature 0.%d", below(rng, 10));
        else if (below(rng, 2) > 0)
            add_race(s, rng);
        else
            add_task(s, rng);
        break;
    case 13: /* one of these in a few produces NaN */
        pw_str_add(s, "optim lr=0.%s%d", below(rng, 5) > 0 ? "00" : "", 1 + below(rng, 9));
        break;
    default: pw_str_add(s, "%s", ONE(rng, plain)); break;
    }
}

/* ---- the table of commands */

/* Commands that the walk omits. They would name a file, another session or another backend, quit, or take
 * minutes. Others take a shape or a length, and the patterns have small ones. */
static bool is_left_out(const char *name)
{
    static const char *const names[] = {"save",   "open",   "backend", "devices", "demo",     "sessions",
                                        "export", "import", "model",   "task",    "construct"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

struct offers {
    char **text;
    int n;
};

static void add_offer(void *arg, const char *candidate)
{
    struct offers *o = arg;
    o->text = realloc(o->text, (size_t)(o->n + 1) * sizeof *o->text);
    if (o->text == NULL)
        abort();
    o->text[o->n++] = pw_text_dup(candidate);
}

/* Appends a random completion of the line. Returns false if there is none. */
static bool add_completion(struct pw_str *s, uint64_t *rng, const struct pw_commands *table)
{
    struct offers o = {0};
    size_t at = pw_command_complete(table, NULL, pw_str_text(s), s->len, add_offer, &o);
    if (o.n > 0 && at == s->len)
        pw_str_add(s, "%s", o.text[below(rng, o.n)]);
    for (int i = 0; i < o.n; i++)
        free(o.text[i]);
    free(o.text);
    return o.n > 0;
}

static void add_from_table(struct pw_str *s, uint64_t *rng)
{
    const struct pw_commands table = {pw_lab_commands};
    int n = 0;
    while (table.list[n] != NULL)
        n++;
    const struct pw_command *cmd;
    do
        cmd = table.list[below(rng, n)];
    while (is_left_out(cmd->name));
    pw_str_add(s, "%s", cmd->name);
    for (int words = below(rng, MOST_WORDS); words > 0; words--) {
        pw_str_add(s, " ");
        if (below(rng, 4) == 0 || !add_completion(s, rng, &table))
            pw_str_add(s, "%d", below(rng, 12));
        if (s->len > 0 && s->s[s->len - 1] == '=' && (below(rng, 3) > 0 || !add_completion(s, rng, &table)))
            pw_str_add(s, "%d", below(rng, 5));
    }
}

void lines_random(struct pw_str *out, uint64_t *rng)
{
    pw_str_clear(out);
    switch (below(rng, 8)) {
    case 0:
    case 1: add_from_table(out, rng); break;
    case 2: lines_of_models(out, rng); break;
    default: add_pattern(out, rng); break;
    }
}

void lines_first(struct pw_str *out, uint64_t *rng)
{
    int large = below(rng, 3); /* answers and steps that are still in progress at the kill */
    pw_str_clear(out);
    if (lines_first_of_models(out, rng))
        return;
    pw_str_add(out, "task sort lengths=2..%d test=%d..%d; ", 4 + large * 4, 5 + large * 4, 6 + large * 4);
    pw_str_add(out, "model tiny width=%d heads=2 layers=%d context=%d; optim batch=%d; ", 16 << large,
               1 + below(rng, 2) + large / 2, 40 + 30 * large, 4 << below(rng, 3));
    add_race(out, rng);
    pw_str_add(out, "; prompt sort");
    add_digits(out, rng, 5 + 10 * large);
    pw_str_add(out, "; train %d", 50 + below(rng, 300));
}
