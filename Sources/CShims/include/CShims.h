#ifndef CSHIMS_H
#define CSHIMS_H
int cshim_placeholder(void);
#endif
