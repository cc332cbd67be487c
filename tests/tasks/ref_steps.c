/* ref_steps.c - see ref_steps.h. It uses nothing of tasks/. Each step is computed from the prompt alone and
 * not from the previous step: carries and sums are recomputed. */
#include "ref_steps.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUT(i, k, ...) snprintf(s->part[i][k], STEPS_TEXT, __VA_ARGS__)

/* Reads the numbers of a text with their signs. A single blank between digits doesn't end a number. */
static int numbers_of(const char *text, long *v)
{
    int n = 0;
    long sign = 1;
    for (const char *c = text; *c != '\0'; c++) {
        sign = *c == '-' ? -1 : *c == '+' ? 1 : sign;
        if (!isdigit((unsigned char)*c))
            continue;
        for (v[n] = *c - '0'; isdigit((unsigned char)c[1]) || (c[1] == ' ' && isdigit((unsigned char)c[2]));)
            if (isdigit((unsigned char)*++c))
                v[n] = 10 * v[n] + *c - '0';
        v[n++] *= sign;
        sign = 1;
    }
    return n;
}

/* The number as "- 2 4", in one of several static buffers. */
static const char *spaced(long v)
{
    static char ring[16][64];
    static int turn;
    char digits[32], *out = ring[turn = (turn + 1) % 16];
    int n = 0;
    snprintf(digits, sizeof digits, "%ld", v);
    for (const char *d = digits; *d != '\0'; d++) {
        if (n > 0)
            out[n++] = ' ';
        out[n++] = *d;
    }
    out[n] = '\0';
    return out;
}

static long modulo(long v)
{
    return ((v % 10) + 10) % 10;
}

static void addition(struct steps *s, const char *prompt, bool brief)
{
    long v[2], a, b, place = 1;
    int digits = 0;
    numbers_of(prompt, v);
    a = v[0], b = v[1];
    do
        digits++;
    while ((a > b ? a : b) / (place *= 10) > 0);
    place = 1;
    for (int i = 0; i < digits || (a % place + b % place) / place > 0; i++, s->n++, place *= 10) {
        long x = a / place % 10, y = b / place % 10, carry = (a % place + b % place) / place;
        long sum = x + y + carry, left = a / place / 10, right = b / place / 10;
        PUT(i, 0, brief ? "%ld %ld" : "%ld, %ld", x, y);
        if (brief)
            PUT(i, 1, "%ld %ld %ld = %s", x, y, carry, spaced(sum));
        else
            PUT(i, 1, "%ld + %ld + carry = %ld + %ld = %ld", x, y, x + y, carry, sum);
        PUT(i, 2, "%ld", sum % 10);
        PUT(i, 3, brief ? "%ld" : "carry: %ld", sum / 10);
        if (i + 1 < digits)
            PUT(i, 4, "%s + %s", spaced(left), spaced(right));
        else
            PUT(i, 4, brief ? "+" : " + ");
    }
}

/* Writes the items of a list from index `from` on. */
static void list_of(char *out, const long *v, int from, int n, const char *separator)
{
    *out = '\0';
    for (int i = from; i < n; i++)
        snprintf(out + strlen(out), STEPS_TEXT - strlen(out), "%s%s", i > from ? separator : "",
                 spaced(v[i]));
}

