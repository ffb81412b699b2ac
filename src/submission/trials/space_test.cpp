// SPDX-License-Identifier: Apache-2.0
#include "submission/trials/space.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace almanac::trials {
namespace {

constexpr const char* kGood = R"(
name = "mnist"
command = ["python", "train.py", "--lr={lr}", "{flags}", "--out=run-{trial}", "{{lr}} {\"a\": 1}"]
steps = 1000
better = "smaller"
trials = 20
seed = 7

[ask]
gpus = 1
mem = "16G"
requeue = true
hold = false

[space]
lr = { from = 1e-5, to = 0.1, scale = "log" }
depth = { from = 2, to = 8 }
kernel = ["relu", "gelu"]
epochs = 10
)";

std::string refused(const std::string& text) {
  const auto space = parse_space(text, "s.toml");
  return space ? "nothing is wrong" : to_string(space.error());
}

/// The good file with `from` in place of which stands `to`.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Space, ASearchThatLearnsHasTrialsAtOnce) {
  const auto learns = parse_space(with("seed = 7", "search = \"tpe\""), "s.toml");
  ASSERT_TRUE(learns) << to_string(learns.error());
  EXPECT_EQ(learns->search, Search::tpe);
  EXPECT_EQ(learns->at_once, 4);
  const auto more = parse_space(with("seed = 7", "search = \"tpe\"\nat_once = 12"), "s.toml");
  ASSERT_TRUE(more) << to_string(more.error());
  EXPECT_EQ(more->at_once, 12);
  EXPECT_NE(refused(with("seed = 7", "at_once = 12")).find("at_once only applies to a search"),
            std::string::npos);
  EXPECT_NE(refused(with("seed = 7", "search = \"bayes\""))
                .find("search must be \"random\" or \"grid\" or \"tpe\", found \"bayes\""),
            std::string::npos);
}

TEST(Space, IsReadInTheOrderOfTheFile) {
  const auto space = parse_space(kGood, "s.toml");
  ASSERT_TRUE(space) << to_string(space.error());
  EXPECT_EQ(space->name, "mnist");
  EXPECT_EQ(space->command.size(), 6U);
  EXPECT_EQ(space->steps, 1000);
  EXPECT_TRUE(space->smaller_is_better);
  EXPECT_EQ(space->search, Search::random);
  EXPECT_EQ(space->trials, 20);
  EXPECT_EQ(space->seed, 7U);
  EXPECT_EQ(space->asked, (std::vector<std::string>{"--gpus=1", "--mem=16G", "--requeue"}));
  const std::vector<Parameter> expected = {{"lr", Range{.from = 1e-5, .to = 0.1, .is_log = true}},
                                           {"depth", Range{.from = 2, .to = 8, .is_whole = true}},
                                           {"kernel", Choices{{"relu", "gelu"}}},
                                           {"epochs", Choices{{"10"}}}};
  EXPECT_EQ(space->parameters, expected);
}

TEST(Space, IsRefusedAtTheLineThatIsWrong) {
  const std::pair<std::string, std::string> kCases[] = {
      {refused(""), "s.toml:1:1: steps is missing (see docs/guide/tuning.md)"},
      {refused(with("trials = 20", "trial = 20")),
       "s.toml:6:1: unknown key trial (did you mean trials?)"},
      {refused(with("trials = 20", "trials = 0")),
       "s.toml:6:10: trials must be a whole number from 1 to 10000, found 0"},
      {refused(with("trials = 20", "trials = \"many\"")),
       "s.toml:6:10: trials must be a whole number from 1 to 10000, found \"many\""},
      {refused(with("\"smaller\"", "\"less\"")),
       "s.toml:5:10: better must be \"larger\" or \"smaller\", found \"less\""},
      {refused(with("\"mnist\"", "\"a b\"")),
       "s.toml:2:8: name must be 1 to 48 letters, digits, dots, _ or -, not starting with a dot, "
       "found \"a b\""},
      {refused(with("--lr={lr}", "--lr={lf}")),
       "s.toml:3:34: {lf} is not a parameter of [space] (did you mean lr?)"},
      {refused(with("gpus = 1", "gpu = 1")), "s.toml:10:1: unknown key gpu (did you mean gpus?)"},
      {refused(with("gpus = 1", "gpus = \"x\"")),
       "s.toml:10:8: --gpus must be a number of GPUs, such as 2 or a100:2, found \"x\""},
      {refused(with("gpus = 1", "time = 02:00:00")),
       "s.toml:10:8: time must be a number or a text in quotes, found a date"},
      {refused(with("from = 2, to = 8", "from = 8, to = 2")),
       "s.toml:17:9: depth must have from below to, found 8 to 2"},
      {refused(with("from = 1e-5", "from = 0")),
       "s.toml:16:15: a logarithmic range must start above 0, found 0"},
      {refused(with("from = 2, to = 8", "from = 2")),
       "s.toml:17:9: depth has no to (a range is { from = 1, to = 8 })"},
      {refused(with("\"relu\", \"gelu\"", "\"relu\", \"relu\"")),
       "s.toml:18:19: kernel lists relu twice"},
      {refused(with("\"relu\", \"gelu\"", "")), "s.toml:18:10: kernel has no choices"},
      {refused(with("epochs = 10", "flags = 10")),
       "s.toml:19:1: a parameter name has letters, digits and _, starts with a letter, and is not "
       "trial or flags, found \"flags\""},
      {refused(with("epochs = 10", "epochs = inf")),
       "s.toml:19:10: epochs must be a number, a text, true or false, found inf"},
      {refused(with("trials = 20\nseed = 7", "search = \"grid\"")),
       "s.toml:15:6: a grid needs the number of points of lr (such as { from = 0.1, to = 0.9, "
       "points = "
       "5 })"},
      {refused(with("trials = 20", "search = \"grid\"")),
       "s.toml:7:8: a grid has no seed: it runs all combinations (search = \"random\" samples "
       "some)"},
      {refused(with("steps = 1000", "steps = ")), "s.toml:4:"}};
  for (const auto& [said, expected] : kCases) EXPECT_EQ(said.substr(0, expected.size()), expected);
}

}  // namespace
}  // namespace almanac::trials
