/* gguf.c - the tokenizer inside of a GGUF file: its metadata become the object of a tokenizer.json, so that
 * one reader checks and builds both.
 *
 * Two models are read: pair encoding of bytes (gpt2), and SentencePiece's pair encoding with scores (llama).
 * For gpt2, the name in tokenizer.ggml.pre stands for an
 * expression that the file does not hold, so a name that is not in the table below is refused: a guess would
 * give other ids than the model was trained on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/gguf.h"
#include "base/json.h"
#include "tokens/tokens_int.h"

enum { MOST_MERGES = 4 * PW_TOKENS_MOST, NAME_BYTES = 64 };

/* Kinds of tokens, as tokenizer.ggml.token_type numbers them. */
enum { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };

/* A rule by which text is cut into words. words NULL: the expression of GPT-2. */
struct pre {
    const char *name, *words;
    bool digits;                    /* each digit is a word of its own, before the expression */
    bool nfc, ignore_merges, begin; /* begin: a begin mark, unless the file says otherwise */
};

#define GPT4_BEFORE "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define GPT4_AFTER  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const struct pre pres[] = {
    {.name = "default"},
    {.name = "gpt-2"},
    {.name = "smollm", .digits = true},
    {.name = "llama-bpe",
     .words = (GPT4_BEFORE "\\p{N}{1,3}" GPT4_AFTER),
     .ignore_merges = true,
     .begin = true},
    {.name = "qwen2", .words = (GPT4_BEFORE "\\p{N}" GPT4_AFTER), .nfc = true},
};

#define SPACE "\xe2\x96\x81" /* the character that stands for a space in SentencePiece's pieces */

/* The metadata, and the object that is built from them. llama: SentencePiece's model, with scores [pieces]
 * in place of merges; prefix: it puts a space before a text. */
struct source {
    const struct pw_gguf *g;
    cJSON *root, *model, *added;
    const struct pre *pre; /* of gpt2 */
    float *scores;
    bool llama, prefix;
    struct pw_err *err;
};

static cJSON *typed(cJSON *o, const char *type)
{
    pw_json_str(o, "type", type);
    return o;
}

/* ---- single values */

/* Returns true for n bytes that a message can show: UTF-8 without control characters. */
static bool is_name(const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ')
            return false;
    return pw_utf8_valid(s, n);
}

/* Reads a text into out [NAME_BYTES]. */
static enum pw_code read_name(const struct source *s, const char *key, char *out)
{
    const struct pw_gguf_value *v = pw_gguf_find(s->g, key);
    uint64_t n;
    const char *text = pw_gguf_text(v, &n);
    if (v == NULL)
        return pw_fail(s->err, PW_EUSER, "the metadata '%s' is missing", key);
    if (text == NULL || n >= NAME_BYTES || !is_name(text, n))
        return pw_fail(s->err, PW_EUSER, "%s must be a text of less than %d bytes", key, NAME_BYTES);
    memcpy(out, text, n);
    out[n] = '\0';
    return PW_OK;
}

static enum pw_code read_flag(const struct source *s, const char *key, bool otherwise, bool *out)
{
    const struct pw_gguf_value *v = pw_gguf_find(s->g, key);
    double x = otherwise;
    if (v != NULL && (v->type != PW_GGUF_BOOL || v->array || !pw_gguf_number(v, 0, &x)))
        return pw_fail(s->err, PW_EUSER, "%s must be true or false", key);
    *out = x != 0;
    return PW_OK;
}

/* Finds a list of 1 to `most` items that are texts, or numbers. */
static enum pw_code read_list(const struct source *s, const char *key, bool texts, uint64_t most,
                              const struct pw_gguf_value **out)
{
    const struct pw_gguf_value *v = pw_gguf_find(s->g, key);
    if (v == NULL)
        return pw_fail(s->err, PW_EUSER, "the metadata '%s' is missing", key);
    if (!v->array || (v->type == PW_GGUF_STRING) != texts || v->n < 1 || v->n > most)
        return pw_fail(s->err, PW_EUSER, "%s must be a list of 1 to %llu %s", key, (unsigned long long)most,
                       texts ? "texts" : "numbers");
    *out = v;
    return PW_OK;
}

/* ---- lists of texts */

/* A walk over the texts of a list. item: the next one's index. */
struct walk {
    struct source *s;
    const struct pw_gguf_value *types, *scores;
    cJSON *list;
    const char *key;
    int item;
    size_t bytes;
    struct pw_str text; /* the item, NUL-terminated */
    enum pw_code code;
};

