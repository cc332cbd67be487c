/* print_torch_file.c - a formula as a Python file for PyTorch: parameters, tables, a function for each stage,
 * and what uses them. Scores and masks become FlexAttention's score_mod and mask_mod. FlexAttention sees a
 * finished score, not q, k or an embedding, so angle, gain and embed become plain functions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/maths.h"
#include "model/expr/formula.h"
#include "model/expr/print_int.h"

bool pw_expr_has_score_mod(const struct pw_expr *x)
{
    return pw_expr_has(x, PW_STAGE_BIAS) || pw_expr_has(x, PW_STAGE_SCALE) ||
           pw_expr_has(x, PW_STAGE_SCORE) || pw_expr_has(x, PW_STAGE_GATE) || pw_expr_has(x, PW_STAGE_MIX);
}

bool pw_expr_needs_module(const struct pw_expr *x)
{
    return pw_expr_has(x, PW_STAGE_EMBED) || pw_expr_has(x, PW_STAGE_ANGLE) || pw_expr_has(x, PW_STAGE_GAIN);
}

static bool turns(const struct pw_expr *x)
{
    return pw_expr_has(x, PW_STAGE_ANGLE) || pw_expr_has(x, PW_STAGE_GAIN);
}

/* Does the file have a score_mod, of the formula or of tuned settings? */
static bool changes_scores(const struct pw_expr_source *src)
{
    return pw_expr_has_score_mod(src->x) || src->tune.temperature != 1 || src->tune.logn > 0;
}

/* ---- parameters */

static void put_values(struct pw_str *out, const float *v, int n)
{
    for (int i = 0; i < n; i++)
        pw_str_add(out, "%s%.9g", i == 0 ? "" : i % 8 == 0 ? ",\n         " : ", ", (double)v[i]);
}

static void put_params(const struct pw_print *p, struct pw_str *out)
{
    const struct pw_expr *x = p->x;
    if (x->n_params == 0) {
        pw_str_add(out, "PARAMS = {}\n");
        return;
    }
    pw_str_add(out, "# Learned parameters.\nPARAMS = {\n");
    for (int k = 0; k < x->n_params; k++) {
        const struct pw_expr_param *q = &x->param[k];
        bool axis = q->axis != PW_AXIS_NONE;
        int rows = pw_axis_size(x, q->axis, p->src->cfg);
        bool list = q->size > 1 || (strchr(q->name, '.') != NULL && !pw_text_ends(q->name, ".2.bias"));
        pw_str_add(out, "    \"%s\": torch.tensor(", q->name);
        if (axis || list)
            pw_str_add(out, "[");
        for (int h = 0; h < rows; h++) {
            bool nested = axis && list;
            pw_str_add(out, "%s%s", h == 0 ? "" : nested ? "," : ", ", nested ? "\n        [" : "");
            put_values(out, p->src->param[k] + (size_t)h * q->size, q->size);
            pw_str_add(out, nested ? "]" : "");
        }
        pw_str_add(out, "%s%s),\n", axis && list ? "\n    " : "", axis || list ? "]" : "");
    }
    pw_str_add(out, "}\n");
}

/* ---- parts of the file */

static void put_tables(const struct pw_print *p, struct pw_str *out)
{
    pw_str_add(out, p->tables.len > 0 ? "TABLES = {\n%s}\n" : "TABLES = {%s}\n", pw_str_text(&p->tables));
}

