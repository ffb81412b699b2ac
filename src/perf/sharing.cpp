// SPDX-License-Identifier: Apache-2.0
#include "perf/sharing.h"

#include <cmath>

namespace almanac::perf {

double Sharing::suffers_at(double batch) const { return suffers * std::pow(batch, suffers_power); }
double Sharing::causes_at(double batch) const { return causes * std::pow(batch, causes_power); }

Sharing SharingByStep::of(double step_s) const {
  return {.suffers = suffers * std::pow(step_s, suffers_power),
          .suffers_power = 0,
          .causes = causes * std::pow(step_s, causes_power),
          .causes_power = 0};
}

}  // namespace almanac::perf
