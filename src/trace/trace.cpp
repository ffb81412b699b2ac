// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

#include <charconv>

#include "trace/job_id.h"

namespace almanac::trace {
namespace {

constexpr std::uint64_t kNamed = std::uint64_t{1} << 63;

}  // namespace

JobKey key_of(std::string_view id, Names& names) {
  std::uint64_t number = 0;
  const char* const end = id.data() + id.size();
  const auto [rest, error] = std::from_chars(id.data(), end, number);
  const bool canonical = id.size() == 1 || (!id.empty() && id.front() != '0');
  if (error == std::errc{} && rest == end && canonical && number < kNamed) return JobKey{number};
  return JobKey{kNamed | index(names.intern(id))};
}

JobKey Trace::key(std::string_view id) { return key_of(id, names); }

std::string id_of(JobKey key, const Names& names) {
  const auto bits = static_cast<std::uint64_t>(key);
  if ((bits & kNamed) == 0) return std::to_string(bits);
  return std::string(names[NameId{static_cast<std::uint32_t>(bits)}]);
}

std::string Trace::id(JobKey key) const { return id_of(key, names); }

}  // namespace almanac::trace
