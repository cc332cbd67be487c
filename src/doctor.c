/* doctor.c - see doctor.h. This file has the lines about program, terminal and devices, and prints all lines.
 *
 * A missing feature that few users need (CUDA, PDF, Slurm) is no problem: its line says why it is missing. */
#include "doctor.h"

#include <cjson/cJSON.h>
#include <gnu/libc-version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/pool.h"
#include "doctor_int.h"
#include "figure/figure.h"
#include "kernels/backend.h"
#include "study/child.h"
#include "ui/term.h"
#include "version.h"

#define COLUMNS 80
#define CUT     "..."
#define CUT_AT  50 /* column */

void pw_doctor_add(struct pw_doctor *d, bool problem, const char *name, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    if (d->n == PW_DOCTOR_LINES)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (char *c = text; *c != '\0'; c++) /* from paths and the environment */
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    d->line[d->n].name = name;
    d->line[d->n].problem = problem;
    pw_str_add(&d->line[d->n++].value, "%s", text);
}

/* ---- program and machine */

/* Appends the distribution's name, if it has one. */
static void add_distribution(struct pw_str *out)
{
    char line[256], name[200];
    FILE *f = fopen("/etc/os-release", "re");
    if (f == NULL)
        return;
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "PRETTY_NAME=\"%199[^\"\n]", name) == 1)
            pw_str_add(out, "%s, ", name);
    fclose(f);
}

static void check_program(struct pw_doctor *d)
{
    struct utsname u;
    struct pw_str system = {0};
    add_distribution(&system);
    if (uname(&u) == 0)
        pw_str_add(&system, "%s %s %s, ", u.sysname, u.release, u.machine);
    pw_doctor_add(d, false, "version", "pewter %s%s%s%s", PEWTER_VERSION,
                  pw_commit[0] != '\0' ? " (commit " : "", pw_commit, pw_commit[0] != '\0' ? ")" : "");
    pw_doctor_add(d, false, "system", "%sglibc %s", pw_str_text(&system), gnu_get_libc_version());
    pw_str_fini(&system);
}

static void check_locale(struct pw_doctor *d, const struct pw_charset *c)
{
    char set[128];
    snprintf(set, sizeof set, "%s%s%.80s", c->variable,
             c->wanted[0] != '\0' ? "=" : "no LC_ALL, LC_CTYPE, LANG", c->wanted);
    if (c->replaced)
        pw_doctor_add(d, !c->utf8, "locale", "%s is not installed; C.UTF-8 is used in its place", set);
    else if (c->utf8)
        pw_doctor_add(d, false, "locale", "%s, UTF-8", set);
    else
        pw_doctor_add(d, true, "locale", "%s%s: ASCII only; set LC_ALL=C.UTF-8", set,
                      c->installed ? "" : " is not installed");
}

/* ---- terminal */

