// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests through a fleet of replicas, event by event.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "inference/request.h"
#include "inference/router.h"

namespace almanac::inference {

/// The events of a fleet in order: at one instant arrivals, then hand-overs, then iterations; among
/// those of one kind the one planned first.
///
/// Cost: O(log replicas) an iteration, beside what the replica does.
class Simulation {
 public:
  /// What is called when a request is finished; it may submit others, not before `now`.
  using Finished = std::function<void(RequestId, Micros now)>;

  explicit Simulation(Requests requests)
      : requests_(std::move(requests)), logged_(requests_.size()), outcomes_(logged_) {}

  const Requests& requests() const { return requests_; }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }

  /// Adds a replica; all before run().
  void add(const Limits& limits, const StepTime& step, std::unique_ptr<Former> former);
  /// Adds a request while the simulation runs; its arrival is not before now.
  RequestId submit(const Request& request);
  /// Every request waits so long before a replica sees it.
  void delay_arrivals(Micros delay) { delay_ = delay; }
  void on_finish(Finished finished) { finished_ = std::move(finished); }
  /// Runs until nothing happens any more.
  void run(Router& router);

 private:
  enum class Kind : std::uint8_t { arrival, iteration };
  struct Event {
    Micros at;
    Kind kind;
    std::uint64_t sequence;
    std::uint32_t subject;
    bool operator>(const Event& other) const {
      if (at != other.at) return at > other.at;
      if (kind != other.kind) return kind > other.kind;
      return sequence > other.sequence;
    }
  };
  void plan(Micros at, Kind kind, std::uint32_t subject) {
    agenda_.push({at, kind, planned_++, subject});
  }
  void arrive(RequestId request, Router& router);
  void iterate(Replica& replica);
  void end(Replica& replica, Micros at);

  Requests requests_;
  std::size_t logged_;  // the others were submitted
  std::vector<Outcome> outcomes_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<Replica*> open_;
  std::vector<bool> planned_iteration_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> agenda_;
  std::vector<RequestId> done_;
  Finished finished_;
  Micros now_ = 0;
  Micros delay_ = 0;
  std::uint64_t planned_ = 0;
};

}  // namespace almanac::inference
