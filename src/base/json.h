/* json.h - records as JSON objects: what exports and headless mode write, an object a line. Arrays that are
 * NULL are left out; numbers that are not finite are null. */
#ifndef PW_JSON_H
#define PW_JSON_H
#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>

void pw_json_num(cJSON *o, const char *key, double x);
void pw_json_str(cJSON *o, const char *key, const char *s);
void pw_json_ints(cJSON *o, const char *key, const int *x, int n);
void pw_json_counts(cJSON *o, const char *key, const int64_t *x, int n);
void pw_json_floats(cJSON *o, const char *key, const float *x, int n);
void pw_json_matrix(cJSON *o, const char *key, const float *x, int rows, int cols); /* a list a row */
/* A new object at the end of a list. */
cJSON *pw_json_add(cJSON *list);
/* Writes o and a newline; frees o. */
void pw_json_line(FILE *f, cJSON *o);

#endif
