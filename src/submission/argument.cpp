// SPDX-License-Identifier: Apache-2.0
#include "submission/argument.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "text/duration.h"
#include "text/number.h"

namespace almanac::submission {
namespace {

constexpr std::int32_t kMostCount = 1'000'000;
constexpr std::int64_t kMostIndex = 4'000'000;  // as in Slurm
constexpr std::size_t kMostTasks = 100'000;

auto expected(std::string what) { return fail(Code::invalid, std::move(what)); }

/// Digits only, up to `most`.
std::optional<std::int64_t> number(std::string_view text, std::int64_t most) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  const auto value = text::parse_whole(text);
  return value && *value <= most ? value : std::nullopt;
}

/// Adds "5", "0-15" or "0-15:4"; false = it is neither, or more than there may be.
bool add_range(std::string_view text, std::set<std::int32_t>& indices) {
  std::int64_t step = 1;
  if (const auto colon = text.find(':'); colon != text.npos) {
    const auto given = number(text.substr(colon + 1), kMostIndex);
    if (!given || *given == 0 || text.find('-') == text.npos) return false;
    step = *given;
    text = text.substr(0, colon);
  }
  const auto dash = text.find('-');
  const auto from = number(text.substr(0, dash), kMostIndex);
  const auto to = dash == text.npos ? from : number(text.substr(dash + 1), kMostIndex);
  if (!from || !to || *to < *from) return false;
  if (static_cast<std::size_t>((*to - *from) / step) >= kMostTasks) return false;
  for (std::int64_t index = *from; index <= *to; index += step) {
    indices.insert(static_cast<std::int32_t>(index));
  }
  return indices.size() <= kMostTasks;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Result<std::int32_t> read_count(std::string_view text, std::int32_t least) {
  const auto value = number(text, kMostCount);
  if (value && *value >= least) return static_cast<std::int32_t>(*value);
  return expected(fmt::format("a whole number from {} to {}", least, kMostCount));
}

Result<double> read_amount(std::string_view text) {
  const auto value = text::parse_decimal(text);
  if (value && *value > 0 && *value <= kMostCount) return *value;
  return expected(fmt::format("a number above 0 and up to {}", kMostCount));
}

Result<Duration> read_limit(std::string_view text, Duration bare) {
  if (bare > Duration::zero()) {
    if (const auto count = number(text, kMostCount)) {
      return *count == 0 ? kNoDuration : Duration(*count * bare);
    }
  }
  const auto length = text::parse_duration(text);
  if (!length) {
    return expected(bare > Duration::zero()
                        ? "minutes, minutes:seconds or [days-]hours:minutes:seconds"
                        : "[days-]hours:minutes:seconds, or 90s, 10m, 2h");
  }
  return *length == text::kUnlimited || *length == Duration::zero() ? kNoDuration : *length;
}

Result<double> read_memory(std::string_view text, BareMemory bare) {
  constexpr std::string_view kUnits = "KMGTP";
  std::string_view digits = text;
  if (digits.ends_with('B') || digits.ends_with('b')) digits.remove_suffix(1);
  double gb = 1.0 / 1024;
  if (!digits.empty()) {
    const auto unit = kUnits.find(static_cast<char>(digits.back() & ~0x20));
    if (unit != kUnits.npos) {
      digits.remove_suffix(1);
      gb = 1.0 / 1024 / 1024;
      for (std::size_t i = 0; i < unit; ++i) gb *= 1024;
    } else if (digits.size() != text.size() || bare == BareMemory::refused) {
      digits = {};  // "12B", "12"
    }
  }
  const auto value = text::parse_decimal(digits);
  if (value && *value >= 0 && *value * gb <= kMostCount) return *value * gb;
  return expected("an amount of memory, such as 32G or 1500M");
}

Result<double> read_rate(std::string_view text) {
  const auto gb = read_memory(text, BareMemory::refused);
  if (gb && *gb > 0) return *gb * 1024;
  return expected("an amount per second, such as 200M or 1.5G");
}

Result<Array> read_array(std::string_view text) {
  Array array;
  const auto wrong = [] {
    return expected(fmt::format(
        "a list of tasks, such as 0-15, 1,3,5-7, 0-15:4 or 0-9%3, at most {}", kMostTasks));
  };
  if (const auto percent = text.find('%'); percent != text.npos) {
    const auto at_once = number(text.substr(percent + 1), kMostCount);
    if (!at_once) return wrong();
    array.at_once = static_cast<std::int32_t>(*at_once);
    text = text.substr(0, percent);
  }
  std::set<std::int32_t> indices;
  for (const std::string_view part : split(text, ',')) {
    if (!add_range(part, indices)) return wrong();
  }
  array.indices.assign(indices.begin(), indices.end());
  return array;
}

Result<Gpus> read_gpus(std::string_view text) {
  Gpus gpus;
  if (const auto colon = text.find(':'); colon != text.npos) {
    gpus.type = text.substr(0, colon);
    text = text.substr(colon + 1);
    if (gpus.type.empty()) return expected("a number of GPUs, such as 2 or a100:2");
  }
  if (const auto dots = text.find(".."); dots != text.npos) {
    const auto least = number(text.substr(0, dots), kMostCount);
    const auto most = number(text.substr(dots + 2), kMostCount);
    if (!least || !most || *least == 0 || *most < *least) {
      return expected("a range such as 1..8 (up to 8 GPUs) or 2..8 (at least two)");
    }
    gpus.most = static_cast<std::int32_t>(*most);
    text = text.substr(0, dots);
  }
  const auto count = number(text, kMostCount);
  if (!count) return expected("a number of GPUs, such as 2 or a100:2");
  gpus.count = static_cast<std::int32_t>(*count);
  return gpus;
}

Result<Signal> read_signal(std::string_view text) {
  constexpr const char* kExpected = "a signal, such as USR1, USR1@300 or B:USR1@300";
  constexpr std::int64_t kLongest_s = 65'535;  // as in Slurm
  Signal made;
  if (text.starts_with("R:")) text.remove_prefix(2);
  if (text.starts_with("B:") || text.starts_with("BR:") || text.starts_with("RB:")) {
    made.shell = true;
    text.remove_prefix(text.find(':') + 1);
  }
  const auto at = text.find('@');
  if (at != text.npos) {
    const auto before = number(text.substr(at + 1), kLongest_s);
    if (!before) return expected(kExpected);
    made.before = std::chrono::seconds(*before);
    text = text.substr(0, at);
  }
  if (const auto told = number(text, SIGRTMAX)) {
    made.number = static_cast<std::int32_t>(*told);
  } else {
    const std::string name(text.starts_with("SIG") ? text.substr(3) : text);
    for (int each = 1; each < NSIG; ++each) {
      const char* const known = ::sigabbrev_np(each);
      if (known != nullptr && name == known) made.number = each;
    }
  }
  if (made.number <= 0 || made.number == SIGKILL || made.number == SIGSTOP) {
    return expected(kExpected);
  }
  return made;
}

Result<std::vector<store::JobNumber>> read_jobs(std::string_view text) {
  std::vector<store::JobNumber> jobs;
  const char separator = text.find(':') == text.npos ? ',' : ':';
  for (const std::string_view part : split(text, separator)) {
    const auto job = number(part, std::numeric_limits<std::int64_t>::max());
    if (!job || *job == 0) return expected("job numbers, such as 12 or 12:13");
    jobs.push_back(store::JobNumber{*job});
  }
  return jobs;
}

Result<Dependency> read_dependency(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::vector<store::JobNumber> Dependency::*>, 4>
      kKinds{{{"after", &Dependency::after_start},
              {"afterany", &Dependency::after},
              {"afterok", &Dependency::after_ok},
              {"afternotok", &Dependency::after_not_ok}}};
  constexpr const char* kKnown = "known: after, afterany, afterok, afternotok, singleton";
  Dependency dependency;
  dependency.one_suffices = text.find('?') != text.npos;
  if (dependency.one_suffices && text.find(',') != text.npos) {
    return expected("separated either by commas (all of them) or by question marks (any of them)");
  }
  for (const std::string_view part : split(text, dependency.one_suffices ? '?' : ',')) {
    const auto colon = part.find(':');
    const std::string_view word = part.substr(0, colon);
    if (part == "singleton") {
      if (dependency.one_suffices) {
        return fail(Code::unsupported, "singleton is combined with others by commas only");
      }
      dependency.singleton = true;
      continue;
    }
    if (word == "aftercorr" || word == "afterburstbuffer") {
      return fail(Code::unsupported, "is not supported here", {}, kKnown);
    }
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const auto& each) { return each.first == word; });
    if (kind == kKinds.end() || colon == part.npos) {
      return expected("afterok:12:13, afterany:12, afternotok:12, after:12 or singleton");
    }
    if (part.find('+') != part.npos) {
      return fail(Code::unsupported, "a delay after another job's start is not supported");
    }
    if (part.find('_') != part.npos) {
      return fail(Code::unsupported, "a task of an array is given by its own number here", {},
                  "almanac show 12_3 -o json prints it as `number`");
    }
    auto jobs = read_jobs(part.substr(colon + 1));
    if (!jobs) {
      return expected(fmt::format("{0} with job numbers, such as {0}:12 or {0}:12:13", word));
    }
    auto& those = dependency.*kind->second;
    those.insert(those.end(), jobs->begin(), jobs->end());
  }
  return dependency;
}

std::vector<std::string> exported(std::string_view text,
                                  const std::vector<std::string>& environment) {
  constexpr std::array<std::string_view, 5> kNeeded{"HOME", "LOGNAME", "PATH", "SHELL", "USER"};
  const auto parts = split(text, ',');
  const auto says = [&](std::string_view word) {
    return std::find(parts.begin(), parts.end(), word) != parts.end();
  };
  const bool all = says("ALL") || text.empty();
  std::vector<std::string> given;
  for (const std::string_view part : parts) {
    if (part.find('=') != part.npos) given.emplace_back(part);
  }
  const auto name_of = [](std::string_view line) { return line.substr(0, line.find('=')); };
  std::vector<std::string> kept;
  for (const std::string& line : environment) {
    const std::string_view name = name_of(line);
    const bool again = std::any_of(given.begin(), given.end(),
                                   [&](const auto& other) { return name_of(other) == name; });
    const bool needed = std::find(kNeeded.begin(), kNeeded.end(), name) != kNeeded.end();
    if (!again && (all || needed || says(name))) kept.push_back(line);
  }
  kept.insert(kept.end(), given.begin(), given.end());
  return kept;
}

}  // namespace almanac::submission
