/* manual_formulas.c - the manual page of the language of formulas. docs/guide/encodings.md explains it at
 * more length. */
#include "base/text.h"
#include "manual.h"

static const struct section {
    const char *title;
    struct row {
        const char *term, *meaning; /* term NULL: a paragraph of its own */
    } rows[24];
} sections[] = {
    {"DESCRIPTION",
     {{NULL,
       "The command pe expr takes the rest of its line as a formula. Each statement names a value or defines "
       "a stage; ';' separates statements, and quotes around the formula protect it. 'pe check expr FORMULA' "
       "describes a formula and changes nothing. A file NAME.pe with a formula is an encoding: pe NAME."}}},
    {"STAGES",
     {{"position", "the position of a token, in place of its index i; may read tokens and random numbers"},
      {"embed", "added to column c of C of an embedding"},
      {"angle", "rotation of pair p of pairs of queries and keys, in radians"},
      {"gain", "factor on a rotated pair"},
      {"scale", "factor on the scores of a query, before the bias"},
      {"bias", "added to the score of query i and key j"},
      {"score", "in place of the finished score s"},
      {"mask", "0 hides a key; each query must see one"},
      {"gate", "of a token; a score gets the sum of those after the key, up to the query"},
      {"mix", "function m of the distance d; a score gets their sum, weighted by the query's token"},
      {"mixes", "the number of functions of mix"},
      {"scan", "stick: stick-breaking weights; context(N): N contextual positions"},
      {"pairing", "interleaved or half: the columns that a pair has"}}},
    {"VARIABLES",
     {{"i, j, d", "indices of query and key; the difference of their positions"},
      {"n, L, context", "length so far; the trained length; the most tokens of the model"},
      {"h, H, l, layers", "head and heads; layer and layers"},
      {"p, pairs, c, C, D", "pair and pairs; column and columns of an embedding; columns of a head"},
      {"s", "the finished score, in score"},
      {"g", "a learned projection of the token, for each layer and head, in gate"},
      {"m", "the number of a function, from 0, in mix"},
      {"key", "in angle and gain: 1 for a key, 0 for a query"},
      {"position(i), position(j)", "positions, where the formula has the stage position"}}},
    {"OPERATORS AND FUNCTIONS",
     {{NULL, "The operators of C, ** for powers, and A ? B : C."},
      {"min max clip abs floor round", "least, largest, between two bounds, without sign, whole numbers"},
      {"exp log log1p log2 sqrt pow", "in double precision, with the same bits on every machine"},
      {"sin cos tanh sigmoid softplus relu erf", "as usual"},
      {"bucket(d, buckets, distance)", "the bucket of T5"},
      {"slopes()[h]", "the slope of ALiBi"},
      {"list(A, B, ...)[k]", "entry k"},
      {"sum(k=A..B, e)", "sum over whole numbers"}}},
    {"LEARNED VALUES",
     {{"a = learn(INIT)", "a number; INIT is a number, normal(S) or uniform(A, B)"},
      {"T = learn(INIT, N)", "a table of N numbers: T[k], or T(x) between entries"},
      {"per head, per layer",
       "each head or layer has its own; also per pair (angle, gain), per channel (embed) and per mix"},
      {"mlp(x, hidden=32)", "a small network with an output for each head, in bias and scale"},
      {"a = option(V, A..B)", "a number that the user may set: pe NAME a=V, within A..B"}}},
    {"TOKENS AND CHANCE, in position",
     {{"token(i)", "class of a token: word, digit, separator, symbol or last"},
      {"run(i), index(i), length(i)", "number of a run of digits, the place in it, and its digits"},
      {"prompt, training", "tokens of the prompt; 1 in an optimiser step"},
      {"uniform(A, B), normal(M, S), sample(k, n, m)", "drawn once for a sequence"}}},
    {"EXAMPLES",
     {{"pe expr 'bias = -slopes()[h] * d'", "ALiBi"},
      {"pe expr 'angle = i * 10000 ** (-2 * p / D)'", "rotary position embedding"},
      {"pe expr 'T = learn(normal(0.1), 8) per head; bias = T[bucket(d, 8, 16)]'", "T5"},
      {"pe expr 'mask = d < 32 || j < 4'", "a sliding window with four sinks"},
      {"pe expr 'gate = log(sigmoid(g))'", "forgetting attention"},
      {"pe expr 'mixes = 4; mix = exp(-d / 2 ** m)'", "decays among which each token chooses"},
      {"pe expr 'scan = stick'", "stick-breaking attention"},
      {"pe expr 'score = 30 * tanh(s / 30)'", "capped scores"}}},
    {NULL, {{0}}}};

void pw_manual_formulas(struct pw_str *out)
{
    for (const struct section *s = sections; s->title != NULL; s++) {
        pw_str_add(out, ".SH %s\n", s->title);
        for (const struct row *r = s->rows; r->meaning != NULL; r++) {
            pw_str_add(out, r->term != NULL ? ".TP\n\\&" : ".PP\n");
            pw_manual_text(out, r->term != NULL ? r->term : "");
            pw_str_add(out, r->term != NULL ? "\n" : "");
            pw_manual_text(out, r->meaning);
            pw_str_add(out, "\n");
        }
    }
}
