// SPDX-License-Identifier: Apache-2.0

/// \file
/// How the numbers that lever `order` wrote are taken back, also without the journal and from a
/// server in trouble.
#include "steer_kube/undo.h"

#include <filesystem>

#include "service_fixture.h"

namespace almanac::steer_kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kLease = "/apis/coordination.k8s.io/v1/namespaces/almanac/leases/almanac";

TEST_F(KubeServiceTest, UndoGivesAllNumbersBack) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  kube::Client client = kube::Client::to({.server = server_.url(), .from = server_.url()}).value();
  EXPECT_EQ(undo({.state = folder_ / "state"}, client).error().code, Code::conflict)
      << "the service runs";
  stop();
  const auto done = undo({.state = folder_ / "state"}, client);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->changes, 1);
  EXPECT_EQ(priority("short-9"), 0);
  EXPECT_EQ(undo({.state = folder_ / "state"}, client)->changes, 0);
}

// A deleted volume takes the journal with it. What is on the workloads is enough.
TEST_F(KubeServiceTest, UndoNeedsNoJournal) {
  fill();
  server_.patch(kJobs + "/long-9", {{"spec", {{"priority", 100}}}});
  server_.patch(kJobs + "/short-9", {{"spec", {{"priority", 100}}}});
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 103; }));
  stop();
  std::filesystem::remove_all(folder_ / "state");
  kube::Client by_hand = client();
  const auto done = undo({.state = folder_ / "state"}, by_hand);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->changes, 1);
  EXPECT_FALSE(done->has_journal);
  EXPECT_EQ(priority("short-9"), 100);
  EXPECT_FALSE(object("short-9")["metadata"].contains("annotations")) << "nothing is left";
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state"));
  EXPECT_EQ(undo({.state = folder_ / "state"}, by_hand)->changes, 0);
}

TEST_F(KubeServiceTest, AMarkOfANumberThatAnotherWroteCountsForNothing) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  stop();
  std::filesystem::remove_all(folder_ / "state");
  server_.patch(kJobs + "/short-9", {{"spec", {{"priority", 50}}}});
  const char* const forged = R"({"base":-1000,"field":"priority","value":7})";
  server_.patch(kJobs + "/long-9", {{"metadata", {{"annotations", {{"almanac/order", forged}}}}},
                                    {"spec", {{"priority", 7}}}});
  kube::Client by_hand = client();
  EXPECT_EQ(undo({.state = folder_ / "state"}, by_hand)->changes, 0);
  EXPECT_EQ(priority("short-9"), 50);
  EXPECT_EQ(priority("long-9"), 7) << "no rank is 1007";
}

TEST_F(KubeServiceTest, AServiceWithoutItsJournalKnowsItsRanks) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  const auto open_anew = [&](service::Switch order) {
    stop();
    std::filesystem::remove_all(folder_ / "state");
    if (client().get(kLease)) server_.remove(kLease);
    open(order);
  };
  open_anew(service::Switch::on);
  go_on();
  EXPECT_EQ(priority("short-9"), 3) << "a rank on a rank would be 6";
  open_anew(service::Switch::dry);
  go_on();
  EXPECT_EQ(priority("short-9"), 3) << "the ranks of another service are not a dry one's";
  open_anew(service::Switch::off);
  EXPECT_TRUE(comes([&] { return priority("short-9") == 0; }));
}

// A standby that takes over must not mistake the leader's later ranks for a person's numbers.
TEST_F(KubeServiceTest, AStandbyKnowsTheLatestRanksOfTheLeader) {
  fill();
  const Json spec{{"holderIdentity", "leader"},
                  {"leaseDurationSeconds", 15},
                  {"renewTime", "2026-11-01T12:00:00.000000Z"}};
  server_.create("/apis/coordination.k8s.io/v1/namespaces/almanac/leases",
                 {{"metadata", {{"name", "almanac"}}}, {"spec", spec}});
  const auto rank = [&](int value) {
    const std::string mark = Json{{"field", "priority"}, {"base", 0}, {"value", value}}.dump();
    server_.patch(kJobs + "/short-9", {{"metadata", {{"annotations", {{"almanac/order", mark}}}}},
                                       {"spec", {{"priority", value}}}});
  };
  rank(2);
  open(service::Switch::on);
  go_on();
  rank(3);
  go_on();
  EXPECT_THAT(service_->overview().warnings,
              testing::Not(testing::Contains(HasSubstr("another writes the numbers"))));
  stop();
  server_.remove(kLease);
  kube::Client by_hand = client();
  EXPECT_EQ(undo({.state = folder_ / "state"}, by_hand)->changes, 1);
  EXPECT_EQ(priority("short-9"), 0);
}

// A standby that led once has a journal with older ranks than those on the workloads.
TEST_F(KubeServiceTest, UndoTakesBackRanksThatAreNewerThanTheJournal) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  stop();
  const char* const newer = R"({"base":0,"field":"priority","value":2})";
  server_.patch(kJobs + "/short-9", {{"metadata", {{"annotations", {{"almanac/order", newer}}}}},
                                     {"spec", {{"priority", 2}}}});
  kube::Client by_hand = client();
  const auto done = undo({.state = folder_ / "state"}, by_hand);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->changes, 1);
  EXPECT_EQ(done->gone, 0);
  EXPECT_EQ(priority("short-9"), 0);
}

