// SPDX-License-Identifier: Apache-2.0

/// \file
/// The numbers that Prometheus collects, in its text format.
///
/// Base units, `_total` of what only grows; no user's and no job's name is a label, so that their
/// number does not grow with use.
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
