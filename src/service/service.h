// SPDX-License-Identifier: Apache-2.0

/// \file
/// The interface of a live cluster for the API, the dashboard and the metrics. It is implemented
/// for one machine (machine/local_service.h) and for a Slurm cluster (steer_slurm/slurm_service.h).
///
/// One thread decides, in run(). Every other thread calls the other functions, which are
/// thread-safe. Functions that change something return when the change is permanent. Functions that
/// ask hold a shared lock only while they copy the answer.
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
#include "service/changed_forecasts.h"
#include "service/expected.h"
#include "service/manager.h"
#include "service/pace.h"
#include "service/shadow.h"
#include "service/starts_if.h"
#include "service/tenancy.h"
#include "service/waits.h"
#include "service/window.h"
#include "sim/compactions.h"
#include "store/job.h"
#include "store/store.h"

namespace almanac::service {

/// The user who requests a change.
struct Caller {
  std::uint32_t uid = 0;
  bool may_all = false;  ///< Root, or the user who runs the service.
};

/// Fails with conflict if the caller is neither.
Result<void> only_for_operators(const Caller& caller);

/// Who reads about a job. Only its user and operators may read text from its log.
enum class Eyes : std::uint8_t { owner, others };

/// A job and what the service knows about it now.
struct JobView {
  store::Job job;
  std::string why{};       ///< Why it waits, in words; "" if it does not wait.
  std::string why_word{};  ///< The same reason as one word of Slurm's or ours: "Priority",
                           ///< "Resources".
  std::int64_t place = 0;  ///< Position among the waiting jobs, from 1, in the order of the policy;
                           ///< 0 if it does not wait for the policy.
  std::optional<Expected> expected{};
  std::optional<Duration> believed{};  ///< Run time that the policy expects.
  double gpu_use = -1;                 ///< Measured, 0 to 1; -1 if not measured.
  // What the job reports about its training (perf/own_word.h).
  std::optional<double> step{}, metric{}, metric_step{};
  double cpu_use = -1;  ///< Busy cores; -1 if not measured.
  double memory_gb = -1;
  double gpu_memory_gb = -1;   ///< Sum over its GPUs; -1 if the driver does not report it.
  std::string limits_by{};     ///< What enforces the limits of a running job.
  std::optional<Pace> pace{};  ///< Speed of a running job, by its model; set by job() only.
  std::string terminal{};  ///< Where the user attaches to a job with a terminal; set by job() only.
};

struct GpuView {
  int number = 0;
  std::string name{};
  bool in_service = true;
  std::string trouble{};                 ///< Why it is out of service.
  std::vector<store::JobNumber> jobs{};  ///< Jobs that hold it or a part of it.
  std::vector<std::string> instances{};  ///< Existing instances, if the service creates them:
                                         ///< "3g.40gb@4", with the first slice.
  double use = -1;                       ///< -1 if not measured.
  double memory_gb = -1;
  double power_w = -1;
};

struct NodeView {
  std::string name{};
  std::string vc{};
  bool drained = false;
  bool silent = false;  ///< Its box takes no jobs: it does not report, or could not
                        ///< start one.
  double cpus = 0, cpus_held = 0;
  double memory_gb = 0, memory_held_gb = 0;
  std::vector<cluster::Connection> connections{};  ///< May be incomplete.
  std::vector<GpuView> gpus{};
};

struct Overview {
  std::uint64_t revision = 0;  ///< Increases with every change.
  Time now{};
  Time started{};  ///< Start of the service.
  std::string policy{};
  std::string shadow{};
  std::string manager{};  ///< The manager of the cluster: "slurm"; "" if the service runs jobs
                          ///< itself.
  std::int64_t waiting = 0, held = 0, running = 0;
  int gpus = 0;  ///< In service.
  int gpus_busy = 0;
  double gpu_share_busy = 0;  ///< GPUs held, counting parts as parts.
  double power_w = 0;         ///< Measured, else by the model.
  bool power_is_measured = false;
  std::string limits_by{};  ///< What enforces the limits of jobs here; "" if another manager does.
  std::string trouble{};    ///< Why the service refuses changes now, such as a full disk; "" if it
                            ///< does not.
  std::vector<std::string> warnings{};  ///< Limits that cannot be enforced here, a full disk, ...
};

/// Counts for the metrics, since the service started.
struct Counters {
  std::uint64_t rounds = 0;
  double last_round_s = 0;
  Time last_round{};  ///< Including rounds without a decision: at most 15 s ago in a healthy
                      ///< service.
  std::uint64_t submitted = 0, started = 0, preempted = 0, failed_commits = 0;
  std::map<trace::JobState, std::uint64_t> ended{};  ///< By outcome.
  double commit_s = 0;                               ///< Spent on commits.
  std::uint64_t records = 0;  ///< Jobs in memory, including those that ended since the policy
                              ///< started.
  /// Histogram of round durations: bucket n is up to 2^n us, the last one is 4 s and more.
  std::array<std::uint64_t, 24> round_us{};
  Waits waits{};           ///< Of jobs that started.
  Waits expected_waits{};  ///< Ends of the 90 % intervals of first forecasts.

