// SPDX-License-Identifier: Apache-2.0
#include "cli/value_check.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option_table.h"
#include "experiment/experiment.h"
#include "policy/registry.h"
#include "text/duration.h"
#include "text/human.h"
#include "text/number.h"
#include "text/time_zone.h"
#include "text/without_password.h"

namespace almanac::cli {
namespace {

std::string found_instead(std::string_view expected, const std::string& found) {
  return fmt::format("must be {}, found \"{}\"", expected, found);
}

/// The same of an address, which may hold a password.
std::string address_found_instead(std::string_view expected, const std::string& found) {
  return found_instead(expected, text::without_password(found));
}

/// "1024", but "100,000": a port or a count of GPUs is read without separators.
std::string shown(std::int64_t number) {
  constexpr std::int64_t kLong = 100'000;
  return std::abs(number) < kLong ? fmt::format("{}", number) : text::grouped(number);
}
std::string shown(double number) {
  const bool is_whole = number == std::floor(number) && std::abs(number) < 1e15;
  return is_whole ? shown(static_cast<std::int64_t>(number)) : fmt::format("{}", number);
}

/// "from 1 to 520"; "0 or more" without an upper bound.
template <typename Number>
std::string bounds(Number least, Number most) {
  using Limits = std::numeric_limits<Number>;
  const bool is_open =
      most == Limits::max() || (Limits::has_infinity && most == Limits::infinity());
  return is_open ? fmt::format("{} or more", shown(least))
                 : fmt::format("from {} to {}", shown(least), shown(most));
}

/// "a number from 0 to 1", "a number of 0 or more".
std::string joined(std::string_view noun, const std::string& within) {
  return fmt::format("{}{} {}", noun, within.starts_with("from") ? "" : " of", within);
}

/// What is wrong with one policy, or "".
std::string policy_problem(const std::string& text) {
  const std::string base = text.substr(0, text.find('+'));
  const bool is_file = base.ends_with(".toml") || base.find('/') != std::string::npos;
  const bool is_other_program = text == "-";
  if (is_file || is_other_program) return "";
  const auto composed = policy::registry().compose(text);
  return composed ? "" : to_string(composed.error());
}

bool is_port(const std::string& text) {
  constexpr std::int64_t kMostPort = 65535;
  const auto port = text::parse_whole(text);
  return port && *port >= 0 && *port <= kMostPort;
}

bool ends_with_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string::npos && is_port(text.substr(colon + 1));
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const std::string within = bounds(least, most);
  return {[=](std::string& text) -> std::string {
            const auto value = text::parse_whole(text);
            if (!value || *value < least || *value > most) {
              return found_instead(joined("a whole number", within), text);
            }
            text = std::to_string(*value);
            return "";
          },
          within};
}

CLI::Validator seed_number() { return whole_number(0, std::numeric_limits<std::int64_t>::max()); }

CLI::Validator number(double least, double most) {
  const std::string within = bounds(least, most);
  return {[=](std::string& text) -> std::string {
            const auto value = text::parse_decimal(text);
            const bool fits = value && *value >= least && *value <= most;
            return fits ? "" : found_instead(joined("a number", within), text);
          },
          within};
}

CLI::Validator positive_number() {
  return {[](std::string& text) -> std::string {
            const auto value = text::parse_decimal(text);
            return value && *value > 0 ? "" : found_instead("a number above 0", text);
          },
          "above 0"};
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  return {[words = std::move(words)](std::string& text) -> std::string {
            const bool is_known = std::find(words.begin(), words.end(), text) != words.end();
            return is_known ? "" : found_instead(either(words), text);
          },
          description};
}

CLI::Validator time_up_to(Duration most) {
  return {[most](std::string& text) -> std::string {
            const auto time = text::parse_duration(text);
            if (time && *time >= Duration{0} && *time <= most) return "";
            return found_instead(
                fmt::format("a time of at most {}, such as 1:30, 15:00 or 1-00:00:00",
                            text::format_duration(most)),
                text);
          },
          ""};
}

CLI::Validator zone_name() {
  return {[](std::string& text) -> std::string {
            const auto zone = text::TimeZone::find(text);
            return zone ? "" : to_string(zone.error());
          },
          ""};
}

CLI::Validator policy_name() {
  return {[](std::string& text) { return policy_problem(text); }, ""};
}

CLI::Validator policy_names() {
  return {[](std::string& text) -> std::string {
            if (text == "all" || text == "quick") return "";
            for (const std::string& each : experiment::parse_policies(text)) {
              if (std::string problem = policy_problem(each); !problem.empty()) return problem;
            }
            return "";
          },
          ""};
}

CLI::Validator listen_address() {
  return {[](std::string& text) -> std::string {
            const bool has_user = text.find('@') != std::string::npos;
            if (!has_user && (is_port(text) || ends_with_port(text))) return "";
            return address_found_instead(
                "ADDRESS:PORT, [ADDRESS]:PORT or PORT, with a PORT from 0 to 65535", text);
          },
          ""};
}

CLI::Validator host_and_port() {
  return {[](std::string& text) {
            return ends_with_port(text)
                       ? ""
                       : address_found_instead("HOST:PORT, with a PORT from 0 to 65535", text);
          },
          ""};
}

CLI::Validator slurm_way() {
  return {[](std::string& text) -> std::string {
            const bool is_rest = text.starts_with("unix:/") || text.starts_with("http://");
            if (text == "gateway" || text == "commands" || is_rest) return "";
            return address_found_instead("gateway, commands, unix:/path or http://host:port", text);
          },
          ""};
}

CLI::Validator service_url() {
  return {[](std::string& text) -> std::string {
            const bool is_url = text.starts_with("http://") || text.starts_with("https://");
            return is_url ? ""
                          : address_found_instead("http://HOST:PORT or https://HOST:PORT", text);
          },
          ""};
}

std::string problem_of(CLI::Option& option, std::string text) {
  for (int at = 0;; ++at) {
    const CLI::Validator* check = nullptr;
    try {
      check = option.get_validator(at);
    } catch (const CLI::OptionNotFound&) {
      return "";  // CLI11 does not say how many there are.
    }
    if (std::string problem = (*check)(text); !problem.empty()) return problem;
  }
}

}  // namespace almanac::cli
