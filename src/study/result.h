/* result.h - the result of a cell: counts by length, as its run printed them, and the digest of its weights.
 *
 * Any thread. */
#ifndef PW_STUDY_RESULT_H
#define PW_STUDY_RESULT_H
#include "study/study.h"

#define PW_RESULT_LENGTHS 256

/* One evaluated length. Counts are of samples; early, late and wrong are the kinds of errors: the answer
 * ended too early, too late, or has a wrong token. loss: nats per token, of running text; else NaN. */
struct pw_result_row {
    int length;
    bool trained; /* within the trained lengths */
    int64_t samples, exact, early, late, wrong;
    double loss;
};

struct pw_result {
    char id[PW_STUDY_ID];
    char digest[33]; /* of the weights */
    int64_t steps;
    double operations; /* of its training, forward and backward (src/model/flops.c); 0: not recorded */
    double seconds;    /* wall time, over all its processes */
    int n;
    struct pw_result_row *rows; /* [n], ascending lengths; belongs to the result */
};
void pw_result_fini(struct pw_result *r);

/* Take one line of the JSON that a headless run prints: steps, evaluations, digests and tasks change *r and
 * the trained range; other lines are ignored. */
struct pw_result_reader {
    struct pw_result *r;
    int trained_min, trained_max;
};
void pw_result_line(struct pw_result_reader *reader, const char *line);

/* Read a number of a line with a step; false: it is another line, and *value stays as it is. */
bool pw_result_step(const char *line, const char *member, double *value);

/* Write and read cells/ID.json. Reading fails with PW_EUSER for a file that is not a result of this cell. */
enum pw_code pw_result_write(const char *folder, const struct pw_result *r, struct pw_err *err);
enum pw_code pw_result_read(struct pw_result *r, const char *folder, const char *id, struct pw_err *err);

/* Exact match over the trained lengths, or beyond them; of running text minus the loss, so that more is
 * better. NaN: no such length was evaluated. */
double pw_result_mean(const struct pw_result *r, bool trained);
/* Is it the loss of running text? */
bool pw_result_is_loss(const struct pw_result *r);

#endif
