// SPDX-License-Identifier: Apache-2.0

/// \file
/// The choices for one slot: their descriptions, and how to make them.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "policy/parameters.h"
#include "policy/traits.h"

namespace almanac::policy {

struct Composition;

/// Description of a choice.
struct Entry {
  std::string name;
  std::string summary;
  std::string source;  ///< Paper and section.
  Traits traits{};
  std::vector<Parameter> parameters{};
  /// Changes `traits.has` to what the values of the parameters mean; empty if they change nothing.
  std::function<void(const Parameters&, TraitSet&)> adjust_traits{};
  /// Returns sentences about a policy with this choice that its traits do not say; empty for none.
  std::function<std::vector<std::string>(const Composition&)> explain{};
};

/// Base of all shelves, whatever they make.
class Choices {
 public:
  explicit Choices(std::string slot) : slot_(std::move(slot)) {}
  virtual ~Choices() = default;

  const std::string& slot() const { return slot_; }
  const std::vector<Entry>& entries() const { return entries_; }
  /// Returns null if no choice has that name.
  const Entry* find(std::string_view name) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& each) { return each.name == name; });
    return found == entries_.end() ? nullptr : &*found;
  }
  const Entry& at(const Choice& choice) const {
    const Entry* const found = find(choice.name);
    ALMANAC_CHECK(found != nullptr, "slot {} has no choice {}", slot_, choice.name);
    return *found;
  }

 protected:
  std::vector<Entry> entries_;

 private:
  std::string slot_;
};

/// Makes a `Made` from a choice. Makers receive `Given` in addition to the parameters.
template <typename Made, typename... Given>
class Shelf final : public Choices {
 public:
  using Make = std::function<Made(const Parameters&, Given...)>;
  using Choices::Choices;

  /// Passes everything that is made through `wrap`.
  void set_wrap(std::function<Made(Made)> wrap) { wrap_ = std::move(wrap); }

  void add(Entry entry, Make make) {
    ALMANAC_CHECK(find(entry.name) == nullptr, "{} {} is there twice", slot(), entry.name);
    make_.push_back(std::move(make));
    entries_.push_back(std::move(entry));
  }

  Made make(const Choice& choice, Given... given) const {
    const Entry& entry = at(choice);
    const auto position = static_cast<std::size_t>(&entry - entries_.data());
    Made made =
        make_[position](Parameters(entry.parameters, choice), std::forward<Given>(given)...);
    return wrap_ ? wrap_(std::move(made)) : std::move(made);
  }

 private:
  std::function<Made(Made)> wrap_;
  std::vector<Make> make_;
};

}  // namespace almanac::policy
