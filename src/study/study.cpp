// SPDX-License-Identifier: Apache-2.0
#include "study/study.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace almanac::study {
namespace {

bool ran(const trace::Job& job) {
  if (duration_of(job) > Duration{0}) return true;
  return job.request.gpus == 0 && job.outcome.start != kNoTime;
}

}  // namespace

std::string_view to_string(Need need) {
  switch (need) {
    case Need::gpu_jobs:
      return "jobs with GPUs";
    case Need::cpu_jobs:
      return "jobs without GPUs";
    case Need::user:
      return "user";
    case Need::vc:
      return "vc";
    case Need::state:
      return "state";
    case Need::start:
      return "start_s (when a job began to run)";
    case Need::nodes:
      return "nodes (on how many machines a job ran)";
    case Need::cpus:
      return "cpus";
    case Need::attempts:
      return "attempts (how often a job was tried)";
    case Need::machines:
      return "the machines of each attempt, as Philly's cluster_job_log has them";
    case Need::calendar:
      return "dates (the log counts time from a zero of its own)";
    case Need::gpu_utilization:
      return "GPU utilization by the minute: --gpu-util cluster_gpu_util";
    case Need::host_utilization:
      return "CPU and memory of machines by the minute: --cpu-util cluster_cpu_util, --mem-util "
             "cluster_mem_util";
    case Need::vc_series:
      return "utilization of virtual clusters by the minute: --vc-series DIR";
    case Need::job_logs:
      return "the logs that failed jobs left: --logs DIR";
    case Need::convergence:
      return "the loss of each epoch of training, which no job log has";
  }
  ALMANAC_CHECK(false, "need {}", static_cast<int>(need));
}

std::string_view to_string(Ending ending) {
  switch (ending) {
    case Ending::completed:
      return "completed";
    case Ending::cancelled:
      return "cancelled";
    case Ending::failed:
      return "failed";
    case Ending::timed_out:
      return "timed out";
    case Ending::preempted:
      return "preempted";
  }
  ALMANAC_CHECK(false, "ending {}", static_cast<int>(ending));
}

std::optional<Ending> ending_of(const trace::Job& job) {
  switch (job.outcome.state) {
    case trace::JobState::unknown:
    case trace::JobState::pending:
    case trace::JobState::running:
      return std::nullopt;
    case trace::JobState::completed:
      return Ending::completed;
    case trace::JobState::cancelled:
      return Ending::cancelled;
    case trace::JobState::failed:
    case trace::JobState::node_fail:
      return Ending::failed;
    case trace::JobState::timeout:
      return Ending::timed_out;
    case trace::JobState::preempted:
      return Ending::preempted;
  }
  ALMANAC_CHECK(false, "state {}", static_cast<int>(job.outcome.state));
}

Study::Study(const trace::Trace& trace, const cluster::Cluster& cluster, Measured measured)
    : trace_(trace), cluster_(cluster), measured_(measured) {
  const auto set = [&](Need need, bool there) {
    bool& known = has_[static_cast<std::size_t>(need)];
    known = known || there;
  };
  for (std::uint32_t at = 0; at < trace.jobs.size(); ++at) {
    const trace::Job& job = trace.jobs[at];
    if (!ran(job)) {
      ++never_ran_;
      continue;
    }
    const bool on_gpus = job.request.gpus > 0;
    (on_gpus ? gpu_jobs_ : cpu_jobs_).push_back(at);
    set(Need::user, job.request.user != kNoName);
    set(Need::cpus, !std::isnan(job.request.cpus));
    if (!on_gpus) continue;
    set(Need::vc, job.request.vc != kNoName);
    set(Need::state, ending_of(job).has_value());
    set(Need::start, job.outcome.start != kNoTime);
    set(Need::nodes, job.request.nodes > 0);
    set(Need::attempts, job.outcome.attempts > 0);
  }
  // Logs that count from a zero of their own would all lie in 1970.
  constexpr Time kFirstDate{Duration(365LL * 24 * 3600 * 1000)};
  set(Need::gpu_jobs, !gpu_jobs_.empty());
  set(Need::cpu_jobs, !cpu_jobs_.empty());
  set(Need::machines, !trace.pieces.empty());
  set(Need::calendar, !trace.jobs.empty() && trace.jobs.front().request.submit >= kFirstDate);
  set(Need::gpu_utilization, measured.gpu != nullptr);
  set(Need::host_utilization, measured.host != nullptr);
  set(Need::vc_series, measured.vcs != nullptr);
  set(Need::job_logs, measured.failures != nullptr);
}

Duration duration_of(const trace::Job& job) {
  const trace::Outcome& outcome = job.outcome;
  if (outcome.span != kNoDuration) return outcome.span;
  if (outcome.start != kNoTime && outcome.end != kNoTime) return outcome.end - outcome.start;
  return outcome.run;
}

double gpu_time(const trace::Job& job) {
  return static_cast<double>(job.request.gpus) * static_cast<double>(job.request.gpu_share) *
         seconds(duration_of(job));
}

double wait_s(const trace::Job& job) {
  if (job.outcome.start == kNoTime) return std::numeric_limits<double>::quiet_NaN();
  return seconds(job.outcome.start - job.request.submit);
}

}  // namespace almanac::study
