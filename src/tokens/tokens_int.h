/* tokens_int.h - the inside of a tokenizer: its tables, its chains of steps, and the state of one encoding.
 */
#ifndef PW_TOKENS_INT_H
#define PW_TOKENS_INT_H
#include <cjson/cJSON.h>
#include <stdint.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "tokens/tokens.h"

#define PW_TOK_STEPS  32   /* of a chain */
#define PW_TOK_DEPTH  8    /* of nested sequences */
#define PW_TOK_ADDED  4096 /* bytes of an added token */
#define PW_TOK_BEFORE 8    /* tokens before a text */

/* One step of a normaliser, a pre-tokenizer or a decoder. Composite types of the file are several steps. */
enum pw_tok_kind {
    PW_TOK_FORM,     /* a normal form: options of utf8proc */
    PW_TOK_LOWER,    /* small letters */
    PW_TOK_PREPEND,  /* text before a text that is not empty */
    PW_TOK_REPLACE,  /* every match by text */
    PW_TOK_TRIM,     /* white space at the left, at the right */
    PW_TOK_SPLIT,    /* cut at matches */
    PW_TOK_LEAD,     /* text before a word that does not begin with it; first: only at the text's beginning */
    PW_TOK_MAP,      /* bytes to the characters of GPT-2 */
    PW_TOK_UNMAP,    /* decoder: those characters to bytes */
    PW_TOK_FALLBACK, /* decoder: pieces <0xNN> to bytes */
    PW_TOK_FUSE,     /* decoder: all pieces to one */
    PW_TOK_CUT,      /* decoder: up to left and right times `text` at the ends of each piece */
    PW_TOK_SPACES,   /* decoder: `text` to spaces; first: removed in the first piece */
};

/* The fate of a match at which text is cut. */
enum pw_tok_behavior {
    PW_TOK_REMOVED,
    PW_TOK_ISOLATED,
    PW_TOK_PREVIOUS,
    PW_TOK_NEXT,
    PW_TOK_CONTIGUOUS,
};

struct pw_tok_step {
    enum pw_tok_kind kind;
    pcre2_code *code; /* of REPLACE and SPLIT; owned */
    char *text;       /* owned */
    size_t n;         /* bytes of text */
    enum pw_tok_behavior behavior;
    bool invert, first;
    int form, left, right;
};

struct pw_tok_chain {
    struct pw_tok_step list[PW_TOK_STEPS];
    int n;
};

/* A token that is cut out of the text before everything else. */
struct pw_tok_added {
    int id;
    bool single_word, lstrip, rstrip, normalized;
};

/* A tree of bytes, for the longest added token at a place. Node 0 is the root; 0 is also "none". */
struct pw_tok_node {
    int child, sibling; /* the first child; the next node with the same parent */
    int added;          /* index of the added token that ends here, or -1 */
    unsigned char byte;
};

struct pw_tok_tree {
    struct pw_tok_node *nodes;
    int n, cap;
    bool starts[256]; /* bytes with which a token begins */
};

/* Two ids that become one. A merge of lower rank comes first. rank: the index of the first merge of the same
 * rank, which has the same id. */
struct pw_tok_merge {
    int left, right, id, rank;
};

/* A buffer of bytes whose size a user's text decides. */
struct pw_tok_buf {
    char *s;
    size_t n, cap;
};
/* Makes room for n more bytes; false: no memory. */
bool pw_tok_room(struct pw_tok_buf *b, size_t n);
bool pw_tok_put(struct pw_tok_buf *b, const char *s, size_t n);

