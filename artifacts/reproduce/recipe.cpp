// SPDX-License-Identifier: Apache-2.0
#include "reproduce/recipe.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::reproduce {

void register_recipe(Recipes& registry);  // generated

void Recipes::add(Recipe recipe) {
  ALMANAC_CHECK(find(recipe.name) == nullptr, "recipe {} is there twice", recipe.name);
  recipes_.push_back(std::move(recipe));
}

const Recipe* Recipes::find(std::string_view name) const {
  const auto found = std::find_if(recipes_.begin(), recipes_.end(),
                                  [&](const Recipe& each) { return each.name == name; });
  return found == recipes_.end() ? nullptr : &*found;
}

const Recipes& recipes() {
  static const Recipes all = [] {
    Recipes made;
    register_recipe(made);
    return made;
  }();
  return all;
}

Outcome reproduce(const Recipe& recipe, const std::string& folder, std::atomic<double>* done) {
  Bench bench(folder, recipe.needs, recipe.kind, done);
  recipe.make(bench);
  return std::move(bench).outcome();
}

}  // namespace almanac::reproduce
