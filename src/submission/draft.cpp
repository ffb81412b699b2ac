// SPDX-License-Identifier: Apache-2.0
#include "submission/draft.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "text/nearest.h"

namespace almanac::submission {
namespace {

std::string spelled(const Option& option) { return fmt::format("--{}", option.name); }

/// The option of a long name, which may be cut short where that is clear; null = none.
const Option* find_long(const std::vector<Option>& options, std::string_view name) {
  const Option* found = nullptr;
  int candidates = 0;
  for (const Option& option : options) {
    if (option.name == name) return &option;
    if (name.empty() || !option.name.starts_with(name)) continue;
    found = &option;
    ++candidates;
  }
  return candidates == 1 ? found : nullptr;
}

const Option* find_letter(const std::vector<Option>& options, char letter) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Option& option) { return option.letter == letter; });
  return found == options.end() ? nullptr : &*found;
}

Error unknown(const std::string& word, const std::vector<Option>& options, const Where& where) {
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(spelled(option));
  std::string hint = text::did_you_mean(word.substr(0, word.find('=')), names);
  if (hint.empty()) hint = "see docs/guide/live.md for the options";
  return {Code::invalid, fmt::format("unknown option {}", word), where, std::move(hint)};
}

Result<void> apply(const Option& option, std::string_view argument, const Where& where,
                   Draft& draft) {
  if (option.apply == nullptr) {
    draft.notes.push_back(fmt::format("{} is not supported here{}{}", spelled(option),
                                      option.instead.empty() ? "" : ": ", option.instead));
    return {};
  }
  auto done = option.apply(draft, argument);
  if (done) return {};
  Error error = std::move(done.error());
  error.message =
      error.code == Code::invalid
          ? fmt::format("{} must be {}, found \"{}\"", spelled(option), error.message, argument)
          : fmt::format("{}={}: {}", spelled(option), argument, error.message);
  error.where = where;
  return tl::unexpected(std::move(error));
}

}  // namespace

Result<void> apply_words(const std::vector<std::string>& words, const std::vector<Option>& options,
                         const Where& where, Draft& draft) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word.size() < 2 || word[0] != '-' || word == "--") {
      return fail(Code::invalid, fmt::format("expected an option, found \"{}\"", word), where);
    }
    // The argument stands behind "=", behind the letter, or in the next word.
    const bool is_long = word[1] == '-';
    const std::size_t equals = is_long ? word.find('=') : std::string::npos;
    const Option* const option =
        is_long ? find_long(options, std::string_view(word).substr(
                                         2, equals == word.npos ? equals : equals - 2))
                : find_letter(options, word[1]);
    if (option == nullptr) return tl::unexpected(unknown(word, options, where));
    std::optional<std::string_view> argument;
    if (is_long && equals != std::string::npos) {
      argument = std::string_view(word).substr(equals + 1);
    } else if (!is_long && word.size() > 2) {
      argument = std::string_view(word).substr(2);
    } else if (option->argument == Argument::needed && at + 1 < words.size()) {
      argument = words[++at];
    }
    if (argument && option->argument == Argument::none) {
      return fail(Code::invalid,
                  fmt::format("{} takes no argument, found \"{}\"", spelled(*option), word), where);
    }
    if (!argument && option->argument == Argument::needed) {
      return fail(Code::invalid, fmt::format("{} requires an argument", spelled(*option)), where);
    }
    if (auto done = apply(*option, argument.value_or(""), where, draft); !done) return done;
  }
  return {};
}

void Draft::tell_as_slurm() {
  std::erase_if(asked.environment,
                [](const std::string& each) { return each.starts_with("SLURM_"); });
  const auto tell = [&](const char* name, const std::optional<std::int64_t>& value) {
    if (value) asked.environment.push_back(fmt::format("{}={}", name, *value));
  };
  std::optional<std::int64_t> all = tasks;
  if (!all && tasks_per_node) all = std::int64_t{*tasks_per_node} * nodes.value_or(1);
  tell("SLURM_NTASKS", all);
  tell("SLURM_NPROCS", all);
  tell("SLURM_NTASKS_PER_NODE", tasks_per_node);
  tell("SLURM_CPUS_PER_TASK", cpus_per_task);
  tell("SLURM_CPUS_PER_GPU", cpus_per_gpu);
  tell("SLURM_GPUS_PER_TASK", gpus_per_task);
}

Result<void> Draft::settle() {
  constexpr double kMost = 1e6;
  const double all_nodes = nodes.value_or(1);
  const double all_tasks = tasks ? *tasks : all_nodes * tasks_per_node.value_or(1);
  double gpus = asked.gpus;
  if (gpus_per_task) gpus = all_tasks * *gpus_per_task;
  if (gpus_per_node) gpus = all_nodes * *gpus_per_node;
  if (tasks || tasks_per_node || cpus_per_task) {
    asked.cpus = all_tasks * cpus_per_task.value_or(1);
  } else if (cpus_per_gpu) {
    asked.cpus = gpus * *cpus_per_gpu;
  }
  if (memory_gb_per_cpu) asked.memory_gb = *memory_gb_per_cpu * asked.cpus.value_or(1);
  if (memory_gb_per_gpu) asked.memory_gb = *memory_gb_per_gpu * gpus;
  if (memory_gb_per_node) asked.memory_gb = *memory_gb_per_node * all_nodes;
  // 0 comes from an amount per GPU without GPUs, or means "as much as there is": both are no
  // request.
  if (asked.cpus == 0) asked.cpus.reset();
  if (asked.memory_gb == 0) asked.memory_gb.reset();
  if (gpus > kMost || asked.cpus.value_or(0) > kMost || asked.memory_gb.value_or(0) > kMost) {
    return fail(Code::invalid,
                fmt::format("{} GPUs, {} cores and {} GB exceed the largest possible request", gpus,
                            asked.cpus.value_or(0), asked.memory_gb.value_or(0)));
  }
  if (all_nodes > 1 && gpus < all_nodes) {
    return fail(Code::invalid,
                fmt::format("--nodes={} with {} GPUs: a job on several nodes needs a GPU on each",
                            all_nodes, gpus));
  }
  if (segment_nodes && gpus > 0) {
    if (std::fmod(all_nodes, *segment_nodes) != 0) {
      return fail(Code::invalid,
                  fmt::format("--segment={} must divide --nodes={}", *segment_nodes, all_nodes));
    }
    asked.nvlink_gpus = static_cast<std::int32_t>(gpus / all_nodes * *segment_nodes);
  }
  // Who names a size wants one.
  if (!asked.gpu_profile.empty() && gpus == 0) gpus = 1;
  asked.gpus = static_cast<std::int32_t>(gpus);
  return {};
}

}  // namespace almanac::submission
