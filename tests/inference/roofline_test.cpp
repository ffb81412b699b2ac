// SPDX-License-Identifier: Apache-2.0

/// \file
/// No step is faster than its bytes over the bandwidth or its operations over the peak.
#include "inference/profile/roofline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "inference/fewer_gpus.h"

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

/// What cannot be less on the GPU with the most work, in other words than the roofline's: sums over
/// layers, a token at a time.
struct Least {
  double bytes = 0, narrow_flops = 0, wide_flops = 0;
};
Least least(const Model& model, const Batch& batch, const Layout& layout) {
  const double gpus = layout.gpus, verified = 1 + layout.speculation.drafts;
  const bool own = layout.data_attention, whole = own || layout.whole_experts;
  const auto decodes = static_cast<double>(batch.decodes);
  // A sequence is on one GPU if attention is not divided, so one GPU has at least these.
  const double most_decodes = own ? std::ceil(decodes / gpus) : decodes;
  double tokens = decodes * verified, ends = tokens, longest = 0;
  for (const Chunk& each : batch.prefills) {
    tokens += each.fresh;
    longest = std::max<double>(longest, each.fresh);
    ends += each.done + each.fresh >= each.prompt ? 1 : 0;
  }
  const double most_tokens =
      own ? std::max({tokens / gpus, longest, most_decodes * verified}) : tokens;
  const double divided = own ? 1 : gpus;  // a matrix that every token uses
  Least made;
  const double head = model.head > 0 ? model.head : model.embedding;
  if (ends > 0) made.bytes += 2 * head / divided;
  made.wide_flops +=
      2 * head * (own ? std::max(std::ceil(ends / gpus), most_decodes * verified) : ends) / divided;
  for (const Layers& each : model.layers) {
    const double window = each.window > 0 ? static_cast<double>(each.window) : 1e18;
    // A token passes its own experts, so no fewer are read than one token chooses.
    double experts = each.experts > 0 ? each.chosen / gpus : 0;
    if (whole) experts = std::ceil(experts);
    made.bytes +=
        each.count *
        ((model.attention.bytes * each.attention + model.dense.bytes * each.dense) / divided +
         model.experts.bytes * experts * each.expert);
    made.narrow_flops += each.count * 2 *
                         (most_tokens * (each.attention + each.dense) / divided +
                          tokens * each.chosen * each.expert / gpus);
    double looks = 0, most_looks = 0, kv = 0, most_kv = 0;
    for (const Chunk& chunk : batch.prefills) {
      double of_chunk = 0;
      for (int at = 0; at < chunk.fresh; ++at) of_chunk += std::min(chunk.done + at + 1.0, window);
      looks += of_chunk;
      most_looks = std::max(most_looks, of_chunk);
      const double touched = chunk.fresh + std::min<double>(chunk.done, window);
      kv += touched;
      most_kv = std::max(most_kv, touched);
    }
    double decode_looks = 0;
    if (decodes > 0) {
      const double context = static_cast<double>(batch.context) / decodes;
      decode_looks = std::min(context + 1, window) * most_decodes;
    }
    made.wide_flops += each.count * (each.look_prefill *
                                         (own ? std::max(looks / gpus, most_looks) : looks / gpus) +
                                     each.look_decode * decode_looks * verified / divided);
    made.bytes += each.count * model.kv_number_bytes * each.kv *
                  ((own ? std::max(kv / gpus, most_kv) : kv / gpus) + decode_looks / divided);
  }
  return made;
}

/// Returns the model with matrices and KV cache stored in a format drawn for it.
Model drawn_precision(Model model, Rng& rng) {
  static constexpr Precision kAll[] = {{2, Arithmetic::bf16},
                                       {1, Arithmetic::fp8},
                                       {1.0003, Arithmetic::fp8},
                                       {1, Arithmetic::int8},
                                       {0.53, Arithmetic::weights_only},
                                       {0.5625, Arithmetic::fp4}};
  if (rng.below(4) > 0) {
    for (Precision* each : {&model.attention, &model.dense, &model.experts}) {
      *each = kAll[rng.below(std::size(kAll))];
    }
    if (rng.below(2) == 0) model.kv_number_bytes = 1;
  }
  return model;
}

