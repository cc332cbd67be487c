/* blog_studies.c - the studies that train several models and probe each: those of Su 2024 (kexue.fm 10347),
 * and the components of attention scores (Kazemnejad et al. 2023, Eq. 1). blog.h describes how they are
 * judged.
 *
 * A study is a row: name, encodings, source and summary, then its probe, the numbers that it shows, and the
 * claims with their bounds. */
#include <math.h>

#include "reproduce/blog.h"

/* A row. The arguments after the summary are the other members of the plan. The figure shows the finding
 * whose name is the study and whose topic is its encodings. */
#define STUDY(its_name, its_pes, its_document, its_summary, ...)                                             \
    {                                                                                                        \
        .name = its_name, .document = its_document, .summary = its_summary, .opts = pw_blog_opts,            \
        .opts_size = sizeof(struct pw_blog), .finding = its_name " " its_pes,                                \
        .blog = &(const struct pw_blog_plan){.name = its_name, .pes = its_pes, __VA_ARGS__},                 \
    }

/* ---- variance: position in the variance of attention's output, in theory and in small models (Su 2024,
 * kexue.fm 10347). */

static const struct pw_blog_number variance_numbers[] = {
    {"output", "slope of ln", 0, PW_OF_LEAST, 0, 2},
    {"untrained", "slope of ln", 0, PW_OF_LEAST, 1, 2},
    {"share in norm", "slope of ln", 2, PW_OF_LEAST, 0, 2},
    {0},
};

/* The claims use layer 0, where values are functions of the tokens alone, as Su 2024 assumes; the inputs of
 * deeper layers contain position already. A small model can't have the predicted slope of -1, because tokens
 * repeat and values are trained. So only the sign is judged: the mean square falls. */
static const struct pw_blog_claim variance_claims[] = {
    {"Su 2024: without an encoding, the variance contains position at initialisation",
     "untrained, layer 0",
     1,
     {"", "slope of ln", 0, PW_OF_LEAST, 1, 1000},
     {0},
     PW_BELOW,
     0,
     0},
    {"Chi et al. 2023, cited by Su 2024: the variance contains position in trained models, too",
     "trained, layer 0",
     1,
     {"", "slope of ln", 0, PW_OF_LEAST, 0, 1000},
     {0},
     PW_BELOW,
     0,
     0},
    {0},
};

const struct pw_repro pw_repro_variance =
    STUDY("variance", "none,learned", "Su 2024, 'via variance'",
          "the variance sigma^2/n: iid values, repeated tokens, a trained NoPE model", .probe = "variance",
          .seeds = 20, .judged = 1, .plot = "layer 0: mean square", .numbers = variance_numbers,
          .claims = variance_claims);

/* ---- scalar: is position a single scalar without an encoding (Su 2024, shortcoming 1)? */

static const struct pw_blog_number scalar_numbers[] = {
    {"one uniform head", "share of var", 2, PW_OF_MOST, 0, 1000},
    {"largest rank", "share of var", 2, PW_OF_MOST, 1, 0},
    {"untrained", "share of var", 5, PW_OF_MOST, 1, 0},
    {0},
};

/* The claim uses the residual stream after the last layer, which all heads and layers have written to: row 4
 * of the table, for 2 layers. */
static const struct pw_blog_claim scalar_claims[] = {
    {"Su 2024: with many heads and layers, the scalars become a vector",
     "rank, last stream",
     1,
     {"", "share of var", 2, PW_OF_LEAST, 4, 1000},
     {0},
     PW_ABOVE,
     1.5,
     1.1},
    {0},
};

static const struct pw_blog_number scalar_control = {
    "position's share, shuffled", "share of var", 6, PW_OF_MOST, 0, 0};

const struct pw_repro pw_repro_scalar =
    STUDY("scalar", "none,learned", "Su 2024, shortcoming 1",
          "is position a single scalar: number of dimensions that hold it, layer by layer", .probe = "rank",
          .seeds = 12, .judged = 1, .plot = "none", .numbers = scalar_numbers, .claims = scalar_claims,
          .control = &scalar_control, .control_most = 0.01);

/* ---- position: in which layers a model stores position, with and without an encoding (Haviv et al. 2022; Su
 * 2024). */

static const struct pw_blog_number position_numbers[] = {
    {"best R2 of i", "R^2", 0, PW_OF_MOST, 0, 3},
    {"untrained", "R^2", 0, PW_OF_MOST, 1, 3},
    {"least error, tokens", "R^2", 4, PW_OF_LEAST, 0, 3},
    {"beyond, least", "R^2", 6, PW_OF_LEAST, 0, 3},
    {0},
};

/* The claims use the residual stream after the last layer, which contains everything that the answer can use.
 * It is row 6 of the table, which has three rows per stream, for 2 layers. R^2 above 0.05 is more than
 * shuffled positions reach. */