  void count_round(double length_s);
};

/// Selects jobs.
struct Sought {
  std::optional<Time> ended_since{};  ///< Includes jobs that ended since then; nothing = no ended
                                      ///< jobs.
  store::JobNumber above{};           ///< Only larger numbers: the next page.
  std::function<bool(const store::Job&)> wanted{};  ///< Empty = all.
  /// The maximum of unfinished jobs, and of ended ones: those with the smallest numbers.
  std::size_t most = std::numeric_limits<std::size_t>::max();
};
/// Adds the jobs of `ended` and of a store that are sought, the largest number first. Fails if the
/// store fails; never adds a partial list.
Result<void> add_ended(const store::Store& store, const Sought& sought,
                       std::map<store::JobNumber, JobView> ended, std::vector<JobView>& into);

/// Returns the record of a job in the store. Fails with not_found.
Result<store::Job> kept_job(const store::Store& store, store::JobNumber number);

/// Logs where the copy of a store written by an earlier Almanac is, if there is one.
void tell_of_copy(const store::Store& store);

class Service {
 public:
  virtual ~Service() = default;
  /// Decides and acts until `stop` is set and wake() called. Running jobs go on.
  virtual void run(const std::atomic<bool>& stop) = 0;
  /// Makes run() check `stop`. Safe in a signal handler.
  virtual void wake() = 0;
  /// Reads the policy again if it is a file, and passes all jobs to it. Safe in a signal handler.
  virtual void reload() = 0;

  // Changes. Each is on the disk when the function returns. Each fails with unavailable if the disk
  // is full or gone.
  /// Returns the number of the job; for an array those of its tasks, in order of index. Fails with
  /// usage if it can never run here.
  virtual Result<std::vector<store::JobNumber>> submit(store::Submission submission) = 0;
  /// Checks whether submit() would accept a job now, without submitting it. Fails as submit() does.
  virtual Result<void> judge(store::Submission submission) = 0;
  /// Cancels all of these jobs or none; none of them starts meanwhile. Of several, ended jobs are
  /// ignored. `now`: without grace period, which another manager may not support.
  virtual Result<void> cancel(const std::vector<store::JobNumber>& numbers, const Caller& caller,
                              bool now) = 0;
  /// Changes the requests of all of these jobs or none. Of a running job only the time limit may
  /// change, and only operators may raise it. Limits of users do not apply to operators. Of
  /// several, ended jobs are ignored.
  virtual Result<void> update(const std::vector<store::JobNumber>& numbers,
                              const store::Amended& wanted, const Caller& caller);
  /// Holds all of these jobs or none until they are released. Of several, running and ended jobs
  /// are ignored; fails with conflict if no job is left.
  virtual Result<void> hold(const std::vector<store::JobNumber>& numbers, const Caller& caller) = 0;
  /// Releases all of these jobs or none. Of several, ended jobs are ignored.
  virtual Result<void> release(const std::vector<store::JobNumber>& numbers,
                               const Caller& caller) = 0;
  /// Runs all of these running or ended jobs, or none, again from the start.
  virtual Result<void> requeue(const std::vector<store::JobNumber>& numbers,
                               const Caller& caller) = 0;
  virtual Result<void> set_policy(const std::string& policy, const Caller& caller) = 0;
  /// "" for none.
  virtual Result<void> set_shadow(const std::string& policy, const Caller& caller) = 0;
  /// Announces a window in which no job runs, and returns its number: no job starts that would not
  /// end before it. Fails with unsupported for another manager.
  virtual Result<std::int64_t> announce(const Window& window, const Caller& caller);
  virtual Result<void> call_off(std::int64_t number, const Caller& caller);
  /// Stops starting jobs on a node, or starts jobs there again.
  virtual Result<void> set_drained(const std::string& node, bool drained, const Caller& caller) = 0;
  /// Takes one GPU out of service, saying why, or back into service (""). Jobs on it go on.
  virtual Result<void> set_gpu_trouble(const std::string& node, int gpu, const std::string& trouble,
                                       const Caller& caller) = 0;

