#include "CShims.h"
int cshim_placeholder(void) { return 0; }