static const struct pw_blog_claim position_claims[] = {
    {"Haviv et al. 2022: position can be read from a causal model without an encoding",
     "R2 of i, last stream",
     1,
     {"", "R^2 of", 0, PW_OF_LEAST, 6, 1000},
     {0},
     PW_ABOVE,
     0.05,
     0.05},
    {"Haviv et al. 2022; Su 2024: position is learned: training increases R^2",
     "R2 of i, less untr.",
     1,
     {"", "R^2 of", 0, PW_OF_LEAST, 6, 1000},
     {"", "R^2 of", 0, PW_OF_LEAST, 7, 1000},
     PW_ABOVE,
     0,
     0},
    {0},
};

static const struct pw_blog_number position_control = {"R2 of i, shuffled", "R^2 of", 0, PW_OF_MOST, 2, 3};

const struct pw_repro pw_repro_position =
    STUDY("position", "none,sinusoidal,rotary", "Haviv et al. 2022; Su 2024",
          "linear readout of the position from each layer, with controls", .probe = "position", .seeds = 20,
          .judged = 1, .plot = "R^2 of i", .numbers = position_numbers, .claims = position_claims,
          .control = &position_control, .control_most = 0.05);

/* ---- resolution: how finely a scalar distinguishes positions, compared with a learned table (Su 2024,
 * shortcoming 2). */

static const struct pw_blog_number resolution_numbers[] = {
    {"first third", "standard dev", 0, PW_OF_MEAN, 0, 1000},
    {"last third", "standard dev", 1, PW_OF_MEAN, 0, 1000},
    {"untrained, first", "standard dev", 0, PW_OF_MEAN, 1, 1000},
    {"last", "standard dev", 1, PW_OF_MEAN, 1, 1000},
    {0},
};

static const struct pw_blog_claim resolution_claims[] = {
    {"Su 2024: without an encoding, later positions are harder to distinguish",
     "first less last third",
     1,
     {"", "standard dev", 0, PW_OF_MEAN, 0, 1000},
     {"", "standard dev", 1, PW_OF_MEAN, 0, 1000},
     PW_ABOVE,
     0,
     0},
    {0},
};

const struct pw_repro pw_repro_resolution =
    STUDY("resolution", "none,learned", "Su 2024, shortcoming 2",
          "distinguishing 1/sqrt(n) from 1/sqrt(n+1): step, noise, rounding; trained arms",
          .probe = "resolution", .seeds = 12, .judged = 1, .plot = "a readout's means",
          .numbers = resolution_numbers, .claims = resolution_claims);

/* ---- shift: absolute position without an encoding, and encodings that use only distances (Su 2024,
 * shortcoming 3). */

static const struct pw_blog_number shift_numbers[] = {
    {"change of loss", "all position", 1, PW_OF_MOST, 0, 0},
    {"same argmax", "all position", 2, PW_OF_LEAST, 0, 0},
    {0},
};

static const struct pw_blog_claim shift_claims[] = {
    {"Su 2024, shortcoming 3: without an encoding, a state depends on its absolute position",
     "cosine lost",
     1,
     {"", "cosine of a", 0, PW_OF_MEAN, 0, 1000},
     {"", "cosine of a", 1, PW_OF_MEAN, 0, 1000},
     PW_ABOVE,
     0.05,
     0},
    {"Su 2024: with an absolute encoding, the loss depends on the position of a text",
     "learned: loss changes",
     2,
     {"", "all position", 1, PW_OF_MOST, 0, 0},
     {0},
     PW_ABOVE,
     0.01,
     0.01},
    {0},
};

const struct pw_repro pw_repro_shift = STUDY(
    "shift", "none,learned,rotary,alibi", "Su 2024, shortcoming 3",
    "absolute and relative position: all position ids raised, or more tokens before a text", .probe = "shift",
    .seeds = 12, .judged = 2, .plot = "the same text", .numbers = shift_numbers, .claims = shift_claims);

/* ---- dispersion: dispersion of attention in longer sequences (Su 2024, shortcoming 4). */

static const struct pw_blog_number dispersion_numbers[] = {
    {"mean slope", "slope of entropy", -1, PW_OF_MEAN, 0, 0},
    {"least", "slope of entropy", -1, PW_OF_LEAST, 0, 0},
    {0},
};

/* The mean over all heads, so that no head is selected. A uniform head has slope 1, a head whose focus does
 * not depend on the length has 0. */
static const struct pw_blog_claim dispersion_claims[] = {
    {"Su 2024, shortcoming 4: without an encoding, attention disperses in longer sequences",
     "slope, mean of heads",
     1,
     {"", "slope of entropy", -1, PW_OF_MEAN, 0, 0},
     {0},
     PW_ABOVE,
     0.8,
     0.2},
    {0},
};

