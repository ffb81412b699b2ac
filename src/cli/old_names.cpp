// SPDX-License-Identifier: Apache-2.0
#include "cli/old_names.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace almanac::cli {

void replace_old_names(int argc, char** argv) {
  using namespace std::string_view_literals;
  constexpr std::array kMoved{"run"sv, "show"sv, "cancel"sv};
  static char tune[] = "tune";  // argv's words may be changed, and must outlive main()
  if (argc < 3 || argv[1] != "sweep"sv) return;
  if (std::find(kMoved.begin(), kMoved.end(), std::string_view(argv[2])) != kMoved.end()) {
    argv[1] = tune;
  }
}

}  // namespace almanac::cli
