// SPDX-License-Identifier: Apache-2.0
#include "shepherd/leftovers.h"

#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <thread>

#include "process/cgroup.h"
#include "process/held.h"
#include "process/tree.h"
#include "shepherd/folder.h"
#include "shepherd/record.h"

namespace almanac::shepherd {
namespace {

/// What does not die of SIGKILL sits in the kernel; waiting longer would help nobody.
constexpr int kTries = 500;
constexpr std::chrono::milliseconds kPause{10};

/// Whether the environment that a process began with has exactly this entry.
bool began_with(pid_t process, std::string_view entry) {
  const auto environment = read_file("/proc/" + std::to_string(process) + "/environ");
  if (!environment) return false;  // it is gone, or another user's and we are not root
  for (std::string_view rest = *environment; !rest.empty();) {
    const std::size_t end = rest.find('\0');
    if (rest.substr(0, end) == entry) return true;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return false;
}

/// Kills those of the run; gives how many there were.
int kill_marked(const std::string& marker) {
  int found = 0;
  for (const pid_t process : process::numbers_in("/proc")) {
    // Held before it is looked at: its number may come again for another.
    const process::Descriptor held = process::hold(process);
    if (!held || !began_with(process, marker)) continue;
    ++found;
    process::send_signal(held, SIGKILL);
  }
  return found;
}

}  // namespace

int end_leftovers(const std::string& folder) {
  if (const auto started = read_record<Started>(folder + kStartedFile)) {
    if (started->boot != boot_id()) return 0;
    if (!started->cgroup.empty() && is_there(started->cgroup)) {
      const auto killed = process::Cgroup::take_over(started->cgroup);
    }
  }
  const std::string marker = "ALMANAC_RUN=" + folder;
  int left = kill_marked(marker);
  // Again, for they may have started others meanwhile, and dying takes a moment.
  for (int tries = 0; left > 0 && tries < kTries; ++tries) {
    std::this_thread::sleep_for(kPause);
    left = kill_marked(marker);
  }
  return left;
}

}  // namespace almanac::shepherd
