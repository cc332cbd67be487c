/* histogram.c - the probe histogram: the lengths of the prompts in a file, counted as in Kazemnejad et al.
 * 2023, Figure A.1, which counts the instructions of two finetuning sets.
 *
 * The file has the format of `task file`: a prompt, a TAB and an answer per line. The length is the number of
 * words of the prompt. The figure's dotted line is the median: half of the lines have at most this length.
 * The figure uses FLAN and Super Natural Instructions, which are not part of this program. The probe
 * therefore makes no claim about a file. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "probe/probe.h"

#define MOST_BYTES (256u << 20)
#define BINS       40

struct options {
    char path[256];
};

static const struct pw_opt opts[] = {{.name = "path",
                                      .type = PW_OPT_TEXT,
                                      .offset = offsetof(struct options, path),
                                      .size = sizeof((struct options *)0)->path,
                                      .def = "",
                                      .help = "file with one sample per line: prompt, TAB, answer"},
                                     {.name = NULL}};

struct state {
    int n, cap;
    int *length; /* [n] words of each prompt */
};

static int words_of(const char *s, const char *end)
{
    int n = 0;
    for (bool inside = false; s < end; s++) {
        bool blank = *s == ' ' || *s == '\r';
        n += !blank && !inside;
        inside = !blank;
    }
    return n;
}

static enum pw_code begin_histogram(struct pw_probing_at *p, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state = pw_alloc(1, sizeof *s);
    char *text;
    size_t size;
    int line = 0;
    if (o->path[0] == '\0')
        return pw_fail(
            err, PW_EUSER,
            "probe histogram: path=FILE is missing: name a file with lines of prompt, TAB, answer");
    enum pw_code code = pw_file_read(o->path, MOST_BYTES, &text, &size, err);
    if (code != PW_OK)
        return code;
    for (char *at = text, *end; code == PW_OK && at < text + size; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + size - at));
        end = end != NULL ? end : text + size;
        line++;
        char *tab = memchr(at, '\t', (size_t)(end - at));
        if (end == at)
            continue;
        if (tab == NULL)
            code = pw_fail(err, PW_EUSER, "%.200s: line %d: no TAB between prompt and answer", o->path, line);
        if (s->n == s->cap) {
            s->cap = s->cap > 0 ? 2 * s->cap : 1024;
            s->length = pw_grow(s->length, (size_t)s->cap, sizeof *s->length);
        }
        if (code == PW_OK)
            s->length[s->n++] = words_of(at, tab);
    }
    free(text);
    if (code == PW_OK && s->n == 0)
        code = pw_fail(err, PW_EUSER, "%.200s: the file has no lines", o->path);
    return code;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static enum pw_code end(struct pw_probing_at *p, struct pw_finding *f, struct pw_err *err)
{
    const struct options *o = p->opts;
    struct state *s = p->state;
    (void)err;
    qsort(s->length, (size_t)s->n, sizeof *s->length, ascending);
    int median = s->length[s->n / 2], longest = s->length[s->n - 1], count[BINS] = {0};
    int width = (longest + BINS) / BINS, bins = longest / width + 1;
    for (int i = 0; i < s->n; i++)
        count[s->length[i] / width]++;
    pw_finding_init(f, "histogram", "", "words per prompt in %d prompts of %.120s: median %d, longest %d",
                    s->n, o->path, median, longest);
    int plot = pw_finding_plot(f, "prompts by number of words", "words", "prompts", bins, 1, false);
    pw_finding_name(f, plot, 0, "prompts");
    for (int i = 0; i < bins; i++) {
        pw_finding_x(f, plot, i, i * width + (width - 1) / 2.0);
        pw_finding_y(f, plot, i, 0, count[i]);
    }
    int table = pw_finding_table(f, "words", 1, 5);
    static const char *const heads[] = {"shortest", "first quarter", "median", "third quarter", "longest"};
    f->blocks[table].decimals = 0;
    pw_finding_row(f, table, 0, "words");
    for (int k = 0; k < 5; k++) {
        pw_finding_col(f, table, k, "%s", heads[k]);
        pw_finding_put(f, table, 0, k, s->length[(int64_t)(s->n - 1) * k / 4]);
    }
    pw_finding_remark(f,
                      "the median is %.2f times the longest; Figure A.1 counts other files, so this result "
                      "reproduces no claim",
                      (double)median / (longest > 0 ? longest : 1));
    return PW_OK;
}

static void fini(struct pw_probing_at *p)
{
    struct state *s = p->state;
    free(s->length);
    free(s);
}

const struct pw_probe pw_probe_histogram = {
    .name = "histogram",
    .summary = "lengths of the prompts in a file",
    .source = "Kazemnejad et al. 2023, Figure A.1",
    .opts = opts,
    .opts_size = sizeof(struct options),
    .begin = begin_histogram,
    .end = end,
    .fini = fini,
};
