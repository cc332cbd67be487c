/* wait.c - pauses a script: for a key, for a time, or until all earlier commands are finished. */
#include "ui/app.h"
#include "ui/commands/commands.h"
#include <string.h>

#define LONGEST 3600.0 /* seconds */

static const char *const whats[] = {"key", "done", NULL};

static void complete(struct pw_completion *c)
{
    long seconds;
    if (c->at == 0)
        pw_complete_offer_all(c, whats);
    else if (c->at == 1 && pw_text_int(pw_args_word(c->so_far, 0), 0, (long)LONGEST, &seconds))
        pw_complete_offer(c, "s");
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *what = pw_args_word(args, 0), *unit = pw_args_word(args, 1);
    double seconds;
    enum pw_code code = pw_args_limit(&pw_ui_cmd_wait, args, 1, 2, err);
    if (code != PW_OK)
        return code;
    if (strcmp(what, "done") == 0 && unit == NULL)
        return PW_OK; /* the command only runs after all earlier ones are finished */
    if (strcmp(what, "key") == 0 && unit == NULL) {
        pw_script_wait(ctx, PW_WAIT_KEY, 0);
        return PW_OK;
    }
    if (!pw_text_double(what, &seconds) || seconds < 0 || seconds > LONGEST ||
        (unit != NULL && strcmp(unit, "s")))
        return pw_fail(err, PW_EUSER,
                       "wait: allowed are key, done, or seconds from 0 to 3600, such as 'wait 2 s'");
    pw_script_wait(ctx, PW_WAIT_TIME, seconds);
    return PW_OK;
}

const struct pw_command pw_ui_cmd_wait = {
    .name = "wait",
    .search = "sleep",
    .usage = "wait key|done|N s",
    .example = "wait done",
    .summary = "pause a script: until Enter, for N seconds, or until all earlier commands are done",
    .detail = "Later commands of the script, or of the typed line, wait. Without a keyboard `wait key` "
              "continues at\n"
              "once.",
    .where = PW_AT_UI,
    .complete = complete,
    .run = run,
};
