// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/run_times.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "predict/estimator.h"
#include "support/temporary_folder.h"

namespace almanac::steer_kube {
namespace {

/// Expects of each job as many minutes as it has estimated and learned from jobs before.
class Counting final : public predict::Estimator {
 public:
  predict::Belief estimate(JobId, const trace::Request&) override {
    return {.run = Duration{1min} * ++jobs_};
  }
  void learn(JobId, const trace::Request& request, const predict::Ended&) override {
    ++jobs_;
    learned_from.push_back(request.user);
  }

  std::vector<NameId> learned_from{};

 private:
  int jobs_ = 0;
};

class RunTimesTest : public testing::Test {
 protected:
  RunTimes make() {
    return RunTimes([this](const Names& names) {
      names_ = &names;
      auto made = std::make_unique<Counting>();
      estimator_ = made.get();
      return made;
    });
  }
  kube::Workload workload(const std::string& name) {
    return {.name = name, .name_space = "a", .uid = name, .version = "1", .created = Time{} + 1h};
  }
  void look(RunTimes& run_times) {
    const auto news = records_.look(picture_, {});
    ASSERT_TRUE(news);
    run_times.look(picture_, records_, news->ended);
  }
  /// The first workload of the picture ends.
  void end_first() {
    kube::Workload& of = picture_.workloads.front();
    of.stage = kube::Stage::finished;
    of.version += "+";
    of.admitted = Time{} + 2h;
    of.finished = Time{} + 3h;
  }

  TemporaryFolder folder_;
  store::Store store_ = store::Store::open(folder_ / "almanac.db").value();
  Records records_ = Records::open(store_).value();
  kube::Picture picture_{.at = Time{} + 1h};
  const Names* names_ = nullptr;   ///< Of the one that was made last.
  Counting* estimator_ = nullptr;  ///< The same.
};

TEST_F(RunTimesTest, IsWornByManyJobs) {
  RunTimes run_times = make();
  look(run_times);
  EXPECT_FALSE(run_times.is_worn());
  for (std::uint32_t at = 0; at < RunTimes::kMostJobs; ++at) {
    picture_.workloads.push_back(workload("w" + std::to_string(at)));
  }
  look(run_times);
  EXPECT_TRUE(run_times.is_worn());
}

// Of 100 workloads 99 have gone. The successor has the names of the last one only, expects of it
// what was expected, and learns from it when it ends.
TEST_F(RunTimesTest, ASuccessorKnowsNoNamesOfWhatHasGone) {
  RunTimes former = make();
  for (int at = 0; at < 100; ++at) {
    picture_.workloads.push_back(workload("w" + std::to_string(at)));
  }
  look(former);
  const kube::Workload last = picture_.workloads.back();
  EXPECT_EQ(former.expect(last), 100min);
  EXPECT_GT(names_->size(), 100U);
  picture_.workloads = {last};
  look(former);

  RunTimes next = make();
  next.take_over(former, records_, {});
  EXPECT_LT(names_->size(), 10U);
  EXPECT_EQ(next.expect(last), 100min);
  EXPECT_FALSE(next.is_worn());
  end_first();
  look(next);
  ASSERT_EQ(estimator_->learned_from.size(), 1U);
  EXPECT_EQ((*names_)[estimator_->learned_from.front()], "a");
}

// Two runs end while the successor reads the store, which gives it the first of them.
TEST_F(RunTimesTest, ASuccessorLearnsOnceFromWhatEndedWhileItLearned) {
  RunTimes former = make();
  picture_.workloads = {workload("w0"), workload("w1")};
  for (kube::Workload& each : picture_.workloads) {
    each.pod_sets = {{.pods = {.requests = {{"nvidia.com/gpu", 1}}}}};
  }
  look(former);
  for (kube::Workload& each : picture_.workloads) {
    each.stage = kube::Stage::finished;
    each.version += "+";
    each.admitted = Time{} + 2h;
    each.finished = Time{} + 3h;
  }
  const auto news = records_.look(picture_, {});
  ASSERT_TRUE(news);
  ASSERT_EQ(news->ended.size(), 2U);

  RunTimes next = make();
  next.learn({news->ended.front()});
  EXPECT_EQ(estimator_->learned_from.size(), 1U);
  next.take_over(former, records_, news->ended);
  EXPECT_EQ(estimator_->learned_from.size(), 2U);
  EXPECT_FALSE(next.is_worn());
}

}  // namespace
}  // namespace almanac::steer_kube