/* Returns a standard stream that is a terminal; -1: none is. */
static int find_terminal(void)
{
    static const int streams[] = {STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        if (isatty(streams[i]))
            return streams[i];
    return -1;
}

static const char *yes_no(bool is)
{
    return is ? "yes" : "no";
}

static const char *value_of(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL ? value : "";
}

static void check_glyphs(struct pw_doctor *d, const struct pw_charset *c)
{
    if (!c->utf8)
        pw_doctor_add(d, false, "glyphs", "ASCII, because the locale is not UTF-8");
    else if (pw_term_is_console())
        pw_doctor_add(d, false, "glyphs", "ASCII and boxes, for the Linux console; 'set marker' changes it");
    else
        pw_doctor_add(d, false, "glyphs",
                      "UTF-8 with Braille; 'set marker=block' or 'ascii' for other fonts");
}

static void check_terminal(struct pw_doctor *d, const struct pw_charset *c)
{
    static const char *const colors[] = {"none", "8 or 16", "256", "true colour"}; /* enum pw_colors */
    struct pw_term_survey s;
    struct pw_err err;
    struct winsize w = {0};
    char size[48] = "size unknown";
    int tty = find_terminal();
    const char *term = value_of("TERM");
    bool dumb = term[0] == '\0' || strcmp(term, "dumb") == 0;
    pw_term_look(&s, tty, PW_WANT_AUTO);
    if (tty >= 0)
        ioctl(tty, TIOCGWINSZ, &w);
    if (w.ws_col > 0 && w.ws_row > 0)
        snprintf(size, sizeof size, "%d columns, %d rows", w.ws_col, w.ws_row);
    if (!dumb && !s.described)
        pw_doctor_add(d, true, "terminal", "TERM=%.20s is not described here; set TERM=xterm-256color", term);
    else
        pw_doctor_add(d, false, "terminal", "TERM=%.20s, %s; input %s, output %s", term, size,
                      yes_no(isatty(STDIN_FILENO)), yes_no(isatty(STDOUT_FILENO)));
    if (tty < 0 || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        pw_doctor_add(d, false, "screen", "no: input or output of this command is not a terminal");
    else if (pw_term_possible(STDIN_FILENO, STDOUT_FILENO, &err) != PW_OK)
        pw_doctor_add(d, false, "screen", "no: %s", err.msg);
    else
        pw_doctor_add(d, !s.described, "screen", s.described ? "yes" : "no: use --plain");
    pw_doctor_add(d, false, "colours", "%s (COLORTERM=%.20s, NO_COLOR=%.20s)",
                  dumb ? "none" : colors[s.colors], value_of("COLORTERM"), value_of("NO_COLOR"));
    check_glyphs(d, c);
    pw_doctor_add(d, false, "mouse", "%s", yes_no(s.mouse && !dumb && !pw_term_is_console()));
}

/* ---- devices */

static void check_processor(struct pw_doctor *d)
{
    struct pw_err err;
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const struct pw_backend_ops *cpu = pw_backend_cpu();
    bool bf16 = pw_backend_cpu_precision("auto", "bf16", &err) != NULL;
    pw_doctor_add(d, false, "processor", "%d threads, %s, %.1f GB memory", pw_pool_processors(), cpu->isa,
                  memory * 1e-9);
    pw_doctor_add(d, false, "backend cpu", "yes: fp32%s", bf16 ? ", bf16" : "");
}

static void check_cuda(struct pw_doctor *d)
{
    struct pw_device first, other;
    struct pw_err err;
    char path[PW_LINE * 4];
    int n = 0;
    const struct pw_backend_plugin *p = pw_backend_plugin_of("cuda", path, sizeof path, &err);
    if (p == NULL) {
        pw_doctor_add(d, false, "backend cuda", "no: %s",
                      err.msg + (strncmp(err.msg, "cuda: ", 6) == 0 ? 6 : 0));
        return;
    }
    while (p->tables[0]->device_at(n == 0 ? &first : &other, n, &err) == PW_OK)
        n++;
    if (n == 0)
        pw_doctor_add(d, false, "backend cuda", "no: %s", err.msg);
    else if (first.why_not[0] != '\0')
        pw_doctor_add(d, false, "backend cuda", "no: %s: %s", first.name, first.why_not);
    else
        pw_doctor_add(d, false, "backend cuda", "yes: %s, %.1f GB free, %d more", first.name,
                      1e-9 * (double)first.free, n - 1);
    pw_doctor_add(d, false, "plug-in", "%s", path);
}

/* ---- other programs and libraries */

static void check_helpers(struct pw_doctor *d)
{
    if (pw_figure_renders())
        pw_doctor_add(d, false, "figures", "SVG, PDF, PNG");
    else
        pw_doctor_add(d, false, "figures",
                      "SVG; PDF and PNG need the library librsvg-2.so.2 (Debian: librsvg2-2)");
    pw_doctor_add(d, false, "Slurm",
                  pw_child_has("sbatch") ? "sbatch found"
                                         : "no sbatch in PATH ('study run' on=slurm needs it)");
}

/* ---- printing */

/* Appends the value with ~ in place of the home folder, which also keeps the user's name out of reports. */
static void add_without_home(struct pw_str *out, const char *value)
{
    const char *home = value_of("HOME");
    size_t n = strlen(home);
    while (*value != '\0')
        if (n > 1 && strncmp(value, home, n) == 0 && (value[n] == '/' || value[n] == '\0')) {
            pw_str_add(out, "~");
            value += n;
        } else {
            pw_str_put(out, value++, 1);
        }
}

/* Prints a line. If it is too long, a part after its first 50 columns is left out: the beginning has the
 * reason, and the end of a path says most. */
static void print_line(const char *text)
{
    size_t len = strlen(text), from = 0, to;
    uint32_t cp;
    int kept = pw_text_cells(text);
    if (kept <= COLUMNS) {
        puts(text);
        return;
    }
    for (int cells = 0; cells < CUT_AT;) {
        from += pw_utf8_next(text + from, len - from, &cp);
        cells += pw_utf8_cells(cp);
    }
    for (to = from; kept > COLUMNS - (int)strlen(CUT); kept -= pw_utf8_cells(cp))
        to += pw_utf8_next(text + to, len - to, &cp);
    printf("%.*s" CUT "%s\n", (int)from, text, text + to);
}

static void print_json(const char *name, const char *value, bool problem)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "kind", "doctor");
    cJSON_AddStringToObject(o, "name", name);
    cJSON_AddStringToObject(o, "value", value);
    cJSON_AddBoolToObject(o, "problem", problem);
    char *text = cJSON_PrintUnformatted(o);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
}

int pw_doctor_print(const struct pw_charset *charset, const struct pw_commands *commands, bool json)
{
    struct pw_doctor d = {.n = 0};
    int problems = 0;
    check_program(&d);
    check_locale(&d, charset);
    check_terminal(&d, charset);
    check_processor(&d);
    check_cuda(&d);
    pw_doctor_folders(&d, commands);
    check_helpers(&d);
    for (int i = 0; i < d.n; i++)
        problems += d.line[i].problem;
    pw_doctor_add(&d, false, "problems", "%d", problems);
    for (int i = 0; i < d.n; i++) {
        struct pw_str text = {0};
        pw_str_add(&text, "%s%s: ", d.line[i].problem ? "! " : "", d.line[i].name);
        add_without_home(&text, pw_str_text(&d.line[i].value));
        if (json)
            print_json(d.line[i].name, pw_str_text(&d.line[i].value), d.line[i].problem);
        else
            print_line(text.s);
        pw_str_fini(&text);
        pw_str_fini(&d.line[i].value);
    }
    return problems > 0 ? 1 : 0;
}
