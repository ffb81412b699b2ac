// SPDX-License-Identifier: Apache-2.0
#include "steer/outlook.h"

#include <array>

#include <gtest/gtest.h>

namespace almanac::steer {
namespace {

constexpr Time kNow{Duration{std::chrono::hours{100}}};

manager::Node node(const std::string& name) {
  return {.name = name, .gpu_type = "v100", .gpus = 2, .partitions = {"p"}};
}

/// Three nodes; jobs 1 to 3 wait, with limits of 1, 2 and 8 hours.
Mirror site(std::vector<manager::Reservation> reservations) {
  Mirror mirror;
  manager::News news{.at = kNow, .whole = true};
  news.nodes = {node("a"), node("b"), node("c")};
  news.nodes[2].reserved = true;
  for (const auto& [number, hours] : {std::pair{1U, 1}, {2U, 2}, {3U, 8}}) {
    news.jobs.push_back({.number = manager::JobNumber{number},
                         .partition = "p",
                         .state = manager::State::pending,
                         .submit = kNow - 1h,
                         .limit = Duration{std::chrono::hours{hours}},
                         .gpus = 1});
  }
  news.partitions = {{{.name = "p", .nodes = {"a", "b", "c"}}}};
  news.reservations = std::move(reservations);
  mirror.take(news);
  return mirror;
}

service::Outlook look(const Mirror& mirror) {
  const std::array queue{manager::JobNumber{1}, manager::JobNumber{2}, manager::JobNumber{3}};
  return outlook_of(mirror, *make_world(mirror, Grouping::all), queue);
}

TEST(Outlook, ClosesReservedNodesForTheirTime) {
  const auto made =
      look(site({{.name = "firmware", .nodes = {"b"}, .start = kNow + 5h, .end = kNow + 7h},
                 {.name = "now", .nodes = {"c"}, .start = kNow - 1h, .end = kNow + 3h},
                 {.name = "over", .nodes = {"a"}, .start = kNow - 9h, .end = kNow}}));
  ASSERT_EQ(made.jobs.size(), 3U);
  EXPECT_TRUE(made.drained.empty()) << "c comes back";
  ASSERT_EQ(made.closed_nodes.size(), 2U);
  // Half of the jobs that wait take 2 hours or more.
  EXPECT_EQ(made.closed_nodes[0].from, kNow + 3h);
  EXPECT_EQ(made.closed_nodes[0].to, kNow + 7h);
  EXPECT_EQ(made.closed_nodes[0].nodes, std::vector{NodeId{1}});
  EXPECT_EQ(made.closed_nodes[1].from, kNow);
  EXPECT_EQ(made.closed_nodes[1].to, kNow + 3h);
  EXPECT_EQ(made.closed_nodes[1].nodes, std::vector{NodeId{2}});
}

TEST(Outlook, TakesAReservedNodeOutIfItsEndIsUnknown) {
  const auto made = look(site({}));
  EXPECT_EQ(made.drained, std::vector{NodeId{2}});
  EXPECT_TRUE(made.closed_nodes.empty());
}

}  // namespace
}  // namespace almanac::steer
