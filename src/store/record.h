// SPDX-License-Identifier: Apache-2.0

/// \file
/// The columns of each record and the members that they hold: the one list for writing, reading and
/// querying.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "store/ask.h"
#include "store/job.h"
#include "store/store.h"

namespace almanac::store {

template <typename T, typename Record>
concept Any = std::same_as<std::remove_const_t<T>, Record>;

/// All but what is kept apart (argv, script, environment), and `indices`: a job is one.
template <Any<Submission> T, typename Visit>
void each_field(T& asked, Visit&& visit) {
  each_ask([&](const auto& ask) {
    if (ask.column != nullptr) visit(ask.column_name(), asked.*ask.member);
  });
}

/// The fields of a job that change.
template <Any<Job> T, typename Visit>
void each_field(T& job, Visit&& visit) {
  visit("submit_ms", job.submit);
  visit("state", job.state);
  visit("held", job.held);
  visit("intent", job.intent);
  visit("since_ms", job.since);
  visit("start_ms", job.start);
  visit("end_ms", job.end);
  visit("attained_ms", job.attained);
  visit("attempts", job.attempts);
  visit("annulled", job.annulled);
  visit("preemptions", job.preemptions);
  visit("failures", job.failures);
  visit("again_at_ms", job.again_at);
  visit("amended_gpus", job.amended.gpus);
  visit("amended_time_limit_ms", job.amended.time_limit);
  visit("amended_at_once", job.amended.at_once);
  visit("held_gpus", job.held_gpus);
  visit("cores", job.cores);
  visit("measured_j", job.energy.measured_j);
  visit("modelled_j", job.energy.modelled_j);
  visit("counted_to_ms", job.energy.counted_to);
  visit("used_core_s", job.used.core_s);
  visit("used_core_seen_s", job.used.core_seen_s);
  visit("used_gpu_s", job.used.gpu_s);
  visit("used_gpu_seen_s", job.used.gpu_seen_s);
  visit("used_most_memory_gb", job.used.most_memory_gb);
  visit("lost_output", job.lost_output);
  visit("exit_status", job.exit_status);
  visit("signal", job.signal);
  visit("reason", job.reason);
}

template <Any<Note> T, typename Visit>
void each_field(T& note, Visit&& visit) {
  visit("job", note.job);
  visit("at_ms", note.at);
  visit("what", note.what);
  visit("detail", note.detail);
}

template <Any<Told> T, typename Visit>
void each_field(T& told, Visit&& visit) {
  visit("job", told.job);
  visit("at_ms", told.at);
  visit("policy", told.policy);
  visit("start_from_ms", told.start_from);
  visit("start_to_ms", told.start_to);
  visit("end_from_ms", told.end_from);
  visit("end_to_ms", told.end_to);
  visit("share", told.share);
  visit("kept", told.kept);
}

template <Any<Report> T, typename Visit>
void each_field(T& report, Visit&& visit) {
  visit("job", report.job);
  visit("step", report.step);
  visit("metric", report.metric);
  visit("at_ms", report.at);
}

template <Any<Moment> T, typename Visit>
void each_field(T& moment, Visit&& visit) {
  visit("at_ms", moment.at);
  visit("gpus", moment.gpus);
  visit("gpus_busy", moment.gpus_busy);
  visit("jobs_running", moment.jobs_running);
  visit("jobs_waiting", moment.jobs_waiting);
  visit("gpu_use", moment.gpu_use);
  visit("power_w", moment.power_w);
  visit("power_is_measured", moment.power_is_measured);
}

/// "a, b, c" of the columns of a record, `before` before and `after` after each name.
template <typename Record>
std::string columns(std::string_view before = {}, std::string_view after = {}) {
  std::string list;
  Record record;
  each_field(record, [&](std::string_view name, const auto&) {
    if (!list.empty()) list += ", ";
    list.append(before).append(name).append(after);
  });
  return list;
}

/// "?, ?, ?" for them.
template <typename Record>
std::string placeholders() {
  std::string list;
  Record record;
  each_field(record, [&](std::string_view, const auto&) { list += list.empty() ? "?" : ", ?"; });
  return list;
}

}  // namespace almanac::store
