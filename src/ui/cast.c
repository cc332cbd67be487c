/* cast.c - see cast.h. The first line is JSON with the size and the time at which the session began. Each
 * further line is a frame, [seconds,"o",bytes for the terminal]:
 * https://docs.asciinema.org/manual/asciicast/v2/
 *
 * Frames are the moments of the session as `play` shows them, drawn by the same panes. A frame sends only the
 * changed cells. Recorded text reaches the terminal only as glyphs of cells, never as control characters. */
#include "ui/cast.h"

#include "base/file.h"
#include "base/json.h"

#define FRAME_NS INT64_C(33333334)   /* 30 frames per second */
#define PAUSE_NS INT64_C(2000000000) /* maximum pause in the film; the rest of a longer pause is cut */
#define MOST     18000               /* frames: ten minutes of film, and about half a minute to compute */

const struct pw_opt pw_cast_opts[] = {
    {.name = "speed",
     .type = PW_OPT_DOUBLE,
     .offset = offsetof(struct pw_cast_options, speed),
     .def = "1",
     .min = 0.1,
     .max = PW_SPEED_MAX,
     .help = "times as fast as it happened; pauses are cut to 2 seconds"},
    {.name = "width",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_cast_options, width),
     .def = "screen",
     .min = 20,
     .max = 500,
     .choices = (const char *const[]){"screen", NULL},
     .help = "columns; without a screen 100"},
    {.name = "height",
     .type = PW_OPT_INT,
     .offset = offsetof(struct pw_cast_options, height),
     .def = "screen",
     .min = 6,
     .max = 200,
     .choices = (const char *const[]){"screen", NULL},
     .help = "rows; without a screen 30"},
    {.name = "from",
     .type = PW_OPT_COUNT,
     .offset = offsetof(struct pw_cast_options, from),
     .def = "-1",
     .min = -1,
     .max = 1e15,
     .help = "the step to begin with; -1: the beginning"},
    {.name = "to",
     .type = PW_OPT_COUNT,
     .offset = offsetof(struct pw_cast_options, to),
     .def = "-1",
     .min = -1,
     .max = 1e15,
     .help = "the step to end with; -1: the end"},
    {.name = NULL},
};

/* ---- selects the moments */

struct film {
    struct pw_player *p;
    uint64_t first, last, seq; /* events: the first, the last and the current one */
    double speed;
    int64_t at_ns, played_ns; /* time of the film, and of the session (CLOCK_REALTIME) */
};

static void rewind_film(struct film *f)
{
    f->seq = f->first;
    f->at_ns = 0;
    f->played_ns = pw_player_time(f->p, f->first);
}

/* Moves to the next frame, at the next event but not before the frame interval has passed. */
static bool go_on(struct film *f)
{
    if (f->seq >= f->last)
        return false;
    int64_t next = pw_player_time(f->p, f->seq + 1);
    double wait = (double)(next - f->played_ns) / f->speed;
    if (wait > (double)PAUSE_NS) {
        f->at_ns += PAUSE_NS;
        f->played_ns = next;
    } else {
        int64_t ns = wait > (double)FRAME_NS ? (int64_t)wait : FRAME_NS;
        f->at_ns += ns;
        f->played_ns = wait > (double)FRAME_NS ? next : f->played_ns + (int64_t)((double)ns * f->speed);
    }
    uint64_t seq = pw_player_by_time(f->p, f->played_ns);
    f->seq = seq > f->seq ? seq : f->seq + 1;
    f->seq = f->seq < f->last ? f->seq : f->last;
    return true;
}

static enum pw_code find_step(struct pw_player *p, const char *what, int64_t step, uint64_t *seq,
                              struct pw_err *err)
{
    if (step >= 0)
        *seq = pw_player_step(p, 0, step);
    if (*seq == 0)
        return pw_fail(err, PW_EUSER, "export cast: %s=%lld: the recording has no such step", what,
                       (long long)step);
    return PW_OK;
}

