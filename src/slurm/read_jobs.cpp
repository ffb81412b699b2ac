// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "slurm/gres.h"
#include "slurm/json.h"
#include "slurm/read_json.h"
#include "slurm/states.h"
#include "text/host_list.h"
#include "trace/tres.h"

namespace almanac::slurm {
namespace {

std::uint32_t whole(std::optional<double> value) {
  return static_cast<std::uint32_t>(
      std::clamp(value.value_or(0), 0.0, double{std::numeric_limits<std::uint32_t>::max()}));
}

/// The part of "gres/gpu=2,gres/shard=4,cpu=8" that trace::Tres has no place for.
Gres parts_in(std::string_view tres) {
  Gres made;
  while (!tres.empty()) {
    const std::string_view item = tres.substr(0, tres.find(','));
    tres.remove_prefix(std::min(item.size() + 1, tres.size()));
    if (!item.starts_with("gres/shard=") && !item.starts_with("gres/mps=")) continue;
    const Gres gres = parse_gres(item).value_or(Gres{});
    made.shards += gres.shards;
    made.mps += gres.mps;
  }
  return made;
}

void read_asked(Value record, Job& job) {
  job.nodes = static_cast<int>(std::min(whole(number(record, "node_count")), 1'000'000U));
  const std::string per_node = text(record, "tres_per_node");
  const auto gres = parse_gres(per_node);
  if (!gres) throw BadShape{fmt::format("tres_per_node must be like gres/gpu:8: \"{}\"", per_node)};
  job.gpus_per_node = gres->gpus;
  job.gpu_type = gres->gpu_type;
  job.shards = times(gres->shards, std::max(1, job.nodes));
  job.mps = times(gres->mps, std::max(1, job.nodes));
  std::string tres = text(record, "tres_alloc_str");
  if (tres.empty() || job.state == State::pending) tres = text(record, "tres_req_str");
  const auto asked = trace::parse_tres(tres);
  if (!asked) throw BadShape{fmt::format("TRES must be a list like cpu=8,node=1: \"{}\"", tres)};
  job.gpus = asked->gpus;
  if (!asked->gpu_type.empty()) job.gpu_type = asked->gpu_type;
  if (asked->nodes > 0) job.nodes = asked->nodes;
  if (std::isfinite(asked->cpus)) job.cpus = asked->cpus;
  if (std::isfinite(asked->memory_gb)) job.memory_gb = asked->memory_gb;
  const Gres parts = parts_in(tres);
  if (parts.shards > 0) job.shards = parts.shards;
  if (parts.mps > 0) job.mps = parts.mps;
  // A site that does not account gres/gpu says how many only as it was asked.
  if (job.gpus == 0) {
    job.gpus = times(job.gpus_per_node, std::max(1, job.nodes));
    const int tasks = static_cast<int>(std::min(whole(number(record, "tasks")), 1'000'000U));
    for (const auto& [key, over] :
         {std::pair{"tres_per_job", 1}, std::pair{"tres_per_task", tasks}}) {
      const auto more = parse_gres(text(record, key));
      if (job.gpus == 0 && more) job.gpus = times(more->gpus, over);
    }
  }
}

/// Cores or CPUs, and memory, that it has of the `at`th node: whichever release says so.
void read_share(Value record, std::size_t at, Held& held) {
  const auto list = find(record, "job_resources/nodes/allocation");
  const auto older = find(record, "job_resources/allocated_nodes");
  simdjson::dom::array nodes;
  if (!(list && list->get(nodes) == simdjson::SUCCESS) &&
      !(older && older->get(nodes) == simdjson::SUCCESS)) {
    return;
  }
  Value node;
  if (nodes.at(at).get(node) != simdjson::SUCCESS) return;
  held.cpus = number(node, "cpus/count").value_or(0);
  held.memory_gb =
      number(node, "memory/allocated").value_or(number(node, "memory_allocated").value_or(0)) /
      kMibPerGb;
  if (held.cpus > 0) return;
  simdjson::dom::object sockets;
  const auto found = find(node, "sockets");
  if (!found || found->get(sockets) != simdjson::SUCCESS) return;
  for (const auto& socket : sockets) {
    simdjson::dom::object cores;
    const auto inner = find(socket.value, "cores");
    if (!inner || inner->get(cores) != simdjson::SUCCESS) continue;
    for (const auto& core : cores) {
      std::string_view word;
      held.cpus += core.value.get(word) == simdjson::SUCCESS && word.starts_with("alloc") ? 1 : 0;
    }
  }
}

void read_holds(Value record, Job& job) {
  const auto names = text::expand_hosts(text(record, "nodes"));
  if (!names) throw BadShape{to_string(names.error())};
  const auto details = find(record, "gres_detail");
  simdjson::dom::array gres_list;
  const bool told = details && details->get(gres_list) == simdjson::SUCCESS;
  double cores = 0;
  for (std::size_t at = 0; at < names->size(); ++at) {
    Held held{.node = (*names)[at]};
    std::string_view detail;
    if (told && gres_list.at(at).get(detail) == simdjson::SUCCESS) {
      if (const auto gres = parse_gres(detail)) {
        held.gpus = gres->index;
        held.gpu_count = gres->gpus;
        held.shards = gres->shards;
        held.mps = gres->mps;
      }
    }
    read_share(record, at, held);
    cores += held.cpus;
    job.holds.push_back(std::move(held));
  }
  // Cores may be told where CPUs are threads, or nothing: what it has in all is always told.
  const auto count = static_cast<double>(job.holds.size());
  for (Held& held : job.holds) {
    if (job.cpus) held.cpus = cores > 0 ? *job.cpus * held.cpus / cores : *job.cpus / count;
    if (job.memory_gb && held.memory_gb <= 0) held.memory_gb = *job.memory_gb / count;
    if (!told && job.gpus > 0) held.gpu_count = job.gpus / static_cast<int>(job.holds.size());
  }
}

/// Where a batch job writes. Patterns (%j) may be told as they are; what is not told is Slurm's own
/// choice in the job's folder.
void read_files(Value record, Job& job) {
  if (!truth(record, "batch_flag")) return;
  const std::string folder = text(record, "current_working_directory");
  const auto file = [&](const char* key) {
    std::string path = text(record, key);
    if (path.empty() || path.front() == '/') return path;
    return folder.empty() ? "" : folder + "/" + path;
  };
  job.out = file("standard_output");
  job.err = file("standard_error");
  if (!job.out.empty() || folder.empty()) return;
  job.out = folder + (job.array == JobNumber{} ? "/slurm-%j.out" : "/slurm-%A_%a.out");
}

Job read_job(Value record) {
  Job job;
  const auto own = number(record, "job_id");
  if (!own) throw BadShape{"a job without job_id"};
  job.number = JobNumber{whole(own)};
  const auto stands = read_state(words(record, "job_state"));
  if (!stands) {
    throw BadShape{
        fmt::format("job {}: no state of a job: \"{}\"", whole(own), text(record, "job_state"))};
  }
  job.state = stands->state;
  job.outcome = stands->outcome;
  job.array = JobNumber{whole(number(record, "array_job_id"))};
  if (job.array != JobNumber{}) {
    if (const auto task = number(record, "array_task_id")) {
      job.task = static_cast<std::int32_t>(std::min(*task, 2e9));
    } else {
      job.tasks = text(record, "array_task_string");
    }
  }
  job.het = JobNumber{whole(number(record, "het_job_id"))};
  job.name = text(record, "name");
  job.user = text(record, "user_name");
  job.uid = whole(number(record, "user_id"));
  job.gid = whole(number(record, "group_id"));
  job.account = text(record, "account");
  job.partition = text(record, "partition");
  job.qos = text(record, "qos");
  job.reservation = text(record, "resv_name");
  job.licences = text(record, "licenses");
  job.dependency = text(record, "dependency");
  job.comment = text(record, "admin_comment");
  read_files(record, job);
  job.reason = text(record, "state_reason");
  job.priority = whole(number(record, "priority"));
  job.held = truth(record, "hold") || job.reason.starts_with("JobHeld") ||
             (job.state == State::pending && job.priority == 0);
  job.requeueable = truth(record, "requeue");
  job.restarts = static_cast<int>(std::min(whole(number(record, "restart_cnt")), 1'000'000U));
  job.submit = moment(record, "submit_time");
  if (job.submit == kNoTime) job.submit = Time{};
  job.eligible = moment(record, "eligible_time");
  job.start = moment(record, "start_time");
  job.end = moment(record, "end_time");
  if (const auto limit = number(record, "time_limit"); limit && *limit < 1e9) {
    job.limit = std::chrono::minutes(static_cast<std::int64_t>(*limit));
  }
  job.features = text(record, "features");
  job.required_nodes = text(record, "required_nodes");
  job.excluded_nodes = text(record, "excluded_nodes");
  job.exclusive = has(words(record, "shared"), "NONE");
  read_asked(record, job);
  if (job.state != State::pending && job.state != State::ended) read_holds(record, job);
  return job;
}

}  // namespace

Result<std::vector<Job>> read_jobs(std::string_view json) {
  return read_each(json, "jobs", read_job);
}

}  // namespace almanac::slurm
