/* pcfg_draw.c - draws sources of PCFG SET: the frequency of each number of functions, and a source that has
 * it.
 *
 * The release. Hupkes et al. 2020 drew from the grammar with random probabilities per sample. They kept the
 * samples that match the lengths and depths of English sentences (WMT), so no grammar alone has the release's
 * frequencies. A grammar with the release's own probabilities (0.60 and 0.576) makes a third of all sources a
 * single function, and 14.4 tokens in the mean. These facts about the release are known:
 *
 *   92,343 sources of the productivity split, 11,333 of which have more than 8 functions       12.27 %
 *   mean length of a source                                                                    18.2 tokens
 *   functions of one argument 0.60, arguments that are functions 0.576, at most                71 tokens
 *
 * They imply 5.22 functions in the mean. A negative binomial distribution of the number of functions minus
 * one, of shape 5, then gives the 12.27 %. 176 sources of the release fit it (tests/tasks/test_pcfg.c; one
 * source in thirty is a single function there, as here). The trees are those of a grammar in which a function
 * takes one argument with probability 0.584; with this distribution that gives all the numbers above. All
 * names of functions are equally likely, and strings have two to five symbols with equal probability.
 *
 * The draw. Rejection sampling from the grammar would be simple, but of 35 functions one draw in four
 * thousand fits into 71 tokens. So both conditions are built in. `trees` holds the total weight of all trees
 * with a given number of functions and strings. `fits` holds the probability that so many strings have at
 * most so many symbols. The tree and its strings are drawn from the root on, weighted by the rest. The result
 * has exactly the grammar's conditional probabilities. Only answers that are too long are drawn again. */
#include "tasks/pcfg.h"
#include <pthread.h>
#include <string.h>

#define P_UNARY    0.584 /* of functions, for any number of them; 0.60 over the whole release */
#define P_FUNCTION 0.576 /* of arguments */
#define MORE       4.22  /* mean number of functions beside the first one */
#define SHAPE      5
#define SHORTEST   2 /* symbols of a string */
#define LONGEST    5
#define N          PW_PCFG_FUNCTIONS
#define STRINGS    (N + 1)
#define SYMBOLS    (LONGEST * STRINGS)

/* The total weight of all trees with n functions and m strings, from the weights of their parts. */
struct trees {
    double unary, binary, function, string;
    double w[N + 1][STRINGS + 1]; /* [n][m]; [0]: no function */
};

/* [m][s]: number, or probability, of m strings with at most s symbols in all. */
typedef double strings_of[STRINGS + 1][SYMBOLS + 1];

static struct trees trees = {P_UNARY, 1 - P_UNARY, P_FUNCTION, 1 - P_FUNCTION, {{0}}};
static struct trees counted = {PW_PCFG_UNARY, PW_PCFG_BINARY, 1, 1, {{0}}};
static strings_of fits;

/* The weight of an argument with n functions and m strings. */
static double argument(const struct trees *t, int n, int m)
{
    return n > 0 ? t->function * t->w[n][m] : m == 1 ? t->string : 0;
}

static void fill_trees(struct trees *t)
{
    for (int n = 1; n <= N; n++)
        for (int m = 1; m <= n + 1; m++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                for (int j = 1; j < m; j++)
                    sum += argument(t, k, j) * argument(t, n - 1 - k, m - j);
            t->w[n][m] = t->unary * argument(t, n - 1, m) + t->binary * sum;
        }
}

/* each: the weight of a string with so many symbols. */
static void fill_strings(strings_of table, const double each[LONGEST + 1])
{
    for (int s = 0; s <= SYMBOLS; s++)
        table[0][s] = 1;
    for (int m = 1; m <= STRINGS; m++)
        for (int s = 0; s <= SYMBOLS; s++) {
            table[m][s] = 0;
            for (int k = SHORTEST; k <= LONGEST && k <= s; k++)
                table[m][s] += each[k] * table[m - 1][s - k];
        }
}

static void fill_all(void)
{
    fill_trees(&trees);
    fill_trees(&counted);
    fill_strings(fits, (const double[]){0, 0, 0.25, 0.25, 0.25, 0.25});
}

static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_all);
}

/* Returns the room for m strings beside n functions and the commas; -1: they do not fit. */
static int room_for(const struct pw_pcfg_opts *opt, int n, int m)
{
    int room = opt->tokens - n - (m - 1);
    return room < SHORTEST * m ? -1 : room < SYMBOLS ? room : SYMBOLS;
}

/* The weight of n functions and m strings within the limit of tokens. */
static double weigh(const struct pw_pcfg_opts *opt, const struct trees *t, double (*table)[SYMBOLS + 1],
                    int n, int m)
{
    int room = room_for(opt, n, m);
    return room < 0 || t->w[n][m] == 0 ? 0 : t->w[n][m] * table[m][room];
}

