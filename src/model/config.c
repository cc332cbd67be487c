/* config.c - option tables of a model and its optimiser, presets, and checks between options.
 *
 * The defaults in the tables ARE the preset tiny, so that "model" without options and
 * "model tiny" cannot differ. */
#include "model/config.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "kernels/backend.h"
#include "model/theorem.h"

#define AT(member) offsetof(struct pw_config, member)
#define OF(member) offsetof(struct pw_optim, member)

static const char *const norms[] = {"rmsnorm", "layernorm", "none", NULL}; /* enum pw_norm */
static const char *const places[] = {"both", "ff", "after", NULL};         /* enum pw_norm_at */
static const char *const acts[] = {"relu", "gelu", "gelu_tanh", "silu", NULL};
static const char *const biases[] = {"off", "on", "qkv", "mlp", NULL}; /* enum pw_bias */
static const char *const parallels[] = {"off", "on", "shared", NULL};  /* enum pw_parallel */
static const char *const qk_norms[] = {"off", "head", NULL};
static const char *const inits[] = {"pewter", "t5", "theorem1", "theorem2", NULL}; /* enum pw_init */
static const char *const contexts[] = {"fit", NULL};
static const char *const schedules[] = {"constant", "linear", "cosine", NULL};     /* enum pw_schedule */
static const char *const trains[] = {"all", "norms", "encoding", "adapter", NULL}; /* enum pw_trains */

const struct pw_opt pw_config_opts[] = {
    {"layers", PW_OPT_INT, AT(layers), "2", 1, PW_MAX_LAYERS, NULL, 0, "blocks of attention and MLP"},
    {"width", PW_OPT_INT, AT(width), "64", 1, 8192, NULL, 0, "width of the residual stream"},
    {"heads", PW_OPT_INT, AT(heads), "8", 1, 128, NULL, 0, "attention heads per layer"},
    {"head_width", PW_OPT_INT, AT(head_width), "0", 0, 1024, NULL, 0,
     "width of q, k and v per head; 0: width / heads"},
    {"ffn", PW_OPT_INT, AT(ffn), "0", 0, 65536, NULL, 0, "hidden width of the MLP; 0: 4 * width"},
    {"norm", PW_OPT_CHOICE, AT(norm), "rmsnorm", 0, 0, norms, 0, "rmsnorm: eps 1e-6, layernorm: eps 1e-5"},
    {"norm_at", PW_OPT_CHOICE, AT(norm_at), "both", 0, 0, places, 0,
     "place of norms: before attention and MLP, MLP only, or after each sum, as in the first Transformer"},
    {"act", PW_OPT_CHOICE, AT(act), "relu", 0, 0, acts, 0,
     "activation of the MLP; gelu is exact, gelu_tanh is GPT-2's"},
    {"bias", PW_OPT_CHOICE, AT(bias), "off", 0, 0, biases, 0,
     "biases of attention, MLP and layernorm; qkv: of q, k and v; mlp: not of attention"},
    {"tied", PW_OPT_SWITCH, AT(tied), "off", 0, 0, NULL, 0, "the output head is the embedding"},
    {"scale", PW_OPT_SWITCH, AT(scale), "on", 0, 0, NULL, 0, "multiply scores by 1/sqrt(head_width)"},
    {"logit_scale", PW_OPT_FLOAT, AT(logit_scale), "1", 0, 100, NULL, 0,
     "factor on the normed state before the head; 0: width^-0.5"},
    {"init", PW_OPT_CHOICE, AT(init), "pewter", 0, 0, inits, 0,
     "initialisation; t5: as in T5; theorem1, theorem2: as in 'construct'"},
    {"causal", PW_OPT_SWITCH, AT(causal), "on", 0, 0, NULL, 0, "mask later keys"},
    {"dropout", PW_OPT_FLOAT, AT(dropout), "0", 0, 0.9, NULL, 0, "dropout rate in training"},
    {"context", PW_OPT_INT, AT(context), "128", 2, PW_MAX_CONTEXT, contexts, 0,
     "positions the model can read; fit: those of the task's longest sample, at least the preset's"},
    {"gated", PW_OPT_SWITCH, AT(gated), "off", 0, 0, NULL, PW_OPT_LATER,
     "the MLP is down(act(gate(x)) * up(x)), as in LLaMA"},
    {"kv_heads", PW_OPT_INT, AT(kv_heads), "0", 0, 128, NULL, PW_OPT_LATER,
     "heads of k and v, which query heads share in groups; 0: as many as heads"},
    {"parallel", PW_OPT_CHOICE, AT(parallel), "off", 0, 0, parallels, PW_OPT_LATER,
     "attention and MLP both read the block's input; shared: through one norm"},
    {"qk_norm", PW_OPT_CHOICE, AT(qk_norm), "off", 0, 0, qk_norms, PW_OPT_LATER,
     "head: RMS norm of each head of q and k, as in Qwen3"},
    {"post_norm", PW_OPT_SWITCH, AT(post_norm), "off", 0, 0, NULL, PW_OPT_LATER,
     "also norms of the outputs of attention and MLP, as in Gemma 2"},
    {"head_bias", PW_OPT_SWITCH, AT(head_bias), "off", 0, 0, NULL, PW_OPT_LATER, "bias of the output head"},
    {"norm_eps", PW_OPT_FLOAT, AT(norm_eps), "0", 0, 1, NULL, PW_OPT_LATER,
     "epsilon of the norms; 0: 1e-6 for rmsnorm, 1e-5 for layernorm"},
    {"embed_norm", PW_OPT_SWITCH, AT(embed_norm), "off", 0, 0, NULL, PW_OPT_LATER,
     "norm of the embedding, as in BLOOM"},
    {"embed_scale", PW_OPT_FLOAT, AT(embed_scale), "1", 1e-6, 1e6, NULL, PW_OPT_LATER,
     "factor on token embeddings; Gemma: width^0.5"},
    {"score_scale", PW_OPT_FLOAT, AT(score_scale), "0", 0, 1e6, NULL, PW_OPT_LATER,
     "factor on scores in place of scale; 0: as scale says"},
    {"logit_cap", PW_OPT_FLOAT, AT(logit_cap), "0", 0, 1e6, NULL, PW_OPT_LATER,
     "logits become cap * tanh(logits / cap), as in Gemma 2; 0: off"},
    {"adapter", PW_OPT_INT, AT(adapter), "0", 0, PW_ADAPTER_MOST, NULL, PW_OPT_LATER,
     "rank of a low-rank adapter (LoRA) of every matrix of attention and MLP; 0: none"},
    {"qkv_clip", PW_OPT_FLOAT, AT(qkv_clip), "0", 0, 1e6, NULL, PW_OPT_LATER,
     "limit of q, k and v after their projection, as in MPT; 0: off"},
    {"embed_width", PW_OPT_INT, AT(embed_width), "0", 0, 8192, NULL, PW_OPT_LATER,
     "width of token embeddings, which matrices project to the width and back, as in OPT-350m; 0: width"},
    {0},
};

