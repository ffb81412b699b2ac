// SPDX-License-Identifier: Apache-2.0
#include "profiling/progress.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "text/nearest.h"
#include "text/number.h"

namespace almanac::profiling {
namespace {

constexpr std::array kGroups{"step", "samples", "rate", "step_s", "sample_rate"};
/// Beyond this a count is no count.
constexpr double kMost = 1e15;
constexpr double kLeastRate = 1e-9;

/// RE2 knows Python's (?P<name>), others write (?<name>.
std::string as_re2(std::string_view pattern) {
  std::string made;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    made += pattern[at];
    const bool escaped = pattern[at] == '\\' && at + 1 < pattern.size();
    if (escaped) made += pattern[++at];
    if (escaped || !pattern.substr(at).starts_with("(?<") || at + 3 >= pattern.size()) continue;
    if (std::isalpha(static_cast<unsigned char>(pattern[at + 3])) == 0) continue;
    made += "?P";
    ++at;
  }
  return made;
}

std::optional<Progress> progress_of(std::string_view group, double value) {
  if (!(value >= 0) || value > kMost) return std::nullopt;
  if (group == "step") return Progress{.told = Told::steps, .value = value};
  if (group == "samples") return Progress{.told = Told::samples, .value = value};
  const bool inverse = group == "step_s";
  if (value < kLeastRate) return std::nullopt;
  return Progress{.told = group == "sample_rate" ? Told::samples_a_second : Told::steps_a_second,
                  .value = inverse ? 1 / value : value};
}

}  // namespace

struct ProgressReader::Pattern {
  std::string_view name;
  re2::RE2 expression;
  std::vector<std::pair<std::string, std::size_t>> groups{};  ///< That are known, and where.
  std::size_t total = 0;                                      ///< 0 = there is no such group.

  Pattern(std::string_view called, const std::string& text)
      : name(called), expression(text, [] {
          re2::RE2::Options options;
          options.set_log_errors(false);
          return options;
        }()) {}
};

ProgressReader::ProgressReader() = default;
ProgressReader::ProgressReader(ProgressReader&&) noexcept = default;
ProgressReader& ProgressReader::operator=(ProgressReader&&) noexcept = default;
ProgressReader::~ProgressReader() = default;

Result<void> ProgressReader::add(std::string_view name, const std::string& pattern) {
  auto made = std::make_unique<Pattern>(name, as_re2(pattern));
  if (!made->expression.ok()) {
    return fail(
        Code::usage,
        fmt::format("\"{}\" is not a regular expression: {}", pattern, made->expression.error()),
        {}, "use the syntax of RE2");
  }
  for (const auto& [group, place] : made->expression.NamedCapturingGroups()) {
    const auto at = static_cast<std::size_t>(place);
    if (group == "total") made->total = at;
    const bool known = std::find(kGroups.begin(), kGroups.end(), group) != kGroups.end();
    if (known) made->groups.emplace_back(group, at);
  }
  if (made->groups.empty()) {
    return fail(Code::usage,
                fmt::format("\"{}\" has no named group {}", pattern, fmt::join(kGroups, ", ")), {},
                "for example --progress 'step (?P<step>[0-9]+)'");
  }
  patterns_.push_back(std::move(made));
  return {};
}

Result<ProgressReader> ProgressReader::create(const std::string& how) {
  ProgressReader reader;
  std::vector<std::string> names{"auto"};
  for (const ProgressPreset& preset : progress_presets()) {
    names.emplace_back(preset.name);
    if (how != "auto" && how != preset.name) continue;
    for (const std::string_view pattern : preset.patterns) {
      if (const auto added = reader.add(preset.name, std::string(pattern)); !added) {
        return tl::unexpected(added.error());
      }
    }
  }
  if (!reader.patterns_.empty()) return reader;
  const auto added = reader.add("pattern", how);
  if (added) return reader;
  const bool a_word =
      std::all_of(how.begin(), how.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  if (!a_word) return tl::unexpected(added.error());
  const std::string meant = text::did_you_mean(how, names);
  return fail(Code::usage, fmt::format("no progress lines are named \"{}\"", how), {},
              meant.empty() ? fmt::format("known: {}; or a regular expression with a named group",
                                          fmt::join(names, ", "))
                            : meant);
}

std::optional<Progress> ProgressReader::read(std::string_view line) const {
  const re2::StringPiece text(line.data(), line.size());
  for (std::size_t at = 0; at < patterns_.size(); ++at) {
    const Pattern& pattern = *patterns_[at];
    std::vector<re2::StringPiece> found(
        static_cast<std::size_t>(pattern.expression.NumberOfCapturingGroups()) + 1);
    if (!pattern.expression.Match(text, 0, text.size(), re2::RE2::UNANCHORED, found.data(),
                                  static_cast<int>(found.size()))) {
      continue;
    }
    const auto number = [&](std::size_t group) {
      return text::parse_decimal({found[group].data(), found[group].size()});
    };
    for (const auto& [group, place] : pattern.groups) {
      const auto value = number(place);
      auto progress = value ? progress_of(group, *value) : std::nullopt;
      if (!progress) continue;
      progress->pattern = at;
      if (pattern.total > 0) progress->total = number(pattern.total).value_or(0);
      return progress;
    }
  }
  return std::nullopt;
}

std::string_view ProgressReader::name(std::size_t pattern) const {
  return patterns_.at(pattern)->name;
}

}  // namespace almanac::profiling
