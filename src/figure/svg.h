/* svg.h - a picture as SVG text: shapes, real text, embedded images.
 *
 * Lengths are points (1/72 inch), y downwards; positions are written in tenths of one, so that the same
 * drawing gives the same bytes. Text from outside is escaped here and nowhere else. */
#ifndef PW_SVG_H
#define PW_SVG_H
#include "base/text.h"
#include <stdbool.h>
#include <stdint.h>

#define PW_INK  0x1f1f1fu
#define PW_GRID 0xe4e4e4u

struct pw_box {
    double x, y, w, h;
};

struct pw_pen {
    uint32_t color;
    double width;     /* 0: 1 */
    const char *dash; /* "4 3"; NULL: solid */
    double opacity;   /* 0: 1 */
};

enum pw_anchor { PW_START, PW_MIDDLE, PW_END };

struct pw_font {
    double size;
    uint32_t color;
    enum pw_anchor anchor;
    bool bold, mono;
    bool turned; /* read upwards */
};

struct pw_svg {
    struct pw_str out;
};

void pw_svg_open(struct pw_svg *s, double w, double h, bool serif, const char *title, const char *desc);
void pw_svg_close(struct pw_svg *s);
void pw_svg_fini(struct pw_svg *s);

void pw_svg_rect(struct pw_svg *s, struct pw_box b, uint32_t fill, double opacity);
void pw_svg_frame(struct pw_svg *s, struct pw_box b, struct pw_pen pen);
void pw_svg_line(struct pw_svg *s, double x0, double y0, double x1, double y1, struct pw_pen pen);
/* One or more polylines as one path, or with a fill a surface. */
struct pw_path {
    struct pw_svg *svg;
    int x, y; /* of the pen, in tenths */
    int n;    /* points of this line */
};
void pw_path_begin(struct pw_path *p, struct pw_svg *s, struct pw_pen pen);
void pw_path_begin_fill(struct pw_path *p, struct pw_svg *s, uint32_t fill, double opacity);
void pw_path_to(struct pw_path *p, double x, double y);
void pw_path_lift(struct pw_path *p); /* the next point begins another line */
void pw_path_end(struct pw_path *p);

/* The sign of an arm: a shape of its own for each. Places beyond the arms have the same shapes and colours,
 * filled in the other way. */
void pw_svg_mark(struct pw_svg *s, int arm, double x, double y, double r);
uint32_t pw_svg_arm(int arm); /* its colour on white */

/* (x,y): where the line that letters stand on begins, has its middle, or ends. */
void pw_svg_text(struct pw_svg *s, double x, double y, const struct pw_font *f, const char *text);
void pw_svg_fmt(struct pw_svg *s, double x, double y, const struct pw_font *f, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* The same, cut with an ellipsis to what fits into width. */
void pw_svg_cut(struct pw_svg *s, double x, double y, const struct pw_font *f, const char *text,
                double width);
/* Of text as it will be drawn, whatever the reader's fonts: that of the widest common one. */
double pw_svg_width(const struct pw_font *f, const char *text);
/* Bytes of text that fit into width, cut at a blank where there is one in the last third. */
size_t pw_svg_fitting(const struct pw_font *f, const char *text, double width);

/* ` name="12.5"` */
void pw_svg_length(struct pw_str *out, const char *name, double x);

/* An image file (PNG) over all of b, its pixels with sharp edges. */
void pw_svg_image(struct pw_svg *s, struct pw_box b, const unsigned char *png, size_t size);

#endif
