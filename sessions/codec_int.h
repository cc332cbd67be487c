/* codec_int.h - what codec.c goes by: which members of an event are fields, told once for writing and
 * reading.
 */
#ifndef PW_CODEC_INT_H
#define PW_CODEC_INT_H
#include "sessions/codec.h"

enum pw_field_type {
    PW_F_BOOL, /* these three as a varint, signs folded */
    PW_F_INT,  /* and enumerations */
    PW_F_LONG,
    PW_F_BITS,   /* uint64_t, 8 bytes: numbers that are mostly large */
    PW_F_FLOAT,  /* 4 bytes */
    PW_F_DOUBLE, /* 8 */
    PW_F_HALF,   /* uint16_t, 2 bytes; like the next in lists alone */
    PW_F_BYTE,
    PW_F_TEXT,   /* char[size] */
    PW_F_STRING, /* char *, a text of any length */
    PW_F_STRUCT
};

enum pw_field_form {
    PW_FORM_ONE,     /* left out where it is 0 or empty */
    PW_FORM_LIST,    /* so many entries within the struct; zeros at its end are left out */
    PW_FORM_COUNTED, /* the same, but members say how many of them are in use */
    PW_FORM_ARRAY    /* a pointer to as many entries as members say */
};

struct pw_factor {
    size_t member; /* offset of an int plus 1; 0: none */
    int add;
};

struct pw_message;

struct pw_field {
    int number; /* on disk: never changed, never used again, ascending in a table */
    const char *name;
    enum pw_field_type type;
    enum pw_field_form form;
    size_t at, size;        /* offset; bytes of an entry */
    int most;               /* LIST and COUNTED: entries that there is room for */
    bool needed;            /* ARRAY: consumers rely on it where its count is not 0; else it may be NULL */
    struct pw_factor by[4]; /* the count: a product, up to {0, 0} */
    int (*count)(const void *); /* or this, of the struct; members that it reads have lower numbers */
    int64_t lo, hi;             /* of BOOL, INT, LONG and BYTE, each entry's */
    const struct pw_message *of;
    const char *host; /* why the value depended on the machine in edition 0, where it isn't compared; NULL: it
                         didn't */
};

/* Which fields a recording's writer had. 0: the tables of pewter 0.1, before they had a number. A new field
 * of any message begins a new edition: raise this, and tell in `upto` where its message ended until then. */
#define PW_EDITION       4
#define PW_EDITION_FIELD 1000 /* of every payload: its edition, where that isn't 0 */

struct pw_message {
    const char *name; /* of a kind, like the next but two */
    const struct pw_field *fields;
    int n;
    size_t at; /* where in struct pw_event */
    /* What no single field can say: NULL where all is well, else what is wrong. NULL: nothing to check. */
    const char *(*check)(const void *);
    const char *place;    /* the name of the member by which structs of this kind are told apart */
    int upto[PW_EDITION]; /* the last number that edition i had, where it didn't have all; 0: it had */
};

extern const struct pw_message pw_messages[PW_EV_KINDS];

/* ---- codec.c */
/* How many entries the members of base say that a list has; SIZE_MAX: more than can be, or less than none. */
size_t pw_field_count(const struct pw_field *f, const char *base);
const char *pw_field_name(const struct pw_field *f); /* of the member, without what it is in */

/* ---- codec_finding.c: the table of struct pw_finding */
#define PW_FINDING_FIELDS 13
extern const struct pw_field pw_finding_fields[PW_FINDING_FIELDS];

/* ---- codec_checks.c: NULL, or what is wrong with such a struct */
const char *pw_check_row(const void *row);
const char *pw_check_pair(const void *pair);
const char *pw_check_eval(const void *eval);
const char *pw_check_prompt(const void *prompt);
const char *pw_check_look(const void *look);
const char *pw_check_attention(const void *attention);
const char *pw_check_table(const void *table);
const char *pw_check_finding(const void *finding);
int pw_gradients(const void *table); /* entries of its grad; -1: too many */

#define PW_MANY        (INT64_C(1) << 53) /* steps and bytes: a few of them can be added, and doubles hold them */
#define PW_EVENT_BYTES ((size_t)64 << 20) /* that the arrays of an event may take */

/* ---- codec_bits.c */
int pw_field_bytes(enum pw_field_type type); /* of an entry on disk; 0: that varies */
/* BOOL, INT and LONG; the other types up to BYTE. p needn't be aligned. */
int64_t pw_load_number(enum pw_field_type type, const void *p);
void pw_store_number(enum pw_field_type type, void *p, int64_t v);
uint64_t pw_load_bits(enum pw_field_type type, const void *p);
void pw_store_bits(enum pw_field_type type, void *p, uint64_t bits);
uint64_t pw_float_bits(float x);
uint64_t pw_double_bits(double x);
float pw_bits_float(uint64_t bits);
double pw_bits_double(uint64_t bits);

uint64_t pw_folded(int64_t v); /* 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
int64_t pw_unfolded(uint64_t u);
void pw_put_varint(struct pw_str *out, uint64_t v);
void pw_put_fixed(struct pw_str *out, uint64_t v, int bytes);
/* Take what they read off the input. False: it ends before, or is no number of 64 bits. */
bool pw_get_varint(const unsigned char **at, const unsigned char *end, uint64_t *v);
bool pw_get_fixed(const unsigned char **at, const unsigned char *end, uint64_t *v, int bytes);

#endif
