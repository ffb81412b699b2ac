// SPDX-License-Identifier: Apache-2.0

/// \file
/// The Content-Security-Policy of a page of one file: its own scripts and styles run, named by
/// their hashes, and nothing else does.
#pragma once

#include <string>
#include <string_view>

namespace almanac::serve {

std::string page_policy(std::string_view html);

}  // namespace almanac::serve
