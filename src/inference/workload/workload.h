// SPDX-License-Identifier: Apache-2.0

/// \file
/// A statistical description of the requests of a service: their number, times, lengths and shared
/// prompt prefixes. Logs generated from it resemble the original without repeating it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/request.h"
#include "inference/request_log.h"

namespace almanac::inference {

/// From this length on, a log shows how one day differs from the next. A log of two days ends with
/// its last request, slightly before 48 hours.
inline constexpr double kHoursOfTwoDays = 47.5;

/// Token counts, as quantiles.
struct Lengths {
  /// At equal steps from the smallest to the largest, at least 2, ascending; interpolated
  /// logarithmically.
  std::vector<double> at{};
  /// The last of these steps in finer detail, for heavy tails; empty if not needed.
  std::vector<double> tail{};

  /// Returns the quantile at `u`, 0 <= u < 1.
  std::int32_t quantile(double u) const;
};
/// Returns log-normal lengths: `spread` is the standard deviation of the logarithm; no count
/// exceeds `most`.
Lengths log_normal_lengths(double median, double spread, double most);

/// How bursty requests are at one time scale.
///
/// Halve any interval of `seconds`: the fraction of its requests in the first half has mean 1/2 and
/// standard deviation `spread`, from 0 (even, as in a Poisson process) to 1/2 (all in one half).
struct Burst {
  double seconds = 0;
  double spread = 0;
};

/// Requests of one source.
struct Tenant {
  std::string name{};
  std::string model{};  ///< Requested model; "" if the log names none.
  double requests = 1;  ///< Weight among all tenants.
  /// LoRA adapters of its requests, "" for none. An empty list means that no request names one.
  std::vector<std::string> adapters{};
  std::vector<double> adapter_requests{};  ///< Weight of each adapter.
  Lengths prompt{};
  Lengths output{};
  /// Standard deviation of the logarithm of mean lengths, from one period of the log's length to
  /// the next.
  double prompt_drift = 0, output_drift = 0;
  /// For a log of less than a day: the peak of an eighth of the log (or of three minutes, if
  /// longer), as a multiple of the mean, for requests and mean lengths. Generated logs stay within
  /// it. 0 if unknown.
  double requests_peak = 0, prompt_peak = 0, output_peak = 0;
  double together = 0;  ///< Correlation of the two lengths, in normal scores.
  /// In descending order of seconds. Longer intervals follow a Poisson process, as does everything
  /// if this is empty.
  std::vector<Burst> bursts{};

  // Shared prompt prefixes, in tokens and requests:
  std::int32_t common_tokens = 0;  ///< Tokens that all prompts start with.
  /// Fraction of requests that extend an earlier prompt, by equal groups from the shortest prompts
  /// to the longest; empty for none.
  std::vector<double> follow{};
  /// Quantiles of the fraction of the prompt that repeats the earlier one.
  std::vector<double> follow_part{};
  std::vector<double> follow_age_s{};  ///< Quantiles of the time since the earlier prompt.
};

struct Workload {
  double hours = 1;
  std::int64_t requests = 3600;
  /// Weights of the hours of a day, which starts with the log; empty if uniform.
  std::vector<double> day{};
  std::int32_t block_tokens = kPlainBlockTokens;  ///< Tokens per block id.
  std::vector<Tenant> tenants{};
};

/// Returns a workload of one hour with one request per second, prompts of 1,000 tokens and outputs
/// of 150.
Workload plain_workload();

/// Fits a workload to a log. Tenants are those that the log names, or the models, or both; tenants
/// with fewer than 50 requests are merged. Hours of the day are fitted from 20 hours on. O(n log n)
/// time, O(n) memory.
///
/// Source   bursts: Riedi, Crouse, Ribeiro, Baraniuk, IEEE Trans. Information Theory 1999 (a
///          cascade of beta multipliers). Separate tenants: Xiang et al., 2025 (ServeGen).
/// Differs  the spread of each halving is estimated without the part that a Poisson process has.
///
/// Fails with `invalid` for fewer than 20 requests, or if all arrive at one instant.
Result<Workload> fit_workload(const Requests& requests);

/// Generates a log. The same workload and seed give the same bytes. O(requests x log requests).
Requests generate(const Workload& workload, std::uint64_t seed);

/// Returns a workload for the period after the one that `workload` was fitted to. It has the same
/// length. The request count of each tenant varies as much as the two halves of the longest
/// interval do, and lengths drift as much as they do in the log. Neither exceeds the peaks that are
/// known of a short log: its halves differ by chance and by bursts of seconds, which would
/// otherwise grow into a load that was never seen.
Workload following(const Workload& workload, std::uint64_t seed);

/// Reads and writes a workload as TOML. Fails with `not_found`, `unavailable`, or `invalid` naming
/// the place.
Result<Workload> parse_workload(std::string_view text, const std::string& name);
Result<Workload> load_workload(const std::string& path);
std::string to_toml(const Workload& workload);

}  // namespace almanac::inference
