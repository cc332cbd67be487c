/* ref_digests.c - see ref_digests.h.
 *
 * If a digest changes, every user's models train to different bits. Change a line of the table only as a
 * deliberate decision. A new encoding adds lines; the test prints them. */
#include "tests/model/ref_digests.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "model/model.h"

enum { STEPS = 50, SEQS = 9, LONGEST = 6, VOCAB = 11 };

/* Together these cover every norm and activation, both places of norms, biases, a tied head, both masks, and
 * widths that fill no register. */
#define PLAIN "layers=2 width=32 heads=4 context=32"
#define TIED  "layers=2 width=32 heads=4 context=32 tied=on bias=on norm=layernorm act=gelu logit_scale=0.25"
#define ODD   "layers=1 width=20 heads=5 ffn=33 context=32 norm_at=ff act=gelu_tanh scale=off"
#define OPEN  "layers=1 width=32 heads=2 head_width=24 context=32 norm=none causal=off"

const struct ref_digest ref_digests[] = {
    {"none", PLAIN, {0x555e867a90a04d60, 0x8e12a4a18d5400c0}},
    {"none", TIED, {0xe5febce830aa09e9, 0x272d25b1a8b1bbc8}},
    {"none", ODD, {0x934b80348c4f2274, 0x34026ba428f239ab}},
    {"learned", PLAIN, {0xfa5946a08b96a415, 0xc75b3769f90b1bd9}},
    {"learned", TIED, {0xf047eb5a410c852e, 0x0fa7ace2fb106523}},
    {"sinusoidal", PLAIN, {0xa2ec4c7309a0eaa7, 0x150b3b011af48523}},
    {"sinusoidal layout=split", TIED, {0x6ae35c83772e3169, 0x5fb56e7e59c30cdf}},
    {"t5 buckets=6 distance=8", PLAIN, {0x06cbe79c96c63235, 0x970b5ac6087489ed}},
    {"t5 buckets=8 distance=16", TIED, {0xdb62c466e9edcb2a, 0x92b51347bc4a3c65}},
    {"t5 buckets=6 distance=8", OPEN, {0xc77e5de06c025e55, 0x78aa7f250fb80427}},
    {"alibi", PLAIN, {0x0919c139f3245a3b, 0x46a7067a4a6e1764}},
    {"alibi", TIED, {0x7065fabad6b0783d, 0x21914ea23da50956}},
    {"alibi", ODD, {0x815f1dfaad16eb50, 0x87c1a2137f0e993c}},
    {"rotary", PLAIN, {0x623917bd598372f1, 0x1ae70b334ace27ba}},
    {"rotary dims=4 pairing=interleaved", TIED, {0xba8fa84005823af5, 0x3282b49099f73109}},
    {"rotary", OPEN, {0xdcc16691b9e448e7, 0x59246511b0329999}},
    {"clipped distance=3", PLAIN, {0xc7270d0190a0b907, 0xbae55909ad5da8ce}},
    {"clipped distance=3", OPEN, {0x39c0c603dcd985e1, 0x0d25bf5c3a3578b0}},
    {"rspe", PLAIN, {0x0a41d135752ec190, 0x8540eb39d31fd71f}},
    {"aspe layout=split", TIED, {0x5b24fa8a1b2c4e0d, 0xecd34f1032980c60}},
    {"2dspe", ODD, {0x85df347a817bb758, 0x6535f3a73ebf62f6}},
    {"dpe", PLAIN, {0x0360d9858fd24a41, 0xf34c15232c23e959}},
    {"dpe amplitude=0.5", OPEN, {0xafb35a5f2766fe1a, 0x1aa46cec1eb5939a}},
    {"ldpe", PLAIN, {0x5603ccfdd3416c97, 0x88a960db34b99317}},
    {"ldpe", TIED, {0x3a96a57ecc5f8f82, 0xf4d725725d566bbe}},
    {"ldpe", ODD, {0x91618f3c5566394e, 0x1bc99e5f309a9dbe}},
    {"learned_reversed", PLAIN, {0xfa896a8757914f1a, 0xb55cfa4862d8d97c}},
    {"shaw distance=3", PLAIN, {0xbfc4d808fd156791, 0xed3b358332960930}},
    {"shaw distance=8", TIED, {0x50353ff2bad0e372, 0x0616d8a97dbe1857}},
    {"shaw distance=2", OPEN, {0x2ec94aae10eae32d, 0x3ee020e0e94e844d}},
    {"fire", PLAIN, {0x29c9e012db570f6a, 0x62004ea6fcd44f47}},
    {"fire hidden=5 threshold=3", TIED, {0x265d6166734094cb, 0xae81b0f86e31f62b}},
    {"fire hidden=7 threshold=4", OPEN, {0x11164d757a75bbdc, 0x553792e98666c7d5}},
    {"fox", PLAIN, {0x9528badc1dc29b43, 0xdb9a00ddef8b5363}},
    {"fox open=3", TIED, {0xbef061460b27a1ff, 0x69256452d9121406}},
    {"fox", ODD, {0xb5c7067973a5f888, 0x9f1e131380d36f2d}},
    {"inkling", PLAIN, {0x0e7e5aadafd89214, 0x1f7fee032721a6ae}},
    {"inkling reach=6 alpha=0.5 floor=4", TIED, {0xc97552bfcd0c8135, 0xf15f9daad4cc1222}},
    {"inkling mixes=3", OPEN, {0xf870d0ff79cd31d6, 0x848fe1cf5179e571}},
    {"grape", PLAIN, {0x3e3138bb6e1bb3a3, 0xf75647e8aa8f8619}},
    {"grape gate=key omega=0.5", TIED, {0x52efaed5eb9036e3, 0x334fa09e9fb98bfc}},
    {"grape gate=query", ODD, {0xd234187bfda58a26, 0x8ac07b1e205dc3a5}},
    {"cope", PLAIN, {0xed5d4372180a806f, 0xc30eafc242ba9169}},
    {"cope npos=4", TIED, {0xc70e494f7b8762b2, 0x985f496a457325b4}},
    {"cope npos=3", ODD, {0xec3305a985e565bd, 0x065e24566757057f}},
    {"selective", PLAIN, {0x3f2431d853ea6460, 0xf4525975a3e7eeaa}},
    {"selective", TIED, {0x30c163d53bb782b9, 0x72eacbf2a2361208}},
    {"selective", ODD, {0x5d2796285ed4e377, 0x38da7c1672d94284}},
    {"stickbreaking", PLAIN, {0x8d8e8df5d4aabfb3, 0x30b97a9ea44c9f85}},
    {"stickbreaking", TIED, {0x10b266b7d2c543cc, 0x9b900da71e63769b}},
    {"stickbreaking", ODD, {0xf305b727d50f42de, 0x698c00e50c90f437}},
    {"pope", PLAIN, {0x065febfede5842bf, 0x7069caa562f59f00}},
    {"pope base=100", TIED, {0x07bc0e2f1f13cd48, 0x7d3ad416b1f01609}},
    {"pope", ODD, {0xdecebc564ac54e13, 0x6586d9b9a8399fcc}},
    {"pope", OPEN, {0x4b5aff0309c76cd1, 0x9113237ddcf27961}},
    {"grape_turn", PLAIN, {0x0b8dc29aaff0d2ef, 0x0d6419b119b43874}},
    {"grape_turn base=100 planes=2", TIED, {0x046fa3e6b3bf5add, 0x73382c3d95673976}},
    {"grape_turn", ODD, {0x92ec1284bf023065, 0xc48397c923d4774f}},
    {"grape_turn base=20", OPEN, {0x0eeea24f80ebc0ef, 0x381512adac72844f}},
    {"path", PLAIN, {0xfa1e927b37030317, 0x150d109c1365f397}},
    {"path rank=5 conv=0", TIED, {0x8560cf8a9da4c003, 0x2c5dc2edb270194c}},
    {"path", ODD, {0x2b251d269e83e514, 0x529aa9d039e865b5}},
    {"wall", PLAIN, {0xc40426a86022e7a7, 0xd0ecee5e557dbba6}},
    {"wall gate_bias=1", TIED, {0xc996e8d46521fe0d, 0xbca2ecb2b2fac187}},
    {"wall", ODD, {0xaa874534e098bcee, 0x28dcb4d53bf6b6e1}},
    {NULL, NULL, {0, 0}},
};

