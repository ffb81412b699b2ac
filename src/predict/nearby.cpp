// SPDX-License-Identifier: Apache-2.0
#include "predict/nearby.h"

namespace almanac::predict {

Distribution Nearby::spread(int width) const {
  Distribution made;
  for (std::size_t at = 0; at < count; ++at) {
    made.add(static_cast<double>(logs[at]), weights[at], width);
  }
  return made;
}

Nearby nearby(Memory& memory, const trace::Request& request) {
  constexpr std::array kClosest = {Kind::user_name, Kind::user_stem, Kind::user_shape,
                                   Kind::user_gpus, Kind::user,      Kind::vc_gpus,
                                   Kind::shape,     Kind::gpus};
  constexpr float kFartherKind = 0.4F;
  constexpr float kEarlierJob = 0.8F;
  const KindKeys keys = memory.keys(request);
  Nearby made;
  float weight = 1;
  for (const Kind kind : kClosest) {
    const Recent* const recent = memory.recent(keys, kind);
    if (recent == nullptr) continue;
    if (made.count + recent->kept() > Nearby::kMost) break;
    float each = weight;
    for (std::size_t back = 0; back < recent->kept(); ++back) {
      made.logs[made.count] = recent->log(back);
      made.weights[made.count] = each;
      ++made.count;
      each *= kEarlierJob;
    }
    weight *= kFartherKind;
  }
  return made;
}

}  // namespace almanac::predict
