// SPDX-License-Identifier: Apache-2.0

/// \file
/// Models and boards by name and by config.json: weights, KV cache and bytes against what their
/// makers published.
#include "inference/profile/model.h"

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inference/profile/board.h"
#include "support/run_program.h"
#include "support/shared_data.h"

namespace almanac::inference {
namespace {

using testing::HasSubstr;

/// Rows of a CSV file by column; quoted cells may hold commas.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> made;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char each : line) {
      if (each == '"') {
        quoted = !quoted;
      } else if (each == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += each;
      }
    }
    if (names.empty()) {
      names = cells;
      continue;
    }
    auto& row = made.emplace_back();
    for (std::size_t at = 0; at < names.size() && at < cells.size(); ++at)
      row[names[at]] = cells[at];
  }
  return made;
}

struct Published {
  const char* model;
  double total, active;  // 10^9 weights; active 0 = dense
  double kv_bytes;       // a token
};

class KnownModel : public testing::TestWithParam<Published> {};

TEST_P(KnownModel, HasAsManyWeightsAsItsMakersSay) {
  const Published& told = GetParam();
  const auto model = find_model(told.model);
  ASSERT_TRUE(model) << to_string(model.error());
  EXPECT_NEAR(model->weights() / 1e9, told.total, 0.01 * told.total);
  const double active = told.active > 0 ? told.active : told.total;
  EXPECT_NEAR(model->active_weights() / 1e9, active, 0.025 * active);
  EXPECT_EQ(model->kv_bytes(), told.kv_bytes);
}

// Llama 4 Scout is published as 109 with its vision tower of 1.2. DeepSeek counts 36.7 active of
// its own way; 37.6 with all of embedding and head.
INSTANTIATE_TEST_SUITE_P(
    Presets, KnownModel,
    testing::Values(
        Published{"llama-2-7b", 6.74, 0, 524288}, Published{"llama-2-70b", 69.0, 0, 327680},
        Published{"codellama-34b", 33.7, 0, 196608}, Published{"llama-3.1-8b", 8.03, 0, 131072},
        Published{"llama-3.1-70b", 70.6, 0, 327680}, Published{"llama-3.1-405b", 405, 0, 516096},
        Published{"llama-3.2-3b", 3.21, 0, 114688}, Published{"llama-4-scout", 107.8, 17.2, 196608},
        Published{"qwen2.5-7b", 7.61, 0, 57344}, Published{"qwen2.5-32b", 32.5, 0, 262144},
        Published{"qwen3-8b", 8.2, 0, 147456}, Published{"qwen3-14b", 14.8, 0, 163840},
        Published{"qwen3-32b", 32.8, 0, 262144}, Published{"qwen3-30b-a3b", 30.5, 3.3, 98304},
        Published{"yi-34b", 34.4, 0, 245760}, Published{"mistral-7b", 7.25, 0, 131072},
        Published{"mistral-nemo", 12.2, 0, 163840}, Published{"mixtral-8x7b", 46.7, 12.9, 131072},
        Published{"mixtral-8x22b", 141, 39, 229376}, Published{"deepseek-v3", 671, 37.6, 70272},
        Published{"gpt-oss-120b", 116.8, 5.7, 73728}, Published{"gpt-oss-20b", 20.9, 4.19, 49152},
        Published{"kimi-k2", 1026, 32.9, 70272}, Published{"glm-4.5", 353, 33.6, 376832},
        Published{"glm-4.5-air", 106.9, 13.4, 188416}, Published{"glm-5", 744, 41.8, 89856},
        Published{"minimax-m2.5", 229, 11.0, 253952}, Published{"qwen3-0.6b", 0.596, 0, 114688},
        Published{"qwen3-next-80b-a3b", 79.7, 3.87, 24576},
        Published{"qwen3-coder-480b-a35b", 480, 35.4, 253952},
        Published{"qwen3-235b-a22b", 235, 22.2, 192512}, Published{"qwen3.5-27b", 26.9, 0, 65536},
        Published{"phi-4", 14.7, 0, 204800}, Published{"devstral-2-123b", 125, 0, 360448},
        Published{"devstral-small-2-24b", 23.6, 0, 163840},
        Published{"olmo-3.1-32b", 32.2, 0, 262144}, Published{"gemma-2-27b", 27.2, 0, 376832},
        Published{"gemma-3-27b", 27.0, 0, 507904},
        Published{"llama-4-maverick", 400.7, 17.2, 196608},
        Published{"deepseek-v2-lite", 15.7, 2.66, 31104},
        Published{"nemotron-3-nano-30b-a3b", 31.6, 3.58, 6144}),
    [](const auto& each) {
      std::string name = each.param.model;
      for (char& letter : name)
        letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
      return name;
    });