static long sum_of(const long *v, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

/* Each digit is an item: in "3 9 1 8" blanks separate items. */
static int digits_of(const char *text, long *v)
{
    int n = 0;
    for (; *text != '\0'; text++)
        if (isdigit((unsigned char)*text))
            v[n++] = *text - '0';
    return n;
}

static void summation(struct steps *s, const char *prompt, bool brief)
{
    long v[STEPS_MAX];
    int n = digits_of(prompt, v);
    for (int i = 0; i < n; i++, s->n++) {
        long before = modulo(sum_of(v, i)), sum = before + v[i];
        PUT(i, 0, "%ld", v[i]);
        PUT(i, 1, brief ? "%ld %ld" : "%ld + sum = %ld + %ld =", v[i], brief ? before : v[i], before);
        PUT(i, 2, "%s", spaced(sum));
        if (brief)
            PUT(i, 3, "%ld", modulo(sum_of(v, i + 1)));
        else
            PUT(i, 3, "sum: %s = %ld", spaced(sum), modulo(sum_of(v, i + 1)));
        list_of(s->part[i][4], v, i + 1, n, brief ? " " : " + ");
    }
}

static void parity(struct steps *s, const char *prompt, bool brief)
{
    char list[STEPS_TEXT];
    long v[STEPS_MAX];
    const char *open = strchr(prompt, '[');
    int n = digits_of(open != NULL ? open : prompt, v);
    for (int i = 0; i < n; i++, s->n++) {
        long before = sum_of(v, i) % 2, after = sum_of(v, i + 1) % 2;
        PUT(i, 0, "%ld", v[i]);
        PUT(i, 1, brief ? "%ld %ld" : "%ld ** par = %ld ** %ld", v[i], brief ? before : v[i], before);
        PUT(i, 2, "%ld", after);
        PUT(i, 3, brief ? "%ld" : "par: %ld", after);
        list_of(list, v, i + 1, n, brief ? " " : ", ");
        PUT(i, 4, brief ? "%.900s" : "[ %.900s ]", list);
    }
}

/* v: x, then coefficient and degree of every term. */
static long term(const long *v, int i)
{
    long power = 1;
    for (long k = 0; k < v[2 + 2 * i]; k++)
        power *= v[0];
    return v[1 + 2 * i] * power;
}

static void polynomial(struct steps *s, const char *prompt, bool brief)
{
    long v[2 * STEPS_MAX], sum = 0;
    int n = numbers_of(prompt, v) / 2;
    for (int i = 0; i < n; i++, s->n++) {
        long factor = v[1 + 2 * i], power = 1, before = modulo(sum);
        for (long k = 0; k < v[2 + 2 * i]; k++)
            power *= v[0];
        sum += term(v, i);
        for (int k = i; k < n; k++) {
            char *out = s->part[i][k == i ? 0 : 4];
            size_t at = strlen(out);
            if (brief)
                snprintf(out + at, STEPS_TEXT - at, "%s%+ld x^%ld", at > 0 ? " " : "", v[1 + 2 * k],
                         v[2 + 2 * k]);
            else
                snprintf(out + at, STEPS_TEXT - at, "%s%s * x ** %ld", at > 0 ? " + " : "",
                         spaced(v[1 + 2 * k]), v[2 + 2 * k]);
        }
        if (brief)
            PUT(i, 1, "%+ld %s", factor, spaced(power));
        else
            PUT(i, 1, "%s * %s ** %ld = %s * %s", spaced(factor), spaced(v[0]), v[2 + 2 * i], spaced(factor),
                spaced(power));
        PUT(i, 2, "%s", spaced(factor * power));
        if (brief)
            PUT(i, 3, "%ld", modulo(sum));
        else
            PUT(i, 3, "sum: %ld + %s = %ld", before, spaced(factor * power), modulo(sum));
    }
}

/* The items are between separators. `order` lists symbols from the least. */
static void sort(struct steps *s, const char *prompt, bool brief, bool multi)
{
    static const char order[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *open = strchr(prompt, '['), *from = open != NULL ? open + 2 : prompt + strlen("sort ");
    const char *between = brief && !multi ? " " : ", ";
    char list[STEPS_TEXT], item[STEPS_MAX][16];
    long key[STEPS_MAX];
    int n = 0;
    snprintf(list, sizeof list, "%.*s", (int)(strstr(from, open != NULL ? " ]" : " >") - from), from);
    for (char *at = list, *next; at != NULL; at = next) {
        next = strstr(at, between);
        if (next != NULL)
            *next = '\0', next += strlen(between);
        snprintf(item[n], sizeof item[n], "%.15s", at);
        if (multi)
            numbers_of(at, &key[n]);
        else
            key[n] = strchr(order, *at) - order;
        n++;
    }
    for (; s->n < n; s->n++) {
        int i = s->n, least = n - 1; /* from the end, so that the first of equal items is taken */
        for (int k = n - 1; k >= i; k--)
            least = key[k] <= key[least] ? k : least;
        PUT(i, 0, "%s", item[i]);
        PUT(i, 1, brief ? "" : "The minimum of the unsorted portion");
        PUT(i, 2, "%s", item[least]);
        memmove(item[least], item[i], sizeof *item);
        key[least] = key[i];
        *list = '\0';
        for (int k = i + 1; k < n; k++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k > i + 1 ? between : "",
                     item[k]);
        PUT(i, 4, brief ? "%.900s" : "[ %.900s ]", list);
    }
}

/* The value of a variable from the clauses "q = -1", "t - q", ...: sign[] and source[] are indexed by letter;
 * source '1' is the number 1. */
static int follow(const char *sign, const char *source, char var)
{
    int i = var - 'a', s = sign[i] == '-' ? -1 : 1;
    return source[i] == '1' ? s : s * follow(sign, source, source[i]);
}

static void lego(struct steps *s, const char *prompt, bool brief)
{
    char sign[26], source[26], text[STEPS_MAX][32];
    const char *at = prompt + strlen(brief ? "lego" : "If"), *end = strstr(prompt, brief ? " >" : ". Then");
    char asked = brief ? end[-1] : strchr(prompt, '?')[-1];
    int n = 0, used;
    char var[STEPS_MAX], sn, so;
    end = brief ? end - 2 : end;
    for (; at < end; at += used, n++) {
        if (brief)
            sscanf(at, " %c %c %c%n", &var[n], &sn, &so, &used);
        else
            sscanf(at, " %c = %c %c%n", &var[n], &sn, &so, &used), used += at[used] == ',';
        sign[var[n] - 'a'] = sn, source[var[n] - 'a'] = so;
        snprintf(text[n], sizeof text[n],
                 brief       ? "%c %c %c"
                 : so == '1' ? "%c = %c%c"
                             : "%c = %c %c",
                 var[n], sn, so);
    }
    /* Each variable depends on the one before it, the first one on the number. */
    for (char now = '1'; now != asked; s->n++) {
        int i = s->n, k = 0;
        while (source[var[k] - 'a'] != now)
            k++;
        char from = now, sg = sign[var[k] - 'a'];
        now = var[k];
        PUT(i, 0, "%c", now);
        if (from != '1' && brief)
            PUT(i, 1, "%c %c %+d", sg, from, follow(sign, source, from));
        else if (from != '1')
            PUT(i, 1, "%c %c = %c %+d", sg, from, sg, follow(sign, source, from));
        PUT(i, 2, "%+d", follow(sign, source, now));
        *text[k] = '\0';
        for (k = 0; k < n; k++) {
            size_t len = strlen(s->part[i][4]);
            if (*text[k] != '\0')
                snprintf(s->part[i][4] + len, STEPS_TEXT - len, "%s%s",
                         len == 0 ? ""
                         : brief  ? " "
                                  : ", ",
                         text[k]);
        }
    }
}

void steps_of(struct steps *s, const char *task, const char *prompt, bool brief)
{
    memset(s, 0, sizeof *s);
    if (strcmp(task, "addition") == 0)
        addition(s, prompt, brief);
    else if (strcmp(task, "summation") == 0)
        summation(s, prompt, brief);
    else if (strcmp(task, "parity") == 0)
        parity(s, prompt, brief);
    else if (strcmp(task, "polynomial") == 0)
        polynomial(s, prompt, brief);
    else if (strcmp(task, "lego") == 0)
        lego(s, prompt, brief);
    else
        sort(s, prompt, brief, strstr(task, "multi") != NULL);
}

void steps_join(const struct steps *s, const char *letters, bool brief, struct pw_str *out)
{
    static const char *const marks[2][5] = {{"in", "comp", "out", "[", "re"},
                                            {"in", "comp", "out", "var", "re"}};
    pw_str_add(out, brief ? "" : "Thinking step by step:  ");
    for (int i = 0; i < s->n; i++) {
        pw_str_add(out, i == 0 ? "" : brief ? " #" : " # ");
        for (int k = 0; k < 5; k++) {
            const char *text = s->part[i][k];
            if (strchr(letters, "icovr"[k]) == NULL)
                continue;
            if (brief)
                pw_str_add(out, " %s%s%s", marks[1][k], *text != '\0' ? " " : "", text);
            else
                pw_str_add(out, "%s %s %s", marks[0][k], text, k == 3 ? "] " : "");
        }
    }
    pw_str_add(out, brief ? " so" : " . Thus,  ");
}
