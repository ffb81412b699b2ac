// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whatever comes as a submission is read or refused with a message; what is read says the same
/// when it is written and read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "serve/submission_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace almanac;
  const auto read = serve::read_submission({reinterpret_cast<const char*>(data), size});
  if (!read) {
    ALMANAC_CHECK(!read.error().message.empty(), "refused without a word");
    return 0;
  }
  const std::string written = serve::to_json(*read);
  const auto again = serve::read_submission(written);
  ALMANAC_CHECK(again && serve::to_json(*again) == written, "{}", written);
  return 0;
}
