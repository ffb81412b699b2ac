// SPDX-License-Identifier: Apache-2.0

/// \file
/// Commands to power nodes up or down, and whether they had an effect.
///
/// Slurm takes a command to power up at any time and loses it while the node powers down; so it is
/// given only when the node is off, and again until it is on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "steer/mirror.h"

namespace almanac::steer {

class NodeCommands {
 public:
  /// Once a round, before all else. A command that has had no effect after `patience` leaves its
  /// node alone until that changes by itself.
  void look(const Mirror& mirror, Duration patience);
  /// Those of `nodes` that may get a command now.
  std::vector<std::string> due(const std::vector<std::string>& nodes, bool on) const;
  void given(const std::vector<std::string>& nodes, bool on);
  Time now() const { return now_; }
  std::vector<std::string> warnings() const;

 private:
  struct Command {
    bool on = true;
    Time first{};
    Time last{};
  };
  struct Stuck {
    bool on = true;
    manager::Power power{};
  };

  Time now_{};
  std::map<std::string, manager::Power> power_;
  std::map<std::string, Command> commands_;  // whose end is not seen yet
  std::map<std::string, Stuck> stuck_;
};

}  // namespace almanac::steer
