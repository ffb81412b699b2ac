// SPDX-License-Identifier: Apache-2.0

/// \file
/// A cluster that is run live, as those see it who ask it and change it: the API, the dashboard,
/// the metrics. Behind it lies one machine (local_service.h) or another manager's cluster.
///
/// One thread decides, in run(). Every other thread calls the other functions, which are
/// thread-safe. What changes something returns when it is done for good; what asks takes a shared
/// lock for as long as it takes to copy the answer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "service/expected.h"
#include "service/manager.h"
#include "service/pace.h"
#include "service/shadow.h"
#include "service/tenancy.h"
#include "service/window.h"
#include "sim/compactions.h"
#include "store/job.h"
#include "store/store.h"

namespace almanac::service {

/// Who asks for a change.
struct Caller {
  std::uint32_t uid = 0;
  bool may_all = false;  ///< Root, or whoever runs the service.
};

/// Fails with conflict where that is none of them.
Result<void> only_for_operators(const Caller& caller);

/// Who looks at what is told of a job. Words of its log are for its user and operators alone.
enum class Eyes : std::uint8_t { owner, others };

/// A job and what the service thinks of it now.
struct JobView {
  store::Job job;
  std::string why{};       ///< Why it waits, in words; "" = it does not.
  std::string why_word{};  ///< The same as one word of Slurm's or ours: "Priority", "Resources".
  std::int64_t place = 0;  ///< Among the jobs that wait, from 1, in the order of the policy; 0 = it
                           ///< does not wait for the policy.
  std::optional<Expected> expected{};
  std::optional<Duration> believed{};  ///< Run time that the policy goes by.
  double gpu_use = -1;                 ///< Measured, 0 to 1; -1 = not.
  // What it says of its training (perf/own_word.h).
  std::optional<double> step{}, metric{}, metric_step{};
  double cpu_use = -1;  ///< Cores that it keeps busy; -1 = not measured.
  double memory_gb = -1;
  double gpu_memory_gb = -1;   ///< Of all its GPUs; -1 = the driver does not tell.
  std::string limits_by{};     ///< What holds a job that runs to its limits.
  std::optional<Pace> pace{};  ///< Of one that runs, by its model; only of job().
  std::string terminal{};  ///< Where its user attaches to one that runs on a terminal; likewise.
};

struct GpuView {
  int number = 0;
  std::string name{};
  bool in_service = true;
  std::string trouble{};                 ///< Why it is not in service.
  std::vector<store::JobNumber> jobs{};  ///< That hold it, or a part.
  std::vector<std::string> instances{};  ///< That stand, where the service makes them:
                                         ///< "3g.40gb@4", with the slice at which it begins.
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
  std::vector<cluster::Connection> connections{};  ///< As far as they are known.
  std::vector<GpuView> gpus{};
};

struct Overview {
  std::uint64_t revision = 0;  ///< Grows with every change.
  Time now{};
  Time started{};  ///< The service.
  std::string policy{};
  std::string shadow{};
  std::string manager{};  ///< Whose cluster is steered: "slurm"; "" = it runs jobs itself.
  std::int64_t waiting = 0, held = 0, running = 0;
  int gpus = 0;  ///< In service.
  int gpus_busy = 0;
  double gpu_share_busy = 0;  ///< GPUs held, parts counted as such.
  double power_w = 0;         ///< By measurement, else by the model.
  bool power_is_measured = false;
  std::string limits_by{};  ///< What holds jobs to their limits here; "" = another manager.
  std::string trouble{};    ///< Why it can take nothing now: a full disk; "" = it can.
  std::vector<std::string> warnings{};  ///< Limits that cannot be held here, a full disk...
};

/// What the metrics count; all since the service started.
struct Counters {
  std::uint64_t rounds = 0;
  double last_round_s = 0;
  Time last_round{};  ///< Also one that had nothing to decide: at most 15 s ago, if all is well.
  std::uint64_t submitted = 0, started = 0, ended = 0, preempted = 0, failed_commits = 0;
  double commit_s = 0;        ///< Spent on commits.
  std::uint64_t records = 0;  ///< Jobs in memory, also those that ended since the policy began.
  /// Histogram of the length of rounds: up to 2^n us, the last four seconds and more.
  std::array<std::uint64_t, 24> round_us{};

  void count_round(double length_s);
};

/// Which jobs are looked at.
struct Sought {
  std::optional<Time> ended_since{};  ///< Those too that ended since; nothing = none of them.
  store::JobNumber above{};           ///< Larger numbers only: the next page.
  std::function<bool(const store::Job&)> wanted{};  ///< Empty = all.
  /// Of those that wait or run, and of those that ended, so many with the smallest numbers.
  std::size_t most = std::numeric_limits<std::size_t>::max();
};
/// Adds those of `ended`, and of a store, that are sought, the largest number first. Fails as the
/// store does: a part of a list is none.
Result<void> add_ended(const store::Store& store, const Sought& sought,
                       std::map<store::JobNumber, JobView> ended, std::vector<JobView>& into);

/// The job as the store has it. Fails with not_found.
Result<store::Job> kept_job(const store::Store& store, store::JobNumber number);

/// Says where a store is kept as an earlier Almanac wrote it, if it is.
void tell_of_copy(const store::Store& store);

class Service {
 public:
  virtual ~Service() = default;
  /// Decides and acts until `stop` is set (and wake() called); jobs that run go on.
  virtual void run(const std::atomic<bool>& stop) = 0;
  /// Makes run() look again whether to stop. Safe in a signal handler.
  virtual void wake() = 0;
  /// Reads the policy anew where it is a file; what runs and waits is given to it. Safe in a signal
  /// handler.
  virtual void reload() = 0;

