/* task.h - sequence tasks: text in, text out, and a vocabulary in between.
 *
 * A task is a descriptor (tasks/NAME.c, one line in tasks/tasks.c). It draws an item (the content of a
 * sample: a short array of integers whose meaning is the task's own), writes it as a prompt text and an
 * answer text in the style asked for, reads typed text back into an item, and solves it. Everything else
 * (vocabulary, tokens, loss positions, mixtures, splits) is common and lives in taskset.c.
 *
 * Tokens. A token is a string, with its leading space where it has one ("sort", " 3", ",", " [SEP]", as in
 * SentencePiece); a text is the plain concatenation of its tokens, so what is shown is the text to the
 * character. A text is cut greedily, longest token first. A token belongs to the answer if it ends after the
 * end of the prompt's text. Token 0 is the padding "<pad>", token 1 the end mark "</s>"; neither can be
 * typed.
 *
 * Samples are never stored: sample i of a split is a function of (seed, split, i) (base/rng.h).
 *
 * A length is one number, which curves are drawn over; where it comes from two (the digits of both numbers,
 * the variables and which of them is asked for) every sample knows its pair as well, and evaluation goes
 * round the pairs of a length. */
#ifndef PW_TASK_H
#define PW_TASK_H
#include "base/err.h"
#include "base/opt.h"
#include "base/rng.h"
#include "base/text.h"
#include <stdbool.h>
#include <stdint.h>

#define PW_MAX_SYMBOLS  62  /* 0-9, a-z, A-Z in this order */
#define PW_MAX_ITEM     512 /* integers in an item */
#define PW_MAX_TASKS    8   /* in a mixture */
#define PW_MAX_PAIRS    256 /* of a length */
#define PW_MAX_DATA     10000000
#define PW_PAD          0
#define PW_EOS          1
#define PW_SCRATCH_NAME 16 /* bytes of the option scratchpad */
#define PW_SCRATCH_ON   32 /* beside the bits of enum pw_part */

/* A constant first word and one token a symbol; the sentences of the paper's released code, to the character;
 * those of its appendix D.1, which differ. */
enum pw_text_style { PW_TEXT_SHORT, PW_TEXT_PAPER, PW_TEXT_SEED };

/* How chances between items are taken where the appendix differs from the released code (see each task). */
enum pw_sampling { PW_SAMPLING_CODE, PW_SAMPLING_SEED };

/* Options that every task has; a task's own follow in a struct that begins with this one. */
struct pw_task_opts {
    struct pw_range lengths; /* trained */
    struct pw_range test;    /* evaluated beyond; hi = 0: from lengths.hi+1 to twice lengths.hi */
    int alphabet;            /* symbols in use */
    int text;                /* enum pw_text_style */
    /* How trained lengths are drawn: "uniform", all alike; "geometric", each half as often as the one before
     * it (the last as often as the one before, so that the shares sum to one); "pairs", by how many pairs it
     * has; "natural", as often as its source has it; or a file of lines "length weight". */
    char dist[256];
    int data;  /* samples of a fixed training set (pool.c); 0: a stream */
    bool held; /* some inputs are kept from training (held.c) */
    /* Steps between prompt and answer (scratchpad.h), of the tasks that have such: "off", "full", ... */
    char scratchpad[PW_SCRATCH_NAME];
    int parts; /* made from it: 0: none, else PW_SCRATCH_ON and which parts a step has */
};

enum pw_split { PW_SPLIT_TRAIN, PW_SPLIT_VALID, PW_SPLIT_TEST };

struct pw_vocab;
struct pw_scratch_task; /* scratchpad.h */
struct pw_scratch;

struct pw_pair {
    int a, b; /* {length, 0} where a length is one number */
};

struct pw_item {
    int length; /* the task's length of this item */
    int n;      /* integers used */
    int v[PW_MAX_ITEM];
};

/* A sample as its hook sees it, without its scratchpad: token i is words[tokens[i]], with the blank before
 * it. */
struct pw_spelling {
    char *const *words; /* of the vocabulary */
    const int *tokens;
    int n_prompt, n;
};

/* Of a task whose length is a pair. */
struct pw_task_pairs {
    const char *a, *b; /* what they count, for a column's head */
    /* The pairs that samples of a length have, in the order in which evaluation goes round; how many. */
    int (*at)(const void *opts, int length, struct pw_pair *out);
    void (*draw)(const void *opts, struct pw_rng *rng, struct pw_pair pair, struct pw_item *item);
    struct pw_pair (*of)(const struct pw_item *item);
    /* Is what is drawn for one pair meant for all pairs of the length? A fixed set then has each in all of
     * them (LEGO: a chain, asked for every variable). */
    bool together;
};

