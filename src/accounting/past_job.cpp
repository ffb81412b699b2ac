// SPDX-License-Identifier: Apache-2.0
#include "accounting/past_job.h"

#include <algorithm>
#include <utility>

#include "trace/sacct_runs.h"

namespace almanac::accounting {
namespace {

/// When its first run began, or where it had none, when it ended.
Time begin_of(const store::Job& job) { return job.start == kNoTime ? job.end : job.start; }

bool has_ended(const store::Job& job) {
  return job.state != trace::JobState::pending && job.state != trace::JobState::running;
}

}  // namespace

store::JobNumber stored_number(manager::JobNumber number, std::uint32_t again) {
  constexpr int kSlurmsBits = 32;
  return store::JobNumber{(std::int64_t{again} << kSlurmsBits) | static_cast<std::int64_t>(number)};
}

store::Submission asked_by(const manager::Job& job, std::string vc) {
  store::Submission asked;
  asked.name = job.name;
  asked.user = job.user;
  asked.uid = job.uid;
  asked.vc = std::move(vc);
  asked.qos = job.qos;
  asked.account = job.account;
  asked.partition = job.partition;
  asked.gpus = job.gpus;
  asked.gpu_type = job.gpu_type;
  asked.cpus = job.cpus;
  asked.memory_gb = job.memory_gb;
  asked.time_limit = job.limit;
  return asked;
}

store::Job past_job(const manager::Job& row, VcFrom vc) {
  const std::string& name = vc == VcFrom::account ? row.account
                            : vc == VcFrom::qos   ? row.qos
                                                  : row.partition;
  store::Submission asked = asked_by(row, name);
  // A dependency, a begin time or a hold: until then it did not queue.
  if (row.eligible != kNoTime && row.eligible > row.submit) asked.not_before = row.eligible;
  store::Job job{.number = stored_number(row.number, 0), .asked = std::move(asked)};
  job.submit = row.submit;
  job.state = row.outcome;
  job.end = row.end;
  // A clock that was set back may tell of a run before its job.
  if (row.start != kNoTime) {
    job.start = std::clamp(row.start, std::min(row.submit, row.end), row.end);
    job.attained = std::clamp(row.ran, Duration::zero(), row.end - job.start);
    job.attempts = 1;
    job.preemptions = row.outcome == trace::JobState::preempted ? 1 : 0;
  }
  job.submit = std::min(job.submit, begin_of(job));
  job.since = begin_of(job);
  return job;
}

bool is_of(const store::Job& known, const store::Job& row) {
  if (known.asked->user != row.asked->user || known.asked->name != row.asked->name) return false;
  // One that runs, or waits, is told by the service.
  if (known.end == kNoTime || row.end == kNoTime) return true;
  const auto run_of = [](const store::Job& job) {
    return trace::SacctRun{.user = job.asked->user,
                           .name = job.asked->name,
                           .submit = job.submit,
                           .end = job.end,
                           .state = job.state};
  };
  const bool is_next = known.submit <= row.submit;
  return trace::is_same_job(run_of(is_next ? known : row), run_of(is_next ? row : known));
}

std::optional<store::Job> with_run(const store::Job& known, const store::Job& row) {
  if (!has_ended(known)) return std::nullopt;
  if (begin_of(known) <= begin_of(row) && row.end <= known.end) return std::nullopt;
  store::Job job = known;
  job.attained += row.attained;
  job.attempts += row.attempts;
  job.preemptions += row.preemptions;
  job.submit = std::min(known.submit, row.submit);
  if (row.start != kNoTime) {
    job.start = known.start == kNoTime ? row.start : std::min(known.start, row.start);
  }
  if (row.end > known.end) {
    job.end = row.end;
    job.state = row.state;
    job.since = row.since;
  }
  return job;
}

}  // namespace almanac::accounting
