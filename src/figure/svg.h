/* svg.h - writes a picture as SVG text: shapes, real text, embedded images.
 *
 * Lengths are points (1/72 inch), and y points downwards. Positions are written in tenths of a point, so that
 * the same drawing gives the same bytes. Text from outside is escaped here and nowhere else. */
#ifndef PW_SVG_H
#define PW_SVG_H
#include "base/text.h"
#include <stdbool.h>
#include <stdint.h>

#define PW_INK  0x1f1f1fu
#define PW_GRID 0xe4e4e4u

/* A rectangle in points; (x,y) is its upper left corner. */
struct pw_box {
    double x, y, w, h;
};

/* The style of a line. Colours are 0xRRGGBB. */
struct pw_pen {
    uint32_t color;
    double width;     /* 0: 1 */
    const char *dash; /* "4 3"; NULL: solid */
    double opacity;   /* 0: 1 */
};

enum pw_anchor { PW_START, PW_MIDDLE, PW_END };

/* The style of a text; size in points. */
struct pw_font {
    double size;
    uint32_t color;
    enum pw_anchor anchor;
    bool bold, mono;
    bool turned; /* runs upwards */
};

/* A picture that is being written; `out` is the SVG text so far. */
struct pw_svg {
    struct pw_str out;
};

/* Begin a picture of w x h points in *s, with a font family, and with title and description for readers of
 * the file. pw_svg_close ends the picture; pw_svg_fini frees it. */
void pw_svg_open(struct pw_svg *s, double w, double h, bool serif, const char *title, const char *desc);
void pw_svg_close(struct pw_svg *s);
void pw_svg_fini(struct pw_svg *s);

/* Draw a filled rectangle, the outline of one, and a line. */
void pw_svg_rect(struct pw_svg *s, struct pw_box b, uint32_t fill, double opacity);
void pw_svg_frame(struct pw_svg *s, struct pw_box b, struct pw_pen pen);
void pw_svg_line(struct pw_svg *s, double x0, double y0, double x1, double y1, struct pw_pen pen);
/* One or more polylines in one path; with a fill, an area. */
struct pw_path {
    struct pw_svg *svg;
    int x, y; /* position of the pen, in tenths of a point */
    int n;    /* points of the current line */
};
/* Begin a path of lines, or of filled areas; append a point; end the path. */
void pw_path_begin(struct pw_path *p, struct pw_svg *s, struct pw_pen pen);
void pw_path_begin_fill(struct pw_path *p, struct pw_svg *s, uint32_t fill, double opacity);
void pw_path_to(struct pw_path *p, double x, double y);
void pw_path_lift(struct pw_path *p); /* the next point begins another line */
void pw_path_end(struct pw_path *p);

/* Draws an arm's mark; each arm has its own shape. Places beyond the arms repeat shapes and colours, but
 * outlines become filled and filled shapes outlines. */
void pw_svg_mark(struct pw_svg *s, int arm, double x, double y, double r);
uint32_t pw_svg_arm(int arm); /* the arm's colour on white */

/* Draws text; (x,y) is the start, middle or end of its baseline. */
void pw_svg_text(struct pw_svg *s, double x, double y, const struct pw_font *f, const char *text);
void pw_svg_fmt(struct pw_svg *s, double x, double y, const struct pw_font *f, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Like pw_svg_text, but cuts the text with an ellipsis if it is wider than width. */
void pw_svg_cut(struct pw_svg *s, double x, double y, const struct pw_font *f, const char *text,
                double width);
/* Returns an upper estimate of the width of text: that of the widest common font, because the reader's fonts
 * are unknown. */
double pw_svg_width(const struct pw_font *f, const char *text);
/* Returns how many bytes of text fit into width. Prefers to cut at a blank in the last third. */
size_t pw_svg_fitting(const struct pw_font *f, const char *text, double width);

/* Appends an attribute: ` name="12.5"`. */
void pw_svg_length(struct pw_str *out, const char *name, double x);

/* Draws a PNG image over all of b; its pixels keep sharp edges. */
void pw_svg_image(struct pw_svg *s, struct pw_box b, const unsigned char *png, size_t size);

#endif
