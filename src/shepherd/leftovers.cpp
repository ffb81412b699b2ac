// SPDX-License-Identifier: Apache-2.0
#include "shepherd/leftovers.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "process/cgroup.h"
#include "process/held.h"
#include "process/tree.h"
#include "shepherd/folder.h"
#include "shepherd/record.h"

namespace almanac::shepherd {
namespace {

/// Whether the environment that a process began with has exactly this entry. Nothing when it cannot
/// be read: the process is gone, or another user's and we are not root, or descriptors are short.
std::optional<bool> began_with(pid_t process, std::string_view entry) {
  const auto environment = read_file("/proc/" + std::to_string(process) + "/environ");
  if (!environment) return std::nullopt;
  for (std::string_view rest = *environment; !rest.empty();) {
    const std::size_t end = rest.find('\0');
    if (rest.substr(0, end) == entry) return true;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return false;
}

/// Whether we can look at processes at all: at ourselves we always may.
bool can_look() { return process::hold(::getpid()) && read_file("/proc/self/environ").has_value(); }

/// Kills those of the run; gives how many there were. Nothing when some could not be looked at.
std::optional<int> kill_marked(const std::string& marker) {
  int found = 0;
  const std::vector<pid_t> all = process::numbers_in("/proc");
  if (all.empty()) return std::nullopt;
  for (const pid_t process : all) {
    // Held before it is looked at: its number may come again for another.
    const process::Descriptor held = process::hold(process);
    const std::optional<bool> is_of_it = held ? began_with(process, marker) : std::nullopt;
    if (!is_of_it && !can_look()) return std::nullopt;
    if (!is_of_it.value_or(false)) continue;
    ++found;
    process::send_signal(held, SIGKILL);
  }
  return found;
}

}  // namespace

std::optional<int> kill_left(const std::string& folder) {
  return kill_marked("ALMANAC_RUN=" + folder);
}

std::optional<int> end_leftovers(const std::string& folder) {
  int in_group = 0;
  const auto started = read_record<Started>(folder + kStartedFile);
  if (!started && started.error().code == Code::unavailable) return std::nullopt;
  if (started) {
    const std::string boot = boot_id();
    if (boot.empty()) return std::nullopt;
    if (started->boot != boot) return 0;
    // The group counts as one: what wiped its environment is found there alone.
    in_group = started->cgroup.empty() || process::Cgroup::end(started->cgroup) ? 0 : 1;
  }
  const std::optional<int> marked = kill_left(folder);
  return marked ? std::optional(std::max(*marked, in_group)) : std::nullopt;
}

}  // namespace almanac::shepherd
