/* formula_variables.c - refuse a formula whose stages read variables that they have no value of, also behind
 * a name. The parser finds what is written in the stage itself. */
#include "model/expr/formula.h"

/* Variables that a stage has no value of. */
static const struct {
    enum pw_stage stage;
    enum pw_expr_var var;
    const char *name, *reason;
} absent[] = {
    {PW_STAGE_EMBED, PW_VAR_LAYER, "l", "embeddings are added once, before layer 0"},
    {PW_STAGE_EMBED, PW_VAR_HEAD, "h", "embeddings are added once, before the heads"},
    {PW_STAGE_EMBED, PW_VAR_PAIR, "p", "an embedding has channels c"},
    {PW_STAGE_EMBED, PW_VAR_N, "n", "a token's embedding does not depend on what follows"},
    {PW_STAGE_ANGLE, PW_VAR_HEAD, "h", "heads share their rotation"},
    {PW_STAGE_ANGLE, PW_VAR_CHANNEL, "c", "a rotation has pairs p"},
    {PW_STAGE_GAIN, PW_VAR_HEAD, "h", "heads share their rotation; 'scale' has h"},
    {PW_STAGE_GAIN, PW_VAR_CHANNEL, "c", "a rotation has pairs p"},
    {PW_STAGE_BIAS, PW_VAR_PAIR, "p", "a score is one number for all pairs"},
    {PW_STAGE_BIAS, PW_VAR_CHANNEL, "c", "a score is one number for all channels"},
    {PW_STAGE_MASK, PW_VAR_PAIR, "p", "a score is one number for all pairs"},
    {PW_STAGE_MASK, PW_VAR_CHANNEL, "c", "a score is one number for all channels"},
    {PW_STAGE_SCALE, PW_VAR_PAIR, "p", "a score is one number for all pairs"},
    {PW_STAGE_SCALE, PW_VAR_CHANNEL, "c", "a score is one number for all channels"},
    {PW_STAGE_SCORE, PW_VAR_PAIR, "p", "a score is one number for all pairs"},
    {PW_STAGE_SCORE, PW_VAR_CHANNEL, "c", "a score is one number for all channels"},
    {PW_STAGE_SCORE, PW_VAR_N, "n", "use i + 1"},
    {PW_STAGE_GATE, PW_VAR_I, "i", "a gate reads the token alone"},
    {PW_STAGE_GATE, PW_VAR_J, "j", "a gate reads the token alone"},
    {PW_STAGE_GATE, PW_VAR_DISTANCE, "d", "a gate reads the token alone; 'bias' has d"},
    {PW_STAGE_GATE, PW_VAR_N, "n", "a gate reads the token alone"},
    {PW_STAGE_GATE, PW_VAR_PAIR, "p", "a score is one number for all pairs"},
    {PW_STAGE_GATE, PW_VAR_CHANNEL, "c", "a score is one number for all channels"},
    {PW_STAGE_MIX, PW_VAR_HEAD, "h", "heads share the functions, and weigh them differently"},
    {PW_STAGE_MIX, PW_VAR_N, "n", "a mix reads the distance alone"},
    {PW_STAGE_MIX, PW_VAR_PAIR, "p", "a score is one number for all pairs"},
    {PW_STAGE_MIX, PW_VAR_CHANNEL, "c", "a score is one number for all channels"},
};

/* Variables that few stages have, directly or through a name. */
static const struct {
    enum pw_expr_var var;
    const char *name;
    enum pw_stage a, b;
} reserved[] = {
    {PW_VAR_SCORE, "s", PW_STAGE_SCORE, PW_STAGE_SCORE},
    {PW_VAR_GATE, "g", PW_STAGE_GATE, PW_STAGE_GATE},
    {PW_VAR_MIX, "m", PW_STAGE_MIX, PW_STAGE_MIX},
    {PW_VAR_KEY, "key", PW_STAGE_ANGLE, PW_STAGE_GAIN},
};

static enum pw_code check_reserved(const struct pw_expr *x, struct pw_err *err)
{
    for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++)
        for (int s = 0; s < PW_STAGES; s++)
            if (s != (int)reserved[k].a && s != (int)reserved[k].b &&
                pw_expr_reads(x, (enum pw_stage)s, reserved[k].var))
                return pw_fail(err, PW_EUSER, "%s: no '%s': only %s%s%s can read it", pw_stage_names[s],
                               reserved[k].name, pw_stage_names[reserved[k].a],
                               reserved[k].a != reserved[k].b ? " and " : "",
                               reserved[k].a != reserved[k].b ? pw_stage_names[reserved[k].b] : "");
    return PW_OK;
}

enum pw_code pw_formula_check_variables(const struct pw_expr *x, const struct pw_config *cfg,
                                        struct pw_err *err)
{
    for (size_t k = 0; k < sizeof absent / sizeof *absent; k++)
        if (pw_expr_reads(x, absent[k].stage, absent[k].var))
            return pw_fail(err, PW_EUSER, "%s: no '%s': %s", pw_stage_names[absent[k].stage], absent[k].name,
                           absent[k].reason);
    if (check_reserved(x, err) != PW_OK)
        return PW_EUSER;
    for (int s = 0; s < PW_STAGES && !cfg->causal; s++)
        if (s != PW_STAGE_ANGLE && s != PW_STAGE_GAIN && pw_expr_reads(x, (enum pw_stage)s, PW_VAR_N))
            return pw_fail(err, PW_EUSER, "%s: no 'n': with causal=off every query sees all keys",
                           pw_stage_names[s]);
    return PW_OK;
}
