/* steps.c - reads the normaliser, the pre-tokenizer and the decoder of a file into chains of steps.
 *
 * Several types of the file are one step with other values: Digits, Punctuation, Whitespace and Split all cut
 * at matches of an expression; ByteLevel and Metaspace are two or three steps. */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/alloc.h"
#include "tokens/tokens_int.h"

/* Adds a step; NULL with a message if there are too many. */
static struct pw_tok_step *add_step(struct pw_tok_chain *c, enum pw_tok_kind kind, struct pw_err *err)
{
    if (c->n == PW_TOK_STEPS) {
        pw_fail(err, PW_EUSER, "more than %d steps", PW_TOK_STEPS);
        return NULL;
    }
    c->list[c->n] = (struct pw_tok_step){.kind = kind};
    return &c->list[c->n++];
}

static enum pw_code add_text_step(struct pw_tok_chain *c, enum pw_tok_kind kind, const char *text, bool first,
                                  struct pw_err *err)
{
    struct pw_tok_step *step = add_step(c, kind, err);
    if (step == NULL)
        return PW_EUSER;
    step->text = pw_text_dup(text);
    step->n = strlen(text);
    step->first = first;
    return PW_OK;
}

static enum pw_code add_split(struct pw_tok_chain *c, const char *pattern, enum pw_tok_syntax syntax,
                              enum pw_tok_behavior behavior, bool invert, struct pw_err *err)
{
    struct pw_tok_step *step = add_step(c, PW_TOK_SPLIT, err);
    if (step == NULL)
        return PW_EUSER;
    step->behavior = behavior;
    step->invert = invert;
    return pw_tok_compile(&step->code, pattern, syntax, err);
}

static enum pw_code add_replace(struct pw_tok_chain *c, const char *pattern, enum pw_tok_syntax syntax,
                                const char *content, struct pw_err *err)
{
    enum pw_code code = add_text_step(c, PW_TOK_REPLACE, content, false, err);
    return code == PW_OK ? pw_tok_compile(&c->list[c->n - 1].code, pattern, syntax, err) : code;
}

/* Reads the member pattern: {"String": ...} or {"Regex": ...}. */
static enum pw_code read_pattern(const cJSON *o, const char *at, const char **pattern,
                                 enum pw_tok_syntax *syntax, struct pw_err *err)
{
    const cJSON *p = pw_tok_json_get(o, "pattern");
    const cJSON *literal = pw_tok_json_get(p, "String"), *regex = pw_tok_json_get(p, "Regex");
    const cJSON *one = literal != NULL ? literal : regex;
    if (!cJSON_IsString(one))
        return pw_fail(err, PW_EUSER, "%s: 'pattern' must have a member String or Regex", at);
    *pattern = one->valuestring;
    *syntax = literal != NULL ? PW_TOK_LITERAL : PW_TOK_ONIG;
    return PW_OK;
}

static enum pw_code read_replace(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err)
{
    const char *pattern = NULL, *content = NULL;
    enum pw_tok_syntax syntax = PW_TOK_ONIG;
    enum pw_code code = read_pattern(o, "Replace", &pattern, &syntax, err);
    if (code == PW_OK)
        code = pw_tok_json_text(o, "Replace", "content", true, &content, err);
    return code == PW_OK ? add_replace(c, pattern, syntax, content, err) : code;
}

/* Reads a text that is one character. */
static enum pw_code read_character(const cJSON *o, const char *at, const char *key, const char **out,
                                   struct pw_err *err)
{
    uint32_t cp;
    enum pw_code code = pw_tok_json_text(o, at, key, true, out, err);
    if (code != PW_OK)
        return code;
    size_t n = strlen(*out);
    return n > 0 && pw_utf8_next(*out, n, &cp) == n
               ? PW_OK
               : pw_fail(err, PW_EUSER, "%s: '%s' must be one character", at, key);
}

