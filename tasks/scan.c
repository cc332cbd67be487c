/* scan.c - SCAN: commands to actions (Lake and Baroni 2018; text as in the released code of Kazemnejad et al.
 * 2023, whose appendix does not show it).
 *
 *   text=paper   Solve: walk after turn right[SEP] | Right Walk
 *   text=short   scan walk after turn right > | Right Walk
 *
 *   C -> S and S | S after S | S       actions of the first, then of the second; after: reversed
 *   S -> V twice | V thrice | V        two times, three times
 *   V -> U | D | D opposite | D around           ("walk opposite left", "walk around left")
 *   D -> U left | U right | turn left | turn right
 *   U -> walk | look | run | jump
 *
 * "left" turns before the action, "opposite left" turns twice, "around left" turns four times with an action
 * each. There are 4 + 30 = 34 V, 102 S and 102 + 2 * 102^2 = 20,910 commands, all different. So a draw only
 * yields the number of a command, and arithmetic converts it to the command. An item is this number. Its
 * length is the number of actions, 1 to 48; 23, 29 and others do not occur.
 *
 * Lengths are as frequent as commands have them (dist=natural). By default one command in ten of the trained
 * lengths is held out, as in the released code. lengths=1..25 is that code's split (17,774 commands, 3,136
 * test), lengths=1..22 the original one (16,990 and 3,920). Evaluation uses every command once if it requests
 * that many samples. */
#include "tasks/read.h"
#include "tasks/task.h"
#include <pthread.h>
#include <string.h>

#define N_V       34
#define N_S       (3 * N_V)
#define COMMANDS  (N_S + 2 * N_S * N_S)
#define MOST      48 /* actions */
#define EXAMPLE   "walk left twice after run"
#define WRITE     "; write: scan " EXAMPLE
#define TURN      (-1)
#define NO_TURN   (-1)
#define FIRST_DIR 4 /* index of the first direction among the actions */

enum form { PLAIN, OPPOSITE, AROUND };

/* S: a verb, its direction, and its repetitions. */
struct part {
    int verb; /* 0..3; TURN: no verb */
    int dir;  /* 0 left, 1 right, NO_TURN */
    int form; /* enum form */
    int times;
};

struct command {
    struct part part[2];
    int n;
    bool after;
};

static const char *const verbs[] = {"walk", "look", "run", "jump", NULL};
static const char *const dirs[] = {"left", "right", NULL};
static const char *const forms[] = {"", "opposite", "around", NULL};
static const char *const repeats[] = {"", "twice", "thrice", NULL};
static const char *const actions[] = {"Walk", "Look", "Run", "Jump", "Left", "Right", NULL};
static const char *const texts[] = {"short", "paper", NULL};

/* ---- numbers and commands */

static struct part part_of(int number)
{
    struct part p = {.verb = number % N_V, .dir = NO_TURN, .times = 1 + number / N_V};
    if (p.verb >= 4) {
        int turned = p.verb - 4;
        p.form = turned / 10;
        p.verb = turned % 10 / 2 - 1;
        p.dir = turned % 2;
    }
    return p;
}

static int part_number(const struct part *p)
{
    int v = p->dir == NO_TURN ? p->verb : 4 + 10 * p->form + 2 * (p->verb + 1) + p->dir;
    return (p->times - 1) * N_V + v;
}

static struct command command_of(int number)
{
    if (number < N_S)
        return (struct command){.part = {part_of(number)}, .n = 1};
    number -= N_S;
    return (struct command){
        .part = {part_of(number / N_S % N_S), part_of(number % N_S)}, .n = 2, .after = number >= N_S * N_S};
}

static int command_number(const struct command *c)
{
    int first = part_number(&c->part[0]);
    return c->n == 1 ? first : N_S + (c->after * N_S + first) * N_S + part_number(&c->part[1]);
}

static int words_of(const struct part *p)
{
    return 1 + (p->form != PLAIN) + (p->dir != NO_TURN) + (p->times > 1);
}

/* Appends the actions of a part whose first word has index `word`; from gets the index of the word behind
 * each action. */
static int act(const struct part *p, int word, int *action, int *from)
{
    int n = 0, rounds = p->form == AROUND ? 4 : 1, turns = p->form == OPPOSITE ? 2 : p->dir != NO_TURN;
    for (int i = 0; i < p->times * rounds; i++) {
        for (int k = 0; k < turns; k++) {
            action[n] = FIRST_DIR + p->dir;
            from[n++] = word + 1 + (p->form != PLAIN);
        }
        if (p->verb != TURN) {
            action[n] = p->verb;
            from[n++] = word;
        }
    }
    return n;
}

