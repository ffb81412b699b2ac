// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "store/ask.h"
#include "submission/apply.h"

namespace almanac::submission {
namespace {

using Text = std::string_view;

Result<void> set_cpus(Draft& draft, Text text) {
  draft.tasks.reset();
  draft.tasks_per_node.reset();
  draft.cpus_per_task.reset();
  draft.cpus_per_gpu.reset();
  return put(draft.asked.cpus, read_amount(text));
}

Result<void> set_own_memory(Draft& draft, Text text) {
  draft.memory_gb_per_cpu.reset();
  draft.memory_gb_per_gpu.reset();
  draft.memory_gb_per_node.reset();
  return put(draft.asked.memory_gb, read_memory(text, BareMemory::refused));
}

Result<void> set_grace(Draft& draft, Text text) {
  const auto grace = read_limit(text, Duration::zero());
  if (!grace) return tl::unexpected(grace.error());
  draft.asked.grace = *grace == kNoDuration ? Duration::zero() : *grace;
  return {};
}

Result<void> set_retries(Draft& draft, Text text) {
  return put(draft.asked.retries, read_count(text, 0));
}

Result<void> set_array(Draft& draft, Text text) {
  auto array = read_array(text);
  if (!array) return tl::unexpected(std::move(array.error()));
  draft.asked.indices = std::move(array->indices);
  draft.asked.at_once = array->at_once;
  return {};
}

Result<void> set_signal(Draft& draft, Text text) {
  auto signal = read_signal(text);
  if (!signal) return tl::unexpected(std::move(signal.error()));
  draft.asked.warn_signal = signal->number;
  draft.asked.warn_before = signal->before;
  draft.asked.warn_shell = signal->shell;
  return {};
}

Result<void> set_export(Draft& draft, Text text) {
  draft.asked.environment = exported(text, draft.asked.environment);
  return {};
}

Result<void> set_no_requeue(Draft& draft, Text) {
  draft.asked.requeue = trace::Requeue::no;
  return {};
}

Result<void> set_dependency(Draft& draft, Text text) {
  auto dependency = read_dependency(text);
  if (!dependency) return tl::unexpected(std::move(dependency.error()));
  draft.asked.after = std::move(dependency->after);
  draft.asked.after_ok = std::move(dependency->after_ok);
  draft.asked.after_not_ok = std::move(dependency->after_not_ok);
  draft.asked.after_start = std::move(dependency->after_start);
  draft.asked.after_one = dependency->one_suffices;
  draft.asked.singleton = dependency->singleton;
  return {};
}

/// Options that say more than the attribute that they are of, or that read otherwise than others of
/// its type.
constexpr std::pair<Text, Result<void> (*)(Draft&, Text)> kOwnWays[] = {
    {"gpus", set_gpus},     {"cpus", set_cpus},       {"mem", set_own_memory},
    {"grace", set_grace},   {"retries", set_retries}, {"array", set_array},
    {"signal", set_signal}, {"export", set_export}};

Result<double> read_number(const store::About& about, Text text) {
  if (about.unit == Text("GB")) return read_memory(text, BareMemory::refused);
  if (about.unit == Text("MB/s")) return read_rate(text);
  const auto amount = read_amount(text);
  if (std::isinf(about.most) || (amount && *amount <= about.most)) return amount;
  return fail(Code::invalid, fmt::format("a number above 0 and up to {:g}", about.most));
}

template <typename T>
auto read_as(const store::About& about, Text text, Time now) {
  if constexpr (std::is_same_v<T, std::string>) return read_text(text);
  if constexpr (std::is_integral_v<T>) return read_count(text, 1);
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) {
    return read_number(about, text);
  }
  if constexpr (std::is_same_v<T, Duration>) return read_limit(text, Duration::zero());
  if constexpr (std::is_same_v<T, Time>) return read_moment(text, now);
  if constexpr (std::is_same_v<T, std::vector<store::JobNumber>>) return read_jobs(text);
}

template <typename T, typename Logged>
Option option_of(const store::Ask<T, Logged>& ask) {
  std::string help = ask.what;
  if (*ask.option.note != '\0') help += fmt::format("; {}", ask.option.note);
  Option option{.name = ask.option.name,
                .letter = ask.option.letter,
                .value = ask.option.value,
                .help = std::move(help)};
  const auto own = std::find_if(std::begin(kOwnWays), std::end(kOwnWays),
                                [&](const auto& each) { return each.first == option.name; });
  if (own != std::end(kOwnWays)) {
    option.apply = own->second;
  } else if constexpr (std::is_same_v<T, trace::Requeue>) {
    option.argument = Argument::none;
    option.apply = [&ask](Draft& draft, Text) -> Result<void> {
      draft.asked.*ask.member = trace::Requeue::yes;
      return {};
    };
  } else if constexpr (std::is_same_v<T, bool>) {
    option.argument = Argument::none;
    option.apply = [&ask](Draft& draft, Text) -> Result<void> {
      draft.asked.*ask.member = true;
      return {};
    };
  } else if constexpr (!std::is_void_v<decltype(read_as<T>(ask, {}, {}))>) {
    option.apply = [&ask](Draft& draft, Text text) {
      return put(draft.asked.*ask.member, read_as<T>(ask, text, draft.now));
    };
  }
  ALMANAC_CHECK(option.apply, "--{}: nothing reads its type", option.name);
  return option;
}

}  // namespace

const std::vector<Option>& own_options() {
  static const std::vector<Option> options = [] {
    std::vector<Option> made;
    store::each_ask([&](const auto& ask) {
      if (ask.is_option()) made.push_back(option_of(ask));
    });
    made.push_back({.name = "no-requeue",
                    .argument = Argument::none,
                    .apply = set_no_requeue,
                    .help = "The job must not be stopped and run again; no policy preempts it"});
    made.push_back(
        {.name = "dependency",
         .letter = 'd',
         .apply = set_dependency,
         .value = "TYPE:JOB[:JOB],...",
         .help = "Dependencies in Slurm's syntax: afterok, afterany, afternotok, after (started) "
                 "and singleton; with commas all must be met, with ? one of them"});
    return made;
  }();
  return options;
}

}  // namespace almanac::submission
