/* step.c - move through the pinned prompt's answer token by token, and replace tokens in it.
 *
 * The cursor is the position of a token; the row before it, which predicts it, is inspected. The answer is
 * decoded as a whole when the prompt is pinned, so stepping shows existing tokens. Decoding continues beyond
 * the end and after an edit. An answer that was decoded with other weights, or by another arm, is first
 * decoded again, because the shown data must be what produced the token. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"

#define EXAMPLES 16 /* tokens listed in a message about an unknown one */

static void tell_cursor(struct pw_lab *lab, const struct pw_replica *arm, int pos)
{
    struct pw_event *e = pw_lab_event(PW_EV_CURSOR, arm);
    e->u.cursor.newest = lab->pin.at == 0;
    e->u.cursor.at = lab->pin.said[pos];
    pw_lab_emit(lab, e);
}

enum pw_code pw_lab_need_answer(struct pw_lab *lab, const char *what, struct pw_err *err)
{
    const struct pw_replica *arm = pw_lab_inspected(lab);
    struct pw_pin *pin = &lab->pin;
    enum pw_code code = pw_lab_need_pin(lab, what, err);
    if (code != PW_OK)
        return code;
    if (!pw_pin_fits(pin, arm))
        return pw_fail(err, PW_EUSER, "%s: the pinned prompt has %d tokens; arm %d reads at most %d", what,
                       pin->kept, arm->id, arm->cfg.context);
    pw_lab_answer_all(lab);
    return pw_lab_answered(lab) ? PW_OK : pw_lab_answer_now(lab, err);
}

/* Decode up to `by` more tokens if the answer was cut off. */
static enum pw_code extend(struct pw_lab *lab, const char *what, int by, struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    int context = pw_lab_current(lab)->cfg.context;
    if (pw_taskset_single(&lab->tasks, pin->sample.task))
        return pw_fail(err, PW_EUSER, "%s: the answer is a single token, at position %d", what, pin->n - 1);
    if (pw_vocab_ends(&lab->tasks.vocab, pin->tokens[pin->n - 1]))
        return pw_fail(err, PW_EUSER,
                       "%s: the answer ends at position %d; 'edit %d TOKEN' continues with another token",
                       what, pin->n - 1, pin->n - 1);
    /* moving on means that the user wants the following tokens */
    if (pin->stop_at_wrong && pin->n < pin->limit) {
        pin->stop_at_wrong = false;
        return pw_lab_answer_now(lab, err);
    }
    if (pin->n >= context)
        return pw_fail(err, PW_EUSER, "%s: the sequence has %d tokens, the model's limit", what, context);
    pin->more += by < context - pin->n ? by : context - pin->n;
    return pw_lab_answer_now(lab, err);
}

enum pw_code pw_lab_go(struct pw_lab *lab, const char *what, int by, struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    enum pw_code code = pw_lab_need_answer(lab, what, err);
    if (code != PW_OK)
        return code;
    const struct pw_replica *arm = pw_lab_answerer(lab);
    int first = pin->sample.n_prompt, from = pw_lab_cursor(pin), to = from + by, n = pin->n;
    if (by < 0 && from == first)
        return pw_fail(err, PW_EUSER, "%s: position %d is the first of the answer", what, first);
    if (to >= n) {
        if (from == n - 1 || !pw_vocab_ends(&lab->tasks.vocab, pin->tokens[n - 1]))
            code = extend(lab, what, to - n + 1, err);
        if (code != PW_OK && from == n - 1)
            return code;
    }
    to = to < first ? first : to < pin->n ? to : pin->n - 1;
    pin->at = to == pin->n - 1 ? 0 : to;
    for (int pos = from; pos != to;)
        tell_cursor(lab, arm, pos += by < 0 ? -1 : 1);
    return pw_lab_emit_inspection(lab, arm, err);
}

/* Find the token for a word. It is spelled like the replaced token (with or without a leading blank) if such
 * a token exists. -1 fills err. */
static int find_token(const struct pw_vocab *v, const char *word, int replaced, struct pw_err *err)
{
    struct pw_str blank = {0};
    pw_str_add(&blank, " %s", word);
    bool with = v->words[replaced][0] == ' ';
    int a = pw_vocab_find(v, word, strlen(word)), b = pw_vocab_find(v, blank.s, blank.len);
    int token = (with && b >= 0) || a < 0 ? b : a;
    pw_str_fini(&blank);
    if (token >= 0 && (token != PW_PAD || v->plain))
        return token;
    struct pw_str some = {0};
    for (int id = PW_EOS; id < v->n && id < PW_EOS + EXAMPLES; id++)
        pw_str_add(&some, " %s", v->words[id] + (v->words[id][0] == ' '));
    pw_fail(err, PW_EUSER, "edit: no token '%s'; there are%s%s", word, pw_str_text(&some),
            v->n > PW_EOS + EXAMPLES ? " ..." : "");
    pw_str_fini(&some);
    return -1;
}

/* Replacing a token of the prompt makes another prompt. If the task can read it, its right answer is known.
 */