/* Sets options "key=value key=value" over the defaults of a table. */
static enum pw_code set_all(const struct pw_opt *table, void *target, const char *options, struct pw_err *err)
{
    char copy[256], *state = NULL;

    pw_opt_defaults(table, target);
    snprintf(copy, sizeof copy, "%s", options);
    for (char *word = strtok_r(copy, " ", &state); word != NULL; word = strtok_r(NULL, " ", &state)) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        enum pw_code code = pw_opt_set(table, target, "digest", word, equals + 1, err);
        if (code)
            return code;
    }
    return PW_OK;
}

/* A training batch: ragged sequences. A token and its position determine the next token, with some noise, so
 * that the model can learn. */
struct batch {
    int start[SEQS + 1];
    int tokens[SEQS * LONGEST], pos[SEQS * LONGEST], rows[SEQS * LONGEST], targets[SEQS * LONGEST];
};

static struct pw_batch make(struct batch *b, int step)
{
    struct pw_rng rng;
    int row = 0, scored = 0;

    pw_rng_init(&rng, 7, PW_STREAM_TEST, (uint64_t)step);
    b->start[0] = 0;
    for (int s = 0; s < SEQS; s++) {
        int T = 1 + (int)pw_rng_below(&rng, LONGEST), token = (int)pw_rng_below(&rng, VOCAB);
        for (int t = 0; t < T; t++, row++) {
            int noise = pw_rng_below(&rng, 8) == 0 ? (int)pw_rng_below(&rng, VOCAB) : 0;
            b->tokens[row] = token;
            b->pos[row] = t;
            token = (3 * token + t + noise) % VOCAB;
            if (t == T - 1 || t % 3 > 0) {
                b->rows[scored] = row;
                b->targets[scored++] = token;
            }
        }
        b->start[s + 1] = row;
    }
    return (struct pw_batch){.n_seqs = SEQS,
                             .n_rows = row,
                             .n_scored = scored,
                             .start = b->start,
                             .tokens = b->tokens,
                             .pos = b->pos,
                             .rows = b->rows,
                             .targets = b->targets};
}

