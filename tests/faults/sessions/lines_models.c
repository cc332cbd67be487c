/* lines_models.c - random lines about models: encodings by formula, settings of encodings, shapes, parts that
 * train, other arithmetic, and files that a session reads and writes. */
#include "lines_models.h"

#include <stdio.h>
#include <unistd.h>

#include "choose.h"

static const char foreign[] = PEWTER_SOURCE_DIR "/tests/golden/gguf/llama.gguf";

static void add_formula(struct pw_str *s, uint64_t *rng)
{
    static const char *const takes[] = {"pe", "pe", "fork", "arm add", "race none,"};
    static const char *const formulas[] = {
        "kerple_log",
        "fire_formula",
        "fox_formula",
        "cope_formula",
        "inkling_formula",
        "stickbreaking_formula",
        "head_scale",
        "randomized",
        "rope_yarn factor=4",
        "rope_dynamic",
        "p_rope",
        "xpos",
        "window_sinks",
        "command_r",
        "self_extend",
        "expr 'a = learn(0.3) per head, layer; bias = -a * log(d + 1)'",
        "expr 'cap = learn(30) per head; score = cap * tanh(s / cap)'",
        "expr 'gate = log(sigmoid(g))'",
        "expr 'mixes = 2; mix = exp(-d / 2 ** m)'",
        "expr 'a = learn(0.5) per pair; angle = a * i'",
        "expr 'scan = stick'",
        "expr 'mask = d < 6'",
        "expr 'embed = sin(i / 10 ** c)'",
        "expr 'gain = log(i + 2)'",
        "expr 'bias = -0.3 * d'",
        "expr 'bias = -slopes()[h] * d * (l == 0); angle = l == 0 ? 0 : i / 100 ** (2 * p / D)'",
    };
    const char *take = ONE(rng, takes);
    pw_str_add(s, "%s%s%s", take, take[0] == 'r' ? "" : " ", ONE(rng, formulas));
}

static const char *const settings[] = {"tune base=500",
                                       "tune stretch=0.5 offset=2",
                                       "tune stretch=10000 offset=99999",
                                       "tune temperature=2",
                                       "tune logn=8",
                                       "tune gain=0.5",
                                       "tune off",
                                       "transplant nearest",
                                       "optim trains=norms",
                                       "optim trains=encoding",
                                       "optim trains=adapter rank=2",
                                       "optim trains=all",
                                       "optim warmup=0 clip=0.5",
                                       "optim batch=3",
                                       "set precision bf16",
                                       "set precision fp32",
                                       "set precision bf16; eval; set precision fp32",
                                       "set isa scalar",
                                       "set isa auto",
                                       "set threads 3",
                                       "set threads 1",
                                       "backend cpu"};

static const char *const shapes[] = {"model width=24",
                                     "model heads=1",
                                     "model layers=2 context=70",
                                     "model gated=on act=silu kv_heads=1",
                                     "model norm=layernorm bias=on parallel=on",
                                     "model qk_norm=head post_norm=on",
                                     "model tied=on dropout=0.1",
                                     "model embed_width=8",
                                     "model norm=layernorm norm_at=after",
                                     "model causal=off",
                                     "construct theorem1 T=12",
                                     "construct theorem2 T=12",
                                     "model tiny width=16 heads=2 layers=2 context=70",
                                     "model from=m.gguf context=64",
                                     "task text lengths=10 test=12..20",
                                     "task text path=t.txt tokens=chars lengths=8 test=12..16",
                                     "task ids vocab=24",
                                     "task sort lengths=2..5"};

static const char *const files[] = {"export weights w.safetensors",
                                    "export weights w.safetensors moments=on",
                                    "import weights w.safetensors",
                                    "export attention a.npz",
                                    "import attention a.npz",
                                    "import attention off",
                                    "export table t.npz",
                                    "pe file=t.npz",
                                    "export curves c.csv",
                                    "export data d.jsonl n=60",
                                    "export activations z.npz samples=40",
                                    "export step s.json",
                                    "export weights hf/",
                                    "export session s.pewter"};

static const struct {
    const char *const *lines;
    int n;
} lists[] = {
    {settings, COUNT(settings)}, {shapes, COUNT(shapes)}, {files, COUNT(files)}, {settings, COUNT(settings)}};

void lines_of_models(struct pw_str *out, uint64_t *rng)
{
    int list = below(rng, COUNT(lists) + 2);
    if (list < COUNT(lists))
        pw_str_add(out, "%s", lists[list].lines[below(rng, lists[list].n)]);
    else
        add_formula(out, rng);
}

void lines_of_text(struct pw_str *out, uint64_t *rng)
{
    static const char *const prompts[] = {"prompt The cat", "prompt 3 1 2", "prompt 7 22 17 4 9",
                                          "prompt a b a b a", "prompt The model counts what it sees, and"};
    pw_str_add(out, "%s", ONE(rng, prompts));
}

bool lines_first_of_models(struct pw_str *out, uint64_t *rng)
{
    static const char *const begins[] = {
        "model from=m.gguf context=48; fork; prompt 2 7 22 17; train 9",
        "model from=m.gguf; optim batch=2 trains=adapter rank=2; train 20; prompt 3 1 2; eval samples=9",
        "task text path=t.txt lengths=12 test=16..20; model tiny width=16 heads=2 layers=1 context=40; "
        "race alibi,kerple_log seeds=2; train 90; prompt The cat",
        "task text lengths=16 test=20..24; model tiny width=16 heads=2 layers=2 context=48 gated=on "
        "act=silu; "
        "optim batch=4; race rotary,fox_formula; prompt The cat; train 200"};
    if (below(rng, 4) > 0)
        return false;
    pw_str_add(out, "%s", ONE(rng, begins));
    return true;
}

bool lines_files(const char *home)
{
    char name[300];
    snprintf(name, sizeof name, "%s/m.gguf", home);
    bool well = symlink(foreign, name) == 0;
    snprintf(name, sizeof name, "%s/t.txt", home);
    FILE *f = fopen(name, "w");
    for (int i = 0; f != NULL && i < 200; i++)
        fprintf(f, "The cat sat on mat %d, and the mat said nothing to cat %d.\n", i, i * 7 % 13);
    return f != NULL && fclose(f) == 0 && well;
}
