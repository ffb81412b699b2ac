// SPDX-License-Identifier: Apache-2.0

/// \file
/// The kinds of changes to a Slurm cluster, each with everything about it in one file. Driver,
/// journal and undo know no kind by name, so another kind is one more file and one more word in
/// `Change`.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "base/time.h"
#include "slurm/link.h"
#include "steer/action/cores_change.h"
#include "steer/action/fate_change.h"
#include "steer/action/power_change.h"
#include "steer/action/queue_change.h"
#include "steer/action/weight_change.h"
#include "steer/action/word_change.h"

namespace almanac::steer {

using Change =
    std::variant<QueueChange, FateChange, PowerChange, WeightChange, CoresChange, WordChange>;

/// What a kind of change can be asked. Its claims are what stands of all that were made: they take
/// each in the order in which they were done, also from the journal.
template <typename Kind>
concept Act = requires(const Kind& change, const Scene& scene, slurm::Link& link,
                       std::span<const Kind* const> several, const nlohmann::json& line,
                       nlohmann::json& into, typename Kind::Claims& claims,
                       const typename Kind::Claims& all, const Mirror& mirror, const Done& done) {
  /// Describe: "job 12: site_factor 0 -> 500".
  { change.describe() } -> std::same_as<std::string>;
  /// Guard: why it must not be done, whatever a lever wants; nothing = it may be.
  { change.forbidden(scene) } -> std::same_as<std::optional<std::string>>;
  /// Guard: whether it is about jobs and nodes that levers are for (scope.h), or gives back.
  { change.is_in_scope(scene) } -> std::same_as<bool>;
  /// Execute: so many at once at most; an answer for each, as Link::change.
  { Kind::kAtOnce } -> std::convertible_to<std::size_t>;
  { Kind::execute(several, link) } -> std::same_as<std::vector<Result<void>>>;
  /// Record: its fields of a line of the journal, and back; nothing where the line has another
  /// kind.
  change.record(into);
  { Kind::read(line) } -> std::same_as<std::optional<Kind>>;
  claims.take(change, done);  // and, where that matters, claims.refused(change, done.at)
  /// Forgets what needs no undoing any more.
  claims.forget_gone(mirror);
  /// Invert: what brings back what was, as far as it still is as we left it.
  { all.invert(mirror) } -> std::same_as<std::vector<Kind>>;
  /// All of it, and when it was done: claims that take that are the same.
  { all.standing(done.at) } -> std::same_as<std::vector<std::pair<Time, Kind>>>;
};

template <typename... Kinds>
constexpr bool are_acts(const std::variant<Kinds...>*) {
  return (Act<Kinds> && ...);
}
static_assert(are_acts(static_cast<const Change*>(nullptr)));

/// One that a lever wants.
struct Action {
  Change change{};
  std::string why{};  ///< "place 3 of 120 in v100".
};

}  // namespace almanac::steer
