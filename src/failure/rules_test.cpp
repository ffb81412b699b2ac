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

}  // namespace
}  // namespace almanac::failure
