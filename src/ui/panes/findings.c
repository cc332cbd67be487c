/* findings.c - results of probes and studies: the newest finding or the selected one, a block per page.
 *
 * Every page has the claims with their verdicts at the top; the last page has them in full, with the remarks.
 * A finding that is measured again (`probe ... every=N`) replaces itself, and page and cursor stay. */
#include <stdio.h>
#include <string.h>

#include "plot/finding_text.h"
#include "ui/panes/findings.h"
#include "ui/report.h"
#include "ui/search.h"

const struct pw_fnd_kind *const pw_fnd_kinds[] = {
    [PW_BLOCK_TABLE] = &pw_fnd_table, [PW_BLOCK_PLOT] = &pw_fnd_plot, [PW_BLOCK_MAP] = &pw_fnd_map};

/* ---- the finding and the page */

/* Returns true for a block that is not empty. */
static bool is_drawn(const struct pw_block *b)
{
    return b->rows > 0 && b->cols > 0;
}

static int blocks_of(const struct pw_finding *f)
{
    int n = 0;

    for (int i = 0; i < f->n_blocks; i++)
        n += is_drawn(&f->blocks[i]);
    return n;
}

static int pages_of(const struct pw_finding *f)
{
    int blocks = blocks_of(f);

    return blocks + (f->n_claims + f->n_remarks > 0 || blocks == 0);
}

/* Returns the block of a page; NULL: the page of claims. */
static const struct pw_block *block_of(const struct pw_finding *f, int page)
{
    for (int i = 0; i < f->n_blocks; i++)
        if (is_drawn(&f->blocks[i]) && page-- == 0)
            return &f->blocks[i];
    return NULL;
}

static int page_of(const struct pw_ui *ui, const struct pw_finding *f)
{
    return pw_within(ui->findings.page, pages_of(f));
}

static int across_of(const struct pw_block *b)
{
    return b->kind == PW_BLOCK_PLOT ? b->rows : b->cols;
}

static int down_of(const struct pw_block *b)
{
    return b->kind == PW_BLOCK_PLOT ? b->cols : b->rows;
}

/* Clamps page and cursor; another finding starts at its first page. */
static void clamp(struct pw_ui *ui, const struct pw_finding *f)
{
    char now[sizeof ui->findings.shown];

    if (strcmp(ui->findings.name, f->name) != 0 || strcmp(ui->findings.topic, f->topic) != 0)
        ui->findings.name[0] = '\0'; /* the selected finding was dropped, or none was selected */
    snprintf(now, sizeof now, "%s %s", f->name, f->topic);
    if (strcmp(now, ui->findings.shown) != 0)
        ui->findings.page = ui->findings.down = ui->findings.across = ui->findings.held = 0;
    memcpy(ui->findings.shown, now, sizeof now);
    ui->findings.page = page_of(ui, f);
    const struct pw_block *b = block_of(f, ui->findings.page);
    if (b == NULL)
        return;
    ui->findings.down = pw_within(ui->findings.down, down_of(b));
    ui->findings.across = pw_within(ui->findings.across, across_of(b));
}

/* ---- drawing */

static void invite(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    static const char *const lines[] = {"nothing measured yet", ":probe dispersion",
                                        ":probe  lists what can be measured",
                                        ":reproduce --list  lists claims of papers to check", NULL};

    pw_draw_missing(ui, c, r, lines);
}

/* Returns the rows for claims: a third of the pane, or one in a small pane. */
static int claims_rows(struct pw_rect r)
{
    return r.h >= 12 ? (r.h - 3) / 3 : r.h >= 5;
}

/* Draws the claims and the title above a block, and its readout. Returns the rest of r, for the block's body.
 */
static struct pw_rect draw_around(const struct pw_ui *ui, const struct pw_block_of *k, struct pw_canvas *c,
                                  struct pw_rect r)
{
    int used = pw_fnd_claims(c, r, k->f, claims_rows(r));

    r.y += used, r.h -= used;
    if (r.h >= 3) {
        pw_draw_cut(c, r, r.y, r.x, pw_style_dim(), k->b->title, r.w);
        r.y++, r.h--;
    }
    if (r.h >= 4) {
        struct pw_str s = {0};
        pw_fnd_kinds[k->b->kind]->read(ui, k, &s);
        r.h -= pw_draw_readout(c, r, &s);
        pw_str_fini(&s);
    }
    return r;
}

