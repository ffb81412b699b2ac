// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/pair_speeds.h"

namespace almanac::policy {

double relative_speed(const View& view, JobId job, std::span<const cluster::Grant> held,
                      std::span<const JobId> beside) {
  return view.speeds->pace(job, held, beside).rate / view.speeds->rate(job, held);
}

PairSpeeds::Kind PairSpeeds::kind(const View& view, JobId job) {
  const trace::Request& request = view.request(job);
  const bool has_model = request.model != kNoName;
  return {request.model, request.batch, has_model ? kNoJob : job};
}

void PairSpeeds::note(const View& view, JobId host, JobId guest, const Speeds& speeds) {
  measured_.insert_or_assign({kind(view, host), kind(view, guest)}, speeds);
}

std::optional<PairSpeeds::Speeds> PairSpeeds::measured(const View& view, JobId host,
                                                       JobId guest) const {
  const Kind a = kind(view, host);
  const Kind b = kind(view, guest);
  if (const auto found = measured_.find({a, b}); found != measured_.end()) return found->second;
  const auto swapped = measured_.find({b, a});
  if (swapped == measured_.end()) return std::nullopt;
  return Speeds{.host = swapped->second.guest, .guest = swapped->second.host};
}

}  // namespace almanac::policy
