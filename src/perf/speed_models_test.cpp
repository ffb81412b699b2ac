// SPDX-License-Identifier: Apache-2.0
#include "perf/speed_models.h"

#include <gtest/gtest.h>

#include "perf/catalogue_file.h"

namespace almanac::perf {
namespace {

constexpr const char* kFile = R"(
[[gpu]]
type = "A10"
speed = 1
[[gpu]]
type = "K80"
speed = 0.25
[gpu.sharing]
suffers = 0.5
suffers_power = 0
causes = 3
causes_power = 1

[[model]]
name = "big"
kind = "language"
[[model.board]]
gpu_type = "A10"
source = "lab"
fixed = 1
sample = 0.1
local = 0.5
local_more = 0
remote = 1
remote_more = 0
remote_spread = 0
overlap = 1
batch = [10, 40]
gpus = 4
[model.board.sharing]
suffers = 0.25
suffers_power = 1
causes = 2
causes_power = 0
[[model.board]]
gpu_type = "K80"
source = "lab"
fixed = 2
sample = 0.4
local = 0
local_more = 0
remote = 0
remote_more = 0
remote_spread = 0
overlap = 1
batch = [10, 40]
gpus = 1

[[model]]
name = "resnet-9"
kind = "image"
[model.input]
source = "lab"
gpu_type = "A10"
enough_cpus = 6
power = 1
disk = 1
dataset_gb = 0

[[model]]
name = "resnet-99"
kind = "image"
[model.input]
source = "lab"
gpu_type = "A10"
enough_cpus = 2
power = 1
disk = 0.5
dataset_gb = 64
)";

SpeedModels models() { return SpeedModels(parse_catalogue(kFile, "m.toml").value()); }

TEST(SpeedModels, FindsNamesHoweverWritten) {
  SpeedModels known = models();
  EXPECT_EQ(known.find({.name = "resnet-9"}).match, Match::name);
  EXPECT_EQ(known.find({.name = "resnet-9"}).said, "");
  const Found within = known.find({.name = "train_ResNet9_v2"});
  EXPECT_EQ(within.match, Match::in_name);
  EXPECT_EQ(within.model, "resnet-9");
  EXPECT_EQ(within.said, "train_ResNet9_v2: matched by name to resnet-9");
  EXPECT_EQ(known.find({.name = "resnet99-b"}).model, "resnet-99");
  EXPECT_EQ(known.find({.name = "resnet999"}).match, Match::none);
}

TEST(SpeedModels, FindsTheNearestByWhatIsTold) {
  SpeedModels known = models();
  const Found by_cpus = known.find({.name = "job 17", .cpus_per_gpu = 5});
  EXPECT_EQ(by_cpus.match, Match::nearest);
  EXPECT_EQ(by_cpus.model, "resnet-9");
  EXPECT_EQ(by_cpus.said, "job 17: unknown; treated as resnet-9, the nearest model");
  EXPECT_EQ(known.find({.cpus_per_gpu = 1}).model, "resnet-99");
  EXPECT_EQ(known.find({.kind = "language"}).model, "big");
  EXPECT_EQ(known.find({.kind = "image", .memory_gb_per_gpu = 30}).model, "resnet-99");
  EXPECT_EQ(known.find({.gpu_type = "A10", .step_s = 2}).model, "big");
}

TEST(SpeedModels, NothingToldIsNoModel) {
  SpeedModels known = models();
  const Found none = known.find({});
  EXPECT_EQ(none.match, Match::none);
  EXPECT_EQ(none.model, "");
  EXPECT_NE(none.said.find("its speed is assumed from its GPUs"), std::string::npos);
  EXPECT_EQ(none.speed, known.find({.name = "x"}).speed);  // one for all
}

TEST(SpeedModels, OneForAllJobsAlike) {
  SpeedModels known = models();
  const auto* const ten = known.find({.name = "big", .batch_per_gpu = 10}).speed;
  EXPECT_EQ(known.find({.name = "big-run", .batch_per_gpu = 10}).speed, ten);
  EXPECT_NE(known.find({.name = "big", .batch_per_gpu = 20}).speed, ten);
}

TEST(SpeedModels, TypesAsClustersNameThem) {
  const SpeedModels known = models();
  EXPECT_EQ(known.gpu_type("NVIDIA A10"), known.gpu_type("a10"));
  EXPECT_NE(known.gpu_type("a10"), kOtherGpu);
  EXPECT_EQ(known.gpu_type("A100"), kOtherGpu);
  EXPECT_EQ(known.gpu_type(""), kOtherGpu);
  Catalogue measured;
  Model& vit = measured.models.emplace_back();
  vit.name = "vit";
  for (const char* type : {"NVIDIA A100-SXM4-80GB", "Tesla K80"}) {
    vit.boards.emplace_back().gpu_type = type;
  }
  const SpeedModels driver(std::move(measured));
  EXPECT_EQ(driver.gpu_type("a100"), driver.gpu_type("NVIDIA A100-SXM4-80GB"));
  EXPECT_EQ(driver.gpu_type("k80"), driver.gpu_type("Tesla K80"));
  EXPECT_EQ(driver.gpu_type("A10"), kOtherGpu);
}

// At a batch of 20 a step computes 3 s on the A10 and 10 s on the K80.
TEST(SpeedModels, ResolvesByHand) {
  SpeedModels known = models();
  const SpeedModel& big = *known.find({.name = "big", .batch_per_gpu = 20}).speed;
  const auto& fast = big.on(known.gpu_type("A10"));
  EXPECT_DOUBLE_EQ(fast.alone, 1);
  EXPECT_DOUBLE_EQ(fast.step.local, 0.5 / 3);
  EXPECT_DOUBLE_EQ(fast.step.remote, 1.0 / 3);
  EXPECT_DOUBLE_EQ(fast.suffers, 5);
  EXPECT_DOUBLE_EQ(fast.causes, 2);
  const auto& slow = big.on(known.gpu_type("K80"));
  EXPECT_DOUBLE_EQ(slow.alone, 0.3);
  EXPECT_DOUBLE_EQ(slow.suffers, 0.5);
  EXPECT_DOUBLE_EQ(slow.causes, 30);  // by its step of 10 s
  // Of a batch outside what was measured, the nearest that was: 40, 5 s.
  EXPECT_DOUBLE_EQ(
      known.find({.name = "big", .batch_per_gpu = 1e6}).speed->on(known.gpu_type("A10")).step.local,
      0.1);
  // A model of which only the input is known: the mean of the types.
  EXPECT_DOUBLE_EQ(known.find({.name = "resnet-9"}).speed->on(known.gpu_type("K80")).alone, 0.25);
}

TEST(CatalogueFile, ReadsBackWhatItWrites) {
  const Catalogue catalogue = parse_catalogue(kFile, "m.toml").value();
  const std::string written = to_toml(catalogue);
  const auto again = parse_catalogue(written, "again.toml");
  ASSERT_TRUE(again.has_value()) << to_string(again.error());
  EXPECT_EQ(to_toml(*again), written);
  EXPECT_EQ(again->models.size(), 3);
  EXPECT_EQ(again->models[0].boards[0].sharing->suffers, 0.25);
}

constexpr const char* kTasks = R"([genie]
startup_s = 30

[[model]]
name = "mine"
[model.training]
a = 40
c = 3
gamma = 0.5
lambda = 0.8
comm = "sync"
[model.inference]
curve = "table"
batches = [1, 8]
rates = [10, 60]

[[model]]
name = "other"
[model.training]
curve = "quadratic_log"
k = [5, 2, -0.1]
most_batch = 32
)";

