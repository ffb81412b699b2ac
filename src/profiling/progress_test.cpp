// SPDX-License-Identifier: Apache-2.0
#include "profiling/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiling/lines.h"
#include "profiling/meter.h"

namespace almanac::profiling {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Line {
  const char* text;
  const char* preset;  ///< That must have it; "" = it is no progress.
  Told told = Told::steps;
  double value = 0;
  double total = 0;
};

// Written here in the format of those tools.
const std::vector<Line> kLines{
    {"[2024-05-01 10:00:00,123] [INFO] [timer.py:260:stop] epoch=0/micro_step=40/global_step=10, "
     "RunningAvgSamplesPerSec=151.2, CurrSamplesPerSec=149.8, MemAllocated=4.2GB",
     "deepspeed", Told::steps, 10},
    {"[2024-05-01 10:00:00,124] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, "
     "lr=[0.001], mom=[(0.9, 0.999)]",
     "deepspeed", Told::steps, 10},
    {"Epoch 0:  12%|#2        | 112/937 [00:03<00:27, 30.10it/s, v_num=0, loss=0.31]", "lightning",
     Told::steps, 112, 937},
    {"Epoch 3: |          | 40/? [00:03<00:00, 12.96it/s, v_num=2]", "lightning", Told::steps, 40},
    {"Epoch 0/9  \u2501\u2501\u2501\u2501\u257a\u2501\u2501 24/937 0:00:03 \u2022 0:00:27 "
     "30.10it/s v_num: 0",
     "lightning", Told::steps, 24, 937},
    {" 10%|\u2588         | 100/1000 [00:10<01:30,  9.98it/s]", "huggingface", Told::steps, 100,
     1000},
    {"  1%|          | 7/700 [00:14<23:06,  2.00s/it]", "huggingface", Told::steps, 7, 700},
    {"  32/1875 [..............................] - ETA: 12s - loss: 2.3 - accuracy: 0.1", "keras",
     Told::steps, 32, 1875},
    {"1500/1875 [=======================>......] - ETA: 1s - loss: 0.3", "keras", Told::steps, 1500,
     1875},
    {" 32/1875 \u2501\u2501\u2501\u2501\u2501\u2501\u2501\u2501 12s 7ms/step - accuracy: 0.1 - "
     "loss: 2.3",
     "keras", Told::steps, 32, 1875},
    {"train:  35%|###5      | 35/100 [00:07<00:13,  5.00it/s, loss=1.2]", "tqdm", Told::steps, 35,
     100},
    {"1234it [01:40, 12.34it/s]", "tqdm", Told::steps, 1234},
    {"Epoch: [0][  10/5005]\tTime  0.314 ( 0.901)\tData  0.012 ( 0.530)\tLoss 6.9e+00", "steps",
     Told::steps, 10, 5005},
    {"Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.1", "steps", Told::samples, 640, 60000},
    {"iter 120: loss 2.4567, time 150.31ms, mfu 12.0%", "steps", Told::steps, 120},
    {" iteration      100/  500000 | consumed samples: 25600 | elapsed time per iteration (ms): "
     "210",
     "steps", Told::steps, 100},
    {"global_step: 42 lr: 1e-4", "steps", Told::steps, 42},
    {"speed 12.5 it/s", "rates", Told::steps_a_second, 12.5},
    {"now at 2.5 s/it", "rates", Told::steps_a_second, 0.4},
    {"throughput: 640 samples/s, loss 0.1", "rates", Told::samples_a_second, 640},
    {"loading 12 shards of the data set", ""},
    {"{'loss': 0.52, 'learning_rate': 4e-05, 'epoch': 0.16}", ""},
    {"in 3 stepping stones", ""},
    {"", ""},
};

TEST(ProgressTest, KnowsTheLinesOfEachPreset) {
  const ProgressReader reader = ProgressReader::create("auto").value();
  for (const Line& line : kLines) {
    const auto progress = reader.read(line.text);
    ASSERT_EQ(progress.has_value(), *line.preset != '\0') << line.text;
    if (!progress) continue;
    EXPECT_EQ(reader.name(progress->pattern), line.preset) << line.text;
    EXPECT_EQ(progress->told, line.told) << line.text;
    EXPECT_DOUBLE_EQ(progress->value, line.value) << line.text;
    EXPECT_EQ(progress->total, line.total) << line.text;
    // By its own name alone it is found as well.
    const auto alone = ProgressReader::create(line.preset).value().read(line.text);
    ASSERT_TRUE(alone) << line.text;
    EXPECT_EQ(alone->value, progress->value) << line.text;
  }
}

TEST(ProgressTest, EachPresetHasALineHere) {
  for (const ProgressPreset& preset : progress_presets()) {
    EXPECT_TRUE(std::any_of(kLines.begin(), kLines.end(), [&](const Line& line) {
      return line.preset == preset.name;
    })) << preset.name;
  }
}

TEST(ProgressTest, TakesPatternsOfTheUser) {
  for (const char* const pattern : {"at (?P<step>[0-9]+)", "at (?<step>[0-9]+)"}) {
    const auto reader = ProgressReader::create(pattern);
    ASSERT_TRUE(reader) << to_string(reader.error());
    EXPECT_EQ(reader->read("at 12 now")->value, 12);
    EXPECT_EQ(reader->name(0), "pattern");
    EXPECT_FALSE(reader->read("step 12"));
  }
  const auto rate = ProgressReader::create(R"((?P<rate>\S+) per second)");
  EXPECT_EQ(rate->read("2.5e1 per second")->value, 25);
  EXPECT_FALSE(rate->read("nan per second"));
  EXPECT_FALSE(rate->read("-1 per second"));
  EXPECT_FALSE(rate->read("0 per second"));  // nothing can be said of a program that stands
}

TEST(ProgressTest, SaysWhatIsWrongWithAPattern) {
  const auto says = [](const char* how, const char* error) {
    const auto reader = ProgressReader::create(how);
    ASSERT_FALSE(reader) << how;
    EXPECT_EQ(reader.error().code, Code::usage);
    EXPECT_THAT(to_string(reader.error()), HasSubstr(error));
  };
  says("step (", "\"step (\" is not a regular expression: missing )");
  says("step (\\d+)",
       "has no named group step, samples, rate, step_s, sample_rate (for example --pro");
  says("keraz", "no progress lines are named \"keraz\" (did you mean keras?)");
  says("zzz", "known: auto, deepspeed, lightning, huggingface, keras, tqdm, steps, rates; or");
}

std::vector<std::string> cut(const std::vector<std::string>& blocks) {
  LineCutter cutter;
  std::vector<std::string> lines;
  for (const std::string& block : blocks) {
    cutter.feed(block, [&](std::string_view line) { lines.emplace_back(line); });
  }
  return lines;
}

TEST(LineCutterTest, CutsWhereATerminalWould) {
  EXPECT_THAT(cut({"one\ntw", "o\n", "\n\nrest"}), ElementsAre("one", "two"));
  EXPECT_THAT(cut({"\r 1/9 [>..]", "\r 2/9 [>..]\r"}), ElementsAre(" 1/9 [>..]", " 2/9 [>..]"));
  EXPECT_THAT(cut({"1/9\b\b\b2/9\n"}), ElementsAre("1/9", "2/9"));
  EXPECT_THAT(cut({"\x1b[1;32mgreen\x1b", "[0m step 3\n"}), ElementsAre("green step 3"));
  EXPECT_EQ(cut({std::string(100'000, 'x') + "\n"})[0].size(), LineCutter::kLongest);
}

TEST(LineCutterTest, KeepsTheLastLines) {
  LastLines last(2);
  for (const char* const line : {"a", "b", "c"}) last.add(line);
  EXPECT_THAT(last.lines(), ElementsAre("b", "c"));
}

std::vector<double> step_times(const Meter& meter) {
  std::vector<double> times;
  for (const Interval& interval : meter.intervals()) {
    times.push_back(interval.seconds / interval.steps);
  }
  return times;
}

TEST(MeterTest, ACounterThatBeginsAnewIsTheNextEpoch) {
  Meter meter(1);
  double at = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const double step : {10, 20, 30}) {
      meter.add({.value = step}, at);
      at += 5;
    }
    at += 100;  // validation
  }
  EXPECT_THAT(step_times(meter), ElementsAre(0.5, 0.5, 0.5, 0.5));
}

TEST(MeterTest, PassesOverProcessesThatLag) {
  Meter meter(1);
  for (int step = 11; step < 15; ++step) {
    meter.add({.value = static_cast<double>(step)}, step);
    meter.add({.value = step - 1.0}, step + 0.5);
    meter.add({.value = static_cast<double>(step)}, step + 0.7);
  }
  EXPECT_THAT(step_times(meter), ElementsAre(1, 1, 1));
}

TEST(MeterTest, LinesThatComeAtOnceAreOne) {
  Meter meter(1);
  for (int step = 0; step < 30; ++step) meter.add({.value = step * 1.0}, step / 10 * 4.0);
  ASSERT_EQ(meter.intervals().size(), 2);
  EXPECT_EQ(meter.intervals()[1].seconds, 4);
  // Whatever came with a burst is of the burst after it: what counts is that none is lost.
  EXPECT_EQ(meter.intervals()[0].steps + meter.intervals()[1].steps, 20);
}

TEST(MeterTest, TakesTheBarWithMostLines) {
  Meter meter(1);
  for (int step = 1; step <= 3; ++step) {
    meter.add({.value = step * 1.0, .pattern = 4, .total = 3}, step);  // a download
  }
  for (int step = 1; step <= 9; ++step) {
    meter.add({.value = step * 1.0, .pattern = 2, .total = 500}, 10 + 2 * step);
  }
  EXPECT_EQ(meter.pattern(), 2);
  EXPECT_EQ(meter.intervals().size(), 8);
  EXPECT_EQ(step_times(meter).front(), 2);
}

TEST(MeterTest, SamplesAndRates) {
  Meter samples(32);
  samples.add({.told = Told::samples, .value = 0}, 0);
  samples.add({.told = Told::samples, .value = 320}, 5);
  EXPECT_THAT(step_times(samples), ElementsAre(0.5));
  Meter rates(32);
  rates.add({.told = Told::samples_a_second, .value = 1}, 0);
  rates.add({.told = Told::samples_a_second, .value = 64}, 1);
  rates.add({.told = Told::samples_a_second, .value = 128}, 3);
  EXPECT_THAT(step_times(rates), ElementsAre(0.5, 0.25));
  EXPECT_EQ(rates.intervals()[1].steps, 8);
}

}  // namespace
}  // namespace almanac::profiling
