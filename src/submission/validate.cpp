// SPDX-License-Identifier: Apache-2.0
#include "submission/validate.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/slices/board.h"
#include "process/resource_limits.h"
#include "store/ask.h"
#include "text/nearest.h"

namespace almanac::submission {
namespace {

using store::About;
using store::JobNumber;
using store::Submission;

/// What messages call attributes.
class Names {
 public:
  explicit Names(Naming naming) : naming_(naming) {}
  std::string of(const About& about) const {
    const bool as_option = naming_ == Naming::option && *about.option.name != '\0';
    return as_option ? fmt::format("--{}", about.option.name) : about.name;
  }
  template <typename T>
  std::string of(T Submission::*member) const {
    std::string found;
    store::each_ask([&]<typename U, typename Logged>(const store::Ask<U, Logged>& ask) {
      if constexpr (std::is_same_v<T, U>) {
        if (ask.member == member) found = of(static_cast<const About&>(ask));
      }
    });
    return found;
  }

 private:
  Naming naming_;
};

// What is wrong with the value of an attribute, which messages call `name`; "" = nothing.

template <typename T>
requires std::is_arithmetic_v<T> std::string fault_of(const About& about, const std::string& name,
                                                      T number) {
  const auto value = static_cast<double>(number);
  if (about.above_0 && !(value > 0 && value <= about.most)) {
    return std::isinf(about.most)
               ? fmt::format("{} must be more than 0", name)
               : fmt::format("{} must be more than 0 and at most {:g}", name, about.most);
  }
  if (value < 0) return fmt::format("{} must be 0 or more, not {:g}", name, value);
  if (value > about.most) {
    return fmt::format("{} must be at most {:g}, not {:g}", name, about.most, value);
  }
  return {};
}

std::string fault_of(const About& about, const std::string& name, Duration value) {
  return value == kNoDuration ? std::string() : fault_of(about, name, seconds(value));
}

std::string fault_of(const About&, const std::string&, Time) { return {}; }
std::string fault_of(const About&, const std::string&, trace::Requeue) { return {}; }

std::string fault_of(const About& about, const std::string& name, const std::string& text) {
  if (static_cast<double>(text.size()) > about.most) {
    return fmt::format("{} may have at most {} {}", name, about.most,
                       about.one_line ? "letters" : "bytes");
  }
  if (text.find('\0') != std::string::npos) return fmt::format("{} contains a zero byte", name);
  if (about.one_line &&
      std::any_of(text.begin(), text.end(), [](char c) { return c > 0 && c < ' '; })) {
    return fmt::format("{} contains a line break or another control character", name);
  }
  return {};
}

template <typename T>
std::string fault_of(const About& about, const std::string& name, const std::vector<T>& list) {
  if (static_cast<double>(list.size()) > about.most) {
    return fmt::format("{} may have at most {}{}, not {}", name, about.most,
                       std::is_same_v<T, JobNumber> ? " jobs" : "", list.size());
  }
  if constexpr (std::is_same_v<T, std::string>) {
    for (const std::string& each : list) {
      if (auto fault = fault_of(About{.name = about.name}, name, each); !fault.empty())
        return fault;
    }
  }
  return {};
}

template <typename T>
std::string fault_of(const About& about, const std::string& name, const std::optional<T>& value) {
  return value ? fault_of(about, name, *value) : std::string();
}

std::vector<std::string> known_profiles() {
  std::set<std::string> names;
  for (const slices::Board& board : slices::boards()) {
    for (const slices::Profile& each : board.profiles) names.insert(each.name);
  }
  return {names.begin(), names.end()};
}

auto invalid(std::string message, std::string hint = {}) {
  return fail(Code::invalid, std::move(message), {}, std::move(hint));
}

/// The first of `list` that is not NAME=value; null = all are.
const std::string* not_assigning(const std::vector<std::string>& list) {
  const auto found = std::find_if(list.begin(), list.end(), [](const std::string& each) {
    return each.find('=') == std::string::npos || each.front() == '=';
  });
  return found == list.end() ? nullptr : &*found;
}

Result<void> validate_command(const Submission& asked, const Names& names) {
  if (asked.argv.empty() && asked.script.empty()) {
    return invalid("there is nothing to run", "give argv or script");
  }
  if (asked.script.empty() && asked.argv.front().empty()) {
    return invalid("argv must begin with a command");
  }
  if (asked.directory.empty() || asked.directory.front() != '/') {
    return invalid(names.of(&Submission::directory) + " must be an absolute path");
  }
  for (const std::string& each : asked.parameters) {
    if (static_cast<double>(each.size()) > store::kLongestPath) {
      return invalid(
          fmt::format("each of parameters may have at most {} bytes", store::kLongestPath));
    }
  }
  if (const auto* const each = not_assigning(asked.parameters)) {
    return invalid(fmt::format("parameters must be name=value, not {}", each->substr(0, 40)));
  }
  if (const auto* const each = not_assigning(asked.environment)) {
    return invalid(fmt::format("environment must be NAME=value, not {}", each->substr(0, 40)));
  }
  if (const auto limits = process::read_resource_limits(asked.resource_limits); !limits) {
    return invalid(limits.error().message);
  }
  if (asked.warn_signal > SIGRTMAX || asked.warn_signal == SIGKILL ||
      asked.warn_signal == SIGSTOP) {
    return invalid(
        fmt::format("warn_signal must be the number of a signal that a program can handle, not {}",
                    asked.warn_signal));
  }
  if (!std::all_of(asked.key.begin(), asked.key.end(),
                   [](char c) { return c > ' ' && c <= '~'; })) {
    return invalid("key may have ASCII letters, digits and punctuation only");
  }
  return {};
}

Result<void> validate_gpus(const Submission& asked, const Names& names) {
  const std::string gpus = names.of(&Submission::gpus);
  const std::string most = names.of(&Submission::max_gpus);
  const std::string share = names.of(&Submission::gpu_share);
  const std::string profile = names.of(&Submission::gpu_profile);
  const std::string grouped = names.of(&Submission::nvlink_gpus);
  if (asked.max_gpus != 0 && asked.max_gpus < asked.gpus) {
    return invalid(fmt::format("{} must be {} or more, not {}", most, asked.gpus, asked.max_gpus));
  }
  if (asked.max_gpus > 0 && asked.gpus == 0) {
    return invalid(fmt::format("{} requires {} of 1 or more", most, gpus));
  }
  if (asked.min_gpus > (asked.max_gpus == 0 ? 0 : asked.gpus)) {
    return invalid(fmt::format("min_gpus requires {}, and must be at most {}", most, gpus));
  }
  if (asked.gpu_share < 1 && asked.gpus != 1) {
    return invalid(fmt::format("{} requires {} = 1", share, gpus));
  }
  if (asked.gpu_share < 1 && asked.max_gpus > 1) {
    return invalid(fmt::format("{} is a part of one GPU: a job of 1 to {} GPUs cannot have it",
                               share, asked.max_gpus));
  }
  if (asked.nvlink_gpus > 0) {
    if (asked.gpus == 0 || asked.gpus % asked.nvlink_gpus != 0) {
      return invalid(
          fmt::format("{} must be a multiple of {}, the GPUs that share an NVLink "
                      "domain: found {} in groups of {}",
                      gpus, grouped, asked.gpus, asked.nvlink_gpus));
    }
    if (!asked.gpu_profile.empty()) {
      return invalid(fmt::format("{} and {} exclude each other", grouped, profile));
    }
  }
  if (!asked.gpu_profile.empty()) {
    if (!slices::profile_id(asked.gpu_profile)) {
      return invalid(fmt::format("{} must be a MIG profile such as 1g.10gb, not {}", profile,
                                 asked.gpu_profile.substr(0, 40)),
                     text::meant_or_known(asked.gpu_profile, known_profiles()));
    }
    if (asked.gpus == 0) {
      return invalid(fmt::format("{} requires {}, the number of instances", profile, gpus));
    }
    if (asked.gpu_share < 1) {
      return invalid(fmt::format("{} is a whole instance: {} must be 1", profile, share));
    }
    if (asked.max_gpus > 0) {
      return invalid(fmt::format("{} and {} exclude each other", profile, most));
    }
  }
  if (asked.gpu_memory_gb && asked.gpus == 0) {
    return invalid(fmt::format("{} requires {}", names.of(&Submission::gpu_memory_gb), gpus));
  }
  // Less than a thousandth would round to nothing.
  constexpr double kLeast = 0.001;
  const double cpus = asked.cpus.value_or(1);
  const double memory_gb = asked.memory_gb.value_or(1);
  if (cpus < kLeast || memory_gb < kLeast || asked.gpu_share < kLeast) {
    return fail(Code::usage,
                fmt::format("expected {0} or more of cores, memory (GB) and GPU share, found "
                            "{1:g}, {2:g} and {3:g}",
                            kLeast, cpus, memory_gb, asked.gpu_share));
  }
  return {};
}

Result<void> validate_times(const Submission& asked, const Names& names) {
  if (asked.deadline != kNoTime && asked.not_before != kNoTime &&
      asked.not_before >= asked.deadline) {
    return invalid(fmt::format("{} must be earlier than {}", names.of(&Submission::not_before),
                               names.of(&Submission::deadline)));
  }
  if (asked.worthless_at == kNoTime) return {};
  if (asked.deadline == kNoTime || asked.worthless_at < asked.deadline) {
    return invalid(fmt::format("{} requires {}, and must not come before it",
                               names.of(&Submission::worthless_at),
                               names.of(&Submission::deadline)));
  }
  return {};
}

Result<void> validate_order(const Submission& asked, const Names& names) {
  for (const JobNumber each : asked.after_ok) {
    if (asked.after_one || std::find(asked.after_not_ok.begin(), asked.after_not_ok.end(), each) ==
                               asked.after_not_ok.end()) {
      continue;
    }
    return invalid(fmt::format("job {} cannot be in both {} and {}: it either succeeds or fails",
                               static_cast<std::int64_t>(each), names.of(&Submission::after_ok),
                               names.of(&Submission::after_not_ok)));
  }
  if (asked.after_one && asked.singleton) {
    return invalid("after_one and singleton exclude each other");
  }
  if (asked.pty && !asked.indices.empty()) {
    return invalid("pty and arrays exclude each other: the tasks of an array have no terminal");
  }
  const std::string indices = names.of(&Submission::indices);
  std::set<std::int32_t> distinct;
  for (const std::int32_t each : asked.indices) {
    if (each < 0) return invalid(fmt::format("{} must be 0 or more, not {}", indices, each));
    if (!distinct.insert(each).second) {
      return invalid(fmt::format("{} lists {} twice", indices, each));
    }
  }
  return {};
}

}  // namespace

Result<void> validate(const Submission& asked, Naming naming) {
  const Names names(naming);
  std::string fault;
  store::each_ask([&]<typename T, typename Logged>(const store::Ask<T, Logged>& ask) {
    if constexpr (!std::is_same_v<T, bool>) {
      if (fault.empty()) fault = fault_of(ask, names.of(ask), asked.*ask.member);
    }
  });
  if (!fault.empty()) return invalid(std::move(fault));
  return validate_command(asked, names)
      .and_then([&] { return validate_gpus(asked, names); })
      .and_then([&] { return validate_times(asked, names); })
      .and_then([&] { return validate_order(asked, names); });
}

}  // namespace almanac::submission
