/* test_print.c - tests a formula as Python and LaTeX, line by line: names, branches in effect, tables,
 * learned parameters, sums. That PyTorch computes pewter's numbers from it is tested by
 * tests/golden/check_formula.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "model/expr/formula_text.h"
#include "model/expr/numbers.h"
#include "ref_toy.h"

#define SHAPE "layers=2 width=32 heads=4 context=64"

/* The parameters of every formula here: 0, 0.5, 1, ... */
static float values[256];

static enum pw_code write_formula(const char *text, int layer, enum pw_formula_language language,
                                  struct pw_str *out, struct pw_err *err)
{
    struct pw_config cfg = toy_config(SHAPE, 16);
    struct pw_pe_use_opts use = toy_pe("none", &cfg);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = 0.5f * (float)i;
    if (pw_pe_formula(&use, text, err) != PW_OK)
        fail_msg("%s: %s", text, err->msg);
    struct pw_formula_use f = {.use = &use, .cfg = &cfg, .layer = layer, .trained = 20, .values = values};
    return pw_formula_write(&f, language, "export formula", out, err);
}

static void has_lines(const char *formula, int layer, enum pw_formula_language language, const char *lines)
{
    struct pw_str out = {0};
    struct pw_err err = {0};
    if (write_formula(formula, layer, language, &out, &err) != PW_OK)
        fail_msg("%s: %s", formula, err.msg);
    if (strstr(out.s, lines) == NULL)
        fail_msg("%s:\n%s\nlacks:\n%s", formula, out.s, lines);
    pw_str_fini(&out);
}

