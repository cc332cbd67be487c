/* encoding.c - the encoding pane: which pages an encoding has, cursors and keys.
 *
 * The pages are the views that the table has (plot/encoding.h). The table belongs to the current arm. The
 * latest table of every other arm is kept (fold.h), and one of them can be the reference of a comparison. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ui/panes/encoding.h"
#include "ui/report.h"

static const struct pw_enc_page *const pages[] = {
    &pw_enc_slopes,  &pw_enc_bias,   &pw_enc_buckets,    &pw_enc_matrix, &pw_enc_frequencies,
    &pw_enc_decay,   &pw_enc_params, &pw_enc_rows,       &pw_enc_cosine, &pw_enc_keys,
    &pw_enc_queries, &pw_enc_kernel, &pw_enc_difference,
};
enum { PAGES = sizeof pages / sizeof *pages };

static const struct pw_ev_table *table_of(const struct pw_ui *ui)
{
    return pw_table_drawn(ui->snap, ui->snap->current);
}

const struct pw_ev_table *pw_enc_reference(const struct pw_ui *ui)
{
    return ui->encoding.reference != ui->snap->current ? pw_table_drawn(ui->snap, ui->encoding.reference)
                                                       : NULL;
}

/* Returns true if there is such a page. That of the kernel says how to measure it if the table lacks it. */
static bool has(const struct pw_ui *ui, const struct pw_ev_table *t, const struct pw_enc_page *page)
{
    if (page->view == PW_ENCODING_DIFFERENCE)
        return pw_enc_reference(ui) != NULL;
    return page->view == PW_ENCODING_KERNEL || pw_table_has(t, page->view);
}

/* Returns the shown page; *n receives the number of pages, *at its index. */
static const struct pw_enc_page *page_of(const struct pw_ui *ui, const struct pw_ev_table *t, int *at, int *n)
{
    const struct pw_enc_page *there[PAGES];

    *n = 0;
    for (int i = 0; i < PAGES; i++)
        if (has(ui, t, pages[i]))
            there[(*n)++] = pages[i];
    *at = pw_within(ui->encoding.page, *n);
    return there[*at];
}

/* part: the cursor PW_ENC_PART, by which the entries of a learned table are limited */
static int limit(const struct pw_ev_table *t, enum pw_enc_cursor cursor, int part)
{
    switch (cursor) {
    case PW_ENC_HEAD: return t->heads;
    case PW_ENC_BUCKET: return t->n_buckets;
    case PW_ENC_PAIR: return t->pairs;
    case PW_ENC_COLUMN: return t->width;
    case PW_ENC_KEY: return t->n_keys;
    case PW_ENC_ENTRY: return t->key_width;
    case PW_ENC_QUERY: return t->n_queries;
    case PW_ENC_PART: return t->n_learned;
    case PW_ENC_PLACE: return t->n_params > 0 ? pw_param_of(t, part)->size : 0;
    default: return t->length;
    }
}

/* Clamps every cursor to the data; on the page of two tables, to both. */
static void clamp(struct pw_ui *ui, const struct pw_ev_table *t, const struct pw_enc_page *page)
{
    const struct pw_ev_table *other = page == &pw_enc_difference ? pw_enc_reference(ui) : NULL;

    const int *part = &ui->encoding.cursor[PW_ENC_PART];

    for (int i = 0; i < PW_ENC_CURSORS; i++) {
        int *at = &ui->encoding.cursor[i], n = limit(t, (enum pw_enc_cursor)i, *part);
        if (other != NULL && page->x == (enum pw_enc_cursor)i && limit(other, page->x, 0) < n)
            n = limit(other, page->x, 0);
        if (other != NULL && page->y == (enum pw_enc_cursor)i && limit(other, page->y, 0) < n)
            n = limit(other, page->y, 0);
        *at = pw_within(*at, n);
    }
}

static void settle(struct pw_ui *ui, struct pw_rect r)
{
    const struct pw_ev_table *t = table_of(ui);
    int at, n;

    (void)r;
    if (t != NULL)
        clamp(ui, t, page_of(ui, t, &at, &n));
}