TEST(Roofline, NoStepIsFasterThanItsBytesOrItsOperations) {
  Rng rng(40);
  for (const std::string& name : model_names()) {
    for (const Board& built_in : built_in_boards()) {
      const Model model = drawn_precision(*find_model(name), rng);
      // With measured kernels, and with kernels that reach the limits.
      const bool at_limits = rng.below(2) == 0;
      const Board board = at_limits ? built_in.at_its_limits() : built_in;
      for (const int gpus : {1, 2, 4, 8, 16, 72}) {
        for (const int stages : {1, 2, 4}) {
          Layout layout{.gpus = gpus,
                        .stages = stages,
                        .data_attention = rng.below(2) == 0,
                        .whole_experts = rng.below(2) == 0,
                        .node_link = 25e9};
          Batch batch = drawn(rng);
          if (rng.below(4) == 0) {
            // A step takes the time per token, if all drafts are right.
            layout.speculation = {.drafts = 1 + static_cast<int>(rng.below(8)), .acceptance = 1};
            batch = {.decodes = 1 + batch.decodes, .context = batch.context};
          }
          const Roofline step(model, board, layout, at_limits ? Launch::none() : Launch{});
          const Least needs = least(model, batch, layout);
          const double narrow =
              std::max({board.peak(model.attention.arithmetic), board.peak(model.dense.arithmetic),
                        board.peak(model.experts.arithmetic)});
          const double bound_s =
              std::max(needs.bytes / board.bandwidth,
                       needs.narrow_flops / narrow + needs.wide_flops / board.bf16_flops);
          const double took_s = step(batch) / 1e6 * layout.speculation.tokens();
          ASSERT_GE(took_s, bound_s * (1 - 1e-9))
              << name << " on " << gpus << " x " << stages << " " << board.name
              << (layout.data_attention ? ", data-parallel attention" : "")
              << (layout.whole_experts ? ", whole experts" : "");
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

/// Seconds of a step at the limits of the board, without the engine and small kernels.
double limit_s(const Model& model, const Board& board, const Batch& batch, Layout layout = {}) {
  constexpr Launch kNothing{0, 0, 0, 0, 1};
  return Roofline(model, board.at_its_limits(), layout, kNothing)(batch) / 1e6;
}
constexpr double kMicro = 1.1e-6;  // steps are whole microseconds

TEST(Roofline, DataParallelAttentionReadsAllWeightsButOnlyItsOwnKv) {
  const Model model = *find_model("deepseek-v3");
  const Board board = *find_board("h200");
  const Layout divided{.gpus = 8}, own{.gpus = 8, .data_attention = true};
  const auto kv_s = [&](const Layout& layout) {
    return limit_s(model, board, {.decodes = 64, .context = 640'000}, layout) -
           limit_s(model, board, {.decodes = 64}, layout);
  };
  // Of latent KV every GPU reads all, unless its requests are its own. Then its 128 heads multiply
  // each token's 512 + 512 + 64 numbers, in 61 layers, which takes longer than to read them.
  EXPECT_NEAR(kv_s(divided), 640'000.0 * 70272 / 4.8e12, 1e-5);
  EXPECT_NEAR(kv_s(own), 80'000.0 * 61 * 2 * 128 * (512 + 512 + 64) / 989e12, 1e-5);
  // So it is faster for long contexts, and slower for a single short one.
  const Roofline step(model, board, divided), of_own(model, board, own);
  EXPECT_LT(of_own({.decodes = 256, .context = 2'560'000}),
            step({.decodes = 256, .context = 2'560'000}));
  EXPECT_GT(of_own({.decodes = 1, .context = 10}), step({.decodes = 1, .context = 10}));
}

TEST(Roofline, OneSequenceIsOnOneGpuWithDataParallelAttention) {
  Board board = *find_board("h200");
  board.peer_bandwidth = 1e18;  // sums over GPUs take no time
  const Layout own{.gpus = 8, .data_attention = true};
  // Multiplying 128 heads with the 1,088 numbers of 100,000 tokens in 61 layers takes longer than
  // to read them; seven GPUs have nothing to do meanwhile.
  const Model latent = *find_model("deepseek-v3");
  const double long_s = limit_s(latent, board, {.decodes = 1, .context = 100'000}, own) -
                        limit_s(latent, board, {.decodes = 1}, own);
  EXPECT_NEAR(long_s, 100'000.0 * 61 * 2 * 128 * (512 + 512 + 64) / 989e12, 1e-5);
  // A prompt is computed as fast as on one GPU, and eight prompts as fast as one.
  const Model dense = *find_model("llama-3.1-8b");
  const Chunk prompt{.fresh = 4000, .prompt = 4000};
  const Batch one{.prefills = {prompt}}, eight{.prefills = std::vector<Chunk>(8, prompt)};
  const double alone_s = limit_s(dense, board, one);
  EXPECT_NEAR(limit_s(dense, board, one, own), alone_s, kMicro);
  EXPECT_NEAR(limit_s(dense, board, eight, own), alone_s, kMicro);
}

TEST(Roofline, AGpuWithWholeExpertsReadsAtLeastOne) {
  const Model model = *find_model("mixtral-8x7b");
  Board board = *find_board("h100");
  board.peer_bandwidth = 1e18;
  // A token chooses 2 of 8 experts of 3 x 4,096 x 14,336 weights, in 32 layers: eight GPUs read a
  // quarter of an expert each if they divide all, and one of them a whole one if they do not.
  const double divided_s = limit_s(model, board, {.decodes = 1}, {.gpus = 8});
  const double whole_s = limit_s(model, board, {.decodes = 1}, {.gpus = 8, .whole_experts = true});
  EXPECT_NEAR(whole_s - divided_s, 32 * 0.75 * 3 * 4096 * 14336 * 2 / 3.35e12, kMicro);
}

TEST(Roofline, CountsAllWeightsOfADecode) {
  // 8.03e9 weights but for the input table of 0.53e9, at 2 bytes: 15.0 GB, and 1 GB of KV.
  const Model model = *find_model("llama-3.1-8b");
  const Board board = *find_board("h100");
  const double one_s = limit_s(model, board, {.decodes = 1, .context = 100});
  EXPECT_NEAR(one_s, (15.01e9 + 101 * 131072) / 3.35e12, 5e-6);
  const double more_s = limit_s(model, board, {.decodes = 16, .context = 8000});
  EXPECT_NEAR(more_s - one_s, (8016 - 101) * 131072 / 3.35e12, 5e-6);
  // vLLM takes 6.9 to 7.2 ms per token (inference-perf, vLLM 0.11.0).
  const Micros took = Roofline(model, board)({.decodes = 1, .context = 235});
  EXPECT_GT(took, 6500);
  EXPECT_LT(took, 7800);
}

TEST(Roofline, ExpertsAreReadAsTokensChooseThem) {
  const Model model = *find_model("deepseek-v3");
  Board board = *find_board("h200");
  board.peer_bandwidth = 1e18;  // sums over GPUs take no time
  const auto bytes = [&](std::int64_t tokens) {
    return 8 * 4.8e12 * limit_s(model, board, {.decodes = tokens}, {.gpus = 8});
  };
  // Of 256 experts a token chooses 8, and 32 tokens 163: 58 layers of 44.04e6 weights each.
  const double expert = 58 * 44.04e6;
  EXPECT_NEAR((bytes(32) - bytes(1)) / expert, 163.3 - 8, 2);
}

TEST(Roofline, WindowsBoundWhatATokenLooksAt) {
  const Model model = *find_model("gpt-oss-120b");
  const Board board = *find_board("h200");
  const auto kv_s = [&](std::int64_t context) {
    return limit_s(model, board, {.decodes = 64, .context = 64 * context}) -
           limit_s(model, board, {.decodes = 64});
  };
  // 18 layers read all 10,000 tokens, 18 the last 128: 2,048 bytes a token and layer.
  EXPECT_NEAR(kv_s(10'000), 64 * 18.0 * 2048 * (10'000 + 127) / 4.8e12, 2 * kMicro);
  EXPECT_NEAR(kv_s(100), 64 * 36.0 * 2048 * 100 / 4.8e12, 2 * kMicro);
}

/// The model with matrices of 8 bits: one scale for all, or one for each block of 128 x 128.
Model in_8_bits(Model model, bool blocks) {
  model.attention = model.dense =
      model.experts = {blocks ? 1 + 4.0 / (128 * 128) : 1, Arithmetic::fp8};
  return model;
}

TEST(Roofline, NarrowWeightsAreSlowerOnlyWhereTheBoardItselfWasMeasuredSo) {
  std::size_t slower = 0;
  for (const char* const name : {"llama-3.1-8b", "qwen3-32b", "llama-3.1-70b", "mixtral-8x7b"}) {
    const Model model = *find_model(name);
    for (const Board& board : built_in_boards()) {
      for (const bool blocks : {false, true}) {
        const Model narrow = in_8_bits(model, blocks);
        const Kernel kernel = board.kernel(blocks ? "fp8_block" : "fp8");
        for (const int gpus : {1, 2, 4, 8}) {
          for (const std::int64_t decodes : {1, 32, 256, 2048}) {
            const Batch batch{.decodes = decodes, .context = 1000 * decodes};
            const Micros took = Roofline(narrow, board, {.gpus = gpus})(batch);
            const Micros wide = Roofline(model, board, {.gpus = gpus})(batch);
            if (took <= wide) continue;
            EXPECT_TRUE(kernel.own) << name << " on " << gpus << " " << board.name;
            ++slower;
          }
          EXPECT_TRUE(kernel.own || !is_slower_than_16_bits(narrow, board, {.gpus = gpus}));
        }
      }
    }
  }
  EXPECT_GT(slower, 0U);
  // Of an H100 it was measured so: blocks take 4.96 ms on 8 of them, 16 bits 3.66; and on two, 9.62
  // and 12.10.
  const Model blocks = in_8_bits(*find_model("qwen3-32b"), true);
  EXPECT_TRUE(is_slower_than_16_bits(blocks, *find_board("h100"), {.gpus = 8}));
  EXPECT_FALSE(is_slower_than_16_bits(blocks, *find_board("h100"), {.gpus = 4}));
  EXPECT_FALSE(is_slower_than_16_bits(blocks, *find_board("h100"), {.gpus = 2}));
  // An H100 is faster than an A100, which it was not once.
  for (const int gpus : {1, 2, 4}) {
    const Batch one{.decodes = 1};
    EXPECT_LT(Roofline(blocks, *find_board("h100"), {.gpus = gpus})(one),
              Roofline(blocks, *find_board("a100"), {.gpus = gpus})(one))
        << gpus;
  }
}

TEST(Roofline, NarrowBlocksArePredictedAsMeasured) {
  // Sums of the four matrices of all layers with 8 tokens, milliseconds, from AIConfigurator's
  // tables of an H100 (vLLM 0.19.0), linear between their sizes.
  struct Case {
    const char* model;
    int gpus;
    double bf16_ms, blocks_ms;
  };
  for (const Case& each : {Case{"qwen3-32b", 1, 24.41, 16.68},
                           {"qwen3-32b", 2, 12.10, 9.62},
                           {"qwen3-32b", 4, 6.64, 6.51},
                           {"qwen3-32b", 8, 3.66, 4.96},
                           {"llama-3.1-70b", 4, 12.73, 10.83},
                           {"llama-3.1-8b", 1, 5.55, 4.66}}) {
    const Model model = *find_model(each.model);
    const Board board = *find_board("h100");
    const auto matrices_ms = [&](const Model& of, const char* operation) {
      const Kernel kernel = board.kernel(operation);
      double ms = 0;
      for (const Layers& layer : of.layers) {
        const double bytes = of.dense.bytes * (layer.attention + layer.dense) / each.gpus;
        ms += layer.count *
              (4e-3 * kernel.fixed_us + 1e3 * bytes / (board.bandwidth * kernel.bandwidth));
      }
      return ms;
    };
    EXPECT_NEAR(matrices_ms(model, "bf16") / each.bf16_ms, 1, 0.08) << each.model << each.gpus;
    EXPECT_NEAR(matrices_ms(in_8_bits(model, true), "fp8_block") / each.blocks_ms, 1, 0.08)
        << each.model << each.gpus;
  }
}

TEST(Roofline, AMessageBetweenNodesTakesTimeWhateverItsSize) {
  const Model model = *find_model("llama-3.1-70b");
  const Board board = *find_board("h100");
  const Batch batch{.decodes = 8, .context = 8 * 1000};
  const auto messages_us = [&](const Layout& layout) {
    Launch at_once;
    at_once.message = 0;
    return Roofline(model, board, layout)(batch) - Roofline(model, board, layout, at_once)(batch);
  };
  EXPECT_EQ(messages_us({.gpus = 8}), 0) << "one node";
  // 80 layers sum twice. Two nodes send there and back: 80 x 2 x 2 messages of 10 us.
  EXPECT_NEAR(messages_us({.gpus = 16, .node_link = 50e9}), 3200, 1);
  EXPECT_NEAR(messages_us({.gpus = 32, .node_link = 50e9}), 6400, 1) << "four nodes, as a tree";
  // A pipeline of two nodes hands over once.
  EXPECT_NEAR(messages_us({.gpus = 8, .stages = 2, .node_link = 50e9}), 10, 1);
}

TEST(Roofline, DraftsCostAnIterationAndShortenTheTimePerToken) {
  // With 4 drafts of which each is right with 0.8: 1 + 0.8 + 0.64 + 0.512 + 0.4096 = 3.3616 tokens.
  EXPECT_NEAR((Speculation{4, 0.8}.tokens()), 3.3616, 1e-9);
  EXPECT_EQ((Speculation{4, 1}.tokens()), 5);
  EXPECT_EQ((Speculation{4, 0}.tokens()), 1);
  const Model model = *find_model("llama-3.1-8b");
  const Board board = *find_board("h100");
  const auto took = [&](const Speculation& speculation, const Batch& batch) {
    return Roofline(model, board, {.speculation = speculation})(batch);
  };
  const Batch one{.decodes = 1, .context = 200}, many{.decodes = 1000, .context = 200'000};
  // Drafts that are never right only cost: four layers and heads on top of 32 layers and a head.
  const double cost = took({4, 0}, one) / took({}, one);
  EXPECT_GT(cost, 1.1);
  EXPECT_LT(cost, 1.6);
  EXPECT_NEAR(took({4, 0.8}, one) / took({4, 0}, one), 1 / 3.3616, 1e-3);
  // A few sequences gain, a batch that fills the GPU does not.
  EXPECT_LT(took({4, 0.8}, one), 0.5 * took({}, one));
  EXPECT_GT(took({4, 0.8}, many), 0.8 * took({}, many));
  // Prompts alone take as long.
  const Batch prompt{.prefills = {{.fresh = 500, .prompt = 500}}};
  EXPECT_EQ(took({4, 0.8}, prompt), took({}, prompt));
}

/// Two all-reduces per layer over PCIe take longer than the matrices of a small model; of a large
/// one they do not.
TEST(Service, SaysWhereFewerGpusPerReplicaAreFaster) {
  Service small{.model = *find_model("qwen3-0.6b"), .board = *find_board("l40s"), .gpus = 8};
  const auto slower = slower_than_fewer_gpus(small);
  ASSERT_FALSE(slower.empty());
  EXPECT_THAT(slower.front(), testing::HasSubstr("a prompt of 2048 tokens takes "));
  EXPECT_THAT(slower.front(), testing::HasSubstr(" ms with 8 GPUs per stage and "));
  EXPECT_THAT(slower.front(), testing::HasSubstr(" ms with 1"));
  small.gpus = 1;
  EXPECT_TRUE(slower_than_fewer_gpus(small).empty()) << "there are none fewer";
  const Service large{
      .model = *find_model("llama-3.1-70b"), .board = *find_board("h100"), .gpus = 8};
  EXPECT_TRUE(slower_than_fewer_gpus(large).empty());
}

TEST(Service, EachGpuNeedsAWholeExpert) {
  // 93 GB of weights and 8 experts: they do not fit on one GPU, and 16 have too few experts.
  Service service{.model = *find_model("mixtral-8x7b"), .board = *find_board("h100"), .gpus = 16};
  EXPECT_TRUE(parts(service));
  EXPECT_THAT(fitting_gpus(service), testing::ElementsAre(2, 4, 8, 16, 32));
  service.whole_experts = true;
  const auto refused = parts(service);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "16 GPUs cannot have whole experts each: mixtral-8x7b has 8 in a layer");
  EXPECT_EQ(refused.error().hint, "use --gpus 8 or fewer");
  EXPECT_THAT(fitting_gpus(service), testing::ElementsAre(2, 4, 8));
}

TEST(Service, ASequenceIsWithinTheKvCacheOfAGpuWithDataParallelAttention) {
  Service service{.model = *find_model("llama-3.1-8b"),
                  .board = *find_board("h100"),
                  .gpus = 4,
                  .limits = {.kv_blocks = 103, .block_tokens = 16}};
  EXPECT_EQ(parts(service)->limits.context, 131'072) << "the positions of the model";
  service.data_attention = true;
  // 25 blocks on each GPU, and the last token has no KV cache.
  EXPECT_EQ(parts(service)->limits.context, 401);
}

}  // namespace
}  // namespace almanac::inference
