// SPDX-License-Identifier: Apache-2.0

/// \file
/// An agent and the service's end of the line, over TCP on this machine: what is ordered is done on
/// control groups that are made up, and taken back by itself; a peer that has not the secret, or
/// speaks otherwise, is turned away on either side.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "agent/keys.h"
#include "made_up_groups.h"
#include "steer/agents.h"
#include "support/temporary_folder.h"

namespace almanac {
namespace {

using agent::Agent;
using agent::Secret;
using manager::JobNumber;
using steer::Agents;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const agent::Keys kKeys(Secret("the secret of this site, all of it"));
const Secret kSecret = kKeys.of("n001");
const Secret kAnother("the secret of another site, really");
constexpr Duration kPatience = 1s;

/// Waits for what comes in any case; false after a minute.
bool eventually(const std::function<bool()>& condition) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// An agent that runs, as its own process would.
class Runs {
 public:
  Runs(const agent::MadeUpGroups& node, const std::string& daemon, const Secret& secret) {
    auto opened = Agent::open({.daemon = daemon,
                               .node = "n001",
                               .secret = secret,
                               .memory = node.at("memory"),
                               .mounts = node.mounts(),
                               .places = {.pressure = node.at("pressure"),
                                          .load = node.at("loadavg"),
                                          .resctrl = node.at("resctrl")},
                               .every = 50ms},
                              [this](const std::string& line) {
                                const std::lock_guard lock(mutex_);
                                said_.push_back(line);
                              });
    agent_ = std::move(*opened);
    thread_ = std::thread([this] { agent_->run(stop_, [] {}); });
  }
  ~Runs() {
    stop_ = true;
    agent_->wake();
    thread_.join();
  }
  std::vector<std::string> said() const {
    const std::lock_guard lock(mutex_);
    return said_;
  }

