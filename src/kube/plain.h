// SPDX-License-Identifier: Apache-2.0

/// \file
/// Text of strangers, made safe to print: users write annotations, labels and messages.
#pragma once

#include <string>
#include <string_view>

namespace almanac::kube {

/// Returns `text` as valid UTF-8 on one line: control characters, which could steer a terminal,
/// become spaces. Cuts it after 500 bytes.
std::string plain(std::string_view text);

/// Whether some character of `text` could end a line or steer a terminal.
bool has_control(std::string_view text);

/// Returns `text` with its control characters replaced by spaces.
std::string without_control(std::string_view text);

}  // namespace almanac::kube
