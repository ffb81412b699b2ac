// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/registry.h"

namespace almanac::policy {
namespace {

std::string message(const std::string& text) {
  const Result<Composition> made = registry().compose(text);
  return made ? "composed " + made->name : to_string(made.error());
}

/// A TOML file that lives as long as the test.
class TomlFile {
 public:
  explicit TomlFile(const std::string& text) : path_(testing::TempDir() + "composition.toml") {
    std::ofstream(path_) << text;
  }
  ~TomlFile() { std::remove(path_.c_str()); }
  TomlFile(const TomlFile&) = delete;
  TomlFile& operator=(const TomlFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The message without the folder of the file.
std::string message_of_file(const std::string& text) {
  const TomlFile file(text);
  std::string found = message(file.path());
  const std::size_t at = found.find("composition.toml");
  return at == std::string::npos ? found : found.substr(at);
}

TEST(Compose, TakesAPolicyByName) {
  const Result<Composition> made = registry().compose("qssf");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->order, "gpu_time");
  EXPECT_EQ(made->estimate, "learned");
  EXPECT_EQ(made->pass, "strict");
}

TEST(Compose, ReplacesSlots) {
  const Result<Composition> made = registry().compose("qssf+easy:4+first-fit+oracle");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "qssf+easy:4+first_fit+oracle");
  EXPECT_EQ(made->order, "gpu_time");
  EXPECT_EQ(made->estimate, "oracle");
  EXPECT_EQ(made->placement, "first_fit");
  EXPECT_EQ(made->pass, (Choice{"easy", {{"depth", {4}}}}));
}

TEST(Compose, LetsJobsShareGpusWhereNothingIsPromised) {
  for (const char* good : {"fifo+harmless", "drf+harmless", "coda+harmless", "qssf+lease+harmless",
                           "fifo+scan+harmless", "srtf+harmless"}) {
    const Result<Composition> made = registry().compose(good);
    ASSERT_TRUE(made) << good;
    EXPECT_EQ(made->packing, "harmless");
  }
  for (const char* bad : {"easy+harmless", "fifo+models+harmless"}) {
    EXPECT_THAT(message(bad), testing::HasSubstr("packing harmless requires a choice that lets "
                                                 "blocked jobs join others where the packing "
                                                 "shares GPUs (add +"))
        << bad;
  }
  EXPECT_EQ(
      message("genie+strict+harmless"),
      "policy genie+strict+harmless: packing harmless cannot be combined with a choice that "
      "chooses the number of GPUs of jobs that leave it open, as shape cer_in_time does (replace "
      "one of the two; "
      "almanac policy list shows all choices)");
  EXPECT_EQ(message_of_file("packing = {name = \"harmless\", harmless_rate = 0.95}\n"),
            "composed composition");
  EXPECT_THAT(
      message_of_file("packing = {name = \"harmless\", harmless_rate = 1.5}\n"),
      testing::HasSubstr("harmless_rate must be a number from 0.000000001 to 1, found 1.5"));
}

TEST(Compose, WritesPassesAsItReadsThem) {
  for (const char* text : {"strict", "easy:1", "easy:12", "conservative", "lease:60",
                           "elastic:300:cheapest", "elastic:deadlines=cheapest"}) {
    const Result<Composition> made = registry().compose(std::string("fifo+") + text);
    ASSERT_TRUE(made) << text;
    EXPECT_EQ(to_string(made->pass, registry().passes.at(made->pass).parameters), text);
  }
}

TEST(Compose, TellsAChoiceThatIsThereAValue) {
  EXPECT_EQ(registry().compose("chronus+lease:60")->pass,
            (Choice{"deadline_leases", {{"lease_s", {60}}}}));
  EXPECT_EQ(registry().compose("coda+trial:30+reserve_cpus:4")->size,
            (Choice{"adaptive", {{"trial_s", {30}}}}));
  EXPECT_EQ(registry().compose("fifo+lease:60")->pass, (Choice{"lease", {{"lease_s", {60}}}}));
  EXPECT_EQ(registry().compose("chronus+lease")->pass, "lease") << "nothing is told";
  EXPECT_EQ(message("chronus+lease:0"),
            "deadline_leases: lease_s must be a number from 1 to 1,000,000,000, found \"0\" "
            "(almanac policy "
            "describe +deadline_leases shows its parameters)");
  EXPECT_EQ(message("easy+easy:2:3"), "easy: 3 is one value too many (its parameters: depth)");
  EXPECT_EQ(registry().compose("las+las:60:70")->order,
            (Choice{"las", {{"queues_gpu_s", {60, 70}}}}));
}

TEST(Compose, SaysWhichPartsTakeAValueThatThePolicyDoesNot) {
  EXPECT_EQ(message("easy:0"),
            "policy easy takes no value after a colon, found \"0\" (its parts do: +easy:1 sets "
            "depth)");
  EXPECT_EQ(message("qssf:60"),
            "policy qssf takes no value after a colon, found \"60\" (no part of qssf takes a "
            "value)");
}

TEST(Compose, TakesOneChoiceForASlot) {
  EXPECT_EQ(message("easy+proven+history"),
            "policy easy+proven+history must have at most one estimate, found proven and history "
            "(leave one of them out)");
  EXPECT_EQ(message("fifo+easy+depth:4"), "composed fifo+easy+depth:4") << "a value of that part";
}

TEST(Compose, ReadsAndWritesNumbersAsPeopleDo) {
  EXPECT_EQ(
      message("srtf+by_rank:-1"),
      "by_rank: margin must be a number from 1 to 1,000,000, found \"-1\" (almanac policy describe "
      "+by_rank shows its parameters)");
  EXPECT_EQ(registry().compose("srtf+by-rank:1e+03+first-fit")->pass,
            (Choice{"by_rank", {{"margin", {1000}}}}))
      << "the plus of an exponent adds no part";
  EXPECT_EQ(message("fifo+easy:0"),
            "easy: depth must be a whole number from 1 to 1,000,000, found \"0\" (almanac policy "
            "describe "
            "+easy shows its parameters)");
}

TEST(Compose, NamesTheNearestPolicy) {
  EXPECT_EQ(message("qsf"),
            "no policy is named qsf (did you mean qssf?; almanac policy list shows all)");
  EXPECT_EQ(message("kanban"), "no policy is named kanban (almanac policy list shows all)");
}

TEST(Compose, NamesThePartThatIsMissingOrIsNoPolicy) {
  EXPECT_EQ(message("by_rank:-1"),
            "by_rank is no policy: it is a part of policies, of the slot pass (add it to a policy, "
            "as in qssf+by_rank)");
  EXPECT_EQ(message("easy+"),
            "policy easy+ must have a part after each +, found none (almanac policy list shows all "
            "parts)");
  EXPECT_THAT(message("fifo+first_fitt"),
              testing::StartsWith("no part of a policy is named "
                                  "first_fitt (did you mean first_fit?"));
}

TEST(Compose, DescribesThePartsThatDecide) {
  EXPECT_EQ(registry().compose("easy+gpu_time+best_fit")->summary,
            "order gpu_time (smallest predicted GPU time first), placement best_fit (fullest node "
            "first; on one node if the job fits, else spread), estimate limit (the user's time "
            "limit, or history for jobs without one), pass easy (EASY backfill: later jobs may "
            "start if they delay no reservation of the first blocked jobs)");
  EXPECT_EQ(registry().compose("easy+limit")->summary, registry().compose("easy")->summary)
      << "nothing was replaced";
}

/// What the words of a summary claim, and the traits of which a policy then has one.
const std::pair<const char*, TraitSet> kClaims[] = {
    {"preempt", {Trait::stops_jobs, Trait::stops_marked}},
    {"true run time", {Trait::told_truth}},
    {"share GPUs", {Trait::shares_gpus}},
    {"on the same GPUs", {Trait::shares_gpus}},
    {"elastic: ", {Trait::resizes_jobs}},
    {"backfill", {Trait::reserves}},
    {"powers nodes", {Trait::sleeps_nodes}},
    {"join others", {Trait::shares_gpus}},
    {"first job that does not fit", {Trait::keeps_line}}};

void expect_claims_hold(const Composition& composition) {
  const TraitSet traits = registry().traits(composition);
  std::string said = composition.summary;
  traits.each([&](Trait trait) { said += std::string("; ") += clause(trait); });
  for (const auto& [words, any] : kClaims) {
    if (said.find(words) == std::string::npos) continue;
    EXPECT_TRUE(traits.any_of(any)) << composition.name << " says \"" << words << "\": " << said;
  }
}

TEST(Compose, ClaimsOfAPolicyWhatItsPartsDo) {
  for (const Composition& base : registry().policies()) {
    expect_claims_hold(base);
    for (const Registry::Slot& slot : registry().slots()) {
      for (const Entry& part : slot.choices->entries()) {
        const auto made = registry().compose(base.name + "+" + part.name);
        if (!made) continue;
        expect_claims_hold(*made);
        if (*made.*slot.choice == base.*slot.choice) continue;
        const bool is_estimate = slot.choices == &registry().estimates;
        if (is_estimate && !registry().traits(*made).has(Trait::reads_run_times)) continue;
        EXPECT_THAT(made->summary, testing::HasSubstr(slot.name() + " " + part.name)) << made->name;
      }
    }
  }
}

TEST(Compose, ReadsTraitsFromTheValuesOfParameters) {
  const auto has = [](const std::string& policy, Trait trait) {
    const auto made = registry().compose(policy);
    return made && registry().traits(*made).has(trait);
  };
  EXPECT_FALSE(has("kueue", Trait::reads_run_times));
  EXPECT_TRUE(has("kueue:order=almanac", Trait::reads_run_times));
  EXPECT_TRUE(has("qssf+preempt", Trait::stops_marked));
  EXPECT_FALSE(has("qssf+preempt", Trait::stops_jobs));
  EXPECT_TRUE(has("qssf+preempt:all", Trait::stops_jobs));
  EXPECT_FALSE(has("qssf+preempt:all", Trait::stops_marked));
  EXPECT_FALSE(has("qssf+preempt:none", Trait::stops_marked));
}

TEST(Compose, SaysWhichChoicesDoNotGoTogether) {
  EXPECT_EQ(message("easy+adaptive"),
            "policy easy+adaptive: pass easy cannot be combined with a choice that gives running "
            "jobs more cores, as size adaptive does (replace one of the two; almanac policy list "
            "shows all choices)");
  EXPECT_EQ(message("fifo+late"),
            "policy fifo+late: pass late requires a choice that ranks late jobs behind all others "
            "(add +promise)");
  EXPECT_EQ(message("srtf+easy"), "composed srtf+easy") << "the pass is replaced";
}

TEST(Compose, DividesPoliciesThatDoNotCountOverTheWholeCluster) {
  const auto composed = registry().compose("gavel:finish_time+pop:8:random");
  ASSERT_TRUE(composed) << to_string(composed.error());
  EXPECT_EQ(composed->whole.name, "gavel");
  EXPECT_EQ(composed->division.told.at("parts"), Values{8});
  EXPECT_EQ(registry().compose("srtf+pop")->division, "pop");
  EXPECT_EQ(message("hived+pop"),
            "policy hived+pop: division pop cannot be combined with a choice that uses tenants' "
            "guarantees, as hived does (leave it out)");
  EXPECT_EQ(message("easy+pop+standby"),
            "policy easy+pop+standby: division pop cannot be combined with a choice that powers "
            "nodes down, as capacity standby does (replace one of the two; almanac policy list "
            "shows all choices)");
}

TEST(Compose, RefusesDepthsThatAreNone) {
  for (const char* text : {"fifo+easy:0", "fifo+easy:-1", "fifo+easy:x", "fifo+easy:2147483647"}) {
    EXPECT_FALSE(registry().compose(text)) << text;
  }
}

TEST(Compose, RefusesNumbersThatMeanNothing) {
  const std::map<std::string, std::string> choices = {
      {"trial_s", "size = {name = 'adaptive', trial_s"},
      {"lease_s", "pass = {name = 'lease', lease_s"},
      {"reserve_cpus", "pass = {name = 'arrays', reserve_cpus"},
      {"depth", "pass = {name = 'easy', depth"}};
  for (const auto& [name, choice] : choices) {
    for (const char* const value :
         {"-1", "inf", "-inf", "nan", "1e300", "'long'", "[1, 2]", "[]"}) {
      const TomlFile file(choice + " = " + value + "}\n");
      const Result<Composition> made = registry().compose(file.path());
      ASSERT_FALSE(made) << name << " " << value;
      EXPECT_THAT(made.error().message, testing::StartsWith(name + " must be a ")) << value;
    }
  }
}

TEST(Compose, ReadsAFile) {
  const TomlFile file(
      "name = \"mine\"\nbase = \"qssf\"\nplacement = \"best-fit\"\npass = \"easy:2\"\n"
      "size = {name = \"adaptive\", trial_s = 30}\norder = {name = \"las\", queues_gpu_s = "
      "60}\n");
  const Result<Composition> made = registry().compose(file.path());
  ASSERT_FALSE(made) << "easy keeps reservations, adaptive gives cores";
  const TomlFile fine(
      "name = \"mine\"\nbase = \"qssf\"\nplacement = \"best-fit\"\npass = \"easy:2\"\n"
      "order = {name = \"las\", queues_gpu_s = 60}\n");
  const Result<Composition> read = registry().compose(fine.path());
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->name, "mine");
  EXPECT_EQ(read->estimate, "learned");
  EXPECT_EQ(read->placement, "best_fit");
  EXPECT_EQ(read->pass, (Choice{"easy", {{"depth", {2}}}}));
  EXPECT_EQ(read->order, (Choice{"las", {{"queues_gpu_s", {60}}}}));
}

TEST(Compose, ReadsAFileOfAWholePolicy) {
  const TomlFile file("name = \"mine\"\nwhole = {name = \"tiresias\", queues_gpu_s = [60, 600]}\n");
  const Result<Composition> made = registry().compose(file.path());
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->whole, (Choice{"tiresias", {{"queues_gpu_s", {60, 600}}}}));
  EXPECT_EQ(registry().compose("tiresias:60:600")->whole, made->whole);
  EXPECT_EQ(
      message("tiresias+easy"),
      "policy tiresias+easy: tiresias makes all decisions itself and ignores the slot pass "
      "easy (leave it out; only the estimate, the placement and the division of this policy can "
      "be replaced)");
  EXPECT_EQ(message("tiresias+first_fit"), "composed tiresias+first_fit");
}

