// SPDX-License-Identifier: Apache-2.0

/// \file
/// Addresses for messages and logs, without what only their owner may read.
#pragma once

#include <string>
#include <string_view>

namespace almanac::text {

/// Returns "https://***@head:8443" for "https://ann:secret@head:8443", and "***@0.0.0.0:80" for
/// "ann:secret@0.0.0.0:80": what stands before the last @. A path without a scheme stays as it is.
std::string without_password(std::string_view address);

/// Does the same for each word of a message: 'found "https://***@head"'. Of an address without a
/// scheme only "ann:secret@head" counts, so a mail address stays as it is.
std::string without_passwords(std::string_view message);

}  // namespace almanac::text
