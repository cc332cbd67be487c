/* arm - the resident models: list, choose, add, drop. */
#include <stdio.h>
#include <string.h>

#include "lab/actions.h"
#include "lab/encodings.h"
#include "lab/offer.h"

static void list(struct pw_lab *lab)
{
    struct pw_lab_facts now = pw_lab_facts(lab);
    for (int i = 1; i <= PW_MAX_ARMS; i++) {
        struct pw_replica *a = pw_lab_arm(lab, i);
        struct pw_str pe = {0};
        if (a == NULL)
            continue;
        pw_encoding_shown(&pe, &a->pe);
        char parent[48] = "";
        if (a->parent > 0)
            snprintf(parent, sizeof parent, ", fork of %d @ %lld", a->parent, (long long)a->parent_step);
        char seeds[96] = "";
        int n = pw_lab_n_replicas(lab, i);
        char inspected[32] = "";
        if (i == now.current && now.replica > 1)
            snprintf(inspected, sizeof inspected, ", replica %d inspected", now.replica);
        if (n > 1)
            snprintf(seeds, sizeof seeds, "..%llu n=%d%s%s", (unsigned long long)a->seed + n - 1, n,
                     now.own_batches ? ", own batches" : "", inspected);
        char adapter[32];
        pw_lab_adapter_text(adapter, a);
        pw_lab_note(lab, "%c arm %d: %s, %s %dx%d%s, %zu parameters, seed %llu%s, step %lld%s%s",
                    i == now.current ? '*' : ' ', i, pw_str_text(&pe), pw_lab_shape(a), a->cfg.layers,
                    a->cfg.width, adapter, pw_model_size(a->model), (unsigned long long)a->seed, seeds,
                    (long long)a->step, parent, a->swaps > 0 ? ", encoding swapped" : "");
        pw_str_fini(&pe);
    }
}

static enum pw_code add_arm(struct pw_lab *lab, const struct pw_args *args, struct pw_err *err)
{
    struct pw_str pe = {0};
    int id;
    if (pw_args_words(args) < 2)
        return pw_fail(err, PW_EUSER, "usage: arm add PE [key=value]");
    enum pw_code code = pw_encoding_words(args, 1, NULL, &pe, err);
    if (code == PW_OK)
        code = pw_lab_add_arm(lab, pw_str_text(&pe), &id, err);
    if (code == PW_OK) {
        struct pw_str shown = {0};
        pw_lab_note(lab, "arm %d: %s", id, pw_encoding_text(&shown, pw_str_text(&pe)));
        pw_str_fini(&shown);
        pw_lab_note_encoding(lab, pw_lab_arm(lab, id));
    }
    pw_str_fini(&pe);
    return code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *what = pw_args_word(args, 0);
    long id = 0;
    if (args->n == 0) {
        list(ctx);
        return PW_OK;
    }
    if (what != NULL && strcmp(what, "add") == 0)
        return add_arm(ctx, args, err);
    if (what != NULL && args->n == 1 && (strcmp(what, "next") == 0 || strcmp(what, "prev") == 0))
        return pw_lab_choose_next(ctx, what[0] == 'n' ? 1 : -1, err);
    bool drop = what != NULL && strcmp(what, "drop") == 0;
    const char *number = pw_args_word(args, drop ? 1 : 0);
    if (number == NULL || pw_args_words(args) != args->n || args->n > (drop ? 2 : 1) ||
        !pw_text_int(number, 1, PW_MAX_ARMS, &id))
        return pw_fail(err, PW_EUSER,
                       "usage: arm [N|next|prev] | arm add PE [key=value] | arm drop N; N is 1..%d",
                       PW_MAX_ARMS);
    return drop ? pw_lab_drop_arm(ctx, (int)id, err) : pw_lab_choose_arm(ctx, (int)id, err);
}

/* `arm next`, `arm prev`, `arm N` */
static bool passes_over(const struct pw_args *args)
{
    const char *what = pw_args_word(args, 0);
    long id;
    return args->n == 1 && what != NULL &&
           (strcmp(what, "next") == 0 || strcmp(what, "prev") == 0 || pw_text_int(what, 1, PW_MAX_ARMS, &id));
}

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    return pw_encoding_opts_at(so_far, 1); /* arm add PE */
}

static void complete(struct pw_completion *c)
{
    const char *verb = pw_args_word(c->so_far, 0);
    if (c->at == 0) {
        pw_complete_offer_all(c, (const char *const[]){"next", "prev", "add", "drop", NULL});
        pw_offer_arms(c);
    } else if (c->at == 1 && strcmp(verb, "add") == 0) {
        pw_offer_encodings(c);
    } else if (c->at == 1 && strcmp(verb, "drop") == 0) {
        pw_offer_arms(c);
    }
}

const struct pw_command pw_cmd_arm = {
    .name = "arm",
    .search = "delete remove rm",
    .usage = "arm [N|next|prev] | arm add PE [key=value] | arm drop N",
    .example = "arm add rotary",
    .summary = "list the arms; choose, add or drop one",
    .detail =
        "The current arm answers prompts and is inspected, by the replica that 'inspect replica=R' chose\n"
        "(by its first replica if it has fewer). A new arm takes the current arm's model and number of\n"
        "replicas, and the lab's seed.",
    .where = PW_AT_LAB,
    .formula = true,
    .opts_for = opts_for,
    .complete = complete,
    .passes_over = passes_over,
    .run = run,
};
