/* unbind.c - removes the binding of a key. */
#include "ui/app.h"
#include "ui/commands/commands.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    struct pw_app *app = ctx;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_unbind, args, 1, 1, err);
    if (code != PW_OK)
        return code;
    const char *name = pw_args_word(args, 0);
    int key = pw_key_named(name);
    if (key == 0)
        return pw_key_unknown("unbind", name, err);
    if (!pw_bindings_remove(&app->ui.bindings, key))
        return pw_fail(err, PW_EUSER, "unbind: %s is not bound; `bind` lists the bindings", name);
    return PW_OK;
}

/* Offers the bound keys. */
static void complete(struct pw_completion *c)
{
    const struct pw_ui *ui = c->seen;
    for (int i = 0; ui != NULL && c->at == 0 && i < ui->bindings.n; i++) {
        char name[PW_KEY_NAME];
        pw_key_name(ui->bindings.list[i].key, name);
        pw_complete_offer(c, "%s", name);
    }
}

const struct pw_command pw_ui_cmd_unbind = {
    .name = "unbind",
    .usage = "unbind KEY",
    .example = "unbind F5",
    .summary = "remove a key's binding",
    .where = PW_AT_UI,
    .complete = complete,
    .run = run,
};