  // Questions.
  virtual std::uint64_t revision() const = 0;
  virtual Overview overview() const = 0;
  virtual Counters counters() const = 0;
  /// Waiting and running jobs in order of number, then ended jobs. Fails if the store, which has
  /// the ended ones, cannot be read.
  virtual Result<std::vector<JobView>> jobs(const Sought& sought = {}) const = 0;
  virtual Result<JobView> job(store::JobNumber number) const = 0;
  /// Why a job waits, or how it ended: a few lines.
  virtual Result<std::vector<std::string>> explain(store::JobNumber number, Eyes eyes) const = 0;
  /// Waits for a forecast of the job, also with other numbers of GPUs, for at most `patience`;
  /// nothing if there is none yet.
  virtual std::optional<Expected> expect(store::JobNumber number, Duration patience) const = 0;
  /// What such a job could expect if it were submitted now; nothing if that is still being
  /// computed: ask again. Fails with unsupported if the service makes no forecasts.
  virtual Result<std::optional<Expected>> foresee(const store::Submission& asked) const = 0;
  /// What the forecasts of all jobs would become after `changes` (forecast::parse_change());
  /// likewise. Fails also with usage or not_found for a change that cannot be made.
  virtual Result<std::optional<ChangedForecasts>> foresee(
      const std::vector<std::string>& changes) const = 0;
  /// The changes, or pairs of changes, that would start a waiting job now; nothing if that is still
  /// being computed: ask again. Fails with not_found for a job that does not wait for GPUs, and
  /// with unsupported if the service makes no forecasts.
  virtual Result<std::optional<StartsIf>> starts_if(store::JobNumber number) const;
  virtual std::vector<NodeView> nodes() const = 0;
  /// Usage against fair share, at most a few seconds old.
  virtual Result<Tenancy> tenancy() const = 0;
  /// Advises which running jobs to move so that waiting jobs fit. Only jobs that may run again are
  /// moved, and they lose all their work. May take a second.
  virtual Result<sim::Compactions> compactions() const = 0;
  /// Announced windows that are not over, in order of start.
  virtual std::vector<Window> maintenance() const { return {}; }
  /// The manager of the cluster, if it is not this service.
  virtual std::optional<Manager> manager() const { return std::nullopt; }
  /// The last comparison with the shadow policy; nothing if there is none yet.
  virtual std::optional<Comparison> shadow() const = 0;
  /// The path of the output of a job: `out` or `err`.
  virtual Result<std::string> log_path(store::JobNumber number, bool err) const = 0;
  /// The store, for history, notes and samples of the cluster.
  virtual const store::Store& store() const = 0;
  /// The state folder.
  virtual const std::string& state() const = 0;
  /// The cluster as it is now; never null.
  virtual std::shared_ptr<const cluster::Cluster> cluster() const = 0;
};

}  // namespace almanac::service
