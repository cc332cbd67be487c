/* loop.h - parts of the lab's loop: requests, lines, work, and the files that commands read. Lab thread. */
#ifndef PW_LOOP_H
#define PW_LOOP_H
#include "lab/core/lab_int.h"

/* ---- fresh.c */
/* Begin or end the request at the front of the typed lines. Returns false if there is none, or if an answer
 * must be decoded first. */
bool pw_lab_serve_request(struct pw_lab *lab);

/* ---- lines.c */
/* Take the next waiting line, unless a line is being served. Returns false if no line waits, or if a request
 * is next. */
bool pw_lab_ask(struct pw_lab *lab, bool script);
/* Run the line that was taken, once it is recorded. A script's lines were split into commands when they were
 * queued. */
bool pw_lab_serve_line(struct pw_lab *lab);
/* Run one command; arg is the lab. A failure is emitted. */
enum pw_code pw_lab_run_typed(void *arg, const char *text, int line);
/* Write every arm's progress into the event of a command. */
void pw_lab_stand(const struct pw_lab *lab, struct pw_event *e);
/* Run one command as it was recorded; a failure is emitted. */
void pw_lab_run(struct pw_lab *lab, const char *text);

/* For the log when a session ends: name the waiting lines, which will not run. */
void pw_lab_emit_waiting(struct pw_lab *lab);
/* Put the rest of a re-run script in front of the waiting script, or drop it. Takes ownership of first's
 * lines. */
void pw_lab_resume_script(struct pw_lab *lab, struct pw_lines *first, bool resume);

/* ---- work.c */
/* an answer is being decoded or a job is running, live evaluation included */
bool pw_lab_busy(const struct pw_lab *lab);
/* Run the next slice of the job or answer. Returns false if there is none. */
bool pw_lab_slice(struct pw_lab *lab);
/* Like pw_lab_slice, else a step of training. Returns false if there is nothing to do or training is
 * paused. */
bool pw_lab_work(struct pw_lab *lab);
/* Like pw_lab_work, but an answer that is being decoded is not continued. */
bool pw_lab_work_beside(struct pw_lab *lab);
bool pw_lab_quits(struct pw_lab *lab); /* the owner is closing the lab */

/* ---- files.c: while on, whole files that this thread reads are recorded, or are taken from the session that
 * is re-run */
void pw_lab_watch_files(struct pw_lab *lab, bool on);
/* Folders of the session, as struct pw_file_watch has them. */
const char *const *pw_lab_file_folders(const struct pw_lab *lab);

#endif
