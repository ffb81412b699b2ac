// SPDX-License-Identifier: Apache-2.0
#include "stats/binomial.h"

#include <boost/math/distributions/binomial.hpp>

namespace almanac::stats {

double binomial_at_least(std::int64_t successes, std::int64_t trials, double p) {
  if (successes <= 0) return 1;
  if (successes > trials || p <= 0) return 0;
  if (p >= 1) return 1;
  using boost::math::complement;
  const boost::math::binomial distribution(static_cast<double>(trials), p);
  return cdf(complement(distribution, static_cast<double>(successes - 1)));
}

}  // namespace almanac::stats
