/* event.c - the memory of events, how their values are written, and half precision for the arrays in them.
 *
 * Attention maps are recorded with 16 bits an entry: half the memory and disk, and finer than any shade of a
 * cell. */
#include "sessions/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct pw_event *pw_event_new(enum pw_event_kind kind)
{
    struct pw_event *e = pw_alloc(1, sizeof *e);
    e->kind = kind;
    return e;
}

static void free_arrays(struct pw_event *e)
{
    switch (e->kind) {
    case PW_EV_EVAL:
        free(e->u.eval.rows);
        free(e->u.eval.pairs);
        free(e->u.eval.outcomes);
        break;
    case PW_EV_FAILING: free(e->u.failing.list); break;
    case PW_EV_PROMPT:
        free(e->u.prompt.tokens);
        free(e->u.prompt.labels);
        free(e->u.prompt.edited);
        break;
    case PW_EV_LOOK:
        free(e->u.look.token);
        free(e->u.look.parts);
        free(e->u.look.part);
        free(e->u.look.mean);
        free(e->u.look.lens);
        free(e->u.look.lens_prob);
        free(e->u.look.lens_rank);
        break;
    case PW_EV_ATTENTION:
        free(e->u.attention.labels);
        free(e->u.attention.probs);
        free(e->u.attention.score);
        free(e->u.attention.content);
        free(e->u.attention.bias);
        free(e->u.attention.terms);
        free(e->u.attention.gold);
        free(e->u.attention.scores);
        free(e->u.attention.all_scores);
        break;
    case PW_EV_TABLE:
        free(e->u.table.bucket);
        free(e->u.table.bias);
        free(e->u.table.slopes);
        free(e->u.table.frequencies);
        free(e->u.table.added);
        free(e->u.table.met);
        free(e->u.table.rows);
        free(e->u.table.grad);
        free(e->u.table.bucket_from);
        free(e->u.table.bucket_bias);
        free(e->u.table.kernel);
        free(e->u.table.score);
        free(e->u.table.parts);
        free(e->u.table.keys);
        free(e->u.table.key_met);
        free(e->u.table.key_grad);
        free(e->u.table.queries);
        free(e->u.table.query_bias);
        free(e->u.table.tensors);
        break;
    case PW_EV_HEADS: free(e->u.heads.mode); break;
    case PW_EV_PATCH:
        free(e->u.patch.recovery);
        free(e->u.patch.clean);
        free(e->u.patch.corrupt);
        break;
    case PW_EV_FINDING: pw_finding_fini(&e->u.finding); break;
    case PW_EV_CHECKPOINT:
        free(e->u.checkpoint.state);
        free(e->u.checkpoint.files);
        break;
    default: /* plain values only */ break;
    }
}

void pw_event_clear(struct pw_event *e)
{
    free_arrays(e);
    memset(&e->u, 0, sizeof e->u);
}

void pw_event_free(struct pw_event *e)
{
    if (e == NULL)
        return;
    free_arrays(e);
    free(e);
}

const char *pw_judge_name(enum pw_judge judge)
{
    static const char *const names[] = {"exact", "decoded", "teacher-forced"};
    return names[judge <= PW_JUDGE_TAUGHT ? judge : PW_JUDGE_EXACT];
}

const char *pw_error_name(enum pw_error kind)
{
    static const char *const names[PW_ERRORS] = {"early stop", "late stop", "wrong token"};
    return kind < PW_ERRORS ? names[kind] : "wrong";
}

void pw_block_name(char dst[24], int i, int n)
{
    if (i > 0 && i < n - 2)
        snprintf(dst, 24, "layers.%d", i - 1);
    else
        snprintf(dst, 24, "%s", i == 0 ? "embed" : i == n - 2 ? "head" : "pe");
}

const char *const pw_view_names[] = {"probs", "score", "content", "bias", "cc", "cp", "pc", "pp", NULL};

const char *const pw_ablation_names[] = {"on", "zero", "mean", "resample", NULL};

void pw_heads_text(char *dst, size_t size, const struct pw_ev_heads *e)
{
    size_t used = 0;
    int all = 0;
    for (int i = 0; e->mode != NULL && i < e->layers * e->heads; i++)
        all += e->mode[i] != PW_ABLATE_NONE;
    dst[0] = '\0';
    for (int i = 0; all > 0 && i < e->layers * e->heads; i++) {
        char one[48];
        if (e->mode[i] == PW_ABLATE_NONE)
            continue;
        snprintf(one, sizeof one, "%sL%dH%d %s", used > 0 ? ", " : "", i / e->heads, i % e->heads,
                 e->mode[i] <= PW_ABLATE_RESAMPLE ? pw_ablation_names[e->mode[i]] : "off");
        if (used + strlen(one) + 24 > size) { /* room for the last words */
            snprintf(dst + used, size - used, "%s%d in all", used > 0 ? ", ... " : "", all);
            return;
        }
        used += (size_t)snprintf(dst + used, size - used, "%s", one);
    }
}

void pw_digest_text(char dst[33], const uint64_t digest[2])
{
    snprintf(dst, 33, "%016" PRIx64 "%016" PRIx64, digest[0], digest[1]);
}
