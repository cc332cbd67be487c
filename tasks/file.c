/* file.c - the user's own data: a line is a prompt, a TAB and its answer.
 *
 *   3 1 4 <TAB> 1 3 4        becomes        " 3 1 4 > | 1 3 4"
 *
 * A token is a word with one leading blank, whatever the blanks in the file. " >" replaces the TAB, since a
 * model must know where to begin to answer. The length is the number of words in the prompt without the first
 * skip= words; skip= is for a constant task name at the beginning of each prompt.
 *
 * One prompt in ten, by a hash of its text, is held out. Validation and the evaluation of a trained length
 * draw from these, so a measured prompt was never trained, however often it occurs. If no prompt of a length
 * is held out (a short file), the trained ones are used. The draw is uniform over lines, not over lengths.
 * Lines longer than the trained ones are tested, shorter lines are not used.
 *
 * An item is the number of a line. A typed prompt that is in no line has no known answer; its
 * item is -1 and its words. */
#include "tasks/corpus.h"
#include "tasks/read.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct file_opts {
    struct pw_task_opts common;
    char path[384];
    int skip;
    struct pw_corpus *corpus; /* owned; open loads it */
};

static const struct pw_opt opts[] = {
    {"path", PW_OPT_TEXT, offsetof(struct file_opts, path), "", 0, 0, NULL,
     sizeof((struct file_opts *)0)->path, "name of the file; a line is a prompt, a TAB and its answer"},
    {"lengths", PW_OPT_RANGE, offsetof(struct file_opts, common.lengths), "0", 0, PW_CORPUS_WORDS, NULL, 0,
     "trained lengths, in words of the prompt; 0: all"},
    {"test", PW_OPT_RANGE, offsetof(struct file_opts, common.test), "0", 0, PW_CORPUS_WORDS, NULL, 0,
     "longer lengths, only evaluated; 0: all that are longer"},
    {"skip", PW_OPT_INT, offsetof(struct file_opts, skip), "0", 0, PW_CORPUS_SKIP, NULL, 0,
     "words at the start of a prompt that its length does not count: 1 for 'sort' in 'sort 3 1 2'"},
    {0},
};

/* Options of other tasks, and why they have no meaning here. */
static const struct pw_refusal refused[] = {
    {"data", "the lines of the file are the training set; a shorter file makes a smaller one"},
    {"held", "one line in ten is always held out"},
    {"dist", "lines are drawn uniformly, so each length is as frequent as in the file"},
    {"text", "the file gives the text"},
    {"alphabet", "the file gives the alphabet"},
    {"scratchpad", "the file gives the steps, if any: write them before the answer"},
    {NULL, NULL},
};

static bool has(const void *o, int length)
{
    const struct pw_corpus *c = ((const struct file_opts *)o)->corpus;
    return c == NULL || (length >= 1 && length <= PW_CORPUS_WORDS &&
                         pw_corpus_count(c, PW_CORPUS_TRAINED, length, length) +
                                 pw_corpus_count(c, PW_CORPUS_HELD, length, length) >
                             0);
}

/* If all lines of the trained lengths are held out, they are trained on: see pick. */
static double share(const void *o, int length)
{
    const struct file_opts *opt = o;
    struct pw_range r = opt->common.lengths;
    int group =
        pw_corpus_count(opt->corpus, PW_CORPUS_TRAINED, r.lo, r.hi) > 0 ? PW_CORPUS_TRAINED : PW_CORPUS_HELD;
    return (double)pw_corpus_count(opt->corpus, group, length, length) /
           pw_corpus_count(opt->corpus, group, r.lo, r.hi);
}

/* If no line of a length is held out, the trained ones are used. */
static double inputs(const void *o, struct pw_pair at)
{
    const struct pw_corpus *c = ((const struct file_opts *)o)->corpus;
    return pw_corpus_count(c, PW_CORPUS_HELD, at.a, at.a) > 0
               ? (double)INFINITY
               : (double)pw_corpus_count(c, PW_CORPUS_TRAINED, at.a, at.a);
}

static void close_file(void *o)
{
    struct file_opts *opt = o;
    pw_corpus_destroy(opt->corpus);
    opt->corpus = NULL;
}