TEST(Models, AreCountedAsTheirMakersPublishedThem) {
  const auto folder = shared_path("data/llm/configs");
  if (!folder) GTEST_SKIP() << "no data at hand";
  // Published figures that round more, or that count a vision tower of 1 to 2 % with the rest.
  const std::set<std::string> rough{"devstral-2-123b", "devstral-small-2-24b", "kimi-k2-instruct",
                                    "llama-4-scout"};
  int seen = 0;
  for (const auto& row : rows_of(*folder + "/models.csv")) {
    const std::string name = row.at("model");
    const auto model = read_model(*folder + "/" + row.at("config"));
    if (!model) {
      ADD_FAILURE() << to_string(model.error());
      continue;
    }
    ++seen;
    const double total = std::stod(row.at("params_total"));
    EXPECT_NEAR(model->weights(), total, 2e-4 * total) << name;
    EXPECT_NEAR(model->active_weights(), std::stod(row.at("params_active")), 5e-3 * total) << name;
    const double published = std::stod(row.at("published_total"));
    EXPECT_NEAR(model->weights(), published, (rough.contains(name) ? 0.02 : 0.01) * published)
        << name;
    EXPECT_EQ(model->kv_bytes(), std::stod(row.at("kv_bytes_per_token_2byte"))) << name;
    const std::string& native = row.at("bytes_checkpoint_native");
    const double bytes = std::stod(native.empty() ? row.at("bytes_bf16") : native);
    EXPECT_NEAR(model->bytes(), bytes, 2e-3 * bytes) << name;
  }
  EXPECT_GE(seen, 51);
}

TEST(Boards, HaveTheFiguresOfTheirDataSheets) {
  const auto path = shared_path("data/llm/boards.csv");
  if (!path) GTEST_SKIP() << "no data at hand";
  std::size_t seen = 0;
  for (const auto& row : rows_of(*path)) {
    ++seen;
    const auto board = find_board(row.at("board"));
    if (!board) {
      ADD_FAILURE() << to_string(board.error());
      continue;
    }
    const auto expect = [&](const char* column, double value, double unit) {
      const std::string& told = row.at(column);
      EXPECT_DOUBLE_EQ(value, told.empty() ? 0 : std::stod(told) * unit)
          << row.at("board") << column;
    };
    expect("bandwidth_gbs", board->bandwidth, 1e9);
    expect("bf16_tflops", board->bf16_flops, 1e12);
    expect("fp8_tflops", board->fp8_flops, 1e12);
    expect("int8_tops", board->int8_flops, 1e12);
    expect("fp4_tflops", board->fp4_flops, 1e12);
    expect("link_oneway_gbs", board->peer_bandwidth, 1e9);
    if (!row.at("memory_bytes").empty()) expect("memory_bytes", board->memory_bytes, 1);
    if (!row.at("idle_w").empty()) expect("idle_w", board->idle_w, 1);
    expect("tdp_w", board->prefill_w, 1);
  }
  EXPECT_EQ(seen, built_in_boards().size());
}

TEST(Boards, ComputeAtSixteenBitsWhatTheyHaveNoUnitsFor) {
  EXPECT_EQ(find_board("a100")->peak(Arithmetic::fp8), 312e12);
  EXPECT_EQ(find_board("l40s")->peak(Arithmetic::fp8), 733e12);  // 1466 is of sparse matrices
  EXPECT_EQ(find_board("h100")->peak(Arithmetic::fp4), 989e12);
  EXPECT_EQ(find_board("h100")->peak(Arithmetic::weights_only), 989e12);
}

TEST(Names, MatchExactlyOrAreRefusedWithTheNearest) {
  EXPECT_EQ(find_model("meta-llama/Llama-3.1-8B-Instruct")->name, "llama-3.1-8b");
  EXPECT_EQ(find_board("H100-SXM")->name, "h100");
  EXPECT_EQ(find_board("h100-pcie")->bandwidth, 2000e9);
  for (const char* name : {"llama-3.1-8b-fp8", "someone/llama-3.1-8b", "llama-3.1-8b-awq"}) {
    const auto found = find_model(name);
    ASSERT_FALSE(found) << name;
    EXPECT_THAT(to_string(found.error()), HasSubstr("nearest: llama-3.1-8b")) << name;
    EXPECT_THAT(to_string(found.error()), HasSubstr("config.json")) << name;
  }
  for (const char* name : {"h100,a100", "h100-sxm5-64gb", "h1", ""}) {
    EXPECT_FALSE(find_board(name)) << name;
  }
  EXPECT_THAT(to_string(find_board("h100-cnx").error()), HasSubstr("nearest: h100"));
  EXPECT_THAT(to_string(find_model("lama-3.1-8b").error()), HasSubstr("llama-3.1-8b"));
}

