/* SPDX-License-Identifier: Apache-2.0 */

/* What LAPACK calls with an argument that is wrong: in place of the one that prints by Fortran's
 * library. */
#include <stdio.h>
#include <stdlib.h>

void xerbla_(const char* name, const int* argument, size_t length) {
  fprintf(stderr, "almanac: argument %d of LAPACK's %.*s is wrong\n", *argument, (int)length, name);
  abort();
}
