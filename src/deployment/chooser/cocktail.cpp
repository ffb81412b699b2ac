// SPDX-License-Identifier: Apache-2.0

/// \file
/// An ensemble that votes with weights by class, and grows and shrinks with what it does.
///
/// The vote of a member for a label counts by how often the member was right so far when it said
/// that label. The ensemble begins with all variants. After each interval of requests it shrinks to
/// a majority of its members, the most accurate ones, if it was accurate enough and on average at
/// least that many members agreed with the vote. If it was not accurate enough, the most accurate
/// variant that is not a member joins. Accurate enough means at most the tolerance below the most
/// accurate variant.
///
/// Source   Gunasekaran et al., NSDI'22 (Cocktail): class-weighted majority voting, and the dynamic
///          choice of models, which at each interval drops to N / 2 + 1 models where enough of them
///          agree, and adds one where accuracy falls.
/// Differs  An interval is 100 requests, not 30 s. The right answer is known after each request.
///          Late answers do not count.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "deployment/registry.h"

namespace almanac::deployment::chooser {
namespace {

constexpr int kInterval = 100;  // requests

class Cocktail final : public Chooser {
 public:
  explicit Cocktail(const ChooserCase& told) : by_accuracy_(told.variants.size()) {
    std::iota(by_accuracy_.begin(), by_accuracy_.end(), std::size_t{0});
    std::vector<double> right;
    for (const auto& answers : told.answers) {
      right.push_back(static_cast<double>(std::count_if(
          answers.begin(), answers.end(), [](const auto& each) { return each.right; })));
    }
    std::stable_sort(by_accuracy_.begin(), by_accuracy_.end(),
                     [&](std::size_t a, std::size_t b) { return right[a] > right[b]; });
    enough_ = (1 - told.tolerance) * right[by_accuracy_.front()] /
              static_cast<double>(told.answers.front().size());
    members_ = by_accuracy_.size();
  }

  std::vector<std::size_t> ask(Rng&) override {
    return {by_accuracy_.begin(), by_accuracy_.begin() + static_cast<std::ptrdiff_t>(members_)};
  }

  int answer(std::span<const Label> said) override {
    std::map<int, double> votes;
    for (std::size_t member = 0; member < said.size(); ++member) {
      if (said[member].label != Exp4::kLate) {
        votes[said[member].label] += weight(member, said[member].label);
      }
    }
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == votes.end() ? Exp4::kLate : most->first;
  }

  void learn(std::span<const std::size_t> asked, std::span<const Label> said, int right) override {
    const int voted = answer(said);
    for (const std::size_t member : asked) {
      const int label = said[member].label;
      if (label == Exp4::kLate) continue;
      Said& of = said_[{member, label}];
      of.times += 1;
      of.right += label == right ? 1 : 0;
      agreed_ += label == voted ? 1 : 0;
    }
    right_ += voted == right ? 1 : 0;
    if (++requests_ == kInterval) adapt();
  }

 private:
  struct Said {
    double times = 0, right = 0;
  };

  /// Returns how often the member was right with this label, with one right and one wrong answer
  /// before the first.
  double weight(std::size_t member, int label) const {
    const auto found = said_.find({member, label});
    const Said of = found == said_.end() ? Said{} : found->second;
    return (of.right + 1) / (of.times + 2);
  }

  void adapt() {
    const std::size_t majority = members_ / 2 + 1;
    constexpr double kRounding = 1e-9;
    if (right_ < (enough_ - kRounding) * kInterval) {
      members_ = std::min(members_ + 1, by_accuracy_.size());
    } else if (agreed_ >= static_cast<double>(majority) * kInterval) {
      members_ = std::min(members_, majority);
    }
    requests_ = 0;
    right_ = agreed_ = 0;
  }

  std::vector<std::size_t> by_accuracy_;  // variants, the most accurate first
  std::size_t members_ = 0;               // so many of them
  double enough_ = 0;
  std::map<std::pair<std::size_t, int>, Said> said_;  // by variant and label
  int requests_ = 0;                                  // of this interval
  double right_ = 0, agreed_ = 0;
};

}  // namespace

void register_cocktail(Registry& registry) {
  registry.choosers.add({.name = "cocktail",
                         .summary = "an ensemble that votes by class, as small as accuracy allows",
                         .source = "Gunasekaran et al. NSDI'22",
                         .make = {.make = [](const ChooserCase& told) -> std::unique_ptr<Chooser> {
                                    return std::make_unique<Cocktail>(told);
                                  },
                                  .needs_answers = true}});
}

}  // namespace almanac::deployment::chooser
