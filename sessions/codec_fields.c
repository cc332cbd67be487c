/* codec_fields.c - the field tables: which members of each kind of event are fields. Checks across fields are
 * in codec_checks.c; codec_looks.c has the tables of what is seen of a model, codec_finding.c those of a
 * finding.
 *
 * A field keeps its number for ever, because on disk only the number identifies it. A new member gets the
 * next number of its table; the number of a removed member is not reused. codec_table.h has the macros that
 * tables are written in. The limits bound what readers of events (the fold, panes, reports) index, multiply
 * and loop by, so that bytes from an untrusted source can't harm them. */
#include "sessions/codec_table.h"

#define TASKS   8
#define SAMPLES (1 << 20)          /* of one row of an evaluation */
#define ROWS    (1 << 12)          /* lengths of all tasks */
#define SUMMED  (INT64_C(1) << 40) /* values that are summed over rows and events */

/* ---- the lab and its arms */

#define S struct pw_event
static const struct pw_field command[] = {
    TEXT(1, u.command.text),
    LIST(2, u.command.at, FROM(0, PW_MANY)),
    LIST(3, u.command.behind, FROM(0, PW_MAX_REPLICAS)),
    ANY(4, u.command.known),
    ANY(5, u.command.training[0]),
    ANY(6, u.command.checking[0]),
    TEXT(7, u.command.job),
    ANY(8, u.command.answered),
    ANY(9, u.command.training[1]),
    ANY(10, u.command.checking[1]),
};
static const struct pw_field drop[1]; /* its arm is in the header */
static const struct pw_field digest[] = {LIST(1, u.digest, ALL)};
static const struct pw_field text[] = {TEXT(1, u.text)};
static const struct pw_field gap[] = {RANGE(1, u.gap, 0, SUMMED)};
#undef S

#define S struct pw_task_view
static const struct pw_field task[] = {
    TEXT(1, name),
    RANGE(2, train_lo, 0, FAR),
    RANGE(3, train_hi, 0, FAR),
    RANGE(4, test_lo, 0, FAR),
    RANGE(5, test_hi, 0, FAR),
    RANGE(6, data, 0, COUNT),
    LIST(7, axis, ALL),
    LIST(8, box_lo, FROM(0, FAR)),
    LIST(9, box_hi, FROM(0, FAR)),
    RANGE(10, n_share, 0, 128),
    COUNTED(11, share, ALL, OF(n_share)),
    TEXT(12, prompt),
    ANY(13, runs),
};
#undef S
static const struct pw_message task_message = {
    .fields = task, .n = N(task), .upto = {11, 11, 11, 12, 12, 12, 12}};

#define S struct pw_ev_lab
static const struct pw_field lab[] = {
    TEXT(1, task),
    TEXT(2, backend),
    ANY(3, seed),
    ANY(4, epoch),
    RANGE(5, n_tasks, 0, TASKS),
    COUNTED_STRUCTS(6, tasks, task_message, OF(n_tasks)),
};
#undef S

#define S struct pw_ev_arm
static const struct pw_field arm[] = {
    RANGE(1, id, 1, PW_MAX_ARMS),
    ANY(2, current),
    TEXT(3, name),
    TEXT(4, pe),
    TEXT(5, model),
    RANGE(6, replicas, 0, PW_MAX_REPLICAS),
    ANY(7, seed),
    RANGE(8, step, 0, PW_MANY),
    RANGE(9, swaps, 0, COUNT),
    RANGE(10, layers, 0, LAYERS),
    RANGE(11, heads, 0, HEADS),
    RANGE(12, width, 0, FAR),
    RANGE(13, context, 0, FAR),
    RANGE(14, n_params, 0, PW_MANY),
    ANY(15, restarted),
    RANGE(16, parent, 0, PW_MAX_ARMS),
    RANGE(17, parent_step, 0, PW_MANY),
    ANY(18, own_batches),
};
#undef S

#define S struct pw_ev_state
static const struct pw_field state[] = {
    RANGE(1, run, 0, PW_RUN_PAUSED),
    RANGE(2, until, 0, PW_MANY),
    ANY(3, steps_per_s),
    ANY(4, eta_s),
    ANY(5, epoch),
    ANY(6, others),
};
#undef S

