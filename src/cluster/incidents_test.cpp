// SPDX-License-Identifier: Apache-2.0
#include "cluster/incidents.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace almanac::cluster {
namespace {

using Kind = Incident::Kind;

class IncidentsFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  Result<Incidents> read(const std::string& rows) {
    std::ofstream(path_) << "time,event,subject,value\n" << rows;
    return read_incidents(path_, machines_);
  }
  std::string error(const std::string& rows) {
    const auto read = this->read(rows);
    return read ? "" : to_string(read.error());
  }

  std::string path_ = testing::TempDir() + "incidents.csv";
  Cluster machines_ = uniform(3, 8);
};

TEST_F(IncidentsFile, AreInOrderOfTimeWhateverTheFileHas) {
  const auto read = this->read(
      "200,up,1,\n"
      "100,down,1,\n"
      "1970-01-01 00:00:40,notice,1,60\n"
      "150,signal,price,0.3\n"
      "160,signal,carbon,-2\n"
      "170,signal,price,0.4\n");
  ASSERT_TRUE(read) << to_string(read.error());
  ASSERT_EQ(read->all.size(), 6U);
  EXPECT_EQ(read->signals, (std::vector<std::string>{"price", "carbon"}));
  EXPECT_EQ(read->all[0].at, Time{40s});
  EXPECT_EQ(read->all[0].kind, Kind::notice);
  EXPECT_EQ(read->all[0].value, 60);
  EXPECT_EQ(read->all[1].kind, Kind::down);
  EXPECT_EQ(read->all[3].subject, 1U);
  EXPECT_EQ(read->all[3].value, -2);
  EXPECT_EQ(read->all[4].subject, 0U);
  EXPECT_EQ(read->all[5].kind, Kind::up);
}

TEST_F(IncidentsFile, SaysWhatIsWrongAndWhere) {
  EXPECT_NE(error("100,down,n7,\n").find(":2: expected a node of the cluster, found \"n7\""),
            std::string::npos)
      << error("100,down,n7,\n");
  EXPECT_NE(error("0,up,1,\n100,gone,1,\n").find(":3: expected down, up, notice or signal"),
            std::string::npos);
  EXPECT_NE(error("soon,down,1,\n").find("expected a date or seconds, found \"soon\""),
            std::string::npos);
  EXPECT_NE(error("5,signal,price,\n").find("expected a number, found \"\""), std::string::npos);
  EXPECT_NE(error("5,notice,1,-3\n").find("in how many seconds the node will go down"),
            std::string::npos);
}

TEST_F(IncidentsFile, AreNotMixedWithChangesOfCapacity) {
  machines_.changes.push_back({.at = Time{1h}, .vc = VcId{0}, .nodes = 2});
  EXPECT_NE(error("100,down,1,\n").find("the cluster file changes the capacity"),
            std::string::npos);
  EXPECT_EQ(error("100,signal,price,1\n"), "");
}

TEST_F(IncidentsFile, NodesNeedNamesOfTheirOwn) {
  machines_ = {};
  machines_.add_vc("red");
  machines_.add_nodes({.gpus = 8}, 2);
  machines_.add_vc("blue");
  machines_.add_nodes({.gpus = 8}, 1);
  EXPECT_NE(error("100,down,0,\n").find("expected a name that one node has, found \"0\""),
            std::string::npos);
  EXPECT_EQ(error("100,down,1,\n"), "");
}

}  // namespace
}  // namespace almanac::cluster
