// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job of the live service: what a user asked, and what has become of it so far.
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

/// As users see it: 1, 2, 3 in order of submission, never used twice.
enum class JobNumber : std::int64_t {};
/// So fmt shows it.
constexpr std::int64_t format_as(JobNumber number) { return static_cast<std::int64_t>(number); }

/// The place of a task in its array: "12_3" is task 3 of the array whose first job is 12.
struct ArrayTask {
  JobNumber array{};
  std::int32_t index = 0;
  std::int32_t at_once = 0;  ///< So many tasks of it run at once at most; 0 = any number.

  bool operator==(const ArrayTask&) const = default;
};

/// What a user asks. Missing: 0, "", NaN, kNoDuration, kNoTime as in trace::Request.
struct Submission {
  // Its user, and what it is for.
  std::string name{};
  std::string comment{};  ///< Free text of its user.
  std::string user{};
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string vc{};
  std::string qos{};
  std::string account{};    ///< At a Slurm; "" = not known.
  std::string partition{};  ///< Likewise: what it was submitted to.
  std::string model{};
  std::string group{};                    ///< The sweep of which it is a trial; "" = it is none.
  std::vector<std::string> parameters{};  ///< Of a trial: "lr=0.01", in the order of the space.
  bool smaller_is_better = false;         ///< Of the metric that it reports.
  // What it needs.
  std::int32_t gpus = 0;
  std::int32_t max_gpus = 0;
  std::int32_t min_gpus = 0;  ///< Where policies deal GPUs; 0 = one.
  double gpu_share = 1;
  std::string gpu_type{};
  std::string gpu_profile{};              ///< Instances are asked, not GPUs: "2g.20gb"
                                          ///< (cluster/slices/board.h).
  std::optional<double> gpu_memory_gb{};  ///< Of each GPU, or instance, as its driver counts.
  std::optional<double> cpus{};
  std::optional<double> memory_gb{};
  std::optional<double> io_mbs{};  ///< Read from each disk, and written to it, a second at most.
  Duration time_limit = kNoDuration;
  // What it promises, and is promised.
  Time deadline = kNoTime;
  Time worthless_at = kNoTime;
  std::optional<double> value{};
  std::int32_t batch = 0;
  std::int64_t steps = 0;
  // What runs.
  std::vector<std::string> argv{};  ///< Of a script: its arguments, from $1 on.
  std::string script{};             ///< Its text; "" = argv is the command.
  std::string directory{};
  std::vector<std::string> environment{};  ///< "NAME=value", all of it.
  std::string out{};                       ///< File names with %j %A %a %x %u; "" = almanac-%j.out.
  std::string err{};                       ///< "" = with `out`.
  Duration grace = 30s;                    ///< Between SIGTERM and SIGKILL.
  std::int32_t warn_signal = 0;            ///< Sent before the time limit, and for SIGTERM when it
                                           ///< makes room for others; 0 = none.
  Duration warn_before = kNoDuration;      ///< So long before the limit; missing: a minute.
  bool warn_shell = false;                 ///< To the command alone; else, of a script, to all but
                                           ///< its shell.
  bool pty = false;                        ///< On a terminal, to which its user attaches.
  bool endless = false;                    ///< Of a service: it runs until it is cancelled.
  std::optional<std::int32_t> umask{};     ///< Of the submitter; missing = 022.
  std::vector<std::string> resource_limits{};  ///< The same (process/resource_limits.h).
  // When.
  bool hold = false;
  Time not_before = kNoTime;
  // What it comes after. The number of an array, which is that of its first task, is all of its
  // tasks; well means that all of them ended well.
  std::vector<JobNumber> after{};         ///< These have ended, however.
  std::vector<JobNumber> after_ok{};      ///< These have ended well; else it is cancelled.
  std::vector<JobNumber> after_not_ok{};  ///< These have not; else it is cancelled.
  std::vector<JobNumber> after_start{};   ///< These have begun, or ended without.
  bool after_one = false;                 ///< One of these suffices; it is cancelled once none can.
  bool singleton = false;                 ///< Earlier jobs of its user and name have ended.
  bool requeue = false;                   ///< Runs again by itself when the machine failed it.
  bool kept = false;                      ///< Of a service: begins as soon as there is room, and no
                                          ///< policy takes from it what it holds (policy::Keeping).
  std::int32_t retries = 0;               ///< So often it runs again by itself when it failed.
  std::string key{};  ///< By which its user knows this submission; a second one with it is the
                      ///< same.
                      ///< "" = none.
  // As an array.
  std::vector<std::int32_t> indices{};  ///< Empty = no array.
  std::int32_t at_once = 0;

