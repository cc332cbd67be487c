/* classes.c - classes of tokens that live until the process ends, so that a configuration stays a plain value
 * that can be copied. A task has few vocabularies, and equal classes are kept once. */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "model/config.h"

const char *const pw_class_names[] = {"word", "digit", "separator", "symbol", "last", NULL};

struct kept {
    struct kept *next;
    int n;
    unsigned char classes[];
};

static struct kept *all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

const unsigned char *pw_classes_keep(const unsigned char *classes, int n)
{
    struct kept *k;
    pthread_mutex_lock(&all_lock);
    for (k = all; k != NULL; k = k->next)
        if (k->n == n && memcmp(k->classes, classes, (size_t)n) == 0)
            break;
    if (k == NULL) {
        k = pw_alloc(1, sizeof *k + (size_t)n);
        k->n = n;
        memcpy(k->classes, classes, (size_t)n);
        k->next = all;
        all = k;
    }
    pthread_mutex_unlock(&all_lock);
    return k->classes;
}