static enum pw_code train(struct pw_model *m, struct pw_err *err)
{
    struct pw_optim optim;
    struct batch memory;
    struct pw_step_result result;
    enum pw_code code = set_all(pw_optim_opts, &optim, "lr=0.01 warmup=10 steps=50", err);

    for (int i = 0; i < STEPS && code == PW_OK; i++) {
        struct pw_batch b = make(&memory, i);
        code = pw_model_step(m, &optim, &b, NULL, &result, err);
    }
    return code;
}

/* Trains the model of d and writes its digest to got. */
static enum pw_code run(const struct ref_digest *d, const struct pw_backend_ops *ops, struct pw_backend *be,
                        uint64_t got[2], struct pw_err *err)
{
    struct pw_config cfg = {.vocab = VOCAB};
    struct pw_pe_use_opts pe;
    struct pw_model *m = NULL;
    enum pw_code code = set_all(pw_config_opts, &cfg, d->config, err);

    if (code == PW_OK)
        code = pw_config_check(&cfg, err);
    if (code == PW_OK)
        code = pw_pe_parse(&pe, d->pe, &cfg, err);
    if (code == PW_OK)
        code = pw_model_create(&m, ops, be, &cfg, &pe, 1, err);
    if (code == PW_OK)
        code = train(m, err);
    if (code == PW_OK)
        pw_model_digest(m, got);
    pw_model_destroy(m);
    return code;
}

/* Prints a line for the table, to be used if a digest is missing or was changed on purpose. */
static void say_line(FILE *out, const struct ref_digest *d, const uint64_t got[2])
{
    static const char *const names[] = {"PLAIN", "TIED", "ODD", "OPEN"};
    static const char *const configs[] = {PLAIN, TIED, ODD, OPEN};
    const char *config = d->config;

    for (int i = 0; i < 4; i++)
        if (strcmp(config, configs[i]) == 0)
            config = names[i];
    fprintf(out, "    {\"%s\", %s, {0x%016" PRIx64 ", 0x%016" PRIx64 "}},\n", d->pe, config, got[0], got[1]);
}

/* Returns true if the digest of d equals the one in the table; otherwise prints the new line of the
 * table, or the error, to out. */
static bool equal(FILE *out, const struct ref_digest *d, const char *isa, int threads)
{
    const struct pw_backend_ops *ops = pw_backend_cpu_isa(isa, NULL);
    struct pw_backend *be = NULL;
    struct pw_err err = {0};
    uint64_t got[2] = {0, 0};
    bool same = false;

    if (ops->open(&be, threads, &err) || run(d, ops, be, got, &err))
        fprintf(out, "%s: %s\n", d->pe, err.msg);
    else if (!(same = memcmp(got, d->want, sizeof got) == 0)) {
        fprintf(out, "other bits on %s:\n", ops->device(be));
        say_line(out, d, got);
    }
    if (be != NULL)
        ops->close(be);
    return same;
}

int ref_digests_compare(FILE *out, int every)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    static const int threads[] = {1, 2, 3, 8};
    int differ = 0, n = 0;

    while (ref_digests[n].pe != NULL)
        n++;
    for (int i = 0; i < 3; i++) {
        int before = differ;
        if (pw_backend_cpu_isa(isas[i], NULL) == NULL)
            continue;
        int tried = 0;
        for (int k = 0; k < n; k += every, tried++)
            differ += !equal(out, &ref_digests[k], isas[i], threads[(i + k) % 4]);
        fprintf(out, "%s: %d of %d digests equal\n", isas[i], tried - (differ - before), tried);
    }
    for (int k = 0; k < n; k += 3 * every) /* every kind of model, and several encodings */
        for (int t = 0; t < 4; t++)
            differ += !equal(out, &ref_digests[k], "auto", threads[t]);
    return differ;
}
