// SPDX-License-Identifier: Apache-2.0
#include "shepherd/end_all.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <poll.h>

#include "shepherd/run.h"

namespace almanac::shepherd {

int end_all(const std::string& runs) {
  int unasked = 0;
  std::vector<Run> asked;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(runs, error)) {
    if (!each.is_directory(error)) continue;
    const std::string folder = each.path().string();
    const Run::Found found = Run::look(folder);
    if (found != Run::Found::lives && found != Run::Found::unreadable) continue;
    auto run = Run::adopt(folder);
    if (!run && run.error().code == Code::not_found) continue;  // nor will it ever start
    if (!run || run->news() < 0) {
      ++unasked;
      continue;
    }
    run->end();
    asked.push_back(std::move(*run));
  }
  for (const Run& run : asked) {
    pollfd wait{run.news(), POLLIN, 0};
    while (::poll(&wait, 1, -1) < 0) {
    }
  }
  return unasked;
}

}  // namespace almanac::shepherd
