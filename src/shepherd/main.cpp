// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac-shepherd: stands beside one run of a job and outlives the service that started it.
#include <cstdio>
#include <string>

#include <fcntl.h>

#include "shepherd/folder.h"
#include "shepherd/tend.h"

int main(int count, char** arguments) {
  if (count != 2 || ::fcntl(almanac::shepherd::kLockDescriptor, F_GETFD) < 0) {
    std::fputs("almanac-shepherd: started by almanac serve, for one run of a job each\n", stderr);
    return 64;  // EX_USAGE
  }
  return almanac::shepherd::tend(arguments[1]);
}
