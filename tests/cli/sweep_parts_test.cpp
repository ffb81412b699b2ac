// SPDX-License-Identifier: Apache-2.0

/// \file
/// A sweep in parts: joined they are the whole, what is there is not run again, what is of other
/// inputs is.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.h"

namespace almanac {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSweepTrace =
    "job_id,submit_s,run_s,gpus,user,vc,state\n"
    "1,0,100,8,ann,a,COMPLETED\n"
    "2,10,50,8,bob,a,FAILED\n"
    "3,20,10,1,ann,a,COMPLETED\n";
constexpr const char* kSweepCluster = "[[vc]]\nname = \"a\"\nnodes = 1\ngpus = 8\n";

class SweepParts : public testing::Test {
 protected:
  ProgramRun sweep(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"sweep",    trace_,     "--cluster", cluster_,
                                          "--policy", "fifo,sjf", "--load",    "0.5,1,1.3",
                                          "--seeds",  "1..3",     "--out",     out_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  static std::string content(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::string part(const std::string& name) const { return out_ + ".parts/" + name; }

  TemporaryFolder folder_;
  std::string trace_ = folder_.write("trace.csv", kSweepTrace);
  std::string cluster_ = folder_.write("cluster.toml", kSweepCluster);
  std::string out_ = folder_ / "sweep.csv";
  std::string page_ = folder_ / "sweep.html";
};

TEST_F(SweepParts, PrintTheNotesOfTheirFirstPointOnce) {
  const ProgramRun swept =
      run_program({"sweep", trace_, "--policy", "fifo", "--load", "1,2", "--seeds", "1..2"});
  const auto at = swept.err.find("note: assuming ");
  ASSERT_NE(at, std::string::npos) << swept.err;
  EXPECT_EQ(swept.err.find("note: assuming ", at + 1), std::string::npos);
}

TEST_F(SweepParts, JoinedAreTheWholeByteForByte) {
  const ProgramRun whole = sweep();
  ASSERT_EQ(whole.status, 0) << whole.err;
  const std::string csv = content(out_);
  const std::string page = content(page_);
  ASSERT_FALSE(csv.empty());
  fs::remove(out_);
  fs::remove(page_);
  // 9 pairs in 4 parts: the first has one more than the others.
  for (const char* const number : {"3/4", "1/4", "4/4", "2/4"}) {
    const ProgramRun done = sweep({"--part", number});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.out, "");
  }
  EXPECT_FALSE(fs::exists(out_));
  const ProgramRun joined = sweep({"--parts", "4"});
  ASSERT_EQ(joined.status, 0) << joined.err;
  EXPECT_THAT(joined.err, Not(HasSubstr("part "))) << "nothing was left to run";
  EXPECT_EQ(joined.out, whole.out);
  EXPECT_EQ(content(out_), csv);
  EXPECT_EQ(content(page_) == page, true) << "the reports differ";
}

TEST_F(SweepParts, RunOnlyWhereTheyAreMissingOrOfOtherInputs) {
  ASSERT_EQ(sweep({"--part", "2/3"}).status, 0);
  const std::string second = content(part("2-of-3.json"));
  ASSERT_FALSE(second.empty());
  EXPECT_THAT(sweep({"--part", "2/3"}).err, HasSubstr("of the same inputs: skipped"));
  std::ofstream(part("3-of-3.json")) << second.substr(0, second.size() / 2);

  const ProgramRun first = sweep({"--parts", "3"});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("part 1/3 is in"));
  EXPECT_THAT(first.err, Not(HasSubstr("part 2/3 is in")));
  EXPECT_THAT(first.err, HasSubstr("part 3/3 is in")) << "half a file is no part";

  std::ofstream(trace_, std::ios::app) << "4,30,70,8,bob,a,COMPLETED\n";
  const ProgramRun changed = sweep({"--parts", "3"});
  ASSERT_EQ(changed.status, 0) << changed.err;
  EXPECT_THAT(changed.err, HasSubstr("part 2/3 is in")) << "it was made of another trace";
  const std::string joined = content(out_);
  ASSERT_EQ(sweep().status, 0);
  EXPECT_EQ(joined, content(out_));
}

/// The number in column `name` of the first row of a CSV file.
double first_number(const std::string& csv, const std::string& name) {
  std::istringstream lines(csv);
  std::string names;
  std::string values;
  std::getline(lines, names);
  std::getline(lines, values);
  std::istringstream heads(names);
  std::istringstream cells(values);
  std::string head;
  std::string cell;
  while (std::getline(heads, head, ',') && std::getline(cells, cell, ',')) {
    if (head == name) return std::stod(cell);
  }
  return -1;
}

TEST_F(SweepParts, SumCarbonOverASignal) {
  const auto carbon_at = [&](const std::string& grams) {
    const std::string file = folder_.write("carbon.csv", "time,value\n0," + grams + "\n");
    const ProgramRun swept = run_program({"sweep", trace_, "--cluster", cluster_, "--policy",
                                          "fifo,sjf", "--out", out_, "--signal", "carbon=" + file});
    EXPECT_EQ(swept.status, 0) << swept.err;
    return first_number(content(out_), "jobs_kg_co2");
  };
  const double low = carbon_at("100");
  EXPECT_GT(low, 0);
  EXPECT_NEAR(carbon_at("300") / low, 3, 1e-6);
}

TEST_F(SweepParts, SearchForAFrontNamesPoliciesThatItLeavesOut) {
  const ProgramRun search =
      run_program({"sweep", trace_, "--cluster", "2x8", "--pareto", "wait,worst_user", "--policy",
                   "fifo,srtf", "--budget", "1"});
  EXPECT_EQ(search.status, 0) << search.err;
  EXPECT_THAT(search.err, HasSubstr("left out srtf: true run times are known to them"));
}

TEST_F(SweepParts, AreRefusedWhereTheyMakeNoSense) {
  for (const char* const number : {"0/3", "4/3", "1", "a/b", "1/0", "/", "1/10"}) {
    EXPECT_EQ(sweep({"--part", number}).status, 2) << number;
  }
  EXPECT_EQ(sweep({"--part", "1/3", "--parts", "3"}).status, 2);
  for (const char* const count : {"-1", "0", "10"}) {
    EXPECT_EQ(sweep({"--parts", count}).status, 2) << count;
  }
  EXPECT_THAT(sweep({"--parts", "-1"}).err, HasSubstr("--parts"));
  EXPECT_EQ(sweep({"--sbatch", "--time=1"}).status, 2) << "without --engine slurm";
  const ProgramRun nowhere = run_program({"sweep", trace_, "--part", "1/1"});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("--out is required"));
}

}  // namespace
}  // namespace almanac
