// SPDX-License-Identifier: Apache-2.0
#include "process/own_program.h"

#include <cstdlib>
#include <system_error>

namespace almanac::process {

const std::filesystem::path& own_program() {
  static const std::filesystem::path kOwn = [] {
    constexpr const char* kLauncher = "ALMANAC_LAUNCHER";
    if (const char* const launcher = std::getenv(kLauncher)) {
      std::filesystem::path told = launcher;
      ::unsetenv(kLauncher);
      return told;
    }
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error);
  }();
  return kOwn;
}

}  // namespace almanac::process
