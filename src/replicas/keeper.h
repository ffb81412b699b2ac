// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs as many replicas as a scaler requests: starts them (the minimum number as kept jobs), opens
/// healthy ones, drains surplus ones, and restarts those that end by themselves.
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

/// The cluster that runs replicas. Each replica is a job without an end; the cluster may let it
/// wait or stop it.
class Jobs {
 public:
  enum class State : std::uint8_t { waits, runs, over };
  struct Job {
    std::int64_t number = 0;
    int port = 0;          ///< The port on which it answers.
    bool is_kept = false;  ///< No policy takes from it what it holds.
  };
  virtual ~Jobs() = default;
  /// Submits a replica and returns the number of its job.
  virtual Result<std::int64_t> start(int port, bool is_kept) = 0;
  virtual Result<State> state(std::int64_t job) = 0;
  virtual Result<void> end(std::int64_t job) = 0;
  /// Returns the replicas that an earlier keeper of the same service started.
  virtual Result<std::vector<Job>> left() = 0;
};

/// Returns `wanted` if that port of 127.0.0.1 is free now, and any free port for 0. Returns 0 if
/// there is none.
int free_port(int wanted = 0);
/// Whether 127.0.0.1:`port` answers GET `path` with 200 within `patience`.
bool is_healthy(int port, const std::string& path, Duration patience);

class Keeper {
 public:
  struct Settings {
    int least = 1, most = 1;
    std::string health = "/health";
    Duration begin_patience = 15min;  ///< Longest time until a running replica is healthy; then it
                                      ///< is restarted.
    Duration drain_patience = 5min;   ///< Longest wait for the requests of a draining replica.
    Duration check_every = 2s;        ///< Period of health checks of open replicas.
    Duration step_every = 200ms;
  };
  /// A replica as shown to users.
  struct Seen {
    std::int64_t job = 0;
    int port = 0;
    const char* state = "";  ///< "waits", "begins", "open", "sick" or "drains".
    int in_hand = 0;
    /// From the start of its job to the first healthy answer; nothing until then, and for a replica
    /// of an earlier keeper.
    std::optional<double> cold_start_s{};
  };

  Keeper(Jobs& jobs, Pool& pool, std::unique_ptr<inference::Scaler> scaler, Settings settings);

  /// Takes over the replicas of an earlier keeper. Fails as Jobs::left() does.
  Result<void> begin();
  /// Checks all replicas, then scales. Cost: one query of its job per replica, and a health check
  /// of up to 2 s for those that are due.
  void step(Instant now);
  /// Calls step() until `stop` is set. Fails if the first replica is refused with usage, because
  /// every later one would be too.
  Result<void> run(const std::atomic<bool>& stop);
  /// Ends all replicas.
  void end();
  /// Thread-safe.
  std::vector<Seen> seen() const;
  /// Returns the last error; "" = none since a replica opened. Thread-safe.
  std::string trouble() const;

 private:
  enum class State : std::uint8_t { waits, begins, open, sick, drains };
  struct Replica {
    ReplicaId id{};
    std::int64_t job = 0;
    int port = 0;
    State state = State::waits;
    Instant since{};    // when it entered this state
    Instant checked{};  // last health check
    bool was_open = false;
    bool is_kept = false;
    std::optional<double> cold_start_s{};
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
  std::optional<Error> refused_;  // why the first replica was refused
  mutable std::mutex mutex_;      // guards the following members, which one thread changes
  std::vector<Replica> replicas_;
  std::string trouble_;
};

}  // namespace almanac::replicas
