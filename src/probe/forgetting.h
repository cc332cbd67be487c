/* forgetting.h - the share of a token that an encoding with forgetting keeps at later queries, by distance.
 * An encoding with terms keeps exp(term of the query - term of the key) of a token's weight (fox). One whose
 * walk scales keeps of each channel the product of the gates between (wall); its share is the mean over a
 * head's channels. Other encodings don't forget. Thread: the lab thread. */
#ifndef PW_FORGETTING_H
#define PW_FORGETTING_H
#include "base/finding.h"
#include "model/model.h"

enum { PW_FORGETTING_ARM, PW_FORGETTING_UNTRAINED, PW_FORGETTING_SIDES };

/* Queries reach+1..T-1 count, at the distances 0..reach. */
struct pw_forgetting {
    int T, reach, layers, heads, width; /* heads of a layer, channels of a head */
    struct pw_inspection read;          /* terms or walk, or neither */
    double *share[PW_FORGETTING_SIDES]; /* [layers,heads,reach + 1] */
};

/* Owns its arrays; pw_forgetting_fini frees them. Without forgetting there are none. */
void pw_forgetting_init(struct pw_forgetting *k, const struct pw_model *m, int T, int reach);
void pw_forgetting_fini(struct pw_forgetting *k);
/* Adds the queries of one sequence, each with this weight, after pw_model_inspect has filled k->read. */
void pw_forgetting_add(struct pw_forgetting *k, int side, double weight);
/* Adds a plot for each layer: each head, and the mean untrained head. Then a remark. */
void pw_forgetting_report(const struct pw_forgetting *k, struct pw_finding *f, const char *encoding);

#endif
