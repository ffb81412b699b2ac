// SPDX-License-Identifier: Apache-2.0

/// \file
/// Keeps as many replicas as a scaler wants: starts them, the least of them as jobs that are kept,
/// opens those that are healthy, drains those that are to go, and begins anew what has ended by
/// itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "inference/scaler.h"
#include "replicas/pool.h"

namespace almanac::replicas {

/// Who runs replicas: each is a job without end of a cluster, which may let it wait or stop it.
class Jobs {
 public:
  enum class State : std::uint8_t { waits, runs, over };
  struct Job {
    std::int64_t number = 0;
    int port = 0;          ///< That it answers on.
    bool is_kept = false;  ///< No policy takes from it what it holds.
  };
  virtual ~Jobs() = default;
  /// Asks for one more, which is to be kept or not.
  virtual Result<std::int64_t> start(int port, bool is_kept) = 0;
  virtual Result<State> state(std::int64_t job) = 0;
  virtual Result<void> end(std::int64_t job) = 0;
  /// Those that an earlier keeper of the same service has left.
  virtual Result<std::vector<Job>> left() = 0;
};

/// Returns `wanted` if that port of 127.0.0.1 is free now, any free one for 0; 0 = none.
int free_port(int wanted = 0);
/// Whether GET `path` there is answered with 200 within `patience`.
bool is_healthy(int port, const std::string& path, Duration patience);

class Keeper {
 public:
  struct Settings {
    int least = 1, most = 1;
    std::string health = "/health";
    Duration begin_patience = 15min;  ///< From running to healthy; then it is begun anew.
    Duration drain_patience = 5min;   ///< For requests in hand when a replica is to go.
    Duration check_every = 2s;        ///< Of replicas that are open.
    Duration step_every = 200ms;
  };
  /// One replica, as a user is told.
  struct Seen {
    std::int64_t job = 0;
    int port = 0;
    const char* state = "";
    int in_hand = 0;
  };

  Keeper(Jobs& jobs, Pool& pool, std::unique_ptr<inference::Scaler> scaler, Settings settings);

  /// Takes over what an earlier one left.
  Result<void> begin();
  /// One look at everything. Cost: a question a replica, and a health check each where due.
  void step(Instant now);
  /// Looks until `stop` is set. Fails if the first replica is refused for what it asks (usage):
  /// no later one would be taken either.
  Result<void> run(const std::atomic<bool>& stop);
  /// Ends all replicas.
  void end();
  /// Thread-safe.
  std::vector<Seen> seen() const;
  /// What went wrong last; "" = nothing. Thread-safe.
  std::string trouble() const;

 private:
  enum class State : std::uint8_t { waits, begins, open, sick, drains };
  struct Replica {
    ReplicaId id{};
    std::int64_t job = 0;
    int port = 0;
    State state = State::waits;
    Instant since{};    // in this state
    Instant checked{};  // last
    bool was_open = false;
    bool is_kept = false;
  };
  void look(Replica& replica, Instant now);
  void scale(Instant now);
  void start_one(Instant now);
  void let_one_go(Instant now);
  void drop(Replica& replica);
  void say(std::string trouble);
  int present() const;

  Jobs& jobs_;
  Pool& pool_;
  std::unique_ptr<inference::Scaler> scaler_;
  Settings settings_;
  Instant began_{};
  Instant next_scaling_{};
  Instant start_again_{};
  int failed_in_a_row_ = 0;
  int wanted_ = 0;
  std::int64_t last_id_ = 0;
  std::optional<Error> refused_;  // the first replica, for what it asks
  mutable std::mutex mutex_;      // of what follows, which the deciding thread changes
  std::vector<Replica> replicas_;
  std::string trouble_;
};

}  // namespace almanac::replicas
