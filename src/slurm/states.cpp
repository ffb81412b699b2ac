// SPDX-License-Identifier: Apache-2.0
#include "slurm/states.h"

#include <algorithm>
#include <string_view>

namespace almanac::slurm {

std::optional<Stands> read_state(const std::vector<std::string>& words) {
  const auto any = [&](std::initializer_list<std::string_view> of) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(of.begin(), of.end(), word) != of.end();
    });
  };
  // A flag takes precedence over the state: a job that has ended and is requeued waits.
  if (any({"COMPLETING", "STAGE_OUT", "SIGNALING"})) return Stands{.state = State::completing};
  if (any({"REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"})) {
    return Stands{.state = State::pending};
  }
  if (any({"CONFIGURING", "POWER_UP_NODE"})) return Stands{.state = State::configuring};
  if (any({"SUSPENDED", "STOPPED"})) return Stands{.state = State::suspended};
  if (any({"PENDING", "RESV_DEL_HOLD"})) return Stands{.state = State::pending};
  if (any({"RUNNING", "RESIZING"})) return Stands{.state = State::running};
  for (const std::string& word : words) {
    const auto known = trace::parse_state(word);
    if (known) return Stands{.state = State::ended, .outcome = *known};
  }
  return std::nullopt;
}

}  // namespace almanac::slurm
