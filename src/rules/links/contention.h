// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much longer the steps of jobs get that send over one link.
///
/// A step of a job computes, then sends. Where more is sent at once than the link carries, all that
/// send go slower in proportion. What is sent beyond the capacity is sent later, and by that time a
/// step is longer:
///
///   shifted        a step is longer by the mean over time of what is sent beyond the capacity, in
///                  capacities: 1 - Cassini's score of the link. The jobs keep their
///                  shifts, so this is the same part of the period for all
///   not shifted    iterations drift, and stand to each other in all ways for as long: the same
///                  mean over all shifts, over the time in which the job itself sends
///   in turn        as the rule of turns has it (turns.h), where all jobs of the link keep it
///
/// So two jobs that send at full speed for half of equal periods get in each other's way not at all
/// where they are shifted by half (the period is the larger one: max), and for a quarter of it
/// where they are not. Where the sum would be more than the link carries, all that are not shifted
/// send slower still, until it is full.
///
/// Source   Rajasekaran et al., NSDI'24 (Cassini), section 3, for the score and what shifts do. The
///          mean over shifts and the rest are ours; contention_test.cpp holds them to a simulation
///          of single transfers (turns.h).
/// Differs  from a network: no latency, no loss by congestion; shares are as demands, where a fair
///          queue would give small ones all they ask.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace almanac::links {

/// How a job uses a link.
struct Flow {
  double period_ms = 1;  ///< Of a step that no other job slows.
  double sends_ms = 0;   ///< At the end of it; at most the period.
  double gbps = 0;       ///< Meanwhile; 0 = as much as the link carries.
  /// By how much its steps begin later than those of the others that are told; nothing = they
  /// drift.
  std::optional<double> shift_ms{};
  bool in_turn = false;  ///< It begins to send only as turns.h says.

  bool operator==(const Flow&) const = default;
};

/// By which factor the steps of each flow are longer, 1 or more. Periods of flows with shifts are
/// taken in whole milliseconds; where their least common multiple is too long (512
/// steps of all), they drift whatever they are told.
/// Cost: O(flows^2), times the pieces of a common period where there are shifts; of flows in turn
/// that of turns.h.
std::vector<double> stretches(std::span<const Flow> flows, double capacity_gbps);

/// Shifts in milliseconds by which those flows lose least together that have none; the others stay.
/// The best for one flow beside others whose shifts are given; more are taken one after another,
/// the one that sends longest first, and then each once more. Flows whose periods have no common
/// multiple that is short enough stay without. Cost: O((pieces of a common period)^2) a flow.
std::vector<std::optional<double>> best_shifts(std::span<const Flow> flows, double capacity_gbps);

/// A link and the flows over it.
struct SharedLink {
  std::vector<Flow> flows{};
  double capacity_gbps = 0;
};

/// The shift in milliseconds of a flow, the first one of each of `links`, by which it and the flows
/// that have shifts lose least on all of these links together. Nothing where periods on one of the
/// links have no common multiple that is short enough. Cost: as best_shifts(), times the links.
std::optional<double> best_common_shift(std::vector<SharedLink> links);

/// Returns the part of time that flows with shifts lose on a link: the mean over a common period of
/// what they send beyond its capacity, in capacities.
double lost(std::span<const Flow> flows, double capacity_gbps);

}  // namespace almanac::links
