// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests through a fleet of replicas, event by event.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "inference/load.h"
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
  const Busy& busy() const { return busy_; }

  /// Adds a replica, which takes requests at once; those that found none before come to it first.
  /// Its number counts up from 0. `step` must outlive the simulation.
  std::uint32_t add(const Limits& limits, const StepTime& step, std::unique_ptr<Former> former);
  /// Lets a replica take no more requests. Once it has answered those that it has, it is gone.
  void close(std::uint32_t replica);
  /// A replica is gone at once; its requests come again and are computed anew.
  void lose(std::uint32_t replica);
  bool gone(std::uint32_t replica) const { return replicas_[replica] == nullptr; }
  /// Requests that wait or run on a replica.
  std::size_t requests_of(std::uint32_t replica) const {
    return replicas_[replica]->waiting() + replicas_[replica]->running();
  }
  /// What of the service is seen now; Load::starting is 0.
  Load load() const;
  /// Adds a request while the simulation runs; its arrival is not before now.
  RequestId submit(const Request& request);
  /// Every request waits so long before a replica sees it.
  void delay_arrivals(Micros delay) { delay_ = delay; }
  void on_finish(Finished finished) { finished_ = std::move(finished); }
  /// Runs until nothing happens any more.
  void run(Router& router) { advance(kNever, router); }
  /// Runs all that happens until then, that instant included.
  void advance(Micros until, Router& router);
  /// When something happens next; kNever = nothing will.
  Micros next() const;

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
  void take_out(std::uint32_t replica);
  /// Whether the log's next request comes before all that is planned.
  bool log_is_next() const;

  Requests requests_;
  std::size_t logged_;    // the others were submitted
  std::size_t next_ = 0;  // of the log
  std::vector<Outcome> outcomes_;
  Busy busy_;
  std::vector<std::unique_ptr<Replica>> replicas_;  // null = gone
  std::vector<Replica*> open_;
  std::vector<RequestId> homeless_;  // came while no replica was open
  std::vector<bool> planned_iteration_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> agenda_;
  std::vector<RequestId> done_;
  Finished finished_;
  Micros now_ = 0;
  Micros delay_ = 0;
  std::uint64_t planned_ = 0;
};

}  // namespace almanac::inference
