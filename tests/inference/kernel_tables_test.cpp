// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/kernel_tables.h"

#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::inference {
namespace {

/// Two layers of 2 query heads and 1 for keys, of 64: queries, keys and values are 256 wide.
constexpr const char* kModel = R"({"model_type": "llama", "num_hidden_layers": 2,
  "hidden_size": 128, "num_attention_heads": 2, "num_key_value_heads": 1,
  "intermediate_size": 256, "vocab_size": 1024})";

class KernelTables : public testing::Test {
 protected:
  KernelTables() {
    // Outputs and inputs: of queries, keys and values; of the output; of gate and up; of down; of
    // the head.
    write("gemm",
          "gemm_dtype,m,n,k,latency\n"
          "bfloat16,1,256,128,0.01\nbfloat16,9,256,128,0.09\n"
          "bfloat16,1,128,128,0.02\nbfloat16,9,128,128,0.02\n"
          "bfloat16,1,512,128,0.03\nbfloat16,9,512,128,0.03\n"
          "bfloat16,1,128,256,0.04\nbfloat16,9,128,256,0.04\n"
          "bfloat16,1,1024,128,0.5\nbfloat16,9,1024,128,0.5\n");
    write("context_attention", fmt::format("{}{}", kAttention,
                                           "1,100,2,1,64,bfloat16,bfloat16,0,0,1\n"
                                           "1,200,2,1,64,bfloat16,bfloat16,0,0,4\n"));
    write("generation_attention", fmt::format("{}{}", kAttention,
                                              "1,1,2,1,64,bfloat16,bfloat16,99,0,0.1\n"
                                              "1,1,2,1,64,bfloat16,bfloat16,199,0,0.3\n"));
  }

  static constexpr const char* kAttention =
      "batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,kv_cache_dtype,step,"
      "window_size,latency\n";

  void write(const std::string& table, const std::string& text) const {
    folder_.write("own_" + table + ".csv", text);
  }
  Result<std::shared_ptr<const StepTime>> read(const Layout& layout = {}) const {
    return read_kernel_tables(prefix_, *parse_model(kModel, "own"), board_, layout, kNoEngine);
  }

  static constexpr Launch kNoEngine{0, 0, 0, 0, 1};
  TemporaryFolder folder_;
  std::string prefix_ = folder_ / "own";
  // So fast that elementwise kernels take their 3 us alone.
  Board board_{.name = "own", .bandwidth = 1e18, .bf16_flops = 1e18};
};

TEST_F(KernelTables, AddUpAStep) {
  const auto step = read();
  ASSERT_TRUE(step) << to_string(step.error());
  // A decode with 149 tokens before it: matrices 0.01 + 0.02 + 0.03 + 0.04, attention of 150 tokens
  // half way from 0.1 to 0.3, and three elementwise kernels, in two layers; input and head.
  EXPECT_NEAR((**step)({.decodes = 1, .context = 149}), 2 * (100 + 200 + 9) + 3 + 500, 1e-6);
  // Five tokens take 0.05 in the first matrix. The root of the time of prompt attention is half way
  // from 1 to 2 for 150 tokens: 2.25 ms. Of them 145 are in the cache, so 1 - (145 / 150)^2 of it
  // counts. Positions and the writing of KV are four elementwise kernels, times 1.1.
  const double attention = 2250 * (1 - 145.0 * 145 / (150 * 150));
  EXPECT_NEAR((**step)({.prefills = {{.done = 145, .fresh = 5, .prompt = 150}}}),
              2 * (140 + attention + 9 + 4 * 1.1 * 3) + 3 + 500, 1e-6);
  // A part of a prompt makes no token, so there is no head.
  EXPECT_NEAR((**step)({.prefills = {{.done = 145, .fresh = 5, .prompt = 151}}}),
              2 * (140 + attention + 9 + 4 * 1.1 * 3) + 3, 1e-6);
}

