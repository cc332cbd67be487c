/* step_words.c - the step inspector as text: the answer token by token, and tables of all sections for the
 * token at the cursor. */
#include "ui/panes/step_int.h"
#include "ui/report.h"

/* Prints the source of the data: "arm 2, replica 2 of 3  step 640: ". */
static void tell_where(FILE *out, const struct pw_snapshot *s, int id, int replica, int64_t step)
{
    const struct pw_arm_view *arm = pw_find_arm(s, id);
    struct pw_str of = {0};

    if (arm != NULL)
        pw_replica_text(arm, replica, &of);
    fprintf(out, "arm %d%s  step %lld: ", id, pw_str_text(&of), (long long)step);
    pw_str_fini(&of);
}

/* Prints the candidates of every decoded token. */
static void tell_answer(FILE *out, const struct pw_snapshot *s)
{
    tell_where(out, s, s->prompt_arm, s->prompt_replica, s->prompt_step);
    fprintf(out, "%s\n", s->prompt.text);
    for (int i = 0; i < s->n_tokens; i++) {
        const struct pw_ev_token *t = &s->tokens[i];
        fprintf(out, "  token %d, '%s'%s%s: candidates", i + 1, pw_label(t->label),
                t->edited ? ", edited" : "",
                !s->prompt.has_answer ? ""
                : t->right            ? ", right"
                                      : ", wrong");
        for (int k = 0; k < t->n_top && k < PW_TOP; k++)
            fprintf(out, "%s '%s' %.3f", k ? "," : "", pw_label(t->top_label[k]), (double)t->top_prob[k]);
        fprintf(out, "; entropy %.2f bits\n", (double)t->entropy);
    }
}

/* Prints a section's table between its title and its last line. */
static void tell_section(FILE *out, const struct pw_ui *ui, const struct pw_step_view *v,
                         const struct pw_step_section *section)
{
    struct pw_str text = {0};

    if (section->rows(ui, v) == 0)
        return;
    section->title(ui, v, &text);
    fprintf(out, "%s:\n", pw_str_text(&text));
    pw_str_clear(&text);
    section->copy(ui, v, &text);
    pw_report_columns(out, pw_str_text(&text));
    pw_str_clear(&text);
    if (section->foot != NULL) {
        section->foot(ui, v, &text);
        fprintf(out, "  %s\n", pw_str_text(&text));
    }
    pw_str_fini(&text);
}

static void tell_patch(FILE *out, const struct pw_ui *ui)
{
    struct pw_str text = {0};

    pw_step_patch_copy(ui, &text);
    if (text.len > 0) {
        const struct pw_snapshot *s = ui->snap;
        tell_where(out, s, s->patch_arm, s->patch_replica, s->patch_step);
        fprintf(out, "%s\n", s->patch.text);
        pw_report_columns(out, text.s);
    }
    pw_str_fini(&text);
}

void pw_step_words(FILE *out, const struct pw_ui *ui)
{
    const struct pw_snapshot *s = ui->snap;
    struct pw_step_view v;

    if (!pw_step_select(s, &v)) {
        fputs("no answer yet: type a prompt first\n", out);
    } else {
        tell_answer(out, s);
        if (v.look != NULL) {
            fprintf(out, "at the cursor: token %d of the answer, position %d", v.pos - s->prompt.n_prompt + 1,
                    v.pos);
            if (v.look->temperature != 1)
                fprintf(out, ", temperature %g", (double)v.look->temperature);
            fputs("; 'next' and 'back' move it\n", out);
        }
        for (int i = 0; v.look != NULL && i < PW_STEP_PAGES; i++)
            tell_section(out, ui, &v, pw_step_sections[i]);
    }
    tell_patch(out, ui);
}
