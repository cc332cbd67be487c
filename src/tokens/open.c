/* open.c - opens the tokenizer of a tokenizer.json or a GGUF file, and closes it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/gguf.h"
#include "tokens/tokens_int.h"

void pw_tokens_close(struct pw_tokens *t)
{
    if (t == NULL)
        return;
    pw_tok_fini_texts(t);
    free(t->special);
    free(t->in_vocab);
    free(t->slots);
    free(t->merges);
    free(t->pair_slots);
    free(t->scores);
    pw_tok_chain_fini(&t->normal);
    pw_tok_chain_fini(&t->pre);
    pw_tok_chain_fini(&t->decoder);
    free(t->added);
    free(t->raw.nodes);
    free(t->normed.nodes);
    pcre2_code_free(t->word);
    free(t);
}

/* ---- the number of ids */

static enum pw_code count_id(const cJSON *id, const char *piece, int *n, struct pw_err *err)
{
    int at;
    if (!pw_tok_json_whole(id, PW_TOKENS_MOST - 1, &at))
        return pw_fail(err, PW_EUSER, "the id of '%.40s' must be a number from 0 to %d", piece,
                       PW_TOKENS_MOST - 1);
    *n = at >= *n ? at + 1 : *n;
    return PW_OK;
}

/* Finds the largest id and makes room. Ids without a piece are allowed, but no more of them than pieces. */
static enum pw_code count_ids(struct pw_tokens *t, const cJSON *vocab, const cJSON *added, struct pw_err *err)
{
    const cJSON *v;
    int n_pieces = 0, n = 0;
    enum pw_code code = PW_OK;
    cJSON_ArrayForEach(v, vocab)
    {
        n_pieces++;
        code = count_id(v, v->string, &n, err);
        if (code != PW_OK)
            return code;
    }
    cJSON_ArrayForEach(v, added)
    {
        const cJSON *content = cJSON_GetObjectItemCaseSensitive(v, "content");
        if (!cJSON_IsString(content))
            return pw_fail(err, PW_EUSER, "added_tokens: 'content' must be a text");
        n_pieces++;
        code = count_id(cJSON_GetObjectItemCaseSensitive(v, "id"), content->valuestring, &n, err);
        if (code != PW_OK)
            return code;
    }
    t->n_vocab = cJSON_GetArraySize(vocab);
    if (n == 0)
        return pw_fail(err, PW_EUSER, "the vocabulary is empty");
    if (n > 2 * n_pieces)
        return pw_fail(err, PW_EUSER, "%d pieces have ids up to %d: more ids without a piece than with one",
                       n_pieces, n - 1);
    t->n = n;
    t->special = pw_alloc((size_t)t->n, sizeof *t->special);
    t->in_vocab = pw_alloc((size_t)t->n, sizeof *t->in_vocab);
    t->n_slots = 16;
    while (t->n_slots < 2 * (uint32_t)t->n)
        t->n_slots *= 2;
    t->slots = pw_alloc(t->n_slots, sizeof *t->slots);
    return pw_tok_init_texts(t, err);
}

/* ---- tokens before a text */

static enum pw_code add_before(struct pw_tokens *t, const cJSON *token, const cJSON *special,
                               struct pw_err *err)
{
    const char at[] = "post_processor", *name;
    enum pw_code code = pw_tok_json_text(token, at, "id", true, &name, err);
    if (code != PW_OK)
        return code;
    const cJSON *ids = pw_tok_json_get(pw_tok_json_get(special, name), "ids"), *id;
    if (!cJSON_IsArray(ids))
        return pw_fail(err, PW_EUSER, "post_processor: '%.40s' is not in 'special_tokens'", name);
    cJSON_ArrayForEach(id, ids)
    {
        int value;
        if (!pw_tok_json_whole(id, t->n - 1, &value) || pw_tokens_piece(t, value) == NULL)
            return pw_fail(err, PW_EUSER, "post_processor: an id of '%.40s' has no piece", name);
        if (t->n_before == PW_TOK_BEFORE)
            return pw_fail(err, PW_EUSER, "post_processor: more than %d tokens before a text", PW_TOK_BEFORE);
        t->before[t->n_before++] = value;
    }
    return PW_OK;
}

