// SPDX-License-Identifier: Apache-2.0
#include "failure/classifier.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "failure/quote.h"
#include "table/stream.h"

namespace almanac::failure {
namespace {

const RuleSet& builtin() {
  static const RuleSet set = RuleSet::compile(builtin_rules()).value();
  return set;
}

Verdict judge(std::string_view log, std::size_t block = std::string_view::npos) {
  static Classifier classifier(builtin());
  for (std::size_t at = 0; at < log.size(); at += std::min(block, log.size() - at)) {
    classifier.feed(log.substr(at, block));
  }
  return classifier.finish();
}

/// "torch-cuda-oom 7", or "none".
std::string text(const Verdict& verdict) {
  if (!verdict.rule) return "none";
  return builtin().rules.rules[*verdict.rule].id + " " + std::to_string(verdict.line);
}

/// The verdict found line by line, each line by itself: slow and plain.
std::string text_line_by_line(std::string_view log) {
  Classifier classifier(builtin());
  Verdict best;
  for (std::int64_t line = 1; !log.empty(); ++line) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    classifier.feed(log.substr(0, end));
    Verdict found = classifier.finish();
    if (found.rule && (!best.rule || builtin().precedes(*found.rule, *best.rule))) {
      found.line = line;
      best = std::move(found);
    }
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return text(best);
}

TEST(Classifier, FindsTheCauseInLogsWrittenByHand) {
  const char* const source = std::getenv("ALMANAC_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  int logs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(source) + "/tests/failure/logs")) {
    const std::string log = table::read_file(entry.path().string()).value();
    const std::string head = "# expect: ";
    ASSERT_TRUE(log.starts_with(head)) << entry.path();
    EXPECT_EQ(text(judge(log)), log.substr(head.size(), log.find('\n') - head.size()))
        << entry.path();
    ++logs;
  }
  EXPECT_GE(logs, 10);
}

TEST(Classifier, JudgesTheSeedsOfFuzzingAlikeHoweverTheyAreCut) {
  const char* const source = std::getenv("ALMANAC_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  int seeds = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(source) + "/fuzz/corpus/failure")) {
    const std::string log = table::read_file(entry.path().string()).value();
    EXPECT_EQ(text(judge(log, 3)), text(judge(log))) << entry.path();
    ++seeds;
  }
  EXPECT_GT(seeds, 0);
}

RC_GTEST_PROP(Classifier, JudgesAlikeHoweverTheLogIsCut, ()) {
  std::vector<std::string> lines{"epoch 1 loss 0.3",
                                 "Traceback (most recent call last):",
                                 "\x1b[31mTypeError: x\x1b[0m\r 10%\r 20%",
                                 "WARNING: CUDA out of memory",
                                 "RuntimeError: CUDA out of memory. Tried",
                                 std::string("\0\xff\x01 Stale file handle", 20),
                                 "",
                                 std::string(300, 'x'),
                                 "KeyError: 'a'"};
  std::string log;
  for (const auto line : *rc::gen::container<std::vector<std::size_t>>(
           rc::gen::inRange<std::size_t>(0, lines.size()))) {
    log += lines[line] + "\n";
  }
  const std::size_t block = *rc::gen::inRange<std::size_t>(1, 400);
  const std::string whole = text(judge(log));
  RC_ASSERT(text(judge(log, block)) == whole);
  RC_ASSERT(text_line_by_line(log) == whole);
}

TEST(Classifier, FindsWhatStandsAcrossTheEdgeOfItsBuffer) {
  const std::string cause = "RuntimeError: CUDA out of memory. Tried\n";
  for (std::size_t before = (256U << 10) - 50; before <= (256U << 10) + 5; ++before) {
    // Once in lines, once in one line that is longer than the buffer.
    std::string log(before, '.');
    EXPECT_EQ(text(judge(log + cause, 777)), "torch-cuda-oom 1") << before;
    for (std::size_t at = 99; at < before; at += 100) log[at] = '\n';
    log.back() = '\n';
    const auto lines = std::count(log.begin(), log.end(), '\n');
    EXPECT_EQ(text(judge(log + cause, 777)), "torch-cuda-oom " + std::to_string(lines + 1));
  }
}

TEST(Classifier, TakesAPieceOfALongLineForNoBeginning) {
  EXPECT_EQ(text(judge(std::string(256U << 10, '.') + "KeyError: 'a'\n")), "none");
  EXPECT_EQ(text(judge(std::string((256U << 10) - (4U << 10), '.') + "KeyError: 'a'\n" +
                       std::string(5000, '.'))),
            "none");
}

TEST(Classifier, BeginsAnewAfterEachLog) {
  EXPECT_EQ(text(judge("a\nKeyError: 'a'\n")), "python-semantic 2");
  EXPECT_EQ(text(judge("a\n")), "none");
  EXPECT_EQ(text(judge("")), "none");
}

TEST(Quote, IsFitToBePrinted) {
  EXPECT_EQ(quote("  a\tb\x1b[0m\xff \xc3\xa9 ", 0), "a b\\x1b[0m\\xff \xc3\xa9");
  const std::string line = std::string(500, 'a') + "HERE" + std::string(500, 'b');
  const std::string cut = quote(line, 504);
  EXPECT_NE(cut.find("HERE"), std::string::npos);
  EXPECT_TRUE(cut.starts_with("...a") && cut.ends_with("b...")) << cut;
  EXPECT_EQ(cut.size(), kLongestQuote + 6);
}

}  // namespace
}  // namespace almanac::failure
