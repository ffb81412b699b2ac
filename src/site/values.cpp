// SPDX-License-Identifier: Apache-2.0
#include "site/values.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "cluster/slurm_words.h"
#include "text/datetime.h"
#include "text/duration.h"
#include "text/host_list.h"
#include "text/number.h"

namespace almanac::site {
namespace {

using cluster::in_lower_case;

std::string raw(const Record& record, const std::string& key) {
  return record.get(in_lower_case(key));
}

bool is_unlimited(const std::string& lower) {
  return lower == "unlimited" || lower == "infinite" || lower == "-1";
}

/// The factor of a suffix: 1024 for K, and so on; 0 for another letter.
double factor_of(char suffix) {
  constexpr std::string_view kSuffixes = "kmgtp";
  const auto at = kSuffixes.find(suffix);
  double factor = 1;
  if (at == std::string_view::npos) return 0;
  for (std::size_t step = 0; step <= at; ++step) factor *= 1024;
  return factor;
}

/// "16", "100G", "1.5T" in units of the resource; memory in MiB.
std::optional<double> amount_of(std::string_view text, bool is_memory) {
  double factor = 1;
  const std::string lower = in_lower_case(text);
  std::string_view digits = lower;
  if (!digits.empty()) {
    if (const double suffix = factor_of(digits.back()); suffix > 0) {
      factor = is_memory ? suffix / (1024.0 * 1024.0) : suffix;
      digits.remove_suffix(1);
    }
  }
  const auto value = text::parse_decimal(digits);
  if (!value) return std::nullopt;
  return *value * factor;
}

/// Calls `take(name, value)` for each item of "name=value,...".
template <typename Take>
void each_item(const Record& record, const std::string& key, Take&& take) {
  for (const std::string& item : list(record, key)) {
    const auto equals = item.find('=');
    if (equals == std::string::npos || equals == 0) {
      refuse(record, key, "a list like cpu=16,gres/gpu=8");
    }
    take(std::string_view(item).substr(0, equals), std::string_view(item).substr(equals + 1));
  }
}

}  // namespace

void refuse(const Record& record, const std::string& key, std::string_view expected) {
  throw BadValue{{Code::invalid,
                  fmt::format("{} must be {}, found \"{}\"", key, expected, raw(record, key)),
                  record.where_of(in_lower_case(key)),
                  "correct the line, or write the file again with Slurm's command"}};
}

std::string place_of(const Record& record, const std::string& key) {
  const Where& where = record.where_of(in_lower_case(key));
  if (where.file.empty()) return "";
  return where.line > 0 ? fmt::format("{}:{}: ", where.file, where.line) : where.file + ": ";
}

std::string word(const Record& record, const std::string& key) {
  std::string text = raw(record, key);
  const std::string lower = in_lower_case(text);
  return lower == "(null)" || lower == "n/a" || lower == "none" ? "" : text;
}

std::vector<std::string> list(const Record& record, const std::string& key) {
  const std::string text = word(record, key);
  if (in_lower_case(text) == "all") return {};
  return cluster::split_list(text);
}

bool truth(const Record& record, const std::string& key, bool missing) {
  const std::string lower = in_lower_case(word(record, key));
  if (lower.empty()) return missing;
  if (lower == "yes" || lower == "true" || lower == "1" || lower == "y") return true;
  if (lower == "no" || lower == "false" || lower == "0" || lower == "n") return false;
  refuse(record, key, "YES or NO");
}

std::int64_t whole(const Record& record, const std::string& key, std::int64_t missing) {
  const std::string text = word(record, key);
  if (text.empty() || is_unlimited(in_lower_case(text))) return missing;
  const auto value = amount_of(text, false);
  if (!value || *value < 0 || *value > 1e15) refuse(record, key, "a whole number of 0 or more");
  return static_cast<std::int64_t>(*value);
}

int whole_int(const Record& record, const std::string& key, int missing) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::min(whole(record, key, missing), kMost));
}

std::int64_t whole_up_to(const Record& record, const std::string& key, std::int64_t missing,
                         std::int64_t most) {
  const std::string text = word(record, key);
  if (text.empty()) return missing;
  const std::string lower = in_lower_case(text);
  if (lower == "unlimited" || lower == "infinite") return most;
  constexpr std::int64_t kMostOf16Bits = 65535;
  const bool is_in_k = most > kMostOf16Bits && lower.ends_with('k');
  const std::int64_t factor = is_in_k ? 1024 : 1;
  const auto value = text::parse_whole(std::string_view(text).substr(0, text.size() - is_in_k));
  if (!value || *value < 0 || *value > most / factor) {
    refuse(record, key, fmt::format("a whole number from 0 to {}", most));
  }
  return *value * factor;
}

