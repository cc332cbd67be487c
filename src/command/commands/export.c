/* export - what the lab knows, as a file. */
#include <string.h>

#include "lab/lab_int.h"
#include "lab/offer.h"

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    const char *what = pw_args_word(args, 0), *path = pw_args_word(args, 1);
    if (path == NULL || pw_args_words(args) > 2)
        return pw_fail(err, PW_EUSER, "usage: export WHAT FILE [key=value]; 'help export' lists WHAT");
    return pw_lab_export(ctx, what, path, args, err);
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, pw_export_names);
}

static void values(struct pw_completion *c)
{
    if (strcmp(c->key, "length") == 0 && strcmp(pw_args_word(c->so_far, 0), "activations") == 0)
        pw_offer_lengths(c);
    else
        pw_offer_values(c);
}

static const struct pw_opt *opts_for(const struct pw_args *so_far)
{
    return pw_args_words(so_far) > 0 ? pw_export_opts(pw_args_word(so_far, 0)) : NULL;
}

const struct pw_command pw_cmd_export = {
    .name = "export",
    .usage = "export WHAT FILE [key=value]",
    .summary = "write a file; its ending chooses the format",
    .detail =
        "  weights F.safetensors [moments=on]  the current arm; with AdamW's moments it can be resumed\n"
        "  attention F.npz                     tokens, labels, probs, score, content, bias [L,H,T,T], "
        "logits, resid\n"
        "  logits F.npz                        tokens [T] and logits [T,V] of the pinned prompt\n"
        "  step F.json                         what led to the token at the cursor: candidates, what each "
        "head and\n"
        "                                      MLP adds to their logits, logit lens\n"
        "  curves F.csv|jsonl                  loss, accuracy, lr, grad_norm, flops of every step of every "
        "model\n"
        "  track F.csv|jsonl                   exact match at every evaluation, trained and longer lengths\n"
        "  updates F.csv|jsonl                 |change| / |weights| of each block, every 10 steps\n"
        "  tensorboard FOLDER                  the same three for TensorBoard, a run a model: 'tensorboard "
        "--logdir FOLDER'\n"
        "  lengths F.csv|jsonl                 the last evaluation of every model, with Wilson's 95 % "
        "interval;\n"
        "                                      a row a pair where a length is one (length_a, length_b)\n"
        "  errors F.csv|jsonl                  of the same evaluations, fractions of the samples: exact; "
        "forced: "
        "exact but\n"
        "                                      for the end mark; what goes wrong first (early: the end mark "
        "too soon,\n"
        "                                      late: everything right but no end mark, wrong: another token) "
        "and at\n"
        "                                      which token of the answer (first_error_1, ...)\n"
        "  table F.json [length=N]             the current arm's encoding\n"
        "  data F.jsonl [split=train|valid|test|all] [n=N]   samples as text; all of a fixed set\n"
        "  batch F.npz                         the current arm's next training batch: tokens, targets [B,T]\n"
        "  activations F.npz [samples=N] [length=L] [sites=q,k,v,z,mlp,resid] [task=NAME]\n"
        "      of the evaluation samples of a length, their R tokens one after the other: tokens, targets "
        "(-1: not\n"
        "      scored), sample, position, prompt (1: still in it) [R]; q, k (rotated where the encoding "
        "rotates,\n"
        "      unscaled), v, z (heads' outputs before W_o) [L,R,H,D], mlp (after the activation) [L,R,F], "
        "resid\n"
        "      (0: the embedding) [L+1,R,C]",
    .where = PW_AT_LAB,
    .opts_for = opts_for,
    .file_at = 2,
    .complete = complete,
    .values = values,
    .outside = pw_command_outside,
    .run = run,
};
