/* event.c - names and texts of values in events. */
#include "sessions/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int pw_event_replica(const struct pw_event *e)
{
    return e->replica > 0 ? e->replica : 1;
}

bool pw_event_of_replica(enum pw_event_kind kind)
{
    switch (kind) {
    case PW_EV_STEP:
    case PW_EV_UPDATES:
    case PW_EV_DIGEST:
    case PW_EV_EVAL:
    case PW_EV_HEADS:
    case PW_EV_FAILING:
    case PW_EV_PROMPT:
    case PW_EV_TOKEN:
    case PW_EV_CURSOR:
    case PW_EV_LOOK:
    case PW_EV_ATTENTION:
    case PW_EV_TABLE:
    case PW_EV_PATCH: return true;
    default: return false;
    }
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

const char *const pw_view_names[] = {"probs", "score", "content", "bias", "cc",
                                     "cp",    "pc",    "pp",      "gate", NULL};

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