struct pw_tokens {
    int n, n_vocab;         /* ids, and pieces of the vocabulary without added tokens */
    struct pw_tok_buf text; /* pieces and spoken texts, each with a NUL, behind an empty text */
    uint32_t *pieces;       /* [n] offsets in text; 0: none */
    uint32_t *spoken; /* [n] the same of what the decoder reads instead; 0: the piece; NULL: all are 0 */
    struct pw_tok_buf bytes; /* what the ids stand for, each with a NUL */
    uint32_t *bytes_at;      /* [n+1] offsets in bytes: where an id begins, and the end */
    bool *special;           /* [n] */
    bool *in_vocab;          /* [n] false: only an added token, which no word becomes */
    int *slots;              /* hash of pieces: id + 1; 0 is empty */
    uint32_t n_slots;        /* a power of two */
    struct pw_tok_merge *merges;
    int n_merges;
    float *scores;   /* [n] owned: the merges follow from them; NaN: none with this piece; NULL: no scores */
    int *pair_slots; /* hash of (left, right): index + 1 */
    uint32_t n_pair_slots;
    int fallback[256]; /* ids of <0xNN>, or -1 */
    int unk;           /* or -1 */
    bool fuse_unk, byte_fallback, ignore_merges;
    struct pw_tok_chain normal, pre, decoder;
    struct pw_tok_added *added;
    int n_added;
    struct pw_tok_tree raw, normed; /* tokens found before and behind the normaliser */
    pcre2_code *word;               /* a character of a word, for single_word */
    int before[PW_TOK_BEFORE], n_before;
};

/* The state of one encoding or decoding. */
struct pw_tok_run {
    const struct pw_tokens *t;
    struct pw_token_list *list;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    struct pw_tok_buf text[2];             /* the normalised text, and the one before */
    struct pw_tok_buf level[PW_TOK_STEPS]; /* the text that a step of the pre-tokenizer makes */
    struct pw_tok_symbol *symbols;         /* of a word */
    uint64_t *heap;
    size_t n_symbols, n_heap, cap_symbols, cap_heap;
    struct pw_err *err;
};
enum pw_code pw_tok_begin(struct pw_tok_run *r, const struct pw_tokens *t, struct pw_err *err);
void pw_tok_end(struct pw_tok_run *r);
enum pw_code pw_tok_no_memory(struct pw_err *err);

/* ---- regex.c. A pattern of Oniguruma, the syntax of the files; a literal; or PCRE2's own syntax. */
enum pw_tok_syntax { PW_TOK_ONIG, PW_TOK_LITERAL, PW_TOK_PCRE };
enum pw_code pw_tok_compile(pcre2_code **code, const char *pattern, enum pw_tok_syntax syntax,
                            struct pw_err *err);
/* Walks over the matches in n bytes of valid UTF-8. {.code, .s, .n} begins. */
struct pw_tok_find {
    const pcre2_code *code;
    const char *s;
    size_t n, at, start, end; /* of the match */
    bool any;
};
enum pw_code pw_tok_find_next(struct pw_tok_run *r, struct pw_tok_find *f, bool *found);

/* ---- steps.c: the chains of a file */
enum pw_code pw_tok_read_normalizer(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err);
enum pw_code pw_tok_read_pre(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err);
enum pw_code pw_tok_read_decoder(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err);
void pw_tok_chain_fini(struct pw_tok_chain *c);

/* ---- members.c: members of an object. `at` names the object in messages. */
enum pw_code pw_tok_json_bool(const cJSON *o, const char *at, const char *key, bool otherwise, bool *out,
                              struct pw_err *err);
/* *out is NULL if the member is missing or null, unless it is needed. */
enum pw_code pw_tok_json_text(const cJSON *o, const char *at, const char *key, bool needed, const char **out,
                              struct pw_err *err);
enum pw_code pw_tok_json_int(const cJSON *o, const char *at, const char *key, int most, int *out,
                             struct pw_err *err);
/* Reads a number from 0 to most. */
bool pw_tok_json_whole(const cJSON *number, int most, int *out);
/* Returns a member that is neither missing nor null, or NULL. */
const cJSON *pw_tok_json_get(const cJSON *o, const char *key);

/* ---- texts.c: the texts of ids. Pointers to them are valid until the next text is kept. */
/* Makes room for the offsets of n ids. */
enum pw_code pw_tok_init_texts(struct pw_tokens *t, struct pw_err *err);
void pw_tok_fini_texts(struct pw_tokens *t);
enum pw_code pw_tok_keep_piece(struct pw_tokens *t, int id, const char *piece, size_t n, struct pw_err *err);
enum pw_code pw_tok_keep_spoken(struct pw_tokens *t, int id, const char *s, size_t n, struct pw_err *err);
/* For each id in ascending order, also for one without a piece. */
enum pw_code pw_tok_keep_bytes(struct pw_tokens *t, int id, const char *s, size_t n, struct pw_err *err);
/* Returns the memory that was kept for more texts. */
void pw_tok_shrink_texts(struct pw_tokens *t);
/* Returns what the decoder reads; NULL: no piece. */
const char *pw_tok_spoken(const struct pw_tokens *t, int id);

