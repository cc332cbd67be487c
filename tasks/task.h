/* task.h - sequence tasks: text in, text out, and a vocabulary in between.
 *
 * A task is a descriptor (tasks/NAME.c, one line in tasks/tasks.c). It draws an item, that is the content of
 * a sample: a short array of integers with a meaning of the task's own. It writes an item as a prompt text
 * and an answer text in the chosen style, reads typed text back into an item, and solves it. Vocabulary,
 * tokens, loss positions, mixtures and splits are common to all tasks (taskset.c).
 *
 * Tokens. A token is a string with its leading space if it has one ("sort", " 3", ",", " [SEP]", as in
 * SentencePiece). A text is the concatenation of its tokens, so the text on screen is exact to the character.
 * Text is cut greedily, longest token first. A token belongs to the answer if it ends after the end of the
 * prompt's text. Token 0 is the padding "<pad>" and token 1 the end mark "</s>"; neither can be typed.
 *
 * Running text (text.c) is the exception: its tokens are bytes, characters or the pieces of a tokenizer, and
 * words are their labels for the screen ("·" for a space). pw_vocab_put gives the text itself. A sample is a
 * window of the text without an end mark; its first token is the prompt, and every other token is predicted.
 *
 * Samples are never stored: sample i of a split is a function of (seed, split, i) (base/rng.h).
 *
 * A length is one number, the x axis of curves. It can come from a pair: the digits of both numbers, or the
 * variables and the index of the one asked for. Every sample then also has its pair, and evaluation rotates
 * through the pairs of a length.
 *
 * Thread: descriptors and an initialised set are read-only, for any thread. Failures are PW_EUSER with one
 * line of message, or PW_ENOMEM. */
#ifndef PW_TASK_H
#define PW_TASK_H
#include "base/err.h"
#include "base/opt.h"
#include "base/rng.h"
#include "base/text.h"
#include "tokens/tokens.h"
#include <stdbool.h>
#include <stdint.h>

#define PW_MAX_SYMBOLS  62  /* 0-9, a-z, A-Z in this order */
#define PW_MAX_ITEM     512 /* integers of an item */
#define PW_MAX_TASKS    8   /* of a mixture */
#define PW_MAX_PAIRS    256 /* of a length */
#define PW_MAX_DATA     10000000
#define PW_PAD          0
#define PW_EOS          1
#define PW_SCRATCH_NAME 16 /* bytes of the option scratchpad */
#define PW_SCRATCH_ON   32 /* added to the bits of enum pw_part */

/* The style of a task's texts. SHORT: a constant first word and one token per symbol. PAPER: the sentences of
 * the released code of Kazemnejad et al. 2023, exact to the character. APPENDIX: the sentences of the paper's
 * appendix D.1, which differ. */
enum pw_text_style { PW_TEXT_SHORT, PW_TEXT_PAPER, PW_TEXT_APPENDIX };

/* Rule for drawing items if the paper's appendix differs from its released code; each task
 * describes the difference. */
enum pw_sampling { PW_SAMPLING_CODE, PW_SAMPLING_APPENDIX };

/* Options that every task has. A task's own options follow in a struct that begins with this one. */
struct pw_task_opts {
    struct pw_range lengths; /* trained lengths */
    struct pw_range test;    /* lengths evaluated beyond; hi = 0: lengths.hi+1 to twice lengths.hi */
    int alphabet;            /* symbols in use */
    int text;                /* enum pw_text_style */
    /* Distribution of trained lengths. "uniform": all equal. "geometric": each half as often as the one
     * before; the last as often as the one before, so that shares sum to one. "pairs": by the number of
     * pairs. "natural": as in the task's source. Otherwise a file of lines "length weight". */
    char dist[256];
    int data;  /* samples of a fixed training set (pool.c); 0: an endless stream */
    bool held; /* some inputs are kept from training (held.c) */
    /* Steps between prompt and answer (scratchpad.h), in tasks that have them: "off", "full", ... */
    char scratchpad[PW_SCRATCH_NAME];
    int parts; /* derived: 0 without scratchpad, otherwise PW_SCRATCH_ON and the parts of a step */
};

