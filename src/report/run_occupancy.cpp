// SPDX-License-Identifier: Apache-2.0
#include "report/run_occupancy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "report/run_bins.h"
#include "text/human.h"

namespace almanac::report {
namespace {

/// Calls put(bin, seconds) for each bin that [from, to) touches.
template <class Put>
void spread(Time from, Time to, Duration width, Put put) {
  for (std::int64_t bin = bin_of(from, width); from < to; ++bin) {
    const Time until = std::min(to, begin_of(bin + 1, width));
    put(bin, seconds(until - from));
    from = until;
  }
}

Occupancy widened(const Occupancy& narrow, Duration width) {
  const auto at = [&](std::size_t bin) {
    return bin_of(begin_of(narrow.first + static_cast<std::int64_t>(bin), narrow.width), width);
  };
  Occupancy wide{.policy = narrow.policy, .width = width, .first = at(0)};
  wide.bins = narrow.bins > 0 ? static_cast<std::size_t>(at(narrow.bins - 1) - wide.first) + 1 : 0;
  const std::size_t vcs = narrow.bins > 0 ? narrow.gpu_s.size() / narrow.bins : 0;
  wide.gpu_s.assign(vcs * wide.bins, 0);
  for (std::size_t vc = 0; vc < vcs; ++vc) {
    for (std::size_t bin = 0; bin < narrow.bins; ++bin) {
      wide.gpu_s[vc * wide.bins + static_cast<std::size_t>(at(bin) - wide.first)] +=
          narrow.gpu_s[vc * narrow.bins + bin];
    }
  }
  return wide;
}

/// GPU time in service of a virtual cluster in each bin.
std::vector<double> in_service(const cluster::Cluster& cluster, VcId vc, const Occupancy& over) {
  std::vector<double> gpu_s(over.bins);
  const cluster::VirtualCluster& own = cluster.vcs[index(vc)];
  if (own.num_nodes == 0) return gpu_s;
  // A virtual cluster that changes has nodes of one make.
  const int a_node = cluster.gpus(own.first);
  const Time end = begin_of(over.first + static_cast<std::int64_t>(over.bins), over.width);
  Time from = begin_of(over.first, over.width);
  double gpus = cluster.gpus(vc);
  const auto fill = [&](Time until) {
    spread(from, std::min(until, end), over.width, [&](std::int64_t bin, double length_s) {
      gpu_s[static_cast<std::size_t>(bin - over.first)] += gpus * length_s;
    });
    from = std::max(from, until);
  };
  for (const cluster::CapacityChange& change : cluster.changes) {
    if (change.vc != vc) continue;
    if (change.at > from) fill(change.at);
    gpus = change.nodes * a_node;
  }
  fill(end);
  return gpu_s;
}

}  // namespace

OccupancyLimits occupancy_limits(const RunInput& input) {
  constexpr std::size_t kCells = 12'000;
  OccupancyLimits limits;
  const std::size_t rows = std::min(limits.vcs, input.cluster().vcs.size()) * input.policies();
  limits.bins = std::clamp(kCells / std::max<std::size_t>(1, rows), std::size_t{12}, limits.bins);
  return limits;
}

Occupancy occupancy_of(const RunInput& input, const std::string& policy,
                       const sim::Schedule& schedule, const OccupancyLimits& limits) {
  Occupancy made{.policy = policy};
  made.width = bin_width(schedule.begin, schedule.finish, limits.bins);
  made.first = bin_of(schedule.begin, made.width);
  made.bins = static_cast<std::size_t>(bin_of(schedule.finish, made.width) - made.first) + 1;
  made.gpu_s.assign(input.cluster().vcs.size() * made.bins, 0);
  for (std::size_t at = 0; at < schedule.jobs.size(); ++at) {
    const sim::JobResult result = schedule.jobs[at];
    if (result.start == kNoTime || input.vc(at) == kNoVc) continue;
    const Time end = result.end != kNoTime ? result.end : schedule.finish;
    if (end <= result.start) continue;
    const trace::Request& asked = input.trace().jobs[at].request;
    const double gpus =
        asked.gpus * asked.gpu_part() * seconds(result.ran) / seconds(end - result.start);
    double* const row = made.gpu_s.data() + index(input.vc(at)) * made.bins;
    spread(result.start, end, made.width,
           [&](std::int64_t bin, double length_s) { row[bin - made.first] += gpus * length_s; });
  }
  return made;
}

figure::Figure draw_occupancy(const RunInput& input, std::span<const Occupancy> policies,
                              const OccupancyLimits& limits) {
  const cluster::Cluster& cluster = input.cluster();
  Duration width = 1s;
  for (const Occupancy& each : policies) width = std::max(width, each.width);
  figure::Figure figure{.id = "run_occupancy", .title = "GPU allocation of the virtual clusters"};
  auto& policy = figure.text("policy", "Policy");
  auto& name = figure.text("vc", "Virtual cluster");
  auto& time = figure.time("time_s", "Time");
  auto& share = figure.number("gpus_taken", "GPU allocation", figure::Unit::fraction);
  std::vector<std::uint32_t> shown(cluster.vcs.size());
  std::iota(shown.begin(), shown.end(), 0U);
  std::stable_sort(shown.begin(), shown.end(), [&](std::uint32_t a, std::uint32_t b) {
    return cluster.gpus(VcId{a}) > cluster.gpus(VcId{b});
  });
  if (shown.size() > limits.vcs) shown.resize(limits.vcs);
  for (const Occupancy& narrow : policies) {
    const Occupancy each = widened(narrow, width);
    for (const std::uint32_t vc : shown) {
      const std::vector<double> there = in_service(cluster, VcId{vc}, each);
      for (std::size_t bin = 0; bin < each.bins; ++bin) {
        const double held = each.gpu_s[vc * each.bins + bin];
        policy.add(each.policy);
        name.add(cluster.vcs[vc].name);
        time.add(seconds(begin_of(each.first + static_cast<std::int64_t>(bin), width)));
        // Nodes that are being drained are no longer in service and still hold jobs.
        share.add(there[bin] > 0 ? std::round(1000 * std::min(1.0, held / there[bin])) / 1000
                                 : std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
  figure.n = input.gpu_jobs();
  figure.caption = fmt::format(
      "Share of the GPUs in service that were allocated to jobs, in steps of {}; {}. The GPU time "
      "of a preempted job is spread evenly from its first start to its end.",
      text::human_time(seconds(width)),
      shown.size() < cluster.vcs.size()
          ? fmt::format("the {} largest of {} virtual clusters, largest first", shown.size(),
                        cluster.vcs.size())
          : "largest virtual cluster first");
  figure.charts.push_back(
      {.kind = "heatmap", .x = "time_s", .y = {"vc"}, .choose = {"policy"}, .value = "gpus_taken"});
  return figure;
}

}  // namespace almanac::report
