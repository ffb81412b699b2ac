// SPDX-License-Identifier: Apache-2.0
#include "script/words.h"

#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cluster/nvlink_domains.h"

namespace almanac::script {
namespace {

using Json = nlohmann::json;

/// In the order of policy::EventKind and policy::Phase.
constexpr auto kKinds = std::to_array<std::string_view>(
    {"job_ended", "job_failed", "job_withdrawn", "job_adopted", "job_arrived", "job_released",
     "job_reported", "node_down", "node_up", "node_notice", "capacity_changed", "signal_changed",
     "timer"});
constexpr auto kPhases = std::to_array<std::string_view>(
    {"unknown", "waiting", "running", "ended", "withdrawn", "never", "declined", "cut_off"});
static_assert(kKinds.size() == static_cast<std::size_t>(policy::EventKind::timer) + 1);
static_assert(kPhases.size() == static_cast<std::size_t>(policy::Phase::cut_off) + 1);

Json ms(Time time) { return time == kNoTime ? Json() : Json(time.time_since_epoch().count()); }
Json ms(Duration time) { return time == kNoDuration ? Json() : Json(time.count()); }
Json number(double value) { return std::isnan(value) ? Json() : Json(value); }
Json if_told(std::int64_t value) { return value == 0 ? Json() : Json(value); }
Json if_told(trace::Requeue requeue) {
  return requeue == trace::Requeue::unsaid ? Json() : Json(requeue == trace::Requeue::yes);
}

}  // namespace

Json to_json(const cluster::Cluster& cluster, const trace::Trace& trace) {
  Json nodes = Json::array();
  const std::vector<NodeId> domains = cluster::nvlink_domains(cluster);
  for (std::size_t at = 0; at < cluster.nodes.size(); ++at) {
    const cluster::Node& node = cluster.nodes[at];
    const cluster::NodeClass& make = cluster.classes[node.node_class];
    nodes.push_back({{"node", at},
                     {"name", cluster.node_label(NodeId{static_cast<std::uint32_t>(at)})},
                     {"vc", index(node.vc)},
                     {"gpus", make.gpus},
                     {"gpu_type", make.gpu_type},
                     {"cpus", make.cpus},
                     {"memory_gb", make.memory_gb},
                     {"nvlink_domain", domains.empty() ? at : index(domains[at])}});
  }
  Json vcs = Json::array();
  for (const cluster::VirtualCluster& vc : cluster.vcs) vcs.push_back(vc.name);
  return {{"nodes", nodes}, {"vcs", vcs}, {"trace_jobs", trace.jobs.size()}};
}

Json to_json(const policy::Event& event) {
  return {kKinds[static_cast<std::size_t>(event.kind)], event.subject, event.value};
}

Json to_json(const trace::Trace& trace, const policy::View& view, JobId job, Duration believed) {
  const trace::Request& request = view.request(job);
  const auto word = [&](NameId name) { return name == kNoName ? Json() : Json(trace.names[name]); };
  return {{"job", index(job)},
          {"job_id", trace.id(trace.jobs[index(job)].id)},
          {"name", word(request.name)},
          {"user", word(request.user)},
          {"vc", index(view.progress(job).vc)},
          {"kind", word(request.kind)},
          {"model", word(request.model)},
          {"qos", word(request.qos)},
          {"priority_tier", view.tier(job)},
          {"requeue", if_told(request.requeue)},
          {"gpu_type", word(request.gpu_type)},
          {"gpus", request.gpus},
          {"max_gpus", if_told(request.max_gpus)},
          {"nvlink_gpus", if_told(request.nvlink_gpus)},
          {"gpu_share", request.gpu_share},
          {"nodes", if_told(request.nodes)},
          {"cpus", number(request.cpus)},
          {"memory_gb", number(request.memory_gb)},
          {"value", number(request.value)},
          {"submit_ms", ms(request.submit)},
          {"time_limit_ms", ms(request.time_limit)},
          {"deadline_ms", ms(request.deadline)},
          {"believed_ms", ms(believed)}};
}

Json standing(const policy::View& view, JobId job) {
  const policy::Progress& state = view.progress(job);
  Json held = Json::array();
  if (state.phase == policy::Phase::running) {
    for (const cluster::Grant& grant : view.grants(job)) {
      held.push_back({index(grant.node), grant.count()});
    }
  }
  return {index(job),
          kPhases[static_cast<std::size_t>(state.phase)],
          ms(state.since),
          ms(state.start),
          view.attained(job).count(),
          view.worked(job).count(),
          state.charged.count(),
          state.preemptions,
          held};
}

}  // namespace almanac::script
