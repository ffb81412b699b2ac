// SPDX-License-Identifier: Apache-2.0

/// \file
/// The storage of a checkpoint's weights according to its quantization_config.
#pragma once

#include <nlohmann/json.hpp>

#include "inference/profile/model.h"

namespace almanac::inference {

/// Sets the precisions of `model` and its KV cache from a quantization_config (or the quantization
/// of an hf_quant_config.json). Throws BadField for an unsupported method or module.
///
/// Source   the formats' definitions: blocks of fp8 with a 4-byte scale each; int4 in groups with a
///          2-byte scale and a zero point; MXFP4 32 numbers and NVFP4 16 numbers to a 1-byte scale.
void quantize(const nlohmann::json& config, Model& model);

}  // namespace almanac::inference
