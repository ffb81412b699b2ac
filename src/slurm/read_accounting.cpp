// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "slurm/json.h"
#include "slurm/read_json.h"
#include "slurm/states.h"
#include "trace/tres.h"

namespace almanac::slurm {
namespace {

/// Adds up the list `path`; false when it is empty.
bool read_tres(Value record, std::string_view path, Job& job) {
  const auto list = find(record, path);
  simdjson::dom::array items;
  if (!list || list->get(items) != simdjson::SUCCESS) return false;
  trace::Tres tres;
  bool any = false;
  for (const Value item : items) {
    std::string name = text(item, "type");
    if (const std::string detail = text(item, "name"); !detail.empty()) name += "/" + detail;
    const auto count = number(item, "count");
    if (!count) continue;
    any = true;
    if (name == "gres/mps") job.mps = static_cast<int>(std::min(*count, 1e6));
    if (name == "gres/shard") job.shards = static_cast<int>(std::min(*count, 1e6));
    tres.add(name, *count);
  }
  if (!any) return false;
  job.gpus = tres.gpus;
  job.gpu_type = tres.gpu_type;
  job.nodes = tres.nodes;
  if (std::isfinite(tres.cpus)) job.cpus = tres.cpus;
  if (std::isfinite(tres.memory_gb)) job.memory_gb = tres.memory_gb;
  return true;
}

Job read_ended(Value record) {
  Job job;
  const auto whole = [&](std::string_view path) {
    return static_cast<std::uint32_t>(std::min(number(record, path).value_or(0), 4294967295.0));
  };
  job.number = JobNumber{whole("job_id")};
  if (job.number == JobNumber{}) throw BadShape{"a job without job_id"};
  const std::vector<std::string> state = words(record, "state/current");
  job.state = State::ended;
  // A run that was followed by another. Of a state that is not known nothing is.
  if (has(state, "REQUEUED")) {
    job.outcome = trace::JobState::preempted;
  } else if (const auto stands = read_state(state)) {
    job.outcome = stands->outcome;
  }
  job.array = JobNumber{whole("array/job_id")};
  if (const auto task = number(record, "array/task_id"); task && job.array != JobNumber{}) {
    job.task = static_cast<std::int32_t>(std::min(*task, 2e9));
  }
  job.het = JobNumber{whole("het/job_id")};
  job.name = text(record, "name");
  job.user = text(record, "user");
  if (job.user.empty()) job.user = text(record, "association/user");
  job.account = text(record, "account");
  job.partition = text(record, "partition");
  job.qos = text(record, "qos");
  job.priority = whole("priority");
  job.submit = moment(record, "time/submission");
  if (job.submit == kNoTime)
    throw BadShape{fmt::format("job {} has no time/submission", whole("job_id"))};
  job.eligible = moment(record, "time/eligible");
  job.end = moment(record, "time/end");
  const auto elapsed = std::min(number(record, "time/elapsed").value_or(0), 1e10);
  const auto suspended = std::min(number(record, "time/suspended").value_or(0), 1e10);
  job.ran = std::chrono::seconds(static_cast<std::int64_t>(elapsed));
  job.start = moment(record, "time/start");
  // Releases of 22.05 may print the eligible time as the start.
  if (job.end != kNoTime && job.start != kNoTime) {
    job.start = job.end - job.ran - std::chrono::seconds(static_cast<std::int64_t>(suspended));
  }
  if (const auto limit = number(record, "time/limit"); limit && *limit > 0 && *limit < 1e9) {
    job.limit = std::chrono::minutes(static_cast<std::int64_t>(*limit));
  }
  read_tres(record, "tres/requested", job);
  // The log has the requested GPU type; the type that the job got follows from its nodes.
  std::string gpu_type = std::move(job.gpu_type);
  read_tres(record, "tres/allocated", job);
  job.gpu_type = std::move(gpu_type);
  return job;
}

}  // namespace

Result<AccountingRows> read_accounting(std::string_view json) {
  return read_document(json, "jobs", [](Value document) {
    AccountingRows made;
    for (const Value record : records(document, "jobs")) {
      try {
        Job job = read_ended(record);
        if (job.end != kNoTime) made.jobs.push_back(std::move(job));
      } catch (const BadShape&) {
        ++made.unread;
      }
    }
    return made;
  });
}

}  // namespace almanac::slurm