// A workload that has changed (409) and a server in trouble (500) are no reason to stop.
TEST_F(KubeServiceTest, UndoTriesAgain) {
  fill_both();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3 && priority_of_b() == 3; }));
  stop();
  int patches = 0;
  server_.before_patch = [&] {
    if (++patches == 1) {
      const Json change{{"metadata", {{"labels", {{"changed", "1"}}}}}};
      server_.patch(kJobs + "/short-9", change);
      server_.patch(kube::in_namespace("b", "workloads") + "/short-b", change);
    }
    if (patches == 2) server_.fail_next(1, 500);
  };
  kube::Client by_hand = client();
  const auto done = undo({.state = folder_ / "state"}, by_hand);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->changes, 2);
  EXPECT_THAT(done->left, IsEmpty());
  EXPECT_EQ(priority("short-9"), 0);
  EXPECT_EQ(priority_of_b(), 0);
}

TEST_F(KubeServiceTest, UndoGoesOnWithTheOthersAndSaysWhatIsLeft) {
  fill_both();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3 && priority_of_b() == 3; }));
  stop();
  server_.set_tokens({{"token", "admin"}});
  int patches = 0;
  server_.set_rights([&](const std::string&, const std::string& verb, const std::string&) {
    return verb != "patch" || ++patches != 1;
  });
  kube::Client by_hand = client();
  const auto done = undo({.state = folder_ / "state"}, by_hand);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->changes, 1);
  EXPECT_TRUE(done->lacks_right);
  EXPECT_THAT(done->left, ElementsAre(HasSubstr("cannot patch")));
  EXPECT_EQ(undo({.state = folder_ / "state"}, by_hand)->changes, 1) << "the journal still has it";
}

// The service that runs has another state folder than the one that undo is given.
TEST_F(KubeServiceTest, UndoRefusesWhileAServiceHoldsTheLease) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  service_.reset();  // killed, so it releases nothing
  kube::Client by_hand = client();
  const auto refused = undo({.state = folder_ / "none"}, by_hand);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(to_string(refused.error()),
              testing::ContainsRegex("service almanac-[0-9a-f]+ holds the Lease almanac/almanac "
                                     "until 2026-11-01 12:00:[0-9]+ UTC"));
  EXPECT_THAT(to_string(refused.error()), HasSubstr("--force"));
  EXPECT_EQ(priority("short-9"), 3);
  const auto done = undo({.state = folder_ / "none", .lease_space = "other"}, by_hand);
  ASSERT_TRUE(done) << "no service holds a Lease there";
  EXPECT_EQ(done->lease, "there is no Lease other/almanac");
  EXPECT_EQ(priority("short-9"), 0);
}

TEST_F(KubeServiceTest, UndoIsForcedOrWaitsUntilTheLeaseExpires) {
  fill_both();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3 && priority_of_b() == 3; }));
  service_.reset();
  kube::Client by_hand = client();
  EXPECT_EQ(undo({.state = folder_ / "none", .is_forced = true}, by_hand)->changes, 2);
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  service_.reset();
  EXPECT_FALSE(undo({.state = folder_ / "state"}, by_hand));
  server_.date = "Sun, 01 Nov 2026 12:01:00 GMT";
  const auto done = undo({.state = folder_ / "state"}, by_hand);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(priority("short-9"), 0);
}

// An identity that may only list and patch workloads can undo all the same, and reads so in a note.
TEST_F(KubeServiceTest, UndoSaysThatItMayNotReadTheLease) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  service_.reset();
  server_.set_tokens({{"token", "admin"}});
  server_.set_rights([](const std::string&, const std::string&, const std::string& resource) {
    return !resource.starts_with("leases");
  });
  kube::Client by_hand = client();
  const auto done = undo({.state = folder_ / "none"}, by_hand);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->changes, 1);
  EXPECT_THAT(done->lease, HasSubstr("leases"));
}

// Whether a service runs is then unknown, which is no right that is missing.
TEST_F(KubeServiceTest, UndoRefusesIfTheLeaseCannotBeRead) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  stop();
  kube::Client by_hand = client();
  server_.fail_next(1, 503);
  const auto busy = undo({.state = folder_ / "none"}, by_hand);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, Code::unavailable);
  EXPECT_THAT(to_string(busy.error()), HasSubstr("--force"));
  server_.patch(kLease, {{"spec", {{"holderIdentity", 5}}}});
  const auto unreadable = undo({.state = folder_ / "none"}, by_hand);
  ASSERT_FALSE(unreadable);
  EXPECT_EQ(unreadable.error().code, Code::invalid);
  EXPECT_EQ(priority("short-9"), 3);
  const auto forced = undo({.state = folder_ / "none", .is_forced = true}, by_hand);
  ASSERT_TRUE(forced) << to_string(forced.error());
  EXPECT_EQ(priority("short-9"), 0);
  EXPECT_THAT(forced->lease, HasSubstr("holderIdentity"));
}

TEST_F(KubeServiceTest, UndoSaysThatAServiceHasStartedMeanwhile) {
  fill();
  open(service::Switch::on);
  ASSERT_TRUE(comes([&] { return priority("short-9") == 3; }));
  stop();
  server_.before_patch = [&] {
    server_.patch(kLease, {{"spec",
                            {{"holderIdentity", "other"},
                             {"leaseDurationSeconds", 15},
                             {"renewTime", "2026-11-01T12:00:00.000000Z"}}}});
  };
  kube::Client by_hand = client();
  const auto done = undo({.state = folder_ / "none"}, by_hand);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->changes, 1);
  EXPECT_THAT(done->left, ElementsAre(HasSubstr("service other has taken the Lease")));
}

}  // namespace
}  // namespace almanac::steer_kube
