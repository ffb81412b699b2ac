// SPDX-License-Identifier: Apache-2.0

/// \file
/// Every way to name a file, over the options of the commands that take one: a bare name, "./", an
/// absolute path, a folder with a blank, links to files and to folders.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.h"

namespace almanac {
namespace {

namespace fs = std::filesystem;

/// Works in a folder of its own, for a bare name is one of the working directory.
class Paths : public testing::Test {
 protected:
  Paths() {
    before_ = fs::current_path();
    fs::create_directories(folder_ / "real/a b");
    fs::current_path(folder_ / "real");
    make_files();
    fs::create_directory_symlink("real", folder_ / "to folder");
    fs::create_directories("links");
    for (const auto& each : fs::directory_iterator(".")) {
      if (!each.is_regular_file()) continue;
      const std::string name = each.path().filename().string();
      fs::copy_file(each.path(), "a b/" + name);
      fs::create_symlink("../" + name, "links/" + name);
    }
  }
  ~Paths() override { fs::current_path(before_); }

  void make_files() const {
    const auto write = [&](const std::string& name, const std::string& content) {
      folder_.write("real/" + name, content);
    };
    std::string jobs = "job_id,submit_s,run_s,gpus,user,vc,name\n";
    for (int each = 0; each < 240; ++each) {
      jobs += fmt::format("{},{},{},{},u{},a,n{}\n", each, 10 * each, 30 + each % 7, 1 + each % 4,
                          each % 5, each % 9);
    }
    write("log.csv", jobs);
    write("table.csv", "t,r,g\n0,5,1\n3,5,2\n");
    write("map.toml", "columns = {submit_s = \"t\", run_s = \"r\", gpus = \"g\"}\n");
    write("cluster.toml", "[[vc]]\nname = \"a\"\nnodes = 2\ngpus = 8\nnames = [\"x\", \"y\"]\n");
    write("policy.toml", "order = \"sjf\"\npass = \"scan\"\n");
    write("incidents.csv", "time,event,subject,value\n20,down,x,\n40,up,x,\n");
    std::string requests = "arrival_s,prompt_tokens,output_tokens,model\n";
    for (int each = 0; each < 40; ++each) requests += fmt::format("{},500,5,llama-3.1-8b\n", each);
    write("requests.csv", requests);
    write("lines.jsonl", "{\"t\": 0, \"in\": 5, \"out\": 2}\n{\"t\": 1, \"in\": 5, \"out\": 2}\n");
    write("keys.toml",
          "columns = {arrival_s = \"t\", prompt_tokens = \"in\", output_tokens = \"out\"}\n");
    write("plan.csv", "gpus,model\n0,llama-3.1-8b\n");
    write("few_windows.csv",
          "client,start_s,rate_rps,cv,pattern,shape,scale\n3,0,0.5,1,Gamma,1,2\n");
    write("few_lengths.json",
          R"({"3":{"0":{"input_tokens":{"c":[[100,1]]},"output_tokens":{"c":[[7,1]]}}}})");
  }

