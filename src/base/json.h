/* json.h - helpers that build JSON objects with cJSON and write one object per line. Exports and headless
 * mode use them.
 *
 * An array that is NULL is left out. A number that is not finite becomes null. Objects belong to the caller
 * until pw_json_line frees them. Any thread, but one thread at a time per object. */
#ifndef PW_JSON_H
#define PW_JSON_H
#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>

/* Add a member `key` to o: a number, a string, or an array of n numbers. */
void pw_json_num(cJSON *o, const char *key, double x);
void pw_json_str(cJSON *o, const char *key, const char *s);
void pw_json_ints(cJSON *o, const char *key, const int *x, int n);
void pw_json_counts(cJSON *o, const char *key, const int64_t *x, int n);
void pw_json_floats(cJSON *o, const char *key, const float *x, int n);
void pw_json_matrix(cJSON *o, const char *key, const float *x, int rows, int cols); /* a list of rows */
/* Append a new object to a list and return it; the list owns it. */
cJSON *pw_json_add(cJSON *list);
/* Write o as one line with a newline to f, and free o. */
void pw_json_line(FILE *f, cJSON *o);

#endif
