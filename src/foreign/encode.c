/* encode.c - writes the encoding of a config as a line of the command pe: a built-in encoding or a file of
 * encodings/ if one says the same, otherwise a formula.
 *
 * Factors of longrope are chosen by the context, because keys that are cached for decoding can't change when
 * a sequence grows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "foreign/reader.h"

/* A number as text that reads back to the same double. */
static const char *number(char dst[32], double x)
{
    snprintf(dst, 32, "%.15g", x);
    double back = 0;
    if (!pw_text_double(dst, &back) || back != x)
        snprintf(dst, 32, "%.17g", x);
    return dst;
}

static void add_number(struct pw_str *out, const char *before, double x, const char *behind)
{
    char text[32];
    pw_str_add(out, "%s%s%s", before, number(text, x), behind);
}

/* The entries of a head that rotate, an even number. */
static int rotated(const struct pw_rope *rope, const struct pw_config *cfg)
{
    if (rope->type == PW_ROPE_PROPORTIONAL)
        return cfg->head_width;
    return (int)(cfg->head_width * rope->fraction + 1e-9) / 2 * 2;
}

static bool any(const bool *list, int n)
{
    for (int i = 0; i < n; i++)
        if (list[i])
            return true;
    return false;
}

static bool has_window(const struct pw_positions *at, const struct pw_config *cfg)
{
    return at->window > 0 && at->window < cfg->context && any(at->sliding, cfg->layers);
}

static bool has_local(const struct pw_positions *at, const struct pw_config *cfg)
{
    return at->has_local && any(at->sliding, cfg->layers);
}

/* Within the trained context, dynamic scaling is plain rotation. */
static enum pw_rope_type effective(const struct pw_positions *at, const struct pw_rope *rope,
                                   const struct pw_config *cfg)
{
    return rope->type == PW_ROPE_DYNAMIC && cfg->context <= at->most ? PW_ROPE_DEFAULT : rope->type;
}

/* Is everything but the frequencies of one rotation at its default? */
static bool is_plain(const struct pw_positions *at, const struct pw_config *cfg)
{
    return !has_window(at, cfg) && !has_local(at, cfg) && !any(at->open, cfg->layers) && at->score_cap == 0;
}

/* Is a built-in encoding or a file of encodings/ enough? */
static bool is_named(const struct pw_positions *at, const struct pw_config *cfg)
{
    const struct pw_rope *rope = &at->rope;
    enum pw_rope_type type = effective(at, rope, cfg);
    bool all = rotated(rope, cfg) == cfg->head_width && !at->interleaved, usual;
    double gain = 0.1 * log(rope->factor) + 1;
    if (!is_plain(at, cfg) || rope->base > 1e9)
        return false;
    usual = rope->truncate && fabs(rope->gain - gain) < 1e-12 && rope->factor >= 1;
    return type == PW_ROPE_DEFAULT ||
           (all && (type == PW_ROPE_LINEAR || type == PW_ROPE_LLAMA3 || type == PW_ROPE_DYNAMIC ||
                    type == PW_ROPE_PROPORTIONAL || (type == PW_ROPE_YARN && usual)));
}

static void write_named(const struct pw_positions *at, const struct pw_config *cfg, struct pw_str *out)
{
    const struct pw_rope *rope = &at->rope;
    static const char *const files[] = {[PW_ROPE_LINEAR] = "rope_pi",
                                        [PW_ROPE_DYNAMIC] = "rope_dynamic",
                                        [PW_ROPE_YARN] = "rope_yarn",
                                        [PW_ROPE_LLAMA3] = "rope_llama3",
                                        [PW_ROPE_PROPORTIONAL] = "proportional_rope"};
    enum pw_rope_type type = effective(at, rope, cfg);
    if (type == PW_ROPE_DEFAULT) {
        add_number(out, "rotary base=", rope->base, "");
        pw_str_add(out, " dims=%d pairing=%s", rotated(rope, cfg), at->interleaved ? "interleaved" : "half");
        return;
    }
    pw_str_add(out, "%s", files[type]);
    add_number(out, " base=", rope->base, "");
    if (type == PW_ROPE_PROPORTIONAL) {
        add_number(out, " fraction=", rope->fraction, "");
        return;
    }
    add_number(out, " factor=", rope->factor, "");
    if (type != PW_ROPE_LINEAR)
        add_number(out, " trained=", type == PW_ROPE_DYNAMIC ? at->most : rope->trained, "");
    if (type == PW_ROPE_LLAMA3) {
        add_number(out, " low=", rope->low, "");
        add_number(out, " high=", rope->high, "");
    } else if (type == PW_ROPE_YARN) {
        add_number(out, " fast=", rope->fast, "");
        add_number(out, " slow=", rope->slow, "");
    }
}

