/* export_tensorboard.c - curves in TensorBoard's format: a folder with one run per model, and one event file
 * in each run.
 *
 * An event file is a sequence of records: length (8 bytes, little-endian), its checksum, the data, its
 * checksum. The checksum is CRC-32C, rotated and shifted by a constant ("masked": TensorFlow,
 * core/lib/hash/crc32c.h). The data is a protocol buffer, Event { 1: wall_time double, 2: step int64, 3:
 * file_version string, 5: Summary { 1: Value { 1: tag string, 2: simple_value float } } }
 * (core/util/event.proto, core/framework/summary.proto). Wall times are the times at which the steps were
 * taken. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "lab/export/export_int.h"

/* CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), bit by bit: the data is small. */
static uint32_t crc32c(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0x82f63b78 & -(crc & 1));
    }
    return ~crc;
}

static void put_little(struct pw_str *b, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        pw_str_put(b, &(char){(char)(x >> 8 * i)}, 1);
}

static void put_checksum(struct pw_str *b, const void *data, size_t n)
{
    uint32_t crc = crc32c(data, n);
    put_little(b, (crc >> 15 | crc << 17) + 0xa282ead8, 4);
}

/* ---- protocol buffers: a field is its number and wire type, followed by its value */

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static void put_varint(struct pw_str *b, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        put_little(b, (x & 0x7f) | 0x80, 1);
    put_little(b, x, 1);
}

static void put_field(struct pw_str *b, int number, enum wire wire)
{
    put_varint(b, (uint64_t)(number << 3 | (int)wire));
}

static void put_double(struct pw_str *b, int number, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_field(b, number, FIXED64);
    put_little(b, bits, 8);
}

static void put_float(struct pw_str *b, int number, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_field(b, number, FIXED32);
    put_little(b, bits, 4);
}

static void put_bytes(struct pw_str *b, int number, const char *s, size_t n)
{
    put_field(b, number, BYTES);
    put_varint(b, n);
    pw_str_put(b, s, n);
}

/* ---- events */

static void write_record(FILE *f, const struct pw_str *data)
{
    struct pw_str head = {0}, tail = {0};
    put_little(&head, data->len, 8);
    put_checksum(&head, head.s, 8);
    put_checksum(&tail, data->s, data->len);
    fwrite(head.s, 1, head.len, f);
    fwrite(data->s, 1, data->len, f);
    fwrite(tail.s, 1, tail.len, f);
    pw_str_fini(&head);
    pw_str_fini(&tail);
}

static void write_version(FILE *f, double wall_s)
{
    static const char version[] = "brain.Event:2";
    struct pw_str e = {0};
    put_double(&e, 1, wall_s);
    put_bytes(&e, 3, version, strlen(version));
    write_record(f, &e);
    pw_str_fini(&e);
}

static void write_scalar(FILE *f, double wall_s, int64_t step, const char *tag, float x)
{
    struct pw_str value = {0}, summary = {0}, e = {0};
    put_bytes(&value, 1, tag, strlen(tag));
    put_float(&value, 2, x);
    put_bytes(&summary, 1, value.s, value.len);
    put_double(&e, 1, wall_s);
    put_field(&e, 2, VARINT);
    put_varint(&e, (uint64_t)step);
    put_bytes(&e, 5, summary.s, summary.len);
    write_record(f, &e);
    pw_str_fini(&value);
    pw_str_fini(&summary);
    pw_str_fini(&e);
}