TEST(CatalogueFile, ReadsTasks) {
  const Catalogue catalogue = parse_catalogue(kTasks, "m.toml").value();
  EXPECT_EQ(catalogue.startup_s, 30);
  EXPECT_EQ(catalogue.theta, 0.4);
  const Model& mine = catalogue.models[0];
  EXPECT_DOUBLE_EQ(mine.training->rate.one_gpu(1), 10);
  EXPECT_EQ(mine.training->rate.comm.form, Comm::Form::sync);
  EXPECT_DOUBLE_EQ(mine.inference->rate(16, {1, 2}), 120);
  EXPECT_EQ(catalogue.models[1].training->most_batch, 32);
  EXPECT_FALSE(catalogue.models[1].inference);
  const std::string written = to_toml(catalogue);
  const auto again = parse_catalogue(written, "again.toml");
  ASSERT_TRUE(again.has_value()) << to_string(again.error());
  EXPECT_EQ(to_toml(*again), written);
  EXPECT_DOUBLE_EQ(again->models[1].training->rate(8, {1, 1}), 5 + 2 * 3 - 0.1 * 9);
}

TEST(CatalogueFile, SaysWhatIsWrongWithATask) {
  const auto says = [](const std::string& from, const std::string& to, const std::string& error) {
    std::string text = kTasks;
    text.replace(text.find(from), from.size(), to);
    const auto read = parse_catalogue(text, "m.toml");
    ASSERT_FALSE(read.has_value()) << to;
    EXPECT_NE(to_string(read.error()).find(error), std::string::npos) << to_string(read.error());
  };
  says("c = 3\n", "", "m.toml:6:1: c is missing");
  says("\"sync\"", "\"synk\"",
       "m.toml:11:8: comm must be one of nodiv printed sync, found \"synk\"");
  says("\"table\"", "\"tables\"", "curve must be one of saturating quadratic quadratic_log table");
  says("[1, 8]", "[8, 1]", "a table needs ascending batches, and as many rates");
  says("[10, 60]", "[10]", "a table needs ascending batches, and as many rates");
  says("[10, 60]", "[10, 0]", "rates must be numbers above 0");
  says("[5, 2, -0.1]", "[5, 2]", "k must be three numbers");
  says("curve = \"table\"\n", "curve = \"table\"\ngamma = 1\nlambda = 1\n",
       "inference has no comm");
}

