// SPDX-License-Identifier: Apache-2.0
#include "store/log.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include <fmt/format.h>

#include "store/ask.h"
#include "trace/eligible.h"
#include "trace/job_id.h"

namespace almanac::store {
namespace {

trace::JobKey key_of(JobNumber number) { return trace::JobKey{static_cast<std::uint64_t>(number)}; }

void fill(trace::Request& request, const Job& job, Names& names) {
  const Submission& asked = job.asked;
  request.submit = job.submit;
  each_ask([&]<typename T, typename Logged>(const Ask<T, Logged>& ask) {
    const T& value = asked.*ask.member;
    if constexpr (std::is_same_v<Logged, NameId>) {
      request.*ask.logged = names.intern(value);
    } else if constexpr (std::is_same_v<T, std::optional<double>> &&
                         std::is_same_v<Logged, float>) {
      if (value) request.*ask.logged = static_cast<float>(*value);
    } else if constexpr (!std::is_same_v<Logged, Unlogged>) {
      request.*ask.logged = static_cast<Logged>(value);
    }
  });
}

void fill(trace::Outcome& outcome, const Job& job) {
  outcome.run = job.attained;
  outcome.start = job.start;
  outcome.end = job.end;
  if (job.start != kNoTime && job.end - job.start != job.attained) {
    outcome.span = job.end - job.start;
  }
  outcome.attempts = job.attempts;
  outcome.state = job.state;
  cluster::Amount held;
  for (const cluster::Grant& grant : job.held_gpus) held += grant.amount();
  // Cores and memory that the job held, if they differ from its request.
  const auto differs = [](float had, const std::optional<double>& asked) {
    return had > 0 && (!asked || std::abs(had - static_cast<float>(*asked)) > 1e-3F);
  };
  const float cpus = static_cast<float>(held.cpus());
  const float memory_gb = static_cast<float>(held.memory_gb());
  if (differs(cpus, job.asked->cpus)) outcome.reference_cpus = cpus;
  if (differs(memory_gb, job.asked->memory_gb)) outcome.reference_memory_gb = memory_gb;
}

}  // namespace

trace::Job record_of(const Job& job, Names& names) {
  trace::Job record{.id = key_of(job.number), .request = {}, .outcome = {}};
  fill(record.request, job, names);
  if (job.end != kNoTime) fill(record.outcome, job);
  if (job.task && job.task->at_once > 0) {
    record.id = trace::key_of(fmt::format("{}_{}", job.task->array, job.task->index), names);
    record.request.array_limit = job.task->at_once;
  }
  return record;
}

trace::Trace log_of(const std::vector<Job>& jobs, const std::string& path) {
  trace::Trace trace;
  trace.path = path;
  trace.format = "almanac-store";
  trace.rows = static_cast<std::int64_t>(jobs.size());
  std::unordered_map<std::int64_t, Time> ends;
  std::unordered_map<std::int64_t, trace::JobKey> keys;
  for (const Job& job : jobs) {
    ends.emplace(static_cast<std::int64_t>(job.number), job.end);
    trace.jobs.push_back(record_of(job, trace.names));
    keys.emplace(static_cast<std::int64_t>(job.number), trace.jobs.back().id);
  }
  trace.knows_eligible = true;
  std::int64_t begun_later = 0;
  std::int64_t left_out = 0;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const Job& job = jobs[at];
    trace::Job& record = trace.jobs[at];
    Time last = kNoTime;
    for (const JobNumber before : job.asked->after) {
      const auto found = ends.find(static_cast<std::int64_t>(before));
      if (found == ends.end() || found->second < last) continue;
      last = found->second;
      record.request.after = keys.at(static_cast<std::int64_t>(before));
    }
    left_out += !job.asked->after.empty() && last == kNoTime;
    trace::join_queue(record, std::max(last, job.asked->not_before));
    begun_later += job.asked->not_before != kNoTime && job.asked->not_before > job.submit;
  }
  std::stable_sort(
      trace.jobs.begin(), trace.jobs.end(),
      [](const trace::Job& a, const trace::Job& b) { return a.request.submit < b.request.submit; });
  if (begun_later > 0) {
    trace.notes.push_back(fmt::format("had a requested start time: {}", begun_later));
  }
  if (left_out > 0) {
    trace.notes.push_back(fmt::format("depended on jobs that the log does not have: {}", left_out));
  }
  return trace;
}

}  // namespace almanac::store
