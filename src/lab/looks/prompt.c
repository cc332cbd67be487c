/* prompt.c - a prompt as it is typed, or the text of a file.
 *
 * A command is one line of at most PW_COMMAND bytes, and a long prompt does not fit there. path=FILE names a
 * file instead. A session keeps a copy of the file (lab/loop/files.c), and the event has the tokens, so a
 * replay and a re-run need no file. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"

#define BY_FILE    "path="
#define MOST_BYTES ((size_t)4 << 20) /* 32 bytes for each token of the longest context */

/* Read the file's text into *text, which the caller frees. A final newline is the end of the last line, and
 * no part of the prompt. */
static enum pw_code read_prompt(const char *path, char **text, struct pw_err *err)
{
    size_t size;
    enum pw_code code = pw_file_read(path, MOST_BYTES, text, &size, err);
    if (code != PW_OK)
        return code;
    if (strlen(*text) != size) {
        free(*text);
        return pw_fail(err, PW_EUSER, "prompt: %.240s has a zero byte; a prompt is UTF-8 text", path);
    }
    if (size > 0 && (*text)[size - 1] == '\n')
        (*text)[--size] = '\0';
    if (size > 0 && (*text)[size - 1] == '\r')
        (*text)[size - 1] = '\0';
    return PW_OK;
}

/* Pin the text as a prompt that was typed as `line`. */
static enum pw_code pin_text(struct pw_lab *lab, const char *text, const char *line, struct pw_err *err)
{
    int context = pw_lab_current(lab)->cfg.context;
    struct pw_sample x = {.tokens = pw_alloc((size_t)context, sizeof(int)), .cap = context};
    enum pw_code code = pw_taskset_prompt(&lab->tasks, text, context, &x, err);
    if (code == PW_OK)
        code = pw_lab_pin(lab, &x, line, -1, NULL, err);
    free(x.tokens);
    return code;
}

enum pw_code pw_lab_prompt(struct pw_lab *lab, const char *line, struct pw_err *err)
{
    size_t n = strlen(BY_FILE);
    char *text;
    if (strncmp(line, BY_FILE, n) != 0)
        return pin_text(lab, line, line, err);
    char *path = pw_text_dup(line + n);
    size_t last = strlen(path);
    if (last > 1 && path[0] == '"' && path[last - 1] == '"') {
        path[last - 1] = '\0';
        memmove(path, path + 1, last - 1);
    }
    enum pw_code code = read_prompt(path, &text, err);
    free(path);
    if (code != PW_OK)
        return code;
    code = pin_text(lab, text, line, err);
    free(text);
    return code;
}
