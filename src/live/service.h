// SPDX-License-Identifier: Apache-2.0

/// \file
/// The live service of one machine: takes jobs, decides by a policy of the registry, runs them as
/// processes, and keeps on disk what it has said.
///
/// One thread decides: it alone touches the round, the policy and the processes, and writes the
/// store. Every other thread calls the functions below, which are thread-safe. What changes
/// something returns when it is on the disk; what asks takes a shared lock for as long as it takes
/// to copy the answer.
///
/// After a crash, or kill -9, the next service on the same state folder takes over: jobs that run
/// are adopted where they are, jobs that wait keep their order, none runs twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "live/expected.h"
#include "live/machine.h"
#include "live/shadow.h"
#include "store/job.h"
#include "store/store.h"

namespace almanac::live {

struct Config {
  std::string state;            ///< The folder of all that is kept.
  Machine machine;              ///< What there is to give away.
  std::string policy = "qssf";  ///< As Registry::compose() takes it; the store's own, if it has
                                ///< one, unless `policy_is_told`.
  bool policy_is_told = false;
  std::string shadow{};  ///< Another that is compared with it; "" = none.
  std::uint64_t seed = 0;
  Duration retention = 24h * 365;  ///< Jobs that ended earlier are forgotten.
  int futures = 32;                ///< Played for a forecast; 0 = none is made.
};

/// Who asks for a change.
struct Caller {
  std::uint32_t uid = 0;
  bool may_all = false;  ///< Root, or whoever runs the service.
};

/// A job and what the service thinks of it now.
struct JobView {
  store::Job job;
  std::string why{};       ///< Why it waits, in words; "" = it does not.
  std::string why_word{};  ///< The same as one word of Slurm's or ours: "Priority", "Resources".
  std::int64_t place = 0;  ///< Among the jobs that wait, from 1, as the policy would start them; 0
                           ///< = does not wait for the policy.
  std::optional<Expected> expected{};
  std::optional<Duration> believed{};  ///< Run time that the policy goes by.
  double gpu_use = -1;                 ///< Measured, 0 to 1; -1 = not.
  double cpu_use = -1;                 ///< Cores that it keeps busy; -1 = not measured.
  double memory_gb = -1;
};

struct GpuView {
  int number = 0;
  std::string name{};
  bool in_service = true;
  std::string trouble{};                 ///< Why it is not in service.
  std::vector<store::JobNumber> jobs{};  ///< That hold it, or a part.
  double use = -1;                       ///< -1 = not measured.
  double memory_gb = -1;
  double power_w = -1;
};

struct NodeView {
  std::string name{};
  std::string vc{};
  bool drained = false;
  double cpus = 0, cpus_held = 0;
  double memory_gb = 0, memory_held_gb = 0;
  std::vector<GpuView> gpus{};
};

struct Overview {
  std::uint64_t revision = 0;  ///< Grows with every change.
  Time now{};
  Time started{};  ///< The service.
  std::string policy{};
  std::string shadow{};
  std::int64_t waiting = 0, held = 0, running = 0;
  int gpus = 0;  ///< In service.
  int gpus_busy = 0;
  double gpu_share_busy = 0;  ///< GPUs held, parts counted as such.
  double power_w = 0;         ///< By measurement, else by the model.
  bool power_is_measured = false;
  std::vector<std::string> warnings{};  ///< Limits that cannot be held here, a full disk...
};

/// What the metrics count; all since the service started.
struct Counters {
  std::uint64_t rounds = 0;
  double last_round_s = 0;
  Time last_round{};  ///< Also one that had nothing to decide: at most 15 s ago, if all is well.
  std::uint64_t submitted = 0, started = 0, ended = 0, preempted = 0, failed_commits = 0;
  double commit_s = 0;                  ///< Spent on commits.
  std::vector<std::uint64_t> round_us;  ///< Histogram of the length of rounds: up to 2^n us.
};

class Foresight;
class Vitals;

class Service {
 public:
  /// Opens the store and takes over what is there. Fails with conflict when another service has it.
  static Result<std::unique_ptr<Service>> open(Config config);
  ~Service();
  /// Decides and acts until `stop` is set (and wake() called); jobs that run go on.
  void run(const std::atomic<bool>& stop);
  /// Makes run() look again whether to stop. Safe in a signal handler.
  void wake();
  /// Reads the policy anew where it is a file; what runs and waits is given to it. Safe in a signal
  /// handler.
  void reload();

  // Changes. Each is on the disk when it returns; unavailable = the disk is full or gone.
  /// Numbers in order of index for an array, else one. Fails with usage when it can never run here.
  Result<std::vector<store::JobNumber>> submit(store::Submission submission);
  Result<void> cancel(store::JobNumber number, const Caller& caller);
  Result<void> hold(store::JobNumber number, const Caller& caller);
  Result<void> release(store::JobNumber number, const Caller& caller);
  /// Runs an ended or running job again, from its beginning.
  Result<void> requeue(store::JobNumber number, const Caller& caller);
  Result<void> set_policy(const std::string& policy, const Caller& caller);
  /// "" = none.
  Result<void> set_shadow(const std::string& policy, const Caller& caller);
  /// Nothing new starts on it, or starts again.
  Result<void> set_drained(const std::string& node, bool drained, const Caller& caller);
  /// The same for one GPU, and why; "" = it is well again. Who runs on it goes on.
  Result<void> set_gpu_trouble(const std::string& node, int gpu, const std::string& trouble,
                               const Caller& caller);

  // Questions.
  std::uint64_t revision() const;
  Overview overview() const;
  Counters counters() const;
  using Wanted = std::function<bool(const store::Job&)>;
  /// Jobs that wait or run, in order of number, at most so many of those wanted; behind them those
  /// wanted that ended since.
  std::vector<JobView> jobs(std::optional<Time> ended_since = std::nullopt,
                            const Wanted& wanted = {},
                            std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  Result<JobView> job(store::JobNumber number) const;
  /// Why it waits, or what became of it: a few lines.
  Result<std::vector<std::string>> explain(store::JobNumber number) const;
  /// Waits for a forecast of the job, at most so long; nothing = none yet.
  std::optional<Expected> expect(store::JobNumber number, Duration patience) const;
  std::vector<NodeView> nodes() const;
  /// The last comparison with the shadow; nothing = there is none yet.
  std::optional<Comparison> shadow() const;
  /// Where a job writes: `out` or `err`.
  Result<std::string> log_path(store::JobNumber number, bool err) const;
  /// For what the store alone knows: history, notes, moments.
  const store::Store& store() const;
  const Config& config() const;

 private:
  class Core;
  explicit Service(std::unique_ptr<Core> core);
  Result<void> begin_foresight();
  void add(JobView& view) const;
  void watch_shadow();
  std::unique_ptr<Core> core_;
  std::unique_ptr<Foresight> foresight_;  // null = no forecasts
  std::unique_ptr<Shadow> shadow_;
  std::unique_ptr<Vitals> vitals_;
};

}  // namespace almanac::live
