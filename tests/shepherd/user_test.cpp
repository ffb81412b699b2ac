// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shepherd/runs.h"

namespace almanac::shepherd {
namespace {

using testing::HasSubstr;

constexpr uid_t kNobody = 65534;
constexpr uid_t kInNoList = 54321;

/// Root runs jobs of others, whose folder is `theirs`.
class UserTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "not root";
    ::chmod(runs_.path(".").c_str(), 0711);
    ::mkdir(runs_.path("theirs").c_str(), 0755);
  }
  Spec of(uid_t uid, const std::string& script) const {
    Spec spec = runs_.shell(script);
    spec.directory = runs_.path("theirs");
    spec.uid = uid;
    spec.gid = uid;
    EXPECT_EQ(::chown(spec.directory.c_str(), uid, uid), 0);
    return spec;
  }
  Runs runs_;
};

TEST_F(UserTest, BecomesItsUserWholly) {
  EXPECT_TRUE(runs_.result(of(kNobody, "id -u; id -ru; id -g; id -G")).ending.good());
  EXPECT_EQ(runs_.text("theirs/out"), "65534\n65534\n65534\n65534\n");
  struct stat file {};
  ASSERT_EQ(::stat(runs_.path("theirs/out").c_str(), &file), 0);
  EXPECT_EQ(file.st_uid, kNobody);

  Spec unknown = of(kInNoList, "id -u; id -G");
  unknown.id = "1.2";
  unknown.out = "other";
  EXPECT_TRUE(runs_.result(unknown).ending.good());
  EXPECT_EQ(runs_.text("theirs/other"), "54321\n54321\n");
}

TEST_F(UserTest, WaitsForWhoTellsOfUsersAndTheirGroups) {
  Spec spec = of(kInNoList, "touch ran");
  spec.user_has_name = true;
  shepherd::Run run = runs_.start(spec);
  const Outcome how = Runs::end_of(run);
  EXPECT_EQ(how.kind, Outcome::Kind::never_started);
  EXPECT_TRUE(how.is_account) << "other users' runs are not concerned";
  EXPECT_EQ(how.why, "the system has no user 54321");
  EXPECT_FALSE(runs_.has("theirs/ran"));
}

// Whatever a user lays down for its command, it keeps none of our own steps from working: a run of
// it says how it ended, and never looks like a machine on which nothing can be started.
TEST_F(UserTest, LimitsOfItsOwnStopItsCommandAtMost) {
  int number = 0;
  for (const char* each : {"nofile=0", "nofile=3", "nofile=4", "nofile=5", "nofile=8", "nproc=0",
                           "fsize=0", "as=0", "stack=0", "data=0", "cpu=0", "memlock=0"}) {
    Spec spec = of(kNobody, "exit 0");
    spec.id = "1." + std::to_string(++number);
    spec.resource_limits = {each};
    shepherd::Run run = runs_.start(spec);
    const Outcome how = Runs::end_of(run);
    EXPECT_EQ(how.kind, Outcome::Kind::ended) << each << ": " << how.why;
  }
}

TEST_F(UserTest, ShepherdsWriteNoMoreThanUsersMay) {
  shepherd::Run run = runs_.start(of(kNobody, "echo >ready; exec sleep 1000"));
  ASSERT_TRUE(runs_.comes("theirs/ready"));
  const std::string about = "/proc/" + std::to_string(run.shepherd());
  std::istringstream status(content(about + "/status"));
  std::uint64_t held = 0;
  for (std::string word; status >> word;) {
    if (word == "CapEff:") status >> std::hex >> held;
  }
  constexpr unsigned kResources = 24;  // CAP_SYS_RESOURCE, capabilities(7)
  EXPECT_NE(held, 0U);
  EXPECT_EQ(held >> kResources & 1U, 0U);
  const std::string score = "/proc/" + std::to_string(run.process()) + "/oom_score_adj";
  EXPECT_EQ(content(score), "500\n") << "jobs go first where memory is short";
  run.end();
  Runs::exit_of(run);
}

