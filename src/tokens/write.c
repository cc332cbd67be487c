/* write.c - the tokenizer of a GGUF file as the two files that transformers reads.
 *
 * gguf.c builds the object of a tokenizer.json. Scores have no place in it, so their merges are written out,
 * in the order of their ranks. In SentencePiece merges with the same result share a rank; in tokenizers the
 * first in the list wins. The ids differ only where a text has two such pairs that overlap. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/gguf.h"
#include "base/json.h"
#include "tokens/tokens_int.h"

/* Tokens with a role, and their keys in tokenizer_config.json. */
static const char *const roles[][2] = {{"bos_token", "tokenizer.ggml.bos_token_id"},
                                       {"eos_token", "tokenizer.ggml.eos_token_id"},
                                       {"unk_token", "tokenizer.ggml.unknown_token_id"},
                                       {"pad_token", "tokenizer.ggml.padding_token_id"}};
enum { ROLES = sizeof roles / sizeof *roles };

/* Metadata for tokenizer_config.json. */
struct marks {
    double ids[ROLES]; /* -1: none */
    char *chat;        /* the chat template; NULL: none */
};

/* Copies from the header, which the builder of tokenizer.json closes. */
static enum pw_code read_marks(struct marks *m, const struct pw_gguf *g, struct pw_err *err)
{
    uint64_t n = 0;
    const char *text = pw_gguf_text(pw_gguf_find(g, "tokenizer.chat_template"), &n);
    for (int i = 0; i < ROLES; i++) {
        const struct pw_gguf_value *v = pw_gguf_find(g, roles[i][1]);
        if (v == NULL || v->array || !pw_gguf_number(v, 0, &m->ids[i]))
            m->ids[i] = -1;
    }
    if (text == NULL || !pw_utf8_valid(text, n) || memchr(text, '\0', n) != NULL)
        return PW_OK;
    m->chat = malloc(n + 1);
    if (m->chat == NULL)
        return pw_tok_no_memory(err);
    memcpy(m->chat, text, n);
    m->chat[n] = '\0';
    return PW_OK;
}

/* Reads the file; the caller deletes *root and frees *scores and m->chat, also after a failure. */
static enum pw_code read_gguf(const char *path, cJSON **root, float **scores, struct marks *m,
                              struct pw_err *err)
{
    char *head;
    size_t size;
    int fd;
    struct pw_gguf g;
    enum pw_code code = pw_file_open(&fd, path, &size, err);
    if (code != PW_OK)
        return code;
    code = pw_gguf_read(&g, &head, fd, size, path, err);
    if (code == PW_OK) {
        code = read_marks(m, &g, err);
        if (code == PW_OK)
            code = pw_tok_gguf_build(root, scores, &g, path, err);
        else
            pw_gguf_close(&g);
    }
    close(fd);
    free(head);
    return code;
}

/* Adds the merges that follow from scores. */
static void add_merges(cJSON *root, const struct pw_tokens *t)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, "model"), "merges");
    for (int i = 0; i < t->n_merges; i++) {
        const char *pair[] = {pw_tokens_piece(t, t->merges[i].left), pw_tokens_piece(t, t->merges[i].right)};
        cJSON_AddItemToArray(list, cJSON_CreateStringArray(pair, 2));
    }
}

static cJSON *make_config(const struct pw_tokens *t, const struct marks *m)
{
    cJSON *o = cJSON_CreateObject();
    pw_json_str(o, "tokenizer_class", "PreTrainedTokenizerFast");
    cJSON_AddBoolToObject(o, "clean_up_tokenization_spaces", false);
    for (int i = 0; i < ROLES; i++) {
        const char *piece = m->ids[i] >= 0 && m->ids[i] < t->n ? pw_tokens_piece(t, (int)m->ids[i]) : NULL;
        if (piece != NULL)
            pw_json_str(o, roles[i][0], piece);
    }
    if (m->chat != NULL)
        pw_json_str(o, "chat_template", m->chat);
    return o;
}

static enum pw_code write_object(const char *folder, const char *name, const cJSON *o, struct pw_err *err)
{
    struct pw_str path = {0};
    char *text = cJSON_PrintUnformatted(o);
    pw_str_add(&path, "%s/%s", folder, name);
    enum pw_code code = pw_file_replace(path.s, text, strlen(text), err);
    cJSON_free(text);
    pw_str_fini(&path);
    return code;
}

enum pw_code pw_tokens_write(const char *gguf, const char *folder, struct pw_err *err)
{
    cJSON *root = NULL, *config = NULL;
    float *scores = NULL;
    struct marks m = {.chat = NULL};
    struct pw_tokens *t = NULL;
    enum pw_code code = read_gguf(gguf, &root, &scores, &m, err);
    bool scored = scores != NULL;
    if (code == PW_OK)
        code = pw_tok_build(&t, root, scores, gguf, err); /* checks all that tokenizer.json says */
    if (code == PW_OK && scored)
        add_merges(root, t);
    if (code == PW_OK) {
        config = make_config(t, &m);
        code = write_object(folder, "tokenizer.json", root, err);
    }
    if (code == PW_OK)
        code = write_object(folder, "tokenizer_config.json", config, err);
    cJSON_Delete(config);
    cJSON_Delete(root);
    pw_tokens_close(t);
    free(m.chat);
    return code;
}
