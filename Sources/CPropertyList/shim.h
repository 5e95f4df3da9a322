/* libplist: used for binary property lists only. */
#include <plist/plist.h>