/* Copies an item to w->text; false after a failure, of this item or an earlier one. */
static bool take_text(struct walk *w, const char *text, size_t n)
{
    if (w->code != PW_OK)
        return false;
    w->bytes += n;
    if (n > PW_TOKENS_FILE || w->bytes > PW_TOKENS_FILE)
        w->code = pw_fail(w->s->err, PW_EUSER, "%s has more than %d bytes", w->key, PW_TOKENS_FILE);
    else if (!pw_utf8_valid(text, n) || memchr(text, '\0', n) != NULL)
        w->code =
            pw_fail(w->s->err, PW_EUSER, "%s: item %d is not valid UTF-8, or has a NUL", w->key, w->item);
    pw_str_clear(&w->text);
    if (w->code == PW_OK)
        pw_str_put(&w->text, text, n);
    return w->code == PW_OK;
}

/* Keeps the score of an item for its merges: only normal pieces merge. */
static bool take_score(struct walk *w, int type)
{
    struct source *s = w->s;
    const char *text = pw_str_text(&w->text);
    double score = 0;
    if (!pw_gguf_number(w->scores, (uint64_t)w->item, &score) || !isfinite(score))
        w->code =
            pw_fail(s->err, PW_EUSER, "tokenizer.ggml.scores: item %d must be a finite number", w->item);
    else if (type == USER_DEFINED && strstr(text, SPACE) != NULL)
        w->code =
            pw_fail(s->err, PW_EUSER,
                    "tokenizer.ggml.tokens: item %d is user-defined and has a space, which can't be read; "
                    "put tokenizer.json beside it",
                    w->item);
    else if (type == UNKNOWN && cJSON_GetObjectItemCaseSensitive(s->model, "unk_token") == NULL)
        pw_json_str(s->model, "unk_token", text);
    s->scores[w->item] = type == NORMAL ? (float)score : NAN;
    return w->code == PW_OK;
}

/* Members of an added token that are false. */
static const char *const not_added[] = {"single_word", "lstrip", "rstrip", "normalized"};

static void add_token(void *arg, const char *text, size_t n)
{
    struct walk *w = arg;
    double type = 0;
    if (!take_text(w, text, n))
        return;
    if (!pw_gguf_number(w->types, (uint64_t)w->item, &type) || !(type >= NORMAL && type <= BYTE)) {
        w->code =
            pw_fail(w->s->err, PW_EUSER, "tokenizer.ggml.token_type: item %d must be a number from %d to %d",
                    w->item, NORMAL, BYTE);
        return;
    }
    if (w->scores != NULL && !take_score(w, (int)type))
        return;
    pw_json_num(w->list, pw_str_text(&w->text), w->item);
    if (type == UNKNOWN || type == CONTROL || type == USER_DEFINED) {
        cJSON *o = pw_json_add(w->s->added);
        pw_json_num(o, "id", w->item);
        pw_json_str(o, "content", pw_str_text(&w->text));
        cJSON_AddBoolToObject(o, "special", type != USER_DEFINED);
        for (int i = 0; i < 4; i++)
            cJSON_AddBoolToObject(o, not_added[i], false);
    }
    w->item++;
}

static void add_merge(void *arg, const char *text, size_t n)
{
    struct walk *w = arg;
    if (!take_text(w, text, n))
        return;
    cJSON_AddItemToArray(w->list, cJSON_CreateString(pw_str_text(&w->text)));
    w->item++;
}

static enum pw_code add_tokens(struct source *s)
{
    struct walk w = {.s = s, .key = "tokenizer.ggml.tokens"};
    const struct pw_gguf_value *tokens = NULL;
    enum pw_code code = read_list(s, w.key, true, PW_TOKENS_MOST, &tokens);
    if (code == PW_OK)
        code = read_list(s, "tokenizer.ggml.token_type", false, PW_TOKENS_MOST, &w.types);
    if (code != PW_OK)
        return code;
    if (w.types->n != tokens->n)
        return pw_fail(s->err, PW_EUSER,
                       "tokenizer.ggml.token_type has %llu items, tokenizer.ggml.tokens %llu",
                       (unsigned long long)w.types->n, (unsigned long long)tokens->n);
    if (s->llama) {
        code = read_list(s, "tokenizer.ggml.scores", false, PW_TOKENS_MOST, &w.scores);
        if (code != PW_OK)
            return code;
        if (w.scores->n != tokens->n)
            return pw_fail(s->err, PW_EUSER,
                           "tokenizer.ggml.scores has %llu items, tokenizer.ggml.tokens %llu",
                           (unsigned long long)w.scores->n, (unsigned long long)tokens->n);
        s->scores = pw_alloc((size_t)tokens->n, sizeof *s->scores);
    }
    w.list = cJSON_AddObjectToObject(s->model, "vocab");
    pw_gguf_strings(tokens, add_token, &w);
    pw_str_fini(&w.text);
    return w.code;
}

