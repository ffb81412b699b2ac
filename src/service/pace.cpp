// SPDX-License-Identifier: Apache-2.0
#include "service/pace.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/contract/power_limits.h"
#include "schedule/speed_book.h"
#include "sim/end_queue.h"
#include "sim/pacer.h"
#include "store/log.h"
#include "trace/trace.h"

namespace almanac::service {
namespace {

/// Whether a model can say how fast it is: one that holds no core has no speed.
bool has_a_speed(const store::Job& job, const cluster::Cluster& cluster) {
  if (job.asked->gpus == 0 || job.held_gpus.empty()) return false;
  if (job.asked->cpus && *job.asked->cpus <= 0) return false;
  return std::all_of(job.held_gpus.begin(), job.held_gpus.end(), [&](const cluster::Grant& grant) {
    const cluster::NodeClass& make = cluster.classes[cluster.nodes[index(grant.node)].node_class];
    return grant.gpus != 0 && (make.cpus <= 0 || grant.cpu_milli > 0);
  });
}

policy::PowerLimits limits_of(const SpeedFacts& facts) {
  if (facts.power == nullptr) return {};
  // One of GPUs that the model of power is not of, or below all that was measured: it is not known.
  auto limits = policy::PowerLimits::of(facts.cluster, *facts.power);
  return limits ? *std::move(limits) : policy::PowerLimits();
}

}  // namespace

std::string model_of(const store::Job& job, perf::SpeedModels& models) {
  const std::string& name = job.asked->model.empty() ? job.asked->name : job.asked->model;
  const perf::Found found = models.find({.name = name});
  const bool is_its = found.match == perf::Match::name || found.match == perf::Match::in_name;
  return is_its ? found.model : "";
}

bool share_a_gpu(const store::Job& a, const store::Job& b) {
  for (const cluster::Grant& one : a.held_gpus) {
    for (const cluster::Grant& other : b.held_gpus) {
      if (one.node == other.node && (one.gpus & other.gpus) != 0) return true;
    }
  }
  return false;
}

std::optional<Pace> pace_of(store::JobNumber number, std::span<const store::Job> running,
                            const SpeedFacts& facts) {
  trace::Trace trace;
  std::vector<const store::Job*> held;
  JobId own = kNoJob;
  for (const store::Job& job : running) {
    if (!has_a_speed(job, facts.cluster)) continue;
    if (job.number == number) own = JobId{static_cast<std::uint32_t>(held.size())};
    trace.jobs.push_back(store::record_of(job, trace.names));
    held.push_back(&job);
  }
  if (own == kNoJob) return std::nullopt;
  perf::SpeedModels models(facts.speeds);
  std::string model = model_of(*held[index(own)], models);
  if (model.empty()) return std::nullopt;
  const schedule::SpeedBook book(facts.cluster, trace, facts.speeds, limits_of(facts));
  sim::EndQueue ends(held.size());
  sim::Pacer pacer(facts.cluster, trace, book, ends);
  for (std::size_t at = 0; at < held.size(); ++at) {
    pacer.start(JobId{static_cast<std::uint32_t>(at)}, held[at]->held_gpus, 1h, Time{});
  }
  const sim::PaceChange now = pacer.explain(own, held[index(own)]->held_gpus, Time{});
  return Pace{.model = std::move(model), .rate = now.rate, .parts = now.parts};
}

}  // namespace almanac::service