/// A small Llama with `more` fields.
Result<Model> small(const std::string& more) {
  return parse_model(fmt::format(R"({{"model_type":"llama","num_hidden_layers":4,"hidden_size":64,
      "num_attention_heads":4,"intermediate_size":128,"vocab_size":1000{}}})",
                                 more),
                     "config.json");
}

TEST(Config, FieldsThatMatterAndAreNotUnderstoodAreRefusedByName) {
  ASSERT_TRUE(small(""));
  for (const char* field :
       {"mamba_d_state", "num_experts_of_mine", "kv_compress_dim", "num_kv_shared_layers",
        "linear_attention_rank", "hidden_size_per_layer_input", "ssm_state", "moe_every", "qk_dim",
        "value_rank", "d_ff", "d_kv"}) {
    const auto refused = small(fmt::format(",\"{}\":3", field));
    ASSERT_FALSE(refused) << field;
    EXPECT_THAT(to_string(refused.error()), HasSubstr(fmt::format("config.json: {}: 3", field)));
  }
  // What says nothing is no field.
  EXPECT_TRUE(small(R"(,"num_experts":0,"kv_lora_rank":null,"sliding_window":null)"));
  const auto refusal = [](const std::string& more) { return to_string(small(more).error()); };
  EXPECT_THAT(refusal(R"(,"num_experts":8)"),
              HasSubstr("num_experts_per_tok: the field is missing"));
  EXPECT_THAT(refusal(R"(,"num_experts":8,"num_experts_per_tok":9)"), HasSubstr("at most 8"));
  EXPECT_THAT(refusal(R"(,"moe_intermediate_size":64)"),
              HasSubstr("moe_intermediate_size: the file gives no number of experts"));
  EXPECT_THAT(refusal(R"(,"kv_lora_rank":16)"), HasSubstr("qk_nope_head_dim"));
  EXPECT_THAT(refusal(R"(,"head_dim":"wide")"), HasSubstr("head_dim: expected a whole number"));
  EXPECT_THAT(
      refusal(R"(,"num_key_value_heads":8)"),
      HasSubstr("num_key_value_heads: expected a number that divides the 4 heads, found 8"));
  EXPECT_THAT(refusal(R"(,"num_attention_heads":5)"),
              HasSubstr("num_attention_heads: 5 do not divide hidden_size 64"));
  EXPECT_THAT(refusal(R"(,"quantization_config":{"quant_method":"awq","bits":0})"),
              HasSubstr("Almanac does not support 0-bit quantization of weights"));
  EXPECT_THAT(refusal(R"(,"layer_types":["full_attention"])"), HasSubstr("layer_types"));
  EXPECT_THAT(refusal(R"(,"quantization_config":{"quant_method":"quip"})"),
              HasSubstr("quant_method \"quip\""));
  EXPECT_THAT(refusal(R"(,"model_type":"new","hidden_act":"gelu")"), HasSubstr("model_type"));
  EXPECT_THAT(to_string(parse_model("{}", "c.json").error()),
              HasSubstr("model_type: the field is missing"));
  EXPECT_THAT(to_string(parse_model(R"({"model_type":"llama"})", "c.json").error()),
              HasSubstr("hidden_size"));
  EXPECT_THAT(
      to_string(parse_model("{\n\"model_type\":", "c.json").error()),
      HasSubstr("c.json:2: expected a JSON object, but the file ends too early (give the "));
  EXPECT_THAT(
      to_string(parse_model("{\n\"model_type\" \"llama\"\n}", "c.json").error()),
      HasSubstr("c.json:2: expected a JSON object, found a mistake in this line (give the "));
  EXPECT_THAT(to_string(parse_model("[1]", "c.json").error()),
              HasSubstr("c.json: expected a JSON object, found JSON of type array (give the"));
  EXPECT_TRUE(small(R"(,"torch_dtype":"float32")"));
  EXPECT_TRUE(small(R"(,"dtype":"torch.bfloat16")"));
  EXPECT_THAT(refusal(R"(,"torch_dtype":"int3")"),
              HasSubstr("torch_dtype: expected a floating-point type such as bfloat16, found "
                        "\"int3\""));
  EXPECT_TRUE(small(R"(,"torch_dtype":"int8","quantization_config":{"quant_method":"fp8"})"));
}