/* The splits of samples. */
enum pw_split { PW_SPLIT_TRAIN, PW_SPLIT_VALID, PW_SPLIT_TEST };

struct pw_vocab;
struct pw_scratch_task; /* scratchpad.h */
struct pw_scratch;

/* The pair that a length comes from. */
struct pw_pair {
    int a, b; /* {length, 0} if a length is one number */
};

/* The content of a sample; its integers have a meaning of the task's own. */
struct pw_item {
    int length; /* the item's length in the task's unit */
    int n;      /* integers in use */
    int v[PW_MAX_ITEM];
};

/* The spelling of a sample without its scratchpad, for a task's hooks. Token i is words[tokens[i]], with its
 * leading blank. */
struct pw_spelling {
    char *const *words; /* of the vocabulary */
    const int *tokens;
    int n_prompt, n;
};

/* Hooks of a task with pairs. */
struct pw_task_pairs {
    const char *a, *b; /* the quantities, as headings of columns */
    /* Lists the pairs of a length in the order of evaluation and returns their number. */
    int (*at)(const void *opts, int length, struct pw_pair *out);
    /* draw makes an item of a pair; of returns the pair of an item. */
    void (*draw)(const void *opts, struct pw_rng *rng, struct pw_pair pair, struct pw_item *item);
    struct pw_pair (*of)(const struct pw_item *item);
    /* A draw for one pair serves all pairs of the length. A fixed set then has each draw in all of them
     * (LEGO: a chain, asked for every variable). */
    bool together;
};

/* An option that other tasks have, and the reason why this task has not. */
struct pw_refusal {
    const char *option, *why;
};

/* The descriptor of a task. Constant. */
struct pw_task {
    const char *name, *summary, *source; /* source: origin of the text and the sampling */
    const struct pw_opt *opts;           /* its own, beside the common ones (options.c); NULL: none */
    size_t opts_size;                    /* size of a struct that begins with struct pw_task_opts */
    struct pw_range length_limits;       /* possible lengths */
    const char *lengths, *unit; /* default of lengths=, and its unit; NULL: opts alone defines lengths */
    const struct pw_task_pairs *pairs; /* NULL: a length is one number */
    /* Returns the number of different inputs of a length, or of a pair; INFINITY if it cannot be small. */
    double (*inputs)(const void *opts, struct pw_pair at);
    /* Returns true if these options have samples of a length; NULL: of every length within the limits. */
    bool (*has)(const void *opts, int length);
    /* Every longer sample is tested, not only up to twice the trained length. Lengths can have gaps; longest
     * then takes a shorter one. */
    bool to_the_end;
    /* Returns the relative frequency of a length in the task's source. If it is set, dist=natural exists and
     * is the default; NULL: frequencies are unknown. */
    double (*weight)(const void *opts, int length);
    bool held; /* default of held= */
    /* Further checks between options; NULL: none. */
    enum pw_code (*check)(const void *opts, struct pw_err *err);
    /* Adds every token that items with these options can have, by pw_vocab_add. */
    void (*words)(const void *opts, struct pw_vocab *v);
    /* Draws an item of a length. */
    void (*draw)(const void *opts, struct pw_rng *rng, int length, struct pw_item *item);
    /* For numbered inputs: input k of a length, 0 <= k < inputs. Evaluation uses each input once. */
    void (*nth)(const void *opts, int length, int k, struct pw_item *item);
    /* Every input, each once (every.c). list: input k of a length or pair, 0 <= k < inputs. every: for a
     * source with its own order over all lengths, input k of all; false beyond the last. Both NULL: inputs
     * cannot be listed. */
    void (*list)(const void *opts, struct pw_pair at, uint64_t k, struct pw_item *item);
    bool (*every)(const void *opts, uint64_t k, struct pw_item *item);
    /* The item with the most tokens at a length; NULL: the length alone decides. */
    void (*longest)(const void *opts, int length, struct pw_item *item);
    /* If no such item is known: an upper bound on the tokens at a length, without an end mark. */
    int (*most_tokens)(const void *opts, int length);
    /* Appends the texts of an item. prompt ends where the model begins to answer (with the trailing space of
     * the paper's texts). */
    void (*write)(const void *opts, const struct pw_item *item, struct pw_str *prompt, struct pw_str *answer);
    /* Reads the text that a user typed after the task's name: symbols for copy and sort, clauses for LEGO. */
    enum pw_code (*payload)(const void *opts, const char *text, struct pw_item *item, struct pw_err *err);
    /* Reads the task's own prompt text, with or without the separator at its end; PW_EUSER for other text. */
    enum pw_code (*read)(const void *opts, const char *text, struct pw_item *item, struct pw_err *err);
    const char *example;                   /* a payload for the default options, for help: "3 1 4 1 5" */
    const struct pw_scratch_task *scratch; /* its scratchpads; NULL: none */
    double (*chance)(const void *opts, int length); /* exact match of guessing in the right format; NULL: 0 */
    /* The answer is one token without an end mark, so the model reads the prompt alone. */
    bool one_token;
    /* A prompt can have the token that ends it earlier, too, so that token is not of class
     * PW_TOKEN_LAST. */
    bool last_recurs;
    /* For running text, NULL otherwise. Such a task is alone in its set, and has neither payload nor read.
     * window writes the tokens of an item to tokens [length + 1], and returns their number. cut writes the
     * first max tokens of a typed prompt, which can be longer than any sample, and returns the number of all
     * of them; -1: it is no prompt. */
    int (*window)(const void *opts, const struct pw_item *item, int *tokens);
    int (*cut)(const void *opts, const char *text, int *tokens, int max, struct pw_err *err);
    /* Returns true if an evaluation over a range looks at this length; it always does at both ends of the
     * range. NULL: every length. */
    bool (*looks_at)(const void *opts, int length);
    /* Returns true if words lists all tokens by id, so that no padding and no end mark are added; NULL:
     * false. */
    bool (*own_ids)(const void *opts);
    /* Appends a prompt to type. */
    void (*suggest)(const void *opts, struct pw_str *out);
    /* Its styles of text=, a prefix of enum pw_text_style; NULL: all of them. */
    const char *const *texts;
    const struct pw_refusal *refused; /* terminated by NULL names; NULL: none */
    /* See pw_taskset_pointers; NULL: no gold pointers. Not called for the end mark. */
    int (*pointers)(const void *opts, const struct pw_item *item, const struct pw_spelling *text, int k,
                    int *at);

