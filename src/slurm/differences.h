// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes News of whole answers: remembers what was told last and says what differs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "slurm/link.h"

namespace almanac::slurm {

/// All that a controller told at one moment.
struct Picture {
  Time at{};
  std::vector<Job> jobs{};
  std::vector<Node> nodes{};
  std::vector<Partition> partitions{};
  std::vector<Reservation> reservations{};
  std::vector<Licence> licences{};
  Limits limits{};
  std::vector<Association> associations{};  ///< None where no fair share is kept.
};

/// How old the shares in a picture may be; asking for them is dear.
inline constexpr Duration kSharesPause = 30s;

class Differences {
 public:
  /// What is new in `picture`. The first is whole. Jobs that have ended are told once, and are gone
  /// when they are not in the picture any more.
  News to(Picture picture);
  /// The next is whole again.
  void forget() { known_ = false; }

 private:
  bool known_ = false;
  std::map<JobNumber, Job> jobs_;
  std::map<std::string, Node> nodes_;
  std::vector<Partition> partitions_;
  std::vector<Reservation> reservations_;
  std::vector<Licence> licences_;
  Limits limits_;
  std::vector<Association> associations_;
};

}  // namespace almanac::slurm
