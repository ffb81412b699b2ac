// SPDX-License-Identifier: Apache-2.0
#include "forecast/other_gpus.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "schedule/admission.h"
#include "schedule/tenant_limits.h"
#include "trace/sizes.h"

namespace almanac::forecast {
namespace {

int gpus_of_a_node(const cluster::Cluster& cluster) {
  int most = 0;
  for (const cluster::NodeClass& make : cluster.classes) most = std::max(most, make.gpus);
  return most;
}

}  // namespace

bool fits(const trace::Trace& trace, const cluster::Cluster& cluster, JobId job) {
  schedule::Admission admission(cluster, trace.names);
  const trace::Request& request = trace.jobs[index(job)].request;
  const VcId vc = admission.vc(request);
  if (vc == kNoVc) return false;
  const DemandId demand = admission.demand(request, vc);
  if (admission.never(vc, demand)) return false;
  const cluster::Demand& asked = admission.demands()[index(demand)];
  const int fewest = request.max_gpus > 0 ? trace::sizes_of(request).least : asked.gpus;
  const schedule::TenantLimits limits(cluster);
  return !limits.never(std::min(fewest, asked.gpus), asked.gpu_milli, admission.tenant(request));
}

trace::Trace asking(const trace::Trace& trace, JobId job, int gpus) {
  trace::Trace made;
  made.jobs = trace.jobs;
  // In order of number, so that each name keeps its own.
  for (std::uint32_t name = 0; name < trace.names.size(); ++name) {
    made.names.intern(trace.names[NameId{name}]);
  }
  trace::Request& request = made.jobs[index(job)].request;
  const float more = static_cast<float>(gpus) / static_cast<float>(request.gpus);
  request.gpus = gpus;
  request.nodes = 0;
  request.max_gpus = 0;
  request.cpus *= more;
  request.memory_gb *= more;
  return made;
}

double rate_with(const schedule::SpeedBook& speeds, const cluster::Cluster& cluster, JobId job,
                 int gpus) {
  const int node = gpus_of_a_node(cluster);
  const int nodes = (gpus + node - 1) / node;
  return speeds.rate(job, nodes, gpus / nodes);
}

std::vector<OtherGpus> with_other_gpus(const Setting& setting, const schedule::SpeedBook* speeds,
                                       const sim::Present& present, const Beliefs& beliefs,
                                       JobId job, int futures, std::uint64_t seed) {
  std::vector<OtherGpus> made;
  const trace::Request& request = setting.trace.jobs[index(job)].request;
  const bool scales = speeds != nullptr && request.gpus > 0 && request.gpu_part() == 1 &&
                      (request.max_gpus > 0 || speeds->task(job) != nullptr);
  if (!scales) return made;
  int most = request.max_gpus > 0 ? request.max_gpus : gpus_of_a_node(setting.cluster);
  if (request.batch > 0) most = std::min(most, request.batch);
  for (int gpus = 1; gpus <= most; gpus *= 2) {
    if (gpus == request.gpus || gpus % trace::size_step(request) != 0) continue;
    const trace::Trace trace = asking(setting.trace, job, gpus);
    if (!fits(trace, setting.cluster, job)) continue;
    sim::Options options = setting.options;
    std::optional<policy::Quotas> quotas;
    if (options.quotas != nullptr) {
      options.quotas = &quotas.emplace(*options.quotas);
      quotas->ask(job, gpus);
    }
    const Setting other{.trace = trace,
                        .cluster = setting.cluster,
                        .composition = setting.composition,
                        .options = options,
                        .rate = rate_with(*speeds, setting.cluster, job, gpus),
                        .kept = setting.kept};
    Forecast forecast = play_futures(other, present, beliefs, job, futures, seed);
    if (forecast.started_by(0.5) == kNever) continue;  // nodes are out of service
    made.push_back({gpus, std::move(forecast)});
  }
  return made;
}

}  // namespace almanac::forecast
