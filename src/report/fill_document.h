// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of fill experiments: how much each placement could allocate, and how much was lost to
/// fragments.
#pragma once

#include <string>
#include <vector>

#include "figure/document.h"
#include "rules/fragment/curve.h"

namespace almanac::report {

/// Result of a placement, averaged over fills with several orders of arrival.
struct FilledBy {
  std::string placement{};
  fragment::Curve curve{};
};

struct FillInput {
  std::string trace{};    ///< Its file name.
  std::string cluster{};  ///< As given.
  int nodes = 0;
  int gpus = 0;
  std::size_t jobs = 0;
  std::size_t left_out = 0;  ///< Jobs that fit on no empty node.
  int orders = 1;            ///< Orders of arrival.
  /// Largest possible allocation when requests equal the capacity, in percent.
  double most_given = 100;
};

/// Returns the mean at each point. At a point near which nothing arrived a curve has its last
/// value; before the first arrival nothing is allocated, and the measures of fragments are left out
/// of the mean.
fragment::Curve mean_of(std::vector<fragment::Curve> curves);

/// Returns a report with a series each of allocation, fragments, and fragments relative to idle
/// GPUs, against demand.
/// Source   Weng et al., ATC'23 (FGD), section 6.
figure::Document fill_document(const FillInput& input, const std::vector<FilledBy>& filled,
                               const std::vector<std::string>& command);

}  // namespace almanac::report
