/* png.h - writes a small picture with few colours as a PNG file in memory. */
#ifndef PW_PNG_H
#define PW_PNG_H
#include "base/text.h"
#include <stdint.h>

/* Appends a PNG file. pixel [h,w] holds indices into colors [n], which are 0xRRGGBB, n <= 256; index 0 is
 * transparent. The same pixels give the same bytes: the file contains no time and no text. */
void pw_png_write(struct pw_str *out, const uint8_t *pixel, int w, int h, const uint32_t *colors, int n);

#endif