/* Writes a command's actions, and the index of the word behind each action. Returns the number of actions. */
static int solve(int number, int action[MOST], int from[MOST])
{
    struct command c = command_of(number);
    int n = 0, second = words_of(&c.part[0]) + 1;
    if (c.n == 2 && c.after)
        n = act(&c.part[1], second, action, from);
    n += act(&c.part[0], 0, action + n, from + n);
    if (c.n == 2 && !c.after)
        n += act(&c.part[1], second, action + n, from + n);
    return n;
}

/* All commands by length; made once, at the first call, on any thread. */
static struct {
    uint16_t order[COMMANDS];
    uint16_t first[MOST + 2];   /* start of a length in order */
    uint16_t longest[MOST + 1]; /* the command with the most tokens up to this length */
} all;

static void list_all(void)
{
    static uint8_t length[COMMANDS];
    uint16_t at[MOST + 2];
    int action[MOST], from[MOST], most = 0;
    for (int i = 0; i < COMMANDS; i++) {
        length[i] = (uint8_t)solve(i, action, from);
        all.first[length[i] + 1]++;
    }
    for (int k = 0; k <= MOST; k++)
        all.first[k + 1] = (uint16_t)(all.first[k + 1] + all.first[k]);
    memcpy(at, all.first, sizeof at);
    for (int i = 0; i < COMMANDS; i++)
        all.order[at[length[i]]++] = (uint16_t)i;
    for (int k = 1; k <= MOST; k++) {
        all.longest[k] = all.longest[k - 1];
        for (int i = all.first[k]; i < all.first[k + 1]; i++) {
            struct command c = command_of(all.order[i]);
            int n = k + words_of(&c.part[0]) + (c.n == 2 ? 1 + words_of(&c.part[1]) : 0);
            if (n > most) {
                most = n;
                all.longest[k] = all.order[i];
            }
        }
    }
}

static int count_of(int length)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_all);
    if (length < 1 || length > MOST)
        return 0;
    return all.first[length + 1] - all.first[length];
}

static bool has(const void *o, int length)
{
    (void)o;
    return count_of(length) > 0;
}

static double weight(const void *o, int length)
{
    (void)o;
    return count_of(length);
}

static double inputs(const void *o, struct pw_pair at)
{
    return weight(o, at.a);
}

static void take(int number, struct pw_item *item)
{
    int action[MOST], from[MOST];
    item->n = 1;
    item->v[0] = number;
    item->length = solve(number, action, from);
}

static void nth(const void *o, int length, int k, struct pw_item *item)
{
    (void)o;
    (void)count_of(length); /* makes the lists */
    take(all.order[all.first[length] + k], item);
}

/* The grammar's order: single parts, then pairs joined by and, then pairs joined by after. */
static bool every(const void *o, uint64_t k, struct pw_item *item)
{
    (void)o;
    if (k < COMMANDS)
        take((int)k, item);
    return k < COMMANDS;
}

static void draw_item(const void *o, struct pw_rng *rng, int length, struct pw_item *item)
{
    nth(o, length, (int)pw_rng_below(rng, (uint32_t)count_of(length)), item);
}

static void longest(const void *o, int length, struct pw_item *item)
{
    (void)o;
    (void)count_of(length);
    take(all.longest[length], item);
}

/* ---- text */

static void add_all(const char *const *list, struct pw_vocab *v)
{
    for (; *list != NULL; list++) {
        char token[16] = " ";
        strcat(token, *list);
        if (**list != '\0')
            pw_vocab_add(v, token);
    }
}

static void words(const void *o, struct pw_vocab *v)
{
    static const char *const around[][4] = {{"scan", " >"}, {"Solve", ":", "[SEP]"}};
    const struct pw_task_opts *opt = o;
    pw_list_words(around[opt->text], v);
    pw_list_words((const char *const[]){" and", " after", " turn", NULL}, v);
    add_all(verbs, v);
    add_all(forms, v);
    add_all(dirs, v);
    add_all(repeats, v);
    add_all(actions, v);
}

static void write_part(const struct part *p, struct pw_str *out)
{
    pw_str_add(out, " %s", p->verb == TURN ? "turn" : verbs[p->verb]);
    if (p->form != PLAIN)
        pw_str_add(out, " %s", forms[p->form]);
    if (p->dir != NO_TURN)
        pw_str_add(out, " %s", dirs[p->dir]);
    if (p->times > 1)
        pw_str_add(out, " %s", repeats[p->times - 1]);
}

