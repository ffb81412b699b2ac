// SPDX-License-Identifier: Apache-2.0
#include "predict/model_file.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "predict/explain.h"
#include "predict/learned.h"
#include "predict/replay.h"
#include "predict/testing_log.h"
#include "support/temporary_folder.h"
#include "table/stream.h"

namespace almanac::predict {
namespace {

using testing::HasSubstr;

class ModelFile : public testing::Test {
 protected:
  ModelFile() {
    replay(
        log_.jobs, [&](JobId job, const trace::Request& of) { learned_.watch(job, of); },
        [&](JobId job, const trace::Request& of, const Ended& ended) {
          learned_.learn(job, of, ended);
        });
    learned_.fit(kNever);
  }
  std::string reading(const std::string& bytes) {
    const auto read = read_model(folder_.write("changed", bytes));
    return read ? "" : to_string(read.error());
  }

  TemporaryFolder folder_;
  trace::Trace log_ = testing_log(600);
  Learned learned_{log_.names};
  std::string path_ = folder_ / "model";
};

TEST_F(ModelFile, BringsTheSameModelBack) {
  const Training training{
      .trace = "log.csv", .sha256 = "12", .from = {}, .to = Time(7s), .jobs = 600};
  ASSERT_TRUE(write_model(path_, *learned_.model(), training, learned_.memory().ended_so_far()));
  const auto read = read_model(path_);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->training.trace, "log.csv");
  EXPECT_EQ(read->training.to, Time(7s));
  EXPECT_EQ(read->training.jobs, 600);
  for (const Example& each : learned_.examples().all()) {
    const Prediction made = learned_.model()->predict(each.seen);
    const Prediction again = read->model.predict(each.seen);
    ASSERT_EQ(made.typical, again.typical);
    ASSERT_EQ(made.believed.mean_log(), again.believed.mean_log());
  }
  EXPECT_EQ(read->model.calibration().bound, learned_.model()->calibration().bound);
}

TEST_F(ModelFile, BringsBackWhatHadEnded) {
  ASSERT_TRUE(
      write_model(path_, *learned_.model(), {.jobs = 600}, learned_.memory().ended_so_far()));
  auto read = read_model(path_);
  ASSERT_TRUE(read) << to_string(read.error());
  // Names that were interned in another order are the same names.
  Names others;
  others.intern("somebody else");
  others.intern("u3_experiment1");
  others.intern("user3");
  Learned later(others, std::make_shared<const StoredModel>(std::move(*read)));
  trace::Request request;
  request.submit = Time(24h * 10);
  request.gpus = 2;
  request.user = others.intern("user3");
  request.name = others.intern("u3_experiment1");
  trace::Request same = request;
  same.user = log_.names.intern("user3");
  same.name = log_.names.intern("u3_experiment1");
  const std::size_t first_kind = kOwnFeatures;
  const Row ours = later.row(request);
  const Row theirs = learned_.row(same);
  for (std::size_t at = first_kind; at < kFeatures; ++at) {
    EXPECT_TRUE(ours[at] == theirs[at] || (std::isnan(ours[at]) && std::isnan(theirs[at])))
        << feature_names()[at].name;
  }
  EXPECT_FALSE(std::isnan(ours[first_kind]));
}

TEST_F(ModelFile, RefusesWhatIsDamaged) {
  ASSERT_TRUE(write_model(path_, *learned_.model(), {}, learned_.memory().ended_so_far()));
  const std::string good = *table::read_file(path_);
  EXPECT_EQ(reading(good), "");
  EXPECT_THAT(reading("job_id,user\n1,ann\n"), HasSubstr("not a model"));
  EXPECT_THAT(reading(good.substr(0, good.size() - 100)), HasSubstr("cut off"));
  EXPECT_THAT(reading(good.substr(0, 300)), HasSubstr("damaged"));
  std::string other = good;
  other.replace(other.find("schema 2"), 8, "schema 7");
  EXPECT_THAT(reading(other), HasSubstr("schema 7"));
  // Any single byte.
  for (std::size_t at = 0; at < good.size(); at += 997) {
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    EXPECT_NE(reading(flipped), "") << "byte " << at;
  }
  EXPECT_THAT(to_string(read_model(folder_ / "none").error()), HasSubstr("none"));
}

TEST_F(ModelFile, WalksTheTreesAsXgboostDoes) {
  const Boosted& trees = learned_.model()->trees();
  const auto classes = static_cast<std::size_t>(trees.classes());
  std::vector<float> ours(classes);
  for (std::size_t at = 0; at < 50; ++at) {
    const Row& row = learned_.examples().all()[at].seen.row;
    trees.predict(row, ours);
    // The contributions of all features add up to the log-odds that XGBoost itself sees.
    const std::vector<float> parts = trees.contributions(row);
    std::vector<double> theirs(classes);
    double sum = 0;
    for (std::size_t of = 0; of < classes; ++of) {
      double odds = 0;
      for (std::size_t part = 0; part <= kFeatures; ++part) {
        odds += static_cast<double>(parts[of * (kFeatures + 1) + part]);
      }
      sum += theirs[of] = std::exp(odds);
    }
    for (std::size_t of = 0; of < classes; ++of) EXPECT_NEAR(ours[of], theirs[of] / sum, 1e-4);
  }
}

TEST_F(ModelFile, ExplainsByWhatMatters) {
  const auto reasons = explain(*learned_.model(), learned_.examples().all().back().seen.row, 5);
  ASSERT_EQ(reasons.size(), 5U);
  EXPECT_GE(std::abs(std::log(reasons[0].factor)), std::abs(std::log(reasons[4].factor)));
  EXPECT_NE(reasons[0].factor, 1);
  for (const Reason& each : reasons) EXPECT_FALSE(each.words.empty() || each.value.empty());
}

}  // namespace
}  // namespace almanac::predict