TEST(CatalogueFile, SaysWhatIsWrongAndWhere) {
  const auto says = [](std::string text, const std::string& from, const std::string& to,
                       const std::string& error) {
    text.replace(text.find(from), from.size(), to);
    const auto read = parse_catalogue(text, "m.toml");
    ASSERT_FALSE(read.has_value()) << to;
    EXPECT_NE(to_string(read.error()).find(error), std::string::npos) << to_string(read.error());
  };
  says(kFile, "overlap = 1", "overlp = 1",
       "m.toml:27:1: unknown key overlp (did you mean overlap?)");
  says(kFile, "sample = 0.1\n", "", "sample is missing");
  says(kFile, "overlap = 1", "overlap = 0.5", "overlap must be 1 to 100, found 0.5");
  says(kFile, "\npower = 1", "\npower = nan", "power must be 0 to 1");
  says(kFile, "batch = [10, 40]", "batch = [40, 10]", "batch must be two numbers above 0");
  says(kFile, "batch = [10, 40]", "batch = 10", "batch must be the smallest and the largest");
  says(kFile, "name = \"resnet-9\"", "name = \"big\"", "big is listed twice");
  says(kFile, "gpu_type = \"K80\"", "gpu_type = \"A10\"", "A10 is listed twice");
  says(kFile, "kind = \"image\"", "kind = 3", "kind must be a text");
  says("x = 1\n", "x", "y", "unknown key y");
  says("# nothing\n", "nothing", "", "the file has no [[model]]");
  EXPECT_EQ(read_catalogue("publik").error().hint, "did you mean public?");
}

}  // namespace
}  // namespace almanac::perf