static void draw_page(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_canvas *c,
                      struct pw_rect r, struct pw_enc_areas *areas)
{
    int at, n;
    const struct pw_enc_page *page = page_of(ui, t, &at, &n);

    areas->n = 0;
    if (r.h >= 4) {
        struct pw_str text = {0};
        page->read(ui, t, &text);
        r.h -= pw_draw_readout(c, r, &text);
        pw_str_fini(&text);
    }
    page->draw(ui, t, c, r, areas);
}

void pw_enc_find_areas(const struct pw_ui *ui, struct pw_rect inside, struct pw_enc_areas *areas)
{
    const struct pw_ev_table *t = table_of(ui);
    struct pw_canvas unseen;

    areas->n = 0;
    if (t == NULL || ui->encoding.typing)
        return;
    pw_canvas_init(&unseen);
    pw_canvas_resize(&unseen, inside.y + inside.h, inside.x + inside.w);
    draw_page(ui, t, &unseen, inside, areas);
    pw_canvas_fini(&unseen);
}

static void draw_encoding(const struct pw_ui *ui, struct pw_canvas *c, struct pw_rect r)
{
    const struct pw_ev_table *t = table_of(ui);
    struct pw_enc_areas areas;

    if (ui->encoding.typing) {
        pw_enc_preview(ui, c, r);
    } else if (t != NULL) {
        draw_page(ui, t, c, r, &areas);
    } else {
        static const char *const lines[] = {"the encoding's own numbers", ":table", "or Enter here", NULL};
        pw_draw_missing(ui, c, r, lines);
    }
}

static void status(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_ev_table *t = table_of(ui);
    const struct pw_arm_view *arm = pw_find_arm(ui->snap, ui->snap->current);
    int at, n;

    if (ui->encoding.typing)
        pw_str_add(out, "formula for arm %d", ui->encoding.preview.arm);
    if (ui->encoding.typing || t == NULL || arm == NULL)
        return;
    const struct pw_enc_page *page = page_of(ui, t, &at, &n);
    pw_str_add(out, "%s %d/%d  ", page->name, at + 1, n);
    pw_arm_title(ui, arm, out);
    pw_replica_text(arm, arm->table_replica, out);
    if (t->by_layer)
        pw_str_add(out, "  layer %d of %d", t->layer, t->layers);
    pw_str_add(out, "  step %lld", (long long)arm->table_step);
    if (pw_enc_reference(ui) != NULL)
        pw_str_add(out, "  reference %s %d", pw_arm_mark(ui, ui->encoding.reference), ui->encoding.reference);
}

/* Moves a cursor. The bucket list moves by bucket, the other pages by distance; each cursor follows the other
 * where possible. */
static void move(struct pw_ui *ui, const struct pw_ev_table *t, const struct pw_enc_page *page,
                 enum pw_enc_cursor cursor, int by)
{
    int *at = &ui->encoding.cursor[cursor];

    clamp(ui, t, page);
    *at += by;
    clamp(ui, t, page);
    int d = ui->encoding.cursor[PW_ENC_DISTANCE];
    if (cursor == PW_ENC_DISTANCE && t->bucket != NULL)
        ui->encoding.cursor[PW_ENC_BUCKET] = t->bucket[*at];
    for (int i = 0; cursor == PW_ENC_BUCKET && i < t->length; i++)
        if (t->bucket[i] == *at && t->bucket[d] != *at) {
            ui->encoding.cursor[PW_ENC_DISTANCE] = i;
            break;
        }
    if (page == &pw_enc_params)
        pw_enc_params_follow(ui, t, cursor);
}

static void set_reference(struct pw_ui *ui)
{
    if (ui->encoding.reference == ui->snap->current) {
        ui->encoding.reference = 0;
        snprintf(ui->message, sizeof ui->message, "no arm is the reference now");
    } else {
        ui->encoding.reference = ui->snap->current;
        snprintf(ui->message, sizeof ui->message,
                 "arm %d is the reference: > and < show how the others differ from it", ui->snap->current);
        ui->encoding.page = PAGES; /* the last page; for another arm, this is the difference */
    }
    ui->message_is_error = false;
}

