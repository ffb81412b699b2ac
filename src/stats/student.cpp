// SPDX-License-Identifier: Apache-2.0
#include "stats/student.h"

#include <boost/math/distributions/students_t.hpp>

#include "base/check.h"

namespace almanac::stats {

double student_two_tailed(double tails, double freedom) {
  ALMANAC_CHECK(tails > 0 && tails < 1 && freedom >= 1, "{} of {}", tails, freedom);
  using boost::math::complement;
  return quantile(complement(boost::math::students_t(freedom), tails / 2));
}

}  // namespace almanac::stats
