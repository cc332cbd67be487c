/* codec_int.h - internals of the codec: the types of its field tables, and functions that its files share.
 *
 * A table lists the members of an event that are fields. One table drives writing, reading, checking,
 * comparing, freeing, copying, measuring (event_memory.c) and JSON (event_json.c). */
#ifndef PW_CODEC_INT_H
#define PW_CODEC_INT_H
#include "sessions/codec.h"

/* Types of fields, with their encoding. */
enum pw_field_type {
    PW_F_BOOL, /* BOOL, INT and LONG are varints with folded signs */
    PW_F_INT,  /* also enumerations */
    PW_F_LONG,
    PW_F_BITS,   /* uint64_t, 8 bytes: numbers that are usually large */
    PW_F_FLOAT,  /* 4 bytes */
    PW_F_DOUBLE, /* 8 bytes */
    PW_F_HALF,   /* uint16_t, 2 bytes; HALF and BYTE occur in lists only */
    PW_F_BYTE,
    PW_F_TEXT,   /* char[size] */
    PW_F_STRING, /* char *, a text of any length */
    PW_F_STRUCT
};

/* One value, or several. */
enum pw_field_form {
    PW_FORM_ONE,     /* omitted if 0 or empty */
    PW_FORM_LIST,    /* an array inside the struct; trailing zero entries are omitted */
    PW_FORM_COUNTED, /* an array inside the struct; other members give the number of entries in use */
    PW_FORM_ARRAY    /* a pointer to an array; other members give its length */
};

/* A factor of an array's length: the member's value plus `add`. */
struct pw_factor {
    size_t member; /* offset of an int member plus 1; 0: none */
    int add;
};

struct pw_message;

/* One field: a member of a struct, with its type, its limits and its number on disk. */
struct pw_field {
    int number; /* number on disk: never changed or reused; ascending in a table */
    const char *name;
    enum pw_field_type type;
    enum pw_field_form form;
    size_t at, size; /* offset in the struct; bytes of an entry */
    int most;        /* LIST and COUNTED: capacity */
    /* ARRAY: if the count is not 0, the pointer must not be NULL, because readers of the event rely on it. */
    bool needed;
    struct pw_factor by[4]; /* the count: a product of (member + add), ended by {0, 0} */
    /* or the count as a function of the struct; the members it reads have lower numbers */
    int (*count)(const void *);
    int64_t lo, hi; /* limits of each entry, for BOOL, INT, LONG and BYTE */
    const struct pw_message *of;
    /* The reason why the value depended on the machine in edition 0, where it is not compared; NULL: it did
     * not. */
    const char *host;
    /* A sentence for the reader. A later version may word it differently, so a re-run does not compare it;
     * the values that it reports are compared where they are members of their own. */
    bool prose;
};

/* The edition of the field tables: which fields a session's writer had. 0 is pewter 0.1, before editions were
 * recorded. A new field in any message begins a new edition: raise this number, and record in `upto` where
 * the message ended until then. */
#define PW_EDITION       10
#define PW_EDITION_FIELD 1000 /* field of every payload that holds its edition, unless 0 */

/* A table of fields: one for each kind of event, and one for each struct in it. */
struct pw_message {
    const char *name; /* of the kind of event */
    const struct pw_field *fields;
    int n;
    size_t at;   /* offset of the payload in struct pw_event */
    size_t size; /* bytes that the payload takes of the union */
    /* Checks across fields. Returns NULL, or a message that says what is wrong. NULL: there is no such
     * check. */
    const char *(*check)(const void *);
    const char *place;    /* name of the member that identifies structs of this type in messages */
    int upto[PW_EDITION]; /* last field number in edition i if some were missing; 0: none was missing */
};

extern const struct pw_message pw_messages[PW_EV_KINDS];

/* ---- codec.c */
/* Return the number of entries of a list, from the members at base; SIZE_MAX if it is negative or too
 * large. */
size_t pw_field_count(const struct pw_field *f, const char *base);
const char *pw_field_name(const struct pw_field *f); /* name of the member without its prefix */
/* Does the member give the number of another member's entries? */
bool pw_field_counts(const struct pw_message *m, const struct pw_field *f);
/* The text of a TEXT or STRING entry at p; "" for NULL. */
const char *pw_field_text(const struct pw_field *f, const char *p);

/* ---- event_memory.c */
/* Is the member a pointer to memory that the event owns? Only fields of an event itself are: tables of
 * entries have none. */
bool pw_field_owns(const struct pw_field *f);

/* ---- codec_looks.c: tables of events that show the inside of a model */
#define PW_LOOK_FIELDS      19
#define PW_ATTENTION_FIELDS 36
#define PW_TABLE_FIELDS     55
extern const struct pw_field pw_look_fields[PW_LOOK_FIELDS];
extern const struct pw_field pw_attention_fields[PW_ATTENTION_FIELDS];
extern const struct pw_field pw_table_fields[PW_TABLE_FIELDS];
/* Why a re-run does not compare a member with entropies (struct pw_field's host). */
extern const char pw_log2_of_c[];

/* ---- codec_finding.c: the table of struct pw_finding */
#define PW_FINDING_FIELDS 15
extern const struct pw_field pw_finding_fields[PW_FINDING_FIELDS];

/* ---- codec_checks.c: each returns NULL, or what is wrong with the struct */
const char *pw_check_row(const void *row);
const char *pw_check_pair(const void *pair);
const char *pw_check_eval(const void *eval);
const char *pw_check_prompt(const void *prompt);
const char *pw_check_inspection(const void *look);
const char *pw_check_attention(const void *attention);
const char *pw_check_table(const void *table);
const char *pw_check_finding(const void *finding);
int pw_gradients(const void *table); /* entries of its grad; -1: too many */

/* Limit of steps and bytes: a few can be added, and doubles hold them. */
#define PW_MANY        (INT64_C(1) << 53)
#define PW_EVENT_BYTES ((size_t)64 << 20) /* limit of the memory that the arrays of one event may take */

/* ---- codec_bits.c */
int pw_field_bytes(enum pw_field_type type); /* bytes of an entry on disk; 0: variable */
/* Load and store an entry at p, which may be unaligned: load_number and store_number for BOOL, INT and LONG;
 * load_bits and store_bits for the other types up to BYTE. */
int64_t pw_load_number(enum pw_field_type type, const void *p);
void pw_store_number(enum pw_field_type type, void *p, int64_t v);
uint64_t pw_load_bits(enum pw_field_type type, const void *p);
void pw_store_bits(enum pw_field_type type, void *p, uint64_t bits);
uint64_t pw_float_bits(float x);
uint64_t pw_double_bits(double x);
float pw_bits_float(uint64_t bits);
double pw_bits_double(uint64_t bits);

uint64_t pw_folded(int64_t v); /* zigzag: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
int64_t pw_unfolded(uint64_t u);
/* Append an unsigned number: as a varint of 7 bits per byte, or as the lowest `bytes` bytes, little-endian.
 */
void pw_put_varint(struct pw_str *out, uint64_t v);
void pw_put_fixed(struct pw_str *out, uint64_t v, int bytes);
/* Read a number and advance *at. Return false if the input ends, or if the number exceeds 64 bits. */
bool pw_get_varint(const unsigned char **at, const unsigned char *end, uint64_t *v);
bool pw_get_fixed(const unsigned char **at, const unsigned char *end, uint64_t *v, int bytes);

#endif