static bool key_on_table(struct pw_ui *ui, const struct pw_ev_table *t, int k, struct pw_str *line)
{
    const int far = 1 << 20;
    int at, n;
    const struct pw_enc_page *page = page_of(ui, t, &at, &n);

    memset(ui->encoding.held, 0, sizeof ui->encoding.held);
    switch (k) {
    case 'l':
    case PW_KEY_RIGHT: move(ui, t, page, page->x, 1); return true;
    case 'h':
    case PW_KEY_LEFT: move(ui, t, page, page->x, -1); return true;
    case PW_KEY_PAGE_DOWN: move(ui, t, page, page->x, 10); return true;
    case PW_KEY_PAGE_UP: move(ui, t, page, page->x, -10); return true;
    case 'g':
    case PW_KEY_HOME: move(ui, t, page, page->x, -far); return true;
    case 'G':
    case PW_KEY_END: move(ui, t, page, page->x, far); return true;
    case 'j':
    case PW_KEY_DOWN: move(ui, t, page, page->y, 1); return true;
    case 'k':
    case PW_KEY_UP: move(ui, t, page, page->y, -1); return true;
    case '[': move(ui, t, page, PW_ENC_HEAD, -1); return true;
    case ']': move(ui, t, page, PW_ENC_HEAD, 1); return true;
    case 'v': ui->encoding.page = (at + 1) % n; return true;
    case 'V': ui->encoding.page = (at + n - 1) % n; return true;
    case 'c': /* the same keys as in the attention pane */
    case 'd': set_reference(ui); return true;
    case '{':
    case '}': pw_str_add(line, "table layer=%s", k == '{' ? "-1" : "+1"); return true;
    default: return false;
    }
}

static bool key(struct pw_ui *ui, int k, struct pw_str *line)
{
    const struct pw_ev_table *t = table_of(ui);

    if (k == '\r' || k == '\n') {
        pw_str_add(line, "table");
        return true;
    }
    if (k == 'e') {
        pw_text_copy(ui->ask, sizeof ui->ask, "pe expr"); /* opens the editor of a formula */
        return true;
    }
    return t != NULL && key_on_table(ui, t, k, line);
}

/* Moves the cursors of the area at that cell, often one for the column and one for the row. */
static bool click(struct pw_ui *ui, int y, int x, struct pw_rect inside, struct pw_str *line)
{
    const struct pw_ev_table *t = table_of(ui);
    struct pw_enc_areas areas;
    bool hit = false;
    int at, n, value;

    (void)line;
    pw_enc_find_areas(ui, inside, &areas);
    for (int i = 0; t != NULL && i < areas.n; i++) {
        const struct pw_enc_area *a = &areas.area[i];
        if (!pw_enc_area_at(a, y, x, &value))
            continue;
        ui->encoding.cursor[a->cursor] = value;
        ui->encoding.held[a->cursor] = a->first + 1;
        move(ui, t, page_of(ui, t, &at, &n), a->cursor, 0);
        hit = true;
    }
    return hit;
}

void pw_enc_copy_distances(const struct pw_ui *ui, const struct pw_ev_table *t, struct pw_str *out)
{
    bool own = t->bias != NULL && pw_table_bias_query(t) >= 0; /* then the bias differs from the kernel */

    (void)ui;
    pw_str_add(out, "distance\tpairs_met%s", t->bucket != NULL ? "\tbucket" : "");
    for (int h = 0; h < t->heads && own; h++)
        pw_str_add(out, "\tbias_%d_query_%d", h, pw_table_bias_query(t));
    for (int h = 0; h < t->heads && t->kernel != NULL; h++)
        pw_str_add(out, "\tkernel_%d", h);
    for (int h = 0; h < t->heads && t->score != NULL; h++)
        pw_str_add(out, "\tscore_%d", h);
    for (int d = 0; d < t->length; d++) {
        int64_t met = pw_enc_seen(t, t->met, d);
        pw_str_add(out, "\n%d\t", d);
        if (met >= 0)
            pw_str_add(out, "%" PRId64, met);
        if (t->bucket != NULL)
            pw_str_add(out, "\t%d", t->bucket[d]);
        for (int h = 0; h < t->heads && own; h++)
            pw_str_add(out, "\t%.6g", (double)t->bias[(size_t)h * t->length + d]);
        for (int h = 0; h < t->heads && t->kernel != NULL; h++)
            pw_str_add(out, "\t%.6g", (double)t->kernel[(size_t)h * t->length + d]);
        for (int h = 0; h < t->heads && t->score != NULL; h++)
            pw_str_add(out, "\t%.6g", (double)t->score[(size_t)h * t->length + d]);
    }
    pw_str_add(out, "\n");
}