/* An option of other tasks, and why a task has none of it. */
struct pw_refusal {
    const char *option, *why;
};

struct pw_task {
    const char *name, *summary, *source; /* source: where the text and the sampling come from */
    const struct pw_opt *opts;           /* its own, beside the common ones (options.c); NULL: none */
    size_t opts_size;                    /* of a struct that begins with struct pw_task_opts */
    struct pw_range length_limits;       /* what a length can be at all */
    const char *lengths, *unit;          /* default of lengths=, and what they count; NULL: only opts */
    const struct pw_task_pairs *pairs;   /* NULL: a length is one number */
    /* How many different inputs there are at a length, or pair; INFINITY where that can't be few. */
    double (*inputs)(const void *opts, struct pw_pair at);
    /* Which lengths there are with these options; NULL: all within the limits. */
    bool (*has)(const void *opts, int length);
    /* All longer samples that there are test, not those of up to twice the trained length. There may be gaps:
     * longest then takes a shorter one. */
    bool to_the_end;
    /* How often its source has a length, in relation to others: dist=natural, which then is the default;
     * NULL: nobody knows. */
    double (*weight)(const void *opts, int length);
    bool held; /* the default of held= */
    /* Further checks between options; NULL where there are none. */
    enum pw_code (*check)(const void *opts, struct pw_err *err);
    /* Adds every token that any item of these options can have, by pw_vocab_add. */
    void (*words)(const void *opts, struct pw_vocab *v);
    void (*draw)(const void *opts, struct pw_rng *rng, int length, struct pw_item *item);
    /* Of numbered inputs: number k of those that a length has, 0 <= k < inputs. Evaluation meets each once.
     */
    void (*nth)(const void *opts, int length, int k, struct pw_item *item);
    /* Every input, each once (every.c): number k of those that a length, or pair, has, 0 <= k < inputs; or
     * where the source has an order of its own over all lengths, number k of all, false where there are no
     * more. Both NULL: they can't be listed. */
    void (*list)(const void *opts, struct pw_pair at, uint64_t k, struct pw_item *item);
    bool (*every)(const void *opts, uint64_t k, struct pw_item *item);
    /* The item of the most tokens at a length; NULL where the length alone decides. */
    void (*longest)(const void *opts, int length, struct pw_item *item);
    /* Where no item is known to be the longest: tokens that none at a length has more of, without an end
     * mark. */
    int (*most_tokens)(const void *opts, int length);
    /* Appends the texts of an item. prompt ends where the model begins to answer (paper's trailing space
     * included). */
    void (*write)(const void *opts, const struct pw_item *item, struct pw_str *prompt, struct pw_str *answer);
    /* Reads what a user typed after the task's name: symbols for copy and sort, clauses for LEGO. */
    enum pw_code (*payload)(const void *opts, const char *text, struct pw_item *item, struct pw_err *err);
    /* Reads the task's own prompt text (with or without the separator at its end); PW_EUSER if it isn't one.
     */
    enum pw_code (*read)(const void *opts, const char *text, struct pw_item *item, struct pw_err *err);
    const char *example;                   /* of a payload with default options, for help: "3 1 4 1 5" */
    const struct pw_scratch_task *scratch; /* what its scratchpads say; NULL: it has none */
    double (*chance)(const void *opts,
                     int length); /* exact match of a guesser who knows the format; NULL: 0 */
    /* The answer is one token and no end mark follows, so that the prompt is all that a model reads. */
    bool one_token;
    /* The styles of text= that the task has; NULL: all of enum pw_text_style, else the first ones of it. */
    const char *const *texts;
    const struct pw_refusal *refused; /* ends with NULL names; NULL: none */
    /* See pw_taskset_pointers; NULL: the task has none. Not asked for the end mark. */
    int (*pointers)(const void *opts, const struct pw_item *item, const struct pw_spelling *text, int k,
                    int *at);

    /* Where samples are given instead of made (file.c); NULL elsewhere. open loads what the options name into
     * the options' struct and may narrow lengths, close frees it. pick takes the place of draw and of the
     * draw of the length (which counts for PW_SPLIT_TEST only). */
    enum pw_code (*open)(void *opts, struct pw_err *err);
    void (*close)(void *opts);
    void (*tell)(const void *opts, struct pw_str *out); /* appends lines for the user about what was loaded */
    void (*pick)(const void *opts, struct pw_rng *rng, enum pw_split split, int length, struct pw_item *item);
    bool (*holds_out)(const void *opts, const struct pw_item *item); /* is it kept from training? */
    double (*share)(const void *opts, int length); /* the part of the trained lengths that this one has */
};

#define PW_TASK_OPTS_MAX 1024

