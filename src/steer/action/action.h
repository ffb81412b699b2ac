// SPDX-License-Identifier: Apache-2.0

/// \file
/// The kinds of changes to a managed cluster, each with everything about it in one file. Driver,
/// journal and undo know no kind by name, so a new kind is one more file and one more word in
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
#include "manager/link.h"
#include "steer/action/cores_change.h"
#include "steer/action/fate_change.h"
#include "steer/action/power_change.h"
#include "steer/action/queue_change.h"
#include "steer/action/weight_change.h"
#include "steer/action/word_change.h"

namespace almanac::steer {

using Change =
    std::variant<QueueChange, FateChange, PowerChange, WeightChange, CoresChange, WordChange>;

/// The operations of a kind of change. Its claims are what is still in effect of all changes made;
/// they receive each change in the order in which it was made, also from the journal.
template <typename Kind>
concept Act = requires(const Kind& change, const Scene& scene, manager::Link& link,
                       std::span<const Kind* const> several, const nlohmann::json& line,
                       nlohmann::json& into, typename Kind::Claims& claims,
                       const typename Kind::Claims& all, const Mirror& mirror, const Done& done) {
  /// Describe: "job 12: site_factor 0 -> 500".
  { change.describe() } -> std::same_as<std::string>;
  /// Guard: returns why the change is forbidden, whatever a lever wants; nothing if it is allowed.
  { change.forbidden(scene) } -> std::same_as<std::optional<std::string>>;
  /// Guard: whether it is about jobs and nodes that levers are for (scope.h), or gives back.
  { change.is_in_scope(scene) } -> std::same_as<bool>;
  /// Execute: this many at once at most; returns a result for each, like Link::change.
  { Kind::kAtOnce } -> std::convertible_to<std::size_t>;
  { Kind::execute(several, link) } -> std::same_as<std::vector<Result<void>>>;
  /// Record: the fields of a journal line, and back; nothing if the line has another kind.
  change.record(into);
  { Kind::read(line) } -> std::same_as<std::optional<Kind>>;
  claims.take(change, done);  // and, if needed, claims.refused(change, done.at)
  /// Forgets what needs no undoing any more.
  claims.forget_gone(mirror);
  /// Invert: returns the changes that restore the earlier state, as far as ours is still in effect.
  { all.invert(mirror) } -> std::same_as<std::vector<Kind>>;
  /// All of it, and when it was done: claims that take that are the same.
  { all.standing(done.at) } -> std::same_as<std::vector<std::pair<Time, Kind>>>;
};

template <typename... Kinds>
constexpr bool are_acts(const std::variant<Kinds...>*) {
  return (Act<Kinds> && ...);
}
static_assert(are_acts(static_cast<const Change*>(nullptr)));

/// A change that a lever wants.
struct Action {
  Change change{};
  std::string why{};  ///< "place 3 of 120 in v100".
};

}  // namespace almanac::steer