TEST(Config, IsReadAsItMeansIt) {
  const double plain = small("")->weights();
  EXPECT_EQ(small(R"(,"tie_word_embeddings":true)")->weights(), plain - 64'000);
  // Four matrices of attention, 64 x 64 each, get 64 x 128.
  EXPECT_EQ(small(R"(,"head_dim":32)")->weights(), plain + 4 * 4 * 64 * 64);
  EXPECT_EQ(small(R"(,"head_dim":32)")->kv_bytes(), 2 * small("")->kv_bytes());
  // Seven experts beside the one, and a router; with a width of its own, and one that all share.
  const double expert = 3 * 64 * 128, router = 64 * 8;
  EXPECT_EQ(small(R"(,"num_experts":8,"num_experts_per_tok":2)")->weights(),
            plain + 4 * (7 * expert + router));
  EXPECT_EQ(small(R"(,"n_routed_experts":8,"num_experts_per_tok":2,"moe_intermediate_size":64,
                      "n_shared_experts":1,"first_k_dense_replace":1)")
                ->weights(),
            plain + 3 * (8 * expert / 2 + router + expert / 2 - expert));
  const Model latent = *small(R"(,"kv_lora_rank":16,"qk_nope_head_dim":8,"qk_rope_head_dim":4,
                                  "v_head_dim":8)");
  EXPECT_EQ(latent.kv_bytes(), 2 * 4 * 20);
  // Each GPU that computes a layer with others has all of the latent KV, and of few heads a copy.
  EXPECT_EQ(latent.kv_bytes(8), 8 * latent.kv_bytes());
  const Model few = *small(R"(,"num_key_value_heads":2)");
  EXPECT_EQ(few.kv_bytes(2), few.kv_bytes());
  EXPECT_EQ(few.kv_bytes(8), 4 * few.kv_bytes());
  // A text part within a model that sees.
  const auto nested = parse_model(R"({"model_type":"seen","vision_config":{"hidden_size":9},
      "text_config":{"model_type":"llama","num_hidden_layers":4,"hidden_size":64,"num_attention_heads":4,
      "intermediate_size":128,"vocab_size":1000}})",
                                  "config.json");
  ASSERT_TRUE(nested) << to_string(nested.error());
  EXPECT_EQ(nested->weights(), plain);
  // Two of four layers look back 10 tokens.
  const Model windows = *small(R"(,"sliding_window":10,"layer_types":["sliding_attention",
      "full_attention","sliding_attention","full_attention"])");
  ASSERT_EQ(windows.layers.size(), 2U);
  EXPECT_EQ(windows.layers[0].window, 10);
  EXPECT_EQ(windows.layers[0].count, 2);
}

