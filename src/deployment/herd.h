// SPDX-License-Identifier: Apache-2.0

/// \file
/// Groups of models and GPUs: every GPU of a group holds all models of the group.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "deployment/dispatch.h"

namespace almanac::deployment {

struct HerdGroup {
  std::vector<std::size_t> variants{};
  int gpus = 0;
};

/// Returns the groups for which the smallest quotient of a group's GPUs and its load is largest; of
/// equally good ones the fewest groups, then those that hold the least memory. Variants without
/// load are in no group. With up to 8 variants every grouping is tried; with more, groups are made
/// by first fit, the largest loads first, or the largest variants if that makes more groups than
/// GPUs; then variants move as long as that helps. Fails with unavailable if a variant does not fit
/// on a GPU, or if it finds no grouping with at most as many groups as GPUs.
///
/// Source   Zhang et al., NSDI'23 (SHEPHERD), its planner Herd: streams and GPUs are grouped so
/// that
///          the models of a group fit on a GPU, and the least burst tolerance (GPUs of the group
///          per load) of a stream is largest.
/// Differs  Found by enumeration or by moves instead of an integer program, once for the rates of
///          the services instead of every few minutes. The size of a group is not limited.
Result<std::vector<HerdGroup>> herd(const PlaceCase& asked);

}  // namespace almanac::deployment
