// SPDX-License-Identifier: Apache-2.0

/// \file
/// How a checkpoint's weights are stored, as its quantization_config says.
#pragma once

#include <nlohmann/json.hpp>

#include "inference/profile/model.h"

namespace almanac::inference {

/// Sets the precisions of `model` and its KV cache as a quantization_config (or the quantization of
/// a hf_quant_config.json) has them. Throws BadField for a method or module that is not understood.
///
/// Source   the formats' definitions: blocks of fp8 with a 4-byte scale each; int4 in groups with a
///          2-byte scale and a zero point; MXFP4 32 numbers and NVFP4 16 numbers to a 1-byte scale.
void quantize(const nlohmann::json& config, Model& model);

}  // namespace almanac::inference
