/* tokens.h - tokenizers by tokenizer.json, the file of Hugging Face's library tokenizers, or by the metadata
 * of a GGUF file.
 *
 * Byte pair encoding is read, with pieces of bytes (GPT-2, GPT-NeoX, Llama 3, Qwen) or of characters with
 * single bytes for the rest (LLaMA-2, Gemma). Text becomes ids in four stages, as in that library: added
 * tokens are cut out, the rest is normalised, split into words, and each word is merged from its characters.
 * The ids and the decoded text are those of tokenizers. Unknown types of steps are refused by name.
 *
 * Differences, on purpose. The members truncation and padding are not read. No token is put before or after a
 * text by itself: pw_tokens_before has those that the file puts before one. A character without a piece is an
 * error if the file has no unk_token; tokenizers drops it. Text that is not UTF-8 is an error. Characters
 * that are newer than the Unicode tables of PCRE2 and utf8proc can be split otherwise.
 *
 * In a GGUF file the model must be llama, or gpt2 with a tokenizer.ggml.pre of default, gpt-2, smollm,
 * llama-bpe or qwen2. Control tokens are special, and user-defined ones are cut out of the text as it is.
 *
 * Errors are PW_EUSER with one line, or PW_ENOMEM. An opened tokenizer is read-only, for any thread. */
#ifndef PW_TOKENS_H
#define PW_TOKENS_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

#define PW_TOKENS_MOST  (1 << 20)   /* ids of a tokenizer */
#define PW_TOKENS_FILE  (128 << 20) /* bytes of a tokenizer.json */
#define PW_TOKENS_TEXT  (1 << 30)   /* bytes of a text */
#define PW_TOKENS_LABEL 24          /* bytes of a label, NUL included */

struct pw_tokens;

/* Opens a file, or n bytes of its content, which messages call `name`. A path that ends in .gguf is mapped,
 * not read, and can have any size. Content that begins like GGUF is read as such. On failure *t is NULL. */
enum pw_code pw_tokens_open(struct pw_tokens **t, const char *path, struct pw_err *err);
enum pw_code pw_tokens_open_text(struct pw_tokens **t, const char *text, size_t n, const char *name,
                                 struct pw_err *err);
void pw_tokens_close(struct pw_tokens *t); /* NULL is a no-op */

/* Writes the tokenizer of a GGUF file as tokenizer.json and tokenizer_config.json into a folder, which must
 * be there, so that AutoTokenizer of transformers gives the same ids. With it go the begin, end, unknown and
 * padding tokens, and the chat template. Both files appear complete or not at all. */
enum pw_code pw_tokens_write(const char *gguf, const char *folder, struct pw_err *err);

/* Returns the number of ids: 0 .. count - 1. The file can leave some of them without a piece. */
int pw_tokens_count(const struct pw_tokens *t);

/* A growing list of ids; {0} is empty. */
struct pw_token_list {
    int *ids;
    size_t n, cap;
};
void pw_token_list_fini(struct pw_token_list *list);

/* Appends the ids of n bytes of text. Added tokens that occur in the text become their ids. After a failure
 * the list holds a part of them. */
enum pw_code pw_tokens_encode(const struct pw_tokens *t, const char *text, size_t n,
                              struct pw_token_list *list, struct pw_err *err);

/* Appends the text of n ids, which is always valid UTF-8: as in tokenizers, bytes that do not form a
 * character become U+FFFD. `special`: with the special tokens among them, otherwise without. */
enum pw_code pw_tokens_decode(const struct pw_tokens *t, const int *ids, size_t n, bool special,
                              struct pw_str *out, struct pw_err *err);

/* Returns the bytes that an id stands for inside of a text, and their number; the bytes can be a part of a
 * character. An id without a piece has none. */
const char *pw_tokens_bytes(const struct pw_tokens *t, int id, size_t *n);
/* Returns the piece as the file spells it ("Ġthe"); NULL: none. */
const char *pw_tokens_piece(const struct pw_tokens *t, int id);
/* Returns the id of a piece as the file spells it; -1: none. */
int pw_tokens_find(const struct pw_tokens *t, const char *piece);
/* Returns true for a special token, such as an end mark. */
bool pw_tokens_special(const struct pw_tokens *t, int id);
/* Writes a short printable label: a space is "·", a newline "↵", a tabulator "⇥", a byte that is only a part
 * of a character <0xE2>, as is every byte of a vocabulary with such pieces. Several ids can have the same
 * label. */
void pw_tokens_label(const struct pw_tokens *t, int id, char label[PW_TOKENS_LABEL]);
/* Writes up to `max` ids that the file puts before a text (a begin mark), and returns the number of all. */
int pw_tokens_before(const struct pw_tokens *t, int *ids, int max);

#endif
