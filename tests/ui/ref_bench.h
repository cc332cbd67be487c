/* ref_bench.h - the workbench on a fabricated lab (ref_screen.h), with a folder of its own for its files. */
#ifndef REF_BENCH_H
#define REF_BENCH_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ref_screen.h"
#include "ui/app.h"

struct bench {
    struct pw_snapshot *s;
    struct pw_app app;
    struct pw_canvas c;
    struct pw_err err;
    char folder[64];
};

void bench_draw(struct bench *b);
/* For cmocka's setup and teardown. */
int bench_setup(void **state);
int bench_teardown(void **state);
/* Runs a line, which must be accepted. */
void bench_run(struct bench *b, const char *line);
/* Runs a line, which must be refused with a message that contains `why`, and change nothing. */
void bench_refused(struct bench *b, const char *line, const char *why);
/* Checks whether this text is on the screen. */
void bench_shows(struct bench *b, const char *what, bool shown);
/* Checks the lines that `config save` would write. */
void bench_config_is(struct bench *b, const char *lines);
/* The path of a file in its folder; valid until the next call. */
char *bench_path_of(struct bench *b, const char *name);
void bench_file_is(const char *path, const char *want);
void bench_write_file(const char *path, const char *text);

#endif