/* Reads the members of Metaspace: the character, and when it is put before a word. */
static enum pw_code read_metaspace(const cJSON *o, const char **mark, const char **scheme, struct pw_err *err)
{
    bool prefix;
    enum pw_code code = read_character(o, "Metaspace", "replacement", mark, err);
    if (code == PW_OK)
        code = pw_tok_json_text(o, "Metaspace", "prepend_scheme", false, scheme, err);
    if (code == PW_OK)
        code = pw_tok_json_bool(o, "Metaspace", "add_prefix_space", true, &prefix, err);
    if (code != PW_OK)
        return code;
    if (!prefix && *scheme != NULL && strcmp(*scheme, "never") != 0)
        return pw_fail(err, PW_EUSER, "Metaspace: 'add_prefix_space' and 'prepend_scheme' disagree");
    if (*scheme == NULL)
        *scheme = prefix ? "always" : "never";
    if (strcmp(*scheme, "always") == 0 || strcmp(*scheme, "never") == 0 || strcmp(*scheme, "first") == 0)
        return PW_OK;
    return pw_fail(err, PW_EUSER, "Metaspace: 'prepend_scheme': %.40s: allowed are always, never, first",
                   *scheme);
}

static enum pw_code refuse_type(const char *where, const char *type, const char *allowed, struct pw_err *err)
{
    return pw_fail(err, PW_EUSER, "%s: type '%.40s' is not supported; allowed are Sequence, %s", where, type,
                   allowed);
}

typedef enum pw_code read_one(struct pw_tok_chain *c, const cJSON *o, const char *type, struct pw_err *err);

/* Reads an object with a type, and the parts of a Sequence, which are the member `parts`. */
static enum pw_code read_chain(struct pw_tok_chain *c, const cJSON *o, const char *where, const char *parts,
                               read_one *one, int depth, struct pw_err *err)
{
    const char *type;
    if (o == NULL || cJSON_IsNull(o))
        return PW_OK;
    if (!cJSON_IsObject(o))
        return pw_fail(err, PW_EUSER, "%s: must be an object or null", where);
    enum pw_code code = pw_tok_json_text(o, where, "type", true, &type, err);
    if (code != PW_OK)
        return code;
    if (strcmp(type, "Sequence") != 0) {
        code = one(c, o, type, err);
        return code;
    }
    const cJSON *list = pw_tok_json_get(o, parts), *part;
    if (!cJSON_IsArray(list))
        return pw_fail(err, PW_EUSER, "%s: Sequence: '%s' must be a list", where, parts);
    if (depth == PW_TOK_DEPTH)
        return pw_fail(err, PW_EUSER, "%s: more than %d sequences in each other", where, PW_TOK_DEPTH);
    cJSON_ArrayForEach(part, list)
    {
        if (!cJSON_IsObject(part))
            return pw_fail(err, PW_EUSER, "%s: Sequence: '%s' must be a list of objects", where, parts);
        code = read_chain(c, part, where, parts, one, depth + 1, err);
        if (code != PW_OK)
            return code;
    }
    return PW_OK;
}

/* ---- normalisers */

static const struct {
    const char *name;
    int options;
} forms[] = {{"NFC", UTF8PROC_STABLE | UTF8PROC_COMPOSE},
             {"NFD", UTF8PROC_STABLE | UTF8PROC_DECOMPOSE},
             {"NFKC", UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT},
             {"NFKD", UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT}};

static enum pw_code read_trim(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err)
{
    bool left, right;
    enum pw_code code = pw_tok_json_bool(o, "Strip", "strip_left", true, &left, err);
    if (code == PW_OK)
        code = pw_tok_json_bool(o, "Strip", "strip_right", true, &right, err);
    if (code != PW_OK)
        return code;
    struct pw_tok_step *step = add_step(c, PW_TOK_TRIM, err);
    if (step == NULL)
        return PW_EUSER;
    step->left = left;
    step->right = right;
    return PW_OK;
}

