/* race - one fresh arm for each encoding, all on the same batches. */
#include <stdlib.h>
#include <string.h>

#include "lab/lab_int.h"

#define MOST 32

/* Cuts "none,t5(buckets=8,distance=16),alibi" at the commas outside parentheses. */
static int cut(char *list, char **out)
{
    int n = 0, depth = 0;
    out[n++] = list;
    for (char *c = list; *c != '\0'; c++) {
        depth += (*c == '(') - (*c == ')');
        if (*c == ',' && depth == 0 && n < MOST) {
            *c = '\0';
            out[n++] = c + 1;
        }
    }
    return n;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    char *list = NULL, *pes[MOST];
    if (args->n != 1 || args->words[0].key != NULL)
        return pw_fail(err, PW_EUSER,
                       "usage: race PE,PE,...; options in parentheses: t5(buckets=8,distance=16)");
    list = strdup(args->words[0].value);
    if (list == NULL)
        return pw_fail(err, PW_ENOMEM, "out of memory");
    enum pw_code code = pw_lab_race(ctx, pes, cut(list, pes), err);
    free(list);
    return code;
}

static int complete(const struct pw_args *so_far, int at, const char **names, int max)
{
    (void)so_far;
    int n = 0;
    for (; at == 0 && n < max && pw_pes[n] != NULL; n++)
        names[n] = pw_pes[n]->name;
    return n;
}

const struct pw_command pw_cmd_race = {
    .name = "race",
    .usage = "race PE,PE,...",
    .summary = "a fresh arm for each encoding, same model, seed and batches",
    .detail = "race none,t5,alibi,rotary,sinusoidal; train\n"
              "race t5(buckets=8,distance=16),t5(buckets=32,distance=128)",
    .where = PW_AT_LAB,
    .complete = complete,
    .run = run,
};