TEST(Config, LayersWithAStateInPlaceOfKvAreCounted) {
  const auto model_of = [](const std::string& fields) {
    auto made = parse_model(fmt::format(R"({{"hidden_size":64,"num_attention_heads":4,
        "num_key_value_heads":2,"vocab_size":1000,{}}})",
                                        fields),
                            "config.json");
    EXPECT_TRUE(made) << to_string(made.error());
    return made.value_or(Model{});
  };
  const double tables = 2 * 64'000 + 64, attention = 2 * 64 * 64 + 2 * 64 * 32;
  // Nemotron-H: one mixer or one feed-forward block (of two matrices) and one norm to a layer.
  const Model hybrid = model_of(R"("model_type":"nemotron_h","num_hidden_layers":4,
      "hybrid_override_pattern":"M*-E","intermediate_size":128,"mamba_num_heads":8,
      "mamba_head_dim":16,"n_groups":2,"ssm_state_size":32,"conv_kernel":4,"n_routed_experts":8,
      "num_experts_per_tok":2,"moe_intermediate_size":16,"n_shared_experts":1)");
  const double inner = 8 * 16, convolved = inner + 2 * 2 * 32;
  const double mamba = 64 * (inner + convolved + 8) + inner * 64 + convolved * 5 + 3 * 8 + inner;
  EXPECT_EQ(hybrid.weights(),
            tables + 4 * 64 + mamba + attention + 2 * 64 * 128 + 9 * 2 * 64 * 16 + 64 * 8 + 8);
  EXPECT_EQ(hybrid.active_weights(), hybrid.weights() - 6 * 2 * 64 * 16);
  EXPECT_EQ(hybrid.kv_bytes(), 2 * 2 * 32);
  EXPECT_EQ(hybrid.state_bytes(), 4 * inner * 32 + 2 * convolved * 3);
  // Jamba: attention in one layer of two, experts in the other.
  const Model jamba = model_of(R"("model_type":"jamba","num_hidden_layers":2,
      "intermediate_size":128,"attn_layer_period":2,"attn_layer_offset":1,"expert_layer_period":2,
      "expert_layer_offset":0,"num_experts":4,"num_experts_per_tok":2,"mamba_expand":2,
      "mamba_d_state":16,"mamba_dt_rank":4,"mamba_d_conv":4)");
  const double wide = 128, expert = 3 * 64 * 128;
  EXPECT_EQ(jamba.weights(), tables + 4 * 64 + attention + expert + 4 * expert + 64 * 4 +
                                 2 * 64 * wide + wide * 36 + 4 * wide + wide * 64 + wide * 5 +
                                 wide * 18 + 36);
  EXPECT_EQ(jamba.kv_bytes(), 2 * 2 * 32);
  // MiniMax-01: lightning attention where the list says 0.
  const Model lightning = model_of(R"("model_type":"minimax_text_01","num_hidden_layers":2,
      "intermediate_size":128,"attn_type_list":[0,1],"num_local_experts":4,
      "num_experts_per_tok":2)");
  EXPECT_EQ(lightning.weights(),
            tables + 4 * 64 + attention + 5 * 64 * 64 + 64 + 2 * (4 * expert + 64 * 4));
  EXPECT_EQ(lightning.state_bytes(), 4 * 4 * 16 * 16);
  // Kimi Linear: delta attention but in the layers that the list names, counted from 1.
  const Model kimi = model_of(R"("model_type":"kimi_linear","num_hidden_layers":2,
      "intermediate_size":128,"kv_lora_rank":16,"qk_nope_head_dim":8,"qk_rope_head_dim":4,
      "v_head_dim":8,"linear_attn_config":{"full_attn_layers":[2],"kda_layers":[1],
      "num_heads":4,"head_dim":8,"short_conv_kernel_size":4})");
  EXPECT_EQ(kimi.kv_bytes(), 2 * 20);
  EXPECT_EQ(kimi.state_bytes(), 4 * 4 * 8 * 8 + 2 * 3 * 32 * 3);
  EXPECT_EQ(kimi.layers[0].attention, 4 * 64 * 32 + 2 * 8 * (64 + 32) + 64 * 4);
  // Granite 4 and Qwen3-Next by their lists of layers.
  const Model granite = model_of(R"("model_type":"granitemoehybrid","num_hidden_layers":2,
      "intermediate_size":16,"shared_intermediate_size":32,"num_local_experts":4,
      "num_experts_per_tok":2,"layer_types":["mamba","attention"],"mamba_n_heads":8,
      "mamba_d_head":16,"mamba_n_groups":1,"mamba_d_state":32,"mamba_d_conv":4)");
  EXPECT_EQ(granite.layers[1].dense, 3 * 64 * 32);
  EXPECT_EQ(granite.layers[1].expert, 3 * 64 * 16);
  EXPECT_EQ(granite.kv_bytes(), 2 * 2 * 32);
}

/// Files as Google publishes them: the text part of Gemma 3 4B names no heads and no vocabulary,
/// that of 12B no size of a head.
TEST(Config, WhatAModelTypeLeavesOutHasItsUsualValue) {
  const auto gemma = [](const std::string& fields) {
    return parse_model(R"({"model_type":"gemma3","vision_config":{"hidden_size":1152},
        "text_config":{"model_type":"gemma3_text","sliding_window":1024,)" +
                           fields + "}}",
                       "config.json");
  };
  const auto small_one =
      gemma(R"("hidden_size":2560,"intermediate_size":10240,"num_hidden_layers":34)");
  ASSERT_TRUE(small_one) << to_string(small_one.error());
  EXPECT_NEAR(small_one->weights() / 1e9, 3.88, 0.01);
  EXPECT_EQ(small_one->kv_bytes(), 34 * 2 * 4 * 256 * 2);
  const auto medium = gemma(R"("hidden_size":3840,"intermediate_size":15360,"num_hidden_layers":48,
      "num_attention_heads":16,"num_key_value_heads":8)");
  ASSERT_TRUE(medium) << to_string(medium.error());
  EXPECT_NEAR(medium->weights() / 1e9, 11.77, 0.01);
}

TEST(Config, FieldsThatChangeNoWeightAreNotRefused) {
  // Python writes numbers that JSON does not have.
  const double plain = small("")->weights();
  for (const char* field :
       {R"("use_conv_bias":true)", R"("moe_gate":"topk")", R"("time_step_limit":[0.0,Infinity])",
        R"("layernorm_linear_attention_alpha":3.55)", R"("note":"the \"Infinity\" cache")"}) {
    const auto read = small(fmt::format(",{}", field));
    ASSERT_TRUE(read) << to_string(read.error());
    EXPECT_EQ(read->weights(), plain) << field;
  }
}

