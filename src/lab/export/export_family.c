/* export_family.c - `export weights FOLDER/`: a model that came from another program, as a folder in the
 * names of its family, so that transformers loads it. */
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "foreign/foreign.h"
#include "lab/core/lab_int.h"
#include "lab/export/export_int.h"

bool pw_export_is_folder(const char *path)
{
    struct stat st;
    return pw_text_ends(path, "/") || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

enum pw_code pw_lab_export_family(const struct pw_replica *arm, const char *folder, struct pw_err *err)
{
    struct pw_foreign *f;
    if (arm->source[0] == '\0')
        return pw_fail(
            err, PW_EUSER,
            "export weights: %s: arm %d did not come from 'model from=PATH', so no family has names "
            "for it; a file name that ends in .safetensors takes pewter's names",
            folder, arm->id);
    enum pw_code code = pw_foreign_open(&f, arm->source, false, err);
    if (code == PW_OK)
        code = pw_foreign_write(f, arm->model, folder, err);
    pw_foreign_close(f);
    if (code != PW_OK)
        pw_err_at(err, "export weights");
    return code;
}
