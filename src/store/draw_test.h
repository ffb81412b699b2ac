// SPDX-License-Identifier: Apache-2.0

/// \file
/// Random jobs and their records, with arbitrary values in every field, for tests.
#pragma once

#include <string>
#include <vector>

#include <rapidcheck.h>

#include "store/store.h"

namespace almanac::store {

inline bool maybe() { return *rc::gen::inRange(0, 2) == 1; }
/// Any bytes but zero.
inline std::string draw_text() {
  auto text = *rc::gen::string<std::string>();
  std::erase(text, '\0');
  return text;
}
template <typename T>
T draw_number() {
  return *rc::gen::arbitrary<T>();
}
inline Time draw_time() {
  return Time(Duration(*rc::gen::inRange<std::int64_t>(-1'000, 1LL << 42)));
}
inline Time draw_time_or_none() { return maybe() ? draw_time() : kNoTime; }
inline Duration draw_length() { return Duration(*rc::gen::inRange<std::int64_t>(0, 1LL << 42)); }
inline double draw_decimal() { return *rc::gen::inRange(-1'000'000, 1'000'000) / 7.0; }
inline std::optional<double> draw_decimal_or_none() {
  return maybe() ? std::optional(draw_decimal()) : std::nullopt;
}
template <typename Draw>
auto draw_list(Draw&& draw) {
  std::vector<decltype(draw())> list;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) list.push_back(draw());
  return list;
}
inline JobNumber draw_other() { return JobNumber{*rc::gen::inRange<std::int64_t>(1, 1LL << 62)}; }

inline Submission draw_submission() {
  Submission asked;
  asked.name = draw_text();
  asked.user = draw_text();
  asked.uid = draw_number<std::uint32_t>();
  asked.gid = draw_number<std::uint32_t>();
  asked.vc = draw_text();
  asked.qos = draw_text();
  asked.comment = draw_text();
  asked.account = draw_text();
  asked.partition = draw_text();
  asked.model = draw_text();
  asked.group = draw_text();
  asked.parameters = draw_list(draw_text);
  asked.smaller_is_better = maybe();
  asked.gpus = draw_number<std::int32_t>();
  asked.max_gpus = draw_number<std::int32_t>();
  asked.nvlink_gpus = draw_number<std::int32_t>();
  asked.min_gpus = draw_number<std::int32_t>();
  asked.gpu_share = draw_decimal();
  asked.gpu_type = draw_text();
  asked.gpu_profile = draw_text();
  asked.gpu_memory_gb = draw_decimal_or_none();
  asked.cpus = draw_decimal_or_none();
  asked.memory_gb = draw_decimal_or_none();
  asked.io_mbs = draw_decimal_or_none();
  asked.time_limit = maybe() ? draw_length() : kNoDuration;
  asked.deadline = draw_time_or_none();
  asked.worthless_at = draw_time_or_none();
  asked.value = draw_decimal_or_none();
  asked.batch = draw_number<std::int32_t>();
  asked.steps = draw_number<std::int64_t>();
  asked.argv = draw_list(draw_text);
  asked.script = maybe() ? draw_text() : "";
  asked.directory = draw_text();
  asked.environment = draw_list(draw_text);
  asked.out = draw_text();
  asked.err = draw_text();
  asked.grace = draw_length();
  asked.warn_signal = *rc::gen::inRange(0, 65);
  asked.warn_before = draw_length();
  asked.warn_shell = maybe();
  asked.retries = *rc::gen::inRange(0, 101);
  asked.key = draw_text();
  asked.hold = maybe();
  asked.not_before = draw_time_or_none();
  asked.after = draw_list(draw_other);
  if (*rc::gen::arbitrary<bool>()) asked.umask = *rc::gen::inRange(0, 0777);
  asked.resource_limits = {"nofile=1024"};
  asked.after_ok = draw_list(draw_other);
  asked.after_not_ok = draw_list(draw_other);
  asked.after_start = draw_list(draw_other);
  asked.after_one = maybe();
  asked.singleton = maybe();
  asked.pty = maybe();
  asked.endless = maybe();
  asked.requeue =
      *rc::gen::element(trace::Requeue::unsaid, trace::Requeue::yes, trace::Requeue::no);
  asked.kept = maybe();
  asked.at_once = draw_number<std::int32_t>();
  return asked;
}

inline cluster::Grant draw_grant() {
  cluster::Grant grant{.node = NodeId{draw_number<std::uint32_t>()},
                       .gpu_milli = draw_number<std::int32_t>(),
                       .gpus = draw_number<std::uint64_t>(),
                       .cpu_milli = draw_number<std::int32_t>(),
                       .memory_mb = draw_number<std::int32_t>()};
  const int kind = *rc::gen::inRange(0, 3);
  if (kind == 1) grant.gpu_memory_mb = 39'250;
  if (kind == 2) {
    grant.profile = *slices::profile_id("2g.20gb");
    grant.slice = 4;
  }
  return grant;
}

/// With numbers above `number`, in order; some are tasks of an array.
inline std::vector<Job> draw_jobs(std::int64_t number) {
  std::vector<Job> jobs;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    number += *rc::gen::inRange(1, 4);
    Job& job = jobs.emplace_back();
    job.number = JobNumber{number};
    job.asked = draw_submission();
    job.submit = draw_time();
    job.state = static_cast<trace::JobState>(*rc::gen::inRange(0, 9));
    job.held = maybe();
    job.intent = static_cast<Intent>(*rc::gen::inRange(0, 4));
    job.since = draw_time();
    job.start = draw_time_or_none();
    job.end = draw_time_or_none();
    job.attained = draw_length();
    job.attempts = draw_number<std::int32_t>();
    job.annulled = draw_number<std::int32_t>();
    job.energy = {.measured_j = draw_decimal(),
                  .modelled_j = draw_decimal(),
                  .counted_to = draw_time_or_none()};
    job.used = {.core_s = draw_decimal(),
                .core_seen_s = draw_decimal(),
                .gpu_s = draw_decimal(),
                .gpu_seen_s = draw_decimal(),
                .most_memory_gb = draw_decimal()};
    job.lost_output = draw_number<std::int64_t>();
    job.preemptions = draw_number<std::int32_t>();
    job.held_gpus = draw_list(draw_grant);
    job.cores = draw_list(draw_number<int>);
    if (maybe()) job.exit_status = draw_number<int>();
    job.signal = draw_number<int>();
    job.reason = draw_text();
    if (jobs.size() > 1 && maybe()) {
      const Job& before = jobs[jobs.size() - 2];
      job.asked = before.asked;
      const ArrayTask first{.array = before.number, .index = draw_number<std::int32_t>()};
      job.task = before.task.value_or(first);
      job.task->index = draw_number<std::int32_t>();
      job.task->at_once = draw_number<std::int32_t>();
      job.asked.change().indices = {};
    }
    job.failures = draw_number<std::int32_t>();
    job.again_at = draw_time_or_none();
  }
  // What the first of an array is put with is what all of it has asked.
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    Job& job = jobs[at];
    const bool leads =
        at + 1 < jobs.size() && jobs[at + 1].task && jobs[at + 1].task->array == job.number;
    if (leads) continue;
    if (maybe()) job.asked.change().gpus = job.amended.gpus.emplace(draw_number<std::int32_t>());
    if (maybe()) job.asked.change().time_limit = job.amended.time_limit = draw_length();
    if (job.task && maybe()) {
      job.task->at_once = job.amended.at_once.emplace(draw_number<std::int32_t>());
    }
  }
  return jobs;
}

inline Note draw_note(JobNumber job) { return {draw_time(), job, draw_text(), draw_text()}; }

inline Told draw_told(JobNumber job) {
  return {.at = draw_time(),
          .job = job,
          .policy = draw_text(),
          .start_from = draw_time_or_none(),
          .start_to = draw_time_or_none(),
          .end_from = draw_time_or_none(),
          .end_to = draw_time_or_none(),
          .share = draw_decimal(),
          .kept = draw_decimal_or_none()};
}

}  // namespace almanac::store
