// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job of the live service: its request, and its state so far.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/ledger.h"
#include "trace/job.h"

namespace almanac::store {

/// As users see it: 1, 2, 3 in order of submission, never reused.
enum class JobNumber : std::int64_t {};
/// So fmt shows it.
constexpr std::int64_t format_as(JobNumber number) { return static_cast<std::int64_t>(number); }

/// The place of a task in its array: "12_3" is task 3 of the array whose first job is 12.
struct ArrayTask {
  JobNumber array{};
  std::int32_t index = 0;
  std::int32_t at_once = 0;  ///< Most tasks that run at once; 0 for no limit.

  bool operator==(const ArrayTask&) const = default;
};

/// A user's request. Missing values are 0, "", NaN, kNoDuration, kNoTime, as in trace::Request.
struct Submission {
  // User and purpose:
  std::string name{};
  std::string comment{};  ///< Free text of its user.
  std::string user{};
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string vc{};
  std::string qos{};
  std::string account{};    ///< On a Slurm cluster; "" if unknown.
  std::string partition{};  ///< Likewise: what it was submitted to.
  std::string model{};
  std::string group{};                    ///< Sweep that it is a trial of; "" for none.
  std::vector<std::string> parameters{};  ///< For a trial: "lr=0.01", in the order of the search
                                          ///< space.
  bool smaller_is_better = false;         ///< For the metric that it reports.
  // Resources:
  std::int32_t gpus = 0;
  std::int32_t max_gpus = 0;
  std::int32_t min_gpus = 0;     ///< For policies that vary the number of GPUs; 0 for one.
  std::int32_t nvlink_gpus = 0;  ///< GPUs that must share one NVLink domain; 0 for any.
  double gpu_share = 1;
  std::string gpu_type{};
  /// Profile, if it requests instances instead of GPUs: "2g.20gb" (cluster/slices/board.h).
  std::string gpu_profile{};
  std::optional<double> gpu_memory_gb{};  ///< Per GPU, or instance, as the driver counts.
  std::optional<double> cpus{};
  std::optional<double> memory_gb{};
  std::optional<double> io_mbs{};  ///< MB/s, cap on reads from each disk, and on writes.
  Duration time_limit = kNoDuration;
  // Deadline and value:
  Time deadline = kNoTime;
  Time worthless_at = kNoTime;
  std::optional<double> value{};
  std::int32_t batch = 0;
  std::int64_t steps = 0;
  // What to run:
  std::vector<std::string> argv{};  ///< For a script: its arguments, from $1 on.
  std::string script{};             ///< Script text; "" if argv is the command.
  std::string directory{};
  std::vector<std::string> environment{};  ///< "NAME=value", all of it.
  std::string out{};                       ///< Filename with %j %A %a %x %u; "" for almanac-%j.out.
  std::string err{};                       ///< "" to join `out`.
  Duration grace = 30s;                    ///< Between SIGTERM and SIGKILL.
  /// Sent before the time limit, and instead of SIGTERM when the job is preempted; 0 for none.
  std::int32_t warn_signal = 0;
  Duration warn_before = kNoDuration;          ///< Time before the limit; missing: a minute.
  bool warn_shell = false;                     ///< To the command alone; otherwise a script's shell
                                               ///< does not get it.
  bool pty = false;                            ///< On a terminal that its user attaches to.
  bool endless = false;                        ///< For a service: runs until cancelled.
  std::optional<std::int32_t> umask{};         ///< Of the submitter; missing: 022.
  std::vector<std::string> resource_limits{};  ///< Of the submitter (process/resource_limits.h).
  // Start conditions:
  bool hold = false;
  Time not_before = kNoTime;
  // Dependencies. The number of an array, which is that of its first task, stands for all its
  // tasks; they end well if every task does.
  std::vector<JobNumber> after{};         ///< These must have ended.
  std::vector<JobNumber> after_ok{};      ///< These must have ended well; otherwise the job is
                                          ///< cancelled.
  std::vector<JobNumber> after_not_ok{};  ///< These must not have ended well; otherwise it is
                                          ///< cancelled.
  std::vector<JobNumber> after_start{};   ///< These must have started, or ended without starting.
  /// Whether one of these is enough; the job is cancelled once none can satisfy it.
  bool after_one = false;
  bool singleton = false;  ///< Earlier jobs with its user and name must have ended.
  /// Whether it may be stopped and run again: after a failure of the machine only if yes, by a
  /// policy unless no (policy/contract/may_stop.h).
  trace::Requeue requeue = trace::Requeue::unsaid;
  /// For a service: starts as soon as there is room, and no policy takes its GPUs
  /// (policy::Keeping).
  bool kept = false;
  std::int32_t retries = 0;  ///< Number of automatic runs after failures.
  /// Chosen by the user to identify the submission; a second one with the same key is a repeat. ""
  /// for none.
  std::string key{};
  // Array:
  std::vector<std::int32_t> indices{};  ///< Empty if it is not an array.
  std::int32_t at_once = 0;