    /* For given samples (file.c); NULL otherwise. open loads the data that the options name into the options'
     * struct and can narrow lengths; close frees it. pick replaces draw and the draw of the length; its
     * argument length counts for PW_SPLIT_TEST only. */
    enum pw_code (*open)(void *opts, struct pw_err *err);
    void (*close)(void *opts);
    void (*tell)(const void *opts, struct pw_str *out); /* appends text for the user about the loaded data */
    void (*pick)(const void *opts, struct pw_rng *rng, enum pw_split split, int length, struct pw_item *item);
    bool (*holds_out)(const void *opts, const struct pw_item *item); /* true: kept from training */
    double (*share)(const void *opts, int length); /* share of this length among the trained ones */
};

#define PW_TASK_OPTS_MAX 1536

extern const struct pw_task *const pw_tasks[]; /* NULL-terminated; tasks.c */
/* Returns the task of a name, or NULL. */
const struct pw_task *pw_task_find(const char *name);
/* Returns all options of a task of pw_tasks, the common ones first. Any thread. */
const struct pw_opt *pw_task_options(const struct pw_task *task);

/* ---- vocabulary: words to ids and back */
enum pw_pieces { PW_PIECES_WORDS, PW_PIECES_BYTES, PW_PIECES_CHARS, PW_PIECES_TOKENS };

/* {0} is an empty vocabulary; pw_vocab_fini frees its memory. */
struct pw_vocab {
    int n, cap;
    char **words;          /* by id; ids in the order of adding */
    enum pw_pieces pieces; /* how text is cut; unless WORDS, words are labels */
    bool plain;            /* ids are those of another program: there is no padding and no end mark */
    /* private */
    const struct pw_tokens *tokenizer; /* TOKENS: tokens are its ids; borrowed */
    uint32_t *chars;                   /* CHARS: the code point of token PW_PIECE + i, ascending */
    int *hash;
    int n_hash;
    int longest;   /* bytes of the longest word */
    char **blocks; /* [n_blocks] the memory of the words */
    int n_blocks;
    size_t block, used; /* bytes of the last one */
};