static void describe_split(const void *o, struct pw_str *out)
{
    const struct file_opts *opt = o;
    pw_corpus_describe(opt->corpus, opt->common.lengths, out);
}

static enum pw_code open_file(void *o, struct pw_err *err)
{
    struct file_opts *opt = o;
    struct pw_range *r = &opt->common.lengths;
    int shortest = 1, longest = PW_CORPUS_WORDS;
    if (opt->path[0] == '\0')
        return pw_fail(err, PW_EUSER,
                       "file: path=F is missing; each line of F is a prompt, a TAB and its answer");
    enum pw_code code = pw_corpus_create(&opt->corpus, opt->path, opt->skip, err); /* close_file frees it */
    if (code != PW_OK)
        return code;
    const struct pw_corpus *c = opt->corpus;
    while (!has(opt, shortest))
        shortest++;
    while (!has(opt, longest))
        longest--;
    if (r->hi == 0)
        *r = (struct pw_range){shortest, longest};
    if (r->lo > longest || r->hi < shortest)
        return pw_fail(err, PW_EUSER, "file: lengths=%d..%d: the lines of %s have %d..%d words", r->lo, r->hi,
                       opt->path, shortest, longest);
    r->lo = r->lo > shortest ? r->lo : shortest;
    r->hi = r->hi < longest ? r->hi : longest;
    if (pw_corpus_count(c, PW_CORPUS_TRAINED, r->lo, r->hi) +
            pw_corpus_count(c, PW_CORPUS_HELD, r->lo, r->hi) ==
        0)
        return pw_fail(err, PW_EUSER, "file: lengths=%d..%d: %s has no lines of these lengths", r->lo, r->hi,
                       opt->path);
    return PW_OK;
}

/* ---- samples */

static void take_item(const struct pw_corpus *c, uint32_t line, struct pw_item *item)
{
    item->length = c->lines[line].length;
    item->n = 1;
    item->v[0] = (int)line;
}

static void pick(const void *o, struct pw_rng *rng, enum pw_split split, int length, struct pw_item *item)
{
    const struct file_opts *opt = o;
    const struct pw_corpus *c = opt->corpus;
    struct pw_range train = opt->common.lengths, r = train;
    if (split == PW_SPLIT_TEST) {
        r.lo = r.hi = length;
    }
    uint32_t trained = pw_corpus_count(c, PW_CORPUS_TRAINED, r.lo, r.hi),
             held = pw_corpus_count(c, PW_CORPUS_HELD, r.lo, r.hi);
    if (split == PW_SPLIT_TRAIN && trained > 0)
        held = 0;
    else if (split != PW_SPLIT_TRAIN && held > 0 && r.lo >= train.lo && r.hi <= train.hi)
        trained = 0;
    uint32_t k = pw_rng_below(rng, trained + held);
    take_item(c,
              k < trained ? c->order[c->first[PW_CORPUS_TRAINED][r.lo] + k]
                          : c->order[c->first[PW_CORPUS_HELD][r.lo] + k - trained],
              item);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    pick(o, rng, PW_SPLIT_TEST, length, item);
}

static bool holds_out(const void *o, const struct pw_item *item)
{
    const struct file_opts *opt = o;
    struct pw_range r = opt->common.lengths;
    return item->v[0] >= 0 && pw_corpus_is_held(opt->corpus, item->v[0]) &&
           pw_corpus_count(opt->corpus, PW_CORPUS_TRAINED, r.lo, r.hi) > 0;
}

/* The order of the file. */
static bool every(const void *o, uint64_t k, struct pw_item *item)
{
    const struct pw_corpus *c = ((const struct file_opts *)o)->corpus;
    if (k < (uint64_t)c->n)
        take_item(c, (uint32_t)k, item);
    return k < (uint64_t)c->n;
}

static void longest_line(const void *o, int length, struct pw_item *item)
{
    const struct pw_corpus *c = ((const struct file_opts *)o)->corpus;
    int best = -1;
    for (int i = 0; i < c->n; i++)
        if (c->lines[i].length <= length && (best < 0 || c->lines[i].tokens > c->lines[best].tokens))
            best = i;
    take_item(c, (uint32_t)(best < 0 ? 0 : best), item);
}

