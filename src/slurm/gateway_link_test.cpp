// SPDX-License-Identifier: Apache-2.0

/// \file
/// The link to a gateway that does not behave: a script in its place.
#include "slurm/gateway_link.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::slurm {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kWell = R"(echo "{\"v\":3,\"id\":$id,\"site\":{\"cluster\":\"$id\"}}")";

class GatewayLinkTest : public testing::Test {
 protected:
  /// A gateway that greets, and does `site` in shell when it is asked for the site. `$id` is the
  /// question's; a line of the file `asked` for each.
  std::string gateway(const std::string& site) const {
    const std::string file = folder_.write("gateway", fmt::format(R"(#!/bin/sh
cd '{}'
while read -r line; do
  id=${{line#*\"id\":}}
  id=${{id%%[,\}}]*}}
  case $line in
    *'"ask":"site"'*) echo $id >>asked; {} ;;
    *) echo "{{\"v\":3,\"id\":$id,\"hello\":{{\"version\":\"1\"}}}}" ;;
  esac
done
)",
                                                                  folder_ / ".", site));
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  /// One that does `first` when it is asked first, whatever process it is, and answers well later.
  std::string gateway_that_first(const std::string& first) const {
    return gateway(fmt::format("if [ -e mended ]; then {}; else : >mended; {}; fi", kWell, first));
  }

  TemporaryFolder folder_;
};

TEST_F(GatewayLinkTest, AsksOneThatSpokeNonsenseNoMore) {
  GatewayLink link({.program = gateway_that_first("echo nonsense")});
  EXPECT_EQ(link.site().error().code, Code::invalid);
  const auto site = link.site();
  EXPECT_TRUE(site) << to_string(site.error()) << ": a new one answers";
}

TEST_F(GatewayLinkTest, AsksOneThatDoesNotComeToAnEndNoMore) {
  GatewayLink link(
      {.program = gateway_that_first("head -c 70000000 /dev/zero | tr '\\0' x; echo")});
  EXPECT_EQ(link.site().error().code, Code::corrupt);
  const auto site = link.site();
  EXPECT_TRUE(site) << to_string(site.error()) << ": a new one answers";
}

TEST_F(GatewayLinkTest, TellsTheLastWordsOfOneThatEndsWithinAnAnswer) {
  GatewayLink link({.program = gateway_that_first(
                        "echo fatal: no more >&2; printf '{\"v\":3,\"id\":2,'; exit 3")});
  const auto nothing = link.site();
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, Code::unavailable);
  EXPECT_THAT(nothing.error().message, HasSubstr("fatal: no more"));
  EXPECT_TRUE(link.site());
}

TEST_F(GatewayLinkTest, TakesNoLateAnswerForThatToAnotherQuestion) {
  GatewayLink link(
      {.program = gateway(fmt::format("until [ -e go ]; do sleep 0.05; done; {}", kWell)),
       .patience = 1s});
  EXPECT_EQ(link.site().error().code, Code::unavailable);
  folder_.write("go", "");
  Result<Site> site = link.site();
  for (int tries = 0; !site && tries < 60; ++tries) site = link.site();
  ASSERT_TRUE(site) << to_string(site.error());
  std::string last;
  for (std::ifstream asked(folder_ / "asked"); asked >> last;) {
  }
  EXPECT_EQ(site->cluster, last);
}

TEST_F(GatewayLinkTest, RefusesWhatIsNoGateway) {
  EXPECT_EQ(GatewayLink({.program = folder_ / "nobody"}).site().error().code, Code::not_found);
  const auto says = [&](const std::string& answer) {
    const std::string file =
        folder_.write("other", "#!/bin/sh\nread -r line\necho '" + answer + "'\nread -r line\n");
    fs::permissions(file, fs::perms::owner_all);
    return GatewayLink({.program = file}).site().error().code;
  };
  EXPECT_EQ(says(R"({"v":1,"id":1})"), Code::unsupported);
  EXPECT_EQ(says(R"({"v":3,"id":1})"), Code::corrupt);
}

}  // namespace
}  // namespace almanac::slurm
