/* codec_table.h - macros for writing the codec's field tables. The type of a field follows from its member,
 * so a table can't state a wrong type. S is the struct whose members are listed; each table defines it.
 *
 * A kind of event is a row of pw_messages (codec_fields.c) with a table of its payload's members. A member is
 * a row of that table: a number that never changes, the member, its limits, and for an array the members that
 * give its length. The row is all that a member needs: it is then written, read and checked, freed and
 * copied, compared by `replay --verify`, and shown by --json. HOST marks a value that depended on the
 * machine. Only the header of an event (number, time, arm, replica, step) is no row. */
#ifndef PW_CODEC_TABLE_H
#define PW_CODEC_TABLE_H
#include <limits.h>

#include "sessions/codec_int.h"

#define FAR   (1 << 20) /* more than any length, position or row of a table */
#define COUNT INT_MAX

/* Limits of models. */
#define LAYERS 64
#define HEADS  1024

#define MEMBER(m) (((S *)0)->m) /* member of the struct S; never evaluated */
#define TYPE(x)                                                                                              \
    _Generic((x),                                                                                            \
        bool: PW_F_BOOL,                                                                                     \
        int: PW_F_INT,                                                                                       \
        unsigned: PW_F_INT,                                                                                  \
        int64_t: PW_F_LONG,                                                                                  \
        uint64_t: PW_F_BITS,                                                                                 \
        float: PW_F_FLOAT,                                                                                   \
        double: PW_F_DOUBLE,                                                                                 \
        uint16_t: PW_F_HALF,                                                                                 \
        uint8_t: PW_F_BYTE,                                                                                  \
        char *: PW_F_TEXT)
#define ENTRIES(m) ((int)(sizeof MEMBER(m) / sizeof MEMBER(m)[0]))
#define HEAD(n, m) .number = (n), .name = #m, .at = offsetof(S, m)
#define SCALAR     .form = PW_FORM_ONE
#define ALL        .lo = INT64_MIN, .hi = INT64_MAX
#define FROM(l, h) .lo = (l), .hi = (h)

/* Fields with one value: ANY value, a value in a RANGE, a HOST-dependent value, a TEXT, PROSE that is not
 * compared, a STRING, a struct INSIDE. The first argument is the field's number. */
#define ANY(n, m)                                                                                            \
    {                                                                                                        \
        HEAD(n, m), SCALAR, .type = TYPE(MEMBER(m)), .size = sizeof MEMBER(m), ALL                           \
    }
#define RANGE(n, m, l, h)                                                                                    \
    {                                                                                                        \
        HEAD(n, m), SCALAR, .type = TYPE(MEMBER(m)), .size = sizeof MEMBER(m), FROM(l, h)                    \
    }
#define HOST(n, m, why)                                                                                      \
    {                                                                                                        \
        HEAD(n, m), SCALAR, .type = TYPE(MEMBER(m)), .size = sizeof MEMBER(m), ALL, .host = (why)            \
    }
#define TEXT(n, m)                                                                                           \
    {                                                                                                        \
        HEAD(n, m), SCALAR, .type = PW_F_TEXT, .size = sizeof MEMBER(m)                                      \
    }
#define PROSE(n, m)                                                                                          \
    {                                                                                                        \
        HEAD(n, m), SCALAR, .type = PW_F_TEXT, .size = sizeof MEMBER(m), .prose = true                       \
    }
#define STRING(n, m)                                                                                         \
    {                                                                                                        \
        HEAD(n, m), SCALAR, .type = PW_F_STRING, .size = sizeof MEMBER(m)                                    \
    }
#define INSIDE(n, m, t)                                                                                      \
    {                                                                                                        \
        HEAD(n, m), SCALAR, .type = PW_F_STRUCT, .size = sizeof MEMBER(m), .of = &(t)                        \
    }

/* Fields with several values. LIST: as many as the struct has room for. COUNTED: the number comes from OF,
 * PLUS or TIMES. ARRAY: a pointer to that many, required; MAYBE: a pointer that may be NULL. */
#define ENTRY(m)      .type = TYPE(MEMBER(m)[0]), .size = sizeof MEMBER(m)[0]
#define STRUCTS(m, t) .type = PW_F_STRUCT, .size = sizeof MEMBER(m)[0], .of = &(t)
#define LIST(n, m, limits)                                                                                   \
    {                                                                                                        \
        HEAD(n, m), .form = PW_FORM_LIST, ENTRY(m), .most = ENTRIES(m), limits                               \
    }
#define COUNTED(n, m, limits, ...)                                                                           \
    {                                                                                                        \
        HEAD(n, m), .form = PW_FORM_COUNTED, ENTRY(m), .most = ENTRIES(m), limits, .by = { __VA_ARGS__ }     \
    }
#define COUNTED_STRUCTS(n, m, t, ...)                                                                        \
    {                                                                                                        \
        HEAD(n, m), .form = PW_FORM_COUNTED, STRUCTS(m, t), .most = ENTRIES(m), .by = { __VA_ARGS__ }        \
    }
#define ARRAY(n, m, limits, ...)                                                                             \
    {                                                                                                        \
        HEAD(n, m), .form = PW_FORM_ARRAY, ENTRY(m), .needed = true, limits, .by = { __VA_ARGS__ }           \
    }
#define MAYBE(n, m, limits, ...)                                                                             \
    {                                                                                                        \
        HEAD(n, m), .form = PW_FORM_ARRAY, ENTRY(m), limits, .by = { __VA_ARGS__ }                           \
    }
#define ARRAY_STRUCTS(n, m, t, ...)                                                                          \
    {                                                                                                        \
        HEAD(n, m), .form = PW_FORM_ARRAY, STRUCTS(m, t), .needed = true, .by = { __VA_ARGS__ }              \
    }
#define MAYBE_STRUCTS(n, m, t, ...)                                                                          \
    {                                                                                                        \
        HEAD(n, m), .form = PW_FORM_ARRAY, STRUCTS(m, t), .by = { __VA_ARGS__ }                              \
    }
#define OF(m)                                                                                                \
    {                                                                                                        \
        offsetof(S, m) + 1, 0                                                                                \
    }
#define PLUS(m, k)                                                                                           \
    {                                                                                                        \
        offsetof(S, m) + 1, (k)                                                                              \
    }
#define TIMES(k)                                                                                             \
    {                                                                                                        \
        0, (k)                                                                                               \
    }

#define N(table) ((int)(sizeof(table) / sizeof *(table)))

#endif
