/* print_torch_reads.c - functions in the Python file of a formula whose stages read the tokens: those that
 * take the projections of a layer's input, and attention with a scan. */
#include "base/maths.h"
#include "model/expr/formula.h"
#include "model/expr/print_int.h"

void pw_torch_uses(const struct pw_print *p, struct pw_str *out)
{
    const struct pw_expr *x = p->x;
    int H = p->src->cfg->heads, M = x->mixes;
    if (pw_expr_has(x, PW_STAGE_GATE))
        pw_str_add(
            out,
            "\n\ndef use_gates(g):\n"
            "    \"\"\"Sets what score_mod adds, from g [batch,length,%d]: x @ weight.T + bias, with "
            "fgate_proj of "
            "this layer\n    and x the normed input from which q, k and v come.\"\"\"\n"
            "    gates = formula_gate(g.to(DTYPE), torch.arange(%d, device=g.device)).expand(g.shape)\n"
            "    TABLES[\"gates\"] = gates.cumsum(1).mT.contiguous()\n",
            H, H);
    if (pw_expr_has(x, PW_STAGE_MIX))
        pw_str_add(
            out,
            "\n\ndef use_mix(r):\n"
            "    \"\"\"Sets what score_mod adds, from r [batch,length,%d]: x @ weight.T, with r_proj of this "
            "layer\n    and x the normed input from which q, k and v come.\"\"\"\n"
            "    m, d = torch.arange(%d)[:, None], torch.arange(min(r.shape[1], %d))\n"
            "    m, d = m.to(r.device, torch.float64), d.to(r.device, torch.float64)\n"
            "    bank = formula_mix(m, d).expand(%d, d.shape[0]).to(DTYPE)\n"
            "    bank = torch.cat([bank, 0 * bank[:, :1]], 1)  # of other distances\n"
            "    TABLES[\"mix\"] = (r.to(DTYPE).unflatten(-1, (%d, %d)) @ bank).transpose(1, "
            "2).contiguous()\n",
            H * M, M, pw_formula_mix_end(x, p->src->cfg), M, H, M);
}

void pw_torch_attention(const struct pw_print *p, struct pw_str *out)
{
    const struct pw_expr *x = p->x;
    const struct pw_pe_tune *t = &p->src->tune;
    bool context = x->scan == PW_SCAN_CONTEXT;
    pw_str_add(out,
               "\n\ndef attention(q, k, v%s):\n"
               "    \"\"\"The output of heads [...,%d,length,width], and their weights, from their q, k and "
               "v.%s\"\"\"\n"
               "    n = torch.arange(q.shape[-2], device=q.device)\n",
               context ? ", pos_emb" : "", p->src->cfg->heads,
               context ? "\n    pos_emb: that of this layer." : "");
    if (t->logn > 0)
        pw_str_add(out, "    q = q * torch.clamp(torch.log(n + 1.0) / %.17g, min=1)[:, None]\n",
                   pw_log((double)t->logn));
    if (pw_expr_has(x, PW_STAGE_SCALE))
        pw_str_add(out,
                   "    h = torch.arange(%d, device=q.device)[:, None, None]\n"
                   "    q = q * formula_scale(h, n[:, None])\n",
                   p->src->cfg->heads);
    pw_str_add(out, "    s = q @ k.mT * %s\n", t->temperature != 1 ? "(SCALE / TEMPERATURE)" : "SCALE");
    pw_str_add(out, context
                        ? "    seen = n <= n[:, None]\n"
                          "    gates = torch.sigmoid(s).masked_fill(~seen, 0)\n"
                          "    t = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=pos_emb.shape[-1] - 1)\n"
                          "    low, products = t.floor().long(), q @ pos_emb\n"
                          "    a = products.gather(-1, low)\n"
                          "    b = products.gather(-1, (low + 1).clamp(max=pos_emb.shape[-1] - 1))\n"
                          "    s = s + a + (t - low) * (b - a)\n"
                          "    weights = s.masked_fill(~seen, -torch.inf).softmax(-1)\n"
                        : "    seen = n < n[:, None]\n"
                          "    left = torch.sigmoid(-s).masked_fill(~seen, 1).flip(-1).cumprod(-1).flip(-1)\n"
                          "    after = torch.cat([left[..., 1:], torch.ones_like(left[..., :1])], -1)\n"
                          "    weights = torch.sigmoid(s).masked_fill(~seen, 0) * after\n"
                          "    weights = weights + torch.diag_embed(left[..., 0])\n");
    pw_str_add(out, "    return weights @ v, weights\n");
}
