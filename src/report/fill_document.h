// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of fill experiments: what each placement could give, and what lay in fragments.
#pragma once

#include <string>
#include <vector>

#include "figure/document.h"
#include "rules/fragment/curve.h"

namespace almanac::report {

/// What a placement did, as the mean of fills with several orders of arrival.
struct FilledBy {
  std::string placement{};
  fragment::Curve curve{};
};

struct FillInput {
  std::string trace{};    ///< Its file.
  std::string cluster{};  ///< As given.
  int nodes = 0;
  int gpus = 0;
  std::size_t jobs = 0;
  std::size_t left_out = 0;  ///< That fit no node whole.
  int orders = 1;            ///< Of arrival.
  /// What could be given at the most when as many GPUs are asked as there are, in percent.
  double most_given = 100;
};

/// The mean at each point, of the curves that have it.
fragment::Curve mean_of(const std::vector<fragment::Curve>& curves);

/// Allocation, fragments and fragments of the idle over the demand, a series each.
/// Source   Weng et al., ATC'23 (FGD), section 6.
figure::Document fill_document(const FillInput& input, const std::vector<FilledBy>& filled,
                               const std::vector<std::string>& command);

}  // namespace almanac::report
