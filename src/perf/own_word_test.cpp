// SPDX-License-Identifier: Apache-2.0
#include "perf/own_word.h"

#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace almanac::perf {
namespace {

/// A job's file, with a clock of its own so that each word is newer than the one before.
class OwnWordTest : public testing::Test {
 protected:
  void say(const std::string& text) {
    ASSERT_EQ(::pwrite(file_, text.data(), text.size(), end_), static_cast<ssize_t>(text.size()));
    end_ += static_cast<off_t>(text.size());
    const timespec written[] = {{++second_, 0}, {second_, 0}};
    ASSERT_EQ(::futimens(file_, written), 0);
  }
  ~OwnWordTest() override { ::close(file_); }

  TemporaryFolder folder_;
  int file_ = ::open((folder_ / "progress").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  OwnWord word_{Time{100s}};
  off_t end_ = 0;
  time_t second_ = 0;
};

TEST_F(OwnWordTest, IsOfTheTimeSinceTheOneBefore) {
  say("gpu_use 0.5\n");
  auto said = word_.look(file_, Time{110s});
  ASSERT_TRUE(said);
  EXPECT_EQ(said->from, Time{100s});
  EXPECT_EQ(said->to, Time{110s});
  EXPECT_DOUBLE_EQ(said->value, 0.5);
  EXPECT_FALSE(word_.look(file_, Time{120s})) << "it has said nothing new";
  say("gpu_use 0.75\n");
  said = word_.look(file_, Time{130s});
  ASSERT_TRUE(said);
  EXPECT_EQ(said->from, Time{110s});
  EXPECT_DOUBLE_EQ(*word_.last(), 0.75);
}

TEST_F(OwnWordTest, IsTheLastLineThatMakesSense) {
  say("step 7 of 9\ngpu_use 0.25\ngpu_use 1.5\ngpu_use much\nloss 0.1\n");
  EXPECT_TRUE(word_.look(file_, Time{110s}));
  EXPECT_DOUBLE_EQ(*word_.last(), 0.25);
}

TEST_F(OwnWordTest, IsFoundAtTheEndOfALongFile) {
  for (int line = 0; line < 1000; ++line) say("a line that says nothing of use\n");
  say("gpu_use 1\n");
  EXPECT_TRUE(word_.look(file_, Time{110s}));
  EXPECT_DOUBLE_EQ(*word_.last(), 1);
}

TEST_F(OwnWordTest, GivesEachMetricOnce) {
  using Metrics = std::vector<OwnProgress::Metric>;
  say("step 1\nmetric 0.5\nstep 2\nmetric 0.25\n");
  word_.look(file_, Time{110s});
  EXPECT_EQ(word_.reported(), (Metrics{{0.5, 1}, {0.25, 2}}));
  word_.look(file_, Time{120s});
  EXPECT_EQ(word_.reported(), Metrics{}) << "nothing was written";
  say("gpu_use 0.5\nstep 3\nmetric 0.25\n");
  word_.look(file_, Time{130s});
  EXPECT_EQ(word_.reported(), (Metrics{{0.25, 3}}));
}

TEST_F(OwnWordTest, TellsHowFarTheTrainingIsAndHowGoodByThen) {
  say("gpu_use 0.5\n");
  word_.look(file_, Time{110s});
  EXPECT_FALSE(word_.progress());
  say("metric 0.25\nstep 100\nmetric 0.5\nstep 200\nstep -1\nmetric good\n");
  word_.look(file_, Time{120s});
  ASSERT_TRUE(word_.progress());
  EXPECT_EQ(word_.progress()->step, 200);
  EXPECT_EQ(word_.progress()->metric, (OwnProgress::Metric{.value = 0.5, .step = 100}));
  say("metric -3\n");
  word_.look(file_, Time{130s});
  EXPECT_EQ(word_.progress()->metric, (OwnProgress::Metric{.value = -3, .step = 200}));
}

TEST_F(OwnWordTest, TellsWhichGpusItUsesAndHowFastItIsOnThem) {
  say("gpus 0,2\nstep_s 0.5 0.1 64\nnoise 0.02 1.7\nbatches 4096 32 256\n");
  word_.look(file_, Time{110s});
  ASSERT_TRUE(word_.progress());
  EXPECT_EQ(word_.progress()->gpus, "0,2");
  EXPECT_EQ(word_.progress()->pace,
            (OwnProgress::Step{.step_s = 0.5, .exchange_s = 0.1, .samples = 64}));
  EXPECT_EQ(word_.progress()->noise, (OwnProgress::Noise{.sqr = 0.02, .var = 1.7}));
  EXPECT_EQ(word_.progress()->batches,
            (OwnProgress::Batches{.most = 4096, .least_of_gpu = 32, .most_of_gpu = 256}));
  say("gpus 0\nstep_s -1\nstep_s 0.5 0.6\nstep_s 0.5 0 1.5\nstep_s 1e-9\nnoise 1\nnoise 1 1e300\n"
      "batches 8 4 2\nbatches 8 4 1e999\nbatches 1e9\nmetric 1e300\nmetric nan\n");
  word_.look(file_, Time{120s});
  EXPECT_EQ(word_.progress()->times_gpus, 2);
  EXPECT_FALSE(word_.progress()->pace) << "that was on others, and what follows makes no sense";
  EXPECT_EQ(word_.progress()->batches->most, 4096);
  EXPECT_EQ(word_.progress()->noise->var, 1.7);
  EXPECT_FALSE(word_.progress()->metric);
}

TEST_F(OwnWordTest, CountsOnceItIsAWholeLine) {
  say("gpus 0\ngpus 0,1");
  word_.look(file_, Time{110s});
  EXPECT_EQ(word_.progress()->gpus, "0");
  say("2\n");
  word_.look(file_, Time{120s});
  EXPECT_EQ(word_.progress()->gpus, "0,12");
}

TEST_F(OwnWordTest, IsHeardWhenTheFileWasEmptied) {
  say("step 1\nstep 2\nstep 3\n");
  word_.look(file_, Time{110s});
  ASSERT_EQ(::ftruncate(file_, 0), 0);
  end_ = 0;
  say("step 9\n");
  word_.look(file_, Time{120s});
  EXPECT_EQ(word_.progress()->step, 9);
}

TEST_F(OwnWordTest, OfNoTimeAtAllIsKnownButNoStretch) {
  say("gpu_use 0.5\n");
  EXPECT_FALSE(word_.look(file_, Time{100s}));
  EXPECT_DOUBLE_EQ(*word_.last(), 0.5);
}

}  // namespace
}  // namespace almanac::perf