/* ---- metrics */

#define S struct pw_ev_step
static const struct pw_field step[] = {
    ANY(1, loss), ANY(2, accuracy), ANY(3, lr), ANY(4, grad_norm), ANY(5, flops),
};
#undef S

#define S struct pw_ev_updates
static const struct pw_field updates[] = {
    RANGE(1, n, 0, PW_MAX_BLOCKS),
    COUNTED(2, ratio, ALL, OF(n)),
};
#undef S

#define S struct pw_eval_row
static const struct pw_field eval_row[] = {
    RANGE(1, task, 0, TASKS - 1),
    RANGE(2, length, 0, FAR),
    RANGE(3, samples, 0, SAMPLES),
    RANGE(4, exact, 0, SAMPLES),
    RANGE(5, tokens, 0, SUMMED),
    RANGE(6, tokens_right, 0, SUMMED),
    ANY(7, seen),
    RANGE(8, first_pair, 0, COUNT),
    RANGE(9, n_pairs, 0, 256),
    ANY(10, chance),
    LIST(11, errors, FROM(0, SAMPLES)),
    LIST(12, places, FROM(0, SAMPLES)),
    RANGE(13, first_word, 0, COUNT),
    RANGE(14, judge, 0, PW_JUDGE_TAUGHT),
    RANGE(15, taught, 0, SAMPLES),
    ANY(16, loss),
    RANGE(17, first_loss, 0, COUNT),
    RANGE(18, n_losses, 0, FAR),
    RANGE(19, first_sampled, 0, COUNT),
};
#undef S
static const struct pw_message row_message = {.fields = eval_row,
                                              .n = N(eval_row),
                                              .check = pw_check_row,
                                              .place = "length",
                                              .upto = {13, 15, 15, 15, 15, 15, 15}};

#define S struct pw_eval_pair
static const struct pw_field eval_pair[] = {
    RANGE(1, a, 0, FAR),          RANGE(2, b, 0, FAR),         RANGE(3, samples, 0, SAMPLES),
    RANGE(4, exact, 0, SAMPLES),  RANGE(5, tokens, 0, SUMMED), RANGE(6, tokens_right, 0, SUMMED),
    RANGE(7, taught, 0, SAMPLES),
};
#undef S
static const struct pw_message pair_message = {
    .fields = eval_pair, .n = N(eval_pair), .check = pw_check_pair, .upto = {6}};

#define S struct pw_ev_eval
static const struct pw_field eval[] = {
    RANGE(1, n, 0, ROWS),
    ARRAY_STRUCTS(2, rows, row_message, OF(n)),
    RANGE(3, n_pairs, 0, FAR),
    ARRAY_STRUCTS(4, pairs, pair_message, OF(n_pairs)),
    ANY(5, live),
    ANY(6, draw),
    RANGE(7, n_words, 0, COUNT),
    ARRAY(8, outcomes, ALL, OF(n_words)),
    RANGE(9, n_losses, 0, COUNT),
    ARRAY(10, losses, ALL, OF(n_losses)),
    RANGE(11, n_sampled, 0, COUNT),
    ARRAY(12, sampled, ALL, OF(n_sampled)),
};
#undef S
#define S struct pw_failing
static const struct pw_field failed[] = {
    RANGE(1, index, 0, COUNT),
    RANGE(2, kind, 0, PW_ERRORS - 1),
    RANGE(3, place, -1, COUNT),
    RANGE(4, n_answer, 0, COUNT),
    TEXT(5, want),
    TEXT(6, got),
    TEXT(7, prompt),
    TEXT(8, right),
    TEXT(9, model),
};
#undef S
static const struct pw_message failed_message = {.fields = failed, .n = N(failed)};

#define S struct pw_ev_failing
static const struct pw_field failing[] = {
    RANGE(1, task, 0, TASKS - 1),
    RANGE(2, length, 0, FAR),
    RANGE(3, failed, 0, COUNT),
    RANGE(4, samples, 0, COUNT),
    RANGE(5, eval_step, 0, PW_MANY),
    RANGE(6, n, 0, PW_MAX_FAILING),
    ARRAY_STRUCTS(7, list, failed_message, OF(n)),
};
#undef S