int pw_vocab_add(struct pw_vocab *v, const char *word); /* returns the id; the same id for the same word */
int pw_vocab_find(const struct pw_vocab *v, const char *word, size_t n); /* -1: not in the vocabulary */
/* Is this token the end mark? */
bool pw_vocab_ends(const struct pw_vocab *v, int token);
/* Cuts text into tokens and returns their number; with tokens == NULL it only counts. Returns -1 with a
 * message if a piece is no token (the message also shows a few tokens) or if there are more than max. */
int pw_vocab_cut(const struct pw_vocab *v, const char *text, int *tokens, int max, struct pw_err *err);
void pw_vocab_fini(struct pw_vocab *v);

/* ---- pieces.c: tokens of running text */
#define PW_PIECE 2 /* the first byte or character, behind padding and end mark */
/* Adds a token for each byte, or for each of n characters, in ascending order, to a vocabulary that has
 * padding and end mark, and nothing else. pw_vocab_add_tokens adds a token for each id of a tokenizer to an
 * empty plain vocabulary, and then unused ones up to n in all; the tokenizer must outlive the vocabulary. */
void pw_vocab_add_bytes(struct pw_vocab *v);
void pw_vocab_add_chars(struct pw_vocab *v, const uint32_t *chars, int n);
void pw_vocab_add_tokens(struct pw_vocab *v, const struct pw_tokens *tokenizer, int n);
/* Appends the text of a token: its word, or what its label stands for. */
void pw_vocab_put(const struct pw_vocab *v, int token, struct pw_str *out);
/* Returns the bytes of a token's text. */
size_t pw_vocab_bytes(const struct pw_vocab *v, int token);
/* Cuts n bytes of text of a vocabulary of pieces; writes the first max tokens and returns the number of all.
 * Returns -1 with a message if a character is no token, or the text can't be encoded. */
int pw_vocab_cut_pieces(const struct pw_vocab *v, const char *text, size_t n, int *tokens, int max,
                        struct pw_err *err);

/* ---- a set of tasks: one, or a mixture of equal shares */
struct pw_task_use {
    const struct pw_task *task;
    union {
        struct pw_task_opts common;
        char bytes[PW_TASK_OPTS_MAX];
        double align;
    } o;
    /* derived from the options by split.h */
    double *weights; /* [lengths + 1] weight of each trained length, then the sum; NULL: all equal */
    bool *shared;    /* [lengths] true: too few inputs to hold any out; NULL: held=off */
    /* For numbered inputs: [lengths + 1] offsets of each length into this array, then the numbers of held-out
     * inputs. NULL: held=off, or inputs have no numbers. */
    int *kept;
    struct pw_data_pool *pool; /* NULL: an endless stream */
};

/* A set of tasks. It owns its memory; pw_taskset_fini frees it. */
struct pw_taskset {
    int n;
    struct pw_task_use use[PW_MAX_TASKS];
    struct pw_vocab vocab;
    int max_tokens; /* of any sample within lengths and test, end mark included */
};

/* Parses the text after the command `task`, such as "copy(variant=rsc),sort lengths=2..8". Names come
 * first, with their own options in parentheses; then follow options for every task that has them. An
 * option that no task has is an error. Words are separated by spaces. pw_taskset_fini frees the set;
 * on failure *set is empty. */
enum pw_code pw_taskset_init(struct pw_taskset *set, const char *text, struct pw_err *err);
void pw_taskset_fini(struct pw_taskset *set);
/* Appends the canonical command text without the leading "task "; pw_taskset_init
 * reads it back to the same set. */
void pw_taskset_print(const struct pw_taskset *set, struct pw_str *out);
/* Classes of tokens. A separator has neither letters nor digits; a symbol is a letter of pw_symbol; LAST is
 * the last token of every prompt of a task. */
