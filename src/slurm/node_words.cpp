// SPDX-License-Identifier: Apache-2.0
#include "slurm/node_words.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace almanac::slurm {

void read_node_words(const std::vector<std::string>& words, Node& node) {
  const auto any = [&](std::initializer_list<std::string_view> of) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(of.begin(), of.end(), word) != of.end();
    });
  };
  // A node that is woken is still POWERED_DOWN until its program has been called.
  if (any({"POWERING_DOWN"})) {
    node.power = Power::powering_down;
  } else if (any({"POWERING_UP", "POWER_UP"})) {
    node.power = Power::powering_up;
  } else if (any({"POWERED_DOWN"})) {
    node.power = Power::off;
  } else if (any({"POWER_DOWN"})) {
    node.power = Power::to_power_down;
  }
  node.drained = any({"DRAIN", "DRAINED", "DRAINING", "DOWN", "FAIL", "FAILING", "MAINT",
                      "MAINTENANCE", "ERROR", "UNKNOWN", "FUTURE", "BLOCKED", "INVALID",
                      "INVALID_REG", "REBOOT_ISSUED", "REBOOT_REQUESTED"}) ||
                 // One that sleeps or boots does not answer either.
                 (node.power == Power::on && any({"NOT_RESPONDING", "NO_RESPOND"}));
  node.busy = any({"ALLOCATED", "ALLOC", "MIXED", "COMPLETING"});
  node.reserved = any({"RESERVED", "MAINT", "MAINTENANCE"});
}

}  // namespace almanac::slurm