TEST(Compose, NamesAFileWithoutANameAfterItself) {
  const TomlFile file("base = \"fifo\"\n");
  const Result<Composition> made = registry().compose(file.path());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "composition");
}

TEST(Compose, SaysWhereAFileIsWrong) {
  EXPECT_THAT(
      message_of_file("base = \"fifo\"\nordr = \"sjf\"\n"),
      testing::StartsWith("composition.toml:2:8: unknown key ordr (did you mean order?; "
                          "known: name, summary, base, whole, order, placement, estimate, "));
  EXPECT_EQ(message_of_file("order = \"sjff\"\n"),
            "composition.toml:1:9: order has no choice named sjff (see almanac policy list)");
  EXPECT_EQ(
      message_of_file("pass = {name = \"easy\", dept = 2}\n"),
      "composition.toml:1:31: easy has no parameter dept (did you mean depth?; known: depth)");
  EXPECT_EQ(message_of_file("name = \"../mine\"\n"),
            "composition.toml:1:8: name must not be empty, begin with a dot or contain a slash: it "
            "becomes the name of a folder in the run");
  const std::string itself = "base = \"" + testing::TempDir() + "composition.toml\"\n";
  EXPECT_EQ(message_of_file(itself),
            "composition.toml:1:8: base must be the name of a policy, not of a file");
  EXPECT_EQ(message_of_file("order = 3\n"),
            "composition.toml:1:9: order must be the name of a choice, or a table with a name");
}

}  // namespace
}  // namespace almanac::policy
