// SPDX-License-Identifier: Apache-2.0

/// \file
/// The columns of each record beside the fields that they hold: the one list from which it is
/// written, read and asked for.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "store/job.h"
#include "store/store.h"

namespace almanac::store {

template <typename T, typename Record>
concept Any = std::same_as<std::remove_const_t<T>, Record>;

/// All but what runs (argv, script, environment), and `indices`: a job is one.
template <Any<Submission> T, typename Visit>
void each_field(T& asked, Visit&& visit) {
  visit("name", asked.name);
  visit("user", asked.user);
  visit("uid", asked.uid);
  visit("gid", asked.gid);
  visit("vc", asked.vc);
  visit("qos", asked.qos);
  visit("account", asked.account);
  visit("partition", asked.partition);
  visit("model", asked.model);
  visit("trial_of", asked.group);
  visit("parameters", asked.parameters);
  visit("smaller_is_better", asked.smaller_is_better);
  visit("gpus", asked.gpus);
  visit("max_gpus", asked.max_gpus);
  visit("min_gpus", asked.min_gpus);
  visit("gpu_share", asked.gpu_share);
  visit("gpu_type", asked.gpu_type);
  visit("gpu_profile", asked.gpu_profile);
  visit("gpu_memory_gb", asked.gpu_memory_gb);
  visit("cpus", asked.cpus);
  visit("memory_gb", asked.memory_gb);
  visit("io_mbs", asked.io_mbs);
  visit("time_limit_ms", asked.time_limit);
  visit("deadline_ms", asked.deadline);
  visit("worthless_at_ms", asked.worthless_at);
  visit("value", asked.value);
  visit("batch", asked.batch);
  visit("steps", asked.steps);
  visit("directory", asked.directory);
  visit("out", asked.out);
  visit("err", asked.err);
  visit("grace_ms", asked.grace);
  visit("warn_signal", asked.warn_signal);
  visit("warn_before_ms", asked.warn_before);
  visit("warn_shell", asked.warn_shell);
  visit("pty", asked.pty);
  visit("endless", asked.endless);
  visit("umask", asked.umask);
  visit("resource_limits", asked.resource_limits);
  visit("hold", asked.hold);
  visit("not_before_ms", asked.not_before);
  visit("after", asked.after);
  visit("after_ok", asked.after_ok);
  visit("after_not_ok", asked.after_not_ok);
  visit("after_start", asked.after_start);
  visit("after_one", asked.after_one);
  visit("singleton", asked.singleton);
  visit("requeue", asked.requeue);
  visit("kept", asked.kept);
  visit("retries", asked.retries);
  visit("key", asked.key);
  visit("at_once", asked.at_once);
}

/// What changes of a job.
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
