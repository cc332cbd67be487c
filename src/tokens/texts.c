/* texts.c - the texts of all ids: pieces, what the decoder reads, and the bytes of each id.
 *
 * A vocabulary has up to a million short texts. They lie one behind the other in two blocks, and an id has an
 * offset of 32 bits. A block of the C library for each text would take four times the memory, and keep the
 * memory around it from the system. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tokens/tokens_int.h"

/* Appends n bytes and a NUL; *at receives their offset. */
static enum pw_code put_text(struct pw_tok_buf *b, const char *s, size_t n, uint32_t *at, struct pw_err *err)
{
    if (n >= UINT32_MAX - b->n)
        return pw_fail(err, PW_EUSER, "the texts of all pieces have more than 4 GiB");
    if (!pw_tok_room(b, n + 1))
        return pw_tok_no_memory(err);
    *at = (uint32_t)b->n;
    if (n > 0)
        memcpy(b->s + b->n, s, n);
    b->s[b->n + n] = '\0';
    b->n += n + 1;
    return PW_OK;
}

enum pw_code pw_tok_init_texts(struct pw_tokens *t, struct pw_err *err)
{
    uint32_t none; /* 0, so no text that is kept later has this offset */
    t->pieces = pw_alloc((size_t)t->n, sizeof *t->pieces);
    t->bytes_at = pw_alloc((size_t)t->n + 1, sizeof *t->bytes_at);
    return put_text(&t->text, "", 0, &none, err);
}

void pw_tok_fini_texts(struct pw_tokens *t)
{
    free(t->text.s);
    free(t->pieces);
    free(t->spoken);
    free(t->bytes.s);
    free(t->bytes_at);
}

enum pw_code pw_tok_keep_piece(struct pw_tokens *t, int id, const char *piece, size_t n, struct pw_err *err)
{
    return put_text(&t->text, piece, n, &t->pieces[id], err);
}

enum pw_code pw_tok_keep_spoken(struct pw_tokens *t, int id, const char *s, size_t n, struct pw_err *err)
{
    if (t->spoken == NULL)
        t->spoken = pw_alloc((size_t)t->n, sizeof *t->spoken);
    return put_text(&t->text, s, n, &t->spoken[id], err);
}

enum pw_code pw_tok_keep_bytes(struct pw_tokens *t, int id, const char *s, size_t n, struct pw_err *err)
{
    enum pw_code code = put_text(&t->bytes, s, n, &t->bytes_at[id], err);
    t->bytes_at[id + 1] = (uint32_t)t->bytes.n;
    return code;
}

static void shrink(struct pw_tok_buf *b)
{
    b->s = pw_grow(b->s, b->n, 1);
    b->cap = b->n;
}

void pw_tok_shrink_texts(struct pw_tokens *t)
{
    shrink(&t->text);
    shrink(&t->bytes);
}

const char *pw_tokens_piece(const struct pw_tokens *t, int id)
{
    return t->pieces[id] > 0 ? t->text.s + t->pieces[id] : NULL;
}

const char *pw_tok_spoken(const struct pw_tokens *t, int id)
{
    return t->spoken != NULL && t->spoken[id] > 0 ? t->text.s + t->spoken[id] : pw_tokens_piece(t, id);
}

const char *pw_tokens_bytes(const struct pw_tokens *t, int id, size_t *n)
{
    *n = t->bytes_at[id + 1] - t->bytes_at[id] - 1; /* without the NUL */
    return t->bytes.s + t->bytes_at[id];
}
