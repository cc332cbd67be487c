/* buckets.c - the probe buckets: T5's buckets by distance (Raffel et al. 2020; Kazemnejad et al. 2023, Eq. 12
 * and the example after it).
 *
 * The example matrix has 5 buckets and a largest distance of 6. Eq. 12 as printed divides an odd number of
 * buckets by 2. The integer form (2 exact buckets, 3 logarithmic ones) reproduces the matrix. For 32 buckets
 * up to 128, the first distance of every logarithmic bucket is compared with the paper's released code. Its
 * last bucket starts at 113, not at 128. */
#include "model/pe.h"
#include "probe/probe.h"

struct options {
    int buckets, distance;
};

static const struct pw_opt opts[] = {
    {"buckets", PW_OPT_INT, offsetof(struct options, buckets), "32", 2, 1024, NULL, 0, "number of buckets"},
    {"distance", PW_OPT_INT, offsetof(struct options, distance), "128", 2, 1 << 20, NULL, 0,
     "all distances from this one on share the last bucket"},
    {0},
};

static const int example[] = {0, 1, 2, 3, 3, 4, 4, 4, 4, 4};
static const int from_16[] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};

enum { EXAMPLE = sizeof example / sizeof *example, LOGS = sizeof from_16 / sizeof *from_16 };

static enum pw_code begin_buckets(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    p->units = 0;
    if (o->distance <= o->buckets / 2)
        return pw_fail(err, PW_EUSER, "probe buckets: distance=%d: allowed is %d or more with %d buckets",
                       o->distance, o->buckets / 2 + 1, o->buckets);
    return PW_OK;
}

/* The first distance that falls into a bucket. */
static int first_of(int bucket, int buckets, int distance)
{
    int r = 0;
    while (pw_t5_bucket(r, buckets, distance) < bucket)
        r++;
    return r;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    int right = 0, logs = 0;
    (void)err;
    pw_finding_init(f, "buckets", "", "T5's buckets by distance: %d buckets, largest distance %d", o->buckets,
                    o->distance);
    int b = pw_finding_table(f, "first distance of each bucket", o->buckets, 1);
    pw_finding_col(f, b, 0, "from");
    f->blocks[b].decimals = 0;
    for (int i = 0; i < o->buckets; i++) {
        pw_finding_row(f, b, i, "bucket %d", i);
        pw_finding_put(f, b, i, 0, first_of(i, o->buckets, o->distance));
    }
    int m = pw_finding_map(
        f, "the example of Kazemnejad et al. 2023: 5 buckets, largest distance 6, query by key", EXAMPLE,
        EXAMPLE, 0, 4, false);
    for (int i = 0; i < EXAMPLE; i++) {
        right += pw_t5_bucket(i, 5, 6) == example[i];
        for (int j = 0; j <= i; j++)
            pw_finding_put(f, m, i, j, pw_t5_bucket(i - j, 5, 6));
    }
    for (int i = 0; i < LOGS; i++)
        logs += first_of(16 + i, 32, 128) == from_16[i];
    pw_finding_claim(f, right == EXAMPLE ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
                     "Kazemnejad et al. 2023, B.2: the example matrix of T5's buckets (B=5, D=6)",
                     "%d of %d distances have the printed bucket", right, EXAMPLE);
    pw_finding_claim(f, logs == LOGS ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
                     "the released code: first distances of the 16 logarithmic buckets (B=32, D=128)",
                     "%d of %d buckets begin at the same distance, the last one at %d", logs, LOGS,
                     first_of(31, 32, 128));
    pw_finding_remark(f, "erratum: Eq. 12 prints B/2, which is not an integer for B=5; the printed example "
                         "follows integer division");
    return PW_OK;
}

const struct pw_probe pw_probe_buckets = {
    .name = "buckets",
    .summary = "T5's buckets by distance, and the example of Kazemnejad et al. 2023",
    .source = "Raffel et al. 2020; Kazemnejad et al. 2023, Eq. 12",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .begin = begin_buckets,
    .end = end,
};