const struct pw_opt pw_optim_opts[] = {
    {"lr", PW_OPT_FLOAT, OF(lr), "0.003", 0, 10, NULL, 0, "learning rate after warm-up"},
    {"beta1", PW_OPT_FLOAT, OF(beta1), "0.9", 0, 0.9999, NULL, 0, "decay rate of the first moment"},
    {"beta2", PW_OPT_FLOAT, OF(beta2), "0.95", 0, 0.99999, NULL, 0, "decay rate of the second moment"},
    {"eps", PW_OPT_FLOAT, OF(eps), "1e-08", 1e-12, 0.1, NULL, 0, "AdamW's epsilon"},
    {"decay", PW_OPT_FLOAT, OF(decay), "0.01", 0, 10, NULL, 0, "weight decay of matrices and embeddings"},
    {"decay_gains", PW_OPT_SWITCH, OF(decay_gains), "off", 0, 0, NULL, 0, "also decay norm gains"},
    {"clip", PW_OPT_FLOAT, OF(clip), "1", 0, 1e6, NULL, 0, "largest global gradient norm; 0: off"},
    {"warmup", PW_OPT_INT, OF(warmup), "100", 0, 1e9, NULL, 0, "warm-up steps: linear from 0"},
    {"steps", PW_OPT_INT, OF(steps), "1000", 1, 1e9, NULL, 0, "length of the schedule"},
    {"schedule", PW_OPT_CHOICE, OF(schedule), "cosine", 0, 0, schedules, 0,
     "schedule of the learning rate after warm-up"},
    {"floor", PW_OPT_FLOAT, OF(floor), "0.05", 0, 1, NULL, 0, "final learning rate, as a fraction of lr"},
    {"batch", PW_OPT_INT, OF(batch), "32", 1, 4096, NULL, 0, "sequences per step"},
    {"trains", PW_OPT_CHOICE, OF(trains), "all", 0, 0, trains, PW_OPT_LATER,
     "parameters that steps change; those of the encoding are always among them"},
    {"rank", PW_OPT_INT, OF(rank), "0", 0, PW_ADAPTER_MOST, NULL, PW_OPT_LATER,
     "rank of the adapter that trains=adapter adds; 0: 8, or that of the adapter that is there"},
    {0},
};

