// SPDX-License-Identifier: Apache-2.0

/// \file
/// ServeGen: requests of a service as the sum of what its clients send.
///
/// Source   Xiang et al., 2025 (ServeGen), and its released generator.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::inference {

/// Values and how often each comes, ascending.
struct ServegenLengths {
  std::vector<double> values{};
  std::vector<double> reach{};  ///< Part that is at most the value; the last is 1.
  /// The value at which a part `u` of them is reached.
  double at(double u) const;
};

/// How a client sends in one stretch of time.
struct ServegenRhythm {
  double rate = 0;  ///< Requests a second.
  bool is_weibull = false;
  double shape = 1, scale = 1;  ///< Of the law of intervals, Gamma or Weibull.
};

struct ServegenClient {
  std::map<double, ServegenRhythm> rhythms{};  ///< By the start of the stretch, s.
  /// By the start of a stretch, s, then by field.
  std::map<double, std::map<std::string, ServegenLengths>> lengths{};
};

using ServegenClients = std::map<int, ServegenClient>;

/// Of NAME_windows.csv.gz and NAME_lengths.json.gz in `folder`, or the same unpacked. Fails with
/// not_found, invalid.
Result<ServegenClients> read_servegen(const std::string& folder, const std::string& name);

struct ServegenRequest {
  double at = 0;  ///< s.
  int client = 0;
  std::map<std::string, double> fields{};
};

constexpr double kServegenWindow = 600;  // s

/// Requests of the stretch that begins at `start`, by arrival, as many a second as `rate` says.
/// Each client's intervals are stretched so that they fill it; one draw a request tells all its
/// fields. Clients without a rhythm or lengths then send nothing. O(requests).
std::vector<ServegenRequest> generate_servegen(const ServegenClients& clients, double start,
                                               double rate, std::uint64_t seed);

}  // namespace almanac::inference