static enum pw_code read_normalizer(struct pw_tok_chain *c, const cJSON *o, const char *type,
                                    struct pw_err *err)
{
    struct pw_tok_step *step;
    const char *text;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(type, forms[i].name) == 0) {
            step = add_step(c, PW_TOK_FORM, err);
            if (step != NULL)
                step->form = forms[i].options;
            return step != NULL ? PW_OK : PW_EUSER;
        }
    if (strcmp(type, "Lowercase") == 0)
        return add_step(c, PW_TOK_LOWER, err) != NULL ? PW_OK : PW_EUSER;
    if (strcmp(type, "Prepend") == 0) {
        enum pw_code code = pw_tok_json_text(o, type, "prepend", true, &text, err);
        return code == PW_OK ? add_text_step(c, PW_TOK_PREPEND, text, false, err) : code;
    }
    if (strcmp(type, "Replace") == 0)
        return read_replace(c, o, err);
    if (strcmp(type, "StripAccents") == 0)
        return add_replace(c, "\\p{M}", PW_TOK_PCRE, "", err);
    if (strcmp(type, "Strip") == 0)
        return read_trim(c, o, err);
    return refuse_type("normalizer", type,
                       "NFC, NFD, NFKC, NFKD, Lowercase, Prepend, Replace, StripAccents, Strip", err);
}

enum pw_code pw_tok_read_normalizer(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err)
{
    return read_chain(c, o, "normalizer", "normalizers", read_normalizer, 0, err);
}

/* ---- pre-tokenizers */

/* GPT-2's words (Radford et al. 2019). */
#define GPT2_WORDS "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
/* The words of the regex crate, which tokenizers uses here, have the joiners, too. */
#define CRATE_WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}"

static enum pw_code read_behavior(const cJSON *o, const char *at, const char *otherwise,
                                  enum pw_tok_behavior *out, struct pw_err *err)
{
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                        "Contiguous"};
    const char *name;
    enum pw_code code = pw_tok_json_text(o, at, "behavior", otherwise == NULL, &name, err);
    if (code != PW_OK)
        return code;
    name = name != NULL ? name : otherwise;
    for (int i = 0; i < 5; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum pw_tok_behavior)i;
            return PW_OK;
        }
    return pw_fail(err, PW_EUSER,
                   "%s: 'behavior': %.40s: allowed are Removed, Isolated, MergedWithPrevious, "
                   "MergedWithNext, Contiguous",
                   at, name);
}

static enum pw_code read_byte_level(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err)
{
    bool prefix, regex;
    enum pw_code code = pw_tok_json_bool(o, "ByteLevel", "add_prefix_space", true, &prefix, err);
    if (code == PW_OK)
        code = pw_tok_json_bool(o, "ByteLevel", "use_regex", true, &regex, err);
    if (code == PW_OK && prefix)
        code = add_text_step(c, PW_TOK_LEAD, " ", false, err);
    if (code == PW_OK && regex)
        code = add_split(c, GPT2_WORDS, PW_TOK_ONIG, PW_TOK_ISOLATED, false, err);
    if (code == PW_OK && add_step(c, PW_TOK_MAP, err) == NULL)
        code = PW_EUSER;
    return code;
}

static enum pw_code read_split(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err)
{
    const char *pattern = NULL;
    enum pw_tok_syntax syntax = PW_TOK_ONIG;
    enum pw_tok_behavior behavior = PW_TOK_ISOLATED;
    bool invert = false;
    enum pw_code code = read_pattern(o, "Split", &pattern, &syntax, err);
    if (code == PW_OK)
        code = read_behavior(o, "Split", NULL, &behavior, err);
    if (code == PW_OK)
        code = pw_tok_json_bool(o, "Split", "invert", false, &invert, err);
    return code == PW_OK ? add_split(c, pattern, syntax, behavior, invert, err) : code;
}

static enum pw_code read_meta_words(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err)
{
    const char *mark = NULL, *scheme = NULL;
    bool split = true;
    enum pw_code code = read_metaspace(o, &mark, &scheme, err);
    if (code == PW_OK)
        code = pw_tok_json_bool(o, "Metaspace", "split", true, &split, err);
    if (code == PW_OK)
        code = add_replace(c, " ", PW_TOK_LITERAL, mark, err);
    if (code == PW_OK && strcmp(scheme, "never") != 0)
        code = add_text_step(c, PW_TOK_LEAD, mark, strcmp(scheme, "first") == 0, err);
    if (code == PW_OK && split)
        code = add_split(c, mark, PW_TOK_LITERAL, PW_TOK_NEXT, false, err);
    return code;
}