const struct pw_repro pw_repro_dispersion =
    STUDY("dispersion", "none,alibi", "Su 2024, shortcoming 4",
          "attention in longer sequences: random scores, ALiBi's limit, trained arms", .probe = "dispersion",
          .seeds = 12, .judged = 1, .plot = "mean entropy", .numbers = dispersion_numbers,
          .claims = dispersion_claims);

/* ---- decay: long-range decay as a prior (Su 2024, shortcoming 4): which encodings have it, and which models
 * learn it. */

static const struct pw_blog_number decay_numbers[] = {
    {"steepest, against r", "slope of ln", 0, PW_OF_LEAST, 0, 0},
    {"mean", "slope of ln", 0, PW_OF_MEAN, 0, 0},
    {"untrained, steepest", "slope of ln", 4, PW_OF_LEAST, 0, 0},
    {0},
};

/* The factor by which attention mass falls over the distances, in the head where it falls most. Below 1.1 is
 * flat, 2 is decay. */
static const struct pw_blog_claim decay_claims[] = {
    {"Su 2024, shortcoming 4: without an encoding, there is no prior of long-range decay",
     "untrained, factor",
     1,
     {"", "slope of ln", 6, PW_OF_MOST, 0, 0},
     {0},
     PW_BELOW,
     1.1,
     2},
    {"Su 2024, shortcoming 4: without an encoding, the model doesn't seem able to learn long-range decay",
     "trained, factor",
     1,
     {"", "slope of ln", 5, PW_OF_MOST, 0, 0},
     {0},
     PW_BELOW,
     1.1,
     2},
    {0},
};

const struct pw_repro pw_repro_decay =
    STUDY("decay", "none,rotary,alibi,t5", "Su 2024, shortcoming 4",
          "long-range decay: rotary with aligned and independent vectors; trained rotary, ALiBi, T5 and none",
          .probe = "decay", .seeds = 12, .judged = 1, .plot = "mass of attention", .numbers = decay_numbers,
          .claims = decay_claims);

/* ---- adjacent: the prior that adjacent positions are similar, in a learned table and in sines (Su 2024). */

/* For comparison: sines have 0.97. Su 2024 says that the model can learn it if necessary, so a model that
 * does not learn it contradicts nothing (fails is NaN). */
static const struct pw_blog_claim adjacent_claims[] = {
    {"Su 2024: a randomly initialised table has no prior that neighbours are similar",
     "untrained, neighbours",
     1,
     {"", "cosine of nei", 0, PW_OF_LEAST, 1, 1000},
     {0},
     PW_BELOW,
     0.1,
     0.1},
    {"Su 2024: the model can learn that neighbours are similar if it deems it necessary",
     "trained, less untr.",
     1,
     {"", "cosine of nei", 0, PW_OF_LEAST, 0, 1000},
     {"", "cosine of nei", 0, PW_OF_LEAST, 1, 1000},
     PW_ABOVE,
     0,
     (double)NAN},
    {0},
};

const struct pw_repro pw_repro_adjacent =
    STUDY("adjacent", "learned,sinusoidal", "Su 2024, 'Prior Knowledge'",
          "neighbouring position vectors: sines, and a learned table before and after training",
          .probe = "adjacent", .seeds = 12, .judged = 1, .plot = "by distance", .claims = adjacent_claims);

/* ---- scores: the components of attention scores in trained models, for the paper's encodings (Kazemnejad et
 * al. 2023, Eq. 1). */

static const struct pw_blog_number scores_numbers[] = {
    {"most relative", "shares", 0, PW_OF_MOST, 0, 0},
    {"mean", "shares", 0, PW_OF_MEAN, 0, 0},
    {"untrained, most", "shares", 3, PW_OF_MOST, 0, 0},
    {"most absolute", "shares", 1, PW_OF_MOST, 0, 0},
    {"mean", "shares", 1, PW_OF_MEAN, 0, 0},
    {"untrained, most", "shares", 4, PW_OF_MOST, 0, 0},
    {0},
};

/* The largest share over all heads, minus the largest before training: both are selected in the same way. */
static const struct pw_blog_claim scores_claims[] = {
    {"Kazemnejad et al. 2023, Eq. 1: a trained model without an encoding has relative scores",
     "share, less untr.",
     1,
     {"", "shares", 0, PW_OF_MOST, 0, 0},
     {"", "shares", 3, PW_OF_MOST, 0, 0},
     PW_ABOVE,
     0.05,
     0},
    {0},
};

static const struct pw_blog_number scores_control = {
    "position's share, shuffled", "shares", 5, PW_OF_MOST, 0, 0};

const struct pw_repro pw_repro_scores =
    STUDY("scores", "none,t5,alibi,rotary,sinusoidal", "Kazemnejad et al. 2023, Eq. 1",
          "decomposition of scores into f_rel(t-i) + f_abs + content, in trained models", .probe = "scores",
          .seeds = 12, .judged = 1, .plot = "layer 1: f_rel", .numbers = scores_numbers,
          .claims = scores_claims, .control = &scores_control, .control_most = 0.02);