extern const struct pw_task *const pw_tasks[]; /* NULL-terminated; tasks.c */
const struct pw_task *pw_task_find(const char *name);
/* All options of a task of pw_tasks, the common ones first. From any thread. */
const struct pw_opt *pw_task_options(const struct pw_task *task);

/* ---- vocabulary */
struct pw_vocab {
    int n, cap;
    char **words; /* by id; ids in the order of adding */
    /* private */
    int *hash;
    int n_hash;
    int longest; /* bytes of the longest word */
};

int pw_vocab_add(struct pw_vocab *v, const char *word); /* id; the same id for the same word */
int pw_vocab_find(const struct pw_vocab *v, const char *word, size_t n); /* -1 if absent */
/* Cuts text into tokens; returns how many, or -1 with a message naming the first piece that is no token (and
 * a few that are), or one saying that there are more than max. With tokens == NULL it only counts. */
int pw_vocab_cut(const struct pw_vocab *v, const char *text, int *tokens, int max, struct pw_err *err);
void pw_vocab_fini(struct pw_vocab *v);

/* ---- a set of tasks: one, or a mixture of equal shares */
struct pw_task_use {
    const struct pw_task *task;
    union {
        struct pw_task_opts common;
        char bytes[PW_TASK_OPTS_MAX];
        double align;
    } o;
    /* made from the options, by split.h */
    double *weights; /* [lengths + 1] of each trained length, then their sum; NULL: all alike */
    bool *shared;    /* [lengths] too few inputs to hold any out; NULL: held=off */
    int *kept;       /* of numbered inputs: [lengths + 1] where each length begins in it, then the numbers
                      * of those held out; NULL: held=off, or they have no numbers */
    struct pw_pool *pool; /* NULL: a stream */
};

struct pw_taskset {
    int n;
    struct pw_task_use use[PW_MAX_TASKS];
    struct pw_vocab vocab;
    int max_tokens; /* of any sample within lengths and test, end mark included */
};

/* Parses "copy(variant=rsc),sort lengths=2..8" as it stands after the command `task`: names with options of
 * their own in parentheses, then options for all that know them (an option that none knows is an error).
 * Words are separated by spaces. *set is filled; on failure it is left empty. */
enum pw_code pw_taskset_init(struct pw_taskset *set, const char *text, struct pw_err *err);
void pw_taskset_fini(struct pw_taskset *set);
/* The canonical command text without the leading "task ", which pw_taskset_init reads back to the same set.
 */
void pw_taskset_print(const struct pw_taskset *set, struct pw_str *out);
/* Do both speak with the same tokens, in the same order? Then weights may be kept. */
bool pw_vocab_same(const struct pw_vocab *a, const struct pw_vocab *b);

struct pw_sample {
    int task;   /* index in the set; -1: free text */
    int length; /* the task's length; -1: unknown */
    struct pw_pair pair;
    int n_prompt; /* tokens before the answer */
    int n;        /* tokens in all, end mark included (pw_taskset_ends) */
    int *tokens;  /* [n], the caller's buffer */
    int cap;      /* its size; pw_taskset_tokens_at is enough for samples of a length */
};

/* Sample number index of a split: TRAIN and VALID draw task, then length from its trained range (dist),
 * TEST takes both from the arguments and goes round the pairs of the length. task and length are ignored
 * except for TEST.
 *
 * With data=N sample i of TRAIN is the i-th that training meets: N in an order of their own make an epoch,
 * and so on; VALID goes round the rest of the set, and TEST takes trained lengths from this rest. In a
 * mixture with such a task each run of n samples has every task once. */
void pw_taskset_sample(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t index,
                       int task, int length, struct pw_sample *out);
/* The same sample as text. */
void pw_taskset_sample_text(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t index,
                            int task, int length, struct pw_str *prompt, struct pw_str *answer);

/* Does an end mark follow the answers of this task (-1: free text; then of any task of the set)? Where none
 * does, an answer is one token. */
bool pw_taskset_ends(const struct pw_taskset *set, int task);

/* Cuts a prompt and its answer as a sample of this task: prompt tokens, answer tokens, end mark. Of *out,
 * n_prompt, n and the tokens are set. max is the most tokens allowed, the buffer's size may lower it; errors
 * as in pw_taskset_prompt. */
enum pw_code pw_taskset_tokens(const struct pw_taskset *set, int task, const char *prompt, const char *answer,
                               int max, struct pw_sample *out, struct pw_err *err);

/* A typed prompt: first as the own text of each task, then as task name and payload. out: prompt tokens, then
 * the right answer with its end mark (n > n_prompt), or nothing where it isn't known (n == n_prompt). Errors
 * name the unknown token or what is allowed; more than max tokens is an error that names both numbers. */