/* ---- the pinned prompt */

#define S struct pw_ev_prompt
static const struct pw_field prompt[] = {
    ANY(1, id),
    TEXT(2, text),
    RANGE(3, n_prompt, 0, FAR),
    RANGE(4, n, 0, FAR),
    ARRAY(5, tokens, FROM(0, COUNT), OF(n)),
    ARRAY(6, labels, ALL, OF(n)),
    ANY(7, has_answer),
    MAYBE(8, edited, FROM(0, 1), OF(n_prompt)),
    ANY(9, drawn),
    RANGE(10, task, -1, TASKS - 1),
    RANGE(11, length, -1, FAR),
    RANGE(12, sample, -1, PW_MANY),
};
#undef S
#define S struct pw_ev_token
static const struct pw_field token[] = {
    ANY(1, prompt),
    RANGE(2, pos, 0, FAR),
    RANGE(3, token, 0, COUNT),
    TEXT(4, label),
    ANY(5, prob),
    ANY(6, logit),
    HOST(7, entropy, pw_log2_of_c),
    RANGE(8, n_top, 0, PW_TOP),
    COUNTED(9, top_label, ALL, OF(n_top)),
    COUNTED(10, top_prob, ALL, OF(n_top)),
    ANY(11, right),
    ANY(12, last),
    ANY(13, exact),
    ANY(14, ended),
    ANY(15, edited),
    TEXT(16, target),
};
#undef S
static const struct pw_message token_message = {.fields = token, .n = N(token), .place = "pos"};

#define S struct pw_ev_cursor
static const struct pw_field cursor[] = {ANY(1, newest), INSIDE(2, at, token_message)};
#undef S

/* ---- other events of inspection */

#define S struct pw_ev_heads
static const struct pw_field heads[] = {
    RANGE(1, layers, 0, LAYERS),
    RANGE(2, heads, 0, HEADS),
    MAYBE(3, mode, FROM(0, PW_ABLATE_RESAMPLE), OF(layers), OF(heads)),
};
#undef S

#define S struct pw_ev_patch
static const struct pw_field patch[] = {
    RANGE(1, kind, 0, PW_PATCH_HEADS),
    RANGE(2, layer, -1, LAYERS),
    RANGE(3, head, -1, HEADS - 1),
    RANGE(4, pos, -1, FAR),
    RANGE(5, rows, 0, FAR),
    RANGE(6, cols, 0, FAR),
    ARRAY(7, recovery, ALL, OF(rows), OF(cols)),
    RANGE(8, T, 0, FAR),
    RANGE(9, n_prompt, 0, FAR),
    MAYBE(10, clean, ALL, OF(T)),
    MAYBE(11, corrupt, ALL, OF(T)),
    TEXT(12, clean_token),
    TEXT(13, corrupt_token),
    ANY(14, greedy),
    ANY(15, m_clean),
    ANY(16, m_corrupt),
    TEXT(17, text),
};
#undef S

/* ---- jobs, files and the session */

#define S struct pw_ev_job
static const struct pw_field job[] = {
    TEXT(1, name),
    RANGE(2, state, 0, PW_JOB_CANCELLED),
    ANY(3, done),
    ANY(4, total),
};
#undef S

#define S struct pw_ev_checkpoint
static const struct pw_field checkpoint[] = {
    TEXT(1, text),
    ANY(2, as_of),
    STRING(3, state),
    RANGE(4, n_files, 0, PW_MAX_ARMS *PW_MAX_REPLICAS),
    {HEAD(5, files), .form = PW_FORM_ARRAY, .type = PW_F_BYTE, .size = 1, .needed = true, .hi = UINT8_MAX,
     .by = {OF(n_files), TIMES(PW_SHA256)}},
    RANGE(6, bytes, 0, PW_MANY),
    ANY(7, keep),
};
#undef S