 private:
  std::unique_ptr<Agent> agent_;
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> said_;
  std::thread thread_;
};

class ConversationTest : public testing::Test {
 protected:
  void SetUp() override {
    node_.add_v2(12);
    node_.put(node_.at("pressure/cpu"), "some avg10=25.00 avg60=0 avg300=0 total=1");
    node_.put(node_.at("loadavg"), "3.50 1.00 0.50 1/100 1234");
    listen();
  }
  void listen() {
    auto opened = Agents::listen(address_, kKeys, kPatience);
    ASSERT_TRUE(opened) << to_string(opened.error());
    agents_ = std::move(*opened);
    address_ = "127.0.0.1:" + std::to_string(agents_->port());
  }
  /// The same orders once more, as the service does with each look.
  void order(const Agents::Orders& orders) {
    orders_ = orders;
    agents_->order(orders_);
  }
  bool held_to(const std::string& cpu_max) {
    return eventually([&] {
      if (agents_) agents_->order(orders_);
      return node_.read(node_.v2(12) + "/cpu.max") == cpu_max;
    });
  }
  /// What is said to a peer that connects and says `bytes`, until the line is closed.
  std::string say(const std::string& bytes) const {
    auto socket = agent::dial(address_, 5s);
    EXPECT_TRUE(socket);
    if (!socket) return "";
    static_cast<void>(::send(socket->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
    std::string answer;
    char part[4096];
    for (ssize_t size = 0; (size = ::recv(socket->get(), part, sizeof part, 0)) > 0;) {
      answer.append(part, static_cast<std::size_t>(size));
    }
    return answer;
  }

  agent::MadeUpGroups node_;
  std::string address_ = "127.0.0.1:0";
  std::unique_ptr<Agents> agents_;
  Agents::Orders orders_;
};

TEST_F(ConversationTest, ReportsHowTheNodeFares) {
  const Runs agent(node_, address_, kSecret);
  std::vector<Agents::Told> told;
  ASSERT_TRUE(eventually([&] {
    for (Agents::Told& each : agents_->take_reports()) told.push_back(std::move(each));
    return told.size() >= 2;
  }));
  EXPECT_EQ(told.back().node, "n001");
  EXPECT_GT(told.back().report.length, Duration{0});
  EXPECT_EQ(told.back().report.cpu_pressure, 0.25);
  EXPECT_EQ(told.back().report.load, 3.5);
  ASSERT_EQ(told.back().report.jobs.size(), 1U);
  EXPECT_EQ(told.back().report.jobs.front().job, JobNumber{12});
  EXPECT_EQ(told.back().report.jobs.front().cpus, 16);
  EXPECT_THAT(agents_->present(), Contains("n001"));
}

TEST_F(ConversationTest, HoldsAndLetsGoAsOrdered) {
  const Runs agent(node_, address_, kSecret);
  order({{"n001", {{JobNumber{12}, 4}}}, {"n002", {{JobNumber{12}, 1}}}});
  EXPECT_TRUE(held_to("400000 100000"));
  EXPECT_TRUE(eventually([&] {
    agents_->order(orders_);
    const auto told = agents_->take_reports();
    return !told.empty() && told.back().report.jobs.front().limit == 4;
  }));
  order({});
  EXPECT_TRUE(held_to("max 100000"));
}

TEST_F(ConversationTest, LetsGoWhenTheServiceIsGone) {
  const Runs agent(node_, address_, kSecret);
  order({{"n001", {{JobNumber{12}, 4}}}});
  ASSERT_TRUE(held_to("400000 100000"));
  agents_.reset();
  EXPECT_TRUE(held_to("max 100000"));
  EXPECT_THAT(agent.said(), Contains(HasSubstr("the daemon does not respond")));
  listen();
  EXPECT_TRUE(held_to("400000 100000")) << "it dials again";
}

TEST_F(ConversationTest, LetsGoWhenTheServiceHangs) {
  const Runs agent(node_, address_, kSecret);
  order({{"n001", {{JobNumber{12}, 4}}}});
  ASSERT_TRUE(held_to("400000 100000"));
  // The thread that answers agents lives; the one that decides says nothing any more.
  EXPECT_TRUE(eventually([&] { return node_.read(node_.v2(12) + "/cpu.max") == "max 100000"; }));
}

TEST_F(ConversationTest, LetsGoWhenTheAgentEnds) {
  {
    const Runs agent(node_, address_, kSecret);
    order({{"n001", {{JobNumber{12}, 4}}}});
    ASSERT_TRUE(held_to("400000 100000"));
  }
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpu.max"), "max 100000");
}

TEST_F(ConversationTest, TurnsAwayAnAgentWithAnotherSecret) {
  const Runs agent(node_, address_, kAnother);
  EXPECT_TRUE(eventually([&] { return !agents_->refusal().empty(); }));
  EXPECT_THAT(agents_->refusal(), HasSubstr("its key is not the key of that node"));
  EXPECT_TRUE(eventually([&] { return !agent.said().empty(); }));
  EXPECT_THAT(agent.said().front(), HasSubstr("check that this node uses its own key"));
  EXPECT_THAT(agents_->take_reports(), IsEmpty());
  EXPECT_THAT(agents_->present(), IsEmpty());
}

TEST_F(ConversationTest, LetsNoAgentSpeakForAnotherNode) {
  const Runs agent(node_, address_, kKeys.of("n002"));
  EXPECT_TRUE(eventually([&] { return !agents_->refusal().empty(); }));
  EXPECT_THAT(agents_->refusal(), HasSubstr("its key is not the key of that node"));
  EXPECT_THAT(agents_->present(), IsEmpty());
}

TEST_F(ConversationTest, TurnsAwayAKeyThatIsRevokedWhileItsAgentReports) {
  const TemporaryFolder folder;
  const std::string path = folder.write("secret", "the secret of this site, all of it\n");
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  agents_.reset();
  auto opened = Agents::listen("127.0.0.1:0", *agent::Keys::read(path), kPatience);
  ASSERT_TRUE(opened) << to_string(opened.error());
  agents_ = std::move(*opened);
  address_ = "127.0.0.1:" + std::to_string(agents_->port());
  const Runs agent(node_, address_, kSecret);
  ASSERT_TRUE(eventually([&] { return agents_->present().contains("n001"); }));
  ASSERT_TRUE(agent::Keys::revoke(path, "n001"));
  EXPECT_TRUE(eventually([&] { return agents_->present().empty(); }));
  EXPECT_THAT(agents_->refusal(), HasSubstr("key"));
}

TEST_F(ConversationTest, AnAgentDoesNothingForAnotherService) {
  const auto socket = agent::listen_at("127.0.0.1:0");
  ASSERT_TRUE(socket);
  const Runs agent(node_, "127.0.0.1:" + std::to_string(agent::port_of(*socket)), kSecret);
  agent::LineSocket line(process::Descriptor(::accept(socket->get(), nullptr, nullptr)),
                         agent::kLongestLine);
  const std::string nonce = agent::new_nonce();
  ASSERT_TRUE(line.send(agent::greeting(nonce)));
  std::optional<slurm::Lines::Line> said;
  ASSERT_TRUE(eventually([&] { return line.take() && (said = line.next()).has_value(); }));
  const auto hello = agent::read_hello(said->text);
  ASSERT_TRUE(hello);
  agent::Seal seal(kAnother, agent::Seal::Towards::agent, hello->node, nonce, hello->nonce);
  ASSERT_TRUE(
      line.send(seal.close("{\"orders\":{\"patience_ms\":60000,"
                           "\"limits\":[{\"job\":12,\"cores\":1}]}}")));
  EXPECT_TRUE(eventually([&] { return !agent.said().empty(); }));
  EXPECT_THAT(agent.said().front(), HasSubstr("does not have our secret"));
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpu.max"), "max 100000");
}

TEST_F(ConversationTest, TurnsAwayAPeerThatIsNoAgent) {
  const std::pair<std::string, const char*> wrong[] = {
      {"GET / HTTP/1.1\r\n\r\n", "not an agent of Almanac"},
      {std::string(64, '0') + " almanac-agent 2 n001 " + std::string(32, 'a') + "\n", "protocol 2"},
      {std::string(64, '0') + " almanac-agent 1 n001 " + std::string(32, 'a') + "\n",
       "its key is not the key of that node"},
      {std::string(64, '0') + " almanac-agent 1 ../etc " + std::string(32, 'a') + "\n",
       "not an agent of Almanac"},
      {std::string(1 << 20, 'x'), "too long"},
      {std::string(1000, '\n'), "not an agent of Almanac"}};
  for (const auto& [bytes, why] : wrong) {
    const std::string answer = say(bytes);
    EXPECT_TRUE(eventually([&, why = why] {
      return agents_->refusal().find(why) != std::string::npos;
    })) << why
        << ": " << agents_->refusal();
    // No peer is told more than that it is we; a line cut off by a reset is as good.
    EXPECT_TRUE(answer.empty() || answer.starts_with("almanac-agents 1 ")) << answer;
  }
  EXPECT_THAT(agents_->present(), IsEmpty());
  const Runs agent(node_, address_, kSecret);
  EXPECT_TRUE(eventually([&] { return !agents_->take_reports().empty(); })) << "others go on";
}

/// As an agent that has said which node it is on.
TEST_F(ConversationTest, TurnsAwayAReportThatIsNone) {
  for (const bool sealed : {true, false}) {
    auto socket = agent::dial(address_, 5s);
    ASSERT_TRUE(socket);
    agent::LineSocket line(std::move(*socket), agent::kLongestLine);
    std::optional<slurm::Lines::Line> said;
    ASSERT_TRUE(eventually([&] { return line.take() && (said = line.next()).has_value(); }));
    const std::string nonce = *agent::read_greeting(said->text);
    const agent::Hello hello{"n007", agent::new_nonce()};
    agent::Seal seal(kKeys.of("n007"), agent::Seal::Towards::daemon, hello.node, nonce,
                     hello.nonce);
    ASSERT_TRUE(line.send(seal.close(to_text(hello))));
    ASSERT_TRUE(eventually([&] { return line.take() && line.next().has_value(); }));
    EXPECT_THAT(agents_->present(), Contains("n007"));
    ASSERT_TRUE(line.send(sealed ? seal.close("{\"report\": 7}") : "{\"report\": {}}\n"));
    EXPECT_TRUE(eventually([&] { return agents_->present().empty(); }));
    EXPECT_THAT(agents_->refusal(), HasSubstr(sealed ? "report" : "wrong seal"));
  }
}

TEST_F(ConversationTest, AnAgentThatComesAgainTakesThePlaceOfTheLineThatWasLost) {
  const Runs first(node_, address_, kSecret);
  ASSERT_TRUE(eventually([&] { return !agents_->take_reports().empty(); }));
  agent::MadeUpGroups elsewhere;
  const Runs second(elsewhere, address_, kSecret);
  EXPECT_TRUE(eventually([&] { return !first.said().empty() && !second.said().empty(); }));
  EXPECT_EQ(agents_->present().size(), 1U);
}

}  // namespace
}  // namespace almanac
