// SPDX-License-Identifier: Apache-2.0
#include "rules/interleave/beside.h"

#include <algorithm>
#include <cmath>

namespace almanac::interleave {

int iterations_beside(Stages guest, const Stages& host) {
  // Where it loads the host computes or sends; where it computes the host loads or sends; and so
  // on.
  const double not_loading = host.compute + host.network;
  const double not_computing = host.load + host.network;
  const double not_sending = host.load + host.compute;
  double count = std::floor(guest.load / not_loading);
  if (const double rest = std::fmod(guest.load, not_loading); rest > 0) {
    ++count;
    guest.compute -= std::min({guest.compute, host.network, not_loading - rest});
  }
  count += std::floor(guest.compute / not_computing);
  if (const double rest = std::fmod(guest.compute, not_computing); rest > 0) {
    ++count;
    if (rest < host.load) guest.network -= std::min(guest.network, not_sending - rest);
  }
  count += std::floor(guest.network / not_sending);
  if (std::fmod(guest.network, not_sending) > host.load) ++count;
  return static_cast<int>(count);
}

}  // namespace almanac::interleave