static enum pw_code read_template(struct pw_tokens *t, const cJSON *o, struct pw_err *err)
{
    const cJSON *single = pw_tok_json_get(o, "single"), *part;
    if (!cJSON_IsArray(single))
        return pw_fail(err, PW_EUSER, "post_processor: TemplateProcessing: 'single' must be a list");
    cJSON_ArrayForEach(part, single)
    {
        const cJSON *token = pw_tok_json_get(part, "SpecialToken");
        if (token == NULL) /* the text itself */
            break;
        enum pw_code code = add_before(t, token, pw_tok_json_get(o, "special_tokens"), err);
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

static enum pw_code read_post(struct pw_tokens *t, const cJSON *o, int depth, struct pw_err *err)
{
    const char *type;
    if (o == NULL || cJSON_IsNull(o))
        return PW_OK;
    enum pw_code code = pw_tok_json_text(o, "post_processor", "type", true, &type, err);
    if (code != PW_OK || strcmp(type, "ByteLevel") == 0)
        return code;
    if (strcmp(type, "TemplateProcessing") == 0)
        return read_template(t, o, err);
    if (strcmp(type, "Sequence") != 0 || depth == PW_TOK_DEPTH)
        return pw_fail(err, PW_EUSER,
                       "post_processor: type '%.40s' is not supported; allowed are Sequence, "
                       "TemplateProcessing, ByteLevel",
                       type);
    const cJSON *list = pw_tok_json_get(o, "processors"), *part;
    if (!cJSON_IsArray(list))
        return pw_fail(err, PW_EUSER, "post_processor: Sequence: 'processors' must be a list");
    cJSON_ArrayForEach(part, list)
    {
        code = read_post(t, part, depth + 1, err);
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

/* ---- the file */

/* tokenizers decides by the offsets of the text before its normalisation whether a word is the first. They
 * are not kept here, so a normaliser that moves them is refused together with the scheme `first`. */
static enum pw_code check_first(const struct pw_tokens *t, struct pw_err *err)
{
    bool first = false, moves = false;
    for (int i = 0; i < t->pre.n; i++)
        first = first || (t->pre.list[i].kind == PW_TOK_LEAD && t->pre.list[i].first);
    for (int i = 0; i < t->normal.n; i++)
        moves = moves || (t->normal.list[i].kind != PW_TOK_FORM && t->normal.list[i].kind != PW_TOK_LOWER);
    return !first || !moves
               ? PW_OK
               : pw_fail(
                     err, PW_EUSER,
                     "Metaspace: 'prepend_scheme': first is not supported behind the normalizers Prepend, "
                     "Replace, Strip, StripAccents");
}

static enum pw_code read_all(struct pw_tokens *t, const cJSON *root, struct pw_err *err)
{
    const cJSON *model = pw_tok_json_get(root, "model"), *added = pw_tok_json_get(root, "added_tokens");
    if (!cJSON_IsObject(root) || !cJSON_IsObject(model))
        return pw_fail(err, PW_EUSER, "is no tokenizer.json: it has no object 'model'");
    if (added != NULL && !cJSON_IsArray(added))
        return pw_fail(err, PW_EUSER, "'added_tokens' must be a list");
    enum pw_code code = count_ids(t, pw_tok_json_get(model, "vocab"), added, err);
    if (code == PW_OK)
        code = pw_tok_read_model(t, model, err);
    if (code == PW_OK)
        code = pw_tok_read_normalizer(&t->normal, pw_tok_json_get(root, "normalizer"), err);
    if (code == PW_OK)
        code = pw_tok_read_pre(&t->pre, pw_tok_json_get(root, "pre_tokenizer"), err);
    if (code == PW_OK)
        code = check_first(t, err);
    if (code == PW_OK)
        code = pw_tok_read_decoder(&t->decoder, pw_tok_json_get(root, "decoder"), err);
    if (code == PW_OK)
        code = pw_tok_read_added(t, added, err);
    if (code == PW_OK)
        code = read_post(t, pw_tok_json_get(root, "post_processor"), 0, err);
    if (code == PW_OK)
        code = pw_tok_plant(t, err);
    if (code == PW_OK)
        code = pw_tok_spell(t, err);
    if (code == PW_OK)
        pw_tok_shrink_texts(t);
    return code;
}

/* Returns true if the text has the escape of a NUL, which cJSON would take as a text's end. */
static bool has_nul(const char *json)
{
    for (const char *s = json; (s = strstr(s, "\\u0000")) != NULL; s += 6) {
        int n = 0;
        while (s - n > json && s[-n - 1] == '\\')
            n++;
        if (n % 2 == 0)
            return true;
    }
    return false;
}

/* Parses n bytes of a tokenizer.json; the caller deletes *root. */
static enum pw_code parse(cJSON **root, const char *json, size_t n, const char *name, struct pw_err *err)
{
    const char *end;
    *root = NULL;
    if (n > PW_TOKENS_FILE)
        return pw_fail(err, PW_EUSER, "%.200s: has more than %d bytes", name, PW_TOKENS_FILE);
    if (memchr(json, '\0', n) != NULL || !pw_utf8_valid(json, n))
        return pw_fail(err, PW_EUSER, "%.200s: is not valid UTF-8", name);
    char *text = malloc(n + 1); /* cJSON needs the NUL to find what follows the value */
    if (text == NULL)
        return pw_tok_no_memory(err);
    memcpy(text, json, n);
    text[n] = '\0';
    bool nul = has_nul(text);
    *root = nul ? NULL : cJSON_ParseWithLengthOpts(text, n + 1, &end, true);
    free(text);
    return *root != NULL
               ? PW_OK
               : pw_fail(err, PW_EUSER, "%.200s: %s", name,
                         nul ? "a text of it has a NUL character" : "is not valid JSON, or too deep");
}

enum pw_code pw_tok_build(struct pw_tokens **t, const cJSON *root, float *scores, const char *name,
                          struct pw_err *err)
{
    struct pw_err cause;
    *t = pw_alloc(1, sizeof **t);
    (*t)->scores = scores;
    enum pw_code code = read_all(*t, root, &cause);
    if (code == PW_OK)
        return PW_OK;
    pw_tokens_close(*t);
    *t = NULL;
    return pw_fail(err, code, "%.160s: %s", name, cause.msg);
}

/* A large vocabulary is a hundred thousand blocks of the tree, which would stay with the process. */
static void delete_tree(cJSON *root)
{
    cJSON_Delete(root);
    pw_alloc_trim();
}

enum pw_code pw_tokens_open_text(struct pw_tokens **t, const char *text, size_t n, const char *name,
                                 struct pw_err *err)
{
    cJSON *root;
    float *scores = NULL;
    *t = NULL;
    enum pw_code code = pw_gguf_is(text, n) ? pw_tok_gguf_object(&root, &scores, text, n, name, err)
                                            : parse(&root, text, n, name, err);
    if (code == PW_OK)
        code = pw_tok_build(t, root, scores, name, err);
    delete_tree(root);
    return code;
}

static enum pw_code open_gguf(struct pw_tokens **t, const char *path, struct pw_err *err)
{
    char *head;
    size_t size;
    int fd;
    struct pw_gguf g;
    cJSON *root = NULL;
    float *scores;
    enum pw_code code = pw_file_open(&fd, path, &size, err);
    if (code != PW_OK)
        return code;
    code = pw_gguf_read(&g, &head, fd, size, path, err);
    if (code == PW_OK)
        code = pw_tok_gguf_build(&root, &scores, &g, path, err);
    close(fd);
    free(head);
    if (code == PW_OK)
        code = pw_tok_build(t, root, scores, path, err);
    delete_tree(root);
    return code;
}

enum pw_code pw_tokens_open(struct pw_tokens **t, const char *path, struct pw_err *err)
{
    static const char suffix[] = ".gguf";
    size_t n = strlen(path);
    char *json;
    *t = NULL;
    if (n >= sizeof suffix && strcmp(path + n - strlen(suffix), suffix) == 0)
        return open_gguf(t, path, err);
    enum pw_code code = pw_file_read(path, PW_TOKENS_FILE, &json, &n, err);
    if (code != PW_OK)
        return code;
    code = pw_tokens_open_text(t, json, n, path, err);
    free(json);
    return code;
}