std::int64_t limit(const Record& record, const std::string& key) {
  return whole(record, key, kNoLimit);
}

double decimal(const Record& record, const std::string& key, double missing) {
  const std::string text = word(record, key);
  if (text.empty()) return missing;
  const auto value = text::parse_decimal(text);
  if (!value) refuse(record, key, "a number");
  return *value;
}

Duration length(const Record& record, const std::string& key, Unit unit, Duration missing) {
  std::string text = word(record, key);
  if (text.empty()) return missing;
  if (is_unlimited(in_lower_case(text))) return text::kUnlimited;
  if (const auto blank = text.find(' '); blank != std::string::npos) {
    const std::string name = in_lower_case(text.substr(blank + 1));
    if (name.starts_with("sec")) unit = Unit::seconds;
    if (name.starts_with("min")) unit = Unit::minutes;
    text.resize(blank);
  }
  constexpr std::int64_t kMost = 1'000'000'000;
  if (const auto value = text::parse_whole(text); value && *value >= 0 && *value <= kMost) {
    return std::chrono::seconds(unit == Unit::minutes ? *value * 60 : *value);
  }
  const auto parsed = text::parse_duration(text);
  if (!parsed) refuse(record, key, "a time such as 1-12:00:00, 30 or UNLIMITED");
  return *parsed;
}

Time moment(const Record& record, const std::string& key) {
  const std::string text = word(record, key);
  if (text.empty() || text == "Unknown" || text == "0") return kNoTime;
  constexpr std::int64_t kMost = 1'000'000'000'000;
  if (const auto value = text::parse_whole(text); value && *value > 0 && *value <= kMost) {
    return Time(std::chrono::seconds(*value));
  }
  const auto parsed = text::parse_datetime(text);
  if (!parsed) refuse(record, key, "a time such as 2026-11-26T21:55:04");
  return *parsed;
}

std::vector<std::string> hosts(const Record& record, const std::string& key) {
  auto names = text::expand_hosts(word(record, key));
  if (!names) refuse(record, key, "a list of nodes such as n[01-08]");
  return std::move(*names);
}

int tres_index(std::vector<Tres>& table, std::string_view name, bool add) {
  const std::string lower = in_lower_case(name);
  const auto found = std::find_if(table.begin(), table.end(), [&](const Tres& each) {
    return in_lower_case(each.name) == lower;
  });
  if (found != table.end()) return static_cast<int>(found - table.begin());
  if (!add) return -1;
  table.push_back({.name = std::string(name)});
  return static_cast<int>(table.size() - 1);
}

TresCounts counts(const Record& record, const std::string& key, std::vector<Tres>& table) {
  TresCounts made;
  each_item(record, key, [&](std::string_view name, std::string_view value) {
    const int tres = tres_index(table, name, true);
    const auto amount = amount_of(value, tres == kMemory);
    if (!amount || std::abs(*amount) > 9e15) refuse(record, key, "a list like cpu=16,gres/gpu=8");
    if (*amount >= 0) made.push_back({static_cast<TresIndex>(tres), std::int64_t(*amount)});
  });
  std::sort(made.begin(), made.end(),
            [](const TresCount& a, const TresCount& b) { return a.tres < b.tres; });
  return made;
}

TresWeights weights(const Record& record, const std::string& key, const std::vector<Tres>& table,
                    std::vector<std::string>& unknown) {
  TresWeights made;
  std::vector<Tres> known = table;
  each_item(record, key, [&](std::string_view name, std::string_view value) {
    const int tres = tres_index(known, name, false);
    if (tres < 0) {
      unknown.push_back(fmt::format(
          "{} names {}, which AccountingStorageTRES does not: Slurm ignores it", key, name));
      return;
    }
    // "0.25G" is a weight for each GiB, "2" one for each MiB.
    double unit = 1;
    const std::string lower = in_lower_case(value);
    std::string_view digits = lower;
    if (const double factor = digits.empty() ? 0 : factor_of(digits.back()); factor > 0) {
      unit = tres == kMemory ? factor / (1024.0 * 1024.0) : factor;
      digits.remove_suffix(1);
    }
    const auto weight = text::parse_decimal(digits);
    if (!weight) refuse(record, key, "weights like CPU=1.0,Mem=0.25G,GRES/gpu=4");
    made.push_back({static_cast<TresIndex>(tres), *weight / unit});
  });
  std::sort(made.begin(), made.end(),
            [](const TresWeight& a, const TresWeight& b) { return a.tres < b.tres; });
  return made;
}

}  // namespace almanac::site
