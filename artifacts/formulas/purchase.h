// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs on cores that are reserved for long, bought on demand, or taken at a spot price.
///
/// Source   GAIA (ASPLOS'24), section 4.3, and its artifact.
#pragma once

#include <vector>

#include "formulas/waiting.h"

namespace almanac::carbon {

/// USD for a core and hour, on demand.
inline constexpr double kOnDemandUsd = 0.0624;
inline constexpr double kSpotUsd = 0.01248;
/// Paid for each reserved core and hour, used or not.
inline constexpr double kReservedUsd = 0.4 * kOnDemandUsd;

struct CoreJob {
  Task task;
  int cores = 1;
  bool on_spot = false;  ///< It runs on spot cores, and never on reserved ones.
};

struct Purchase {
  int reserved = 0;    ///< Cores.
  bool early = false;  ///< A job starts before its planned time where reserved cores are free.
};

struct BoughtPiece {
  std::size_t job = 0;
  Piece piece{};
  double usd = 0;  ///< Of on-demand and spot cores.
};

/// Runs each piece of `plans[job]` as planned, on demand or on spot.
std::vector<BoughtPiece> buy_as_planned(const std::vector<CoreJob>& jobs,
                                        const std::vector<std::vector<Piece>>& plans);

/// Runs jobs, which are in order of arrival, at `starts` or earlier, step by step; a job takes
/// reserved cores if there are enough for all of it. Cores of a job that ends serve from the next
/// step on. Ties of equal arrival are broken as by the artifact, whose binary heap is emptied and
/// filled again in each step. O(steps x jobs that wait).
std::vector<BoughtPiece> buy(const std::vector<CoreJob>& jobs, const std::vector<Step>& starts,
                             const Purchase& purchase);

/// USD for reserved cores until the last start.
double reserved_usd(const Purchase& purchase, const std::vector<BoughtPiece>& pieces);

}  // namespace almanac::carbon
