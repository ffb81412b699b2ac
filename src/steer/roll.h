// SPDX-License-Identifier: Apache-2.0

/// \file
/// The jobs of a mirror with what stays the same from one decision to the next, while neither a job
/// nor the nodes of the cluster change: its request, what it holds, its estimate.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "steer/beliefs.h"
#include "steer/mirror.h"
#include "steer/occupancy.h"
#include "steer/world.h"
#include "trace/job.h"

namespace almanac::steer {

/// Not thread-safe.
class Roll {
 public:
  struct Member {
    const manager::Job* job = nullptr;  ///< Of the mirror, until that changes.
    manager::JobNumber number{};
    Time submit{};
    Time start = kNoTime;
    // Empty until first needed:
    std::optional<trace::Request> request{};  ///< Experience::request_of().
    std::optional<Holding> holding{};
    Beliefs::Handle belief{};

   private:
    friend class Roll;
    std::uint64_t revision = 0;
    bool is_in_order = false;  // in running_
  };

  /// Brings the members up to date; always for the same mirror. Cost: a walk over the jobs, and
  /// O(log) for each change; all members again if the world is another one. Members that are gone
  /// are freed.
  void read(const Mirror& mirror, std::shared_ptr<const World> world);

  /// Jobs that hold resources of nodes, in order of start, then number.
  const std::vector<Member*>& running() const { return running_; }
  /// Pending jobs, in order of number.
  const std::vector<Member*>& waiting() const { return waiting_; }
  /// What the running jobs hold, in their order. With `evenly`, a job of shards holds an equal part
  /// of a GPU.
  Occupation count_out(bool evenly);

 private:
  Member& add();
  void renew(Member& member, const Mirror::Known& job);
  /// Puts `come` where they belong in the order of start; leaves out those that are not in order.
  void file_running(std::vector<Member*>& come);

  std::shared_ptr<const World> world_;
  std::deque<Member> members_;
  std::vector<Member*> unused_;
  std::vector<Member*> by_number_;
  std::vector<Member*> running_;
  std::vector<Member*> waiting_;
};

}  // namespace almanac::steer
