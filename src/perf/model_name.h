// SPDX-License-Identifier: Apache-2.0

/// \file
/// Canonical model names across sources.
#pragma once

#include <string>
#include <string_view>

namespace almanac::perf {

/// "res18" and "ResNet-18" are "resnet-18"; a name that is not known is itself in lower case.
std::string model_name(std::string_view published);

/// Returns the domain of the model: "image", "language", "speech", "recommendation", "games"; "" if
/// unknown.
std::string_view kind_of(std::string_view model);

/// Without what people vary when they write a name: "ResNet-50_v2" is "resnet50v2".
std::string bare_name(std::string_view name);

/// Whether `longer` contains `name`, both bare, without a digit after it: "a100" does not contain
/// "a10". False for an empty name.
bool contains(const std::string& longer, const std::string& name);

/// Whether a cluster means GPUs of `type`: "Tesla V100-SXM2" are V100.
inline bool is_type(std::string_view said, std::string_view type) {
  return contains(bare_name(said), bare_name(type));
}

}  // namespace almanac::perf