static enum pw_code add_merges(struct source *s)
{
    struct walk w = {.s = s, .key = "tokenizer.ggml.merges"};
    const struct pw_gguf_value *merges = NULL;
    enum pw_code code = read_list(s, w.key, true, MOST_MERGES, &merges);
    if (code != PW_OK)
        return code;
    w.list = cJSON_AddArrayToObject(s->model, "merges");
    pw_gguf_strings(merges, add_merge, &w);
    pw_str_fini(&w.text);
    return w.code;
}

/* ---- steps */

static enum pw_code find_pre(struct source *s)
{
    char name[NAME_BYTES];
    struct pw_str known = {0};
    enum pw_code code = read_name(s, "tokenizer.ggml.pre", name);
    for (size_t i = 0; i < sizeof pres / sizeof *pres && code == PW_OK; i++) {
        if (strcmp(pres[i].name, name) == 0)
            s->pre = &pres[i];
        pw_str_add(&known, "%s%s", i > 0 ? ", " : "", pres[i].name);
    }
    if (code == PW_OK && s->pre == NULL)
        code = pw_fail(s->err, PW_EUSER, "tokenizer.ggml.pre: '%s' is not supported; allowed are %s", name,
                       pw_str_text(&known));
    pw_str_fini(&known);
    return code;
}

static void add_bytes(cJSON *o, bool use_regex)
{
    typed(o, "ByteLevel");
    cJSON_AddBoolToObject(o, "add_prefix_space", false);
    cJSON_AddBoolToObject(o, "trim_offsets", true);
    cJSON_AddBoolToObject(o, "use_regex", use_regex);
}

static void add_steps(struct source *s)
{
    const struct pre *pre = s->pre;
    if (pre->nfc)
        typed(cJSON_AddObjectToObject(s->root, "normalizer"), "NFC");
    cJSON *list = cJSON_AddArrayToObject(typed(cJSON_AddObjectToObject(s->root, "pre_tokenizer"), "Sequence"),
                                         "pretokenizers");
    if (pre->digits)
        cJSON_AddBoolToObject(typed(pw_json_add(list), "Digits"), "individual_digits", true);
    if (pre->words != NULL) {
        cJSON *split = typed(pw_json_add(list), "Split");
        pw_json_str(cJSON_AddObjectToObject(split, "pattern"), "Regex", pre->words);
        pw_json_str(split, "behavior", "Isolated");
        cJSON_AddBoolToObject(split, "invert", false);
    }
    add_bytes(pw_json_add(list), pre->words == NULL);
    add_bytes(cJSON_AddObjectToObject(s->root, "decoder"), true);
    cJSON_AddBoolToObject(s->model, "ignore_merges", pre->ignore_merges);
}

/* Adds a step that replaces text to a list. */
static void add_replace(cJSON *list, const char *from, const char *to)
{
    cJSON *o = typed(pw_json_add(list), "Replace");
    pw_json_str(cJSON_AddObjectToObject(o, "pattern"), "String", from);
    pw_json_str(o, "content", to);
}

static void add_llama_steps(struct source *s)
{
    cJSON *list = cJSON_AddArrayToObject(typed(cJSON_AddObjectToObject(s->root, "normalizer"), "Sequence"),
                                         "normalizers");
    if (s->prefix)
        pw_json_str(typed(pw_json_add(list), "Prepend"), "prepend", SPACE);
    add_replace(list, " ", SPACE);
    list = cJSON_AddArrayToObject(typed(cJSON_AddObjectToObject(s->root, "decoder"), "Sequence"), "decoders");
    add_replace(list, SPACE, " ");
    typed(pw_json_add(list), "ByteFallback");
    typed(pw_json_add(list), "Fuse");
    if (s->prefix) {
        cJSON *strip = typed(pw_json_add(list), "Strip");
        pw_json_str(strip, "content", " ");
        pw_json_num(strip, "start", 1);
        pw_json_num(strip, "stop", 0);
    }
    cJSON_AddBoolToObject(s->model, "byte_fallback", true);
    cJSON_AddBoolToObject(s->model, "fuse_unk", true);
    cJSON_AddArrayToObject(s->model, "merges"); /* the scores decide */
}

/* Adds a part of the form of a text: a token or the text itself. */
static void add_part(cJSON *list, const char *type, const char *id, int type_id)
{
    cJSON *o = cJSON_AddObjectToObject(pw_json_add(list), type);
    pw_json_str(o, "id", id);
    pw_json_num(o, "type_id", type_id);
}

