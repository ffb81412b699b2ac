// SPDX-License-Identifier: Apache-2.0

/// \file
/// ServeGen: a request log as the sum of the requests of its clients.
///
/// Source   Xiang et al., 2025 (ServeGen), and its released generator.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::inference {

/// Values and their frequencies, ascending.
struct ServegenLengths {
  std::vector<double> values{};
  std::vector<double> reach{};  ///< Fraction of values that are at most this one; the last is 1.
  /// Returns the quantile at `u`.
  double at(double u) const;
};

/// The arrivals of a client in one window.
struct ServegenRhythm {
  double rate = 0;  ///< Requests per second.
  bool is_weibull = false;
  double shape = 1, scale = 1;  ///< Of the interval distribution, Gamma or Weibull.
};

struct ServegenClient {
  std::map<double, ServegenRhythm> rhythms{};  ///< By start of the window, in seconds.
  /// By start of the window in seconds, then by field.
  std::map<double, std::map<std::string, ServegenLengths>> lengths{};
};

using ServegenClients = std::map<int, ServegenClient>;

/// Reads NAME_windows.csv.gz and NAME_lengths.json.gz in `folder`, or the same files uncompressed.
/// Fails with `not_found`, `invalid`.
Result<ServegenClients> read_servegen(const std::string& folder, const std::string& name);

struct ServegenRequest {
  double at = 0;  ///< s.
  int client = 0;
  std::map<std::string, double> fields{};
};

constexpr double kServegenWindow = 600;  // s

/// Generates the requests of the window that starts at `start`, by arrival, with a total rate of
/// `rate` per second. The intervals of each client are scaled to fill the window. One draw per
/// request determines all its fields. Clients without a rhythm or lengths in the window send
/// nothing. O(requests).
std::vector<ServegenRequest> generate_servegen(const ServegenClients& clients, double start,
                                               double rate, std::uint64_t seed);

}  // namespace almanac::inference
