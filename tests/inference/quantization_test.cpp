// SPDX-License-Identifier: Apache-2.0

/// \file
/// Bytes of quantized weights, and configurations that are refused.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inference/profile/model.h"

namespace almanac::inference {
namespace {

using testing::HasSubstr;

/// A small Llama with this quantization_config.
Result<Model> of_config(const std::string& quantization) {
  return parse_model(fmt::format(R"({{"model_type":"llama","num_hidden_layers":4,"hidden_size":64,
      "num_attention_heads":4,"intermediate_size":128,"vocab_size":1000,"quantization_config":{}}})",
                                 quantization),
                     "config.json");
}

/// A linear weight takes `bits` and its part of what a group shares: 2 bytes, and a zero point.
TEST(Quantization, QuantizedWeightsTakeTheirBitsAndScales) {
  const auto quantized = [](const std::string& fields) { return of_config("{" + fields + "}"); };
  const auto bytes = [&](const std::string& fields) { return quantized(fields)->dense.bytes; };
  EXPECT_DOUBLE_EQ(bytes(R"("quant_method":"awq","bits":4,"group_size":128)"), 0.5 + 2.5 / 128);
  EXPECT_DOUBLE_EQ(bytes(R"("quant_method":"gptq","bits":8,"group_size":-1)"), 1);
  EXPECT_DOUBLE_EQ(bytes(R"("quant_method":"gptq","bits":3,"group_size":32)"), 0.375 + 2.375 / 32);
  EXPECT_DOUBLE_EQ(bytes(R"("quant_method":"fp8","weight_block_size":[128,128])"),
                   1 + 4.0 / 16'384);
  EXPECT_DOUBLE_EQ(bytes(R"("quant_method":"bitsandbytes","load_in_8bit":true)"), 1);
  EXPECT_EQ(quantized(R"("quant_method":"fp8","kv_cache_scheme":{"num_bits":8})")->kv_number_bytes,
            1);

  const auto refusal = [&](const std::string& fields) {
    const auto read = quantized(fields);
    return read ? "it was read" : to_string(read.error());
  };
  EXPECT_THAT(refusal(R"("quant_method":"gptq","bits":"4")"),
              HasSubstr("bits: expected a whole number from -1 to 1,000,000, found \"4\""));
  EXPECT_THAT(refusal(R"("quant_method":"awq","bits":5)"),
              HasSubstr("5-bit quantization of weights"));
  EXPECT_THAT(refusal(R"("quant_method":"gptq","bits":64)"),
              HasSubstr("64-bit quantization of weights"));
  EXPECT_THAT(refusal(R"("quant_method":"gptq","bits":4,"group_size":-5)"),
              HasSubstr("group_size: expected"));
  EXPECT_THAT(refusal(R"("quant_method":"compressed-tensors","config_groups":{"a":
                         {"weights":{"num_bits":4,"group_size":0.01}}})"),
              HasSubstr("group_size: expected"));
  EXPECT_THAT(refusal(R"("quant_method":"fp8","weight_block_size":[0,0])"),
              HasSubstr("weight_block_size: expected two whole numbers of at least 1"));
  EXPECT_THAT(refusal(R"("quant_method":"bitsandbytes")"), HasSubstr("without load_in_4bit"));
  EXPECT_THAT(refusal(R"("quant_method":"bitsandbytes","load_in_4bit":"yes")"),
              HasSubstr("load_in_4bit: expected true or false, found \"yes\""));
  EXPECT_THAT(refusal(R"("quant_method":"fp8","modules_to_not_convert":"self_attn")"),
              HasSubstr("modules_to_not_convert: expected a list of modules"));
  EXPECT_THAT(refusal(R"("quant_method":"fp8","kv_cache_scheme":{"num_bits":4})"),
              HasSubstr("a KV cache of 4 bits"));
  EXPECT_THAT(refusal(R"("quant_algo":"FP8","kv_cache_quant_algo":"INT4")"),
              HasSubstr("kv_cache_quant_algo \"int4\""));
  EXPECT_THAT(to_string(of_config("\"awq\"").error()),
              HasSubstr("quantization_config: expected an object, found \"awq\""));
}

}  // namespace
}  // namespace almanac::inference