  // Changes. Each is on the disk when it returns; unavailable = the disk is full or gone.
  /// Numbers in order of index for an array, else one. Fails with usage when it can never run here.
  virtual Result<std::vector<store::JobNumber>> submit(store::Submission submission) = 0;
  /// Whether submit() would take it now; nothing is submitted. Fails as submit() does.
  virtual Result<void> judge(store::Submission submission) = 0;
  /// Ends these, as one: none of them starts meanwhile, and all are told or none. Of several, those
  /// that have ended are left alone. `now`: without grace; another manager may not know how.
  virtual Result<void> cancel(const std::vector<store::JobNumber>& numbers, const Caller& caller,
                              bool now) = 0;
  /// Changes what these ask, as one. Of one that runs only its time limit, and that to less, unless
  /// by an operator, who is kept by no user's limits. Several: those that have ended are left
  /// alone.
  virtual Result<void> update(const std::vector<store::JobNumber>& numbers,
                              const store::Amended& wanted, const Caller& caller);
  /// Lets these wait until they are released, as one. Several: those that run or have ended are
  /// left alone; fails with conflict where that leaves none.
  virtual Result<void> hold(const std::vector<store::JobNumber>& numbers, const Caller& caller) = 0;
  /// As one. Several: those that have ended are left alone.
  virtual Result<void> release(const std::vector<store::JobNumber>& numbers,
                               const Caller& caller) = 0;
  /// Runs these, which run or have ended, again from their beginning, as one.
  virtual Result<void> requeue(const std::vector<store::JobNumber>& numbers,
                               const Caller& caller) = 0;
  virtual Result<void> set_policy(const std::string& policy, const Caller& caller) = 0;
  /// "" = none.
  virtual Result<void> set_shadow(const std::string& policy, const Caller& caller) = 0;
  /// Nothing starts that would not have ended before; gives its number. Another manager has its
  /// own.
  virtual Result<std::int64_t> announce(const Window& window, const Caller& caller);
  virtual Result<void> call_off(std::int64_t number, const Caller& caller);
  /// Nothing new starts on it, or starts again.
  virtual Result<void> set_drained(const std::string& node, bool drained, const Caller& caller) = 0;
  /// The same for one GPU, and why; "" = it is well again. Who runs on it goes on.
  virtual Result<void> set_gpu_trouble(const std::string& node, int gpu, const std::string& trouble,
                                       const Caller& caller) = 0;

  // Questions.
  virtual std::uint64_t revision() const = 0;
  virtual Overview overview() const = 0;
  virtual Counters counters() const = 0;
  /// Jobs that wait or run, in order of number, and behind them those that ended. Fails where the
  /// store, which has the latter, cannot be read.
  virtual Result<std::vector<JobView>> jobs(const Sought& sought = {}) const = 0;
  virtual Result<JobView> job(store::JobNumber number) const = 0;
  /// Why it waits, or what became of it: a few lines.
  virtual Result<std::vector<std::string>> explain(store::JobNumber number, Eyes eyes) const = 0;
  /// Waits for a forecast of the job, also with other numbers of GPUs, at most so long; nothing =
  /// none yet.
  virtual std::optional<Expected> expect(store::JobNumber number, Duration patience) const = 0;
  /// What a job that asks this could expect if it came now; nothing = that is being worked out, ask
  /// again. Fails with unsupported where no forecasts are made.
  virtual Result<std::optional<Expected>> foresee(const store::Submission& asked) const = 0;
  virtual std::vector<NodeView> nodes() const = 0;
  /// Who had how much of its due lately; of a few seconds ago at most.
  virtual Result<Tenancy> tenancy() const = 0;
  /// Which running jobs could be moved so that jobs that wait have room: advice. A job that may not
  /// be run again stays; one that may loses all that it has done. May take a second.
  virtual Result<sim::Compactions> compactions() const = 0;
  /// What was announced and is not over, in the order in which it begins.
  virtual std::vector<Window> maintenance() const { return {}; }
  /// Whose cluster it is, where another manager's is steered.
  virtual std::optional<Manager> manager() const { return std::nullopt; }
  /// The last comparison with the shadow; nothing = there is none yet.
  virtual std::optional<Comparison> shadow() const = 0;
  /// Where a job writes: `out` or `err`.
  virtual Result<std::string> log_path(store::JobNumber number, bool err) const = 0;
  /// For what the store alone knows: history, notes, moments.
  virtual const store::Store& store() const = 0;
  /// The folder of all that is kept.
  virtual const std::string& state() const = 0;
  /// What there is to give away now; never null.
  virtual std::shared_ptr<const cluster::Cluster> cluster() const = 0;
};

}  // namespace almanac::service
