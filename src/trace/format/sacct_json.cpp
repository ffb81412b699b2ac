// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the output of `sacct --json`: that of Slurm 22.05 (dbv0.0.38), and the later notation of
/// numbers ({"set": true, "number": 5}) and states (["COMPLETED"]).
///
/// Ids are those of the text form: 123_4 for array tasks, 123+0 for parts of heterogeneous jobs.
/// Releases of 22.05 print the eligible time as "start". The start of a job that has ended is
/// therefore its end minus its run time and the time for which it was suspended. Time limits are in
/// minutes, memory in MiB.
///
/// Source   src/plugins/openapi/dbv0.0.38 of Slurm 22.05.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "trace/eligible.h"
#include "trace/format.h"
#include "trace/json_records.h"
#include "trace/node_list.h"
#include "trace/one_cluster.h"
#include "trace/partitions.h"
#include "trace/sacct_columns.h"
#include "trace/sacct_runs.h"
#include "trace/sacct_states.h"
#include "trace/tres.h"

namespace almanac::trace {

void register_sacct_json(Formats& registry);

namespace {

// Seconds: later than any clock of a cluster, and sums fit.
constexpr std::int64_t kLatest = 1'000'000'000'000;

Duration seconds_of(std::int64_t count, const char* key) {
  if (count < 0 || count > kLatest) {
    throw BadRecord{fmt::format("{} must be seconds of 0 or more, found {}", key, count)};
  }
  return std::chrono::seconds(count);
}

std::string id_of(JsonObject& record) {
  const auto own = number_of(record, "job_id");
  if (!own) throw BadRecord{"job_id must not be empty"};
  if (auto array = object_of(record, "array")) {
    const auto parent = number_of(*array, "job_id");
    const auto task = number_of(*array, "task_id");
    if (parent && *parent > 0) {
      if (task) return fmt::format("{}_{}", *parent, *task);
      if (const auto tasks = text_of(*array, "task"); !tasks.empty()) {
        return fmt::format("{}_[{}]", *parent, tasks);
      }
    }
  }
  if (auto het = object_of(record, "het")) {
    const auto parent = number_of(*het, "job_id");
    const auto offset = number_of(*het, "job_offset");
    if (parent && *parent > 0 && offset) return fmt::format("{}+{}", *parent, *offset);
  }
  return fmt::format("{}", *own);
}

void read_times(JsonObject& record, Job& job) {
  auto time = object_of(record, "time");
  if (!time) throw BadRecord{"time must not be empty"};
  const auto get = [&](const char* key) { return number_of(*time, key).value_or(0); };
  const std::int64_t submitted = get("submission");
  if (submitted <= 0) throw BadRecord{"time/submission must not be empty"};
  Outcome& outcome = job.outcome;
  job.request.submit = Time(seconds_of(submitted, "time/submission"));
  outcome.run = seconds_of(get("elapsed"), "time/elapsed");
  const Duration suspended = seconds_of(get("suspended"), "time/suspended");
  const Duration end = seconds_of(get("end"), "time/end");
  const Duration start = seconds_of(get("start"), "time/start");
  if (end > Duration::zero()) {
    outcome.end = Time(end);
    if (outcome.run > Duration::zero()) outcome.start = outcome.end - outcome.run - suspended;
  } else if (start > Duration::zero() && outcome.run > Duration::zero()) {
    outcome.start = Time(start);
  }
  const Duration eligible = seconds_of(get("eligible"), "time/eligible");
  if (eligible > Duration::zero()) join_queue(job, Time(eligible));
  if (const auto limit = number_of(*time, "limit"); limit && *limit > 0) {
    if (*limit > kLatest / 60) throw BadRecord{"time/limit must be minutes"};
    job.request.time_limit = std::chrono::minutes(*limit);
  }
}

/// Adds up the list `key` of record/tres; false when it is empty.
bool read_tres(JsonObject& lists, const char* key, Tres& tres) {
  auto list = array_of(lists, key);
  if (!list) return false;
  bool any = false;
  for (auto element : *list) {
    JsonObject item;
    if (element.get_object().get(item) != simdjson::SUCCESS) {
      throw BadRecord{fmt::format("tres/{} must be a list of objects", key)};
    }
    std::string name(text_of(item, "type"));
    if (const auto detail = text_of(item, "name"); !detail.empty()) {
      name += '/';
      name += detail;
    }
    any = true;
    const auto count = number_of(item, "count");
    if (!count || is_no_value(static_cast<double>(*count), 64)) continue;
    if (!tres.add(name, static_cast<double>(*count))) {
      throw BadRecord{fmt::format("tres/{} must have counts of {:.0f} or less, found {}={}", key,
                                  name == "cpu" ? kMostCpus : kMostOfTres, name, *count)};
    }
  }
  return any;
}

/// The words of the state, a comma between them: later releases have a list.
std::string state_words(JsonObject& record) {
  auto state = object_of(record, "state");
  if (!state) return {};
  try {
    return std::string(text_of(*state, "current"));
  } catch (const BadRecord&) {
    std::string words;
    if (auto list = array_of(*state, "current")) {
      for (auto element : *list) {
        std::string_view text;
        if (element.get_string().get(text) != simdjson::SUCCESS) continue;
        if (!words.empty()) words += ',';
        words += text;
      }
    }
    return words;
  }
}

void read_state(JsonObject& record, Job& job, Intake& intake, SacctRuns& runs) {
  const std::string words = state_words(record);
  if (words.empty()) return;
  const auto word = sacct_state(words);
  if (!word) {
    intake.remark("jobs whose state does not say how they ended (treated as unknown)");
  } else if (*word == "RESIZING") {
    runs.resized(job);
  } else {
    // A run that was requeued has ended, and the job runs again.
    job.outcome.state = *word == "REQUEUED" ? JobState::preempted : parse_state(*word).value();
  }
}

/// Takes what Slurm tells of how the job was scheduled.
void take_evidence(JsonObject& record, Job& job, Trace& trace) {
  Outcome& outcome = job.outcome;
  outcome.priority = std::clamp<std::int64_t>(number_of(record, "priority").value_or(0), 0,
                                              std::int64_t{UINT32_MAX});
  if (auto state = object_of(record, "state")) {
    const std::string_view reason = text_of(*state, "reason");
    if (reason != "None") outcome.reason = trace.names.intern(reason);
  }
  std::string flags;
  if (auto list = array_of(record, "flags")) {
    for (auto element : *list) {
      std::string_view text;
      if (element.get_string().get(text) != simdjson::SUCCESS) continue;
      if (!flags.empty()) flags += ',';
      flags += text;
    }
  }
  outcome.flags = trace.names.intern(flags);
  const auto restarts = number_of(record, "restart_cnt");
  if (restarts && *restarts > 0 && *restarts < 100'000) {
    outcome.attempts = static_cast<std::int32_t>(*restarts) + 1;
  }
}

Result<void> take(JsonObject& record, std::int64_t line, Intake& intake, Partitions& partitions,
                  SacctRuns& runs, OneCluster& cluster) {
  Trace& trace = intake.trace();
  if (auto other = cluster.check(text_of(record, "cluster"), intake.where(line))) {
    return intake.refuse(std::move(*other));
  }
  Job job;
  job.id = trace.key(id_of(record));
  read_times(record, job);
  read_state(record, job, intake, runs);
  Request& request = job.request;
  const auto intern = [&](const char* key) { return trace.names.intern(text_of(record, key)); };
  request.name = intern("name");
  if (auto comment = object_of(record, "comment")) {
    request.comment = trace.names.intern(text_of(*comment, "job"));
  }
  request.user = intern("user");
  request.vc = partitions.take(text_of(record, "partition"), text_of(record, "nodes"), intake);
  if (request.vc == kNoName) request.vc = intern("account");
  request.qos = intern("qos");
  request.account = intern("account");
  request.partition = intern("partition");
  request.constraints = intern("constraints");
  request.submit_line = intern("submit_line");
  if (auto reservation = object_of(record, "reservation")) {
    // Slurm 22.05 writes an arbitrary number in place of the name, which is then unknown.
    std::string_view name;
    if ((*reservation)["name"].get_string().get(name) == simdjson::SUCCESS) {
      request.reservation = trace.names.intern(name);
    }
  }
  take_evidence(record, job, trace);
  if (is_node_list(text_of(record, "nodes"))) job.outcome.node_list = intern("nodes");
  auto lists = object_of(record, "tres");
  if (!lists) throw BadRecord{"tres must not be empty"};
  Tres tres;
  if (!read_tres(*lists, "allocated", tres)) read_tres(*lists, "requested", tres);
  request.gpus = tres.gpus;
  request.shards = tres.shards;
  request.mps = tres.mps;
  request.nodes = tres.nodes;
  request.cpus = tres.cpus;
  request.memory_gb = tres.memory_gb;
  if (!tres.gpu_type.empty()) request.gpu_type = trace.names.intern(tres.gpu_type);
  return intake.add(job, line);
}

}  // namespace

void register_sacct_json(Formats& registry) {
  Format format;
  format.name = "sacct-json";
  format.summary = "output of sacct --json (Slurm 22.05 and later)";
  format.run_times = RunTimes::measured;  // suspensions and requeues do not count
  format.likeness = [](const Head& head) {
    return head.first_line().starts_with('{') &&
                   (head.contains("\"jobs\"") || head.contains("\"Slurm\""))
               ? 1.0
               : 0.0;
  };
  format.read = [](const std::string& path, Intake& intake) {
    Partitions partitions;
    SacctRuns runs;
    OneCluster cluster;
    intake.trace().knows_eligible = true;
    auto read = read_records(path, "jobs", intake, [&](JsonObject& record, std::int64_t line) {
      return take(record, line, intake, partitions, runs, cluster);
    });
    runs.conclude(intake);
    partitions.conclude(intake);
    note_no_gpus(intake);
    return read;
  };
  registry.add(std::move(format));
}

}  // namespace almanac::trace
