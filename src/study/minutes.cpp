// SPDX-License-Identifier: Apache-2.0
#include "study/minutes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace almanac::study {
namespace {

std::int64_t minute_of(Time time) {
  return std::chrono::floor<std::chrono::minutes>(time.time_since_epoch()).count();
}

}  // namespace

Minutes minutes_of(const Study& study) {
  if (study.gpu_jobs().empty()) return {};
  const std::int64_t first = minute_of(study.job(study.gpu_jobs().front()).request.submit);
  const std::int64_t last = minute_of(study.job(study.gpu_jobs().back()).request.submit);
  return {first, last - first + 1};
}

std::vector<double> gpus_in_use(const Study& study, Minutes minutes,
                                std::span<const std::uint32_t> jobs) {
  // Differences first, sums then: a job costs two writes however long it runs. In thousandths, as
  // those add up to nothing again.
  std::vector<std::int64_t> milli(static_cast<std::size_t>(minutes.count) + 1);
  for (const std::uint32_t at : jobs) {
    const trace::Job& job = study.job(at);
    if (job.outcome.start == kNoTime) continue;
    const std::int64_t start = minute_of(job.outcome.start) - minutes.first;
    const std::int64_t end = minute_of(job.outcome.start + duration_of(job)) - minutes.first;
    const std::int64_t from = std::clamp<std::int64_t>(start, 0, minutes.count);
    const std::int64_t to = std::clamp<std::int64_t>(end + 1, 0, minutes.count);
    const std::int64_t own = std::llround(job.request.gpus * job.request.gpu_part() * 1000);
    milli[static_cast<std::size_t>(from)] += own;
    milli[static_cast<std::size_t>(to)] -= own;
  }
  milli.pop_back();
  std::vector<double> gpus;
  gpus.reserve(milli.size());
  std::int64_t held = 0;
  for (const std::int64_t change : milli)
    gpus.push_back(static_cast<double>(held += change) / 1000);
  return gpus;
}

std::vector<double> gpus_there(const cluster::Cluster& cluster, Minutes minutes, VcId vc) {
  const auto count = static_cast<std::size_t>(minutes.count);
  std::vector<double> gpus(count);
  for (std::uint32_t v = 0; v < cluster.vcs.size(); ++v) {
    const VcId each{v};
    if (vc != kNoVc && each != vc) continue;
    const cluster::VirtualCluster& own = cluster.vcs[v];
    if (own.num_nodes == 0) continue;
    // A virtual cluster that changes has nodes of one make.
    const int a_node = cluster.gpus(own.first);
    std::int32_t now = cluster.gpus(each);
    std::size_t next = 0;
    const auto fill = [&](std::size_t until) {
      for (; next < until; ++next) gpus[next] += now;
    };
    for (const cluster::CapacityChange& change : cluster.changes) {
      if (change.vc != each) continue;
      if (change.at != Time::min()) {
        fill(static_cast<std::size_t>(
            std::clamp<std::int64_t>(minute_of(change.at) - minutes.first, 0, minutes.count)));
      }
      now = change.nodes * a_node;
    }
    fill(count);
  }
  return gpus;
}

double use_of(double in_use, double there) {
  if (there <= 0) return std::numeric_limits<double>::quiet_NaN();
  return std::round(1000.0 * in_use / there) / 1000.0;
}

}  // namespace almanac::study