static enum pw_code read_pre(struct pw_tok_chain *c, const cJSON *o, const char *type, struct pw_err *err)
{
    if (strcmp(type, "ByteLevel") == 0)
        return read_byte_level(c, o, err);
    if (strcmp(type, "Split") == 0)
        return read_split(c, o, err);
    if (strcmp(type, "Metaspace") == 0)
        return read_meta_words(c, o, err);
    if (strcmp(type, "Digits") == 0) {
        bool single;
        enum pw_code code = pw_tok_json_bool(o, type, "individual_digits", false, &single, err);
        enum pw_tok_behavior behavior = single ? PW_TOK_ISOLATED : PW_TOK_CONTIGUOUS;
        return code == PW_OK ? add_split(c, "\\p{N}", PW_TOK_PCRE, behavior, false, err) : code;
    }
    if (strcmp(type, "Punctuation") == 0) {
        enum pw_tok_behavior behavior = PW_TOK_ISOLATED;
        enum pw_code code = read_behavior(o, type, "Isolated", &behavior, err);
        return code == PW_OK ? add_split(c, "[\\p{P}!-/:-@\\[-`{-~]", PW_TOK_PCRE, behavior, false, err)
                             : code;
    }
    if (strcmp(type, "Whitespace") == 0)
        return add_split(c, "[" CRATE_WORD "]+|[^" CRATE_WORD "\\p{White_Space}]+", PW_TOK_PCRE,
                         PW_TOK_REMOVED, true, err);
    if (strcmp(type, "WhitespaceSplit") == 0)
        return add_split(c, "\\p{White_Space}", PW_TOK_PCRE, PW_TOK_REMOVED, false, err);
    return refuse_type("pre_tokenizer", type,
                       "ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, Metaspace", err);
}

enum pw_code pw_tok_read_pre(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err)
{
    return read_chain(c, o, "pre_tokenizer", "pretokenizers", read_pre, 0, err);
}

/* ---- decoders */

static enum pw_code read_cut(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err)
{
    const char *content;
    int start, stop;
    enum pw_code code = read_character(o, "Strip", "content", &content, err);
    if (code == PW_OK)
        code = pw_tok_json_int(o, "Strip", "start", PW_TOKENS_MOST, &start, err);
    if (code == PW_OK)
        code = pw_tok_json_int(o, "Strip", "stop", PW_TOKENS_MOST, &stop, err);
    if (code == PW_OK)
        code = add_text_step(c, PW_TOK_CUT, content, false, err);
    if (code == PW_OK) {
        c->list[c->n - 1].left = start;
        c->list[c->n - 1].right = stop;
    }
    return code;
}

static enum pw_code read_decoder(struct pw_tok_chain *c, const cJSON *o, const char *type, struct pw_err *err)
{
    if (strcmp(type, "ByteLevel") == 0)
        return add_step(c, PW_TOK_UNMAP, err) != NULL ? PW_OK : PW_EUSER;
    if (strcmp(type, "Replace") == 0)
        return read_replace(c, o, err);
    if (strcmp(type, "ByteFallback") == 0)
        return add_step(c, PW_TOK_FALLBACK, err) != NULL ? PW_OK : PW_EUSER;
    if (strcmp(type, "Fuse") == 0)
        return add_step(c, PW_TOK_FUSE, err) != NULL ? PW_OK : PW_EUSER;
    if (strcmp(type, "Strip") == 0)
        return read_cut(c, o, err);
    if (strcmp(type, "Metaspace") == 0) {
        const char *mark = NULL, *scheme = NULL;
        enum pw_code code = read_metaspace(o, &mark, &scheme, err);
        return code == PW_OK ? add_text_step(c, PW_TOK_SPACES, mark, strcmp(scheme, "never") != 0, err)
                             : code;
    }
    return refuse_type("decoder", type, "ByteLevel, Replace, ByteFallback, Fuse, Strip, Metaspace", err);
}

enum pw_code pw_tok_read_decoder(struct pw_tok_chain *c, const cJSON *o, struct pw_err *err)
{
    return read_chain(c, o, "decoder", "decoders", read_decoder, 0, err);
}

void pw_tok_chain_fini(struct pw_tok_chain *c)
{
    for (int i = 0; i < c->n; i++) {
        pcre2_code_free(c->list[i].code);
        free(c->list[i].text);
    }
    c->n = 0;
}
