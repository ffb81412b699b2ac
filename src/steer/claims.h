// SPDX-License-Identifier: Apache-2.0

/// \file
/// What stands of all that Almanac did to a Slurm: what there is to undo, and by which it is seen
/// that somebody else turns the same screws. Each kind of change keeps its own (action/).
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "steer/action/action.h"
#include "steer/journal.h"

namespace almanac::steer {

template <typename Kinds>
struct ClaimsOf;
template <typename... Kinds>
struct ClaimsOf<std::variant<Kinds...>> {
  using Type = std::tuple<typename Kinds::Claims...>;
};

/// Not thread-safe.
class Claims {
 public:
  /// Of one kind of change.
  template <typename Kind>
  typename Kind::Claims& of() {
    return std::get<typename Kind::Claims>(all_);
  }
  template <typename Kind>
  const typename Kind::Claims& of() const {
    return std::get<typename Kind::Claims>(all_);
  }

  /// Takes entries as Journal::Take does: in the order in which they were done. What may have been
  /// done counts as done, what may have been taken back does not.
  void take(const Entry& entry, const Failure& failed) {
    const bool is_undo = entry.lever == kUndo;
    const bool is_refused = failed && !failed->empty();
    if (is_refused ? *failed == kNotTried || is_undo : is_undo && !failed) return;
    std::visit(
        [&]<typename Kind>(const Kind& change) {
          auto& claims = of<Kind>();
          if (!is_refused) {
            claims.take(change,
                        {.at = entry.at, .is_undo = is_undo, .is_known = failed.has_value()});
          } else if constexpr (requires { claims.refused(change, entry.at); }) {
            claims.refused(change, entry.at);
          }
        },
        entry.what);
  }
  void forget_gone(const Mirror& mirror) {
    each([&](auto& claims) { claims.forget_gone(mirror); });
  }
  /// What brings back what was.
  std::vector<Entry> undoing(const Mirror& mirror, const std::string& why) const {
    std::vector<Entry> made;
    each([&](const auto& claims) {
      for (auto& change : claims.invert(mirror)) {
        made.push_back({mirror.at(), std::string(kUndo), std::move(change), why});
      }
    });
    return made;
  }
  /// All of it, so that taking these entries makes the same.
  std::vector<Entry> standing(Time at) const {
    std::vector<Entry> made;
    each([&](const auto& claims) {
      for (auto& [when, change] : claims.standing(at)) {
        made.push_back({when, "kept", std::move(change), "still stands"});
      }
    });
    return made;
  }

 private:
  template <typename Visit>
  void each(Visit&& visit) {
    std::apply([&](auto&... claims) { (visit(claims), ...); }, all_);
  }
  template <typename Visit>
  void each(Visit&& visit) const {
    std::apply([&](const auto&... claims) { (visit(claims), ...); }, all_);
  }

  ClaimsOf<Change>::Type all_;
};

}  // namespace almanac::steer
