// SPDX-License-Identifier: Apache-2.0
#include "experiment/with_services.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiment/profile.h"
#include "policy/kit/keeping.h"
#include "policy/kit/serving.h"
#include "policy/registry.h"
#include "schedule/speed_book.h"

namespace almanac::experiment {
namespace {

/// Seconds from the start of the service to its last answer; 0 without answers.
double last_answer_s(const std::vector<inference::Outcome>& requests) {
  inference::Micros last = 0;
  for (const inference::Outcome& each : requests) {
    if (each.finish != inference::kNever) last = std::max(last, each.finish);
  }
  return last / 1e6;
}

}  // namespace

Result<sim::Schedule> simulate_with(const Prepared& prepared, std::size_t run,
                                    sim::Services& services, const std::atomic<bool>* stop) {
  const policy::Composition& composition = prepared.runs[run].composition;
  const bool shares = policy::registry().traits(composition).has(policy::Trait::shares_gpus);
  if (shares && prepared.speeds != nullptr) {
    return fail(Code::unsupported,
                fmt::format("{} lets jobs share GPUs, and the effect of a service's replica on a "
                            "job next to it is unknown",
                            composition.name),
                {}, "leave out that policy, or --speed");
  }
  auto jobs = make_policy(prepared.runs[run], services.trace(), prepared.model);
  if (!jobs) return tl::unexpected(jobs.error());
  policy::Serving policy(
      policy::keeping(
          std::move(*jobs), composition, [&](JobId job) { return services.is_kept(job); },
          services.reclaims() ? policy::IfFull::stop_others : policy::IfFull::wait),
      services.scalers());
  sim::Options options = options_of(prepared, run);
  options.watch.stop = stop;
  options.services = &services;
  std::unique_ptr<schedule::SpeedBook> speeds, believed;
  if (prepared.speeds != nullptr) {
    speeds = prepared.speeds->of(prepared.cluster, services.trace());
    options.truth.speeds = speeds.get();
    services.tell_speeds({speeds.get()});
  }
  if (prepared.believed != nullptr) {
    believed = prepared.believed->of(prepared.cluster, services.trace());
    options.believed = believed.get();
    services.tell_speeds({speeds.get(), believed.get()});
  }
  return sim::simulate(services.trace(), prepared.cluster, policy, options);
}

Result<WithService> compare_with_service(const Prepared& prepared, std::size_t run,
                                         const sim::ServiceCase& service,
                                         const std::atomic<bool>& stop) {
  const auto alone = simulate_run(prepared, run, &stop);
  if (!alone) return tl::unexpected(alone.error());
  auto services = sim::Services::make(prepared.trace, prepared.cluster, {service});
  if (!services) return tl::unexpected(services.error());
  const auto both = simulate_with(prepared, run, *services, &stop);
  if (!both) return tl::unexpected(both.error());
  const auto summary = [&](const sim::Schedule& schedule) {
    return summarize(prepared.runs[run].composition, prepared.trace, schedule, prepared.power);
  };
  WithService made{.alone = summary(*alone),
                   .with = summary(*both),
                   .service = services->outcomes().front(),
                   .seen = {}};
  made.seen = inference::summarize(service.requests, made.service.requests, service.objective);
  const double steady_gpus = service.most * service.service.replica_gpus();
  made.loaned_gpu_hours =
      (steady_gpus * last_answer_s(made.service.requests) - made.service.gpu_s) / 3600;
  const double replicas_gpu_s = made.service.gpu_s - made.service.own_nodes_gpu_s;
  made.redone_gpu_hours = (both->busy_gpu_s - replicas_gpu_s - alone->busy_gpu_s) / 3600;
  return made;
}

}  // namespace almanac::experiment