/// Blocks of two matrices: Arcee's AFM 4.5B and Apertus 70B.
TEST(Config, BlocksOfTwoMatricesAreCounted) {
  const auto arcee = parse_model(R"({"model_type":"arcee","hidden_size":2560,"head_dim":128,
      "intermediate_size":18432,"num_attention_heads":20,"num_hidden_layers":36,
      "num_key_value_heads":4,"vocab_size":128004})",
                                 "config.json");
  ASSERT_TRUE(arcee) << to_string(arcee.error());
  EXPECT_NEAR(arcee->weights() / 1e9, 4.62, 0.01);
  const auto apertus = parse_model(R"({"model_type":"apertus","hidden_size":8192,
      "intermediate_size":43008,"num_attention_heads":64,"num_hidden_layers":80,
      "num_key_value_heads":8,"vocab_size":131072})",
                                   "config.json");
  ASSERT_TRUE(apertus) << to_string(apertus.error());
  EXPECT_NEAR(apertus->weights() / 1e9, 70.6, 0.1);
}

/// Llama-Nemotron: 80 layers of 5.25 model widths and 8 heads to a group are those of Llama 3.1
/// 70B.
TEST(Config, LayersFoundBySearchAreReadOneByOne) {
  const auto searched = [](const std::string& last) {
    std::string blocks;
    for (int layer = 0; layer < 79; ++layer) {
      blocks += R"({"attention":{"n_heads_in_group":8,"no_op":false},"ffn":{"ffn_mult":5.25}},)";
    }
    return parse_model(R"({"model_type":"nemotron-nas","hidden_size":8192,"intermediate_size":null,
        "num_attention_heads":64,"num_hidden_layers":80,"num_key_value_heads":null,
        "vocab_size":128256,"block_configs":[)" +
                           blocks + last + "]}",
                       "config.json");
  };
  const Model llama = *find_model("llama-3.1-70b");
  const auto same = searched(R"({"attention":{"n_heads_in_group":8},"ffn":{"ffn_mult":5.25}})");
  ASSERT_TRUE(same) << to_string(same.error());
  EXPECT_EQ(same->weights(), llama.weights());
  EXPECT_EQ(same->kv_bytes(), llama.kv_bytes());
  // Without attention, and with a third of the width: 9557 of 28,672 rounded up is 9,728.
  const auto less = searched(R"({"attention":{"no_op":true},"ffn":{"ffn_mult":1.75}})");
  ASSERT_TRUE(less) << to_string(less.error());
  const double attention = 2.0 * 8192 * 8192 + 2.0 * 8192 * 1024 + 8192;
  EXPECT_EQ(less->weights(), llama.weights() - attention - 3.0 * 8192 * (28'672 - 9728));
  EXPECT_EQ(less->kv_bytes(), llama.kv_bytes() / 80 * 79);
  EXPECT_THAT(to_string(searched(R"({"attention":{},"ffn":{"ffn_mult":1}})").error()),
              HasSubstr("block_configs: expected a number n_heads_in_group above 0"));
  const auto refusal = [&](const std::string& fields) {
    return to_string(
        searched(R"({"attention":{)" + fields + R"(},"ffn":{"ffn_mult":5.25}})").error());
  };
  EXPECT_THAT(refusal(R"("n_heads_in_group":6)"),
              HasSubstr("expected n_heads_in_group to divide the 64 heads, found 6"));
  EXPECT_THAT(refusal(R"("n_heads_in_group":8,"window_length":4096)"),
              HasSubstr("block_configs.attention.window_length: 4096 is not supported"));
  EXPECT_THAT(refusal(R"("replace_with_linear":true)"),
              HasSubstr("block_configs.attention.replace_with_linear: true"));
  EXPECT_TRUE(searched(R"({"attention":{"n_heads_in_group":8,"window_length":null,
      "replace_with_linear":false},"ffn":{"ffn_mult":5.25,"sparsify":null},
      "parallel_blocks":null})"));
}

/// Hunyuan-A13B gives its experts by layer: 80.4 billion weights, of which 13 are used.
TEST(Config, ListsWithOneNumberForAllLayersAreRead) {
  const auto list = [](int number) {
    std::string made;
    for (int layer = 0; layer < 32; ++layer) made += fmt::format("{}{}", layer ? "," : "", number);
    return made;
  };
  const auto hunyuan = parse_model(
      fmt::format(R"({{"model_type":"hunyuan_v1_moe","hidden_size":4096,"intermediate_size":3072,
          "num_attention_heads":32,"attention_head_dim":128,"num_key_value_heads":8,
          "num_hidden_layers":32,"vocab_size":128167,"tie_word_embeddings":true,"num_experts":64,
          "use_qk_norm":true,"moe_topk":[{}],"moe_intermediate_size":[{}],
          "num_shared_expert":[{}]}})",
                  list(8), list(3072), list(1)),
      "config.json");
  ASSERT_TRUE(hunyuan) << to_string(hunyuan.error());
  EXPECT_NEAR(hunyuan->weights() / 1e9, 80.4, 0.1);
  EXPECT_NEAR(hunyuan->active_weights() / 1e9, 13, 0.4);
}