/* Draws the finding's title if there is room. Returns the rest of r. */
static struct pw_rect draw_title(const struct pw_block_of *k, struct pw_canvas *c, struct pw_rect r)
{
    bool roomy = r.h >= 12;

    if (roomy || k->b == NULL ||
        (r.h >= 5 && k->b->kind == PW_BLOCK_TABLE)) { /* a picture needs the rows more */
        int used = pw_draw_wrapped(c, r, r.y, pw_style_plain(), k->f->title, roomy ? 2 : 1);
        r.y += used, r.h -= used;
    }
    return r;
}

struct pw_rect pw_fnd_body(const struct pw_ui *ui, struct pw_rect r)
{
    const struct pw_finding_view *v = pw_fnd_shown(ui);
    struct pw_canvas nowhere = {0}; /* nothing is drawn: only the rows are counted */

    if (v == NULL)
        return (struct pw_rect){0};
    const struct pw_block_of k = {&v->f, block_of(&v->f, page_of(ui, &v->f))};
    r = draw_title(&k, &nowhere, r);
    return k.b != NULL ? draw_around(ui, &k, &nowhere, r) : (struct pw_rect){0};
}

static void settle(struct pw_ui *ui, struct pw_rect r)
{
    const struct pw_finding_view *v = pw_fnd_shown(ui);
    struct pw_canvas nowhere = {0};

    if (v == NULL)
        return;
    clamp(ui, &v->f);
    const struct pw_block_of k = {&v->f, block_of(&v->f, ui->findings.page)};
    if (k.b != NULL)
        return;
    r = draw_title(&k, &nowhere, r);
    int lines = pw_fnd_claims_page(&nowhere, r, &v->f, 0);
    if (ui->findings.down > 0 && ui->findings.down > lines - r.h) /* not beyond its end */
        ui->findings.down = lines > r.h ? lines - r.h : 0;
}

static void draw_findings(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_finding_view *v = pw_fnd_shown(ui);

    if (v == NULL) {
        invite(ui, c, r);
        return;
    }
    const struct pw_block_of k = {&v->f, block_of(&v->f, page_of(ui, &v->f))};
    r = draw_title(&k, c, r);
    if (k.b == NULL) {
        pw_fnd_claims_page(c, r, &v->f, ui->findings.down);
        return;
    }
    r = draw_around(ui, &k, c, r);
    if (r.h >= 1)
        pw_fnd_kinds[k.b->kind]->draw(ui, &k, c, r);
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_finding_view *list[PW_FND_LIST], *v = pw_fnd_shown(ui);
    int n = pw_fnd_list(ui, list), at = 0;

    if (v == NULL)
        return;
    while (list[at] != v)
        at++;
    enum pw_claim_verdict verdict = pw_finding_verdict(&v->f);
    pw_str_add(out, "%s%s%s", v->f.name, v->f.topic[0] ? " " : "", v->f.topic);
    if (verdict < PW_CLAIM_VERDICTS)
        pw_str_add(out, "  %s %s", pw_verdict_views[verdict].sign, pw_claim_verdicts[verdict]);
    pw_str_add(out, "  %d/%d", page_of(ui, &v->f) + 1, pages_of(&v->f));
    if (v->arm > 0)
        pw_str_add(out, "  step %lld", (long long)v->step);
    if (n > 1 && ui->findings.name[0])
        pw_str_add(out, "  finding %d of %d", n - at, n);
    else if (n > 1)
        pw_str_add(out, "  the newest of %d", n);
}

/* ---- keys */

/* Selects the previous finding (by 1) or the next one, in the order of their arrival. After the newest, the
 * pane follows new findings. */
static void choose(struct pw_ui *ui, int by)
{
    const struct pw_finding_view *list[PW_FND_LIST], *v = pw_fnd_shown(ui);
    int n = pw_fnd_list(ui, list), at = 0;

    while (list[at] != v)
        at++;
    at = pw_within(at + by, n);
    bool newest = at == 0;
    pw_text_copy(ui->findings.name, sizeof ui->findings.name, newest ? "" : list[at]->f.name);
    pw_text_copy(ui->findings.topic, sizeof ui->findings.topic, newest ? "" : list[at]->f.topic);
}

