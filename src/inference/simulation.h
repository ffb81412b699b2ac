// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates requests on a fleet of replicas, event by event.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "inference/load.h"
#include "inference/request.h"
#include "inference/router.h"

namespace almanac::inference {

/// The phases of requests that a replica computes.
enum class Role : std::uint8_t {
  both,
  prefill,  ///< Computes prompts, then hands the requests over.
  decode,   ///< Continues requests that were handed over.
};
struct Duty {
  static constexpr std::uint32_t kAlone = ~std::uint32_t{0};
  Role role = Role::both;
  std::uint32_t model = 0;      ///< Request::model that it serves.
  std::uint32_t lane = kAlone;  ///< Replicas of one lane take turns, one iteration each.
};

/// The events of a fleet in order. At one instant: arrivals, then hand-overs, moves, and
/// iterations; events of one kind in the order in which they were planned.
///
/// A request that is handed over or moved takes its KV cache along. The transfer takes as long as
/// the link needs, and the first replica keeps the cache until the second one continues. A move
/// copies the existing cache while the request runs, and the rest after its iteration.
///
/// Cost: O(log replicas) per iteration, plus the replica's work.
class Simulation {
 public:
  /// Called when a request is finished; may submit others, not before `now`.
  using Finished = std::function<void(RequestId, Micros now)>;

  explicit Simulation(Requests requests)
      : requests_(std::move(requests)), logged_(requests_.size()), outcomes_(logged_) {}

  const Requests& requests() const { return requests_; }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  const Busy& busy() const { return busy_; }

  /// Adds a replica, which accepts requests at once, starting with those that found no replica
  /// before. Returns its number, counted from 0. `step` must outlive the simulation.
  std::uint32_t add(const Limits& limits, const StepTime& step, std::unique_ptr<Former> former,
                    const Duty& duty = {});
  /// Chooses among decode replicas; must outlive the simulation. Without it, the common router
  /// chooses.
  void route_decodes(Router& router) { decode_router_ = &router; }
  /// Sets the transfer time of the KV cache between replicas, by tokens. Default 0.
  void connect(std::function<Micros(std::int32_t tokens)> link) { link_ = std::move(link); }
  /// Drains a replica: it accepts no more requests, and disappears when it has finished the ones it
  /// has.
  void close(std::uint32_t replica);
  /// Removes a replica at once; its requests arrive again and are recomputed.
  void lose(std::uint32_t replica);
  /// Removes a replica at once and returns its requests as they can continue elsewhere; see
  /// resume().
  std::vector<Visit> take(std::uint32_t replica);
  /// Gives a request that take() returned to a replica that accepts requests. If nothing of it is
  /// kept, it arrives again, and `replica` does not count.
  void resume(const Visit& visit, std::uint32_t replica);
  /// Tokens whose KV cache take() would return.
  std::int64_t tokens_of(std::uint32_t replica) const {
    return replicas_[replica]->tokens_to_hand_out();
  }
  bool gone(std::uint32_t replica) const { return replicas_[replica] == nullptr; }
  /// Requests that wait or run on a replica.
  std::size_t requests_of(std::uint32_t replica) const {
    return replicas_[replica]->waiting() + replicas_[replica]->running();
  }
  /// Returns the load of the service now; Load::starting is 0.
  Load load() const;
  /// Adds a request during the simulation; it must not arrive before now.
  RequestId submit(const Request& request);
  void on_finish(Finished finished) { finished_ = std::move(finished); }
  /// Ends the simulation after the current event.
  void stop() { stopped_ = true; }
  /// Runs until no event is left.
  void run(Router& router) { advance(kNever, router); }
  /// Runs all events up to and including `until`.
  void advance(Micros until, Router& router);
  /// Returns the time of the next event; kNever if there is none.
  Micros next() const;

 private:
  enum class Kind : std::uint8_t { arrival, hand_over, copied, balance, iteration, wake };
  /// The replicas of a model that accept requests of one kind.
  struct Pool {
    std::vector<Replica*> open{};
    std::vector<RequestId> homeless{};  // arrived while no replica was open
  };
  struct Pools {
    Pool fresh{}, decode{};
  };
  struct Lane {
    static constexpr std::uint32_t kFree = ~std::uint32_t{0};
    std::uint32_t computes = kFree;
    std::deque<std::uint32_t> next{};
  };
  /// A request whose KV cache is, or is moving, elsewhere.
  struct Journey {
    enum class Stage : std::uint8_t { copied_beside, leaves, left } stage;
    std::uint32_t from, to;
    Visit visit;
    std::int32_t preemptions = 0;  // when it started
  };
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
  Pool& pool_of(std::uint32_t replica);
  void arrive(RequestId request, Router& router);
  void enter(Replica& replica, const Visit& visit);
  void wake(std::uint32_t replica);
  void hand_over(RequestId request, Router& router);
  void copied(RequestId request);
  void balance(Router& router);
  void send(std::uint32_t from, const Visit& visit, Router& router);
  void release(RequestId request);
  void iterate(std::uint32_t number, Router& router);
  /// Returns false if it has nothing to compute.
  bool begin(std::uint32_t number);
  void next_of_lane(std::uint32_t lane);
  void end(Replica& replica, Micros at, Router& router);
  void take_out(std::uint32_t replica);
  void end_of_work(std::uint32_t number);
  /// Whether the next request of the log comes before every planned event.
  bool log_is_next() const;

  Requests requests_;
  std::size_t logged_;    // the others were submitted
  std::size_t next_ = 0;  // of the log
  std::vector<Outcome> outcomes_;
  Busy busy_;
  std::vector<std::unique_ptr<Replica>> replicas_;  // null = gone
  std::vector<Duty> duties_;
  std::vector<Pools> pools_;  // by model
  std::vector<Lane> lanes_;
  std::vector<bool> planned_iteration_;
  std::unordered_map<RequestId, Journey> journeys_;
  std::function<Micros(std::int32_t)> link_ = [](std::int32_t) { return Micros{0}; };
  Router* decode_router_ = nullptr;
  bool balancing_ = false;
  bool stopped_ = false;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> agenda_;
  std::vector<RequestId> done_;
  Finished finished_;
  Micros now_ = 0;
  std::uint64_t planned_ = 0;
};

}  // namespace almanac::inference