/* Adds the begin mark as the step that puts it before a text. */
static enum pw_code add_begin(struct source *s)
{
    static const char key[] = "tokenizer.ggml.bos_token_id";
    const struct pw_gguf_value *v = pw_gguf_find(s->g, key);
    const cJSON *vocab = cJSON_GetObjectItemCaseSensitive(s->model, "vocab");
    int n = cJSON_GetArraySize(vocab);
    double id = -1;
    bool wanted = false;
    enum pw_code code = read_flag(s, "tokenizer.ggml.add_bos_token", s->llama || s->pre->begin, &wanted);
    if (code != PW_OK || !wanted)
        return code;
    if (v == NULL || v->array || !pw_gguf_number(v, 0, &id) || !(id >= 0 && id < n) || id != (int)id)
        return pw_fail(s->err, PW_EUSER, "%s must be a number from 0 to %d, since a text begins with it", key,
                       n - 1);
    cJSON *post = typed(cJSON_AddObjectToObject(s->root, "post_processor"), "TemplateProcessing");
    const char *mark = cJSON_GetArrayItem(vocab, (int)id)->string;
    cJSON *list = cJSON_AddArrayToObject(post, "single");
    add_part(list, "SpecialToken", mark, 0);
    add_part(list, "Sequence", "A", 0);
    list = cJSON_AddArrayToObject(post, "pair");
    add_part(list, "SpecialToken", mark, 0);
    add_part(list, "Sequence", "A", 0);
    add_part(list, "Sequence", "B", 1);
    cJSON *token = cJSON_AddObjectToObject(cJSON_AddObjectToObject(post, "special_tokens"), mark);
    int ids[] = {(int)id};
    pw_json_str(token, "id", mark);
    pw_json_ints(token, "ids", ids, 1);
    cJSON_AddItemToObject(token, "tokens", cJSON_CreateStringArray(&mark, 1));
    return PW_OK;
}

/* ---- the file */

/* Refuses SentencePiece's normalisation of text, which the metadata hold in a form of its own. */
static enum pw_code check_llama(const struct source *s)
{
    static const char map[] = "tokenizer.ggml.precompiled_charsmap",
                      blanks[] = "tokenizer.ggml.remove_extra_whitespaces";
    const struct pw_gguf_value *v = pw_gguf_find(s->g, map);
    bool removes = false;
    enum pw_code code = read_flag(s, blanks, false, &removes);
    if (code == PW_OK && (removes || (v != NULL && v->n > 0)))
        return pw_fail(s->err, PW_EUSER, "%s is not supported; put tokenizer.json beside it",
                       removes ? blanks : map);
    return code;
}

/* Reads the model, and whether a space is put before a text. */
static enum pw_code read_kind(struct source *s)
{
    char model[NAME_BYTES];
    enum pw_code code = read_name(s, "tokenizer.ggml.model", model);
    if (code != PW_OK)
        return code;
    s->llama = strcmp(model, "llama") == 0;
    if (!s->llama && strcmp(model, "gpt2") != 0)
        return pw_fail(s->err, PW_EUSER,
                       "the tokenizer '%s' of a GGUF file can't be read; put tokenizer.json beside it",
                       model);
    code = read_flag(s, "tokenizer.ggml.add_space_prefix", s->llama, &s->prefix);
    if (code == PW_OK && s->prefix && !s->llama)
        return pw_fail(s->err, PW_EUSER,
                       "tokenizer.ggml.add_space_prefix must be false for the model 'gpt2'");
    if (code == PW_OK)
        code = s->llama ? check_llama(s) : find_pre(s);
    return code;
}

static enum pw_code build(struct source *s)
{
    enum pw_code code = read_kind(s);
    if (code != PW_OK)
        return code;
    pw_json_str(s->root, "version", "1.0");
    s->model = typed(cJSON_AddObjectToObject(s->root, "model"), "BPE");
    s->added = cJSON_AddArrayToObject(s->root, "added_tokens");
    code = add_tokens(s);
    if (code == PW_OK && s->llama)
        add_llama_steps(s);
    else if (code == PW_OK)
        code = add_merges(s);
    if (code == PW_OK && !s->llama)
        add_steps(s);
    return code == PW_OK ? add_begin(s) : code;
}

enum pw_code pw_tok_gguf_build(cJSON **root, float **scores, struct pw_gguf *g, const char *name,
                               struct pw_err *err)
{
    struct pw_err cause;
    struct source s = {.g = g, .root = cJSON_CreateObject(), .err = &cause};
    *root = NULL;
    *scores = NULL;
    enum pw_code code = build(&s);
    pw_gguf_close(g);
    if (code == PW_OK) {
        *root = s.root;
        *scores = s.scores;
        return PW_OK;
    }
    cJSON_Delete(s.root);
    free(s.scores);
    return pw_fail(err, code, "%.160s: %s", name, cause.msg);
}

enum pw_code pw_tok_gguf_object(cJSON **root, float **scores, const char *bytes, size_t n, const char *name,
                                struct pw_err *err)
{
    struct pw_gguf g;
    *root = NULL;
    *scores = NULL;
    enum pw_code code = pw_gguf_open(&g, bytes, n, name, err);
    return code == PW_OK ? pw_tok_gguf_build(root, scores, &g, name, err) : code;
}
