// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits the requests of each client: a rate per second, and a burst.
///
/// Source   Turner 1986 (leaky bucket as a meter); a bucket refills as time passes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>

namespace almanac::serve {

class Rate {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  Rate(double per_second, double burst) : per_second_(per_second), burst_(burst) {}

  /// Returns whole seconds to wait until `client` may send; 0 if it may, which counts the request.
  int take(std::uint64_t client, Instant now) {
    if (buckets_.size() > kMany) forget_full(now);
    Bucket& bucket = buckets_.try_emplace(client, Bucket{burst_, now}).first->second;
    refill(bucket, now);
    if (bucket.left < 1) return static_cast<int>(std::ceil((1 - bucket.left) / per_second_));
    bucket.left -= 1;
    return 0;
  }

 private:
  struct Bucket {
    double left;
    Instant at;
  };
  static constexpr std::size_t kMany = 1024;

  void refill(Bucket& bucket, Instant now) const {
    const std::chrono::duration<double> passed = now - bucket.at;
    bucket.left = std::min(burst_, bucket.left + passed.count() * per_second_);
    bucket.at = now;
  }
  void forget_full(Instant now) {
    for (auto each = buckets_.begin(); each != buckets_.end();) {
      refill(each->second, now);
      each = each->second.left >= burst_ ? buckets_.erase(each) : std::next(each);
    }
  }

  double per_second_;
  double burst_;
  std::map<std::uint64_t, Bucket> buckets_;
};

}  // namespace almanac::serve