static void write_list(struct pw_str *out, const double *list, int n)
{
    pw_str_add(out, "list(");
    for (int i = 0; i < n; i++)
        add_number(out, i > 0 ? "," : "", list[i], "");
    pw_str_add(out, ")[p]");
}

/* Writes the statements that define w_NAME, the frequency of pair p. */
static void write_frequency(const struct pw_positions *at, const struct pw_rope *rope,
                            const struct pw_config *cfg, const char *name, struct pw_str *out)
{
    const double turn = 6.283185307179586;
    enum pw_rope_type type = effective(at, rope, cfg);
    int n = rotated(rope, cfg);
    char plain[16];
    snprintf(plain, sizeof plain, "v_%s", name);
    if (type == PW_ROPE_DYNAMIC) {
        pw_str_add(out, "b_%s = ", name);
        add_number(out, "", rope->base, " * (");
        add_number(out, "", rope->factor, " * max(n, ");
        add_number(out, "", at->most, ") / ");
        add_number(out, "", at->most, " - (");
        add_number(out, "", rope->factor, " - 1))");
        pw_str_add(out, " ** %.17g; %s = b_%s ** (-2 * p / %d); ", (double)n / (n > 2 ? n - 2 : 1), plain,
                   name, n);
    } else {
        pw_str_add(out, "%s = ", plain);
        add_number(out, "", rope->base, "");
        pw_str_add(out, " ** (-2 * p / %d); ", n);
    }
    if (type == PW_ROPE_YARN) {
        double low = n * log(rope->trained / (turn * rope->fast)) / (2 * log(rope->base));
        double high = n * log(rope->trained / (turn * rope->slow)) / (2 * log(rope->base));
        low = fmax(rope->truncate ? floor(low) : low, 0);
        high = fmin(rope->truncate ? ceil(high) : high, n - 1);
        pw_str_add(out, "r_%s = clip((p - ", name);
        add_number(out, "", low, ") / ");
        add_number(out, "", high > low ? high - low : 0.001, ", 0, 1); ");
        pw_str_add(out, "w_%s = (1 - r_%s) * %s + r_%s * %s / ", name, name, plain, name, plain);
        add_number(out, "", rope->factor, "; ");
    } else if (type == PW_ROPE_LLAMA3) {
        double long_wave = rope->trained / rope->low, short_wave = rope->trained / rope->high;
        pw_str_add(out, "k_%s = 6.283185307179586 / %s; r_%s = clip((", name, plain, name);
        add_number(out, "", rope->trained, "");
        pw_str_add(out, " / k_%s - ", name);
        add_number(out, "", rope->low, ") / ");
        add_number(out, "", rope->high - rope->low, ", 0, 1); ");
        pw_str_add(out, "w_%s = k_%s < ", name, name);
        add_number(out, "", short_wave, "");
        pw_str_add(out, " ? %s : k_%s > ", plain, name);
        add_number(out, "", long_wave, "");
        pw_str_add(out, " ? %s / ", plain);
        add_number(out, "", rope->factor, "");
        pw_str_add(out, " : (1 - r_%s) * %s / ", name, plain);
        add_number(out, "", rope->factor, "");
        pw_str_add(out, " + r_%s * %s; ", name, plain);
    } else {
        pw_str_add(out, "w_%s = %s", name, plain);
        if (type == PW_ROPE_LONGROPE || type == PW_ROPE_FACTORED) {
            bool longer = type == PW_ROPE_FACTORED || cfg->context > rope->trained;
            pw_str_add(out, " / ");
            write_list(out, longer ? rope->longer : rope->shorter, longer ? rope->n_long : rope->n_short);
        } else if (type == PW_ROPE_LINEAR || (type == PW_ROPE_PROPORTIONAL && rope->factor != 1)) {
            add_number(out, " / ", rope->factor, "");
        }
        pw_str_add(out, "; ");
    }
}

