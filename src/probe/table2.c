/* table2.c - the settings of all runs of Kazemnejad et al. 2023 (Table 2) against the preset `paper`.
 *
 * The table says "polynomial" of the schedule; the released code's is of power 1, so linear. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/config.h"
#include "probe/probe.h"

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    struct pw_config c;
    struct pw_optim o;
    (void)p;
    enum pw_code code = pw_preset("paper", &c, &o, err);
    if (code == PW_OK)
        code = pw_config_check(&c, err);
    if (code != PW_OK)
        return code;
    const struct {
        const char *name;
        double paper, here;
    } rows[] = {
        {"learning rate", 0.00003, (double)o.lr},
        {"weight decay", 0.05, (double)o.decay},
        {"batch size", 64, o.batch},
        {"power of the decay", 1, o.schedule == PW_SCHEDULE_LINEAR},
        {"warm-up, share", 0.06, (double)o.warmup / o.steps},
        {"steps", 40000, o.steps},
        {"dropout", 0.1, (double)c.dropout},
        {"model dimension", 768, c.width},
        {"layers", 12, c.layers},
        {"attention heads", 12, c.heads},
    };
    int n = sizeof rows / sizeof *rows, same = 0;
    pw_finding_init(f, "table2", "", "the settings of all runs, and those of the preset paper");
    int table = pw_finding_table(f, "settings", n, 3);
    pw_finding_col(f, table, 0, "Table 2");
    pw_finding_col(f, table, 1, "model paper");
    pw_finding_col(f, table, 2, "same?");
    for (int i = 0; i < n; i++) {
        bool alike = fabs(rows[i].here - rows[i].paper) <= 1e-6 * rows[i].paper;
        same += alike;
        pw_finding_row(f, table, i, "%s", rows[i].name);
        pw_finding_put(f, table, i, 0, rows[i].paper);
        pw_finding_put(f, table, i, 1, rows[i].here);
        pw_finding_put(f, table, i, 2, alike);
    }
    pw_finding_claim(f, same == n ? PW_CLAIM_REPRODUCED : PW_CLAIM_CONTRADICTED,
                     "Kazemnejad et al. 2023, Table 2: the settings of all runs", "%d of %d are the same",
                     same, n);
    pw_finding_remark(f, "beyond the table, from the released code: RMSNorm, ReLU, no biases, tied "
                         "embeddings, unscaled scores, "
                         "rotary on a quarter of a head");
    return PW_OK;
}

const struct pw_probe pw_probe_table2 = {
    .name = "table2",
    .summary = "the settings of the paper's runs against the preset paper",
    .source = "Kazemnejad et al. 2023, Table 2",
    .end = end,
};
