/* literals.h - private to src/foreign: the texts of numbers in a config.json. */
#ifndef PW_LITERALS_H
#define PW_LITERALS_H
#include <cjson/cJSON.h>

/* Notes in each number of root, which was parsed from text (NUL-terminated), how it was written if it has a
 * point or an exponent. Its value and its type stay. */
void pw_literals_mark(cJSON *root, const char *text);
/* Makes cJSON_Print write these texts, and 3.0 for a whole number with one of the keys (NULL-terminated).
 * Such numbers can't be read from root afterwards. */
void pw_literals_print(cJSON *root, const char *const *keys);

#endif
