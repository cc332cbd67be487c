/* proof.h - what the probes of the two theorems share (Kazemnejad et al. 2023, appendix C): is the arm still
 * the proof's construction, and the sequence that is looked at.
 *
 * The sequence is the pinned prompt, where there is one that begins with <bos> and has no other, and behind
 * it tokens at random; without a prompt <bos> and tokens at random. Lab thread. */
#ifndef PW_PROOF_H
#define PW_PROOF_H
#include "probe/probe.h"

/* The option of both: the square of it is what attention takes. */
#define PW_PROOF_POSITIONS      "positions"
#define PW_PROOF_POSITIONS_HELP "tokens to look at; 0: 4 T, or 2 T beyond 512, as far as the context goes"
#define PW_PROOF_MOST           4096

struct pw_proof {
    const struct pw_config *cfg;
    int T;        /* positions that the MLP counts */
    int N;        /* tokens that are looked at */
    int *tokens;  /* [N] */
    int prompt;   /* of them the pinned prompt's */
    bool refused; /* there is a prompt, but its <bos> isn't its first word alone */
    bool moved;   /* it is no longer the construction, */
    char why[96]; /* because */
};

/* positions: 0 for as many as are worth a look and fit. Fails where the arm isn't such a construction. */
enum pw_code pw_proof_init(struct pw_proof *s, const struct pw_probing_at *p, int theorem, int positions,
                           struct pw_err *err);
void pw_proof_fini(struct pw_proof *s);

/* Positions (from 1) for a plot of up to n: all of the first ones, then ever fewer, with T and n. Returns how
 * many; at: PW_PROOF_POINTS. */
enum { PW_PROOF_POINTS = 512 };
int pw_proof_points(int *at, int n, int T);

/* How a claim ends whose numbers hold or don't: arithmetic of class machine contradicts no proof. */
enum pw_claim_verdict pw_proof_verdict(const struct pw_probing_at *p, bool holds);
/* Names row `row` of a block after position t: "3 ' 4'". */
void pw_proof_row(const struct pw_proof *s, const struct pw_probing_at *p, struct pw_finding *f, int b,
                  int t);
/* What both have to say of the sequence and of an arm that has moved. */
void pw_proof_remarks(const struct pw_proof *s, const struct pw_probing_at *p, struct pw_finding *f);

#endif