/* Writes a condition on the layer l that is 1 for the layers of the list. */
static void write_layers(struct pw_str *out, const bool *list, int n)
{
    int every = 1;
    while (every < n && !list[every - 1])
        every++;
    bool regular = true, inverse = true;
    for (int l = 0; l < n; l++)
        regular = regular && list[l] == ((l + 1) % every == 0);
    int first = 0; /* the same for layers that are not in the list */
    while (first < n && list[first])
        first++;
    for (int l = 0; l < n; l++)
        inverse = inverse && list[l] == ((l + 1) % (first + 1) != 0);
    if (regular) {
        pw_str_add(out, every == 1 ? "1" : "(l + 1) %% %d == 0", every);
    } else if (inverse) {
        pw_str_add(out, "(l + 1) %% %d != 0", first + 1);
    } else {
        pw_str_add(out, "list(");
        for (int l = 0; l < n; l++)
            pw_str_add(out, "%s%d", l > 0 ? "," : "", list[l]);
        pw_str_add(out, ")[l]");
    }
}

/* The pairs that rotate: all if it is half of the head. */
static int turning_pairs(const struct pw_rope *rope, const struct pw_config *cfg)
{
    return rope->type == PW_ROPE_PROPORTIONAL ? (int)(rope->fraction * (cfg->head_width / 2) + 1e-9)
                                              : cfg->head_width / 2;
}

static void write_angle(const struct pw_positions *at, const struct pw_config *cfg, struct pw_str *out)
{
    bool local = has_local(at, cfg), open = any(at->open, cfg->layers);
    int pairs = turning_pairs(&at->rope, cfg);
    if (at->interleaved)
        pw_str_add(out, "pairing = interleaved; ");
    if (rotated(&at->rope, cfg) < cfg->head_width)
        pw_str_add(out, "rotary_dim = %d; ", rotated(&at->rope, cfg));
    write_frequency(at, &at->rope, cfg, "all", out);
    if (local)
        write_frequency(at, &at->local, cfg, "near", out);
    if (local || has_window(at, cfg)) {
        pw_str_add(out, "near = ");
        write_layers(out, at->sliding, cfg->layers);
        pw_str_add(out, "; ");
    }
    if (open) {
        pw_str_add(out, "open = ");
        write_layers(out, at->open, cfg->layers);
        pw_str_add(out, "; ");
    }
    pw_str_add(out, "angle = ");
    if (open)
        pw_str_add(out, "open ? 0 : ");
    if (pairs < cfg->head_width / 2)
        pw_str_add(out, "p >= %d ? 0 : ", pairs);
    pw_str_add(out, local ? "i * (near ? w_near : w_all)" : "i * w_all");
    if (at->rope.gain != 1) {
        pw_str_add(out, "; gain = ");
        if (pairs < cfg->head_width / 2)
            pw_str_add(out, "p >= %d ? 1 : ", pairs);
        if (open)
            pw_str_add(out, "open ? 1 : ");
        if (local)
            pw_str_add(out, "near ? 1 : ");
        add_number(out, "", at->rope.gain, "");
    }
}

static const char *name_of(const struct pw_positions *at, const struct pw_config *cfg)
{
    static const char *const names[] = {"rope",      "rope_linear", "rope_dynamic", "rope_yarn_set",
                                        "rope_long", "rope_llama",  "rope_share",   "rope_factors"};
    return has_window(at, cfg) || has_local(at, cfg) ? "rope_window"
           : any(at->open, cfg->layers)              ? "rope_open"
                                                     : names[at->rope.type];
}

void pw_positions_text(const struct pw_positions *at, const struct pw_config *cfg, struct pw_str *out)
{
    if (at->kind != PW_AT_ROTARY) {
        static const char *const names[] = {"none", "learned", "rotary", "alibi"};
        pw_str_add(out, "%s", names[at->kind]);
        return;
    }
    if (is_named(at, cfg)) {
        write_named(at, cfg, out);
        return;
    }
    pw_str_add(out, "expr '");
    write_angle(at, cfg, out);
    if (at->score_cap > 0) {
        add_number(out, "; score = ", at->score_cap, " * tanh(s / ");
        add_number(out, "", at->score_cap, ")");
    }
    if (has_window(at, cfg)) {
        bool every = true;
        for (int l = 0; l < cfg->layers; l++)
            every = every && at->sliding[l];
        pw_str_add(out, every ? "; mask = d < %d" : "; mask = near ? d < %d : 1", at->window);
    }
    pw_str_add(out, "' as=%s", name_of(at, cfg));
}
