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
#include "machine/queue.h"
#include "machine/start_trouble.h"
#include "machine/starter.h"
#include "machine/state.h"
#include "service/tenancy.h"

namespace almanac::machine {

/// Thread-safe: each public function takes the lock of `State`.
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
  };
  explicit JobViews(Parts parts) : parts_(parts), state_(parts.state), queue_(parts.queue) {}

  /// As service::Service has them.
  Result<std::vector<service::JobView>> jobs(const service::Sought& sought) const;
  Result<service::JobView> job(store::JobNumber number) const;
  Result<std::vector<std::string>> explain(store::JobNumber number, service::Eyes eyes) const;
  Result<service::Tenancy> tenancy() const;

 private:
  service::JobView view_of(const Entry& entry) const;
  /// Why a pending job is not in the queue. `word`: the same as one word of Slurm.
  std::string why_aside(const Entry& entry, std::string& word) const;
  /// Why a job does not begin before some time.
  std::string why_later(const Entry& entry, std::string& word) const;
  /// "it goes first once it has waited ..."; "" = it does already, or never will.
  std::string explain_age_cap(store::JobNumber number) const;
  /// Calls `look` with each job of a larger number than `above`, in order of number. Lets go of the
  /// lock after a part of them, so that the deciding thread does not wait for a long list. `look`
  /// returns what the job has cost, of 2,000 a part, or nothing if it has seen enough.
  void look_at_all(store::JobNumber above,
                   const std::function<std::optional<int>(const Entry&)>& look) const;
  /// A job, if it runs, and the jobs that run on some of its GPUs.
  std::vector<store::Job> sharers_of(store::JobNumber number) const;
  Result<service::Tenancy> tenancy_now() const;

  Parts parts_;
  State& state_;
  Queue& queue_;
  service::TenancyKeeper tenancy_;
};

}  // namespace almanac::machine
