/* findings_state.h - the state that the findings pane keeps between two frames. */
#ifndef PW_FINDINGS_STATE_H
#define PW_FINDINGS_STATE_H
#include "base/finding.h"

struct pw_finding_view;

struct pw_findings_state {
    char name[PW_FINDING_NAME], topic[PW_FINDING_TOPIC]; /* of the selected finding; "": the newest */
    char shown[PW_FINDING_NAME + PW_FINDING_TOPIC];      /* name and topic that page and cursor belong to */
    int page;         /* index of a block; after the last block comes the page of claims */
    int down, across; /* cursor: row and column of a table or map, curve and point of a plot */
    const struct pw_finding_view
        *watched; /* [n_watched] of a study (ui/watching.h), before the others; borrowed */
    int n_watched;
    int held; /* 1 + the first row shown, after the pointer set the cursor; 0: a key set it */
};
#endif
