// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as a log: the same verdict however it is cut, and a quote that can be printed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "failure/classifier.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace almanac::failure;
  static const RuleSet set = RuleSet::compile(builtin_rules()).value();
  static Classifier classifier(set);
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  classifier.feed(log);
  const Verdict whole = classifier.finish();
  const std::size_t step = size > 0 ? 1 + data[0] : 1;
  for (std::size_t at = 0; at < size; at += step) classifier.feed(log.substr(at, step));
  const Verdict cut = classifier.finish();
  ALMANAC_CHECK(cut.rule == whole.rule && cut.line == whole.line && cut.quote == whole.quote,
                "a log that is cut is judged differently");
  ALMANAC_CHECK(whole.rule.has_value() == (whole.line > 0), "a verdict without a line");
  ALMANAC_CHECK(whole.line <= 1 + std::count(log.begin(), log.end(), '\n'), "no such line");
  for (const char c : whole.quote) {
    ALMANAC_CHECK(static_cast<unsigned char>(c) >= ' ', "a quote has a control character");
  }
  return 0;
}