enum pw_code pw_taskset_prompt(const struct pw_taskset *set, const char *text, int max, struct pw_sample *out,
                               struct pw_err *err);

/* Appends a prompt that pw_taskset_prompt reads with these very options, and that has room where the trained
 * lengths have: the task's name and its example payload, else the shortest trained text. On one line. */
void pw_taskset_example(const struct pw_taskset *set, int task, struct pw_str *out);

/* The item of a sample, read back from the tokens of its prompt; false: no task of the set can. */
bool pw_taskset_item(const struct pw_taskset *set, const struct pw_sample *s, struct pw_item *item);
/* Are the texts of this task steps and an answer, of which the answer alone counts? */
bool pw_task_parsed(const struct pw_task_use *use);
/* The texts of an item as the model meets them, with its scratchpad. */
void pw_item_write(const struct pw_task_use *use, const struct pw_item *item, struct pw_str *prompt,
                   struct pw_str *answer);
/* Is what a model said after the prompt of s, n tokens, the right answer? It ends with the end mark, and is
 * the right one token by token; of a task with a scratchpad what stands behind that says the same, whatever
 * stands in it (without its end all of the text is read as the answer, as in the released code). */
bool pw_taskset_right(const struct pw_taskset *set, const struct pw_sample *s, const int *said, int n);

/* Gold pointers: where a head would have to look to know token k of a sample's answer, as ascending positions
 * in s->tokens, all of them in the prompt. Writes them to at ([s->n_prompt]) and returns how many. What they
 * are: copy and reverse, the source; of a replaced symbol, the replacement and the place it is counted from;
 * sort, the tokens of equal symbols (of equal numbers: the same digit of them); addition, the digits of the
 * column, of a leading carry those of the column below; summation, parity and polynomial, all operands with
 * their signs; LEGO, variable, sign and source of every clause on the chain to the one asked for; session,
 * the items that decide; scan, the word that an action stands for; pcfg, the symbol that is copied. Filler
 * words, separators and the end mark have none, nor have scratchpads, free text and task file. */
int pw_taskset_pointers(const struct pw_taskset *set, const struct pw_sample *s, int k, int *at);

/* Tokens of the longest sample of a task at a length, end mark included. */
int pw_taskset_tokens_at(const struct pw_taskset *set, int task, int length);

/* The pairs of a length; 0 where a length is one number. out: PW_MAX_PAIRS, or NULL. */
int pw_task_pairs_at(const struct pw_task_use *use, int length, struct pw_pair *out);
struct pw_pair pw_item_pair(const struct pw_task_use *use, const struct pw_item *item);
/* Does training meet this pair ({length, 0} where a length is one number)? For tests. */
bool pw_task_trains(const struct pw_task_use *use, struct pw_pair pair);
/* How many different inputs there are at a length. */
double pw_task_inputs(const struct pw_task_use *use, int length);
/* Is this input kept from training? */
bool pw_task_holds_out(const struct pw_task_use *use, const struct pw_item *item);

/* ---- every.c: all inputs of the trained and the tested lengths, each once, in the order of the source */
struct pw_every {
    const struct pw_task_use *use;
    int length, pair; /* at hand; of the pairs of the length */
    uint64_t k;       /* the next one's number there */
};
/* How many there are; INFINITY: too many to count. -1: the task can't list them. */
double pw_every_count(const struct pw_task_use *use);
void pw_every_begin(struct pw_every *e, const struct pw_task_use *use);
bool pw_every_next(struct pw_every *e, struct pw_item *item); /* false: there are no more */

/* Does an evaluation at this length meet inputs again that training has met, because there are so few? */
bool pw_task_seen(const struct pw_task_use *use, int length);
/* Samples of a fixed set in TRAIN or VALID, and of numbered inputs in TEST; 0: any number. */
int pw_task_data(const struct pw_task_use *use, enum pw_split split);
/* Different samples that TEST has at a length, at most `most`. */
int pw_task_samples_at(const struct pw_task_use *use, int length, int most);

/* Trained and tested ranges of one task of the set, defaults resolved. */
struct pw_range pw_task_train(const struct pw_task_use *use);
struct pw_range pw_task_test(const struct pw_task_use *use);
/* The part that a trained length has in training, 0..1. */
double pw_task_share(const struct pw_task_use *use, int length);
/* Are there samples of this length? Where there are none, pw_taskset_sample takes a length nearby. */
bool pw_task_has(const struct pw_task_use *use, int length);

/* A symbol by number: "0".."9", "a".."z", "A".."Z"; and back, -1 if it is none. */
const char *pw_symbol(int i);
int pw_symbol_index(const char *s, size_t n);

#endif