  TemporaryFolder folder_;
  fs::path before_;
};

TEST_F(Paths, AreTakenByEveryOptionHoweverTheyAreSpelled) {
  // {NAME} is a file or folder, and {=NAME} one that the command makes.
  const std::vector<std::vector<std::string>> commands{
      {"trace", "info", "{table.csv}", "--columns", "{map.toml}"},
      {"trace", "validate", "{log.csv}"},
      {"trace", "convert", "{log.csv}", "{=c.csv.gz}"},
      {"trace", "convert", "{log.csv}", "{=c.swf}"},
      {"trace", "sample", "{log.csv}", "{=s.csv}", "--fraction", "0.5"},
      {"trace", "deadlines", "{log.csv}", "{=d.csv}"},
      {"trace", "generate", "--like", "{log.csv}", "--jobs", "20", "--out", "{=g.csv}",
       "--save-workload", "{=w.toml}"},
      {"trace", "generate", "--workload", "{w.toml}", "--jobs", "20", "--out", "{=h.csv}"},
      {"compare-traces", "{log.csv}", "{log.csv}", "--out", "{=differences}"},
      {"study", "{log.csv}", "--cluster", "{cluster.toml}", "--out", "{=study}"},
      {"cluster", "show", "{cluster.toml}"},
      {"cluster", "infer", "{log.csv}"},
      {"cluster", "fill", "{log.csv}", "--cluster", "{cluster.toml}", "--out", "{=fill}"},
      {"predict", "train", "{log.csv}", "--out", "{=model}"},
      {"predict", "evaluate", "{log.csv}", "--out", "{=evaluation}"},
      {"predict", "explain", "{log.csv}", "230", "--model", "{model}"},
      {"simulate", "{log.csv}", "--cluster", "{cluster.toml}", "--policy", "{policy.toml}",
       "--incidents", "{incidents.csv}", "--out", "{=run}"},
      {"simulate", "{log.csv}", "--cluster", "{cluster.toml}", "--policy", "fifo", "--out",
       "{=other}"},
      {"compare", "{run}", "{other}", "--out", "{=compared}"},
      {"rerun", "{run}"},
      {"explain", "{other}", "2"},
      {"forecast", "{other}"},
      {"simulate", "{log.csv}", "--cluster", "{cluster.toml}", "--policy", "fifo", "--with",
       "{lines.jsonl}", "--with-columns", "{keys.toml}", "--service", "model=llama-3.1-8b"},
      {"policy", "describe", "{policy.toml}"},
      {"inference", "simulate", "{lines.jsonl}", "--columns", "{keys.toml}", "--model",
       "llama-3.1-8b"},
      {"inference", "simulate", "{few_windows.csv}", "--model", "llama-3.1-8b", "--until", "60s"},
      {"inference", "simulate", "{requests.csv}", "--plan", "{plan.csv}"},
      {"inference", "compare", "{requests.csv}", "--plan", "{plan.csv}"},
      {"inference", "report", "{requests.csv}", "--model", "llama-3.1-8b", "--out", "{=report}"},
      {"inference", "plan", "{requests.csv}", "--ttft", "1s", "--out", "{=planned.csv}"},
      {"inference", "generate", "--like", "{requests.csv}", "--requests", "9", "--save-workload",
       "{=i.toml}", "--out", "{=i.csv}"},
      {"inference", "generate", "--workload", "{i.toml}", "--requests", "9", "--out", "{=j.csv}"},
  };
  const std::vector<std::string> spellings{
      "", "./", folder_ / "real/", "a b/", "links/", folder_ / "to folder/", "../to folder/"};
  for (const std::string& spelling : spellings) {
    for (const auto& command : commands) {
      std::vector<std::string> words;
      std::vector<std::string> made;
      for (const std::string& word : command) {
        if (!word.starts_with('{')) {
          words.push_back(word);
          continue;
        }
        const bool is_made = word.starts_with("{=");
        const std::size_t begin = is_made ? 2 : 1;
        words.push_back(spelling + word.substr(begin, word.size() - begin - 1));
        if (is_made) {
          fs::remove_all(words.back());
          made.push_back(words.back());
        }
      }
      const ProgramRun run = run_program(words);
      EXPECT_EQ(run.status, 0) << fmt::format("{}\n{}", fmt::join(words, " "), run.err);
      for (const std::string& each : made) EXPECT_TRUE(fs::exists(each)) << each;
    }
  }
}

TEST_F(Paths, OfOutputsMayBeLinks) {
  fs::create_symlink("../elsewhere.csv", "link.csv");
  fs::create_directories(folder_ / "elsewhere");
  fs::create_directory_symlink("../elsewhere", "run");
  EXPECT_EQ(run_program({"trace", "convert", "log.csv", "link.csv"}).status, 0);
  EXPECT_TRUE(fs::is_symlink("link.csv"));
  EXPECT_TRUE(fs::is_regular_file(folder_ / "elsewhere.csv"));
  const ProgramRun run = run_program(
      {"simulate", "log.csv", "--cluster", "cluster.toml", "--policy", "fifo", "--out", "run"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(fs::is_symlink("run"));
  EXPECT_TRUE(fs::is_regular_file(folder_ / "elsewhere/run.json"));
}

}  // namespace
}  // namespace almanac