static enum pw_code plan(struct film *f, const struct pw_cast_options *o, struct pw_err *err)
{
    int n = 1;
    if (pw_player_last(f->p) == 0)
        return pw_fail(err, PW_EUSER, "export cast: the recording is empty");
    f->first = pw_player_seek(f->p, 0, 1, PW_EV_KINDS, "");
    f->last = pw_player_last(f->p);
    enum pw_code code = find_step(f->p, "from", o->from, &f->first, err);
    if (code == PW_OK)
        code = find_step(f->p, "to", o->to, &f->last, err);
    if (code != PW_OK)
        return code;
    if (f->first > f->last)
        return pw_fail(err, PW_EUSER, "export cast: from=%lld is after to=%lld", (long long)o->from,
                       (long long)o->to);
    for (rewind_film(f); go_on(f);)
        n++;
    if (n > MOST) {
        char takes[32];
        pw_text_duration(takes, sizeof takes, (double)f->at_ns * 1e-9);
        return pw_fail(
            err, PW_EUSER,
            "export cast: %s at speed=%g is %d frames, at most %d: a higher speed=, or from= and to=", takes,
            f->speed, n, MOST);
    }
    rewind_film(f);
    return PW_OK;
}

/* ---- the file */

static void put_header(FILE *f, const struct pw_canvas *c, const struct pw_snapshot *s)
{
    cJSON *o = cJSON_CreateObject();
    struct pw_str title = {0};
    pw_str_add(&title, "pewter: ");
    pw_time_name(&title, s->session.name);
    pw_json_num(o, "version", 2);
    pw_json_num(o, "width", c->cols);
    pw_json_num(o, "height", c->rows);
    pw_json_num(o, "timestamp", (double)(s->began_ns / 1000000000));
    pw_json_str(o, "title", title.s);
    pw_json_line(f, o);
    pw_str_fini(&title);
}

static void put_frame(FILE *f, int64_t at_ns, const char *sent)
{
    cJSON *a = cJSON_CreateArray();
    cJSON_AddItemToArray(a, cJSON_CreateNumber((double)(at_ns / 1000000) / 1000.0));
    cJSON_AddItemToArray(a, cJSON_CreateString("o"));
    cJSON_AddItemToArray(a, cJSON_CreateString(sent));
    pw_json_line(f, a);
}

static void put_frames(FILE *f, struct pw_ui *ui, struct film *film, struct pw_canvas *now,
                       struct pw_canvas *before)
{
    struct pw_str sent = {0};
    pw_str_add(&sent, "\033[?25l\033[0m\033[2J"); /* a blank screen, like `before` */
    pw_canvas_clear(before);
    do {
        struct pw_canvas other = *before;
        pw_time_to_event(ui, film->seq);
        pw_ui_frame(ui, now);
        pw_canvas_changes(before, now, &sent);
        if (sent.len > 0)
            put_frame(f, film->at_ns, sent.s);
        pw_str_clear(&sent);
        *before = *now;
        *now = other;
    } while (go_on(film));
    put_frame(f, film->at_ns, "\033[?25h");
    pw_str_fini(&sent);
}

enum pw_code pw_cast_write(const char *path, struct pw_ui *ui, struct pw_player *p,
                           const struct pw_cast_options *o, struct pw_err *err)
{
    struct film film = {.p = p, .speed = o->speed};
    struct pw_canvas now, before;
    struct pw_file *f;
    enum pw_code code = plan(&film, o, err);
    if (code == PW_OK)
        code = pw_file_create(&f, path, err);
    if (code != PW_OK)
        return code;
    pw_canvas_init(&now);
    pw_canvas_init(&before);
    pw_canvas_resize(&now, o->height, o->width);
    pw_canvas_resize(&before, o->height, o->width);
    ui->transport = (struct pw_transport){.player = p, .alone = true, .speed = 1};
    ui->time = -1;
    ui->no_machine = true; /* the film is the same on every machine */
    pw_time_to_event(ui, film.first);
    put_header(pw_file_stream(f), &now, ui->snap);
    put_frames(pw_file_stream(f), ui, &film, &now, &before);
    pw_canvas_fini(&now);
    pw_canvas_fini(&before);
    return pw_file_commit(f, err);
}