  bool operator==(const Submission&) const = default;
};

/// The request of a job. Copies share it: the tasks of an array, up to 100,000, have one.
class Asked {
 public:
  Asked() : shared_(nothing()) {}
  Asked(Submission asked) : shared_(std::make_shared<const Submission>(std::move(asked))) {}
  const Submission& operator*() const { return *shared_; }
  const Submission* operator->() const { return shared_.get(); }
  operator const Submission&() const { return *shared_; }
  /// Returns a private, mutable copy of the submission. Cost: a copy.
  Submission& change() {
    auto own = std::make_shared<Submission>(*shared_);
    shared_ = own;
    return *own;
  }
  bool is_shared_with(const Asked& other) const { return shared_ == other.shared_; }
  bool operator==(const Asked& other) const {
    return is_shared_with(other) || *shared_ == *other.shared_;
  }

 private:
  static const std::shared_ptr<const Submission>& nothing() {
    static const auto made = std::make_shared<const Submission>();
    return made;
  }

  std::shared_ptr<const Submission> shared_;
};

/// Energy of a job's GPUs, over all of its runs.
struct Energy {
  double measured_j = 0;      ///< As the driver reported.
  double modelled_j = 0;      ///< By a model, for time without measurements.
  Time counted_to = kNoTime;  ///< Of the current or last run, so far.

  double total_j() const { return measured_j + modelled_j; }
  bool operator==(const Energy&) const = default;
};

/// Measured use of a job, over all of its runs, as far as it was measured.
struct Used {
  double core_s = 0;          ///< Core-seconds of processors, in ...
  double core_seen_s = 0;     ///< ... this part of its time.
  double gpu_s = 0;           ///< In which its GPUs computed, their mean, of ...
  double gpu_seen_s = 0;      ///< ... this part of its time.
  double most_memory_gb = 0;  ///< Host memory, highest measurement; 0 if not measured.

  bool operator==(const Used&) const = default;
};

/// Changes to a request after submission; missing values mean no change. Job::asked includes them.
struct Amended {
  std::optional<std::int32_t> gpus{};
  Duration time_limit = kNoDuration;
  std::optional<std::int32_t> at_once{};  ///< ArrayTask::at_once; that includes it.

  bool operator==(const Amended&) const = default;
};

/// What should become of a job's process, even if the service restarts meanwhile.
enum class Intent : std::uint8_t {
  none,
  end,          ///< End with grace period; Job::reason says why.
  end_at_once,  ///< End without grace period.
  run_again,    ///< End, then run the job again from its beginning.
};
std::string_view to_string(Intent intent);

/// A job as it stands. `state` is pending, running, or one of those in which it has ended.
struct Job {
  JobNumber number{};
  Asked asked{};  ///< For a task of an array: without `indices`.
  Amended amended{};
  std::optional<ArrayTask> task{};
  Time submit{};
  trace::JobState state = trace::JobState::pending;
  bool held = false;  ///< By a user; it waits and is not shown to the policy.
  Intent intent = Intent::none;
  Time since{};          ///< Start of the current run, or wait.
  Time start = kNoTime;  ///< Of the first run.
  Time end = kNoTime;
  Duration attained{};        ///< Time run before the present run; of one that has ended, in all.
  std::int32_t attempts = 0;  ///< Runs begun.
  std::int32_t annulled = 0;  ///< Runs that no longer count, because the job starts over.
  std::int32_t preemptions = 0;
  std::int32_t failures = 0;                ///< After which it was to run again.
  Time again_at = kNoTime;                  ///< Earliest time of the next run; kNoTime for at once.
  std::vector<cluster::Grant> held_gpus{};  ///< Of the current or last run.
  std::vector<int> cores{};                 ///< Processors; empty for any.
  Energy energy{};
  Used used{};
  std::optional<int> exit_status{};
  int signal = 0;  ///< Signal that ended it; 0 for none.
  /// Bytes that its runs printed and its log lacks: the disk was full, or the log too long.
  std::int64_t lost_output = 0;
  /// Why it ended, or must end: "cancelled by ann", "out of memory".
  std::string reason{};

  bool operator==(const Job&) const = default;
};

}  // namespace almanac::store
