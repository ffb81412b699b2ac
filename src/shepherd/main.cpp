// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac-shepherd: runs one run of a job, and outlives the service that started it.
/// `almanac-shepherd --end STATE/runs ...` ends all shepherds when the machine is switched off.
#include <cstdio>
#include <string_view>

#include <fcntl.h>

#include "shepherd/end_all.h"
#include "shepherd/folder.h"
#include "shepherd/tend.h"

int main(int count, char** arguments) {
  if (count > 2 && std::string_view(arguments[1]) == "--end") {
    const int unasked = almanac::shepherd::end_all({arguments + 2, arguments + count});
    if (unasked == 0) return 0;
    std::fprintf(stderr, "almanac-shepherd: %d runs could not be stopped\n", unasked);
    return 1;
  }
  if (count != 2 || ::fcntl(almanac::shepherd::kLockDescriptor, F_GETFD) < 0) {
    std::fputs("almanac-shepherd: started by almanac serve, for one run of a job each\n", stderr);
    return 64;  // EX_USAGE
  }
  return almanac::shepherd::tend(arguments[1]);
}
