// SPDX-License-Identifier: Apache-2.0

/// \file
/// Invents job names such as "resnet_detect_3f_v3".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace almanac::trace {

/// The name of version `version` of the recipe that `stem` stands for: the same stem gives names
/// that differ in the version only, as users number their attempts.
std::string job_name(std::uint64_t stem, std::int64_t version);
/// Same for a recipe that trains `model`.
std::string job_name(std::uint64_t stem, std::int64_t version, std::string_view model);
/// Same for a recipe without GPUs: "preprocess_text_3f_v3".
std::string cpu_job_name(std::uint64_t stem, std::int64_t version);

}  // namespace almanac::trace
