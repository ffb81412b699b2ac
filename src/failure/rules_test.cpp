// SPDX-License-Identifier: Apache-2.0
#include "failure/rules.h"

#include <set>

#include <gtest/gtest.h>

#include "failure/classifier.h"

namespace almanac::failure {
namespace {

TEST(Rules, AreDecidedByTheirOwnExamples) {
  const auto set = RuleSet::compile(builtin_rules());
  ASSERT_TRUE(set) << to_string(set.error());
  Classifier classifier(*set);
  for (std::size_t at = 0; at < set->rules.rules.size(); ++at) {
    const Rule& rule = set->rules.rules[at];
    for (const std::string& example : rule.examples) {
      classifier.feed(example + "\n");
      const Verdict verdict = classifier.finish();
      EXPECT_TRUE(verdict.rule == at)
          << "line " << rule.where.line << ": the example of " << rule.id << " is decided by "
          << (verdict.rule ? set->rules.rules[*verdict.rule].id : kNoSignature) << ": " << example;
    }
  }
}

std::string refusal(std::string_view text) {
  Rules rules = builtin_rules();
  const auto read = extend(rules, text, "mine.toml");
  return read ? "taken" : to_string(read.error());
}

TEST(Rules, OfAUserAddAndChange) {
  Rules rules = builtin_rules();
  const std::size_t before = rules.rules.size();
  const auto read = extend(rules, R"(
[[category]]
name = "Licence server"
class = ["IF"]
rank = 70
suggestion = "Retry later"
[[category.rule]]
id = "flexlm"
pattern = 'FLEXlm error'
example = ["FLEXlm error -15"]
[[category]]
name = "GPU out of memory"
[[category.rule]]
id = "torch-cuda-oom"
suggestion = "Ask Ann"
)",
                           "mine.toml");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(rules.rules.size(), before + 1);
  EXPECT_EQ(rules.rules.back().rank, 70);
  const auto set = RuleSet::compile(std::move(rules)).value();
  Classifier classifier(set);
  classifier.feed("CUDA out of memory");
  EXPECT_EQ(suggestion_of(set.rules, set.rules.rules[*classifier.finish().rule]), "Ask Ann");
}

TEST(Rules, AreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal("[[category]]\nsugestion = 'x'\n"),
            "mine.toml:2:1: unknown key sugestion (did you mean suggestion?)");
  EXPECT_EQ(refusal("[[category]]\nname = 'Disk ful'\n"),
            "mine.toml:1:1: the new category \"Disk ful\" needs class and suggestion (did you mean "
            "Disk full?)");
  const std::string known = "[[category]]\nname = 'Disk full'\n";
  EXPECT_EQ(refusal(known + "rank = 101\n"), "mine.toml:3:8: rank must be 0 to 100, found 101");
  EXPECT_EQ(refusal(known + "kind = 'cause'\n"),
            "mine.toml:3:8: kind must be root or implicit, found \"cause\"");
  EXPECT_EQ(refusal(known + "[[category.rule]]\nid = 'x'\npattern = 'y'\n"),
            "mine.toml:3:1: rule x needs an example (a line of a log that the rule matches)");
}

TEST(Rules, WhosePatternIsNoneAreNamed) {
  Rules rules = builtin_rules();
  ASSERT_TRUE(extend(rules,
                     "[[category]]\nname = 'Disk full'\n[[category.rule]]\nid = 'x'\n"
                     "pattern = '('\nexample = ['(']\n",
                     "mine.toml"));
  const auto set = RuleSet::compile(std::move(rules));
  ASSERT_FALSE(set);
  EXPECT_EQ(to_string(set.error()).rfind("mine.toml:3:1: the pattern of rule x is invalid: ", 0),
            0U);
}

}  // namespace
}  // namespace almanac::failure
