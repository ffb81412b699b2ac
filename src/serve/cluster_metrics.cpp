// SPDX-License-Identifier: Apache-2.0
#include "serve/cluster_metrics.h"

#include <cmath>
#include <string>
#include <utility>

#include "service/free_gpus.h"

namespace almanac::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;
using service::WaitHistogram;

/// Bytes of a GB, as for the driver's readings (gpu/nvml.cpp).
constexpr double kBytesOfAGb = 1024.0 * 1024 * 1024;

ClientMetric histogram(const WaitHistogram& waits, Labels labels) {
  ClientMetric metric;
  metric.label = std::move(labels);
  std::uint64_t below = 0;
  for (std::size_t n = 0; n < waits.counts.size(); ++n) {
    below += waits.counts[n];
    const bool is_last = n == WaitHistogram::kBounds_s.size();
    const double bound = is_last ? INFINITY : WaitHistogram::kBounds_s[n];
    metric.histogram.bucket.push_back({below, bound});
  }
  metric.histogram.sample_count = below;
  metric.histogram.sample_sum = waits.sum_s;
  return metric;
}

std::vector<ClientMetric> by_place(const service::Waits& waits) {
  std::vector<ClientMetric> made;
  for (const auto& [place, one] : waits.by_place()) {
    made.push_back(
        histogram(one, {{"partition", place.partition}, {"gpus", std::string(place.size)}}));
  }
  return made;
}

std::vector<ClientMetric> by_user(const service::Waits& waits) {
  std::vector<ClientMetric> made;
  for (const auto& [user, one] : waits.by_user()) made.push_back(histogram(one, {{"user", user}}));
  return made;
}

}  // namespace

void add_waits(Families& out, const service::Counters& counters) {
  const auto add = [&](const char* name, const char* help, std::vector<ClientMetric> metrics) {
    out.add({name, help, MetricType::Histogram, std::move(metrics)});
  };
  add("almanac_job_wait_seconds",
      "Time that started jobs waited in the queue once they were eligible, by partition and GPUs "
      "requested. Partitions after the first 20 are \"other\".",
      by_place(counters.waits));
  add("almanac_user_job_wait_seconds",
      "Time that started jobs waited in the queue once they were eligible, by user. Users after "
      "the first 50 are \"other\".",
      by_user(counters.waits));
  add("almanac_job_expected_wait_seconds",
      "Wait that the first forecast of a job allowed for: the upper end of its 90 % interval. Jobs "
      "that are not expected to start are not counted.",
      by_place(counters.expected_waits));
  add("almanac_user_job_expected_wait_seconds",
      "Wait that the first forecast of a job allowed for, by user.",
      by_user(counters.expected_waits));
}

void add_gpus(Families& out, const std::vector<service::NodeView>& nodes,
              const service::Waits& started) {
  std::vector<ClientMetric> use;
  std::vector<ClientMetric> memory;
  std::vector<ClientMetric> power;
  int idle = 0;
  int measured = 0;
  for (const service::NodeView& node : nodes) {
    for (const service::GpuView& gpu : node.gpus) {
      const Labels labels{{"node", node.name}, {"gpu", std::to_string(gpu.number)}};
      if (gpu.use >= 0) use.push_back(gauge(gpu.use, labels));
      if (gpu.memory_gb >= 0) memory.push_back(gauge(gpu.memory_gb * kBytesOfAGb, labels));
      if (gpu.power_w >= 0) power.push_back(gauge(gpu.power_w, labels));
      if (gpu.jobs.empty() || gpu.use < 0) continue;
      ++measured;
      idle += gpu.use < kBusy ? 1 : 0;
    }
  }
  out.add_gauge("almanac_gpu_utilization_ratio",
                "Share of the last sample in which the GPU computed, as its driver reports it.",
                std::move(use));
  out.add_gauge("almanac_gpu_memory_used_bytes", "Memory of the GPU that is in use.",
                std::move(memory));
  out.add_gauge("almanac_gpu_power_watts", "Power that the GPU draws.", std::move(power));
  out.add_gauge("almanac_gpus_allocated_measured",
                "GPUs that a job holds and whose use is measured.", measured);
  out.add_gauge("almanac_gpus_allocated_idle",
                "GPUs that a job holds and that computed for less than 1 % of the last sample.",
                idle);
  const service::FreeGpus free = service::count_free_gpus(nodes, started.by_gpus());
  out.add_gauge("almanac_gpus_free",
                "GPUs in service that no job holds, on nodes that accept jobs.", free.gpus);
  out.add_gauge("almanac_gpus_free_on_one_node",
                "Most free GPUs on one node: the largest job that fits there.",
                free.most_on_a_node);
  out.add_gauge("almanac_nodes_free",
                "Nodes with GPUs that accept jobs and whose GPUs are all free.", free.whole_nodes);
  if (!free.fragmented) return;
  out.add_gauge(
      "almanac_gpus_fragmented",
      "Free GPUs that the next job is expected not to be able to use because its node has "
      "too few, for jobs of the sizes started so far (FGD, Weng et al., ATC'23).",
      *free.fragmented);
}

}  // namespace almanac::serve