const char *const pw_preset_names[] = {"tiny", "small", "medium", "paper", NULL};

static void set_small(struct pw_config *cfg, struct pw_optim *opt)
{
    cfg->layers = 3;
    cfg->width = 128;
    cfg->context = 256;
    opt->lr = 1.5e-3f;
}

static void set_medium(struct pw_config *cfg, struct pw_optim *opt)
{
    cfg->layers = 6;
    cfg->width = 256;
    cfg->context = 512;
    opt->lr = 1e-3f;
}

/* Kazemnejad et al. 2023, Table 2, with the details of their released code. It is T5's decoder with unscaled
 * scores, and its initial values compensate for that. The learning rate falls to 1e-7. The gains of RMS norms
 * have weight decay, because the code exempts only LayerNorm and biases. */
static void set_paper(struct pw_config *cfg, struct pw_optim *opt)
{
    cfg->layers = 12;
    cfg->width = 768;
    cfg->heads = 12;
    cfg->tied = true;
    cfg->scale = false;
    cfg->logit_scale = 0;
    cfg->init = PW_INIT_T5;
    cfg->dropout = 0.1f;
    cfg->context = 512;
    opt->lr = 3e-5f;
    opt->beta2 = 0.999f;
    opt->decay = 0.05f;
    opt->decay_gains = true;
    opt->warmup = 2400;
    opt->steps = 40000;
    opt->schedule = PW_SCHEDULE_LINEAR;
    opt->floor = 1e-7f / 3e-5f;
    opt->batch = 64;
}

enum pw_code pw_preset(const char *name, struct pw_config *cfg, struct pw_optim *opt, struct pw_err *err)
{
    static void (*const set[])(struct pw_config *, struct pw_optim *) = {NULL, set_small, set_medium,
                                                                         set_paper};
    int i = 0;

    while (pw_preset_names[i] != NULL && strcmp(name, pw_preset_names[i]) != 0)
        i++;
    if (pw_preset_names[i] == NULL) {
        const char *near = pw_text_nearest(name, pw_preset_names);
        return pw_fail(err, PW_EUSER, "no preset '%s'%s%s%s; there are tiny, small, medium and paper", name,
                       near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
    }
    pw_opt_defaults(pw_config_opts, cfg); /* tiny */
    pw_opt_defaults(pw_optim_opts, opt);
    if (set[i] != NULL)
        set[i](cfg, opt);
    return pw_config_check(cfg, err);
}

static float auto_logit_scale(int width)
{
    return (float)(1 / sqrt(width));
}

void pw_config_unset_width(struct pw_config *cfg)
{
    cfg->head_width = 0;
    if (pw_theorem_of(cfg) == 0) /* otherwise the MLP's width is the number of positions it counts */
        cfg->ffn = 0;
    if (cfg->logit_scale == auto_logit_scale(cfg->width) && cfg->logit_scale != 1)
        cfg->logit_scale = 0;
}

bool pw_config_bias_qkv(const struct pw_config *cfg)
{
    return cfg->bias == PW_BIAS_ON || cfg->bias == PW_BIAS_QKV;
}

bool pw_config_bias_o(const struct pw_config *cfg)
{
    return cfg->bias == PW_BIAS_ON;
}

bool pw_config_bias_mlp(const struct pw_config *cfg)
{
    return cfg->bias == PW_BIAS_ON || cfg->bias == PW_BIAS_MLP;
}

bool pw_config_bias_norm(const struct pw_config *cfg)
{
    return pw_config_bias_mlp(cfg) && cfg->norm == PW_NORM_LAYER;
}

int pw_config_norm_attn(const struct pw_config *cfg)
{
    return cfg->norm_at == PW_NORM_AT_BOTH ? cfg->norm : PW_NORM_NONE;
}

int pw_config_norm_mlp(const struct pw_config *cfg)
{
    return cfg->norm_at == PW_NORM_AT_AFTER ? PW_NORM_NONE : cfg->norm;
}

bool pw_config_norm_after(const struct pw_config *cfg)
{
    return cfg->post_norm || cfg->norm_at == PW_NORM_AT_AFTER;
}

bool pw_config_plain(const struct pw_config *cfg)
{
    struct pw_config own = *cfg;

    own.adapter = 0;
    for (const struct pw_opt *o = pw_config_opts; o->name != NULL; o++)
        if (o->size == PW_OPT_LATER && !pw_opt_left_out(o, &own))
            return false;
    return true;
}

float pw_config_score_scale(const struct pw_config *cfg)
{
    if (cfg->score_scale > 0)
        return cfg->score_scale;
    return cfg->scale ? (float)(1 / sqrt(cfg->head_width)) : 1;
}

int pw_config_embed_width(const struct pw_config *cfg)
{
    return cfg->embed_width > 0 ? cfg->embed_width : cfg->width;
}

int pw_config_kv_heads(const struct pw_config *cfg)
{
    return cfg->kv_heads > 0 ? cfg->kv_heads : cfg->heads;
}

/* Relations of the options of published families. */
static enum pw_code check_families(const struct pw_config *cfg, struct pw_err *err)
{
    bool none = cfg->norm == PW_NORM_NONE, after = cfg->norm_at == PW_NORM_AT_AFTER;