static void write_item(const void *o, const struct pw_item *item, struct pw_str *prompt,
                       struct pw_str *answer)
{
    const struct pw_task_opts *opt = o;
    struct command c = command_of(item->v[0]);
    bool brief = opt->text == PW_TEXT_SHORT;
    int action[MOST], from[MOST], n = solve(item->v[0], action, from);
    pw_str_add(prompt, "%s", brief ? "scan" : "Solve:");
    write_part(&c.part[0], prompt);
    if (c.n == 2) {
        pw_str_add(prompt, "%s", c.after ? " after" : " and");
        write_part(&c.part[1], prompt);
    }
    pw_str_add(prompt, "%s", brief ? " >" : "[SEP] ");
    for (int i = 0; i < n; i++) /* a sentence's prompt ends with the blank of the first action */
        pw_str_add(answer, "%s%s", i > 0 || brief ? " " : "", actions[action[i]]);
}

/* Removes one entry of a list from *text and returns its index; -1: *text begins with none of them. */
static int accept_one(const char **text, const char *const *list)
{
    for (int i = 0; list[i] != NULL; i++)
        if (list[i][0] != '\0' && pw_read_accept(text, list[i]))
            return i;
    return -1;
}

static enum pw_code expected(const char **text, const char *what, struct pw_err *err)
{
    struct pw_piece piece = pw_read_piece(text);
    if (piece.n == 0)
        return pw_fail(err, PW_EUSER, "scan: the command ends where %s must follow" WRITE, what);
    return pw_fail(err, PW_EUSER, "scan: '%s' instead of %s" WRITE, pw_piece_text(piece).s, what);
}

static enum pw_code read_part(const char **text, struct part *p, struct pw_err *err)
{
    *p = (struct part){.times = 1};
    p->verb = accept_one(text, verbs);
    bool turn = p->verb < 0 && pw_read_accept(text, "turn");
    if (p->verb < 0 && !turn)
        return expected(text, "walk, look, run, jump or turn", err);
    p->form = accept_one(text, forms);
    p->dir = accept_one(text, dirs);
    if (p->dir < 0 && (turn || p->form > 0))
        return expected(text, "left or right", err);
    p->form = p->form < 0 ? PLAIN : p->form;
    int times = accept_one(text, repeats);
    p->times = times < 0 ? 1 : times + 1;
    return PW_OK;
}

static enum pw_code payload(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    struct command c = {.n = 1};
    (void)o;
    enum pw_code code = read_part(&text, &c.part[0], err);
    if (code != PW_OK)
        return code;
    c.after = pw_read_accept(&text, "after");
    if (c.after || pw_read_accept(&text, "and")) {
        c.n = 2;
        code = read_part(&text, &c.part[1], err);
        if (code != PW_OK)
            return code;
    }
    take(command_number(&c), item);
    (void)(pw_read_accept(&text, "[SEP]") || pw_read_accept(&text, ">"));
    return pw_read_end(&text, "scan", "scan " EXAMPLE, err);
}

static enum pw_code read_text(const void *o, const char *text, struct pw_item *item, struct pw_err *err)
{
    const struct pw_task_opts *opt = o;
    const char *opening = opt->text == PW_TEXT_SHORT ? "scan" : "Solve:";
    if (!pw_read_accept(&text, opening))
        return pw_fail(err, PW_EUSER, "scan: a prompt must start with '%s'", opening);
    return payload(o, text, item, err);
}

/* The word behind the action; repetition and order depend on other words. */
static int pointers(const void *o, const struct pw_item *item, const struct pw_spelling *text, int k, int *at)
{
    const struct pw_task_opts *opt = o;
    int action[MOST], from[MOST], n = solve(item->v[0], action, from);
    (void)text;
    if (k >= n)
        return 0;
    at[0] = from[k] + (opt->text == PW_TEXT_SHORT ? 1 : 2);
    return 1;
}

const struct pw_task pw_task_scan = {
    .name = "scan",
    .summary = "translate a command into actions",
    .source = "Lake and Baroni 2018, all 20,910 commands; text and split as in Kazemnejad et al. 2023",
    .opts_size = sizeof(struct pw_task_opts),
    .length_limits = {1, MOST},
    .lengths = "1..25",
    .unit = "actions",
    .held = true,
    .has = has,
    .to_the_end = true,
    .weight = weight,
    .inputs = inputs,
    .words = words,
    .draw = draw_item,
    .nth = nth,
    .every = every,
    .longest = longest,
    .write = write_item,
    .payload = payload,
    .read = read_text,
    .example = EXAMPLE,
    .texts = texts,
    .pointers = pointers,
};