/* The weight of n functions with any number of strings. */
static double weigh_all(const struct pw_pcfg_opts *opt, int n)
{
    double sum = 0;
    for (int m = 1; m <= n + 1; m++)
        sum += weigh(opt, &trees, fits, n, m);
    return sum;
}

/* The release's share with n functions, up to a constant: the negative binomial distribution of n - 1. */
static double release(int n)
{
    double w = 1;
    for (int k = 1; k < n; k++)
        w *= MORE / (MORE + SHAPE) * (k + SHAPE - 1) / k;
    return w;
}

/* The release has at most 71 tokens; with a lower limit tokens=, only its sources within the limit count. */
double pw_pcfg_weight(const void *o, int length)
{
    const struct pw_pcfg_opts *opt = o;
    struct pw_pcfg_opts whole = *opt;
    prepare();
    whole.tokens = PW_PCFG_RELEASE;
    double fit = opt->tokens < PW_PCFG_RELEASE ? weigh_all(opt, length) / weigh_all(&whole, length) : 1;
    return release(length) * fit;
}

bool pw_pcfg_has(const void *o, int length)
{
    return room_for(o, length, 1) >= 0; /* functions of one argument alone need the least room */
}

double pw_pcfg_inputs(const void *o, struct pw_pair at)
{
    const struct pw_pcfg_opts *opt = o;
    double a = opt->common.alphabet, sum = 0;
    strings_of sorts;
    prepare();
    fill_strings(sorts, (const double[]){0, 0, a * a, a * a * a, a * a * a * a, a * a * a * a * a});
    for (int m = 1; m <= at.a + 1; m++)
        sum += weigh(opt, &counted, sorts, at.a, m);
    return sum;
}

/* ---- drawing */

struct draft {
    const struct pw_pcfg_opts *opt;
    struct pw_rng *rng;
    struct pw_item *item;
    int strings, room; /* strings still to draw, and room for them */
};

static void put(struct draft *d, int code)
{
    d->item->v[d->item->n++] = code;
}

static void draw_string(struct draft *d)
{
    double left = pw_rng_unit(d->rng) * 4 * fits[d->strings][d->room];
    int n = SHORTEST;
    while (n < LONGEST && d->room - n - 1 >= SHORTEST * (d->strings - 1)) {
        double w = fits[d->strings - 1][d->room - n];
        if (left < w)
            break;
        left -= w;
        n++;
    }
    d->strings--;
    d->room -= n;
    for (int i = 0; i < n; i++)
        put(d, (int)pw_rng_below(d->rng, (uint32_t)d->opt->common.alphabet));
}

static void draw_function(struct draft *d, int n, int m);

static void draw_argument(struct draft *d, int n, int m)
{
    if (n == 0)
        draw_string(d);
    else
        draw_function(d, n, m);
}

/* Draws a function with n functions in all, itself included, and m strings. */
static void draw_function(struct draft *d, int n, int m)
{
    double left = pw_rng_unit(d->rng) * trees.w[n][m], one = P_UNARY * argument(&trees, n - 1, m);
    int first = 0,
        strings = 0; /* of the first argument; the last pair with a weight, if rounding selects none */
    if (left < one || m == 1) {
        put(d, PW_PCFG_FUNCTION + (int)pw_rng_below(d->rng, PW_PCFG_UNARY));
        draw_argument(d, n - 1, m);
        return;
    }
    left -= one;
    for (int k = 0; k < n && left >= 0; k++)
        for (int j = 1; j < m && left >= 0; j++) {
            double w = (1 - P_UNARY) * argument(&trees, k, j) * argument(&trees, n - 1 - k, m - j);
            if (w == 0)
                continue;
            first = k;
            strings = j;
            left -= w;
        }
    put(d, PW_PCFG_FUNCTION + PW_PCFG_UNARY + (int)pw_rng_below(d->rng, PW_PCFG_BINARY));
    draw_argument(d, first, strings);
    put(d, PW_PCFG_COMMA);
    draw_argument(d, n - 1 - first, m - strings);
}

void pw_pcfg_draw(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    const struct pw_pcfg_opts *opt = o;
    struct draft d = {opt, rng, item, 0, 0};
    int value[PW_PCFG_ANSWER], n;
    prepare();
    do {
        double left = pw_rng_unit(rng) * weigh_all(opt, length);
        int m = 1; /* strings; functions of one argument alone have one */
        for (int k = 1; k <= length + 1 && left >= 0; k++) {
            double w = weigh(opt, &trees, fits, length, k);
            m = w > 0 ? k : m;
            left -= w;
        }
        d.strings = m;
        d.room = room_for(opt, length, m);
        item->length = length;
        item->n = 0;
        draw_function(&d, length, m);
        n = pw_pcfg_solve(item, value, PW_PCFG_ANSWER);
    } while (n < 0 || n > opt->answer);
}
