// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs as users see them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "machine/admitter.h"
#include "machine/line.h"
#include "machine/maintenance.h"
#include "machine/out_of_service.h"
#include "machine/queue.h"
#include "machine/start_trouble.h"
#include "machine/starter.h"
#include "machine/state.h"
#include "service/tenancy.h"

namespace almanac::machine {

/// Thread-safe: every public function takes the lock of `State`, except as noted.
class JobViews {
 public:
  struct Parts {
    State& state;
    Queue& queue;
    const Line& line;
    const Admitter& admitter;
    const Starter& starter;
    const Accounts& accounts;
    const Maintenance& maintenance;
    const OutOfService& out_of_service;
  };
  explicit JobViews(Parts parts) : parts_(parts), state_(parts.state), queue_(parts.queue) {}

  /// See service::Service.
  Result<std::vector<service::JobView>> jobs(const service::Sought& sought) const;
  Result<service::JobView> job(store::JobNumber number) const;
  Result<std::vector<std::string>> explain(store::JobNumber number, service::Eyes eyes) const;
  Result<service::Tenancy> tenancy() const;

 private:
  service::JobView view_of(const Entry& entry) const;
  /// Returns why a pending job is not in the queue; `word` becomes Slurm's word for it.
  std::string why_aside(const Entry& entry, std::string& word) const;
  /// Returns why a job does not start before some time.
  std::string why_later(const Entry& entry, std::string& word) const;
  /// Returns "it goes first once it has waited ..."; "" if it already does, or never will.
  std::string explain_age_cap(store::JobNumber number) const;
  /// Calls `look` for each job with a number above `above`, in order. Releases the lock
  /// periodically, so that the deciding thread need not wait for a long list. `look` returns the
  /// cost of the job (the lock is released after 2,000), or nothing to stop.
  void look_at_all(store::JobNumber above,
                   const std::function<std::optional<int>(const Entry&)>& look) const;
  /// Returns a running job and the jobs that run on some of its GPUs.
  std::vector<store::Job> sharers_of(store::JobNumber number) const;
  Result<service::Tenancy> tenancy_now() const;

  Parts parts_;
  State& state_;
  Queue& queue_;
  service::TenancyKeeper tenancy_;
};

}  // namespace almanac::machine