TEST_F(UserTest, StartsNoMoreProcessesThanItMay) {
  constexpr const char* kMany =
      "for each in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1000 & done 2>refused; echo $! >last";
  Spec spec = of(kInNoList, kMany);
  spec.processes = 5;
  EXPECT_FALSE(runs_.result(spec).ending.good());
  EXPECT_FALSE(runs_.has("theirs/last"));
  EXPECT_NE(runs_.text("theirs/refused").find("fork"), std::string::npos);

  spec.id = "1.2";
  spec.processes = 1000;
  shepherd::Run run = runs_.start(spec);
  EXPECT_TRUE(runs_.comes("theirs/last"));
  run.end_now();
  Runs::exit_of(run);
}

TEST_F(UserTest, AUserCannotWriteALogWhereOnlyRootMay) {
  std::ofstream(runs_.path("roots")) << "precious";
  Spec spec = of(kNobody, "echo mine");
  spec.out = "../roots";
  Exit exit = runs_.result(spec);
  EXPECT_EQ(exit.cause, Cause::cannot_start);
  EXPECT_EQ(exit.message, "cannot open the log ../roots: Permission denied");
  EXPECT_EQ(runs_.text("roots"), "precious");

  spec.id = "1.2";
  spec.out = "link";
  ASSERT_EQ(::symlink(runs_.path("roots").c_str(), runs_.path("theirs/link").c_str()), 0);
  EXPECT_EQ(runs_.result(spec).cause, Cause::cannot_start);
  EXPECT_EQ(runs_.text("roots"), "precious");
}

TEST_F(UserTest, WritesHowItGoesIntoAFileOfItsOwn) {
  auto run = runs_.start(of(
      kNobody, "cd $ALMANAC_RUN; echo gpu_use 0.5 >> progress; rm -f progress; exec sleep 1000"));
  const std::string path = run.folder() + kProgressFile;
  EXPECT_TRUE(comes_true([&] { return content(path) == "gpu_use 0.5\n"; }));
  EXPECT_TRUE(comes_true([&] {
    return runs_.text("theirs/out").find("Permission denied") != std::string::npos;
  })) << runs_.text("theirs/out");
  struct stat file {};
  EXPECT_EQ(::stat(path.c_str(), &file), 0) << "no user can put another file in its place";
  EXPECT_EQ(file.st_uid, kNobody);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
  run.end();
  Runs::exit_of(run);
}

TEST_F(UserTest, AScriptIsItsUsersAndTheFolderIsNot) {
  Spec spec = of(kNobody, "");
  spec.script =
      "#!/bin/sh\nid -u; ls $ALMANAC_RUN >/dev/null || cat $ALMANAC_RUN/spec.json; "
      "echo >$ALMANAC_RUN/exit.json; kill -9 $PPID; echo still here";
  spec.argv = {};
  const Exit exit = runs_.result(spec);
  EXPECT_TRUE(exit.ending.good());
  EXPECT_THAT(runs_.text("theirs/out"), HasSubstr("65534\n"));
  EXPECT_THAT(runs_.text("theirs/out"), HasSubstr("spec.json: Permission denied"));
  EXPECT_THAT(runs_.text("theirs/out"), HasSubstr("still here"));
}

TEST_F(UserTest, ItsCommandDiesWithTheShepherdToo) {
  shepherd::Run run = runs_.start(of(kNobody, "touch ready; exec sleep 1000"));
  ASSERT_TRUE(runs_.comes("theirs/ready"));
  const pid_t command = run.process();
  ASSERT_TRUE(runs_.alive().contains(command));
  ::kill(runs_.shepherd_of(command), SIGKILL);
  EXPECT_EQ(Runs::end_of(run).kind, Outcome::Kind::lost);
  EXPECT_TRUE(comes_true([&] { return runs_.alive().empty(); }));
}

}  // namespace
}  // namespace almanac::shepherd