static void turn(struct pw_ui *ui, const struct pw_finding *f, int by)
{
    int n = pages_of(f);

    ui->findings.page = (page_of(ui, f) + by + n) % n;
    ui->findings.down = ui->findings.across = 0;
}

static void move(struct pw_ui *ui, int down, int across)
{
    ui->findings.down = down < 0 && ui->findings.down < -down ? 0 : ui->findings.down + down;
    ui->findings.across = across < 0 && ui->findings.across < -across ? 0 : ui->findings.across + across;
    ui->findings.held = 0;
}

/* Opens the prompt with the commands of the row under the cursor. They are not run at once, because the
 * finding can be part of another user's session. */
static void act(struct pw_ui *ui, const struct pw_finding *f)
{
    const struct pw_block *b = block_of(f, ui->findings.page);
    const char *commands =
        b != NULL ? pw_finding_action_of(f, (int)(b - f->blocks), ui->findings.down) : NULL;

    if (commands != NULL)
        pw_text_copy(ui->ask, sizeof ui->ask, commands);
    else
        pw_ui_message(ui, "this row has no commands");
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    const struct pw_finding_view *v = pw_fnd_shown(ui);
    const int far = 1 << 20;

    (void)line;
    if (v == NULL && (k == 'v' || k == 'V' || k == '[' || k == ']')) {
        pw_ui_message(ui, "nothing measured yet");
        return true;
    }
    if (v == NULL)
        return false;
    clamp(ui, &v->f);
    switch (k) {
    case 'j':
    case PW_KEY_DOWN: move(ui, 1, 0); break;
    case 'k':
    case PW_KEY_UP: move(ui, -1, 0); break;
    case 'l':
    case PW_KEY_RIGHT: move(ui, 0, 1); break;
    case 'h':
    case PW_KEY_LEFT: move(ui, 0, -1); break;
    case PW_KEY_PAGE_DOWN: move(ui, 10, 0); break;
    case PW_KEY_PAGE_UP: move(ui, -10, 0); break;
    case 'g':
    case PW_KEY_HOME: move(ui, -far, -far); break;
    case 'G':
    case PW_KEY_END: move(ui, far, 0); break;
    case '\r':
    case '\n': act(ui, &v->f); break;
    case 'v': turn(ui, &v->f, 1); break;
    case 'V': turn(ui, &v->f, -1); break;
    case '[': choose(ui, 1); break;
    case ']': choose(ui, -1); break;
    default: return false;
    }
    if ((v = pw_fnd_shown(ui)) != NULL)
        clamp(ui, &v->f);
    return true;
}

static bool click(struct pw_ui *ui, int y, int x, struct pw_rect inside, struct pw_str *line)
{
    const struct pw_finding_view *v = pw_fnd_shown(ui);
    struct pw_rect r = pw_fnd_body(ui, inside);
    int down = ui->findings.down, across = ui->findings.across;

    (void)line;
    if (v == NULL || !pw_rect_has(r, y, x))
        return false;
    const struct pw_block_of k = {&v->f, block_of(&v->f, page_of(ui, &v->f))};
    if (k.b == NULL || !pw_fnd_kinds[k.b->kind]->at(ui, &k, r, y, x, &down, &across))
        return false;
    if (k.b->kind == PW_BLOCK_TABLE) /* the table's rows stay in place */
        ui->findings.held = down - (y - r.y - 1) + 1;
    ui->findings.down = down, ui->findings.across = across;
    return true;
}

/* ---- text */

static void copy(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_finding_view *v = pw_fnd_shown(ui);

    if (v == NULL)
        return;
    const struct pw_block_of k = {&v->f, block_of(&v->f, page_of(ui, &v->f))};
    if (k.b != NULL) {
        pw_fnd_kinds[k.b->kind]->copy(&k, out);
        return;
    }
    pw_fnd_copy_claims(&v->f, out);
}

