// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies between several objectives: those that no other one beats in everything.
///
/// The search is a Pareto local search: from some policies on, it tries every policy that differs
/// from a member of the front in one part or parameter, until the front has no untried neighbour.
///
/// Source   Paquete, Chiarandini, Stützle, LNEMS 535 (2004) (Pareto local search); Das, Structural
///          Optimization 18 (1999) on knees: here the point closest to the best value of each
///          objective, with the range of each over the front as its unit.
/// Limits   A front that local search finds may lack members that no chain of members leads to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiment/summary.h"

namespace almanac::experiment {

/// A figure of a run; the smaller, the better.
struct Objective {
  std::string_view name;                 ///< "wait", as users select it.
  std::string_view title;                ///< "mean wait".
  bool is_time = false;                  ///< In seconds; otherwise a plain number.
  double (*of)(const Summary& summary);  ///< NaN if the run does not have it.
};

/// Returns all that can be selected.
std::span<const Objective> objectives();
/// Reads "wait,energy". Fails with usage unless it names two or more different objectives.
Result<std::vector<Objective>> parse_objectives(std::string_view text);

/// Whether `a` is at most `b` in every objective, and below it in one.
bool dominates(std::span<const double> a, std::span<const double> b);

/// Means of a policy.
struct Judged {
  std::vector<double> values{};  ///< By objective.
  std::uint64_t unended = 0;     ///< Jobs that never ended, which no mean covers.
};

struct Tried {
  std::string policy{};
  std::vector<double> values{};  ///< By objective.
  std::uint64_t unended = 0;     ///< See Judged.
  bool is_on_front = false;
};

struct Front {
  std::vector<Tried> tried{};          ///< In the order in which they were tried.
  std::vector<std::size_t> members{};  ///< Places in `tried`, by the first objective, then the
                                       ///< next.
  /// Place in `tried` of the member that gives up least of all objectives. Nothing if each gives up
  /// most of the range of some objective: then none lies between.
  std::optional<std::size_t> knee{};
  bool is_exhausted = false;  ///< No neighbour of a member was left untried.
};

/// Values of an objective that differ by no more than this fraction count as equal.
inline constexpr double kAlike = 0.05;

/// Returns members, as few as show the front: no other one is at most kAlike worse in everything,
/// the knee first among equals. In the order of Front::members.
std::vector<std::size_t> representatives(const Front& front);

/// Returns the means of policies, in order; nothing for one that cannot run.
using Evaluate = std::function<Result<std::vector<std::optional<Judged>>>(
    const std::vector<std::string>& policies)>;
/// Returns the policies that differ from this one in one part.
using Neighbours = std::function<std::vector<std::string>(const std::string& policy)>;

/// Evaluates `start`, then neighbours of the front, at most `budget` of them. Policies that leave
/// more jobs without an end than another are not on the front: their means cover fewer jobs. Fails
/// as `evaluate` does, or with `unavailable` if no policy can run.
Result<Front> search_front(const std::vector<std::string>& start, const Evaluate& evaluate,
                           const Neighbours& neighbours, std::size_t budget);

/// Returns the policies that differ from a composed one in one choice, or in one parameter that is
/// doubled, halved or another word. Those that know true run times are left out, as are those that
/// read what `start` does not read: the log has no such data. Empty for a whole policy.
std::vector<std::string> neighbours_of(const std::string& policy,
                                       const std::vector<std::string>& start);

}  // namespace almanac::experiment
