/* codec_finding.c - the field tables of a finding, as codec_fields.c has them for other events.
 * pw_finding_check (base/finding.h) checks the shapes.
 *
 * Titles, names of axes, statements of claims and remarks are prose, which a re-run does not compare. A
 * re-run compares name, topic, every value and label, the shape of every block, and the verdict of every
 * claim. */
#include "sessions/codec_table.h"

#define S struct pw_block
static const struct pw_field block[] = {
    RANGE(1, kind, 0, PW_BLOCK_MAP),
    PROSE(2, title),
    PROSE(3, x),
    PROSE(4, y),
    RANGE(5, rows, 0, FAR),
    RANGE(6, cols, 0, FAR),
    RANGE(7, decimals, -1, 17),
    ANY(8, band),
    ANY(9, log_x),
    ANY(10, log_y),
    RANGE(11, n_reference, 0, FAR),
    ANY(12, low),
    ANY(13, high),
    RANGE(14, n_values, 0, COUNT),
    RANGE(15, value, 0, COUNT),
    RANGE(16, n_labels, 0, COUNT),
    RANGE(17, label, 0, COUNT),
};
#undef S
static const struct pw_message block_message = {.fields = block, .n = N(block)};

#define S struct pw_claim
static const struct pw_field claim[] = {
    RANGE(1, verdict, 0, PW_CLAIM_VERDICTS - 1),
    PROSE(2, claim),
    PROSE(3, found),
};
#undef S
static const struct pw_message claim_message = {.fields = claim, .n = N(claim)};

#define S struct pw_remark
static const struct pw_field remark[] = {PROSE(1, text)};
#undef S
static const struct pw_message remark_message = {.fields = remark, .n = N(remark)};

#define S struct pw_action
static const struct pw_field action[] = {RANGE(1, block, 0, FAR), RANGE(2, row, 0, FAR), PROSE(3, commands)};
#undef S
static const struct pw_message action_message = {.fields = action, .n = N(action)};

#define S struct pw_finding
const struct pw_field pw_finding_fields[PW_FINDING_FIELDS] = {
    TEXT(1, name),
    TEXT(2, topic),
    PROSE(3, title),
    RANGE(4, n_blocks, 0, FAR),
    ARRAY_STRUCTS(5, blocks, block_message, OF(n_blocks)),
    RANGE(6, n_values, 0, COUNT),
    ARRAY(7, values, ALL, OF(n_values)),
    RANGE(8, n_labels, 0, COUNT),
    ARRAY(9, labels, ALL, OF(n_labels)),
    RANGE(10, n_claims, 0, FAR),
    ARRAY_STRUCTS(11, claims, claim_message, OF(n_claims)),
    RANGE(12, n_remarks, 0, FAR),
    ARRAY_STRUCTS(13, remarks, remark_message, OF(n_remarks)),
    RANGE(14, n_actions, 0, FAR),
    ARRAY_STRUCTS(15, actions, action_message, OF(n_actions)),
};
#undef S
