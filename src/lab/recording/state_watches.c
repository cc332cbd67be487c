/* state_watches.c - the watches in a lab's state: a list that exists only if there are watches. So states
 * without watches stay the same as before watches existed. */
#include <cjson/cJSON.h>

#include "lab/jobs/watch.h"
#include "lab/recording/state_int.h"

#define OF(member) offsetof(struct pw_watch, member)

static const struct pw_opt fields[] = {
    {.name = "line", .type = PW_OPT_TEXT, .offset = OF(line), .size = sizeof((struct pw_watch *)0)->line},
    {.name = "every", .type = PW_OPT_INT, .offset = OF(every), .min = 1, .max = PW_MOST_EVERY},
    {.name = "arm", .type = PW_OPT_INT, .offset = OF(arm), .min = 0, .max = PW_MAX_ARMS},
    {.name = "replica", .type = PW_OPT_INT, .offset = OF(replica), .def = "1", .max = PW_MAX_REPLICAS},
    {.name = NULL}};

bool pw_state_save_watches(const struct pw_lab *lab, cJSON *root)
{
    cJSON *list = lab->n_watches > 0 ? cJSON_AddArrayToObject(root, "watches") : NULL;
    bool ok = lab->n_watches == 0 || list != NULL;
    for (int i = 0; ok && i < lab->n_watches; i++) {
        cJSON *object = cJSON_CreateObject();
        ok = cJSON_AddItemToArray(list, object) && pw_state_put(object, fields, &lab->watches[i]);
    }
    return ok;
}

enum pw_code pw_state_restore_watches(struct pw_lab *lab, const struct pw_commands *commands,
                                      const cJSON *list, struct pw_err *err)
{
    const cJSON *object;
    enum pw_code code = PW_OK;
    if (list == NULL)
        return PW_OK;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > PW_MAX_WATCHES)
        return pw_fail(err, PW_EUSER, "state: watches: not a list of at most %d", PW_MAX_WATCHES);
    cJSON_ArrayForEach(object, list)
    {
        struct pw_watch *w = &lab->watches[lab->n_watches++];
        struct pw_args args = {0};
        if (code == PW_OK)
            code = pw_state_get(object, fields, w, 0, "state: watches", err);
        if (code != PW_OK)
            break;
        struct pw_err why;
        if (pw_watch_read(w, commands, &args, &why) != PW_OK)
            code = pw_fail(err, PW_EUSER, "state: watches: %.200s", why.msg);
        pw_args_fini(&args);
    }
    return code;
}
