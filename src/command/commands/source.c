/* source - the lines of a file, as a script. */
#include <stdlib.h>

#include "base/file.h"
#include "lab/lab_int.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    char *text = NULL;
    size_t size;
    if (args->n != 1 || args->words[0].key != NULL)
        return pw_fail(err, PW_EUSER, "usage: source FILE");
    enum pw_code code = pw_file_read(args->words[0].value, 1 << 20, &text, &size, err);
    if (code == PW_OK)
        code = pw_lab_insert_script(ctx, text, err);
    free(text);
    return code;
}

const struct pw_command pw_cmd_source = {
    .name = "source",
    .usage = "source FILE",
    .summary = "run the commands of a file, one after the other",
    .where = PW_AT_LAB,
    .file_at = 1,
    .run = run,
};
