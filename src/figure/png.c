/* png.c - the only file that uses libpng. */
#include "figure/png.h"
#include "base/alloc.h"
#include <png.h>
#include <setjmp.h>

static void put(png_structp png, png_bytep bytes, png_size_t n)
{
    pw_str_put(png_get_io_ptr(png), (const char *)bytes, n);
}

static void flush(png_structp png)
{
    (void)png;
}

/* The output is in memory and the sizes are valid, so the only possible error is lack of memory. */
static void give_up(png_structp png, png_const_charp message)
{
    (void)message;
    (void)png;
    pw_exhausted(0);
}

void pw_png_write(struct pw_str *out, const uint8_t *pixel, int w, int h, const uint32_t *colors, int n)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, give_up, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    png_color palette[256];
    const png_byte clear = 0;

    if (!info)
        pw_exhausted((size_t)w * (size_t)h);
    for (int i = 0; i < n; i++)
        palette[i] =
            (png_color){(png_byte)(colors[i] >> 16), (png_byte)(colors[i] >> 8), (png_byte)colors[i]};
    png_set_write_fn(png, out, put, flush);
    png_set_IHDR(png, info, (png_uint_32)w, (png_uint_32)h, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_PLTE(png, info, palette, n);
    png_set_tRNS(png, info, &clear, 1, NULL);
    png_set_filter(png, 0, PNG_FILTER_UP); /* repeated rows become zeros */
    png_set_compression_level(png, 9);
    png_write_info(png, info);
    for (int y = 0; y < h; y++)
        png_write_row(png, pixel + (size_t)y * (size_t)w);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}
