// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the requests of a service are like: how many, when, how long, and which heads of prompts
/// they share. From it logs are made that are like another log and are not that log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/request.h"
#include "inference/request_log.h"

namespace almanac::inference {

/// From here on a log tells how one day differs from another: one of two days ends with its last
/// request, a little sooner.
inline constexpr double kHoursOfTwoDays = 47.5;

/// Counts of tokens, as quantiles.
struct Lengths {
  /// At equal steps from the least to the greatest, at least 2, ascending; between them the
  /// logarithm goes evenly.
  std::vector<double> at{};
  /// The same of the last of these steps, where a heavy tail would be told too roughly; empty =
  /// as the others.
  std::vector<double> tail{};

  /// The count that a part `u` of all does not exceed; 0 <= u < 1.
  std::int32_t quantile(double u) const;
};
/// A log-normal: `spread` is the standard deviation of the logarithm; no count is above `most`.
Lengths log_normal_lengths(double median, double spread, double most);

/// How unevenly requests come within a stretch of time.
///
/// Halve any stretch of so many seconds: the part of its requests that comes in the first half is
/// 1/2 on average and varies by `spread`, its standard deviation, from 0 (requests come evenly, as
/// those of a Poisson process) to 1/2 (all come in one half).
struct Burst {
  double seconds = 0;
  double spread = 0;
};

/// Requests of one origin.
struct Tenant {
  std::string name{};
  std::string model{};                     ///< That they ask for; "" = the log names none.
  double requests = 1;                     ///< Weight among all tenants.
  std::vector<std::string> adapters{};     ///< That they name; "" = none of them; empty = as that.
  std::vector<double> adapter_requests{};  ///< Weight of each.
  Lengths prompt{};
  Lengths output{};
  /// How far mean lengths move from a stretch as long as the log to the next: standard deviation of
  /// their logarithm.
  double prompt_drift = 0, output_drift = 0;
  /// The most that an eighth of a log of less than a day has shown of all this, or three minutes if
  /// that is longer, as a multiple of the mean: its requests, and its mean lengths. What follows is
  /// not drawn beyond it. 0 = not known.
  double requests_peak = 0, prompt_peak = 0, output_peak = 0;
  double together = 0;  ///< Correlation of both lengths, of normal scores.
  /// By descending seconds. Stretches longer than the first come as those of a Poisson process, as
  /// all do where there are none.
  std::vector<Burst> bursts{};

  // Which heads of prompts are the same, in tokens and requests.
  std::int32_t common_tokens = 0;  ///< That all prompts begin with.
  /// Parts of the requests that go on from an earlier prompt, in equal groups from the shortest
  /// prompts to the longest; none = none do.
  std::vector<double> follow{};
  std::vector<double> follow_part{};   ///< Quantiles of the part of the prompt that is the
                                       ///< earlier's.
  std::vector<double> follow_age_s{};  ///< Quantiles of how long before that one came.
};

struct Workload {
  double hours = 1;
  std::int64_t requests = 3600;
  /// Weights of the hours of a day, which begins with the log; empty = they do not differ.
  std::vector<double> day{};
  std::int32_t block_tokens = kPlainBlockTokens;  ///< Of one id of a block.
  std::vector<Tenant> tenants{};
};

/// An hour of a service with one request a second, prompts of 1,000 tokens and answers of 150.
Workload plain_workload();

/// Learns a workload from a log. Tenants are those that the log names, or the models that are asked
/// for, or both; those with fewer than 50 requests are taken together. The hours of a day are
/// learnt from 20 hours on. O(n log n) time, O(n) memory.
///
/// Source   bursts: Riedi, Crouse, Ribeiro, Baraniuk, IEEE Trans. Information Theory 1999 (a
///          cascade of beta multipliers). Tenants apart: Xiang et al., 2025 (ServeGen).
/// Differs  the spread of each halving is estimated without the part that a Poisson process has.
///
/// Fails with invalid for fewer than 20 requests and for a log that all comes at one instant.
Result<Workload> fit_workload(const Requests& requests);

/// Makes a log. The same workload and seed give the same bytes. O(requests x log requests).
Requests generate(const Workload& workload, std::uint64_t seed);

/// The workload of the stretch of time that follows the one that it was learnt from: as long, with
/// as many requests of each tenant as the longest stretch's spread lets come in one half when as
/// many came in the other, and lengths that have drifted as far as they do. Neither is beyond the
/// peaks that are known of a short log: its halves differ by chance and by bursts that are over
/// within seconds, and would else become a load that was never seen.
Workload following(const Workload& workload, std::uint64_t seed);

/// Reads and writes a workload as TOML. Fail with not_found, with invalid naming the place, with
/// unavailable.
Result<Workload> parse_workload(std::string_view text, const std::string& name);
Result<Workload> load_workload(const std::string& path);
std::string to_toml(const Workload& workload);

}  // namespace almanac::inference
