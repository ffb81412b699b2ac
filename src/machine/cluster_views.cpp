// SPDX-License-Identifier: Apache-2.0
#include "machine/cluster_views.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/sockets.h"
#include "machine/holding.h"
#include "store/log.h"

namespace almanac::machine {

using policy::Phase;
using service::Outlook;

service::Overview ClusterViews::overview() const {
  const std::lock_guard lock(state_.mutex);
  const Config& config = state_.config;
  service::Overview made{.revision = state_.revision,
                         .now = state_.now,
                         .started = state_.started,
                         .policy = config.policy,
                         .shadow = config.shadow,
                         .waiting = state_.book.counts().waiting,
                         .held = state_.book.counts().held,
                         .running = state_.book.counts().running};
  const cluster::Ledger& ledger = queue_.round().ledger();
  made.gpus = config.machine.cluster.gpus() - gpus_out_of_service();
  made.gpu_share_busy = static_cast<double>(ledger.busy_gpu_milli()) / cluster::kWholeGpu;
  made.gpus_busy = gpus_busy();
  made.power_w = parts_.meter.draw_w();
  made.power_is_measured = parts_.meter.is_measured();
  made.limits_by = config.machine.limits_by;
  made.trouble = state_.outbox.trouble();
  made.warnings = warnings();
  return made;
}

std::vector<std::string> ClusterViews::warnings() const {
  std::vector<std::string> made = state_.config.machine.notes;
  for (const service::Window& each : parts_.maintenance.windows()) {
    made.push_back(fmt::format("maintenance {}", to_words(each)));
  }
  const auto add = [&](const std::string& trouble) {
    if (!trouble.empty()) made.push_back(trouble);
  };
  add(state_.outbox.trouble());
  add(parts_.starter.trouble());
  for (std::string& each : parts_.accounts.warnings()) made.push_back(std::move(each));
  if (parts_.succession.is_learning() && !queue_.is_held_back()) {
    add("jobs start, although the policy has not been trained on past jobs yet");
  }
  if (const auto& refused = state_.outbox.refused(); !refused.empty()) {
    add(fmt::format("the store cannot save job {}{}", *refused.begin(),
                    refused.size() == 1 ? "" : fmt::format(" and {} more", refused.size() - 1)));
  }
  add(parts_.forgetting.clock_trouble());
  return made;
}

service::Counters ClusterViews::counters() const {
  const std::lock_guard lock(state_.mutex);
  service::Counters made = state_.counters;
  made.records = queue_.size();
  return made;
}

std::vector<service::NodeView> ClusterViews::nodes() const {
  const std::lock_guard lock(state_.mutex);
  std::vector<service::NodeView> made = nodes_now();
  if (!state_.config.gone_boxes) return made;
  const std::set<std::string> gone = state_.config.gone_boxes();
  const std::vector<std::string>& box_of = state_.config.machine.boxes;
  std::vector<service::NodeView> shown;
  for (std::size_t at = 0; at < made.size(); ++at) {
    if (!gone.contains(box_of[at])) shown.push_back(std::move(made[at]));
  }
  return shown;
}

std::vector<service::Window> ClusterViews::maintenance() const {
  const std::lock_guard lock(state_.mutex);
  return parts_.maintenance.windows();
}

std::vector<service::NodeView> ClusterViews::nodes_now() const {
  const cluster::Cluster& cluster = state_.config.machine.cluster;
  const Outage& outage = parts_.out_of_service.outage();
  std::vector<service::NodeView> made(cluster.nodes.size());
  for (std::size_t at = 0; at < made.size(); ++at) {
    const cluster::Node& node = cluster.nodes[at];
    const cluster::NodeClass& make = cluster.classes[node.node_class];
    const NodeId id{static_cast<std::uint32_t>(at)};
    made[at] = {.name = cluster.node_label(id),
                .vc = cluster.vcs[index(node.vc)].name,
                .drained = outage.drained.contains(id),
                .silent = outage.silent.contains(id),
                .cpus = make.cpus,
                .memory_gb = make.memory_gb,
                .connections = cluster::told_connections(make)};
    for (int gpu = 0; gpu < make.gpus; ++gpu) {
      service::GpuView& view = made[at].gpus.emplace_back();
      view.number = gpu;
      view.name = state_.config.machine.gpu_names[at][static_cast<std::size_t>(gpu)];
      const auto trouble = outage.gpus.find({id, gpu});
      view.in_service = trouble == outage.gpus.end();
      if (!view.in_service) view.trouble = trouble->second;
      if (outage.silent.contains(id)) {
        view.in_service = false;
        view.trouble = "its box does not report, or could not start a job";
      }
    }
  }
  for (const Standing& each : state_.config.machine.standing) {
    const cluster::Node& node = cluster.nodes[index(each.node)];
    const slices::Board& board = *cluster.classes[node.node_class].board;
    made[index(each.node)].gpus[static_cast<std::size_t>(each.gpu)].instances.push_back(
        fmt::format("{}@{}", board[each.place.profile].name, each.place.slice));
  }
  for (const Entry* const entry : holders_of(state_)) {
    for (const cluster::Grant& grant : entry->job.held_gpus) {
      // A job that is about to end may hold a node that an earlier cluster file had.
      if (index(grant.node) >= made.size()) continue;
      service::NodeView& node = made[index(grant.node)];
      node.cpus_held += grant.cpu_milli / 1e3;
      node.memory_held_gb += grant.memory_mb / 1e3;
      for (service::GpuView& gpu : node.gpus) {
        if ((grant.gpus >> static_cast<unsigned>(gpu.number) & 1U) != 0)
          gpu.jobs.push_back(entry->job.number);
      }
    }
  }
  return made;
}

int ClusterViews::gpus_out_of_service() const {
  const Outage& outage = parts_.out_of_service.outage();
  int out = 0;
  for (const NodeId node : outage.silent) out += state_.config.machine.cluster.gpus(node);
  for (const auto& [where, trouble] : outage.gpus) {
    if (!outage.silent.contains(where.first)) ++out;
  }
  return out;
}

int ClusterViews::gpus_busy() const {
  int busy = 0;
  for (const service::NodeView& node : nodes_now()) {
    for (const service::GpuView& gpu : node.gpus) busy += gpu.jobs.empty() ? 0 : 1;
  }
  return busy;
}

Outlook ClusterViews::present() const {
  const std::lock_guard lock(state_.mutex);
  return look();
}

Outlook ClusterViews::look() const {
  Outlook made{.revision = state_.revision, .at = state_.now, .composition = queue_.composition()};
  made.age_cap = state_.config.age_cap;
  made.windows = parts_.maintenance.windows();
  const auto add = [&](const Entry& entry) {
    const policy::Progress& state = queue_.round().progress(entry.id);
    made.jobs.push_back({.job = entry.job,
                         .past = {.since = state.since,
                                  .start = state.start,
                                  .attained = state.attained,
                                  .charged = state.charged,
                                  .preemptions = state.preemptions},
                         .runs = state.phase == Phase::running});
  };
  for (const Entry* const entry : holders_of(state_)) {
    if (queue_.is_running(*entry)) add(*entry);
  }
  const std::vector<const Entry*> first = parts_.line.first_jobs();
  for (const Entry* const entry : first) add(*entry);
  std::size_t waiting = first.size();
  std::map<store::JobNumber, int> tasks;  // by array: those that run or may join the queue
  for (const Outlook::One& one : made.jobs) {
    if (one.job.task) ++tasks[one.job.task->array];
  }
  // The policy knows neither jobs that wait for the end of a window nor throttled tasks. Of an
  // array, no more tasks than may run at once join the queue when the window is over.
  for (const store::JobNumber number : state_.book.anteroom().in({WaitsFor::What::maintenance})) {
    if (waiting >= Outlook::kMostWaiting) break;
    const Entry& entry = *state_.book.find(number);
    const auto& task = entry.job.task;
    const bool joins = !task || task->at_once == 0 || tasks[task->array] < task->at_once;
    if (task && joins) ++tasks[task->array];
    made.jobs.push_back({.job = entry.job,
                         .past = {.since = entry.job.since,
                                  .start = entry.job.start,
                                  .attained = entry.job.attained,
                                  .preemptions = static_cast<std::uint32_t>(entry.job.preemptions)},
                         .awaits_window = joins,
                         .throttled = !joins});
    ++waiting;
  }
  for (const auto& [number, entry] : state_.book.all()) {
    if (waiting >= Outlook::kMostWaiting) break;
    if (entry.waits.what != WaitsFor::What::array) continue;
    made.jobs.push_back({.job = entry.job, .past = {.since = entry.job.since}, .throttled = true});
    ++waiting;
  }
  std::sort(made.jobs.begin(), made.jobs.end(), [](const Outlook::One& a, const Outlook::One& b) {
    return std::pair(a.past.since, a.job.number) < std::pair(b.past.since, b.job.number);
  });
  for (std::uint32_t node = 0; node < state_.config.machine.cluster.nodes.size(); ++node) {
    if (queue_.round().ledger().drained(NodeId{node})) made.drained.push_back(NodeId{node});
  }
  return made;
}

Result<sim::Compactions> ClusterViews::compactions() const {
  service::Outlook outlook = present();
  std::erase_if(outlook.jobs,
                [](const Outlook::One& one) { return one.awaits_window || one.throttled; });
  trace::Trace trace;
  sim::Present present{.at = outlook.at, .running = {}, .waiting = {}, .drained = outlook.drained};
  for (const service::Outlook::One& one : outlook.jobs) {
    const JobId id{static_cast<std::uint32_t>(trace.jobs.size())};
    trace.jobs.push_back(store::record_of(one.job, trace.names));
    sim::Present::Job job{.job = id, .past = one.past, .worked = one.past.attained};
    if (one.runs) {
      job.worked += outlook.at - one.past.since;
      job.held = one.job.held_gpus;
    }
    (one.runs ? present.running : present.waiting).push_back(std::move(job));
  }
  const auto loses = [&](const sim::Present::Job& job) -> std::optional<Duration> {
    const store::Submission& asked = outlook.jobs[index(job.job)].job.asked;
    if (asked.requeue != trace::Requeue::yes) return std::nullopt;
    return job.worked;
  };
  return sim::advise_moves(trace, state_.config.machine.cluster, present, loses,
                           {.looks = sim::kQuickLooks});
}

}  // namespace almanac::machine
