// SPDX-License-Identifier: Apache-2.0
#include "experiment/with_services.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiment/profile.h"
#include "policy/kit/keeping.h"
#include "policy/kit/serving.h"
#include "policy/registry.h"
#include "schedule/speed_book.h"
#include "text/human.h"

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

/// GPUs that a fleet of all replicas would hold: its own nodes, and replicas that do not fit there.
double steady_gpus(const sim::ServiceCase& service, const sim::Services& services,
                   const cluster::Cluster& cluster) {
  const int each = service.service.replica_gpus();
  int own_gpus = 0, places = 0;
  for (const NodeId node : services.own_nodes()) {
    own_gpus += cluster.gpus(node);
    places += cluster.gpus(node) / each;
  }
  return std::min(cluster.gpus(), own_gpus + std::max(0, service.most - places) * each);
}

std::string gpus_text(int gpus) { return text::counted(static_cast<std::uint64_t>(gpus), "GPU"); }

/// `value` without the noise of sums of floating-point numbers, which may be below zero.
double without_noise(double value) {
  constexpr double kNoise = 1e-6;
  return std::abs(value) < kNoise ? 0 : value;
}

/// Returns the virtual cluster whose nodes alone may hold replicas; kNoVc for all nodes.
VcId vc_of(const sim::ServiceCase& service, const cluster::Cluster& cluster) {
  return cluster.takes_every_job || service.vc.empty() ? kNoVc
                                                       : cluster.find_vc_of_jobs(service.vc);
}

int gpus_for_replicas(const sim::ServiceCase& service, const cluster::Cluster& cluster) {
  const VcId vc = vc_of(service, cluster);
  return vc == kNoVc ? cluster.gpus() : cluster.gpus(vc);
}

}  // namespace

int fitting_replicas(const sim::ServiceCase& service, const cluster::Cluster& cluster) {
  return gpus_for_replicas(service, cluster) / service.service.replica_gpus();
}

std::string place_of_replicas(const sim::ServiceCase& service, const cluster::Cluster& cluster) {
  const VcId vc = vc_of(service, cluster);
  return vc == kNoVc ? "the cluster" : "virtual cluster " + cluster.vcs[index(vc)].name;
}

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
  const policy::IfFull if_full = !services.reclaims()       ? policy::IfFull::wait
                                 : services.empties_nodes() ? policy::IfFull::empty_nodes
                                                            : policy::IfFull::stop_others;
  policy::Serving policy(
      policy::keeping(
          std::move(*jobs), composition, [&](JobId job) { return services.is_kept(job); }, if_full),
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
                                         const sim::ServiceCase& asked,
                                         const std::atomic<bool>& stop) {
  const int fitting = fitting_replicas(asked, prepared.cluster);
  if (const int least = std::max(1, asked.least); least > fitting) {
    return fail(
        Code::unavailable,
        fmt::format("{} has {}, too few for {} of {}", place_of_replicas(asked, prepared.cluster),
                    gpus_text(gpus_for_replicas(asked, prepared.cluster)),
                    text::counted(static_cast<std::uint64_t>(least), "replica"),
                    gpus_text(asked.service.replica_gpus())),
        {}, "use fewer replicas, or fewer GPUs per replica");
  }
  sim::ServiceCase service = asked;
  service.most = std::min(service.most, fitting);
  const auto alone = simulate_run(prepared, run, &stop);
  if (!alone) return tl::unexpected(alone.error());
  auto services = sim::Services::make(prepared.trace, prepared.cluster, {service});
  if (!services) return tl::unexpected(services.error());
  const double steady = steady_gpus(service, *services, prepared.cluster);
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
  // Replicas stay until the scaler looks again after the last answer, which lends nothing.
  made.loaned_gpu_hours =
      std::max(0.0, steady * last_answer_s(made.service.requests) - made.service.gpu_s) / 3600;
  const double replicas_gpu_s = made.service.gpu_s - made.service.own_nodes_gpu_s;
  made.redone_gpu_hours =
      without_noise((both->busy_gpu_s - replicas_gpu_s - alone->busy_gpu_s) / 3600);
  return made;
}

}  // namespace almanac::experiment
