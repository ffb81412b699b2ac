// SPDX-License-Identifier: Apache-2.0
#include "process/resource_limits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace almanac::process {
namespace {

constexpr std::array<std::pair<std::string_view, __rlimit_resource>, 10> kNames{
    {{"as", RLIMIT_AS},
     {"core", RLIMIT_CORE},
     {"cpu", RLIMIT_CPU},
     {"data", RLIMIT_DATA},
     {"fsize", RLIMIT_FSIZE},
     {"memlock", RLIMIT_MEMLOCK},
     {"nofile", RLIMIT_NOFILE},
     {"nproc", RLIMIT_NPROC},
     {"rss", RLIMIT_RSS},
     {"stack", RLIMIT_STACK}}};

constexpr std::string_view kUnlimited = "unlimited";

}  // namespace

std::vector<std::string> resource_limits() {
  std::vector<std::string> made;
  for (const auto& [name, resource] : kNames) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0) continue;
    made.push_back(limit.rlim_cur == RLIM_INFINITY
                       ? fmt::format("{}={}", name, kUnlimited)
                       : fmt::format("{}={}", name, std::uint64_t{limit.rlim_cur}));
  }
  return made;
}

Result<std::vector<ResourceLimit>> read_resource_limits(const std::vector<std::string>& texts) {
  std::vector<ResourceLimit> made;
  for (const std::string_view text : texts) {
    const auto equals = std::min(text.find('='), text.size());
    const std::string_view value = text.substr(std::min(equals + 1, text.size()));
    const auto found = std::find_if(kNames.begin(), kNames.end(), [&](const auto& each) {
      return each.first == text.substr(0, equals);
    });
    std::uint64_t soft = RLIM_INFINITY;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), soft);
    const bool is_number = read.ec == std::errc() && read.ptr == value.data() + value.size();
    if (found == kNames.end() || (!is_number && value != kUnlimited)) {
      return fail(
          Code::invalid,
          fmt::format("expected a limit such as nofile=1024 or core=unlimited, found {}", text));
    }
    const auto is_same = [&](const ResourceLimit& each) { return each.resource == found->second; };
    if (std::any_of(made.begin(), made.end(), is_same)) {
      return fail(Code::invalid, fmt::format("limit {} is given twice", found->first));
    }
    made.push_back({found->second, is_number ? soft : RLIM_INFINITY});
  }
  return made;
}

void limit_resources(const std::vector<ResourceLimit>& limits) {
  for (const ResourceLimit& each : limits) {
    rlimit limit{};
    if (::getrlimit(each.resource, &limit) != 0) continue;
    limit.rlim_cur = std::min(each.soft, limit.rlim_max);
    ::setrlimit(each.resource, &limit);
  }
}

void limit_processes(std::uint64_t most) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) != 0) return;
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, most);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  ::setrlimit(RLIMIT_NPROC, &limit);
}

}  // namespace almanac::process
