// SPDX-License-Identifier: Apache-2.0

/// \file
/// How one policy of a Slurm cluster follows another. What the next one believes is learned from
/// the store, which takes long, so another thread does it, and it takes over between two decisions.
/// Jobs that end meanwhile are lessons of the one before only, until the next time.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "service/renewal.h"
#include "steer/decider.h"
#include "steer/known.h"
#include "steer/policies.h"

namespace almanac::steer {

/// A policy that has learned from the jobs of a store. Takes long; any thread.
Result<std::unique_ptr<Decider>> decider_for(Chosen policy, const store::Store& store,
                                             const Config& config);

/// Of the thread that decides.
class Succession {
 public:
  explicit Succession(Known& known) : known_(known), renewal_(known.bell) {}

  /// Begins the policy anew where that is asked, or where most of what it has learned is past; lets
  /// the next one take over when it is made.
  void renew(bool is_asked);
  /// Lets another one take over at once, and leaves the one before in `next`. Under the lock.
  void replace(std::unique_ptr<Decider>& next, const std::string& policy);

 private:
  void make_aside();
  std::string policy() const;

  Known& known_;
  bool is_asked_ = false;
  service::Renewal<std::unique_ptr<Decider>> renewal_;
};

}  // namespace almanac::steer
