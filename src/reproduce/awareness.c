/* awareness.c - which encodings are forward- or backward-aware (Qiu et al. 2021, section 3, appendices A-E).
 */
#include "reproduce/repro.h"

const struct pw_repro pw_repro_awareness = {
    .name = "awareness",
    .document = "Qiu et al. 2021, Properties 3.1, 3.2, Theorem 3.4, Corollaries 3.5, 3.6",
    .summary = "which encodings represent the position from the front or from the end",
    .lines = "probe awareness\n",
    .finding = "awareness",
};