static void copy(const struct pw_ui *ui, struct pw_str *out)
{
    const struct pw_ev_table *t = table_of(ui);
    int at, n;

    if (t != NULL)
        page_of(ui, t, &at, &n)->copy(ui, t, out);
}

/* Prints every page; parts that two pages share are printed once. */
static void words(FILE *out, const struct pw_ui *ui)
{
    const struct pw_ev_table *t = table_of(ui);

    if (t == NULL) {
        fputs("no table yet: 'table' reads the current arm's encoding\n", out);
        return;
    }
    struct pw_str of = {0}, pe = {0};
    const struct pw_arm_view *arm = &ui->snap->arms[ui->snap->current - 1];
    pw_replica_text(arm, arm->table_replica, &of);
    fprintf(out, "arm %d%s  %s, %d positions, layer %d of %d, %d samples; ", ui->snap->current,
            pw_str_text(&of), pw_encoding_text(&pe, t->pe), t->length, t->layer, t->layers, t->n_kernel);
    pw_str_fini(&pe);
    pw_str_fini(&of);
    if (t->trained > 0)
        fprintf(out, "distances up to %d were seen in training\n", t->trained);
    else
        fputs("not trained yet\n", out);
    if (t->fire_threshold > 0) {
        struct pw_str text = {0};
        pw_fire_text(t, &text);
        pw_str_add(&text, "; the bias by distance is");
        pw_bias_query_text(t, &text);
        fprintf(out, "%s\n", pw_str_text(&text));
        pw_str_fini(&text);
    }
    if (pw_table_empty(t))
        fprintf(out, "no positional term; order enters through %s\n", pw_table_order(t));
    for (int i = 0; i < PAGES; i++) {
        struct pw_str text = {0};
        bool again = false;
        for (int k = 0; k < i; k++)
            again = again || (pages[k]->copy == pages[i]->copy && has(ui, t, pages[k]));
        if (again || !has(ui, t, pages[i]))
            continue;
        pages[i]->copy(ui, t, &text);
        fprintf(out, "%s:\n", pages[i]->title);
        pw_report_columns(out, pw_str_text(&text));
        pw_str_fini(&text);
    }
}

static const char *const keys[] = {
    "h l",       "cursor across: distance, dimension, position, head",
    "j k",       "cursor down: head, bucket, pair, position, query",
    "PgUp PgDn", "ten columns back and on",
    "g G",       "first and last column",
    "v V",       "next and previous page: the table, its buckets, the kernel ...",
    "[ ]",       "head, also on pages with another cursor",
    "{ }",       "layer of the kernel and of relative keys",
    "d c",       "make this arm the reference: others show how they differ",
    "Enter",     "read the table again",
    "e",         "edit a formula for this arm, with its curve beside the present one",
    NULL};

static const char *page(const struct pw_ui *ui)
{
    const struct pw_ev_table *t = table_of(ui);
    int at, n;

    return t != NULL ? page_of(ui, t, &at, &n)->name : NULL;
}

static void init(struct pw_ui *ui)
{
    ui->encoding.cursor[PW_ENC_DISTANCE] = 1;
}

static void fini(struct pw_ui *ui)
{
    pw_preview_fini(&ui->encoding.preview);
}

const struct pw_pane pw_pane_encoding = {
    .name = "encoding",
    .title = "Encoding",
    .hints = "hjkl cursor  v page  e formula  { } layer  d difference  Enter refresh",
    .status = status,
    .draw = draw_encoding,
    .init = init,
    .fini = fini,
    .settle = settle,
    .key = key,
    .click = click,
    .keys = keys,
    .shows = PW_SHOWS_TABLE,
    .copy = copy,
    .page = page,
    .words = words,
};
