/* render.c - converts SVG to PDF or PNG. The only file that uses librsvg and cairo.
 *
 * Both load some fifty more libraries, which would make every start of the program slower and larger for a
 * rare use. So the first figure opens them at run time. The compiler checks the names and types against the
 * headers. If the libraries are missing, SVG still works. */
#include "base/alloc.h"
#include "base/file.h"
#include "figure/figure_int.h"
#include <cairo-pdf.h>
#include <dlfcn.h>
#include <librsvg/rsvg.h>
#include <stdio.h>
#include <string.h>

#define SHARPNESS   4.0 /* pixels per point: 288 dpi */
#define MOST_PIXELS 16000

static struct {
    bool tried, ready;
    __typeof__(rsvg_handle_new_from_data) *read;
    __typeof__(rsvg_handle_render_document) *render;
    __typeof__(g_object_unref) *unref;
    __typeof__(g_error_free) *free_error;
    __typeof__(cairo_pdf_surface_create_for_stream) *pdf;
    __typeof__(cairo_pdf_surface_set_metadata) *name_pdf;
    __typeof__(cairo_image_surface_create) *image;
    __typeof__(cairo_surface_write_to_png_stream) *write_png;
    __typeof__(cairo_create) *create;
    __typeof__(cairo_scale) *scale;
    __typeof__(cairo_destroy) *destroy;
    __typeof__(cairo_status) *status;
    __typeof__(cairo_status_to_string) *say;
    __typeof__(cairo_surface_finish) *finish;
    __typeof__(cairo_surface_status) *surface_status;
    __typeof__(cairo_surface_destroy) *destroy_surface;
} lib; /* one thread at a time renders */

/* Looks up a function. ISO C cannot convert an object pointer to a function pointer, so the bytes are copied
 * (POSIX, dlsym). */
static bool take(void *library, void *into, const char *name)
{
    void *found = dlsym(library, name);

    memcpy(into, &found, sizeof found);
    return found != NULL;
}

static bool open_libraries(void)
{
    if (lib.tried)
        return lib.ready;
    lib.tried = true;
    void *l = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL); /* dlsym also searches its dependencies */
    lib.ready = l != NULL && take(l, &lib.read, "rsvg_handle_new_from_data") &&
                take(l, &lib.render, "rsvg_handle_render_document") &&
                take(l, &lib.unref, "g_object_unref") && take(l, &lib.free_error, "g_error_free") &&
                take(l, &lib.pdf, "cairo_pdf_surface_create_for_stream") &&
                take(l, &lib.name_pdf, "cairo_pdf_surface_set_metadata") &&
                take(l, &lib.image, "cairo_image_surface_create") &&
                take(l, &lib.write_png, "cairo_surface_write_to_png_stream") &&
                take(l, &lib.create, "cairo_create") && take(l, &lib.scale, "cairo_scale") &&
                take(l, &lib.destroy, "cairo_destroy") && take(l, &lib.status, "cairo_status") &&
                take(l, &lib.say, "cairo_status_to_string") && take(l, &lib.finish, "cairo_surface_finish") &&
                take(l, &lib.surface_status, "cairo_surface_status") &&
                take(l, &lib.destroy_surface, "cairo_surface_destroy");
    return lib.ready;
}

bool pw_figure_renders(void)
{
    return open_libraries();
}

static cairo_status_t put(void *stream, const unsigned char *bytes, unsigned n)
{
    return fwrite(bytes, 1, n, stream) == n ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static cairo_status_t draw_surface(RsvgHandle *svg, cairo_surface_t *surface, double w, double h,
                                   double scale)
{
    cairo_t *c = lib.create(surface);
    GError *why = NULL;

    lib.scale(c, scale, scale);
    if (!lib.render(svg, c, &(RsvgRectangle){0, 0, w, h}, &why))
        lib.free_error(why); /* the surface reports the error too; if it stays empty, tests find that */
    cairo_status_t status = lib.status(c);
    lib.destroy(c);
    return status;
}

static cairo_status_t write_to(FILE *f, bool pdf, RsvgHandle *svg, double w, double h)
{
    cairo_surface_t *s = pdf ? lib.pdf(put, f, w, h)
                             : lib.image(CAIRO_FORMAT_RGB24, (int)(w * SHARPNESS), (int)(h * SHARPNESS));
    cairo_status_t status = lib.surface_status(s);

    if (pdf && status == CAIRO_STATUS_SUCCESS)
        lib.name_pdf(s, CAIRO_PDF_METADATA_CREATOR, "pewter " PEWTER_VERSION);
    if (status == CAIRO_STATUS_SUCCESS)
        status = draw_surface(svg, s, w, h, pdf ? 1 : SHARPNESS);
    if (status == CAIRO_STATUS_SUCCESS && !pdf)
        status = lib.write_png(s, put, f);
    lib.finish(s);
    if (status == CAIRO_STATUS_SUCCESS)
        status = lib.surface_status(s);
    lib.destroy_surface(s);
    return status;
}

enum pw_code pw_figure_render(const char *path, bool pdf, const struct pw_str *svg, double w, double h,
                              struct pw_err *err)
{
    struct pw_file *file;
    GError *why = NULL;

    if (!open_libraries())
        return pw_fail(
            err, PW_EUSER,
            "export figure: %s: PDF and PNG need librsvg (librsvg2-2), which is not installed; .svg does not",
            path);
    if (!pdf && (w * SHARPNESS > MOST_PIXELS || h * SHARPNESS > MOST_PIXELS))
        return pw_fail(err, PW_EUSER, "export figure: %s: too large for a PNG, at most %.0f points a side",
                       path, MOST_PIXELS / SHARPNESS);
    RsvgHandle *handle = lib.read((const guint8 *)svg->s, svg->len, &why);
    if (handle == NULL) {
        enum pw_code code = pw_fail(err, PW_EIO, "export figure: %s: librsvg: %s", path, why->message);
        lib.free_error(why);
        return code;
    }
    enum pw_code code = pw_file_create(&file, path, err);
    if (code == PW_OK) {
        cairo_status_t status = write_to(pw_file_stream(file), pdf, handle, w, h);
        if (status == CAIRO_STATUS_SUCCESS || status == CAIRO_STATUS_WRITE_ERROR) {
            code = pw_file_commit(file, err); /* pw_file_commit reports the disk's error */
        } else {
            pw_file_abandon(file);
            code = pw_fail(err, PW_EIO, "export figure: %s: cairo: %s", path, lib.say(status));
        }
    }
    lib.unref(handle);
    return code;
}