    if (cfg->kv_heads > 0 && cfg->heads % cfg->kv_heads != 0)
        return pw_fail(err, PW_EUSER, "kv_heads=%d heads=%d: the heads must be a multiple of kv_heads",
                       cfg->kv_heads, cfg->heads);
    if (cfg->parallel != PW_PARALLEL_OFF && cfg->norm_at != PW_NORM_AT_BOTH)
        return pw_fail(err, PW_EUSER, "parallel=%s norm_at=%s: a parallel block needs norm_at=both",
                       parallels[cfg->parallel], places[cfg->norm_at]);
    if (after && cfg->post_norm)
        return pw_fail(err, PW_EUSER,
                       "norm_at=after post_norm=on: one norm after attention and MLP is allowed; use "
                       "post_norm=off or norm_at=both");
    if (none && (cfg->post_norm || cfg->embed_norm || after))
        return pw_fail(err, PW_EUSER,
                       "%s norm=none: there is no norm to apply; use norm=rmsnorm or layernorm",
                       cfg->post_norm ? "post_norm=on"
                       : after        ? "norm_at=after"
                                      : "embed_norm=on");
    return PW_OK;
}

enum pw_code pw_config_check(struct pw_config *cfg, struct pw_err *err)
{
    int head_width = cfg->head_width, ffn = cfg->ffn;

    if (cfg->context == 0)
        return pw_fail(err, PW_EUSER, "context=fit: there is no task here; use context=N");
    if (head_width == 0) {
        if (cfg->width % cfg->heads != 0)
            return pw_fail(
                err, PW_EUSER,
                "width=%d heads=%d: the width must be a multiple of the heads; or use head_width=N",
                cfg->width, cfg->heads);
        head_width = cfg->width / cfg->heads;
    }
    if (ffn == 0)
        ffn = 4 * cfg->width;
    if ((long)cfg->heads * head_width > 65536)
        return pw_fail(err, PW_EUSER, "heads=%d head_width=%d: their product may be at most 65536",
                       cfg->heads, head_width);
    enum pw_code code = check_families(cfg, err);
    if (code != PW_OK)
        return code;
    if (cfg->logit_scale == 0)
        cfg->logit_scale = auto_logit_scale(cfg->width);
    if (cfg->embed_width == cfg->width)
        cfg->embed_width = 0;
    cfg->head_width = head_width;
    cfg->ffn = ffn;
    return pw_theorem_check(cfg, err);
}

bool pw_config_released(const struct pw_config *cfg)
{
    return !cfg->scale && cfg->init == PW_INIT_T5;
}

float pw_optim_lr(const struct pw_optim *o, long t)
{
    const double pi = 3.14159265358979323846;
    double lr = o->lr, floor = o->floor, done;

    assert(t >= 1);
    if (t <= o->warmup)
        return (float)(lr * (double)t / o->warmup);
    if (o->schedule == PW_SCHEDULE_CONSTANT)
        return o->lr;
    if (t >= o->steps)
        return (float)(lr * floor);
    done = (double)(t - o->warmup) / (o->steps - o->warmup);
    if (o->schedule == PW_SCHEDULE_LINEAR)
        return (float)(lr * (1 - (1 - floor) * done));
    return (float)(lr * (floor + (1 - floor) * 0.5 * (1 + pw_cos(pi * done))));
}
