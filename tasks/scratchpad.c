/* scratchpad.c - the common part of all scratchpads: the option, the words around the parts, and the
 * beginning of the answer.
 *
 * The double blanks of the paper's texts come from joining strings that end and begin with a
 * blank. Each double blank belongs to one token that always has it ("  #"), so it costs no token,
 * as in the paper's tokeniser, which drops it. Only an empty part (" re" and then "  .") leaves a
 * blank as a token of its own. */
#include "tasks/scratchpad.h"
#include "tasks/read.h"
#include <stdio.h>
#include <string.h>

#define ALL     ((1 << PW_PARTS) - 1)
#define MINIMAL (1 << PW_PART_COMP | 1 << PW_PART_OUT)

static const char letters[] = "icovr";

/* The words around a scratchpad, its steps and their parts. */
static const struct {
    const char *first, *between, *last;
    const char *open[PW_PARTS], *close[PW_PARTS];
} form[] = {
    {"", " #", " so", {" in", " comp", " out", " var", " re"}, {"", "", "", "", ""}},
    {"Thinking step by step: ",
     "  #",
     "  . Thus, ",
     {" in", " comp", " out", " [", " re"},
     {"", "", "", " ]", ""}},
};

/* The token before the answer. */
static const char *const last_word[] = {" so", " Thus, "};

static int all_parts(const struct pw_task_use *use)
{
    return use->task->scratch->vars ? ALL : ALL & ~(1 << PW_PART_VARS);
}

/* Returns the parts that a value of the option selects; -1: not a value. */
static int parts_of(const struct pw_task_use *use, const char *text)
{
    int parts = 0;
    if (strcmp(text, "full") == 0)
        return all_parts(use);
    if (strcmp(text, "minimal") == 0)
        return MINIMAL;
    if (strcmp(text, "bare") == 0)
        return 0;
    for (const char *c = text; *c != '\0'; c++) {
        const char *at = strchr(letters, *c);
        int bit = at != NULL ? 1 << (at - letters) : 0;
        if (bit == 0 || (parts & bit) != 0)
            return -1;
        parts |= bit;
    }
    return parts > 0 ? parts : -1;
}

static void name_parts(const struct pw_task_use *use, int parts, char dst[PW_SCRATCH_NAME])
{
    int n = 0;
    if (parts == all_parts(use) || parts == MINIMAL || parts == 0) {
        snprintf(dst, PW_SCRATCH_NAME, "%s", parts == 0 ? "bare" : parts == MINIMAL ? "minimal" : "full");
        return;
    }
    for (int i = 0; i < PW_PARTS; i++)
        if (parts >> i & 1)
            dst[n++] = letters[i];
    dst[n] = '\0';
}

enum pw_code pw_scratch_init(struct pw_task_use *use, struct pw_err *err)
{
    struct pw_task_opts *o = &use->o.common;
    const char *name = use->task->name;
    o->parts = 0;
    if (use->task->scratch == NULL || strcmp(o->scratchpad, "off") == 0)
        return PW_OK;
    int parts = parts_of(use, o->scratchpad);
    if (parts < 0)
        return pw_fail(err, PW_EUSER,
                       "%s: scratchpad=%s: allowed are off, full, minimal (co), bare, or letters of %s: "
                       "input (i), computation (c), output (o), variables (v), remaining input (r)",
                       name, pw_piece_text((struct pw_piece){o->scratchpad, strlen(o->scratchpad)}).s,
                       use->task->scratch->vars ? "icovr" : "icor");
    if ((parts & ~all_parts(use)) != 0)
        return pw_fail(err, PW_EUSER,
                       "%s: scratchpad=%s: its steps have no variables (v); 'scratchpad=full' has all parts",
                       name, o->scratchpad);
    if (o->text == PW_TEXT_APPENDIX)
        return pw_fail(err, PW_EUSER,
                       "%s: text=appendix has no scratchpad, because the appendix shows none; use text=paper "
                       "(the released code's)",
                       name);
    name_parts(use, parts, o->scratchpad);
    o->parts = PW_SCRATCH_ON | parts;
    return PW_OK;
}

void pw_scratch_words(const struct pw_task_use *use, struct pw_vocab *v)
{
    static const char *const around[] = {
        " Thinking", " step", " by", " step: ", "  #", "  .", " Thus, ", NULL};
    static const char *const within[] = {" in", " comp", " out", " re", NULL};
    const struct pw_task_opts *o = &use->o.common;
    if (o->parts == 0)
        return;
    if (o->text == PW_TEXT_SHORT) {
        pw_vocab_add(v, form[o->text].between);
        pw_vocab_add(v, form[o->text].last);
        pw_vocab_add(v, form[o->text].open[PW_PART_VARS]);
    } else {
        pw_list_words(around, v);
        pw_vocab_add(v, pw_scratch_nothing(o));
    }
    pw_list_words(within, v);
    if (use->task->scratch->words != NULL)
        use->task->scratch->words(o, v);
}

const char *pw_scratch_nothing(const struct pw_task_opts *opts)
{
    return opts->text == PW_TEXT_SHORT ? "" : " ";
}

void pw_scratch_step(struct pw_scratch *s)
{
    int style = s->opts->text;
    if (s->n++ > 0)
        pw_str_add(s->out, "%s", form[style].between);
    for (int i = 0; i < PW_PARTS; i++) {
        if (s->opts->parts >> i & 1)
            pw_str_add(s->out, "%s%s%s", form[style].open[i],
                       s->part[i].len > 0 ? s->part[i].s : pw_scratch_nothing(s->opts), form[style].close[i]);
        pw_str_clear(&s->part[i]);
    }
}

void pw_scratch_write(const struct pw_task_use *use, const struct pw_item *item, struct pw_str *answer)
{
    struct pw_scratch s = {.opts = &use->o.common, .out = answer};
    if (use->o.common.parts == 0)
        return;
    pw_str_add(answer, "%s", form[s.opts->text].first);
    use->task->scratch->steps(&use->o, item, &s);
    pw_str_add(answer, "%s", form[s.opts->text].last);
    if (s.opts->text != PW_TEXT_SHORT)
        pw_str_add(answer, " "); /* the blank of the answer's first token */
    for (int i = 0; i < PW_PARTS; i++)
        pw_str_fini(&s.part[i]);
}

int pw_scratch_tokens(const struct pw_task_use *use, const struct pw_vocab *v, const int *answer, int n)
{
    const struct pw_task_opts *o = &use->o.common;
    for (int i = 0; o->parts != 0 && i < n; i++)
        if (strcmp(v->words[answer[i]], last_word[o->text]) == 0)
            return i + 1;
    return 0;
}