static void words(const void *o, struct pw_vocab *v)
{
    const struct pw_corpus *c = ((const struct file_opts *)o)->corpus;
    char token[PW_CORPUS_WORD + 2] = " ";
    pw_vocab_add(v, " >");
    for (int i = 0; i < c->words.n; i++) {
        strcpy(token + 1, c->words.words[i]);
        pw_vocab_add(v, token);
    }
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct pw_corpus *c = ((const struct file_opts *)o)->corpus;
    if (item->v[0] >= 0) {
        const char *text = pw_corpus_prompt(c, item->v[0]);
        pw_str_add(prompt, " %s", text);
        pw_str_add(answer, " %s", text + strlen(text) + 1);
    }
    for (int i = 1; i < item->n; i++)
        pw_str_add(prompt, " %s", c->words.words[item->v[i]]);
    pw_str_add(prompt, " >");
}

/* ---- typed prompts */

static int find(const struct pw_corpus *c, const char *prompt)
{
    for (int i = 0; i < c->n; i++)
        if (strcmp(pw_corpus_prompt(c, i), prompt) == 0)
            return i;
    return -1;
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct file_opts *opt = o;
    const struct pw_corpus *c = opt->corpus;
    struct pw_str whole = {0};
    enum pw_code code = PW_OK;
    size_t bytes, last = 0;
    item->length = 0;
    for (text += strspn(text, PW_CORPUS_BLANKS); (bytes = strcspn(text, PW_CORPUS_BLANKS)) > 0;
         text += strspn(text, PW_CORPUS_BLANKS)) {
        int id = pw_vocab_find(&c->words, text, bytes);
        bool separator = bytes == 1 && *text == '>' && text[1 + strspn(text + 1, PW_CORPUS_BLANKS)] == '\0';
        if (id < 0 && !separator && code == PW_OK)
            code = pw_fail(err, PW_EUSER, "file: '%s' is not a word of %s",
                           pw_piece_text((struct pw_piece){text, bytes}).s, opt->path);
        last = whole.len;
        pw_str_add(&whole, whole.len > 0 ? " %.*s" : "%.*s", (int)bytes, text);
        if (item->length < PW_CORPUS_WORDS)
            item->v[1 + item->length] = id;
        item->length++;
        text += bytes;
    }
    item->v[0] = find(c, pw_str_text(&whole));
    if (item->v[0] < 0 && last > 0 && strcmp(whole.s + last, " >") == 0) { /* copied from the screen */
        whole.s[last] = '\0';
        item->length--;
        item->v[0] = find(c, whole.s);
    }
    pw_str_fini(&whole);
    item->n = item->v[0] >= 0 ? 1 : 1 + item->length;
    if (code == PW_OK && item->length > PW_CORPUS_WORDS)
        code = pw_fail(err, PW_EUSER, "file: the prompt has %d words; at most %d are allowed", item->length,
                       PW_CORPUS_WORDS);
    if (code == PW_OK && (item->length == 0 || (item->v[0] < 0 && item->v[1] < 0)))
        code = pw_fail(err, PW_EUSER, "file: no words; write: file %s", pw_corpus_prompt(c, 0));
    item->length = item->length > c->skip ? item->length - c->skip : 1;
    return code;
}

const struct pw_task pw_task_file = {
    .name = "file",
    .summary = "your own lines: prompt, TAB, answer",
    .source = "the user's",
    .opts = opts,
    .opts_size = sizeof(struct file_opts),
    .length_limits = {1, PW_CORPUS_WORDS},
    .inputs = inputs,
    .words = words,
    .draw = draw_item,
    .longest = longest_line,
    .write = write_item,
    .payload = read_text,
    .read = read_text,
    .example = "WORDS",
    .open = open_file,
    .close = close_file,
    .tell = describe_split,
    .refused = refused,
    .pick = pick,
    .every = every,
    .holds_out = holds_out,
    .has = has,
    .to_the_end = true,
    .share = share,
};
