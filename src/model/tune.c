/* tune.c - changes of an encoding in place, on a trained model with all its weights: options of the encoding
 * that change no parameter's shape (rotary's base), and five settings that every encoding has.
 *
 * offset: added to all positions (Kazemnejad et al. 2023 test whether this hurts a model; relative encodings
 * must not change).
 *
 * stretch: factor on positions and distances; 1/s is the position interpolation of Chen et al. 2023, by which
 * a model reads s times its trained length.
 *
 * gain: factor on a fixed bias or on slopes (alibi, grape).
 *
 * temperature: divides q.k (Wang et al. 2024 scale NoPE's scores by 1.2 to read longer inputs).
 *
 * logn: a query with n keys has q.k multiplied by max(1, ln n / ln N). Attention over more keys than in
 * training then stays as sharp (Chiang and Cholak 2022 scale by ln n; the floor keeps lengths up to N
 * unchanged).
 *
 * The settings are part of the encoding's text ("rotary base=10000 dims=0 pairing=half stretch=0.5"), so
 * checkpoints, forks and sessions keep them. A learned table has rows at integer positions only: it can be
 * shifted, not stretched. A learned bias keeps its entries; stretched distances select among them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "model/pe.h"

#define AT(m) offsetof(struct pw_pe_tune, m)

const struct pw_opt pw_pe_tune_opts[] = {
    {"offset", PW_OPT_FLOAT, AT(offset), "0", 0, 1e5, NULL, 0, "number added to all positions"},
    {"stretch", PW_OPT_FLOAT, AT(stretch), "1", 1e-4, 1e4, NULL, 0,
     "factor on positions and distances; 0.5: interpolation by 2"},
    {"gain", PW_OPT_FLOAT, AT(gain), "1", 0, 1e4, NULL, 0,
     "factor on a fixed bias or on slopes, as of ALiBi"},
    {"temperature", PW_OPT_FLOAT, AT(temperature), "1", 1e-3, 1e3, NULL, 0, "divisor of q.k"},
    {"logn", PW_OPT_INT, AT(logn), "0", 0, 1e6, NULL, 0,
     "length beyond which q.k grows with the logarithm of the keys; 0: never"},
    {0},
};

enum pw_code pw_pe_tune_check(const struct pw_pe_use_opts *use, const struct pw_config *cfg,
                              struct pw_err *err)
{
    const struct pw_pe *pe = use->pe;
    const struct pw_pe_tune *t = &use->tune;
    bool rows = pw_pe_learns_rows(pe), learned = pe->param != NULL && (pe->uses & PW_PE_BIASES) == 0;
    bool bias = (pe->uses & PW_PE_BIASES) != 0 && pe->param == NULL && !pw_pe_computes(pe, PW_TABLE_BIAS);
    bias = bias || (pe->uses & PW_PE_SLOPES) != 0;
    bool places = (pe->uses & (PW_PE_ADDED | PW_PE_ROTATION | PW_PE_DENSE | PW_PE_WIDE)) != 0;
    if (t->offset != 0 && !places)
        return pw_fail(err, PW_EUSER, "%s: offset=%g: it has no positions to shift", pe->name,
                       (double)t->offset);
    if (t->offset != 0 && rows && (t->offset != floorf(t->offset) || t->offset > (float)(cfg->context - 2)))
        return pw_fail(err, PW_EUSER,
                       "%s: offset=%g: its rows are learned, so allowed are whole numbers up to %d", pe->name,
                       (double)t->offset, cfg->context - 2);
    if (t->stretch != 1 && (pe->uses & ~(unsigned)PW_PE_NO_POSITIONS) == 0)
        return pw_fail(err, PW_EUSER, "%s: stretch=%g: it has no positions to stretch", pe->name,
                       (double)t->stretch);
    if (t->stretch != 1 && (pe->uses & PW_PE_MIXES) != 0)
        return pw_fail(err, PW_EUSER, "%s: stretch=%g: there are no values between the distances of its bank",
                       pe->name, (double)t->stretch);
    if (t->stretch != 1 && learned)
        return pw_fail(err, PW_EUSER, "%s: stretch=%g: there are no values between its learned rows",
                       pe->name, (double)t->stretch);
    double last = (double)t->offset + (double)t->stretch * (cfg->context - 1);
    if (places && (pe->uses & PW_PE_DENSE) == 0 && pe->check_at == NULL && last >= PW_MOST_ANGLE)
        return pw_fail(
            err, PW_EUSER,
            "%s: offset=%g stretch=%g: the last of %d positions would be %.7g; allowed are positions "
            "below %.0f",
            pe->name, (double)t->offset, (double)t->stretch, cfg->context, last, PW_MOST_ANGLE);
    if (t->gain != 1 && !bias)
        return pw_fail(err, PW_EUSER, "%s: gain=%g: it has no fixed bias (alibi and grape have one)",
                       pe->name, (double)t->gain);
    if (t->logn == 1)
        return pw_fail(err, PW_EUSER, "logn=1: allowed are lengths from 2 on, or 0 for none");
    if (t->logn > 0 && !cfg->causal)
        return pw_fail(err, PW_EUSER, "logn=%d: with causal=off every query sees all keys", t->logn);
    if (t->logn > 0 && pw_pe_computes(pe, PW_TABLE_GAIN))
        return pw_fail(err, PW_EUSER, "%s: logn=%d: its factor on scores is learned", pe->name, t->logn);
    if (t->logn > 0 && (pe->ids != NULL || pe->rows_by_length != NULL))
        return pw_fail(err, PW_EUSER, "%s: logn=%d: its positions do not count the keys", pe->name, t->logn);
    if (t->logn > 0 && (pe->uses & PW_PE_POLAR) != 0)
        return pw_fail(err, PW_EUSER, "%s: logn=%d: not allowed with the polar form", pe->name, t->logn);
    if (t->logn > 0 && (pe->uses & PW_PE_PLANES) != 0)
        return pw_fail(err, PW_EUSER, "%s: logn=%d: not allowed with learned planes", pe->name, t->logn);
    if (t->logn > 0 && (pe->uses & PW_PE_KEYS) != 0)
        return pw_fail(err, PW_EUSER, "%s: logn=%d: not allowed with relative keys", pe->name, t->logn);
    if (pe->check_at != NULL && (t->offset != 0 || t->stretch != 1))
        return pe->check_at(use->o.bytes, cfg, (double)t->offset, (double)t->stretch, err);
    return PW_OK;
}

float pw_pe_query_gain(const struct pw_pe_tune *t, int pos)
{
    return pos < t->logn ? 1 : (float)(pw_log((double)pos + 1) / pw_log((double)t->logn));
}

int pw_pe_stretched(const struct pw_pe_use_opts *use, int distance)
{
    return use->tune.stretch == 1 ? distance : (int)((double)distance * (double)use->tune.stretch);
}

enum pw_code pw_pe_turn(struct pw_pe_use_opts *use, const char *text, const struct pw_config *cfg,
                        struct pw_err *err)
{
    struct pw_pe_use_opts turned = *use;
    char *copy = strdup(text), *state = NULL;
    enum pw_code code = copy != NULL ? PW_OK : pw_fail(err, PW_ENOMEM, "out of memory");
    for (char *w = code == PW_OK ? strtok_r(copy, " ", &state) : NULL; w != NULL && code == PW_OK;
         w = strtok_r(NULL, " ", &state))
        code = pw_pe_set_option(&turned, w, err);
    free(copy);
    if (code == PW_OK)
        code = pw_pe_formula_settle(&turned, err);
    if (code == PW_OK)
        code = pw_pe_check(&turned, cfg, err);
    if (code == PW_OK)
        *use = turned;
    return code;
}