/// StarCoder and Falcon share one key and value among all heads unless the file says otherwise.
TEST(Config, HeadsShareKeysAndValuesWhereTheModelTypeImpliesIt) {
  const auto kv_bytes = [](const std::string& fields) {
    const auto model = parse_model(R"({"n_embd":64,"n_layer":2,"n_head":4,"vocab_size":100,
        "n_positions":8,)" + fields + "}",
                                   "config.json");
    return model ? model->kv_bytes() : -1;
  };
  const double one_head = 2 * 2 * 16 * 2;  // layers, keys and values, size of a head, bytes
  for (const char* const type : {"gpt_bigcode", "falcon"}) {
    const std::string fields = fmt::format(R"("model_type":"{}")", type);
    EXPECT_EQ(kv_bytes(fields), one_head) << type;
    EXPECT_EQ(kv_bytes(fields + R"(,"multi_query":true)"), one_head) << type;
    EXPECT_EQ(kv_bytes(fields + R"(,"multi_query":false)"), 4 * one_head) << type;
  }
  EXPECT_EQ(kv_bytes(R"("model_type":"gpt2")"), 4 * one_head);
}

/// MPT keeps the fields of its attention in an object of their own.
TEST(Config, ObjectsOfFieldsAreReadOrRefusedByName) {
  const auto mpt = [](const std::string& attention) {
    return parse_model(R"({"model_type":"mpt","d_model":64,"n_layers":2,"n_heads":4,
        "vocab_size":100,"init_config":{"init_std":0.02},"auto_map":{"AutoConfig":"x"},
        "attn_config":{)" + attention +
                           "}}",
                       "config.json");
  };
  const auto plain = mpt(R"("attn_type":"multihead_attention","alibi":true,"clip_qkv":null)");
  ASSERT_TRUE(plain) << to_string(plain.error());
  EXPECT_EQ(plain->kv_bytes(), 2 * 2 * 64 * 2);
  EXPECT_THAT(to_string(mpt(R"("kv_n_heads":8)").error()),
              HasSubstr("attn_config.kv_n_heads: 8 is not supported"));
  EXPECT_THAT(to_string(mpt(R"("attn_type":"multiquery_attention")").error()),
              HasSubstr("attn_config.attn_type: \"multiquery_attention\" is not supported"));
  EXPECT_THAT(to_string(mpt(R"("qk_ln":true)").error()), HasSubstr("attn_config.qk_ln: true"));
  EXPECT_THAT(to_string(small(R"(,"attn_config":{"any":3})").error()),
              HasSubstr(R"(attn_config: {"any":3} is not supported)"));
  EXPECT_TRUE(small(R"(,"id2label":{"0":"a"},"rope_parameters":{"factor":8},"attn_config":{})"));
}

/// Hunyuan-Large lets two layers share keys and values; Hunyuan-A13B names the two and does not.
TEST(Config, LayersThatShareKeysAndValuesAreRefused) {
  EXPECT_TRUE(small(R"(,"use_cla":false,"cla_share_factor":2)"));
  EXPECT_THAT(to_string(small(R"(,"use_cla":true,"cla_share_factor":2)").error()),
              HasSubstr("use_cla: true is not supported"));
}

TEST(Config, AnUnknownTypeIsRefusedByName) {
  const auto refused = small(R"(,"model_type":"brand_new")");
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.error()), HasSubstr("model_type: \"brand_new\""));
}

