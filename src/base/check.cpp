// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace almanac {

void check_failed(const char* condition, const char* file, int line, const std::string& evidence) {
  fmt::print(stderr, "almanac: internal error at {}:{}: {} does not hold: {}\n", file, line,
             condition, evidence);
  std::abort();
}

}  // namespace almanac
