/* layernorm.c - the proof of Theorem 1 with the layer normalisation of Eq. 3 (Kazemnejad et al. 2023, C.1).
 */
#include "reproduce/repro.h"

const struct pw_repro pw_repro_layernorm = {
    .name = "layernorm",
    .document = "Kazemnejad et al. 2023, Eq. 3, C.1",
    .summary = "theorem 1 with layer normalisation, which two large dimensions bypass",
    .lines = "probe layernorm\n",
    .finding = "layernorm",
};