TEST(Files, DescribeModelsAndBoardsOfAUser) {
  const auto model = parse_model_file(R"(aliases = ["mine"]
[config]
model_type = "llama"
num_hidden_layers = 4
hidden_size = 64
num_attention_heads = 4
intermediate_size = 128
vocab_size = 1000
)",
                                      "own.toml");
  ASSERT_TRUE(model) << to_string(model.error());
  EXPECT_EQ(model->name, "own");
  EXPECT_EQ(model->weights(), small("")->weights());
  EXPECT_THAT(to_string(parse_model_file("aliases = []", "own.toml").error()),
              HasSubstr("[config]"));
  EXPECT_THAT(to_string(parse_model_file("[config]\nmodel_type = \"x\"", "own.toml").error()),
              HasSubstr("own.toml: model_type: \"x\""));
  const std::string plain = "memory_bytes = 8e9\nbandwidth_gbs = 100\nbf16_tflops = 10\n";
  const auto board = parse_board(plain + "link_gbs = 7\nlinked_boards = 4\n", "folder/mine.toml");
  ASSERT_TRUE(board) << to_string(board.error());
  EXPECT_EQ(board->name, "mine");
  EXPECT_EQ(board->bandwidth, 100e9);
  EXPECT_EQ(board->linked_boards, 4);
  EXPECT_EQ(board->kernels_of, "h100");
  const std::string roomy = "memory_bytes = 9007199254740994\nbandwidth_gbs = 1\nbf16_tflops = 1\n";
  EXPECT_EQ(parse_board(roomy, "mine.toml")->memory_bytes, 9007199254740994) << "2^53 + 2";
  const auto measured = parse_board(
      plain + "[kernels]\nbf16 = {fixed_us = 3, bandwidth = 0.5, peak = 0.25}\n", "mine.toml");
  ASSERT_TRUE(measured) << to_string(measured.error());
  EXPECT_EQ(measured->kernel("fp8").peak, 0.25);
  EXPECT_EQ(measured->kernel("decode").bandwidth, 0.5);
  const auto refusal = [](const std::string& text) {
    return to_string(parse_board(text, "mine.toml").error());
  };
  EXPECT_THAT(refusal("bandwidth_gbs = 1\nbf16_tflops = 1\n"),
              HasSubstr("memory_bytes is missing"));
  EXPECT_THAT(refusal(plain + "bf16_tflop = 1\n"), HasSubstr("mine.toml:4"));
  EXPECT_THAT(refusal(plain + "link_gbs = -1\n"), HasSubstr("above 0"));
  EXPECT_THAT(refusal(plain + "kernels_of = \"x100\"\n"), HasSubstr("x100"));
  // No kernel is faster than the board.
  EXPECT_THAT(refusal(plain + "[kernels]\nbf16 = {bandwidth = 1.1, peak = 0.5}\n"),
              HasSubstr("at most 1"));
}

TEST(Config, WeightsTakeAsManyBytesAsTheyAreStoredIn) {
  const Model plain = *small("");
  const double linear = 4.0 * (4 * 64 * 64 + 3 * 64 * 128), other = plain.weights() - linear;
  const auto bytes = [&](const std::string& quantization) {
    const auto model = small(",\"quantization_config\":" + quantization);
    EXPECT_TRUE(model) << to_string(model.error());
    return (model->bytes() - 2 * other) / linear;
  };
  EXPECT_DOUBLE_EQ(plain.bytes(), 2 * plain.weights());
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method":"fp8"})"), 1);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method":"fp8","weight_block_size":[128,128]})"),
                   1 + 4.0 / 16384);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method":"awq","bits":4,"group_size":128})"), 0.5 + 2.5 / 128);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method":"gptq","bits":8,"group_size":-1})"), 1);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method":"modelopt","quant_algo":"NVFP4"})"), 0.5625);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method":"compressed-tensors","config_groups":{"group_0":{
      "weights":{"num_bits":8,"type":"float"},"input_activations":{"num_bits":8}}},
      "ignore":["lm_head"]})"),
                   1);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method":"bitsandbytes","load_in_4bit":true})"), 0.5625);
  // Attention of all layers is kept; then that of one of four.
  const double attention = 4.0 * 4 * 64 * 64 / linear;
  EXPECT_DOUBLE_EQ(
      bytes(R"({"quant_method":"fp8","modules_to_not_convert":["model.layers.*.self_attn"]})"),
      1 + attention);
  EXPECT_DOUBLE_EQ(bytes(R"({"quant_method":"fp8","ignored_layers":["model.layers.3.self_attn"]})"),
                   1 + attention / 4);
  EXPECT_EQ(small(R"(,"quantization_config":{"quant_method":"fp8"})")->dense.arithmetic,
            Arithmetic::fp8);
  EXPECT_EQ(small(R"(,"quantization_config":{"quant_method":"awq"})")->dense.arithmetic,
            Arithmetic::weights_only);
}

TEST(Config, TheQuantizationBesideItCounts) {
  TemporaryFolder folder;
  const std::string config = folder.write("config.json", R"({"model_type":"llama",
      "num_hidden_layers":4,"hidden_size":64,
      "num_attention_heads":4,"intermediate_size":128,"vocab_size":1000})");
  const double plain = read_model(config)->bytes();
  folder.write("hf_quant_config.json",
               R"({"quantization":{"quant_algo":"FP8","kv_cache_quant_algo":"FP8"}})");
  const auto narrow = read_model(config);
  ASSERT_TRUE(narrow) << to_string(narrow.error());
  EXPECT_LT(narrow->bytes(), plain);
  EXPECT_EQ(narrow->kv_number_bytes, 1);
}

}  // namespace
}  // namespace almanac::inference
