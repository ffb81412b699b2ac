// SPDX-License-Identifier: Apache-2.0
#include "steer/record.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "accounting/claims.h"
#include "accounting/past_job.h"
#include "store/log.h"
#include "trace/array_limit.h"

namespace almanac::steer {
namespace {

/// What a whole node of its virtual cluster has.
const cluster::NodeClass* usual_node(const World& world, VcId vc) {
  if (vc == kNoVc || world.cluster.vcs[index(vc)].num_nodes == 0) return nullptr;
  const NodeId first = world.cluster.vcs[index(vc)].first;
  return &world.cluster.classes[world.cluster.nodes[index(first)].node_class];
}

/// Returns the share of a GPU in the first of the job's partitions that has one; 0 if none has.
double share_in(const std::map<std::string, double>& by_partition, const manager::Job& job) {
  for (const std::string& each : split_names(job.partition)) {
    const auto found = by_partition.find(each);
    if (found != by_partition.end()) return found->second;
  }
  return 0;
}

/// What its virtual cluster is called.
const std::string& vc_name(const manager::Job& job, const World& world) {
  if (world.grouping == Grouping::accounts) return job.account;
  if (world.grouping == Grouping::qos) return job.qos;
  return owner_of_nodes(job, world);
}

/// The number at the head of `text`, which loses it; -1 = there is none.
std::int64_t take_number(std::string_view& text) {
  std::int64_t found = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (error != std::errc()) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return found;
}

bool take_sign(std::string_view& text, char sign) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

VcId vc_of(const manager::Job& job, const World& world) {
  for (const manager::Held& held : job.holds) {
    const NodeId node = world.node(held.node);
    if (node != kNoNode) return world.cluster.nodes[index(node)].vc;
  }
  return world.vc_of(job.partition);
}

const std::string& owner_of_nodes(const manager::Job& job, const World& world) {
  const VcId vc = vc_of(job, world);
  return vc == kNoVc ? job.partition : world.cluster.vcs[index(vc)].name;
}

Result<experiment::Past> past_of(const store::Store& store, const World& world,
                                 const manager::Limits& limits) {
  const auto jobs = store.ended(Time{});
  if (!jobs) return tl::unexpected(jobs.error());
  accounting::Claims claims(limits);
  for (const store::Job& job : *jobs) {
    claims.add(job.number, {.user = job.asked->user,
                            .account = job.asked->account,
                            .partition = job.asked->partition,
                            .qos = job.asked->qos,
                            .gpus = job.asked->gpus});
  }
  experiment::Past made{.log = store::log_of(*jobs, "the store"), .quotas = claims.take()};
  if (!owns_nodes(world.grouping)) return made;
  trace::Trace& log = made.log;
  for (trace::Job& job : log.jobs) {
    const VcId vc = world.vc_of(std::string(log.names[job.request.vc]));
    if (vc != kNoVc) job.request.vc = log.names.intern(world.cluster.vcs[index(vc)].name);
  }
  return made;
}

Tasks count_tasks(const std::string& tasks) {
  Tasks made{.count = 0, .at_once = trace::array_limit_of_tasks(tasks)};
  std::string_view rest = tasks;
  while (!rest.empty()) {
    const std::int64_t first = take_number(rest);
    if (first < 0) break;
    const std::int64_t last = take_sign(rest, '-') ? take_number(rest) : first;
    const std::int64_t step = take_sign(rest, ':') ? take_number(rest) : 1;
    if (last >= first && step > 0) made.count += (last - first) / step + 1;
    if (!take_sign(rest, ',')) break;
  }
  made.count = std::max<std::int64_t>(1, made.count);
  return made;
}

trace::Request to_request(const manager::Job& job, const World& world, Names& names) {
  trace::Request made;
  made.submit = job.submit;
  made.time_limit = job.limit;
  made.name = names.intern(job.name);
  made.user = names.intern(job.user);
  made.vc = names.intern(vc_name(job, world));
  made.gpu_type = names.intern(job.gpu_type);
  made.qos = names.intern(job.qos);
  made.priority_tier = world.tier(job);
  made.requeue = world.requeue(job);
  made.gpus = job.gpus;
  made.nodes = job.nodes;
  if (job.cpus) made.cpus = static_cast<float>(*job.cpus);
  if (job.memory_gb) made.memory_gb = static_cast<float>(*job.memory_gb);
  if (job.gpus == 0 && (job.shards > 0 || job.mps > 0)) {
    const double share = job.shards > 0 ? job.shards * share_in(world.share_of_shard, job)
                                        : job.mps * share_in(world.share_of_mps, job);
    made.gpus = share > 0 ? static_cast<std::int32_t>(std::ceil(share)) : 0;
    if (made.gpus == 1) made.gpu_share = static_cast<float>(share);
  }
  const cluster::NodeClass* const node =
      job.exclusive ? usual_node(world, vc_of(job, world)) : nullptr;
  if (node != nullptr) {
    const int nodes = std::max(1, job.nodes);
    made.gpus = nodes * node->gpus;
    if (node->cpus > 0) made.cpus = static_cast<float>(nodes * node->cpus);
  }
  return made;
}

store::Job to_stored(const manager::Job& job, const World& world) {
  store::Submission asked = accounting::asked_by(job, vc_name(job, world));
  asked.requeue = world.requeue(job);
  asked.hold = job.held;
  asked.gid = job.gid;
  asked.out = job.out;
  asked.err = job.err == job.out ? "" : job.err;
  store::Job made{.number = to_store(job.number), .asked = std::move(asked)};
  if (job.array != manager::JobNumber{} && job.task) {
    made.task = store::ArrayTask{.array = to_store(job.array), .index = *job.task};
  }
  made.submit = job.submit;
  made.held = job.held;
  made.attempts = job.restarts;
  made.preemptions = job.restarts;
  if (job.state == manager::State::pending) {
    made.state = trace::JobState::pending;
    made.since = job.submit;
    return made;
  }
  made.start = job.start;
  made.since = job.start == kNoTime ? job.submit : job.start;
  ++made.attempts;
  for (const manager::Held& held : job.holds) {
    const NodeId node = world.part_for(job, held.node);
    if (node == kNoNode) continue;
    made.held_gpus.push_back({.node = node,
                              .gpus = held.gpus,
                              .cpu_milli = cluster::cpu_milli(held.cpus),
                              .memory_mb = cluster::memory_mb(held.memory_gb)});
  }
  if (job.state != manager::State::ended) {
    made.state = trace::JobState::running;
    return made;
  }
  made.state = job.outcome;
  made.end = job.end;
  if (job.start != kNoTime && job.end != kNoTime) {
    made.attained = std::max(Duration{0}, job.end - job.start);
  }
  return made;
}

}  // namespace almanac::steer