static void put_helpers(const struct pw_print *p, struct pw_str *out, bool tensors)
{
    static const struct {
        unsigned help;
        const char *text;
    } of[] = {
        {PW_HELP_MOD, "def _mod(a, b):\n    return a - b * torch.floor(a / b)\n"},
        {PW_HELP_ENTRY, "def _entry(x, size):\n"
                        "    \"\"\"The nearest entry of a table.\"\"\"\n"
                        "    return torch.clamp(torch.round(x), 0, size - 1).long()\n"},
        {PW_HELP_BETWEEN, "def _between(table, x, size):\n"
                          "    \"\"\"A table's value at x, interpolated between entries.\"\"\"\n"
                          "    x = torch.clamp(x, 0, size - 1)\n"
                          "    low = torch.floor(x)\n"
                          "    a, b = table(low.long()), table(torch.clamp(low + 1, max=size - 1).long())\n"
                          "    return a + (x - low) * (b - a)\n"},
        {PW_HELP_MLP,
         "def _mlp(x, name, h):\n"
         "    \"\"\"A network 1 -> hidden -> 1 with a ReLU; its last layer differs by head.\"\"\"\n"
         "    w0, b0 = PARAMS[name + \".0.weight\"], PARAMS[name + \".0.bias\"]\n"
         "    w2, y = PARAMS[name + \".2.weight\"], PARAMS[name + \".2.bias\"][h]\n"
         "    for k in range(w0.shape[0]):\n"
         "        y = y + w2[h, k] * torch.relu(w0[k] * x + b0[k])\n"
         "    return y\n"},
        {PW_HELP_SUM, "def _sum(first, last, zero, term):\n"
                      "    total = zero\n"
                      "    for k in range(first, last + 1):\n"
                      "        total = total + term(zero + k)\n"
                      "    return total\n"},
        {PW_HELP_RANGE, "def _range(first, last, zero, term):\n"
                        "    \"\"\"A sum whose ends differ by query or key; it can't be traced.\"\"\"\n"
                        "    total, first, last = zero, torch.ceil(first), torch.floor(last)\n"
                        "    for k in range(int(first.min()), int(last.max()) + 1):\n"
                        "        inside = (k >= first) & (k <= last)\n"
                        "        total = total + torch.where(inside, term(zero + k), 0 * zero)\n"
                        "    return total\n"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (p->helpers & of[i].help)
            pw_str_add(out, "\n\n%s", of[i].text);
    if (tensors)
        pw_str_add(out, "\n\ndef to(device):\n"
                        "    \"\"\"Moves parameters and tables to the device of q, k and v.\"\"\"\n"
                        "    for tensors in (PARAMS, TABLES):\n"
                        "        for name in tensors:\n"
                        "            tensors[name] = tensors[name].to(device)\n");
}

static void put_score_mod(const struct pw_print *p, struct pw_str *out, bool table)
{
    const struct pw_expr *x = p->x;
    const struct pw_pe_tune *t = &p->src->tune;
    int P = p->src->cfg->context, H = p->src->cfg->heads;
    char gain[24] = "";
    if (t->gain != 1)
        snprintf(gain, sizeof gain, "%.9g * ", (double)t->gain);
    if (pw_expr_has(x, PW_STAGE_BIAS))
        pw_str_add(out,
                   "\n\ndef bias_table(length):\n"
                   "    \"\"\"Bias [%d,length,length] of every head, query and key.\"\"\"\n"
                   "    n = torch.arange(length)\n"
                   "    bias = %sformula_bias(torch.arange(%d)[:, None, None], n[:, None], n)\n"
                   "    return bias.expand(%d, length, length)\n",
                   H, gain, H, H);
    if (table)
        pw_str_add(out,
                   "\n\n# FlexAttention can't trace the formula's sum, so score_mod reads a table of %d "
                   "positions.\nTABLES[\"bias\"] = bias_table(%d).contiguous()\n",
                   P, P);
    pw_torch_uses(p, out);
    pw_str_add(out, "\n\ndef score_mod(score, b, h, q_idx, kv_idx):\n    s = score\n");
    if (t->temperature != 1)
        pw_str_add(out, "    s = s / %.9g\n", (double)t->temperature);
    if (pw_expr_has(x, PW_STAGE_MIX))
        pw_str_add(out,
                   "    d, last = q_idx - kv_idx, TABLES[\"mix\"].shape[-1] - 1\n"
                   "    s = s + TABLES[\"mix\"][b, h, q_idx, torch.where((d >= 0) & (d < last), d, last)]\n");
    if (t->logn > 0)
        pw_str_add(out, "    s = s * torch.clamp(torch.log(q_idx + 1.0) / %.17g, min=1)\n",
                   pw_log((double)t->logn));
    if (pw_expr_has(x, PW_STAGE_SCALE))
        pw_str_add(out, "    s = s * formula_scale(h, q_idx)\n");
    if (table)
        pw_str_add(out, "    s = s + TABLES[\"bias\"][h, q_idx, kv_idx]\n");
    else if (pw_expr_has(x, PW_STAGE_BIAS))
        pw_str_add(out, "    s = s + %sformula_bias(h, q_idx, kv_idx)\n", gain);
    if (pw_expr_has(x, PW_STAGE_GATE))
        pw_str_add(out, "    s = s + TABLES[\"gates\"][b, h, q_idx] - TABLES[\"gates\"][b, h, kv_idx]\n");
    if (pw_expr_has(x, PW_STAGE_SCORE))
        pw_str_add(out, "    s = formula_score(s, h, q_idx, kv_idx)\n");
    pw_str_add(out, "    return s.to(score.dtype)\n");
}

static void put_mask_mod(const struct pw_print *p, struct pw_str *out)
{
    bool causal = p->src->cfg->causal, mask = pw_expr_has(p->x, PW_STAGE_MASK);
    pw_str_add(out, "\n\ndef mask_mod(b, h, q_idx, kv_idx):\n    return %s%s%s\n",
               causal ? (mask ? "(kv_idx <= q_idx)" : "kv_idx <= q_idx") : "", causal && mask ? " & " : "",
               mask     ? "formula_mask(h, q_idx, kv_idx)"
               : causal ? ""
                        : "kv_idx >= 0");
}

/* The arguments of the functions of a rotation. */
static const char *turn_arguments(const struct pw_expr *x)
{
    bool keys = pw_formula_key_turns(x), length = pw_formula_by_length(x);
    return keys ? length ? "i, p, key, n" : "i, p, key" : length ? "i, p, n" : "i, p";
}

/* The rotation: tables, and the function that applies them. at: the positions [length,1]. */
static void put_turns(const struct pw_print *p, struct pw_str *out, const char *at)
{
    const struct pw_config *c = p->src->cfg;
    int pairs = pw_expr_pairs(p->x, c);
    bool part = 2 * pairs < c->head_width; /* the other columns stay */
    bool keys = pw_formula_key_turns(p->x);
    const char *arguments = turn_arguments(p->x);
    pw_str_add(out,
               "\n\ndef cos_sin(length%s):\n"
               "    \"\"\"Cosines and sines [length,%d] of positions and pairs, times the gain.\"\"\"\n"
               "    i, p = %s, torch.arange(%d, dtype=torch.float64)\n",
               keys ? ", key" : "", pairs, at, pairs);
    if (keys)
        pw_str_add(out, "    key = torch.tensor(float(key), dtype=torch.float64)\n");
    if (pw_formula_by_length(p->x))
        pw_str_add(out, "    n = torch.tensor(float(length), dtype=torch.float64)\n");
    pw_str_add(out, "    angle = %s%s%s\n",
               pw_expr_has(p->x, PW_STAGE_ANGLE) ? "formula_angle(" : "0 * (i + p",
               pw_expr_has(p->x, PW_STAGE_ANGLE) ? arguments : "", ")");
    pw_str_add(out, "    gain = %s%s%s\n", pw_expr_has(p->x, PW_STAGE_GAIN) ? "formula_gain(" : "1",
               pw_expr_has(p->x, PW_STAGE_GAIN) ? arguments : "",
               pw_expr_has(p->x, PW_STAGE_GAIN) ? ")" : "");
    pw_str_add(out, "    cos, sin = gain * torch.cos(angle), gain * torch.sin(angle)\n"
                    "    shape = (length, p.shape[0])\n"
                    "    return cos.expand(shape).float(), sin.expand(shape).float()\n");
    if (p->x->pairing == PW_FORMULA_INTERLEAVED)
        pw_str_add(out,
                   "\n\ndef rotate(x, cos, sin):\n"
                   "    \"\"\"Rotates queries or keys [...,length,%d]: entry 2p with entry 2p + 1.\"\"\"\n"
                   "    a, b = x[..., 0:%d:2], x[..., 1:%d:2]\n"
                   "    y = torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)\n",
                   c->head_width, 2 * pairs, 2 * pairs);
    else
        pw_str_add(out,
                   "\n\ndef rotate(x, cos, sin):\n"
                   "    \"\"\"Rotates queries or keys [...,length,%d]: entry p with entry p + %d.\"\"\"\n"
                   "    a, b = x[..., :%d], x[..., %d:%d]\n"
                   "    y = torch.cat([a * cos - b * sin, a * sin + b * cos], -1)\n",
                   c->head_width, pairs, pairs, pairs, 2 * pairs);
    if (part)
        pw_str_add(out, "    return torch.cat([y, x[..., %d:]], -1)\n", 2 * pairs);
    else
        pw_str_add(out, "    return y\n");
}

static void put_rows(struct pw_print *p, struct pw_str *out)
{
    const struct pw_config *c = p->src->cfg;
    const struct pw_pe_tune *t = &p->src->tune;
    struct pw_str at = {0};
    pw_str_add(&at, "torch.arange(length, dtype=torch.float64)[:, None]");
    if (t->stretch != 1)
        pw_str_add(&at, " * %.9g", (double)t->stretch);
    if (t->offset != 0)
        pw_str_add(&at, " + %.9g", (double)t->offset);
    if (turns(p->x))
        put_turns(p, out, at.s);
    if (pw_expr_has(p->x, PW_STAGE_EMBED))
        pw_str_add(out,
                   "\n\ndef embedding(length):\n"
                   "    \"\"\"Rows [length,%d] to add to the embeddings of the tokens.\"\"\"\n"
                   "    i, c = %s, torch.arange(%d, dtype=torch.float64)\n"
                   "    return formula_embed(i, c).expand(length, %d).float()\n",
                   c->width, at.s, c->width, c->width);
    pw_str_fini(&at);
}

static void put_head(const struct pw_print *p, struct pw_str *out)
{
    const struct pw_config *c = p->src->cfg;
    struct pw_str text = {0};
    pw_expr_print(p->x, &text);
    pw_str_add(out, "\"\"\"A positional encoding, written by pewter from its formula:\n\n    ");
    for (const char *s = text.s; *s != '\0'; s++)
        if (*s == ';') {
            pw_str_add(out, "\n   "); /* the blank after it is the last of the four */
        } else
            pw_str_put(out, s, 1);
    pw_str_add(out,
               "\n\nThe model has %d layers, %d heads of width %d and context %d; L is %d, and l is %d.\n",
               c->layers, c->heads, c->head_width, c->context, p->src->trained, p->src->layer);
    if (p->x->scan != 0)
        pw_str_add(out, "\n    out, weights = attention(q, k, v%s)\n",
                   p->x->scan == PW_SCAN_CONTEXT ? ", pos_emb" : "");
    else if (changes_scores(p->src) || pw_expr_has(p->x, PW_STAGE_MASK))
        pw_str_add(out,
                   "\n    block_mask = create_block_mask(mask_mod, None, %d, T, T)\n"
                   "    flex_attention(q, k, v,%s block_mask=block_mask, scale=SCALE)\n",
                   c->heads, changes_scores(p->src) ? " score_mod=score_mod," : "");
    if (pw_expr_has(p->x, PW_STAGE_GATE))
        pw_str_add(out, "\nFlexAttention does not see the layer's input: call use_gates before each pass.\n");
    if (pw_expr_has(p->x, PW_STAGE_MIX))
        pw_str_add(out, "\nFlexAttention does not see the layer's input: call use_mix before each pass.\n");
    if (turns(p->x))
        pw_str_add(out,
                   "\nFlexAttention sees a finished score, not queries and keys, so a rotation is no "
                   "score_mod: rotate\nq and k before, with rotate(q, *cos_sin(T%s))%s.\n",
                   pw_formula_key_turns(p->x) ? ", 0" : "",
                   pw_formula_key_turns(p->x) ? " and rotate(k, *cos_sin(T, 1))" : "");
    if (pw_expr_has(p->x, PW_STAGE_EMBED))
        pw_str_add(out, "\nFlexAttention sees a finished score, not an embedding: add embedding(T) to the "
                        "embeddings of the tokens.\n");
    pw_str_add(out, "\"\"\"\nimport torch\n");
    if (p->helpers & PW_HELP_SOFTPLUS)
        pw_str_add(out, "from torch.nn import functional\n");
    pw_str_add(out,
               "\nDTYPE = torch.float32  # of scores; torch.float64: every digit of pewter's numbers\n"
               "SCALE = %.9g  # of products of query and key\n",
               c->scale ? 1 / sqrt((double)c->head_width) : 1.0);
    if (p->x->scan != 0 && p->src->tune.temperature != 1)
        pw_str_add(out, "TEMPERATURE = %.9g\n", (double)p->src->tune.temperature);
    pw_str_fini(&text);
}

/* A check of the file: FlexAttention against a softmax over all scores. */
static void put_check(const struct pw_print *p, struct pw_str *out)
{
    const struct pw_config *c = p->src->cfg;
    bool scores = changes_scores(p->src);
    if (!scores && !pw_expr_has(p->x, PW_STAGE_MASK))
        return;
    pw_str_add(out,
               "\n\nif __name__ == \"__main__\":\n"
               "    from torch.nn.attention.flex_attention import create_block_mask, flex_attention\n"
               "    T = %d\n"
               "    q, k, v = torch.randn(3, 1, %d, T, %d)\n"
               "    h, n = torch.arange(%d)[:, None, None], torch.arange(T)\n"
               "    s = q @ k.mT * SCALE\n",
               c->context < 100 ? c->context : 100, c->heads, c->head_width, c->heads);
    if (pw_expr_has(p->x, PW_STAGE_GATE))
        pw_str_add(out, "    use_gates(torch.randn(1, T, %d))\n", c->heads);
    if (pw_expr_has(p->x, PW_STAGE_MIX))
        pw_str_add(out, "    use_mix(torch.randn(1, T, %d))\n", c->heads * p->x->mixes);
    if (scores)
        pw_str_add(out, "    s = score_mod(s, 0, h, n[:, None], n)\n");
    pw_str_add(out,
               "    hidden = ~mask_mod(0, h, n[:, None], n)\n"
               "    want = torch.nan_to_num(s.masked_fill(hidden, -torch.inf).softmax(-1)) @ v\n"
               "    block_mask = create_block_mask(mask_mod, None, %d, T, T, device=\"cpu\")\n"
               "    out = flex_attention(q, k, v,%s block_mask=block_mask, scale=SCALE)\n"
               "    print(\"largest difference from a plain softmax:\", (out - want).abs().max().item())\n",
               c->heads, scores ? " score_mod=score_mod," : "");
}

enum pw_code pw_expr_print_torch(const struct pw_expr_source *src, struct pw_str *out, struct pw_err *err)
{
    const char *turned = turn_arguments(src->x);
    const struct pw_torch_head heads[PW_STAGES] = {
        [PW_STAGE_EMBED] = {"i, c", "i + c", true},
        [PW_STAGE_ANGLE] = {turned, "i + p", true},
        [PW_STAGE_GAIN] = {turned, "i + p", true},
        [PW_STAGE_BIAS] = {"h, q_idx, kv_idx", "q_idx - kv_idx", false},
        [PW_STAGE_SCALE] = {"h, q_idx", "q_idx", false},
        [PW_STAGE_SCORE] = {"s, h, q_idx, kv_idx", "q_idx - kv_idx", false},
        [PW_STAGE_MASK] = {"h, q_idx, kv_idx", "q_idx - kv_idx", false},
        [PW_STAGE_GATE] = {"g, h", "g", false},
        [PW_STAGE_MIX] = {"m, d", "m + d", true},
    };
    if (pw_expr_by_data(src->x))
        return pw_fail(
            err, PW_EUSER,
            "export formula: the position reads tokens or chance, which no score_mod and no table of "
            "PyTorch sees; FILE.tex and FILE.pe can hold it");
    struct pw_str body = {0};
    struct pw_print p = {.src = src, .x = src->x, .out = &body};
    enum pw_code code = PW_OK;
    bool table = false;
    for (int s = 0; s < PW_STAGES && code == PW_OK; s++) {
        if (heads[s].arguments == NULL || !pw_expr_has(src->x, s))
            continue;
        unsigned before = p.helpers;
        p.helpers = 0;
        p.precision = heads[s].rows ? "torch.float64" : "DTYPE";
        pw_str_add(&body, "\n\n");
        pw_torch_function(&p, s, &heads[s]);
        if ((p.helpers & PW_HELP_RANGE) != 0 && s == PW_STAGE_BIAS)
            table = true;
        else if ((p.helpers & PW_HELP_RANGE) != 0 && !heads[s].rows)
            code = pw_fail(err, PW_EUSER,
                           "export formula: %s: a sum whose ends differ by query or key: FlexAttention has "
                           "no such loop; only in a bias it becomes a table",
                           pw_stage_names[s]);
        p.helpers |= before;
    }
    if (code == PW_OK) {
        put_head(&p, out);
        bool tensors = p.tables.len > 0 || table || src->x->n_params > 0 ||
                       pw_expr_has(src->x, PW_STAGE_GATE) || pw_expr_has(src->x, PW_STAGE_MIX);
        if (tensors) {
            put_params(&p, out);
            put_tables(&p, out);
        }
        put_helpers(&p, out, tensors);
        pw_str_add(out, "%s", pw_str_text(&body));
        put_rows(&p, out);
        if (src->x->scan != 0) {
            pw_torch_attention(&p, out);
        } else {
            if (changes_scores(src))
                put_score_mod(&p, out, table);
            put_mask_mod(&p, out);
            put_check(&p, out);
        }
    }
    pw_print_fini(&p);
    pw_str_fini(&p.tables);
    pw_str_fini(&body);
    return code;
}
