// SPDX-License-Identifier: Apache-2.0

/// \file
/// The changes of Almanac that are still in effect on a managed cluster: what there is to undo, and
/// how to notice that others change the same things. Each kind of change keeps its own claims
/// (action/).
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
  /// Claims of one kind of change.
  template <typename Kind>
  typename Kind::Claims& of() {
    return std::get<typename Kind::Claims>(all_);
  }
  template <typename Kind>
  const typename Kind::Claims& of() const {
    return std::get<typename Kind::Claims>(all_);
  }

  /// Takes journal entries in the order in which they were carried out. A change with an unknown
  /// result counts as done, an undo with an unknown result does not.
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
  /// The changes that undo everything.
  std::vector<Entry> undoing(const Mirror& mirror, const std::string& why) const {
    std::vector<Entry> made;
    each([&](const auto& claims) {
      for (auto& change : claims.invert(mirror)) {
        made.push_back({mirror.at(), std::string(kUndo), std::move(change), why});
      }
    });
    return made;
  }
  /// Everything in effect, as entries that give equal claims.
  std::vector<Entry> standing(Time at) const {
    std::vector<Entry> made;
    each([&](const auto& claims) {
      for (auto& [when, change] : claims.standing(at)) {
        made.push_back({when, "kept", std::move(change), "not undone yet"});
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
