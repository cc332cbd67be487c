/* prompt.c - typed prompts.
 *
 * A user's text is read into an item and written out again. So the model always reads the form it was trained
 * on, whatever the spacing, and the correct answer is known. A text is first tried as the own text of each
 * task, then as a task's name and its payload, in a mixture as in a single task. A prompt of running text has
 * no item, because it can be longer than any sample: its tokens are used as they are. */
#include "base/alloc.h"
#include "tasks/read.h"
#include "tasks/split.h"
#include <stdlib.h>
#include <string.h>

/* Appends a prompt of the task's own that is valid with these options, for messages. */
static void example(const struct pw_task_use *use, struct pw_str *out)
{
    struct pw_item item;
    struct pw_rng rng;
    struct pw_str answer = {0};
    if (use->task->suggest != NULL) {
        use->task->suggest(&use->o, out);
        return;
    }
    pw_rng_init(&rng, 0, PW_STREAM_PROMPT, 0);
    use->task->draw(&use->o, &rng, pw_task_near(use, pw_task_train(use).lo), &item);
    pw_item_write(use, &item, out, &answer);
    pw_str_fini(&answer);
    while (out->len > 0 && out->s[out->len - 1] == ' ')
        out->s[--out->len] = '\0';
}

/* Without any: returns true if text begins with the constant first word of the task's prompts. With any, for
 * a task without such a word (prompts begin with a blank): returns true if text has a word. */
static bool begins_like(const struct pw_task_use *use, const char *text, bool any)
{
    struct pw_str own = {0};
    bool yes;
    example(use, &own);
    size_t n = strcspn(own.s, " ");
    own.s[n] = '\0';
    yes = (n == 0) == any && (any ? pw_read_piece(&text).n > 0 : pw_read_accept(&text, own.s));
    pw_str_fini(&own);
    return yes;
}

static enum pw_code not_ours(const struct pw_taskset *set, struct pw_piece first, struct pw_err *err)
{
    struct pw_str names = {0}, examples = {0};
    struct pw_piece_text word = pw_piece_text(first);
    for (int i = 0; i < set->n; i++) {
        pw_str_add(&names, "%s%s", i > 0 ? "," : "", set->use[i].task->name);
        pw_str_add(&examples, i > 0 ? " or: " : "");
        example(&set->use[i], &examples);
    }
    if (first.n == 0)
        pw_fail(err, PW_EUSER, "the prompt is empty; write: %s", examples.s);
    else if (pw_task_find(word.s) != NULL)
        pw_fail(err, PW_EUSER, "'%s' is not in the current task (%s); type ':task %s' first, or write: %s",
                word.s, names.s, word.s, examples.s);
    else
        pw_fail(err, PW_EUSER, "'%s' begins no prompt of the current task (%s); write: %s", word.s, names.s,
                examples.s);
    pw_str_fini(&names);
    pw_str_fini(&examples);
    return PW_EUSER;
}

/* Finds the task, and reads the item. */
static enum pw_code read_any(const struct pw_taskset *set, const char *text, int *task, struct pw_item *item,
                             struct pw_err *err)
{
    const char *rest = text;
    struct pw_piece first;
    for (*task = 0; *task < set->n; ++*task)
        if (set->use[*task].task->read(&set->use[*task].o, text, item, NULL) == PW_OK)
            return PW_OK;
    first = pw_read_piece(&rest);
    for (*task = 0; *task < set->n; ++*task)
        if (pw_piece_is(first, set->use[*task].task->name))
            return set->use[*task].task->payload(&set->use[*task].o, rest, item, err);
    for (int any = 0; any < 2; any++)
        for (*task = 0; *task < set->n; ++*task)
            if (begins_like(&set->use[*task], text, any)) /* meant for this task: its message helps most */
                return set->use[*task].task->read(&set->use[*task].o, text, item, err);
    return not_ours(set, first, err);
}

/* Any text is a prompt of running text. Its tokens are taken as they are: of its text, the same tokens need
 * not come out again. */
static enum pw_code take_running(const struct pw_taskset *set, const char *text, int max,
                                 struct pw_sample *out, struct pw_err *err)
{
    int room = max < out->cap ? max : out->cap;
    int n = set->use[0].task->cut(&set->use[0].o, text, out->tokens, room, err);
    if (n < 0)
        return PW_EUSER;
    if (n > room)
        return pw_fail(err, PW_EUSER, "the prompt has %d tokens; at most %d are allowed", n, room);
    out->n = out->n_prompt = out->length = n;
    out->task = 0;
    out->pair = (struct pw_pair){n, 0};
    return PW_OK;
}

enum pw_code pw_taskset_prompt(const struct pw_taskset *set, const char *text, int max, struct pw_sample *out,
                               struct pw_err *err)
{
    struct pw_item item;
    struct pw_str prompt = {0}, answer = {0};
    int task;
    enum pw_code code;
    if (!pw_utf8_valid(text, strlen(text)))
        return pw_fail(err, PW_EUSER, "the prompt is not valid UTF-8 text");
    if (pw_taskset_runs(set))
        return take_running(set, text, max, out, err);
    code = read_any(set, text, &task, &item, err);
    if (code != PW_OK)
        return code;
    pw_item_write(&set->use[task], &item, &prompt, &answer);
    code = pw_taskset_tokens(set, task, prompt.s, pw_str_text(&answer), max, out, err);
    bool answer_unknown = answer.len == 0; /* a prompt that is in no line of the file */
    pw_str_fini(&prompt);
    pw_str_fini(&answer);
    if (code == PW_OK) {
        if (answer_unknown)
            out->n = out->n_prompt;
        out->task = task;
        out->length = item.length;
        out->pair = pw_item_pair(&set->use[task], &item);
    }
    return code;
}

/* Returns true if the answer to this text is known and no longer than trained answers. */
static bool works(const struct pw_taskset *set, int task, const char *text)
{
    int most = pw_taskset_tokens_at(set, task, pw_task_train(&set->use[task]).hi);
    struct pw_sample s = {.tokens = pw_alloc((size_t)most, sizeof(int)), .cap = most};
    bool read = pw_taskset_prompt(set, text, most, &s, NULL) == PW_OK && s.task == task && s.n > s.n_prompt;
    free(s.tokens);
    return read;
}

void pw_taskset_example(const struct pw_taskset *set, int task, struct pw_str *out)
{
    const struct pw_task_use *use = &set->use[task];
    struct pw_str text = {0}, prompt = {0};
    if (use->task->suggest != NULL) {
        use->task->suggest(&use->o, out);
        return;
    }
    pw_str_add(&text, "%s %s", use->task->name, use->task->example);
    if (!works(set, task, text.s)) {
        pw_str_clear(&text);
        example(use, &prompt);
        pw_str_add(&text, "%s", prompt.s + strspn(prompt.s, " "));
    }
    pw_str_put(out, text.s, text.len);
    pw_str_fini(&text);
    pw_str_fini(&prompt);
}
