// SPDX-License-Identifier: Apache-2.0

/// \file
/// Compares each owner's usage with its fair share over a time span, and shows who lent to whom.
///
/// The time is cut into 64 to 1,024 equal spans. In each span, an owner requests the average number
/// of GPUs of its jobs between submission and end. Its fair share is the max-min fair share of that
/// request by weight. Owners without a weight share the rest. A job's usage is spread evenly from
/// its first start to its end.
///
/// Source   Ghodsi et al., NSDI'11, section 3 (weighted max-min fairness of one resource);
///          Mahajan et al., NSDI'20 (Themis), for the finish-time ratio.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace almanac::fairness {

/// An owner and its weight relative to the others; weight 0 gets what is left.
struct Claimant {
  std::string name{};
  double weight = 1;
};

/// A job's time in the system, in seconds since the start of the span; may begin before or end
/// after.
struct Stay {
  std::size_t owner = 0;
  double gpus = 0;
  double submit_s = 0;
  double end_s = 0;  ///< The end of the span if the job has not ended.
  double start_s = std::numeric_limits<double>::quiet_NaN();  ///< First start; NaN if never.
  double ran_s = 0;                                           ///< Run time from start to end.
  /// Run time of an ended job, for its finish-time ratio; NaN to leave it out.
  double alone_s = std::numeric_limits<double>::quiet_NaN();
};

struct Owner {
  std::string name{};  ///< "tenant vision", "user ann"; "others" for jobs without a tenant.
  std::uint64_t jobs = 0;
  double used_gpu_s = 0;
  double fair_share_gpu_s = 0;
  double lent_gpu_s = 0;      ///< Unused part of its weighted share of all GPUs that others used.
  double borrowed_gpu_s = 0;  ///< Use beyond that share while others left some of theirs unused.
  double finish_ratio = 0;    ///< Mean of its finished jobs; NaN without any.
};

struct Loan {
  std::size_t from = 0;
  std::size_t to = 0;
  double gpu_s = 0;
};

struct Dues {
  bool by_tenant = false;
  std::vector<Owner> owners{};
  std::vector<Loan> loans{};  ///< Between tenants, the largest first; lenders share a loan in
                              ///< proportion to what they leave unused.
  double share_error = 0;     ///< Fraction of the used GPU time that was unfairly distributed.
  double jain = 0;            ///< Jain's index of used / fair share.
  std::size_t worst = 0;      ///< Owner with the smallest fraction of its fair share.
  double worst_part = 0;      ///< That fraction.
  double finish_ratio = 0;    ///< Mean of all finished jobs; NaN without any.
  double unfair_jobs = 0;     ///< Fraction of them with a ratio above 1.05.
};

/// Returns the max-min fair share of `gpus` by `weights`, for owners that request `asked` GPUs.
std::vector<double> fair_parts(const std::vector<double>& asked, const std::vector<double>& weights,
                               double gpus);

/// Judges `length_s` seconds with `gpus` GPUs on average. `by_tenant`: owners have shares that they
/// can lend, so loans are listed.
/// Cost     O(stays + spans x owners), and spans x owners^2 if there are loans; about 16 MB of
///          memory, and 1 KB per owner beyond 16,384 owners
Dues judge(std::span<const Claimant> owners, std::span<const Stay> stays, double length_s,
           double gpus, bool by_tenant);

/// Returns, for example, "got 14 % more than its fair share" or "got its fair share".
std::string beside_its_due(const Owner& owner);

}  // namespace almanac::fairness
