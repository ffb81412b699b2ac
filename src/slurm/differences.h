// SPDX-License-Identifier: Apache-2.0

/// \file
/// Turns complete answers into News: remembers the last answer and returns what differs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "slurm/types.h"

namespace almanac::slurm {

/// The complete state of a controller at one time.
struct Picture {
  Time at{};
  std::vector<Job> jobs{};
  std::vector<Node> nodes{};
  std::vector<Partition> partitions{};
  std::vector<Reservation> reservations{};
  std::vector<Licence> licences{};
  Limits limits{};
  std::vector<Association> associations{};  ///< Empty if the site has no fair share.
};

/// How old the shares in a picture may be; asking for them is dear.
inline constexpr Duration kSharesPause = 30s;

class Differences {
 public:
  /// Returns what is new in `picture`. The first answer is complete. Ended jobs are reported once,
  /// and are gone when they disappear from the picture.
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
