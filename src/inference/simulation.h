// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests through a fleet of replicas, event by event.
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

/// What a replica does for which requests.
enum class Role : std::uint8_t {
  both,
  prefill,  ///< Computes prompts, and hands their requests over.
  decode,   ///< Goes on with requests that were handed over.
};
struct Duty {
  static constexpr std::uint32_t kAlone = ~std::uint32_t{0};
  Role role = Role::both;
  std::uint32_t model = 0;      ///< Request::model of those that it takes.
  std::uint32_t lane = kAlone;  ///< Replicas of one lane compute in turn, an iteration each.
};

/// The events of a fleet in order: at one instant arrivals, then hand-overs, moves, then
/// iterations; among those of one kind the one planned first.
///
/// A request that is handed over, or moves, takes its KV along: that takes as long as the link
/// says, and the replica that it leaves holds the KV until the other one goes on with it. A move
/// copies what there is while the request runs on, and the rest when its iteration has ended.
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
  std::uint32_t add(const Limits& limits, const StepTime& step, std::unique_ptr<Former> former,
                    const Duty& duty = {});
  /// Chooses among the replicas that decode; it must outlive the simulation. Without one the router
  /// of all does.
  void route_decodes(Router& router) { decode_router_ = &router; }
  /// How long the KV of so many tokens takes from one replica to another. 0 unless told.
  void connect(std::function<Micros(std::int32_t tokens)> link) { link_ = std::move(link); }
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
  void on_finish(Finished finished) { finished_ = std::move(finished); }
  /// Nothing happens any more after what happens now.
  void stop() { stopped_ = true; }
  /// Runs until nothing happens any more.
  void run(Router& router) { advance(kNever, router); }
  /// Runs all that happens until then, that instant included.
  void advance(Micros until, Router& router);
  /// When something happens next; kNever = nothing will.
  Micros next() const;

 private:
  enum class Kind : std::uint8_t { arrival, hand_over, copied, balance, iteration, wake };
  /// The replicas of a model that take what comes at one place.
  struct Pool {
    std::vector<Replica*> open{};
    std::vector<RequestId> homeless{};  // came while no replica was open
  };
  struct Pools {
    Pool fresh{}, decode{};
  };
  struct Lane {
    static constexpr std::uint32_t kFree = ~std::uint32_t{0};
    std::uint32_t computes = kFree;
    std::deque<std::uint32_t> next{};
  };
  /// Of a request whose KV is, or goes, somewhere else.
  struct Journey {
    enum class Stage : std::uint8_t { copied_beside, leaves, left } stage;
    std::uint32_t from, to;
    Visit visit;
    std::int32_t preemptions = 0;  // when it began
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
  /// False = it has nothing to compute.
  bool begin(std::uint32_t number);
  void next_of_lane(std::uint32_t lane);
  void end(Replica& replica, Micros at, Router& router);
  void take_out(std::uint32_t replica);
  void end_of_work(std::uint32_t number);
  /// Whether the log's next request comes before all that is planned.
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
