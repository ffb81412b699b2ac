// SPDX-License-Identifier: Apache-2.0

/// \file
/// Replaces the policy of a managed cluster. The next policy learns from the store, which takes
/// long, so another thread does it, and the policy takes over between two decisions. Only the
/// former policy learns from jobs that end meanwhile.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "service/renewal.h"
#include "steer/decider.h"
#include "steer/known.h"
#include "steer/policies.h"

namespace almanac::steer {

/// Makes a policy that has learned from the jobs of a store. Takes long; any thread.
Result<std::unique_ptr<Decider>> decider_for(Chosen policy, const store::Store& store,
                                             const Config& config);

/// For the deciding thread.
class Succession {
 public:
  explicit Succession(Known& known) : known_(known), renewal_(known.bell) {}

  /// Makes the policy again if an operator requests it, or if it has learned from very many jobs.
  /// Lets the next one take over when it is ready.
  void renew(bool is_asked);
  /// Lets another policy take over at once, and leaves the former one in `next`. Under the lock.
  void replace(std::unique_ptr<Decider>& next, const std::string& policy);

 private:
  void make_aside();
  std::string policy() const;

  Known& known_;
  bool is_asked_ = false;
  service::Renewal<std::unique_ptr<Decider>> renewal_;
};

}  // namespace almanac::steer
