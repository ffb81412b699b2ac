// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much longer the steps of jobs take that send over one link.
///
/// A step of a job computes, then sends. If more is sent at once than the link carries, all senders
/// slow down in proportion. The excess is sent later, and lengthens a step by that time:
///
///   shifted        A step is longer by the time average of the excess, in units of the capacity:
///                  1 - Cassini's score of the link. The jobs keep their shifts, so it is the same
///                  fraction of the period for all.
///   not shifted    Iterations drift, and all relative shifts occur equally long. A step is longer
///                  by the same average, over all shifts and over the time in which the job sends.
///   in turn        The rule of turns.h decides, if all jobs of the link follow it.
///   by priority    If priorities differ, single transfers are simulated (turns.h) from several
///                  relative starts, and the mean counts.
///
/// Example: two jobs send at full speed for half of equal periods. Shifted by half a period,
/// neither is slowed (if periods differ, the larger one counts). Not shifted, each loses a quarter
/// of the period. If the sum would still exceed what the link carries, all senders that are not
/// shifted slow down further until the link is exactly full.
///
/// Source   Rajasekaran et al., NSDI'24 (Cassini), section 3, for the score and the effect of
///          shifts. The average over shifts and the rest are our own; contention_test.cpp compares
///          them with a simulation of single transfers (turns.h).
/// Differs  from a real network: no latency, no congestion loss; shares are proportional to demand,
///          whereas a fair queue would give small senders all they request.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace almanac::links {

/// A job's use of a link.
struct Flow {
  double period_ms = 1;  ///< Duration of a step that no other job slows.
  double sends_ms = 0;   ///< Sending time at the end of the step; at most the period.
  double gbps = 0;       ///< Sending rate; 0 for as much as the link carries.
  /// How much later its steps begin than those of the other shifted flows; nothing if its steps
  /// drift.
  std::optional<double> shift_ms{};
  bool in_turn = false;  ///< Starts to send only when the rule of turns.h allows.
  int priority = 0;      ///< The link carries what higher priorities send first.

  bool operator==(const Flow&) const = default;
};

/// Returns the factor, 1 or more, by which the steps of each flow are longer. Periods of flows with
/// shifts are rounded to whole milliseconds. If their least common multiple is too long (more than
/// 512 steps in total), they count as drifting.
/// Cost     O(flows^2), times the pieces of a common period if there are shifts; for flows in turn,
///          the cost of turns.h
std::vector<double> stretches(std::span<const Flow> flows, double capacity_gbps);

/// Returns shifts, in milliseconds, with which the flows without one lose least together. Given
/// shifts stay. Optimal for a single flow; several flows are placed one after another, the longest
/// sender first, and then each once more. A flow gets no shift if the periods have no common
/// multiple that is short enough.
/// Cost     O((pieces of a common period)^2) per flow
std::vector<std::optional<double>> best_shifts(std::span<const Flow> flows, double capacity_gbps);

/// A link and its flows.
struct SharedLink {
  std::vector<Flow> flows{};
  double capacity_gbps = 0;
};

/// Returns the shift, in milliseconds, of the flow that is first in each of `links`, with which it
/// and the shifted flows lose least on all links together. Returns nothing if the periods on one
/// link have no common multiple that is short enough.
/// Cost     that of best_shifts(), times the links
std::optional<double> best_common_shift(std::vector<SharedLink> links);

/// Returns the fraction of time that flows with shifts lose on a link: the average over a common
/// period of what they send beyond its capacity, in units of the capacity.
double lost(std::span<const Flow> flows, double capacity_gbps);

}  // namespace almanac::links
