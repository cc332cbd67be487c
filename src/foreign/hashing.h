/* hashing.h - the digest of a model's files, by a thread of its own while another reads the weights: both
 * take about as long. */
#ifndef PW_HASHING_H
#define PW_HASHING_H
#include "foreign/weights.h"

struct pw_hashing;

/* The digest of pw_weights_sha. */
struct pw_digest {
    char sha[65];
    struct pw_source_file *files; /* [n]; has room for PW_SOURCE_FILES */
    int n;
};

/* Begins to hash the files of w, which must stay open until pw_hashing_close. If there can't be another
 * thread, pw_hashing_end does the work. */
struct pw_hashing *pw_hashing_begin(const struct pw_weights *w);
/* Waits for the digest, reports the progress (base/progress.h), and hands *out to the caller, who frees its
 * files. Once. Fails as pw_weights_sha does, or with PW_ECANCEL if the calling thread is to give up; *out is
 * empty then. */
enum pw_code pw_hashing_end(struct pw_hashing *h, struct pw_digest *out, struct pw_err *err);
void pw_hashing_close(struct pw_hashing *h); /* gives up unfinished work; NULL is a no-op */

#endif
