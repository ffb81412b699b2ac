// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/main_loop/state.h"

#include <algorithm>

#include "base/check.h"
#include "slurmctld/priority/billing.h"

namespace almanac::slurmctld {
namespace {

Time time_at(Seconds at) { return Time{Duration{at * 1000}}; }

/// Counts of TRES by their number.
class Tally {
 public:
  Tally(const site::Site& site, const NodeTable& table) : site_(site), table_(table) {}

  void add(site::TresIndex tres, std::int64_t count) { counts_[tres] += count; }
  void add_gpus(TypeId type, std::int64_t count) {
    if (const auto gpu = site_.find_tres("gres/gpu")) add(*gpu, count);
    if (type == kAnyGpu) return;
    const std::string& name = table_.gpu_types[static_cast<std::size_t>(type)];
    const auto typed = site_.find_tres("gres/gpu:" + name);
    if (!name.empty() && typed) add(*typed, count);
  }
  site::TresCounts counts() const {
    site::TresCounts all;
    for (const auto& [tres, count] : counts_) all.push_back({tres, count});
    return all;
  }

 private:
  const site::Site& site_;
  const NodeTable& table_;
  std::map<site::TresIndex, std::int64_t> counts_;
};

std::vector<NodeBits> nodes_by_partition(const site::Site& site) {
  std::vector<NodeBits> made;
  for (const site::Partition& each : site.partitions) {
    NodeBits nodes(site.nodes.size());
    for (const site::NodeIndex node : each.nodes) nodes.insert(node);
    made.push_back(std::move(nodes));
  }
  return made;
}

}  // namespace

site::TresCounts held_tres(const site::Site& site, const NodeTable& table,
                           const Allocation& allocation) {
  Tally tally(site, table);
  for (const Share& share : allocation.shares) {
    tally.add(site::kCpu, share.cpus);
    tally.add(site::kMemory, share.memory_mb);
    tally.add(site::kNode, 1);
    for (const GpuCount& each : share.gpus) tally.add_gpus(each.type, each.count);
  }
  return tally.counts();
}

site::TresCounts requested_tres(const site::Site& site, const NodeTable& table,
                                const NodeRequest& ask) {
  Tally tally(site, table);
  const int cpus = ask.least_cpus();
  tally.add(site::kCpu, cpus);
  tally.add(site::kNode, ask.min_nodes);
  tally.add(site::kMemory, ask.memory_per_node_mb > 0
                               ? std::int64_t{ask.memory_per_node_mb} * ask.min_nodes
                               : std::int64_t{ask.memory_per_cpu_mb} * cpus);
  switch (ask.gpu_scope) {
    case GpuScope::none:
      break;
    case GpuScope::node:
      tally.add_gpus(ask.gpu_type, std::int64_t{ask.gpus} * ask.min_nodes);
      break;
    case GpuScope::job:
      tally.add_gpus(ask.gpu_type, ask.gpus);
      break;
    case GpuScope::task:
      tally.add_gpus(ask.gpu_type, std::int64_t{ask.gpus} * ask.tasks);
      break;
    case GpuScope::socket:
      tally.add_gpus(ask.gpu_type, std::int64_t{ask.gpus} * ask.sockets_per_node * ask.min_nodes);
      break;
  }
  return tally.counts();
}

State::State(const site::Site& of)
    : site(of),
      table(make_node_table(of)),
      partition_nodes(nodes_by_partition(of)),
      zones(partition_nodes, table.size()),
      room(table),
      up(table.size(), true),
      completing(table.size()),
      limits(of),
      stale(table.size()),
      known_fits_(zones),
      running_by_zone_(zones.size()) {
  for (PartitionAt at = 0; at < site.partitions.size(); ++at) {
    rules.push_back(rules_of(site.partitions[at], at));
    room.watch(rules.back());
    std::int64_t cpus = 0;
    partition_nodes[at].each([&](NodeAt node) { cpus += table.nodes[node].cpus; });
    partition_cpus_.push_back(cpus);
  }
  for (NodeAt node = 0; node < table.size(); ++node) {
    if (site.nodes[node].state.is_out()) up.erase(node);
  }
  for (const site::License& each : site.licenses) {
    free_licenses[each.name] = static_cast<int>(each.total);
  }
  if (site.config.priority.type == site::PriorityType::multifactor) priorities.emplace(site);
  if (priorities) limits.set_usage(&priorities->usage());
  keeps_stale_weights = site.config.release < 2311;
}

void State::defer_weights() {
  defers_weights_ = keeps_stale_weights;
  keeps_stale_weights = false;
}

Job* State::find(JobNumber number) {
  const auto found = jobs.find(number);
  return found == jobs.end() ? nullptr : &found->second;
}

const Job* State::find(JobNumber number) const {
  const auto found = jobs.find(number);
  return found == jobs.end() ? nullptr : &found->second;
}

PriorityJob State::priority_job(const Job& job) const {
  const NodeRequest& ask = job.ask.request;
  PriorityJob made{.number = job.number,
                   .association = job.association,
                   .qos = job.qos,
                   .partitions = job.partitions,
                   .nice = job.ask.nice};
  made.size.min_nodes = static_cast<std::uint32_t>(ask.min_nodes);
  made.size.cpus = static_cast<std::uint32_t>(ask.least_cpus());
  if (job.ask.time_limit != kNoSeconds) {
    made.size.limit_min = static_cast<std::uint32_t>(job.ask.time_limit / 60);
  }
  made.size.requested = requested_tres(site, table, ask);
  return made;
}

Job& State::add(Job job, Seconds now) {
  const JobNumber number = job.number;
  job.shape = add_shape(job.ask.request);
  if (defers_weights_ && job.ask.request.gpu_scope == GpuScope::none) {
    defers_weights_ = false;
    keeps_stale_weights = true;
    // Answers found before have no weights.
    for (NodeAt node = 0; node < table.size(); ++node) known_fits_.forget(node);
  }
  std::stable_sort(job.partitions.begin(), job.partitions.end(), [&](auto one, auto other) {
    return site.partitions[one].priority_tier > site.partitions[other].priority_tier;
  });
  if (priorities) {
    priorities->submit(priority_job(job), time_at(now));
  } else {
    basic_priority_[number] = --next_basic_;
  }
  return jobs.insert_or_assign(number, std::move(job)).first->second;
}

void State::forget(JobNumber number) {
  const auto found = jobs.find(number);
  if (found == jobs.end()) return;
  dequeue(found->second);
  if (priorities && priorities->knows(number)) {
    priorities->end(number, time_at(std::max<Seconds>(0, found->second.end)));
  }
  basic_priority_.erase(number);
  drop_shape(found->second.ask.request);
  jobs.erase(found);
}

std::uint32_t State::add_shape(const NodeRequest& request) {
  const auto [at, is_new] = shapes_.try_emplace(request);
  if (is_new) at->second.number = next_shape_++;
  ++at->second.jobs;
  return at->second.number;
}

void State::drop_shape(const NodeRequest& request) {
  const auto at = shapes_.find(request);
  if (--at->second.jobs == 0) shapes_.erase(at);
}

std::uint32_t State::priority(const Job& job, PartitionAt partition) const {
  if (job.is_held) return 0;
  if (job.ask.priority) return static_cast<std::uint32_t>(*job.ask.priority);
  if (priorities) return priorities->priority(job.number, partition);
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(basic_priority_.at(job.number) - job.ask.nice, 1, 4'294'967'294));
}

Queue::Record State::record(Job& job, PartitionAt partition) const {
  return {.has_reservation = !job.ask.reservation.empty(),
          .tier = site.partitions[partition].priority_tier + job.extra_tier,
          .priority = priority(job, partition),
          .submit = job.submit,
          .array = job.array,
          .number = job.number,
          .partition = partition,
          .job = &job};
}

void State::enqueue(Job& job) {
  auto& filed = filed_[job.number];
  if (!filed.empty()) return;
  for (const PartitionAt partition : job.partitions) {
    filed.push_back(record(job, partition));
    queue.add(filed.back());
  }
}

void State::dequeue(Job& job) {
  const auto filed = filed_.find(job.number);
  if (filed == filed_.end()) return;
  for (const Queue::Record& each : filed->second) queue.remove(each);
  filed_.erase(filed);
}

void State::refile() {
  queue.clear();
  for (auto& [number, records] : filed_) {
    for (Queue::Record& each : records) {
      each.priority = priority(*each.job, each.partition);
      queue.add(each);
    }
  }
}

template <typename Act>
void State::each_list(const Job& job, Act&& act) {
  act(running_);
  // A job that was adopted may hold nodes of several zones.
  std::vector<ZoneAt> seen;
  for (const Share& share : job.allocation.shares) {
    const ZoneAt zone = zones.of_node(share.node);
    if (zone == kNoZone || std::find(seen.begin(), seen.end(), zone) != seen.end()) continue;
    seen.push_back(zone);
    act(running_by_zone_[zone]);
  }
}

void State::run(Job& job, PartitionAt partition, Allocation allocation, Seconds now,
                Seconds limit) {
  job.is_running = true;
  job.runs_in = partition;
  job.start = now;
  job.end = now + limit;
  job.allocation = std::move(allocation);
  job.reason = kNone;
  job.planned_start = kNoSeconds;
  room.take(job.allocation);
  forget_fits(job.allocation);
  for (const auto& [name, count] : job.ask.licenses) free_licenses[name] -= count;
  const site::TresCounts held = tres_of(job.allocation, partition);
  limits.start(job, {held, job.allocation, limit});
  if (priorities) priorities->start(job.number, time_at(now), partition, held);
  RunningJob entry{job.number, job.end, &job.allocation, limit};
  ends_.add(entry);
  each_list(job, [&](std::vector<RunningJob>& list) {
    list.insert(std::upper_bound(list.begin(), list.end(), entry), entry);
  });
}

bool State::start(Job& job, PartitionAt partition, Allocation allocation, Seconds now,
                  Seconds limit, bool by_backfill) {
  if (takes && !takes(job, allocation)) return false;
  starts.push_back({.number = job.number,
                    .array = job.array,
                    .partition = partition,
                    .at = now,
                    .time_limit = limit,
                    .by_backfill = by_backfill,
                    .allocation = allocation});
  if (!job.is_array()) {
    dequeue(job);
    run(job, partition, std::move(allocation), now, limit);
    return true;
  }
  Job task = job;
  task.task = job.ask.tasks.front();
  task.ask.tasks.clear();
  job.ask.tasks.erase(job.ask.tasks.begin());
  ++job.running_tasks;
  const bool is_last = job.ask.tasks.empty();
  if (is_last) {
    // The record of the array becomes its last task.
    dequeue(job);
    job.task = task.task;
    starts.back().task = job.task;
    run(job, partition, std::move(allocation), now, limit);
    return true;
  }
  task.number = next_task_number_++;
  starts.back().number = task.number;
  starts.back().task = task.task;
  if (priorities) {
    PriorityJob split = priority_job(task);
    priorities->submit(std::move(split), time_at(now));
  }
  add_shape(task.ask.request);
  Job& started = jobs.insert_or_assign(task.number, std::move(task)).first->second;
  run(started, partition, std::move(allocation), now, limit);
  return true;
}

void State::adopt(Job& job, PartitionAt partition, Allocation allocation, Seconds began) {
  run(job, partition, std::move(allocation), began, limit_in(job, partition));
}

void State::finish(Job& job, Seconds now) {
  ALMANAC_CHECK(job.is_running, "job {} is not running", job.number);
  room.give_back(job.allocation);
  forget_fits(job.allocation);
  for (const auto& [name, count] : job.ask.licenses) free_licenses[name] += count;
  limits.end(job);
  const RunningJob entry{.job = job.number, .end = job.end};
  each_list(job, [&](std::vector<RunningJob>& list) {
    list.erase(std::lower_bound(list.begin(), list.end(), entry));
  });
  ends_.remove(entry);
  if (job.array != job.number) {
    if (Job* const rest = find(job.array)) --rest->running_tasks;
  }
  job.is_running = false;
  job.end = now;
}

NodeBits State::usable(PartitionAt partition) const {
  NodeBits nodes = partition_nodes[partition];
  nodes &= up;
  return nodes;
}

Seconds State::limit_in(const Job& job, PartitionAt partition) const {
  const Duration most = site.partitions[partition].max_time;
  const Seconds limit =
      most == text::kUnlimited || most == kNoDuration ? kYear : static_cast<Seconds>(seconds(most));
  return job.ask.time_limit == kNoSeconds ? limit : std::min(limit, job.ask.time_limit);
}

ReasonName State::check_partition(const Job& job, PartitionAt partition) const {
  const site::Partition& of = site.partitions[partition];
  if (of.state == site::PartitionState::inactive) return kPartitionInactive;
  if (of.state == site::PartitionState::down) return kPartitionDown;
  const bool is_bounded = of.max_time != text::kUnlimited && of.max_time != kNoDuration;
  if (is_bounded && job.ask.time_limit != kNoSeconds &&
      job.ask.time_limit > static_cast<Seconds>(seconds(of.max_time))) {
    return kPartitionTimeLimit;
  }
  const NodeRequest& ask = job.ask.request;
  const bool is_above = of.max_nodes != site::kNoLimit && ask.min_nodes > of.max_nodes;
  if (is_above || static_cast<std::size_t>(ask.min_nodes) > of.nodes.size()) {
    return kPartitionNodeLimit;
  }
  if (ask.least_cpus() > partition_cpus_[partition]) return kPartitionConfig;
  if (ask.max_nodes > 0 && ask.max_nodes < of.min_nodes) {
    return kPartitionNodeLimit;
  }
  return kNone;
}

site::TresCounts State::tres_of(const Allocation& allocation, PartitionAt partition) const {
  return with_billing(held_tres(site, table, allocation), partition);
}

site::TresCounts State::with_billing(site::TresCounts held, PartitionAt partition) const {
  const auto billed = static_cast<std::int64_t>(
      billable(held, site.partitions[partition].billing_weights, site.config.priority, site.tres));
  const auto at = std::find_if(held.begin(), held.end(), [](const site::TresCount& each) {
    return each.tres > site::kBilling;
  });
  held.insert(at, {site::kBilling, billed});
  return held;
}

ReasonName State::check_limits(const Job& job, PartitionAt partition, Seconds limit,
                               const Allocation& allocation) const {
  if (!limits.is_on()) return kNone;
  return limits.after_nodes(job, partition, {tres_of(allocation, partition), allocation, limit});
}

ReasonName State::check_request(const Job& job, PartitionAt partition, Seconds limit) const {
  if (!limits.is_on()) return kNone;
  const site::TresCounts asked =
      with_billing(requested_tres(site, table, job.ask.request), partition);
  return limits.after_nodes(job, partition, {asked, {}, limit});
}

bool State::has_licenses(const Job& job) const {
  return std::all_of(job.ask.licenses.begin(), job.ask.licenses.end(), [&](const auto& each) {
    const auto found = free_licenses.find(each.first);
    return found != free_licenses.end() && found->second >= each.second;
  });
}

Question State::question(const Job& job, PartitionAt partition, const NodeBits& candidates) const {
  return {.request = job.ask.request, .partition = rules[partition], .candidates = candidates};
}

Question State::real_question(const Job& job, PartitionAt partition, const NodeBits& candidates) {
  Question real = question(job, partition, candidates);
  if (keeps_stale_weights) real.stale = &stale;
  return real;
}

void State::test_submission(const Job& job) {
  if (!keeps_stale_weights || job.partitions.empty()) return;
  const PartitionAt partition = job.partitions.front();
  reset_weights(partition);
  const NodeRequest& ask = job.ask.request;
  if (ask.gpu_scope == GpuScope::none) return;
  const NodeBits all = usable(partition);
  // Nodes that a job holds whole are left out, unless the others are too few.
  NodeBits shared = all;
  for (const RunningJob& each : running_) {
    if (!each.allocation->whole && !ask.exclusive && !rules[partition].exclusive) continue;
    for (const Share& share : each.allocation->shares) shared.erase(share.node);
  }
  const Question asked = real_question(job, partition, all);
  const int least = bounds_of(ask, rules[partition], table.size()).least_nodes;
  if (leave_weights_of_empty_nodes(table, asked, shared) < least) {
    leave_weights_of_empty_nodes(table, asked, all);
  }
}

FutureFits& State::fits(const Job& job, const Question& question) {
  const bool reads_weights =
      question.stale != nullptr && question.request.gpu_scope == GpuScope::none &&
      std::any_of(stale.begin(), stale.end(), [](std::uint8_t near) { return near > 0; });
  return known_fits_.of({.shape = job.shape,
                         .partition = question.partition.id,
                         .candidates = question.candidates,
                         .weights = reads_weights ? &stale : nullptr});
}

void State::occupy(const Share& share) {
  room.take({.shares = {share}, .partition = kNoPartition});
  known_fits_.forget(share.node);
}

void State::vacate(const Share& share) {
  room.give_back({.shares = {share}, .partition = kNoPartition});
  known_fits_.forget(share.node);
}

void State::set_weight(NodeAt node, int weight) {
  table.nodes[node].weight = weight;
  known_fits_.forget(node);
}

void State::set_up(NodeAt node, bool is_up) {
  if (is_up) {
    up.insert(node);
  } else {
    up.erase(node);
  }
  known_fits_.forget(node);
}

void State::forget_fits(const Allocation& allocation) {
  for (const Share& share : allocation.shares) known_fits_.forget(share.node);
}

}  // namespace almanac::slurmctld
