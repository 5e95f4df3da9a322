/* ncurses: used for the full screen of `appgroupctl top` only. The functions stand for macros and global variables. */
#define _XOPEN_SOURCE_EXTENDED 1
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <string.h>
#include <sys/ioctl.h>

/* The user's locale, or C.UTF-8 where that is none of UTF-8: our texts are. */
static inline void cncurses_use_utf8(void) {
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

/* Takes over the size that the terminal has now. */
static inline void cncurses_fit(void) {
    struct winsize size;
    if (ioctl(0, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) resizeterm(size.ws_row, size.ws_col);
}

static inline SCREEN *cncurses_open(void) { return newterm(NULL, stdout, stdin); }

static inline int cncurses_rows(void) { return LINES; }
static inline int cncurses_columns(void) { return COLS; }
static inline WINDOW *cncurses_screen(void) { return stdscr; }

static inline int cncurses_put(int row, int column, const char *text, unsigned int attributes) {
    attrset(attributes);
    int result = mvaddstr(row, column, text);
    attrset(A_NORMAL);
    return result;
}

/* 1: *input is a key of its own (KEY_UP …). 0: it is a character. -1: nothing waits. */
static inline int cncurses_read(unsigned int *input) {
    wint_t character = 0;
    int result = get_wch(&character);
    *input = character;
    return result == KEY_CODE_YES ? 1 : result == OK ? 0 : -1;
}

static const unsigned int cncurses_bold = A_BOLD;
static const unsigned int cncurses_dim = A_DIM;
static const unsigned int cncurses_reverse = A_REVERSE;
