/* flipflop.c - what was written last? (Liu et al. 2023, "Exposing Attention Glitches with Flip-Flop Language
 * Modeling")
 *
 *   flipflop w 1 i 0 r 1 w 0 i 1 i 1 r | 0
 *
 * Each instruction has a bit: `w` writes it, `i` is to be ignored, `r` reads and shows the bit that was
 * written last. The first instruction writes, the last one reads, and its bit is the answer. The attention of
 * one head must find the last write, however far it is, and nothing else. Guessing is right half of the time.
 *
 * An item is the list of instructions and their bits. */
#include <stddef.h>
#include <string.h>

#include "tasks/read.h"
#include "tasks/task.h"

#define MAX_LENGTH 200
#define EXAMPLE    "w 1 i 0 w 0 i 1 r"
#define WRITE_ME   "write: flipflop " EXAMPLE

enum { WRITE, IGNORE, READ, KINDS };
enum {
    INPUTS = 5
}; /* of an instruction between the first and the last: two writes, two bits to ignore, a read */

_Static_assert(2 * MAX_LENGTH <= PW_MAX_ITEM, "an item holds the longest sample");

static const char *const marks[] = {"w", "i", "r"};
static const char *const texts[] = {"short", NULL};

struct flipflop_opts {
    struct pw_task_opts common;
    int ignored;
};

static const struct pw_opt opts[] = {
    {"ignored", PW_OPT_INT, offsetof(struct flipflop_opts, ignored), "80", 0, 100, NULL, 0,
     "per cent of the instructions between the first and the last that are to be ignored; half of the others "
     "write"},
    {0},
};

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const all[] = {"flipflop", " w", " i", " r", " 0", " 1", NULL};
    (void)o;
    pw_list_words(all, v);
}

/* The bit that was written last before instruction i. */
static int written(const struct pw_item *item, int i)
{
    while (i-- > 0)
        if (item->v[2 * i] == WRITE)
            return item->v[2 * i + 1];
    return 0; /* never: the first instruction writes */
}

static void put(struct pw_item *item, int i, int kind, int bit)
{
    item->v[2 * i] = kind;
    item->v[2 * i + 1] = kind == READ ? written(item, i) : bit;
}

/* Begins an item: instruction 0 writes `bit`. */
static void start_item(struct pw_item *item, int length, int bit)
{
    item->length = length;
    item->n = 2 * length;
    put(item, 0, WRITE, bit);
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    const struct flipflop_opts *opt = o;

    start_item(item, length, (int)pw_rng_below(rng, 2));
    for (int i = 1; i < length - 1; i++) {
        int kind = (int)pw_rng_below(rng, 100) < opt->ignored ? IGNORE
                   : pw_rng_below(rng, 2) == 0                ? WRITE
                                                              : READ;
        put(item, i, kind, (int)pw_rng_below(rng, 2));
    }
    put(item, length - 1, READ, 0);
}

static void list_input(const void *o, struct pw_pair at, uint64_t k, struct pw_item *item)
{
    int digit[MAX_LENGTH], bit;
    (void)o;
    k = pw_list_nth(2, 0, k, &bit, 1);
    start_item(item, at.a, bit);
    pw_list_nth(INPUTS, 0, k, digit, at.a - 2);
    for (int i = 1; i < at.a - 1; i++)
        put(item, i, digit[i - 1] / 2, digit[i - 1] % 2);
    put(item, at.a - 1, READ, 0);
}

static double inputs(const void *o, struct pw_pair at)
{
    (void)o;
    return 2 * pw_list_count(INPUTS, at.a - 2);
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    int n = item->n / 2;
    (void)o;
    pw_str_add(prompt, "flipflop");
    for (int i = 0; i < n - 1; i++)
        pw_str_add(prompt, " %s %d", marks[item->v[2 * i]], item->v[2 * i + 1]);
    pw_str_add(prompt, " %s", marks[READ]);
    pw_str_add(answer, " %d", item->v[item->n - 1]);
}

static int kind_of(struct pw_piece piece)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (pw_piece_is(piece, marks[kind]))
            return kind;
    return -1;
}

/* Reads one instruction into item->v[item->n]; *ends: it is a read without a bit, the last one. */
static enum pw_code read_instruction(const char **text, struct pw_item *item, bool *ends, struct pw_err *err)
{
    struct pw_piece mark = pw_read_piece(text), bit = {0};
    int kind = kind_of(mark), i = item->n / 2;

    if (mark.n == 0)
        return pw_fail(err, PW_EUSER, "flipflop: the last instruction must be r, without a bit; " WRITE_ME);
    if (kind < 0)
        return pw_fail(err, PW_EUSER, "flipflop: '%s': an instruction is w, i or r; " WRITE_ME,
                       pw_piece_text(mark).s);
    if (i == MAX_LENGTH)
        return pw_fail(err, PW_EUSER, "flipflop: at most %d instructions are allowed", MAX_LENGTH);
    if (i == 0 && kind != WRITE)
        return pw_fail(err, PW_EUSER, "flipflop: the first instruction must be w; " WRITE_ME);
    bit = pw_read_piece(text);
    *ends = bit.n == 0;
    if (*ends && kind != READ)
        return pw_fail(err, PW_EUSER, "flipflop: the last instruction must be r, without a bit; " WRITE_ME);
    if (!*ends && !pw_piece_is(bit, "0") && !pw_piece_is(bit, "1"))
        return pw_fail(err, PW_EUSER, "flipflop: '%s' is not one of the bits 0 and 1; " WRITE_ME,
                       pw_piece_text(bit).s);
    put(item, i, kind, *ends ? 0 : bit.s[0] - '0');
    item->n += 2;
    if (!*ends && item->v[2 * i + 1] != bit.s[0] - '0')
        return pw_fail(err, PW_EUSER, "flipflop: r %c reads a bit that was not written last", bit.s[0]);
    return PW_OK;
}

static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    bool ends = false;
    (void)o;
    item->n = 0;
    while (!ends) {
        enum pw_code code = read_instruction(&text, item, &ends, err);
        if (code != PW_OK)
            return code;
    }
    item->length = item->n / 2;
    return PW_OK;
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    if (!pw_read_accept(&text, "flipflop"))
        return pw_fail(err, PW_EUSER, "flipflop: a prompt must start with 'flipflop'");
    return payload(o, text, item, err);
}

static double chance(const void *o, int length)
{
    (void)o;
    (void)length;
    return 0.5;
}

/* The bit of the last write, and those that were read since. */
static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    int n = 0;
    (void)o;
    (void)text;
    (void)k;
    for (int i = item->n / 2 - 2; i >= 0; i--) {
        if (item->v[2 * i] != IGNORE)
            at[n++] = 2 * i + 2; /* behind the first word */
        if (item->v[2 * i] == WRITE)
            break;
    }
    return n;
}

const struct pw_task pw_task_flipflop = {
    .name = "flipflop",
    .summary = "the bit that was written last, among others that are to be ignored",
    .source = "Liu et al. 2023, flip-flop language modeling",
    .opts = opts,
    .opts_size = sizeof(struct flipflop_opts),
    .length_limits = {2, MAX_LENGTH},
    .lengths = "4..12",
    .unit = "instructions",
    .inputs = inputs,
    .list = list_input,
    .words = words,
    .draw = draw_item,
    .write = write_item,
    .payload = payload,
    .read = read_text,
    .example = EXAMPLE,
    .chance = chance,
    .texts = texts,
    .last_recurs = true,
    .pointers = pointers,
};