static void test_torch(void **state)
{
    static const struct {
        const char *formula;
        int layer;
        const char *lines;
    } cases[] = {
        {"m = slopes()[h]; bias = -m * d", 0,
         "def formula_bias(h, q_idx, kv_idx):\n"
         "    d = (q_idx - kv_idx).to(DTYPE)\n"
         "    m = TABLES[\"slopes\"][h]\n"
         "    return -m * d\n"},
        {"m = slopes()[h]; bias = -m * d", 0,
         "    \"slopes\": torch.tensor([0.25, 0.0625, 0.015625, 0.00390625], dtype=DTYPE),\n"},
        {"bias = l % 2 == 1 && L > 3 ? log(H) * d : 1 / d", 0, "    return 1 / d\n"},
        {"bias = l % 2 == 1 && L > 3 ? log(H) * d : 1 / d", 1, "    return 1.3862943611198906 * d\n"},
        {"bias = d > 2 && !(d == 4) ? 0 - 1 : 2", 0,
         "    return torch.where((d > 2) & ~(d == 4), zero + -1, 2)\n"},
        {"bias = (d + 1) * (d + 1) ** 2 - (d - (j - h))", 0,
         "    head = h.to(DTYPE)\n"
         "    t1 = d + 1\n"
         "    return t1 * t1 ** 2 - (d - (j - head))\n"},
        {"bias = (0 - 2) ** d", 0, "    return torch.pow(-2, d)\n"},
        {"lambda = d + 1; torch = lambda * lambda; bias = torch", 0,
         "    lambda_ = d + 1\n    torch_ = lambda_ * lambda_\n    return torch_\n"},
        {"t1 = d + h; x = t1 * t1; bias = exp(d) * exp(d) + x", 0, "    t2 = torch.exp(d)\n"},
        {"a = learn(1) per head; T = learn(0, 4) per head; bias = a * T[bucket(d, 4, 9)] + T(d / 2)", 0,
         "    a = PARAMS[\"a\"][h]\n"
         "    T = PARAMS[\"T\"]\n"
         "    return a * T[h, TABLES[\"bucket_4_9\"][_entry(d, 10)]] + _between(lambda n: T[h, n], d / 2, "
         "4)\n"},
        {"a = learn(1) per head; T = learn(0, 4) per head; bias = a * T[bucket(d, 4, 9)] + T(d / 2)", 0,
         "PARAMS = {\n"
         "    \"a\": torch.tensor([0, 0.5, 1, 1.5]),\n"
         "    \"T\": torch.tensor([\n"
         "        [2, 2.5, 3, 3.5],\n"},
        {"a = learn(1) per head, layer; b = learn(1); bias = a * d + b", 1,
         "    \"a\": torch.tensor([2, 2.5, 3, 3.5]),\n"
         "    \"b\": torch.tensor(4),\n"},
        {"bias = mlp(log1p(d), hidden=2)", 0, "    return _mlp(torch.log1p(d), \"mlp\", h)\n"},
        {"bias = mlp(log1p(d), hidden=2)", 0,
         "    \"mlp.0.bias\": torch.tensor([1, 1.5]),\n"
         "    \"mlp.2.weight\": torch.tensor([\n"
         "        [2, 2.5],\n"},
        {"bias = sum(k=1..3, sum(m=1..2, k * m * d))", 0,
         "    def term1(k):\n"
         "        def term2(m):\n"
         "            return k * m * d\n"
         "        return _sum(1, 2, zero, term2)\n"
         "    return _sum(1, 3, zero, term1)\n"},
        {"bias = sum(k=0..d, k)", 0, "    s = s + TABLES[\"bias\"][h, q_idx, kv_idx]\n"},
        {"mask = d < 8 || j < 4", 0, "    return (kv_idx <= q_idx) & formula_mask(h, q_idx, kv_idx)\n"},
        {"scale = log(n); bias = -d; score = 30 * tanh(s / 30)", 0,
         "    s = s * formula_scale(h, q_idx)\n"
         "    s = s + formula_bias(h, q_idx, kv_idx)\n"
         "    s = formula_score(s, h, q_idx, kv_idx)\n"},
        {"cap = learn(1) per head; score = cap * tanh(s / cap) - cap * d", 0,
         "    d = (q_idx - kv_idx).to(DTYPE)\n"
         "    cap = PARAMS[\"cap\"][h]\n"
         "    return cap * torch.tanh(s / cap) - cap * d\n"},
        {"angle = i * 10000 ** (-2 * p / D); gain = 2", 0,
         "def formula_angle(i, p):\n    return i * 10000 ** (-2 * p / 8)\n"},
        {"angle = i * 10000 ** (-2 * p / D); gain = 2", 0,
         "def formula_gain(i, p):\n    zero = 0 * (i + p).to(torch.float64)\n    return zero + 2\n"},
        {"gate = -2 * softplus(g) + h", 0,
         "def formula_gate(g, h):\n    head = h.to(DTYPE)\n    return -2 * functional.softplus(g) + head\n"},
        {"gate = g; bias = -d", 0,
         "    s = s + TABLES[\"gates\"][b, h, q_idx] - TABLES[\"gates\"][b, h, kv_idx]\n"},
        {"mixes = 2; T = learn(0, 4) per mix; mix = d < 9 ? T[d] + exp(-d * 2 ** m) : 0", 0,
         "def formula_mix(m, d):\n    T = PARAMS[\"T\"]\n"
         "    return torch.where(d < 9, T[m.long(), _entry(d, 4)] + torch.exp(-d * 2 ** m), 0)\n"},
        {"scan = stick", 0, "def attention(q, k, v):\n"},
        {"scan = context(9); scale = 1 + h", 0, "    low, products = t.floor().long(), q @ pos_emb\n"},
        {"mixes = 2; mix = d * m", 0,
         "    d, last = q_idx - kv_idx, TABLES[\"mix\"].shape[-1] - 1\n"
         "    s = s + TABLES[\"mix\"][b, h, q_idx, torch.where((d >= 0) & (d < last), d, last)]\n"},
        {"mixes = 2; mix = sum(m=1..2, d * m)+m", 0, "        return d * k0_\n"},
        {"embed = sin(i + c)", 0, "def formula_embed(i, c):\n    return torch.sin(i + c)\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        has_lines(cases[i].formula, cases[i].layer, PW_FORMULA_TORCH, cases[i].lines);
}

static void test_latex(void **state)
{
    static const struct {
        const char *formula, *lines;
    } cases[] = {
        {"m = slopes()[h]; bias = -m * d", "\\begin{align}\n"
                                           "  m_{h} &= \\operatorname{slope}_{h} \\\\\n"
                                           "  \\operatorname{bias}_{h}(i, j) &= -m_{h} \\, d\n"
                                           "\\end{align}\n"},
        {"gain = 1 + key * i", "1 + \\mathrm{key} \\, i"},
        {"gate = -2 * softplus(g)",
         "\\operatorname{gate}_{h}(g) &= -2 \\, \\operatorname{softplus}\\left(g\\right)\n"},
        {"gate = -2 * softplus(g)", "a score gets the sum of the gates"},
        {"mixes = 2; T = learn(0, 4) per mix; w = T[d] + 1; mix = m * w",
         "  w_{d,m} &= T_{m}\\left[d\\right] + 1 \\\\\n"
         "  \\operatorname{mix}_{m}(d) &= m \\, w_{d,m}\n"},
        {"scan = context(9)",
         "t_{h}(i, j) &= \\min\\left(8, \\sum_{k=j}^{i} \\sigma(s_{i,k})\\right) \\\\\n"},
        {"scan = stick", "\\prod_{k=j+1}^{i-1} (1 - \\sigma(s_{i,k})) \\quad \\text{if } j < i"},
        {"mixes = 2; mix = m * d", "% mix: functions m = 0..1 of the distance; a score gets their sum"},
        {"angle = i * 10000 ** (-2 * p / D)", "&= i \\cdot 10000^{-2 \\, p/D}\n"},
        {"bias = d < 3 ? 1 : d < 5 ? sqrt(d) / 2 : 1e-6",
         "&= \\begin{cases} 1 & \\text{if } d < 3 \\\\ \\frac{\\sqrt{d}}{2} & \\text{if } d < 5 \\\\ 10^{-6} "
         "& "
         "\\text{otherwise} \\end{cases}\n"},
        {"bias = list(5, d, list(7, 8)[j], 9)[i]", /* one list of cases for each list */
         "&= \\begin{cases} 5 & \\text{if } \\operatorname{round}\\left(i\\right) \\le 0 \\\\ d & \\text{if "
         "} "
         "\\operatorname{round}\\left(i\\right) \\le 1 \\\\ \\begin{cases} 7 & \\text{if } "
         "\\operatorname{round}\\left(j\\right) \\le 0 \\\\ 8 & \\text{otherwise} \\end{cases} & \\text{if } "
         "\\operatorname{round}\\left(i\\right) \\le 2 \\\\ 9 & \\text{otherwise} \\end{cases}\n"},
        {"bias = (d + 1) * (h - (d - 2)) ** 2 * (d > 3)",
         "&= \\left(d + 1\\right) \\, \\left(h - \\left(d - 2\\right)\\right)^{2} \\, \\mathbf{1}[d > 3]\n"},
        {"bias = sum(k=1..4, cos(k * d)) + 1", "&= \\sum_{k=1}^{4} \\cos\\left(k \\, d\\right) + 1\n"},
        {"alpha = learn(1) per head, layer; bias = -softplus(alpha) * d",
         "&= -\\operatorname{softplus}\\left(\\alpha_{h,\\ell}\\right) \\, d\n"},
        {"alpha = learn(1) per head, layer; bias = -softplus(alpha) * d",
         "% learned: alpha, h = 3, \\ell = 1: 3.5\n"},
        {"cap = learn(1) per head, layer; score = cap * tanh(s / cap)",
         "\\operatorname{score}_{h}(s, i, j) &= \\mathrm{cap}_{h,\\ell} \\, "
         "\\tanh\\left(\\frac{s}{\\mathrm{cap}_{h,\\ell}}\\right)\n"},
        {"w1 = d * d; far_off = w1 > 9; mask = far_off || j < 4",
         "  {w_{1}}_{d} &= d \\, d \\\\\n"
         "  \\mathrm{far\\_off}_{d} &= {w_{1}}_{d} > 9 \\\\\n"
         "  \\operatorname{mask}_{h}(i, j) &= \\mathrm{far\\_off}_{d} \\vee j < 4\n"},
        {"u = floor(uniform(0, 9)); position = index(i) + u + i; bias = position(i) * d - position(j)",
         "  u &= \\left\\lfloor 9 \\, u_1 \\right\\rfloor \\\\\n"
         "  \\operatorname{position}(i) &= \\operatorname{index}(i) + u + i \\\\\n"
         "  \\operatorname{bias}_{h}(i, j) &= \\operatorname{position}(i) \\, d - "
         "\\operatorname{position}(j)\n"},
        {"T = learn(0, 8) per head; bias = T[bucket(d, 8, 16)]",
         "&= T_{h}\\left[\\operatorname{bucket}_{8,16}\\left(d\\right)\\right]\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        has_lines(cases[i].formula, 1, PW_FORMULA_LATEX, cases[i].lines);
}

static void test_plain(void **state)
{
    (void)state;
    has_lines("m = slopes()[h]; bias = -m*d", 0, PW_FORMULA_PLAIN, "\nm = slopes()[h]\nbias = -m * d\n");
}

static void test_refused(void **state)
{
    static const struct {
        const char *formula;
        int layer;
        const char *message;
    } cases[] = {
        {"score = sum(k=0..d, s)", 0,
         "export formula: score: a sum whose ends differ by query or key: FlexAttention has no such loop; "
         "only "
         "in a bias it becomes a table"},
        {"bias = d", 2, "export formula: layer=2: the model has layers 0..1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_str out = {0};
        struct pw_err err = {0};
        assert_int_equal(write_formula(cases[i].formula, cases[i].layer, PW_FORMULA_TORCH, &out, &err),
                         PW_EUSER);
        assert_string_equal(err.msg, cases[i].message);
        assert_int_equal(out.len, 0);
    }
}

/* The indices of an array are those of the formula; constant ones are numbers. */
static void test_latex_data(void **state)
{
    static const struct {
        const char *index, *want;
    } cases[] = {
        {"h, i, j", "h, i, j"},
        {"H - 1 - h, d + 1, 4", "H - 1 - h, d + 1, 4"},
        {"0, 1, d", "0, 1, d"},
        {"9, d, -3", "1, d, 0"},
        {"1, 2, 4", "1, 2, 4"},
        {"h, 2, i", "h, 2, i"},
        {"1, min(i, 2), j", "1, \\min\\left(i, 2\\right), j"},
    };
    static const float some[2 * 3 * 5] = {1};
    const struct pw_numbers *data;
    struct pw_err err;
    (void)state;
    assert_int_equal(pw_numbers_keep(&data, some, (const int[]){2, 3, 5}, 3, &err), PW_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char formula[200], want[200];
        snprintf(formula, sizeof formula, "bias = %s[%s]", data->name, cases[k].index);
        snprintf(want, sizeof want, "&= \\operatorname{data}_{1}\\left[%s\\right]\n", cases[k].want);
        has_lines(formula, 0, PW_FORMULA_LATEX, want);
    }
    has_lines("bias = 1", 0, PW_FORMULA_LATEX, "&= 1\n");
    char formula[200], want[200];
    snprintf(formula, sizeof formula, "bias = %s[h, i, j]", data->name);
    snprintf(want, sizeof want, "%% data_1: %s, 2 x 3 x 5 numbers of a file", data->name);
    has_lines(formula, 0, PW_FORMULA_LATEX, want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_torch), cmocka_unit_test(test_latex),
                                       cmocka_unit_test(test_latex_data), cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