enum pw_token_class {
    PW_TOKEN_WORD,
    PW_TOKEN_DIGIT,
    PW_TOKEN_SEPARATOR,
    PW_TOKEN_SYMBOL,
    PW_TOKEN_LAST,
};
/* Writes the class of each token, [vocab.n]. No token is LAST if the prompts of a task end differently, or
 * have their last token in other places, too. */
void pw_taskset_classes(const struct pw_taskset *set, unsigned char *classes);
/* Returns true if both have the same tokens in the same order; weights can then be kept. */
bool pw_vocab_same(const struct pw_vocab *a, const struct pw_vocab *b);

/* A sample as tokens. */
struct pw_sample {
    int task;   /* index in the set; -1: free text */
    int length; /* in the task's unit; -1: unknown */
    struct pw_pair pair;
    int n_prompt; /* tokens before the answer */
    int n;        /* all tokens, end mark included (pw_taskset_ends) */
    int *tokens;  /* [n], the caller's buffer */
    int cap;      /* size of tokens; pw_taskset_tokens_at suffices for samples of a length */
};

/* Writes sample number index of a split. TRAIN and VALID draw the task, then the length from its trained
 * range (dist). TEST takes both from the arguments and rotates through the pairs of the length; the other
 * splits ignore task and length.
 *
 * With data=N, TRAIN runs through the N samples in epochs, each in an order of its own. VALID cycles through
 * the rest of the set, and TEST takes trained lengths from this rest. In a mixture with such a task each run
 * of n samples has every task once. */
void pw_taskset_sample(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t index,
                       int task, int length, struct pw_sample *out);
/* Appends the same sample as text. */
void pw_taskset_sample_text(const struct pw_taskset *set, uint64_t seed, enum pw_split split, uint64_t index,
                            int task, int length, struct pw_str *prompt, struct pw_str *answer);

/* Returns true if answers of this task have an end mark (-1: free text; then true if any task of the set has
 * one). Without an end mark an answer is one token, running text, or has as many tokens as the right one (in
 * the tokens of another program). */
bool pw_taskset_ends(const struct pw_taskset *set, int task);
/* Returns true if an answer is one token, so that the model reads the prompt alone (-1: if no task has
 * others). */
bool pw_taskset_single(const struct pw_taskset *set, int task);
/* Returns true if the set is running text: no answers are right or wrong, and the loss is what counts. */
bool pw_taskset_runs(const struct pw_taskset *set);

/* Cuts a prompt and its answer into prompt tokens, answer tokens and end mark. Sets n_prompt, n and the
 * tokens of *out. max limits the tokens; the buffer's size can lower it. Errors as in pw_taskset_prompt. */
enum pw_code pw_taskset_tokens(const struct pw_taskset *set, int task, const char *prompt, const char *answer,
                               int max, struct pw_sample *out, struct pw_err *err);

/* Reads a typed prompt: first as the own text of each task, then as task name and payload. out gets
 * the prompt tokens, then the correct answer with its end mark (n > n_prompt); if the answer is
 * unknown, n == n_prompt. Errors name the unknown token or the allowed text; more than max tokens is
 * an error with both numbers. */
enum pw_code pw_taskset_prompt(const struct pw_taskset *set, const char *text, int max, struct pw_sample *out,
                               struct pw_err *err);

/* Appends a prompt that pw_taskset_prompt reads with these options, and that is no longer than trained
 * lengths. It is the task's name and example payload, otherwise the shortest trained text. One line. */
void pw_taskset_example(const struct pw_taskset *set, int task, struct pw_str *out);

/* Reads the item of a sample back from its prompt tokens; false: no task of the set can read it, or it is
 * running text. */
bool pw_taskset_item(const struct pw_taskset *set, const struct pw_sample *s, struct pw_item *item);
/* Returns true if the task's texts have steps and an answer, and only the answer is graded. */
bool pw_task_parsed(const struct pw_task_use *use);
/* Appends the texts of an item as the model reads them, with its scratchpad. */
void pw_item_write(const struct pw_task_use *use, const struct pw_item *item, struct pw_str *prompt,
                   struct pw_str *answer);