/* ---- model.c: pieces and merges */
enum pw_code pw_tok_read_model(struct pw_tokens *t, const cJSON *model, struct pw_err *err);
/* Gives an id its piece. Fails if the id or the piece is taken otherwise; the same again is no failure. */
enum pw_code pw_tok_add_piece(struct pw_tokens *t, int id, const char *piece, const char *at,
                              struct pw_err *err);
int pw_tok_find_piece(const struct pw_tokens *t, const char *piece, size_t n);
/* Finds a piece that is in the vocabulary, not only among the added tokens. */
int pw_tok_find_vocab(const struct pw_tokens *t, const char *piece, size_t n);
/* Hashes the pairs of all merges; of equal ones the last counts. */
void pw_tok_hash_pairs(struct pw_tokens *t);
/* Returns the rank of the merge of two ids, or -1. */
int pw_tok_find_merge(const struct pw_tokens *t, int left, int right);

/* ---- scores.c: fills merges from pieces and scores */
enum pw_code pw_tok_score_merges(struct pw_tokens *t, struct pw_err *err);

/* ---- open.c: builds the tokenizer from an object, and from scores [pieces], which it then owns; NULL: none.
 */
enum pw_code pw_tok_build(struct pw_tokens **t, const cJSON *root, float *scores, const char *name,
                          struct pw_err *err);

/* ---- gguf.c: builds the object of a tokenizer.json from n bytes of a GGUF file; the caller deletes it.
 * *scores [pieces] belongs to the caller; NULL: the object has merges. Messages begin with the file's name.
 */
enum pw_code pw_tok_gguf_object(cJSON **root, float **scores, const char *bytes, size_t n, const char *name,
                                struct pw_err *err);
struct pw_gguf; /* base/gguf.h */
/* The same with an open header, which it closes in any case. */
enum pw_code pw_tok_gguf_build(cJSON **root, float **scores, struct pw_gguf *g, const char *name,
                               struct pw_err *err);

/* ---- added.c */
enum pw_code pw_tok_read_added(struct pw_tokens *t, const cJSON *list, struct pw_err *err);
/* Builds the trees, when pieces and normaliser are known. */
enum pw_code pw_tok_plant(struct pw_tokens *t, struct pw_err *err);
/* Cuts n bytes at added tokens: calls `rest` for text between them, and appends the ids of the others. first:
 * the text's beginning. */
typedef enum pw_code pw_tok_rest(struct pw_tok_run *r, const char *s, size_t n, bool first);
enum pw_code pw_tok_cut_added(struct pw_tok_run *r, const struct pw_tok_tree *tree, const char *s, size_t n,
                              bool first, pw_tok_rest *rest);

/* ---- normal.c: applies a normaliser to n bytes; the result lies in r->text[0]. */
enum pw_code pw_tok_normalise(struct pw_tok_run *r, const char *s, size_t n);
/* Appends the n bytes at s with every match of the step's pattern replaced. */
enum pw_code pw_tok_replace(struct pw_tok_run *r, const struct pw_tok_step *step, const char *s, size_t n,
                            struct pw_tok_buf *out);
bool pw_tok_is_space(uint32_t cp);

/* ---- words.c: cuts text into words by the steps from k on, and encodes each */
enum pw_code pw_tok_words(struct pw_tok_run *r, int k, const char *s, size_t n, bool first);

/* ---- merge.c: appends the ids of a word */
enum pw_code pw_tok_merge_word(struct pw_tok_run *r, const char *s, size_t n);
enum pw_code pw_tok_append(struct pw_tok_run *r, int id);

/* ---- bytes.c: the characters that stand for bytes in GPT-2's pieces */
size_t pw_tok_map(char out[4], unsigned char byte); /* the character's bytes */
int pw_tok_unmap(uint32_t cp);                      /* the byte; -1: none */

/* ---- decode.c: fills bytes and n_bytes */
enum pw_code pw_tok_spell(struct pw_tokens *t, struct pw_err *err);

#endif
