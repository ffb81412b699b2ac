// SPDX-License-Identifier: Apache-2.0

/// \file
/// No step is faster than its bytes over the bandwidth or its operations over the peak.
#include "inference/profile/roofline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace almanac::inference {
namespace {

Batch drawn(Rng& rng) {
  Batch made;
  const auto prompts = rng.below(4);
  for (std::uint64_t each = 0; each < prompts; ++each) {
    Chunk chunk{.done = static_cast<std::int32_t>(rng.below(2) * rng.below(20'000)),
                .fresh = 1 + static_cast<std::int32_t>(rng.below(4096))};
    chunk.prompt = chunk.done + chunk.fresh + static_cast<std::int32_t>(rng.below(2) * 1000);
    made.prefills.push_back(chunk);
  }
  made.decodes = static_cast<std::int64_t>(rng.below(2) * rng.below(300));
  if (made.prefills.empty() && made.decodes == 0) made.decodes = 1;
  made.context = made.decodes * (1 + static_cast<std::int64_t>(rng.below(20'000)));
  return made;
}

/// What cannot be less, in other words than the roofline's: sums over layers, a token at a time.
struct Least {
  double bytes = 0, narrow_flops = 0, wide_flops = 0;
};
Least least(const Model& model, const Batch& batch) {
  Least made;
  double tokens = static_cast<double>(batch.decodes), ends = tokens;
  for (const Chunk& each : batch.prefills) {
    tokens += each.fresh;
    ends += each.done + each.fresh >= each.prompt ? 1 : 0;
  }
  const double head = model.head > 0 ? model.head : model.embedding;
  if (ends > 0) made.bytes += 2 * head;
  made.wide_flops += 2 * head * ends;
  for (const Layers& each : model.layers) {
    const double window = each.window > 0 ? static_cast<double>(each.window) : 1e18;
    // A token passes its own experts, so no fewer are read than one token chooses.
    const double experts = each.experts > 0 ? each.chosen : 0;
    made.bytes +=
        each.count * (model.attention.bytes * each.attention + model.dense.bytes * each.dense +
                      model.experts.bytes * experts * each.expert);
    made.narrow_flops +=
        each.count * 2 * tokens * (each.attention + each.dense + each.chosen * each.expert);
    double looks = 0, kv = tokens;
    for (const Chunk& chunk : batch.prefills) {
      for (int at = 0; at < chunk.fresh; ++at) looks += std::min(chunk.done + at + 1.0, window);
      kv += std::min<double>(chunk.done, window);
    }
    made.wide_flops += each.count * each.look_prefill * looks;
    if (batch.decodes > 0) {
      const double context =
          static_cast<double>(batch.context) / static_cast<double>(batch.decodes);
      const double seen = std::min(context + 1, window);
      made.wide_flops += each.count * each.look_decode * seen * static_cast<double>(batch.decodes);
      kv += (seen - 1) * static_cast<double>(batch.decodes);
    }
    made.bytes += each.count * model.kv_number_bytes * each.kv * kv;
  }
  return made;
}

TEST(Roofline, NoStepIsFasterThanItsBytesOrItsOperations) {
  Rng rng(40);
  for (const std::string& name : model_names()) {
    const Model model = *find_model(name);
    for (const Board& built_in : built_in_boards()) {
      // With measured kernels, and with kernels that reach the limits.
      const bool at_limits = rng.below(2) == 0;
      const Board board = at_limits ? built_in.at_its_limits() : built_in;
      for (const int gpus : {1, 2, 4, 8, 16}) {
        for (const int stages : {1, 2, 4}) {
          const bool data_attention = rng.below(2) == 0;
          const Roofline step(
              model, board,
              {.gpus = gpus, .stages = stages, .data_attention = data_attention, .node_link = 25e9},
              at_limits ? Launch::none() : Launch{});
          const Batch batch = drawn(rng);
          const Least needs = least(model, batch);
          const double narrow =
              std::max({board.peak(model.attention.arithmetic), board.peak(model.dense.arithmetic),
                        board.peak(model.experts.arithmetic)});
          const double bound_s = std::max(
              needs.bytes / gpus / board.bandwidth,
              needs.narrow_flops / gpus / narrow + needs.wide_flops / gpus / board.bf16_flops);
          const double took_s = step(batch) / 1e6;
          ASSERT_GE(took_s, bound_s * (1 - 1e-9))
              << name << " on " << gpus << " x " << stages << " " << board.name;
          const Work work = step.work(batch);
          ASSERT_GE(took_s, work.bytes / board.bandwidth * (1 - 1e-9));
          // What it counts is at least what there is.
          ASSERT_GE(work.bytes * gpus, needs.bytes * (1 - 1e-9)) << name;
        }
      }
    }
  }
}

TEST(Roofline, MeasuredKernelsAreNeverFasterThanTheLimits) {
  Rng rng(41);
  for (const std::string& name : model_names()) {
    const Model model = *find_model(name);
    for (const Board& board : built_in_boards()) {
      const Batch batch = drawn(rng);
      EXPECT_GE(Roofline(model, board)(batch),
                Roofline(model, board.at_its_limits(), {}, Launch::none())(batch))
          << name << " on " << board.name;
    }
  }
}

TEST(Roofline, DataParallelAttentionReadsAllWeightsButOnlyItsOwnKv) {
  const Model model = *find_model("deepseek-v3");
  const Board board = *find_board("h200");
  const Roofline divided(model, board, {.gpus = 8});
  const Roofline own(model, board, {.gpus = 8, .data_attention = true});
  const auto kv = [](const Roofline& step) {
    return step.work({.decodes = 64, .context = 640'000}).bytes - step.work({.decodes = 64}).bytes;
  };
  // Of latent KV every GPU reads all, unless its requests are its own.
  EXPECT_NEAR(kv(divided), 640'000.0 * 70272, 1e6);
  EXPECT_NEAR(kv(own), 640'000.0 * 70272 / 8, 1e6);
  EXPECT_GT(own.work({.decodes = 1}).bytes, divided.work({.decodes = 1}).bytes);
  // So it is faster for long contexts, and slower for a single short one.
  EXPECT_LT(own({.decodes = 256, .context = 2'560'000}),
            divided({.decodes = 256, .context = 2'560'000}));
  EXPECT_GT(own({.decodes = 1, .context = 10}), divided({.decodes = 1, .context = 10}));
}

TEST(Roofline, CountsAllWeightsOfADecode) {
  // 8.03e9 weights but for the input table of 0.53e9, at 2 bytes: 15.0 GB, and 1 GB of KV.
  const Roofline step(*find_model("llama-3.1-8b"), *find_board("h100"));
  const Work one = step.work({.decodes = 1, .context = 100});
  EXPECT_NEAR(one.bytes, 15.01e9 + 101 * 131072, 2e7);
  const Work more = step.work({.decodes = 16, .context = 8000});
  EXPECT_NEAR(more.bytes - one.bytes, (8016 - 101) * 131072, 2e7);
  // Two for each weight but for the norms, and four for each head, layer and token looked at.
  EXPECT_NEAR(one.flops[0], 15.01e9 + 4.0 * 4096 * 32 * 101, 2e7);
  // The bound is 4.5 ms; vLLM takes 6.9 to 7.2 a token (inference-perf, vLLM 0.11.0).
  const Micros took = step({.decodes = 1, .context = 235});
  EXPECT_GT(took, 6500);
  EXPECT_LT(took, 7800);
}

TEST(Roofline, ExpertsAreReadAsTokensChooseThem) {
  const Model model = *find_model("deepseek-v3");
  const Roofline step(model, *find_board("h200"), {.gpus = 8});
  const auto bytes = [&](std::int64_t tokens) {
    return 8 * step.work({.decodes = tokens, .context = 0}).bytes;
  };
  // Of 256 experts a token chooses 8, and 32 tokens 163: 58 layers of 44.04e6 weights each.
  const double expert = 58 * 44.04e6;
  EXPECT_NEAR((bytes(32) - bytes(1)) / expert, 163.3 - 8, 2);
}

TEST(Roofline, WindowsBoundWhatATokenLooksAt) {
  const Model model = *find_model("gpt-oss-120b");
  const Roofline step(model, *find_board("h200"));
  const auto kv = [&](std::int64_t context) {
    return step.work({.decodes = 1, .context = context}).bytes - step.work({.decodes = 1}).bytes;
  };
  // 18 layers read all 10,000 tokens, 18 the last 128: 2,048 bytes a token and layer.
  EXPECT_NEAR(kv(10'000), 18.0 * 2048 * (10'000 + 127), 1e5);
  EXPECT_NEAR(kv(100), 36.0 * 2048 * 100, 1e5);
}

}  // namespace
}  // namespace almanac::inference
