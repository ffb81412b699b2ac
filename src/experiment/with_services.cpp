// SPDX-License-Identifier: Apache-2.0
#include "experiment/with_services.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "experiment/profile.h"
#include "policy/kit/keeping.h"
#include "policy/kit/serving.h"
#include "policy/registry.h"

namespace almanac::experiment {

Result<sim::Schedule> simulate_with(const Prepared& prepared, std::size_t run,
                                    sim::Services& services, const std::atomic<bool>* stop) {
  const policy::Composition& composition = prepared.runs[run].composition;
  const bool shares = policy::registry().traits(composition).has(policy::Trait::shares_gpus);
  if (shares && prepared.speeds != nullptr) {
    return fail(
        Code::unsupported,
        fmt::format("{} lets jobs share GPUs, and what a replica of a service does beside a "
                    "job is not known",
                    composition.name),
        {}, "leave that policy out, or --speed");
  }
  auto jobs = make_policy(prepared.runs[run], services.trace(), prepared.model);
  if (!jobs) return tl::unexpected(jobs.error());
  policy::Serving policy(
      policy::keeping(
          std::move(*jobs), composition, [&](JobId job) { return services.is_kept(job); },
          services.reclaims() ? policy::IfFull::stop_others : policy::IfFull::wait),
      services.scalers());
  sim::Options options = options_of(prepared, run);
  options.stop = stop;
  options.services = &services;
  std::unique_ptr<policy::SpeedBook> speeds, believed;
  if (prepared.speeds != nullptr) {
    speeds = prepared.speeds->of(prepared.cluster, services.trace());
    options.speeds = speeds.get();
    services.tell_speeds({speeds.get()});
  }
  if (prepared.believed != nullptr) {
    believed = prepared.believed->of(prepared.cluster, services.trace());
    options.believed = believed.get();
    services.tell_speeds({speeds.get(), believed.get()});
  }
  return sim::simulate(services.trace(), prepared.cluster, policy, options);
}

}  // namespace almanac::experiment
