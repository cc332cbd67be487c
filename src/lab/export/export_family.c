/* export_family.c - `export weights FOLDER/`: a model that came from another program, as a folder in the
 * names of its family, so that transformers loads it. */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "foreign/foreign.h"
#include "lab/core/lab_int.h"
#include "lab/export/export_int.h"
#include "tokens/tokens.h"

bool pw_export_is_folder(const char *path)
{
    struct stat st;
    return pw_text_ends(path, "/") || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Writes the tokenizer of a GGUF file. One that can't be read is no failure, because the weights are there.
 */
static void write_tokens(struct pw_lab *lab, const char *source, const char *folder)
{
    struct pw_err err;
    if (pw_text_ends(source, ".gguf") && pw_tokens_write(source, folder, &err) != PW_OK)
        pw_lab_note(lab, "export weights: no tokenizer is written: %s", err.msg);
}

enum pw_code pw_lab_export_family(struct pw_lab *lab, const struct pw_replica *arm, const char *folder,
                                  struct pw_err *err)
{
    struct pw_foreign *f;
    struct stat st;
    if (arm->source[0] == '\0')
        return pw_fail(
            err, PW_EUSER,
            "export weights: %s: arm %d did not come from 'model from=PATH', so no family has names "
            "for it; a file name that ends in .safetensors takes pewter's names",
            folder, arm->id);
    bool there = pw_file_stat(arm->source, &st);
    enum pw_code code = there ? pw_foreign_open(&f, arm->source, false, err)
                              : pw_foreign_recall(&f, arm->source, pw_model_origin(arm->model), err);
    if (code == PW_OK)
        code = pw_foreign_write(f, arm->model, folder, err);
    pw_foreign_close(f);
    if (code == PW_OK && there)
        write_tokens(lab, arm->source, folder);
    else if (code == PW_OK)
        pw_lab_note(lab,
                    "export weights: %s is missing: config.json is that which the model keeps, and no "
                    "tokenizer is written",
                    arm->source);
    if (code != PW_OK)
        pw_err_at(err, "export weights");
    return code;
}
