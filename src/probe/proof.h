/* proof.h - code that the probes of both theorems share (Kazemnejad et al. 2023, appendix C). It checks that
 * an arm is still the proof's construction, and chooses the sequence to measure.
 *
 * The sequence starts with the pinned prompt if that begins with <bos> and has no other <bos>; otherwise with
 * <bos> alone. Random tokens follow. Lab thread. */
#ifndef PW_PROOF_H
#define PW_PROOF_H
#include "probe/probe.h"

/* An option of both probes. Attention maps take the square of it in memory. */
#define PW_PROOF_POSITIONS      "positions"
#define PW_PROOF_POSITIONS_HELP "tokens to inspect; 0: 4 T, or 2 T beyond 512, limited by the context"
#define PW_PROOF_MOST           4096

/* The sequence to measure, and whether the arm is still the construction. */
struct pw_proof {
    const struct pw_config *cfg;
    int T;        /* positions that the MLP can count */
    int N;        /* tokens of the sequence */
    int *tokens;  /* [N] */
    int prompt;   /* number of leading tokens that come from the pinned prompt */
    bool refused; /* there is a pinned prompt, but <bos> isn't exactly its first word */
    bool moved;   /* the arm is no longer the construction */
    char why[96]; /* the reason for `moved` */
};

/* positions: length of the sequence; 0: a default that fits into the context. Fails if the arm isn't a
 * construction of this theorem (one of theorem 2 also serves theorem 1), or if positions exceed the context.
 * Call pw_proof_fini after success. */
enum pw_code pw_proof_init(struct pw_proof *s, const struct pw_probing_at *p, int theorem, int positions,
                           struct pw_err *err);
void pw_proof_fini(struct pw_proof *s);

/* Chooses positions (from 1) for a plot of up to n positions: all of the first ones, then ever fewer, always
 * with T and n. at: room for PW_PROOF_POINTS. Returns their number. */
enum { PW_PROOF_POINTS = 512 };
int pw_proof_points(int *at, int n, int T);

/* The verdict of a claim about the proof. If it doesn't hold: contradicted on a backend of class portable,
 * inconclusive on one of class machine. */
enum pw_claim_verdict pw_proof_verdict(const struct pw_probing_at *p, bool holds);
/* Names row t - 1 of block b after position t (from 1) and its token: "3 ' 4'". */
void pw_proof_row(const struct pw_proof *s, const struct pw_probing_at *p, struct pw_finding *f, int b,
                  int t);
/* Adds the remarks that both probes make: on the sequence, and on an arm that is no longer the
 * construction. */
void pw_proof_remarks(const struct pw_proof *s, const struct pw_probing_at *p, struct pw_finding *f);

#endif
