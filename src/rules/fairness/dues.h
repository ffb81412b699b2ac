// SPDX-License-Identifier: Apache-2.0

/// \file
/// Who had how much of what was due to it over a time, and who lent to whom.
///
/// The time is cut into equal spans. In each, an owner asks the GPUs of its jobs that were there,
/// from submission to end, on average; what is due to it is its part of all GPUs, and of what
/// others do not ask. An owner without a weight is due what is left. What a job had counts evenly
/// from its first start to its end.
///
/// Source   Ghodsi et al., NSDI'11, section 3 (max-min fairness with weights, of one resource);
///          Mahajan et al., NSDI'20 (Themis), for the finish-time ratio.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace almanac::fairness {

/// What an owner is due beside others; 0 = what is left.
struct Claimant {
  std::string name{};
  double weight = 1;
};

/// A job while it was there; in seconds since the time began, also before that or after its end.
struct Stay {
  std::size_t owner = 0;
  double gpus = 0;
  double submit_s = 0;
  double end_s = 0;  ///< Of one that has not ended: the end of the time.
  double start_s = std::numeric_limits<double>::quiet_NaN();  ///< Its first; NaN = never.
  double ran_s = 0;                                           ///< From its start to its end.
  /// Run time of one that ended, for its finish-time ratio; NaN = it has none.
  double alone_s = std::numeric_limits<double>::quiet_NaN();
};

struct Owner {
  std::string name{};  ///< "tenant vision", "user ann"; "others" = jobs of no tenant.
  std::uint64_t jobs = 0;
  double used_gpu_s = 0;
  double fair_share_gpu_s = 0;
  double lent_gpu_s = 0;      ///< Of its part of all GPUs what it did not ask, and others had.
  double borrowed_gpu_s = 0;  ///< That it had beyond its part of all GPUs.
  double finish_ratio = 0;    ///< Mean of its jobs that finished; NaN without any.
};

struct Loan {
  std::size_t from = 0;
  std::size_t to = 0;
  double gpu_s = 0;
};

struct Dues {
  bool by_tenant = false;
  std::vector<Owner> owners{};
  std::vector<Loan> loans{};  ///< Between tenants, the largest first; lenders share a loan by
                              ///< what they leave.
  double share_error = 0;     ///< The part of what was had that would have to change hands.
  double jain = 0;            ///< Of had / due.
  std::size_t worst = 0;      ///< Who had least of its due.
  double worst_part = 0;      ///< Of its due.
  double finish_ratio = 0;    ///< Mean of all jobs.
  double unfair_jobs = 0;     ///< The part of them with a ratio above 1.05.
};

/// How much of all GPUs is due to each of those that ask `asked`, by `weights`.
std::vector<double> fair_parts(const std::vector<double>& asked, const std::vector<double>& weights,
                               double gpus);

/// Over `length_s`, in which there were `gpus` on the mean. `by_tenant`: owners have parts that
/// they can lend. Cost: O(stays + spans x owners), 8 MB at most.
Dues judge(std::span<const Claimant> owners, std::span<const Stay> stays, double length_s,
           double gpus, bool by_tenant);

/// "got 14 % more than its fair share", "got its fair share".
std::string beside_its_due(const Owner& owner);

}  // namespace almanac::fairness
