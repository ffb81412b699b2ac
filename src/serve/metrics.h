// SPDX-License-Identifier: Apache-2.0

/// \file
/// The numbers that Prometheus collects, in its text format.
///
/// Base units, `_total` of what only grows. The number of series does not grow with use: no job is
/// a label, and the numbers of partitions and users that are labels are bounded (service/waits.h).
#pragma once

#include <memory>
#include <string>

#include "service/service.h"

namespace almanac::serve {

class Metrics {
 public:
  Metrics();
  ~Metrics();

  /// Counts an answered request. `route` is its pattern, not the requested path.
  void count(const std::string& method, const std::string& route, int status, double taken_s);
  /// Everything, now.
  std::string text(const service::Service& service) const;

 private:
  struct Own;  // what is counted here; the rest is read from the service
  std::unique_ptr<Own> own_;
};

}  // namespace almanac::serve
