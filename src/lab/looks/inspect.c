/* inspect.c - choose what is inspected: replica, layer, head and view. */
#include "lab/arms/arms.h"
#include "lab/core/lab_int.h"
#include "lab/looks/looks.h"

/* Choose the replica of the current arm that answers prompts and is inspected. Emits the arm; the caller
 * refreshes the rest. The replica must exist. */
static void choose_replica(struct pw_lab *lab, int replica)
{
    lab->replica = replica;
    pw_lab_emit_arm(lab, pw_lab_current(lab), false);
}

/* Write the views that apply, in the order in which the user steps through them. The gate needs an encoding
 * with terms or votes, and the four terms need a position part in the stream. Returns their number. */
static int list_views(int *views, const struct pw_replica *arm, int layer)
{
    unsigned uses = arm->pe.pe->uses;
    int n = 0;
    for (int view = PW_VIEW_PROBS; view < PW_VIEW_CC; view++)
        views[n++] = view;
    if (uses & PW_PE_GATES)
        views[n++] = PW_VIEW_GATE;
    for (int view = PW_VIEW_CC; view <= PW_VIEW_PP && (layer > 0 || uses & PW_PE_ADDED); view++)
        views[n++] = view;
    return n;
}

/* Move from the present view. A view that does not apply is left for the first. */
static int move_view(struct pw_move m, int now, const struct pw_replica *arm, int layer)
{
    int views[PW_VIEWS], n = list_views(views, arm, layer), at = 0;
    if (!m.by)
        return m.n;
    while (at < n && views[at] != now)
        at++;
    return at < n ? views[pw_move_round(m, at, n)] : views[0];
}

static bool moves(struct pw_move m)
{
    return m.n != 0 || !m.by;
}

enum pw_code pw_lab_choose_view(struct pw_lab *lab, struct pw_move replica, struct pw_move layer,
                                struct pw_move head, struct pw_move view, struct pw_err *err)
{
    const struct pw_replica *arm = pw_lab_current(lab);
    struct pw_pin *pin = &lab->pin;
    int R = pw_lab_n_replicas(lab, lab->current), before = lab->replica;
    int r = replica.by ? pw_move_round(replica, before - 1, R) + 1 : replica.n;
    int L = arm->cfg.layers, H = arm->cfg.heads;
    int l = pw_move_round(layer, pin->layer < L ? pin->layer : L - 1, L);
    int h = pw_move_round(head, pin->head < H ? pin->head : H - 1, H);
    enum pw_code code = pw_lab_need_replica(lab, arm, "inspect", r, err);
    if (code != PW_OK)
        return code;
    if (l >= L)
        return pw_fail(err, PW_EUSER, "inspect: layer=%d: arm %d has layers 0..%d", l, arm->id, L - 1);
    if (h >= H)
        return pw_fail(err, PW_EUSER, "inspect: head=%d: arm %d has heads 0..%d", h, arm->id, H - 1);
    bool alone = moves(replica) && !moves(layer) && !moves(head) && !moves(view);
    if (pin->id == 0 && !alone)
        return pw_lab_want_prompt(lab, "inspect: there is no attention yet; run 'prompt TEXT' first", err);
    if (r != before)
        choose_replica(lab, r);
    arm = pw_lab_inspected(lab);
    bool answers = pin->id != 0 && pw_pin_fits(pin, arm); /* else show as many tokens as fit */
    /* A viewer who goes on through the replicas does not wait for each answer; its end emits the attention.
     */
    bool later = answers && lab->cfg.live && moves(replica) && !pw_lab_answered(lab);
    if (later)
        code = pw_lab_answer_again(lab, err);
    else if (answers && (r != before || lab->follow == NULL || lab->rerun.known))
        code = pw_lab_need_answer(lab, "inspect", err);
    if (code != PW_OK && r != before)
        choose_replica(lab, before);
    if (code != PW_OK)
        return code;
    if (moves(view)) /* a view that does not apply is kept unless the user moves on from it */
        pin->view = move_view(view, pin->view, arm, l);
    if (moves(layer))
        pin->layer = l;
    if (moves(head))
        pin->head = h;
    if (pin->id != 0 && !later)
        code = pw_lab_emit_attention(lab, arm, true, NULL, err);
    if (r != before && lab->cfg.live)
        pw_lab_refresh_tables(lab, true, 0);
    return code;
}
