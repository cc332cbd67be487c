/* model - set the shape of an arm. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "command/lex.h"
#include "lab/actions.h"
#include "lab/offer.h"
#include "lab/scope.h"

/* An encoding that was given by its name alone keeps its option values, even if the name would now mean other
 * values. Then a note says so. */
static void note_kept_encoding(struct pw_lab *lab, const struct pw_replica *arm,
                               const struct pw_config *before)
{
    struct pw_pe_use_opts then, now;
    struct pw_str kept = {0}, fresh = {0};
    const char *name = arm->pe.pe->name;
    if (pw_pe_find(name) != NULL && pw_pe_parse(&then, name, before, NULL) == PW_OK &&
        pw_pe_parse(&now, name, &arm->cfg, NULL) == PW_OK && memcmp(&then, &arm->pe, sizeof then) == 0 &&
        memcmp(&then, &now, sizeof then) != 0) {
        pw_pe_print(&arm->pe, &kept);
        pw_pe_print(&now, &fresh);
        pw_lab_note(lab, "arm %d keeps %s; 'pe %s' changes it to %s", arm->id, pw_str_text(&kept), name,
                    pw_str_text(&fresh));
    }
    pw_str_fini(&kept);
    pw_str_fini(&fresh);
}

/* The second table: arm=K, and from=PATH. */
struct also {
    int arm;
    char from[1024];
};

static const struct pw_opt also_opts[] = {
    PW_ARM_OPT(offsetof(struct also, arm)),
    {"from", PW_OPT_TEXT, offsetof(struct also, from), NULL, 0, 0, NULL, sizeof((struct also *)0)->from,
     "a model of another program: a folder with config.json and safetensors, a .gguf file, or its name in "
     "Hugging Face's cache"},
    {0},
};

/* model from=PATH [context=N]. */
static enum pw_code import_model(struct pw_lab *lab, struct pw_replica *arm, const struct pw_args *args,
                                 struct pw_err *err)
{
    struct pw_config cfg = {0};
    enum pw_code code = PW_OK;
    for (int i = 0; i < args->n && code == PW_OK; i++) {
        const struct pw_word *w = &args->words[i];
        if (w->key != NULL && strcmp(w->key, "context") == 0)
            code = pw_opt_set(pw_config_opts, &cfg, "model", w->key, w->value, err);
        else if (w->key == NULL || strcmp(w->key, "from") != 0)
            code = pw_fail(err, PW_EUSER,
                           "model: '%s' beside from=: the file decides the model; only context= is allowed",
                           w->key != NULL ? w->key : w->value);
    }
    return code == PW_OK ? pw_lab_import_model(lab, arm, pw_args_key(args, "from"), cfg.context, err) : code;
}

static enum pw_code run_on(struct pw_lab *lab, struct pw_replica *arm, const struct pw_args *args,
                           struct pw_err *err)
{
    struct pw_config cfg = arm->cfg, before = arm->cfg;
    struct pw_optim optim = arm->optim;
    int id = arm->id;
    char preset[sizeof arm->preset];
    if (pw_args_key(args, "from") != NULL)
        return import_model(lab, arm, args, err);
    snprintf(preset, sizeof preset, "%s", arm->preset);
    if (pw_args_words(args) > 1)
        return pw_fail(err, PW_EUSER, "model: '%s': at most one preset is allowed", pw_args_word(args, 1));
    enum pw_code code = PW_OK;
    if (pw_args_words(args) == 1) {
        code = pw_preset(pw_args_word(args, 0), &cfg, &optim, err);
        snprintf(preset, sizeof preset, "%s", pw_args_word(args, 0));
    }
    /* A value that is derived from a given key is derived again, unless it is given as well. */
    if (pw_args_key(args, "heads") != NULL)
        cfg.head_width = 0;
    if (pw_args_key(args, "width") != NULL)
        pw_config_unset_width(&cfg);
    int least = cfg.context;
    if (code == PW_OK)
        code = pw_args_opts(args, pw_config_opts, &cfg, err);
    pw_lab_fit_context(pw_lab_facts(lab).tasks, &cfg, least);
    if (code == PW_OK)
        code = pw_lab_set_model(lab, arm, preset, &cfg, &optim, err);
    if (code == PW_OK && args->n == 0) {
        struct pw_str s = {0};
        pw_opt_print(pw_config_opts, &cfg, false, &s);
        pw_lab_note(lab, "model %s%s", preset, pw_str_text(&s));
        pw_str_fini(&s);
    }
    if (code == PW_OK) {
        const struct pw_replica *now = pw_lab_arm(lab, id);
        note_kept_encoding(lab, now, &before);
        pw_lab_warn_of_length(lab, now);
    }
    return code;
}

static enum pw_code run(void *ctx, const struct pw_args *args, struct pw_err *err)
{
    return pw_scope_run(ctx, args, run_on, err);
}

static void complete(struct pw_completion *c)
{
    if (c->at == 0)
        pw_complete_offer_all(c, pw_preset_names);
}

static void offer_path(void *arg, const char *path)
{
    pw_complete_offer(arg, "%s", path);
}

static void complete_value(struct pw_completion *c)
{
    if (strcmp(c->key, "from") == 0)
        pw_complete_files(c->prefix, offer_path, c);
    else
        pw_offer_values(c);
}

const struct pw_command pw_cmd_model = {
    .name = "model",
    .search = "architecture transformer layers heads size pretrained checkpoint huggingface gguf safetensors "
              "import",
    .usage = "model [PRESET] [key=value] [arm=K] | model from=PATH [context=N] [arm=K]",
    .example = "model tiny context=256",
    .summary = "set the model of the current arm, or of arm K; draws new weights",
    .detail =
        "A preset (tiny, small, medium, paper) sets model, optimiser and steps; keys override it.\n"
        "context=fit takes as many positions as the task's longest sample needs, at least the preset's.\n"
        "paper is the model of Kazemnejad et al. 2023. With its scale=off init=t5, an encoding without "
        "options\n"
        "is that of their released code: rotary rotates a quarter of the head, interleaved; sinusoidal puts\n"
        "sines first; t5 has 32 buckets up to 128. 'pe NAME' after 'model paper' shows the options.\n"
        "The options from gated on are those of published families: 'model gated=on act=silu kv_heads=2'\n"
        "has LLaMA's block, 'model norm=layernorm bias=on act=gelu parallel=on' that of GPT-NeoX.\n"
        "'model norm=layernorm norm_at=after bias=on' has that of the first Transformer: post-norm.\n"
        "from=PATH reads a trained model of another program, with its encoding and context: a folder with\n"
        "config.json and model.safetensors (or shards), or a .gguf file. Families: GPT-2, GPT-NeoX, GPT-J,\n"
        "LLaMA, Mistral, Qwen2, Qwen3, SmolLM3, BLOOM, MPT, OPT, Gemma 1 to 3. A note shows its encoding.\n"
        "from=gpt2 or from=ORG/NAME finds a model that Hugging Face's programs have fetched to this disk.\n"
        "'export weights FOLDER/' writes it for transformers.\n"
        "With its tokenizer the task becomes text, otherwise numbers ('task ids'): prompt 17 4.",
    .where = PW_AT_LAB,
    .opts = pw_config_opts,
    .also = also_opts,
    .complete = complete,
    .values = complete_value,
    .run = run,
};