static void write_run(FILE *f, const struct pw_replica_view *rep, double began_s)
{
    static const char *const tags[PW_METRICS] = {"loss", "token_accuracy", "learning_rate", "grad_norm"};
    const struct pw_series *v = &rep->series;
    const struct pw_track *t = &rep->track;
    const struct pw_updates *u = &rep->updates;
    write_version(f, began_s);
    for (int k = 0; k < v->n; k++)
        for (int m = 0; m < PW_METRICS; m++)
            write_scalar(f, began_s + 1e-3 * (double)v->ms[k], v->step[k], tags[m], v->v[m][k]);
    for (int k = 0; k < t->n; k++) {
        double wall_s = began_s + 1e-3 * (double)t->ms[k];
        if (!isnan(t->in_range[k]))
            write_scalar(f, wall_s, t->step[k], "exact_match/in_range", t->in_range[k]);
        if (!isnan(t->beyond[k]))
            write_scalar(f, wall_s, t->step[k], "exact_match/beyond", t->beyond[k]);
        if (!isnan(t->held[k]))
            write_scalar(f, wall_s, t->step[k], "loss_held_out/in_range", t->held[k]);
        if (!isnan(t->held_beyond[k]))
            write_scalar(f, wall_s, t->step[k], "loss_held_out/beyond", t->held_beyond[k]);
    }
    for (int k = 0, at = 0; k < u->n; k++) {
        while (at + 1 < v->n && v->step[at] < u->step[k]) /* updates have no times of their own */
            at++;
        for (int b = 0; b < u->blocks; b++) {
            char name[24], tag[64];
            float ratio = u->ratio[(size_t)k * u->blocks + b];
            pw_block_name(name, b, u->blocks);
            snprintf(tag, sizeof tag, "update_to_weight/%s", name);
            if (!isnan(ratio))
                write_scalar(f, began_s + (v->n > 0 ? 1e-3 * (double)v->ms[at] : 0.0), u->step[k], tag,
                             ratio);
        }
    }
}

/* ---- folders */

static enum pw_code make_folder(const char *path, struct pw_err *err)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return PW_OK;
    return pw_fail(err, PW_EIO, "%.240s: cannot create this folder: %s", path, strerror(errno));
}

/* "FOLDER/2-t5-8-16-seed0", with own batches "FOLDER/2-t5-8-16-seed5-batches1" */
static enum pw_code export_run(const struct pw_snapshot *record, int arm, int r, const char *folder,
                               struct pw_err *err)
{
    const struct pw_arm_view *a = &record->arms[arm];
    struct pw_str path = {0}, name = {0};
    struct pw_file *file;
    pw_encoding_name(&name, a->info.pe);
    for (char *c = name.s; *c != '\0'; c++)
        *c = *c == ' ' || *c == '/' ? '-' : *c;
    pw_str_add(&path, "%s/%d-%s-seed%" PRIu64, folder, arm + 1, name.s, a->info.seed + (uint64_t)r);
    if (a->info.own_batches)
        pw_str_add(&path, "-batches%" PRIu64, record->lab.seed + (uint64_t)r);
    pw_str_fini(&name);
    enum pw_code code = make_folder(path.s, err);
    pw_str_add(&path, "/events.out.tfevents.pewter");
    if (code == PW_OK)
        code = pw_file_create(&file, path.s, err);
    if (code == PW_OK) {
        write_run(pw_file_stream(file), &a->rep[r], 1e-9 * (double)record->began_ns);
        code = pw_file_commit(file, err);
    }
    pw_str_fini(&path);
    return code;
}

enum pw_code pw_export_tensorboard(const struct pw_snapshot *record, const char *folder, struct pw_err *err)
{
    bool any = false;
    for (int i = 0; i < PW_MAX_ARMS; i++)
        for (int r = 0; record->arms[i].used && r < record->arms[i].info.replicas; r++)
            any = any || record->arms[i].rep[r].series.n > 0 || record->arms[i].rep[r].track.n > 0;
    if (!any)
        return pw_fail(err, PW_EUSER,
                       "export tensorboard: there is no training or evaluation yet; run 'train' first");
    enum pw_code code = make_folder(folder, err);
    for (int i = 0; i < PW_MAX_ARMS && code == PW_OK; i++)
        for (int r = 0; record->arms[i].used && r < record->arms[i].info.replicas && code == PW_OK; r++)
            code = export_run(record, i, r, folder, err);
    return code;
}