/* Returns true if the n tokens in said, which a model produced after the prompt of s, are correct. The answer
 * must end with the end mark and match token by token. With a scratchpad, the text behind it must have the
 * answer's meaning; the steps do not count. If the scratchpad does not end, the whole text is read as the
 * answer, as in the released code of Kazemnejad et al. 2023. */
bool pw_taskset_right(const struct pw_taskset *set, const struct pw_sample *s, const int *said, int n);

/* Gold pointers: the positions in s->tokens that a correct head attends to for token k of a sample's answer.
 * They are ascending and lie in the prompt. Writes them to at [s->n_prompt] and returns their number.
 *
 * copy and reverse: the source symbol; for a replaced symbol, the replacement and the position it is counted
 * from. sort: the tokens of equal symbols (of equal numbers: the same digit). addition: the digits of the
 * column; for a leading carry, those of the column below. summation, parity, polynomial: all operands with
 * their signs. LEGO: variable, sign and source of every clause on the chain to the variable asked for.
 * session: the deciding items. scan: the word that determines the action. pcfg: the copied symbol. Filler
 * words, separators, the end mark, scratchpads, free text and task file have none. */
int pw_taskset_pointers(const struct pw_taskset *set, const struct pw_sample *s, int k, int *at);

/* Returns the tokens of the longest sample of a task at a length, end mark included. */
int pw_taskset_tokens_at(const struct pw_taskset *set, int task, int length);

/* Writes the pairs of a length to out [PW_MAX_PAIRS] (NULL: only counts) and returns their number; 0 if a
 * length is one number. */
int pw_task_pairs_at(const struct pw_task_use *use, int length, struct pw_pair *out);
/* Returns the pair of an item; {length, 0} if a length is one number. */
struct pw_pair pw_item_pair(const struct pw_task_use *use, const struct pw_item *item);
/* Returns true if training draws this pair ({length, 0} if a length is one number). For tests. */
bool pw_task_trains(const struct pw_task_use *use, struct pw_pair pair);
/* Returns the number of different inputs of a length. */
double pw_task_inputs(const struct pw_task_use *use, int length);
/* Returns true if this input is kept from training. */
bool pw_task_holds_out(const struct pw_task_use *use, const struct pw_item *item);

/* ---- every.c: all inputs of the trained and the tested lengths, each once, in the order of the source */
struct pw_every {
    const struct pw_task_use *use;
    int length, pair; /* the current length; the index of its current pair */
    uint64_t k;       /* number of the next input there */
};
/* Returns the number of inputs; INFINITY: too many to count; -1: the task cannot list them. */
double pw_every_count(const struct pw_task_use *use);
/* Starts an enumeration; pw_every_next writes the next item. */
void pw_every_begin(struct pw_every *e, const struct pw_task_use *use);
bool pw_every_next(struct pw_every *e, struct pw_item *item); /* false: no more inputs */

/* Returns true if an evaluation at this length repeats inputs seen in training, because there are few. */
bool pw_task_seen(const struct pw_task_use *use, int length);
/* Returns the number of samples of a fixed set in TRAIN or VALID, or of numbered
 * inputs in TEST; 0: unlimited. */
int pw_task_data(const struct pw_task_use *use, enum pw_split split);
/* Returns the number of different samples of TEST at a length, at most `most`. */
int pw_task_samples_at(const struct pw_task_use *use, int length, int most);

/* The trained and the tested range of one task of the set, defaults resolved. */
struct pw_range pw_task_train(const struct pw_task_use *use);
struct pw_range pw_task_test(const struct pw_task_use *use);
/* Returns the share of a length in training, 0..1. */
double pw_task_share(const struct pw_task_use *use, int length);
/* Returns true if an evaluation of a range of lengths includes this one. */
bool pw_task_looks_at(const struct pw_task_use *use, struct pw_range range, int length);
/* Returns true if samples of this length exist; otherwise pw_taskset_sample uses a length nearby. */
bool pw_task_has(const struct pw_task_use *use, int length);

/* The symbol of a number: "0".."9", "a".."z", "A".."Z"; and the number of a symbol, -1 if it is none. */
const char *pw_symbol(int i);
int pw_symbol_index(const char *s, size_t n);

#endif