/// Two layers with the latent attention of DeepSeek-V3, of 8 heads, two of four experts and a
/// shared one.
TEST_F(KernelTables, AddUpLatentAttention) {
  const auto read_latent = [&](const char* query_rank) {
    const auto model = parse_model(
        fmt::format(R"({{"model_type": "deepseek_v3", "num_hidden_layers": 2, "hidden_size": 7168,
          "num_attention_heads": 8, "q_lora_rank": {}, "kv_lora_rank": 512,
          "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
          "n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1,
          "moe_intermediate_size": 64, "intermediate_size": 64, "first_k_dense_replace": 0,
          "vocab_size": 1024}})",
                    query_rank),
        "own");
    if (!model) throw std::runtime_error(to_string(model.error()));
    return read_kernel_tables(prefix_, *model, board_, {}, kNoEngine);
  };
  // Outputs and inputs: of the router; of gate and up; of down; of the head.
  std::string gemm = "gemm_dtype,m,n,k,latency\n";
  for (const int tokens : {1, 9}) {
    gemm += fmt::format(
        "bfloat16,{0},4,7168,0.01\nbfloat16,{0},128,7168,0.05\nbfloat16,{0},7168,64,0.06\n"
        "bfloat16,{0},1024,7168,0.5\n",
        tokens);
  }
  write("gemm", gemm);
  write("moe",
        "moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,"
        "distribution,latency\n"
        "bfloat16,1,7168,64,2,4,1,1,power_law_1.01,0.2\n"
        "bfloat16,9,7168,64,2,4,1,1,power_law_1.01,0.2\n"
        "bfloat16,1,7168,64,2,4,1,1,power_law_1.2,7\n");
  const std::string latent =
      "mla_dtype,kv_cache_dtype,gemm_type,num_heads,batch_size,isl,step,latency\n"
      "bfloat16,fp8,bfloat16,8,1,1,99,7\n";
  write("mla_context_module", latent +
                                  "bfloat16,bfloat16,bfloat16,8,1,100,0,1\n"
                                  "bfloat16,bfloat16,bfloat16,8,1,200,0,4\n");
  write("mla_generation_module", latent +
                                     "bfloat16,bfloat16,bfloat16,8,1,1,99,0.1\n"
                                     "bfloat16,bfloat16,bfloat16,8,1,1,199,0.3\n");
  const auto step = read_latent("1536");
  ASSERT_TRUE(step) << to_string(step.error());
  // Two norms, attention, and router and experts, which take longer than the shared expert.
  EXPECT_NEAR((**step)({.decodes = 1, .context = 149}), 2 * (6 + 200 + 210) + 3 + 500, 1e-4);
  // With prompts the shared expert counts: 50 + 60 and an elementwise kernel.
  const double attention = 2250 * (1 - 145.0 * 145 / (150 * 150));
  EXPECT_NEAR((**step)({.prefills = {{.done = 145, .fresh = 5, .prompt = 151}}}),
              2 * (6 + attention + 210 + 113) + 3, 1e-4);
  const auto other = read_latent("1024");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            "own has layers with attention that tables of kernels do not describe");
}

TEST_F(KernelTables, FindTheirPrefix) {
  EXPECT_EQ(find_kernel_tables(prefix_), prefix_);
  EXPECT_EQ(find_kernel_tables(prefix_ + "_gemm.csv"), prefix_);
  EXPECT_EQ(find_kernel_tables(prefix_ + "x"), "");
}

TEST_F(KernelTables, SayWhatTheyLack) {
  // Two GPUs have a query head each, and a sum that no table has.
  const auto divided = read({.gpus = 2});
  ASSERT_FALSE(divided);
  EXPECT_NE(to_string(divided.error()).find("custom_allreduce"), std::string::npos);
  write("custom_allreduce",
        "kernel_source,allreduce_dtype,num_gpus,message_size,latency,backend\n"
        "own,bfloat16,2,128,0.001,own_graph\n");
  const auto heads = read({.gpus = 2});
  ASSERT_FALSE(heads);
  EXPECT_NE(to_string(heads.error()).find("attention of 1 heads of 64"), std::string::npos);
  EXPECT_FALSE(read({.stages = 2}));
  // Between 1 and 4 heads lie the model's 2, but no size was measured with both.
  write("context_attention", fmt::format("{}{}", kAttention,
                                         "1,100,1,1,64,bfloat16,bfloat16,0,0,1\n"
                                         "2,200,4,1,64,bfloat16,bfloat16,0,0,4\n"));
  const auto between = read();
  ASSERT_FALSE(between);
  EXPECT_NE(to_string(between.error()).find("1 and 4 heads have no sizes in common"),
            std::string::npos);
  write("gemm", "gemm_dtype,m,n,k,latency\nbfloat16,1,256,128,no\n");
  const auto broken = read();
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where.line, 2);
}

}  // namespace
}  // namespace almanac::inference
