// SPDX-License-Identifier: Apache-2.0

/// \file
/// A head and its boxes as an operator runs them: programs, real processes, kill -9.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/certificate.h"
#include "support/run_program.h"

namespace almanac {
namespace {

using testing::HasSubstr;

/// `almanac` with these arguments, until it is ended; its messages go to `log`.
class RunningProgram {
 public:
  RunningProgram(std::vector<std::string> words, const std::string& log) {
    const char* const program = std::getenv("ALMANAC_PROGRAM");
    words.insert(words.begin(), program == nullptr ? "almanac" : program);
    std::vector<char*> argv;
    for (std::string& each : words) argv.push_back(each.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (::posix_spawnp(&process_, argv[0], &files, nullptr, argv.data(), environ) != 0) {
      process_ = -1;
    }
    ::posix_spawn_file_actions_destroy(&files);
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  ~RunningProgram() { end(SIGTERM); }

  /// Its exit status; -1 = a signal ended it.
  int end(int signal) {
    if (process_ < 0) return -1;
    ::kill(process_, signal);
    return wait();
  }
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
};

class SeveralBoxes : public testing::Test {
 protected:
  void SetUp() override { ::mkdir((folder_ / "work").c_str(), 0700); }
  void TearDown() override { run({"cancel", "--all", "--now"}); }

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
  std::vector<std::string> join_words(const std::string& box, const std::string& key) const {
    std::vector<std::string> made{
        "join",    (is_encrypted_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + port_,
        "--key",   folder_ / ("key." + key),
        "--name",  box,
        "--state", folder_ / ("box." + box),
        "--gpus",  "2"};
    if (is_encrypted_) made.insert(made.end(), {"--ca", folder_ / "known.pem"});
    return made;
  }
  void join(const std::string& box) {
    boxes_[box].reset();
    boxes_[box] = std::make_unique<RunningProgram>(join_words(box, box), folder_ / (box + ".log"));
  }
  void begin(const std::vector<std::string>& boxes) {
    begin_head();
    // The head begins again as each joins, and does not answer meanwhile.
    for (const std::string& each : boxes) make_key(each);
    for (const std::string& each : boxes) join(each);
    ASSERT_TRUE(soon([&] { return open_nodes() == boxes.size(); }))
        << run({"nodes"}).out << log("head.log");
  }
  std::size_t open_nodes() const {
    const ProgramRun shown = run({"nodes", "-o", "json"});
    const auto read = nlohmann::json::parse(shown.out, nullptr, false);
    if (read.is_discarded()) return 0;
    std::size_t open = 0;
    for (const auto& each : read.at("nodes")) open += each.at("drained") ? 0 : 1;
    return open;
  }
  std::vector<std::string> names_of_nodes() const {
    std::vector<std::string> made;
    const auto read = nlohmann::json::parse(run({"nodes", "-o", "json"}).out, nullptr, false);
    if (read.is_discarded()) return made;
    for (const auto& each : read.at("nodes")) made.push_back(each.at("name"));
    return made;
  }
  ProgramRun run(std::vector<std::string> words) const {
    const auto mark = std::find(words.begin(), words.end(), "--");
    words.insert(mark, {"--socket", state_ + "/almanac.sock"});
    return run_program(words);
  }
  static bool soon(const std::function<bool()>& holds) {
    for (int i = 0; i < 1200; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  std::string submit(std::vector<std::string> words) const {
    words.insert(words.begin(),
                 {"submit", "--parsable", "--time", "10:00", "--directory", folder_ / "work"});
    const ProgramRun submitted = run(words);
    EXPECT_EQ(submitted.status, 0) << submitted.err;
    return submitted.out.substr(0, submitted.out.find('\n'));
  }
  std::string state_of(const std::string& job) const {
    const ProgramRun shown = run({"show", job, "-o", "json"});
    if (shown.status != 0) return shown.err;
    return nlohmann::json::parse(shown.out).at("state");
  }
  std::string node_of(const std::string& job) const {
    const auto shown = nlohmann::json::parse(run({"show", job, "-o", "json"}).out, nullptr, false);
    return shown.is_discarded() ? "" : shown.at("holds").at(0).at("node").get<std::string>();
  }
  bool ends_as(const std::string& job, const std::string& state) const {
    return soon([&] { return state_of(job) == state; });
  }
  std::string log(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  std::string state_ = folder_ / "head";
  std::string port_ = free_port();
  bool is_encrypted_ = false;
  std::unique_ptr<RunningProgram> head_;
  std::map<std::string, std::unique_ptr<RunningProgram>> boxes_;
};

TEST_F(SeveralBoxes, AreOneQueueAndRunGangs) {
  ASSERT_NO_FATAL_FAILURE(begin({"a", "b", "c"}));
  std::vector<std::string> jobs;
  for (int at = 0; at < 7; ++at) {
    jobs.push_back(submit({"--gpus", "1", "--", "sh", "-c", "echo $ALMANAC_JOB_ID; sleep 1"}));
  }
  for (const std::string& each : jobs) {
    EXPECT_TRUE(ends_as(each, "COMPLETED")) << state_of(each);
    EXPECT_EQ(run({"logs", each}).out, each + "\n");
  }
  const std::string gang = submit(
      {"--gpus", "4", "--", "sh", "-c", "echo rank $NODE_RANK of $WORLD_SIZE: $ALMANAC_GPUS"});
  EXPECT_TRUE(ends_as(gang, "COMPLETED")) << state_of(gang) << log("head.log");
  EXPECT_THAT(run({"logs", gang}).out,
              testing::AllOf(HasSubstr("rank 0 of 2: 2\n"), HasSubstr("rank 1 of 2: 2\n")));
}

TEST_F(SeveralBoxes, KeepTheirJobsWhenAllProgramsAreKilled) {
  ASSERT_NO_FATAL_FAILURE(begin({"a", "b"}));
  const std::string job = submit({"--gpus", "2", "--", "sh", "-c",
                                  "echo begun; until test -e go; do sleep 0.1; done; echo done"});
  const std::string gang = submit({"--gpus", "4", "--", "sh", "-c", "echo gang"});
  ASSERT_TRUE(soon([&] { return run({"logs", job}).out == "begun\n"; }));
  for (auto& [name, box] : boxes_) box->end(SIGKILL);
  head_->end(SIGKILL);
  std::ofstream(folder_ / "work/go");
  begin_head();
  for (const char* const each : {"a", "b"}) join(each);
  EXPECT_TRUE(ends_as(job, "COMPLETED")) << state_of(job) << log("head.log");
  EXPECT_EQ(run({"logs", job}).out, "begun\ndone\n");
  EXPECT_TRUE(ends_as(gang, "COMPLETED")) << state_of(gang) << log("head.log");
}

TEST_F(SeveralBoxes, GoOnWhereOneIsDeclaredGone) {
  ASSERT_NO_FATAL_FAILURE(begin({"a"}));
  const std::string fixed = submit(
      {"--gpus", "2", "--requeue", "--", "sh", "-c", "echo run $ALMANAC_ATTEMPT; sleep 600"});
  ASSERT_TRUE(soon([&] { return run({"logs", fixed}).out == "run 1\n"; })) << log("head.log");
  boxes_["a"]->end(SIGKILL);
  EXPECT_NE(run({"nodes", "--gone", "z"}).status, 0);
  EXPECT_THAT(run({"nodes", "--gone", "a"}).err, HasSubstr("box a reports"));
  ASSERT_TRUE(soon([&] { return run({"nodes", "--gone", "a"}).status == 0; }));
  make_key("b");
  join("b");
  ASSERT_TRUE(soon([&] {
    return run({"logs", fixed}).out == "run 1\nrun 2\n";
  })) << state_of(fixed)
      << log("head.log");
  EXPECT_THAT(names_of_nodes(), testing::ElementsAre("b"));
  join("a");  // which ends what it had
  EXPECT_TRUE(soon([&] { return log("a.log").find("joins again") != std::string::npos; }))
      << log("a.log");
  EXPECT_TRUE(soon([&] { return names_of_nodes() == std::vector<std::string>{"a", "b"}; }));
}

TEST_F(SeveralBoxes, GiveAGangTheFewestBoxes) {
  ASSERT_NO_FATAL_FAILURE(begin({"a", "b", "c"}));
  const std::string one = submit({"--gpus", "1", "--", "sleep", "600"});
  ASSERT_TRUE(ends_as(one, "RUNNING"));
  // Of 1, 2 and 2 free GPUs.
  const std::string gang = submit({"--gpus", "4", "--", "sh", "-c", "echo $WORLD_SIZE"});
  EXPECT_TRUE(ends_as(gang, "COMPLETED")) << state_of(gang) << log("head.log");
  EXPECT_EQ(run({"logs", gang}).out, "2\n2\n");
}

TEST_F(SeveralBoxes, MakeNoGangOfAJobThatFitsOnOne) {
  ASSERT_NO_FATAL_FAILURE(begin({"a", "b"}));
  std::map<std::string, std::vector<std::string>> on;
  for (int at = 0; at < 4; ++at) {
    const std::string job = submit({"--gpus", "1", "--", "sleep", "600"});
    ASSERT_TRUE(ends_as(job, "RUNNING")) << log("head.log");
    on[node_of(job)].push_back(job);
  }
  ASSERT_EQ(on["a"].size(), 2U);
  ASSERT_EQ(on["b"].size(), 2U);
  const std::string both = submit({"--gpus", "2", "--", "sh", "-c", "echo ${WORLD_SIZE:-alone}"});
  // One GPU is free on each; then two on one.
  for (const std::string& each : {on["a"][0], on["b"][0], on["b"][1]}) {
    EXPECT_EQ(run({"cancel", "--now", each}).status, 0);
    EXPECT_TRUE(ends_as(each, "CANCELLED")) << state_of(each);
  }
  EXPECT_TRUE(ends_as(both, "COMPLETED")) << state_of(both) << log("head.log");
  EXPECT_EQ(run({"logs", both}).out, "alone\n");
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
  ASSERT_TRUE(soon([&] { return open_nodes() == 1; })) << log("a.log") << log("head.log");
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

TEST_F(SeveralBoxes, RefuseAWrongKeyAndTheKeyOfAnother) {
  begin_head();
  make_key("a");
  write_key("b", "nonsense\n");
  RunningProgram unknown(join_words("b", "b"), folder_ / "b.log");
  EXPECT_NE(unknown.wait(), 0);
  RunningProgram other(join_words("c", "a"), folder_ / "c.log");
  EXPECT_NE(other.wait(), 0);
  EXPECT_THAT(log("b.log"), HasSubstr("the head does not know this key"));
  EXPECT_THAT(log("c.log"), HasSubstr("this token is not the key of box c"));
}

}  // namespace
}  // namespace almanac