static enum pw_code edit_prompt(struct pw_lab *lab, int pos, int token, struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    int n = pin->sample.n_prompt, context = pw_lab_current(lab)->cfg.context;
    struct pw_sample x = {.tokens = pw_alloc((size_t)context, sizeof(int)), .cap = context};
    int *tokens = pw_alloc((size_t)n, sizeof *tokens);
    bool *edited = pw_alloc((size_t)n, sizeof *edited);
    struct pw_str text = {0};
    memcpy(tokens, pin->tokens, (size_t)n * sizeof *tokens);
    memcpy(edited, pin->edited, (size_t)n * sizeof *edited);
    tokens[pos] = token;
    edited[pos] = true;
    for (int i = 0; i < n; i++)
        pw_vocab_put(&lab->tasks.vocab, tokens[i], &text);
    bool known = pw_taskset_prompt(&lab->tasks, text.s, context, &x, NULL) == PW_OK && x.n_prompt == n &&
                 memcmp(x.tokens, tokens, (size_t)n * sizeof *tokens) == 0;
    if (!known) {
        x.task = x.length = -1;
        x.n_prompt = x.n = n;
        memcpy(x.tokens, tokens, (size_t)n * sizeof *tokens);
    }
    enum pw_code code = pw_lab_pin(lab, &x, text.s, -1, edited, err);
    if (code == PW_OK && !known)
        pw_lab_note(lab, "edit: no task can read this prompt, so no right answer is known");
    pw_str_fini(&text);
    free(edited);
    free(tokens);
    free(x.tokens);
    return code;
}

enum pw_code pw_lab_edit(struct pw_lab *lab, int pos, const char *word, struct pw_err *err)
{
    struct pw_pin *pin = &lab->pin;
    enum pw_code code = pw_lab_need_answer(lab, "edit", err);
    if (code != PW_OK)
        return code;
    if (pos < 0 || pos >= pin->n)
        return pw_fail(err, PW_EUSER, "edit: position %d: allowed are 0..%d; the answer starts at %d", pos,
                       pin->n - 1, pin->sample.n_prompt);
    int token = find_token(&lab->tasks.vocab, word, pin->tokens[pos], err);
    if (token < 0)
        return PW_EUSER;
    if (pos < pin->sample.n_prompt)
        return edit_prompt(lab, pos, token, err);
    pin->tokens[pos] = token;
    pin->edited[pos] = true;
    memset(pin->edited + pos + 1, 0, (size_t)(pin->cap - pos - 1) * sizeof *pin->edited);
    pin->kept = pos + 1;
    pin->more = 0;
    pin->stop_at_wrong = false;
    pin->at = pos;
    code = pw_lab_answer_now(lab, err);
    if (code == PW_OK)
        tell_cursor(lab, pw_lab_answerer(lab), pos);
    return code;
}

enum pw_code pw_lab_sample(struct pw_lab *lab, const char *name, struct pw_move to_length,
                           struct pw_move to_index, struct pw_err *err)
{
    const struct pw_pin *pin = &lab->pin;
    bool before = pin->id != 0 && pin->index >= 0;
    int task = before ? pin->sample.task : 0;
    if (name[0] != '\0' && pw_lab_find_task(lab, "sample", name, &task, err) != PW_OK)
        return PW_EUSER;
    const struct pw_task_use *use = &lab->tasks.use[task];
    struct pw_range limits = use->task->length_limits;
    before = before && pin->sample.task == task;
    int length = !to_length.by ? to_length.n
                 : before      ? pin->sample.length + to_length.n
                               : pw_task_train(use).hi;
    before = before && length == pin->sample.length;
    int64_t index = !to_index.by ? to_index.n : before ? pin->index + to_index.n : 0;
    if (index < 0)
        return pw_fail(err, PW_EUSER,
                       "sample: index=%d: the pinned sample has index %lld, and the first is 0", to_index.n,
                       (long long)pin->index);
    if (length < limits.lo || length > limits.hi)
        return pw_fail(err, PW_EUSER, "sample: length=%d: %s has lengths %d..%d", length, use->task->name,
                       limits.lo, limits.hi);
    if (!pw_task_has(use, length))
        return pw_fail(err, PW_EUSER, "sample: length=%d: %s has no samples of this length", length,
                       use->task->name);
    int cap = pw_taskset_tokens_at(&lab->tasks, task, length);
    struct pw_sample x = {.tokens = pw_alloc((size_t)cap, sizeof(int)), .cap = cap};
    struct pw_str prompt = {0}, answer = {0};
    pw_taskset_sample(&lab->tasks, lab->seed, PW_SPLIT_TEST, (uint64_t)index, task, length, &x);
    pw_taskset_sample_text(&lab->tasks, lab->seed, PW_SPLIT_TEST, (uint64_t)index, task, length, &prompt,
                           &answer);
    if (pw_taskset_runs(&lab->tasks)) { /* the first half of a window is the prompt */
        x.n_prompt = (x.n + 1) / 2;
        pw_str_clear(&prompt);
        for (int i = 0; i < x.n_prompt; i++)
            pw_vocab_put(&lab->tasks.vocab, x.tokens[i], &prompt);
    }
    enum pw_code code = pw_lab_pin(lab, &x, pw_str_text(&prompt), index, NULL, err);
    pw_str_fini(&prompt);
    pw_str_fini(&answer);
    free(x.tokens);
    return code;
}
