// SPDX-License-Identifier: Apache-2.0
#include "shepherd/end_all.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <poll.h>

#include "shepherd/folder.h"
#include "shepherd/remote.h"
#include "shepherd/run.h"

namespace almanac::shepherd {

namespace {

/// Adds the runs in the folder `runs` that were asked to `asked`. Returns how many could not be.
int ask_all(const std::string& runs, std::vector<Run>& asked) {
  int unasked = 0;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(runs, error)) {
    if (!each.is_directory(error)) continue;
    const std::string folder = each.path().string();
    // Jobs on boxes go on while their head is away.
    if (is_there(folder + kTasksFile) != There::absent) continue;
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
  return unasked;
}

}  // namespace

int end_all(const std::vector<std::string>& all_runs) {
  int unasked = 0;
  std::vector<Run> asked;
  for (const std::string& each : all_runs) unasked += ask_all(each, asked);
  for (const Run& run : asked) {
    pollfd wait{run.news(), POLLIN, 0};
    while (::poll(&wait, 1, -1) < 0) {
    }
  }
  return unasked;
}

}  // namespace almanac::shepherd