#define S struct pw_ev_file
static const struct pw_field file[] = {
    TEXT(1, name),
    LIST(2, sha, FROM(0, UINT8_MAX)),
    RANGE(3, bytes, 0, PW_MANY),
};
#undef S

#define S struct pw_ev_session
static const struct pw_field session[] = {
    TEXT(1, name), TEXT(2, folder), RANGE(3, how, 0, PW_REC_READ), TEXT(4, why), ANY(5, fresh),
    ANY(6, saved), ANY(7, bytes),   ANY(8, checkpoints),
};
#undef S

#define IN(table, member)                                                                                    \
    .fields = (table), .n = N(table), .at = offsetof(struct pw_event, member), TAKES(member)
#define TAKES(member) .size = sizeof((struct pw_event *)0)->member
#define TEXT_OF(what)                                                                                        \
    {                                                                                                        \
        .name = what, .fields = text, .n = N(text), TAKES(u.text)                                            \
    }

const struct pw_message pw_messages[] = {
    [PW_EV_COMMAND] = {"COMMAND", command, N(command), TAKES(u.command), .upto = {3, 8, 8}},
    [PW_EV_LAB] = {"LAB", IN(lab, u.lab)},
    [PW_EV_ARM] = {"ARM", IN(arm, u.arm), .upto = {17, 17, 17, 17}},
    [PW_EV_DROP] = {.name = "DROP", .fields = drop},
    [PW_EV_STATE] = {"STATE", IN(state, u.state), .upto = {5}},
    [PW_EV_STEP] = {"STEP", IN(step, u.step)},
    [PW_EV_UPDATES] = {"UPDATES", IN(updates, u.updates)},
    [PW_EV_DIGEST] = {.name = "DIGEST", .fields = digest, .n = N(digest), TAKES(u.digest)},
    [PW_EV_EVAL] = {"EVAL", IN(eval, u.eval), .check = pw_check_eval, .upto = {8, 8, 8, 8, 8, 8, 8}},
    [PW_EV_PROMPT] = {"PROMPT", IN(prompt, u.prompt), .check = pw_check_prompt},
    [PW_EV_TOKEN] = {"TOKEN", IN(token, u.token), .place = "pos"},
    [PW_EV_CURSOR] = {"CURSOR", IN(cursor, u.cursor)},
    [PW_EV_LOOK] = {"LOOK", IN(pw_look_fields, u.look), .check = pw_check_inspection},
    [PW_EV_ATTENTION] = {"ATTENTION", IN(pw_attention_fields, u.attention), .check = pw_check_attention,
                         .upto = {27, 27, 27, 27, 27, 27, 27, 27, 31, 31}},
    [PW_EV_TABLE] = {"TABLE", IN(pw_table_fields, u.table), .check = pw_check_table,
                     .upto = {25, 42, 43, 43, 43, 43, 44, 54, 54, 54}},
    [PW_EV_JOB] = {"JOB", IN(job, u.job)},
    [PW_EV_CHECKPOINT] = {"CHECKPOINT", IN(checkpoint, u.checkpoint)},
    [PW_EV_MARK] = TEXT_OF("MARK"),
    [PW_EV_NOTE] = TEXT_OF("NOTE"),
    [PW_EV_ERROR] = TEXT_OF("ERROR"),
    [PW_EV_GAP] = {.name = "GAP", .fields = gap, .n = N(gap), TAKES(u.gap)},
    [PW_EV_HEADS] = {"HEADS", IN(heads, u.heads)},
    [PW_EV_PATCH] = {"PATCH", IN(patch, u.patch)},
    [PW_EV_FAILING] = {"FAILING", IN(failing, u.failing)},
    [PW_EV_ASKED] = TEXT_OF("ASKED"),
    [PW_EV_FILE] = {"FILE", IN(file, u.file)},
    [PW_EV_SESSION] = {"SESSION", IN(session, u.session)},
    [PW_EV_FINDING] = {"FINDING", IN(pw_finding_fields, u.finding), .check = pw_check_finding,
                       .upto = {13, 13, 13, 13, 13, 13, 13, 13, 13}},
};
_Static_assert(sizeof pw_messages / sizeof *pw_messages == PW_EV_KINDS, "every kind has its table");