/* Prints a list of the findings, oldest first, then the shown one. */
static void words(FILE *out, const struct pw_ui *ui)
{
    const struct pw_finding_view *list[PW_FND_LIST], *v = pw_fnd_shown(ui);
    int n = pw_fnd_list(ui, list);

    if (v == NULL) {
        fputs("nothing measured yet: 'probe' lists the probes, 'reproduce --list' claims of papers\n", out);
        return;
    }
    for (int i = n - 1; n > 1 && i >= 0; i--) {
        enum pw_claim_verdict verdict = pw_finding_verdict(&list[i]->f);
        fprintf(out, "%s finding %d of %d, %s%s%s", list[i] == v ? ">" : " ", n - i, n, list[i]->f.name,
                list[i]->f.topic[0] ? " " : "", list[i]->f.topic);
        if (verdict < PW_CLAIM_VERDICTS)
            fprintf(out, ": %s", pw_claim_verdicts[verdict]);
        fputc('\n', out);
    }
    if (v->arm > 0)
        fprintf(out, "arm %d at step %lld, ", v->arm, (long long)v->step);
    pw_finding_print(out, &v->f);
}

/* ---- search: titles, names, claims, page by page */

struct match {
    int page, down, across;
};

static bool has(const char *text, const char *in)
{
    return pw_search_in(in, text) != NULL;
}

/* Searches all pages for lines with the text: row names, column names, titles, claims. Returns the number of
 * matches, and the nth in *m. */
static int find_matches(const struct pw_finding *f, const char *text, int nth, struct match *m)
{
    int n = 0;

    for (int page = 0; page < pages_of(f); page++) {
        const struct pw_block *b = block_of(f, page);
        if (b != NULL && has(text, b->title) && n++ == nth)
            *m = (struct match){page, 0, 0};
        for (int i = 0; b != NULL && b->kind != PW_BLOCK_PLOT && i < b->rows; i++)
            if (has(text, pw_finding_row_name(f, b, i)) && n++ == nth)
                *m = (struct match){page, i, 0};
        for (int i = 0; b != NULL && i < b->cols; i++)
            if (has(text, pw_finding_col_name(f, b, i)) && n++ == nth)
                *m = b->kind == PW_BLOCK_PLOT ? (struct match){page, i, 0} : (struct match){page, 0, i};
        for (int i = 0; b == NULL && i < f->n_claims; i++)
            if ((has(text, f->claims[i].claim) || has(text, f->claims[i].found)) && n++ == nth)
                *m = (struct match){page, 0, 0};
        for (int i = 0; b == NULL && i < f->n_remarks; i++)
            if (has(text, f->remarks[i].text) && n++ == nth)
                *m = (struct match){page, 1 << 20, 0};
    }
    return n;
}

static int find(struct pw_ui *ui, const char *text, int direction)
{
    const struct pw_finding_view *v = pw_fnd_shown(ui);
    struct match m = {0};

    if (v == NULL)
        return 0;
    int n = find_matches(&v->f, text, -1, &m);
    if (n == 0)
        return 0;
    find_matches(&v->f, text, direction == 0 ? 0 : (ui->find.at + direction + n) % n, &m);
    ui->findings.page = m.page, ui->findings.down = m.down, ui->findings.across = m.across;
    ui->findings.held = 0;
    clamp(ui, &v->f);
    return n;
}

/* ---- the pane */

static const char *const keys[] = {
    "h l",       "cursor across: column, point of a curve",
    "j k",       "cursor down: row, curve; scrolls the claims",
    "PgUp PgDn", "ten down",
    "g G",       "first and last",
    "v V",       "next and previous page: tables, plots, maps, the claims in full",
    "Enter",     "the row's commands, into the prompt: they make an arm of a change that `why` tested",
    "[ ]",       "previous and next finding; ] at the newest follows new ones",
    NULL};

/* Returns the page's name in `export figure`. */
static const char *page(const struct pw_ui *ui)
{
    static const char *const names[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
    const struct pw_finding_view *v = pw_fnd_shown(ui);
    int at = v != NULL ? page_of(ui, &v->f) : 0;

    return v != NULL && block_of(&v->f, at) != NULL && at < (int)(sizeof names / sizeof *names) ? names[at]
                                                                                                : "all";
}

const struct pw_pane pw_pane_findings = {
    .name = "findings",
    .title = "Findings",
    .hints = "v page  [ ] finding  hjkl cursor",
    .status = status,
    .draw = draw_findings,
    .settle = settle,
    .key = key,
    .click = click,
    .keys = keys,
    .copy = copy,
    .find = find,
    .page = page,
    .words = words,
};
