// SPDX-License-Identifier: Apache-2.0

/// \file
/// A head and its boxes as an operator runs them: programs, real processes, kill -9.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/certificate.h"
#include "support/service_commands.h"

namespace almanac {
namespace {

using testing::HasSubstr;

class SeveralBoxes : public ServiceCommands {
 protected:
  void TearDown() override {
    if (head_ == nullptr) return;
    run({"cancel", "--all", "--now"});
    for (int i = 0;
         i < 100 && run({"queue", "-o", "json"}).out.find("RUNNING") != std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  /// A port that nobody uses now; boxes need one that stays when the head begins again.
  static std::string free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(socket);
    return std::to_string(ntohs(address.sin_port));
  }
  void begin_head() {
    head_.reset();
    std::vector<std::string> words{"serve",   "--boxes", "--listen", "127.0.0.1:" + port_,
                                   "--state", state_};
    if (is_encrypted_) {
      words.insert(words.end(),
                   {"--tls-cert", folder_ / "head.pem", "--tls-key", folder_ / "head.key"});
    }
    head_ = std::make_unique<RunningProgram>(words, folder_ / "head.log");
    ASSERT_TRUE(soon([&] { return run({"queue"}).status == 0; })) << log("head.log");
  }
  void make_key(const std::string& box) {
    const ProgramRun made = run({"token", "create", "--scope", "agent", "--name", box});
    ASSERT_EQ(made.status, 0) << made.err;
    write_key(box, made.out);
  }
  void write_key(const std::string& box, const std::string& text) const {
    const std::string path = folder_ / ("key." + box);
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0600);
  }
  std::vector<std::string> join_words(const std::string& box, const std::string& key,
                                      const std::string& gpus = "2") const {
    std::vector<std::string> made{
        "join",    (is_encrypted_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + port_,
        "--key",   folder_ / ("key." + key),
        "--name",  box,
        "--state", folder_ / ("box." + box),
        "--gpus",  gpus};
    if (is_encrypted_) made.insert(made.end(), {"--ca", folder_ / "known.pem"});
    return made;
  }
  /// Joins as a box of two nodes with two GPUs each.
  void join_two_nodes(const std::string& box) {
    const std::string file =
        folder_.write("two.toml", run_program({"cluster", "show", "2x2", "-o", "toml"}).out);
    std::vector<std::string> words = join_words(box, box);
    words.resize(words.size() - 2);
    words.insert(words.end(), {"--cluster", file});
    boxes_[box].reset();
    boxes_[box] = std::make_unique<RunningProgram>(words, folder_ / (box + ".log"));
  }
  void join(const std::string& box, const std::string& gpus = "2") {
    boxes_[box].reset();
    boxes_[box] =
        std::make_unique<RunningProgram>(join_words(box, box, gpus), folder_ / (box + ".log"));
  }
  void begin(const std::vector<std::string>& boxes) {
    begin_head();
    // The head begins again as each joins, and does not answer meanwhile.
    for (const std::string& each : boxes) make_key(each);
    for (const std::string& each : boxes) join(each);
    ASSERT_TRUE(all_report(boxes.size())) << run({"nodes"}).out << log("head.log");
  }
  nlohmann::json nodes() const {
    const auto read = nlohmann::json::parse(run({"nodes", "-o", "json"}).out, nullptr, false);
    return read.is_discarded() ? nlohmann::json::array() : read.at("nodes");
  }
  bool all_report(std::size_t boxes) const {
    return soon([&] {
      const auto all = nodes();
      return all.size() == boxes && std::none_of(all.begin(), all.end(), [](const auto& each) {
               return each.at("silent").template get<bool>();
             });
    });
  }
  std::vector<std::string> names_of_nodes() const {
    std::vector<std::string> made;
    for (const auto& each : nodes()) made.push_back(each.at("name"));
    return made;
  }
  std::string submit(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--time", "10:00"});
    return ServiceCommands::submit(words);
  }
  std::string node_of(const std::string& job) const {
    const auto shown = nlohmann::json::parse(run({"show", job, "-o", "json"}).out, nullptr, false);
    return shown.is_discarded() ? "" : shown.at("holds").at(0).at("node").get<std::string>();
  }
  std::string log(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string port_ = free_port();
  bool is_encrypted_ = false;
  std::unique_ptr<RunningProgram> head_;
  std::map<std::string, std::unique_ptr<RunningProgram>> boxes_;
};

TEST_F(SeveralBoxes, AreOneQueueAndRunAGangOnlyWhereItMustBe) {
  ASSERT_NO_FATAL_FAILURE(begin({"a", "b", "c"}));
  std::vector<std::string> jobs;
  for (int at = 0; at < 7; ++at) {
    jobs.push_back(submit({"--gpus", "1", "--", "sh", "-c", "echo $ALMANAC_JOB_ID"}));
  }
  for (const std::string& each : jobs) {
    EXPECT_TRUE(ends_as(each, "COMPLETED")) << state_of(each);
    EXPECT_EQ(run({"logs", each}).out, each + "\n");
  }
  std::map<std::string, std::vector<std::string>> on;
  const auto hold_a_gpu = [&] {
    const std::string job = submit({"--gpus", "1", "--", "sleep", "600"});
    ASSERT_TRUE(ends_as(job, "RUNNING")) << log("head.log");
    on[node_of(job)].push_back(job);
  };
  // Of 1, 2 and 2 free GPUs, a gang of 4 gets two boxes.
  ASSERT_NO_FATAL_FAILURE(hold_a_gpu());
  const auto script = [&](const std::string& nodes) {
    return folder_.write("gang.sh", "#!/bin/bash\n#SBATCH --gpus-per-node=2 --nodes=" + nodes +
                                        "\necho rank $NODE_RANK of $WORLD_SIZE: $ALMANAC_GPUS\n"
                                        "srun --label echo task\n");
  };
  const std::string gang = submit({script("2")});
  EXPECT_TRUE(ends_as(gang, "COMPLETED")) << state_of(gang) << log("head.log");
  EXPECT_THAT(run({"logs", gang}).out,
              testing::AllOf(HasSubstr("rank 0 of 2: 2\n"), HasSubstr("rank 1 of 2: 2\n"),
                             HasSubstr("0: task\n"), HasSubstr("1: task\n")));
  EXPECT_THAT(run({"submit", script("4")}).err,
              HasSubstr("--nodes=4 requests more nodes than the service has (3)"));
  // A job of 2 waits while one GPU is free on each of two boxes, and runs where two are.
  while (on["a"].size() + on["b"].size() + on["c"].size() < 6) {
    ASSERT_NO_FATAL_FAILURE(hold_a_gpu());
  }
  const std::string both =
      submit({"--gpus", "2", "--", "sh", "-c", "echo $NODE_RANK of $WORLD_SIZE"});
  for (const std::string& each : {on["a"][0], on["b"][0]}) {
    EXPECT_EQ(run({"cancel", "--now", each}).status, 0);
    EXPECT_TRUE(ends_as(each, "CANCELLED")) << state_of(each);
  }
  const std::string later =
      ServiceCommands::submit({"--gpus", "1", "--time", "0:10", "--", "true"});
  EXPECT_TRUE(ends_as(later, "COMPLETED")) << "the service has decided since: " << state_of(later);
  EXPECT_EQ(state_of(both), "PENDING");
  EXPECT_EQ(run({"cancel", "--now", on["b"][1]}).status, 0);
  EXPECT_TRUE(ends_as(both, "COMPLETED")) << state_of(both) << log("head.log");
  EXPECT_EQ(run({"logs", both}).out, "0 of 1\n");
}

TEST_F(SeveralBoxes, RunEachJobOnceWhateverIsKilled) {
  ASSERT_NO_FATAL_FAILURE(begin({"a", "b"}));
  const auto waits_for = [](const std::string& file) {
    return "echo began; until test -e " + file + "; do sleep 0.1; done; echo done";
  };
  const std::string first = submit({"--gpus", "2", "--", "sh", "-c", waits_for("go")});
  const std::string second = submit({"--gpus", "2", "--", "sh", "-c", waits_for("go")});
  const std::string gang = submit({"--gpus", "4", "--", "sh", "-c", "echo gang"});
  for (const std::string& each : {first, second}) {
    ASSERT_TRUE(soon([&] { return run({"logs", each}).out == "began\n"; })) << log("head.log");
  }
  boxes_["a"]->end(SIGKILL);
  join("a");
  head_->end(SIGKILL);
  begin_head();
  for (auto& [name, box] : boxes_) box->end(SIGKILL);
  head_->end(SIGKILL);
  std::ofstream(folder_ / "go");  // so both end while nobody looks
  begin_head();
  for (const char* const each : {"a", "b"}) join(each);
  for (const std::string& each : {first, second}) {
    EXPECT_TRUE(ends_as(each, "COMPLETED")) << state_of(each) << log("head.log");
    EXPECT_EQ(run({"logs", each}).out, "began\ndone\n");
  }
  EXPECT_TRUE(ends_as(gang, "COMPLETED")) << state_of(gang) << log("head.log");
  EXPECT_EQ(run({"logs", gang}).out, "gang\ngang\n");
}

TEST_F(SeveralBoxes, KeepTheirJobsWhileTheirHardwareCannotBeRead) {
  begin_head();
  for (const char* const each : {"a", "b"}) make_key(each);
  join_two_nodes("a");
  ASSERT_TRUE(all_report(2)) << log("a.log") << log("head.log");
  join("b");
  ASSERT_TRUE(all_report(3)) << log("b.log") << log("head.log");
  std::vector<std::string> jobs;  // one on each node
  for (int at = 0; at < 3; ++at) {
    jobs.push_back(submit({"--gpus", "2", "--", "sh", "-c",
                           "echo began; until test -e go; do sleep 0.1; done; echo done"}));
    ASSERT_TRUE(soon([&] { return run({"logs", jobs.back()}).out == "began\n"; }));
  }
  const std::string waits = submit({"--gpus", "6", "--", "echo", "all"});
  boxes_["a"]->end(SIGKILL);
  head_->end(SIGKILL);
  const std::string path = state_ + "/boxes.json";
  auto boxes = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(boxes.at(0).at("name"), "a");
  boxes.at(0)["hardware"] = "damaged";
  std::ofstream(path) << boxes;
  begin_head();
  EXPECT_THAT(log("head.log"), HasSubstr("the hardware of box a cannot be read"));
  EXPECT_THAT(names_of_nodes(), testing::ElementsAre("a", "a-2", "b"));
  join_two_nodes("a");
  ASSERT_TRUE(all_report(3)) << log("a.log") << log("head.log");
  std::ofstream(folder_ / "go");
  for (const std::string& each : jobs) {
    EXPECT_TRUE(ends_as(each, "COMPLETED")) << state_of(each) << log("head.log");
    EXPECT_EQ(run({"logs", each}).out, "began\ndone\n");
  }
  EXPECT_TRUE(ends_as(waits, "COMPLETED")) << state_of(waits) << log("head.log");
}

TEST_F(SeveralBoxes, SayWhoIsSilentAndGoOnWhereOneIsDeclaredGone) {
  begin_head();
  EXPECT_THAT(run({"submit", "--gpus", "1", "--", "true"}).err, HasSubstr("no box has joined yet"));
  make_key("a");
  join("a");
  ASSERT_TRUE(all_report(1)) << log("head.log");
  EXPECT_THAT(run({"submit", "--pty", "--", "sh"}).err, HasSubstr("cannot have a terminal"));
  const std::string fixed = submit(
      {"--gpus", "2", "--requeue", "--", "sh", "-c", "echo run $ALMANAC_ATTEMPT; sleep 600"});
  const std::string waits = submit({"--gpus", "1", "--", "true"});
  ASSERT_TRUE(soon([&] { return run({"logs", fixed}).out == "run 1\n"; })) << log("head.log");
  boxes_["a"]->end(SIGKILL);
  EXPECT_NE(run({"nodes", "--gone", "z"}).status, 0);
  EXPECT_THAT(run({"nodes", "--gone", "a"}).err, HasSubstr("box a reports"));
  head_->end(SIGKILL);
  begin_head();  // which has not heard of it
  EXPECT_THAT(run({"nodes"}).out, HasSubstr("silent"));
  EXPECT_TRUE(soon([&] {
    return run({"explain", waits}).out.find("box a does not report") != std::string::npos;
  })) << run({"explain", waits}).out;
  EXPECT_EQ(run({"nodes", "--gone", "a"}).status, 0);
  make_key("b");
  join("b");
  ASSERT_TRUE(soon([&] {
    return run({"logs", fixed}).out == "run 1\nrun 2\n";
  })) << state_of(fixed)
      << log("head.log");
  EXPECT_THAT(names_of_nodes(), testing::ElementsAre("b"));
  join("a", "3");  // which ends what it had, and has another GPU now
  EXPECT_TRUE(soon([&] { return log("a.log").find("joins again") != std::string::npos; }))
      << log("a.log");
  ASSERT_TRUE(all_report(2)) << run({"nodes"}).out << log("a.log");
  EXPECT_THAT(names_of_nodes(), testing::ElementsAre("a", "b"));
  EXPECT_EQ(nodes().at(0).at("gpus").size(), 3U);
}

TEST_F(SeveralBoxes, AskOnlyTheHeadThatProvesItself) {
  is_encrypted_ = true;
  make_certificate(folder_ / "head", "IP:127.0.0.1");
  make_certificate(folder_ / "other", "IP:127.0.0.1");
  const auto know = [&](const char* certificate) {
    std::filesystem::copy_file(folder_ / certificate, folder_ / "known.pem",
                               std::filesystem::copy_options::overwrite_existing);
  };
  know("other.pem");
  begin_head();
  make_key("a");
  join("a");
  ASSERT_TRUE(soon([&] {
    return log("a.log").find("cannot prove its identity") != std::string::npos;
  })) << log("a.log");
  EXPECT_THAT(names_of_nodes(), testing::IsEmpty());
  know("head.pem");  // is read again
  ASSERT_TRUE(all_report(1)) << log("a.log") << log("head.log");
  const std::string job = submit({"--gpus", "2", "--", "echo", "encrypted"});
  EXPECT_TRUE(ends_as(job, "COMPLETED")) << state_of(job);
  EXPECT_EQ(run({"logs", job}).out, "encrypted\n");
}

TEST_F(SeveralBoxes, RequireAPortThatStays) {
  const ProgramRun refused =
      run_program({"serve", "--boxes", "--listen", "127.0.0.1:0", "--state", state_});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--boxes requires a port that stays"));
}

TEST_F(SeveralBoxes, KeepTheirKeysToThemselves) {
  write_key("a", "secret\n");
  ::chmod((folder_ / "key.a").c_str(), 0640);
  const ProgramRun refused = run_program(join_words("a", "a"));
  EXPECT_EQ(refused.status, 65);
  EXPECT_THAT(refused.err, HasSubstr("other users may read the key"));
}

TEST_F(SeveralBoxes, TryAgainUntilTheirKeyIsRight) {
  begin_head();
  make_key("a");
  write_key("b", "nonsense\n");
  join("b");
  const RunningProgram other(join_words("c", "a"), folder_ / "c.log");
  const auto says = [&](const char* file, const char* what) {
    return soon([&] { return log(file).find(what) != std::string::npos; });
  };
  EXPECT_TRUE(says("b.log", "the head does not know this key")) << log("b.log");
  EXPECT_TRUE(says("c.log", "this token is not the key of box c")) << log("c.log");
  make_key("b");
  EXPECT_TRUE(all_report(1)) << log("b.log") << log("head.log");
  EXPECT_THAT(names_of_nodes(), testing::ElementsAre("b"));
}

}  // namespace
}  // namespace almanac
