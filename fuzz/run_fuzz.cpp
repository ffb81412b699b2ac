// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as a file of a run's folder: each record is one, or refused with a message; what is
/// one says the same when it is written and read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "shepherd/record.h"

namespace {

using namespace almanac;

std::string text_of(const shepherd::Spec& spec) { return shepherd::to_json(spec).value(); }
template <typename Record>
std::string text_of(const Record& record) {
  return shepherd::to_json(record);
}

template <typename Record>
void check(std::string_view text) {
  const auto read = shepherd::parse_record<Record>(text);
  if (!read) {
    ALMANAC_CHECK(!read.error().message.empty(), "refused without a word");
    return;
  }
  const std::string written = text_of(*read);
  const auto again = shepherd::parse_record<Record>(written);
  ALMANAC_CHECK(again && text_of(*again) == written, "{}", written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check<shepherd::Identity>(text);
  check<shepherd::Started>(text);
  check<shepherd::Limits>(text);
  check<shepherd::Spec>(text);
  check<shepherd::Exit>(text);
  return 0;
}
