// SPDX-License-Identifier: Apache-2.0

/// \file
/// Output of several Slurm releases, for tests.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace almanac::slurm {

inline std::string fixture_data(const std::string& name) {
  const char* const source = std::getenv("ALMANAC_SOURCE_DIR");
  std::ifstream file(std::string(source == nullptr ? "." : source) + "/tests/slurm/fixture_data/" +
                     name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace almanac::slurm
