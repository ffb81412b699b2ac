// SPDX-License-Identifier: Apache-2.0
#include "predict/similar_names.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "text/nearest.h"

namespace almanac::predict {
namespace {

/// What the index answers, by looking at every name.
std::optional<SimilarNames::Match> slow_nearest(const std::vector<std::string>& names,
                                                std::string_view name) {
  std::optional<SimilarNames::Match> best;
  for (std::size_t at = 0; at < names.size(); ++at) {
    const std::size_t distance = text::edit_distance(name, names[at]);
    if (distance > SimilarNames::tolerance(std::max(name.size(), names[at].size()))) continue;
    if (!best || distance <= best->distance) {
      best = {static_cast<SimilarNames::Id>(at), distance};
    }
  }
  return best;
}

RC_GTEST_PROP(SimilarNames, FindsWhatLookingAtEveryNameFinds, ()) {
  // Few letters, so that there is much to be found and much to be confused.
  const auto word = rc::gen::container<std::string>(rc::gen::elementOf(std::string("abcd1_")));
  const auto names = *rc::gen::unique<std::vector<std::string>>(word);
  const auto asked = *word;
  SimilarNames index;
  for (std::size_t at = 0; at < names.size(); ++at) {
    index.add(names[at], static_cast<SimilarNames::Id>(at));
  }
  const auto found = index.nearest(asked);
  const auto expected = slow_nearest(names, asked);
  RC_ASSERT(found.has_value() == expected.has_value());
  if (found) {
    RC_ASSERT(found->distance == expected->distance);
    RC_ASSERT(found->id == expected->id);
  }
}

TEST(SimilarNames, FindsTheNextRunOfAnExperiment) {
  SimilarNames index;
  index.add("train_resnet50_lr0.1", 1);
  index.add("train_bert_base", 2);
  const auto found = index.nearest("train_resnet50_lr0.5");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, 1U);
  EXPECT_EQ(found->distance, 1U);
  EXPECT_FALSE(index.nearest("jupyter"));
}

TEST(SimilarNames, CountsBytesOfAnyValue) {
  SimilarNames index;
  index.add(std::string("\xff\x80\x01 abc", 7), 7);
  const auto found = index.nearest(std::string("\xff\x80\x02 abc", 7));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->distance, 1U);
}

}  // namespace
}  // namespace almanac::predict