  bool operator==(const Submission&) const = default;
};

/// What a job asks. Copies share it: the tasks of an array, of which there may be 100,000, have
/// one.
class Asked {
 public:
  Asked() : shared_(nothing()) {}
  Asked(Submission asked) : shared_(std::make_shared<const Submission>(std::move(asked))) {}
  const Submission& operator*() const { return *shared_; }
  const Submission* operator->() const { return shared_.get(); }
  operator const Submission&() const { return *shared_; }
  /// It as this one's own, to be changed at once. Cost: a copy of it.
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

/// What a job's GPUs drew for it, in all of its runs.
struct Energy {
  double measured_j = 0;      ///< As the driver told.
  double modelled_j = 0;      ///< By a model, of the time in which none did.
  Time counted_to = kNoTime;  ///< Of the present, or last, run: so far.

  double total_j() const { return measured_j + modelled_j; }
  bool operator==(const Energy&) const = default;
};

/// What was measured of a job while it ran, in all of its runs, as far as somebody looked.
struct Used {
  double core_s = 0;          ///< Of processors, in ...
  double core_seen_s = 0;     ///< ... so much of its time.
  double gpu_s = 0;           ///< In which its GPUs computed, their mean, of ...
  double gpu_seen_s = 0;      ///< ... so much of its time.
  double most_memory_gb = 0;  ///< Of the machine, at any look; 0 = nobody looked.

  bool operator==(const Used&) const = default;
};

/// What was changed of what a job asked, after it was submitted; missing = nothing. Job::asked has
/// it.
struct Amended {
  std::optional<std::int32_t> gpus{};
  Duration time_limit = kNoDuration;

  bool operator==(const Amended&) const = default;
};

/// What is wanted of the process that a job has, whatever becomes of the service meanwhile.
enum class Intent : std::uint8_t {
  none,
  end,          ///< It is to end, with its grace; Job::reason says why.
  end_at_once,  ///< The same, without.
  run_again,    ///< It is to end, and the job runs again from its beginning.
};
std::string_view to_string(Intent intent);

/// A job as it stands. `state` is pending, running, or one of those in which it has ended.
struct Job {
  JobNumber number{};
  Asked asked{};  ///< Of a task of an array: without `indices`.
  Amended amended{};
  std::optional<ArrayTask> task{};
  Time submit{};
  trace::JobState state = trace::JobState::pending;
  bool held = false;  ///< By a user; it waits and is not shown to the policy.
  Intent intent = Intent::none;
  Time since{};          ///< When the present run, or wait, began.
  Time start = kNoTime;  ///< Of the first run.
  Time end = kNoTime;
  Duration attained{};        ///< Time run before the present run; of one that has ended, in all.
  std::int32_t attempts = 0;  ///< Runs begun.
  std::int32_t annulled = 0;  ///< So many of them count no more: it was to begin again after them.
  std::int32_t preemptions = 0;
  std::int32_t failures = 0;                ///< After which it was to run again.
  Time again_at = kNoTime;                  ///< It does not run again before; kNoTime = at once.
  std::vector<cluster::Grant> held_gpus{};  ///< Of the present, or last, run.
  std::vector<int> cores{};                 ///< Processors of it; empty = any.
  Energy energy{};
  Used used{};
  std::optional<int> exit_status{};
  int signal = 0;        ///< That ended it; 0 = none.
  std::string reason{};  ///< Why it ended so, or is to end: "cancelled by ann", "out of memory".

  bool operator==(const Job&) const = default;
};

}  // namespace almanac::store
