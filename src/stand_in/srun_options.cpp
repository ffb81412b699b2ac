// SPDX-License-Identifier: Apache-2.0
#include "stand_in/srun_options.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "submission/argument.h"
#include "submission/draft.h"
#include "text/nearest.h"

namespace almanac::stand_in {
namespace {

using Text = std::string_view;
using submission::Argument;

/// What is read while words are.
struct Reading {
  Step step{};
  int fewest_nodes = 1;
  std::optional<int> most_nodes{};
  std::optional<int> tasks{};
  std::optional<int> tasks_per_node{};
  std::optional<int> gpus_per_task{};
};

struct Choice {
  Text name;
  char letter = '\0';
  Argument argument = Argument::needed;
  std::function<Result<void>(Reading&, Text)> apply{};  ///< Empty = a note says it is not done.
};

auto expected(std::string what) { return fail(Code::invalid, std::move(what)); }
auto not_done(std::string why, std::string hint = {}) {
  return fail(Code::unsupported, std::move(why), {}, std::move(hint));
}

template <typename Field>
Result<void> count(Field& field, Text text) {
  const auto read = submission::read_count(text, 1);
  if (!read) return tl::unexpected(read.error());
  field = *read;
  return {};
}

Result<void> set_nodes(Reading& reading, Text text) {
  const std::size_t dash = text.find('-');
  const auto least = submission::read_count(text.substr(0, dash), 1);
  const auto most = dash == text.npos ? least : submission::read_count(text.substr(dash + 1), 1);
  if (!least || !most) return expected("a number of nodes, such as 1");
  reading.fewest_nodes = *least;
  reading.most_nodes = *most;
  return {};
}

/// "2", "a100:2", "gpu:2", "gpu:a100:2", "none".
Result<void> set_gpus(Reading& reading, Text text) {
  if (text == "none") {
    reading.step.gpus = 0;
    return {};
  }
  if (text.starts_with("gres/")) text.remove_prefix(5);
  if (text.starts_with("gpu:")) text.remove_prefix(4);
  text = text == "gpu" ? "1" : text.substr(text.rfind(':') + 1);
  const auto read = submission::read_count(text, 0);
  if (!read) return expected("GPUs, such as 2, a100:2 or gpu:2");
  reading.step.gpus = *read;
  return {};
}

/// "none", "closest", "single:1", "per_task:2", "map_gpu:0,1".
Result<void> set_gpu_bind(Reading& reading, Text text) {
  if (text.starts_with("verbose,")) text.remove_prefix(8);
  const Text kind = text.substr(0, text.find(':'));
  const Text rest = text.substr(std::min(text.size(), kind.size() + 1));
  if (kind == "none" || kind == "closest") {
    reading.step.gpu_view = GpuView::all;
    return {};
  }
  if (kind == "per_task") {
    return count(reading.gpus_per_task, rest);
  }
  if (kind == "single" && (rest.empty() || rest == "1")) {
    reading.gpus_per_task = 1;
    return {};
  }
  if (kind == "map_gpu") {
    reading.step.gpu_view = GpuView::mapped;
    reading.step.gpu_map.clear();
    for (const Text part : submission::split(rest, ',')) {
      const auto place = submission::read_count(part, 0);
      if (!place) return expected("map_gpu:0,1");
      reading.step.gpu_map.push_back(*place);
    }
    return {};
  }
  return not_done("only none, closest, single:1, per_task:N and map_gpu:0,1 are");
}

Result<void> set_mpi(Reading& reading, Text text) {
  if (text == "none") return {};
  if (text == "list") return not_done("only none");
  // One task is a program of one process, whatever the library would be told.
  reading.step.notes.emplace_back("MPI");
  return {};
}

Result<void> set_text(std::string& field, Text text) {
  if (text.empty()) return expected("a text");
  field = text;
  return {};
}

Result<void> set_multi_prog(Reading&, Text) {
  return not_done("several programs in one step", "start each with its own srun and &");
}

Result<void> set_het_group(Reading&, Text text) {
  return text == "0" ? Result<void>{} : Result<void>(not_done("a job here has only one part"));
}

Choice noted(Text name, char letter, Argument argument) { return {name, letter, argument, {}}; }
/// What makes no difference here.
Choice idle(Text name, char letter, Argument argument) {
  return {name, letter, argument, [](Reading&, Text) -> Result<void> { return {}; }};
}

const std::vector<Choice>& choices() {
  using enum Argument;
  static const std::vector<Choice> all{
      {"ntasks", 'n', needed, [](Reading& r, Text t) { return count(r.tasks, t); }},
      {"ntasks-per-node", '\0', needed,
       [](Reading& r, Text t) { return count(r.tasks_per_node, t); }},
      {"nodes", 'N', needed, set_nodes},
      {"cpus-per-task", 'c', needed,
       [](Reading& r, Text t) { return count(r.step.cpus_per_task, t); }},
      {"gpus", 'G', needed, set_gpus},
      {"gpus-per-node", '\0', needed, set_gpus},
      {"gres", '\0', needed, set_gpus},
      {"gpus-per-task", '\0', needed,
       [](Reading& r, Text t) { return count(r.gpus_per_task, t.substr(t.rfind(':') + 1)); }},
      {"gpu-bind", '\0', needed, set_gpu_bind},
      {"output", 'o', needed, [](Reading& r, Text t) { return set_text(r.step.out, t); }},
      {"error", 'e', needed, [](Reading& r, Text t) { return set_text(r.step.err, t); }},
      {"input", 'i', needed, [](Reading& r, Text t) { return set_text(r.step.in, t); }},
      {"open-mode", '\0', needed,
       [](Reading& r, Text t) -> Result<void> {
         r.step.append = t.starts_with('a');
         return {};
       }},
      {"label", 'l', none,
       [](Reading& r, Text) -> Result<void> {
         r.step.label = true;
         return {};
       }},
      {"chdir", 'D', needed, [](Reading& r, Text t) { return set_text(r.step.directory, t); }},
      {"job-name", 'J', needed, [](Reading& r, Text t) { return set_text(r.step.name, t); }},
      {"export", '\0', needed, [](Reading& r, Text t) { return set_text(r.step.export_names, t); }},
      {"time", 't', needed,
       [](Reading& r, Text t) -> Result<void> {
         const auto limit = submission::read_limit(t, 1min);
         if (!limit) return tl::unexpected(limit.error());
         r.step.time_limit = *limit;
         return {};
       }},
      {"kill-on-bad-exit", 'K', optional,
       [](Reading& r, Text t) -> Result<void> {
         r.step.kill_on_bad_exit = t != "0";
         return {};
       }},
      {"wait", 'W', needed,
       [](Reading& r, Text t) -> Result<void> {
         const auto length = submission::read_count(t, 0);
         if (!length) return expected("a number of seconds; 0 = no limit");
         r.step.wait = *length == 0 ? kNoDuration : Duration(*length * 1s);
         return {};
       }},
      {"immediate", 'I', optional,
       [](Reading& r, Text) -> Result<void> {
         r.step.immediate = true;
         return {};
       }},
      {"mpi", '\0', needed, set_mpi},
      {"multi-prog", '\0', none, set_multi_prog},
      {"het-group", '\0', needed, set_het_group},
      {"bcast", '\0', optional,
       [](Reading&, Text) -> Result<void> {
         return not_done("there is only one machine: nothing is sent");
       }},

      idle("account", 'A', needed),
      idle("begin", 'b', needed),
      idle("comment", '\0', needed),
      idle("dependency", 'd', needed),
      idle("disable-status", 'X', none),
      idle("exact", '\0', none),
      idle("exclusive", '\0', optional),
      idle("hold", 'H', none),
      idle("jobid", '\0', needed),
      idle("oversubscribe", 's', none),
      idle("overcommit", 'O', none),
      idle("overlap", '\0', none),
      idle("partition", 'p', needed),
      idle("preserve-env", 'E', none),
      idle("propagate", '\0', optional),
      idle("pty", '\0', optional),
      idle("qos", 'q', needed),
      idle("quiet", 'Q', none),
      idle("quit-on-interrupt", '\0', none),
      idle("unbuffered", 'u', none),
      idle("use-min-nodes", '\0', none),
      idle("verbose", 'v', none),
      idle("wckey", '\0', needed),
      idle("whole", '\0', none),

      noted("accel-bind", '\0', needed),
      noted("constraint", 'C', needed),
      noted("cpu-bind", '\0', needed),
      noted("cpu-freq", '\0', needed),
      noted("cpus-per-gpu", '\0', needed),
      noted("distribution", 'm', needed),
      noted("epilog", '\0', needed),
      noted("exclude", 'x', needed),
      noted("gpu-freq", '\0', needed),
      noted("gres-flags", '\0', needed),
      noted("hint", '\0', needed),
      noted("mem", '\0', needed),
      noted("mem-bind", '\0', needed),
      noted("mem-per-cpu", '\0', needed),
      noted("mem-per-gpu", '\0', needed),
      noted("network", '\0', needed),
      noted("nice", '\0', optional),
      noted("nodelist", 'w', needed),
      noted("ntasks-per-core", '\0', needed),
      noted("ntasks-per-gpu", '\0', needed),
      noted("ntasks-per-socket", '\0', needed),
      noted("profile", '\0', needed),
      noted("prolog", '\0', needed),
      noted("relative", 'r', needed),
      noted("reservation", '\0', needed),
      noted("signal", '\0', needed),
      noted("slurmd-debug", '\0', needed),
      noted("task-epilog", '\0', needed),
      noted("task-prolog", '\0', needed),
      noted("threads", 'T', needed),
      noted("threads-per-core", '\0', needed),
      noted("tres-per-task", '\0', needed),
  };
  return all;
}

const Choice* find_long(Text name) {
  const Choice* found = nullptr;
  int candidates = 0;
  for (const Choice& each : choices()) {
    if (each.name == name) return &each;
    if (name.empty() || !each.name.starts_with(name)) continue;
    found = &each;
    ++candidates;
  }
  return candidates == 1 ? found : nullptr;
}

const Choice* find_letter(char letter) {
  const auto found = std::find_if(choices().begin(), choices().end(),
                                  [&](const Choice& each) { return each.letter == letter; });
  return found == choices().end() ? nullptr : &*found;
}

tl::unexpected<Error> unknown(const std::string& word) {
  std::vector<std::string> names;
  for (const Choice& each : choices()) names.push_back(fmt::format("--{}", each.name));
  return fail(Code::usage, fmt::format("unknown option {}", word), {},
              text::did_you_mean(word.substr(0, word.find('=')), names));
}

Result<void> apply(const Choice& choice, Text argument, Reading& reading) {
  if (!choice.apply) {
    reading.step.notes.push_back(fmt::format("--{} is not supported here", choice.name));
    return {};
  }
  const auto done = choice.apply(reading, argument);
  if (done) return {};
  const Error& why = done.error();
  const std::string said = argument.empty() ? fmt::format("--{}", choice.name)
                                            : fmt::format("--{}={}", choice.name, argument);
  if (why.code == Code::invalid) {
    return fail(Code::usage,
                fmt::format("--{} must be {}: found \"{}\"", choice.name, why.message, argument));
  }
  return fail(Code::unsupported, fmt::format("{} is not supported here: {}", said, why.message), {},
              why.hint);
}

/// Options stand before the command, which is the first word that is none; gives its place.
Result<std::size_t> read_options(const std::vector<std::string>& words, Reading& reading) {
  std::size_t at = 0;
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") return at + 1;
    if (word.size() < 2 || word[0] != '-') return at;
    const bool is_long = word[1] == '-';
    if (is_long) {
      const std::size_t equals = word.find('=');
      const Choice* const choice =
          find_long(Text(word).substr(2, equals == word.npos ? equals : equals - 2));
      if (choice == nullptr) return unknown(word);
      std::optional<Text> argument;
      if (equals != word.npos) argument = Text(word).substr(equals + 1);
      if (!argument && choice->argument == Argument::needed) {
        if (at + 1 == words.size()) return fail(Code::usage, word + " requires an argument");
        argument = words[++at];
      }
      if (argument && choice->argument == Argument::none) {
        return fail(Code::usage, fmt::format("--{} takes no argument", choice->name));
      }
      if (auto done = apply(*choice, argument.value_or(""), reading); !done) {
        return tl::unexpected(done.error());
      }
      continue;
    }
    // "-n4", "-n 4", "-lu": letters without arguments may stand together.
    for (std::size_t letter = 1; letter < word.size(); ++letter) {
      const Choice* const choice = find_letter(word[letter]);
      if (choice == nullptr) return unknown(fmt::format("-{}", word[letter]));
      if (choice->argument == Argument::none) {
        if (auto done = apply(*choice, "", reading); !done) return tl::unexpected(done.error());
        continue;
      }
      Text argument = Text(word).substr(letter + 1);
      if (argument.starts_with('=')) argument.remove_prefix(1);
      if (argument.empty() && choice->argument == Argument::needed) {
        if (at + 1 == words.size()) return fail(Code::usage, word + " requires an argument");
        argument = words[++at];
      }
      if (auto done = apply(*choice, argument, reading); !done) return tl::unexpected(done.error());
      break;
    }
  }
  return at;
}

std::optional<int> number_of(const std::vector<std::string>& variables, const std::string& name) {
  const auto read = submission::read_count(value_of(variables, name), 1);
  return read ? std::optional<int>(*read) : std::nullopt;
}

/// Returns on how many boxes the job runs. Nodes may be parts of one machine.
int boxes_of(const std::vector<std::string>& variables) {
  const std::string boxes = value_of(variables, "ALMANAC_NODES");
  return 1 + static_cast<int>(std::count(boxes.begin(), boxes.end(), ','));
}

}  // namespace

std::string value_of(const std::vector<std::string>& variables, const std::string& name) {
  for (const std::string& each : variables) {
    if (each.size() > name.size() && each[name.size()] == '=' && each.starts_with(name)) {
      return each.substr(name.size() + 1);
    }
  }
  return "";
}

Result<Step> read_step(const std::vector<std::string>& words,
                       const std::vector<std::string>& variables) {
  Reading reading;
  reading.step.kill_on_bad_exit = value_of(variables, "SLURM_KILL_BAD_EXIT") == "1";
  const auto command = read_options(words, reading);
  if (!command) return tl::unexpected(command.error());
  Step& step = reading.step;
  step.command.assign(words.begin() + static_cast<std::ptrdiff_t>(*command), words.end());
  if (step.command.empty()) return fail(Code::usage, "there is no command to run");
  step.boxes = boxes_of(variables);
  const int nodes = std::max(step.boxes, number_of(variables, "SLURM_NNODES").value_or(1));
  const int most_nodes = reading.most_nodes.value_or(nodes);
  if (reading.fewest_nodes > nodes || most_nodes < nodes) {
    return fail(Code::unsupported,
                fmt::format("--nodes={}: this job has {}",
                            reading.fewest_nodes > nodes ? reading.fewest_nodes : most_nodes,
                            nodes == 1 ? "one node" : fmt::format("{} nodes", nodes)),
                {}, "leave --nodes out");
  }
  if (step.boxes > 1) {
    if (!reading.tasks && !reading.tasks_per_node) {
      reading.tasks_per_node = number_of(variables, "SLURM_NTASKS_PER_NODE");
      if (!reading.tasks_per_node) reading.tasks = number_of(variables, "SLURM_NTASKS");
    }
    const int all = reading.tasks.value_or(reading.tasks_per_node.value_or(1) * step.boxes);
    if (all != step.boxes) {
      return fail(Code::unsupported,
                  fmt::format("srun starts one task on each of the {} boxes of this job, not {} "
                              "tasks",
                              step.boxes, all),
                  {}, "start more processes on each box with torchrun, for example");
    }
    reading.tasks = 1;
    step.first = number_of(variables, "SLURM_NODEID").value_or(0);
  }
  if (!reading.tasks) reading.tasks = reading.tasks_per_node;
  if (!reading.tasks) reading.tasks = number_of(variables, "SLURM_NTASKS");
  step.tasks = reading.tasks.value_or(1);
  constexpr int kMostTasks = 4096;
  if (step.tasks > kMostTasks) {
    return fail(Code::usage, fmt::format("--ntasks may be at most {} here", kMostTasks));
  }
  if (!step.cpus_per_task) step.cpus_per_task = number_of(variables, "SLURM_CPUS_PER_TASK");
  if (!reading.gpus_per_task && !step.gpus) {
    reading.gpus_per_task = number_of(variables, "SLURM_GPUS_PER_TASK");
  }
  const auto mpi = std::find(step.notes.begin(), step.notes.end(), "MPI");
  if (mpi != step.notes.end()) {
    if (step.tasks > 1) {
      return fail(Code::unsupported, "--mpi is not supported here: tasks would not find each other",
                  {}, fmt::format("start MPI programs with mpirun -n {}", step.tasks));
    }
    step.notes.erase(mpi);
  }
  if (reading.gpus_per_task && step.gpu_view != GpuView::mapped) {
    step.gpu_view = GpuView::own_share;
    if (!step.gpus) step.gpus = *reading.gpus_per_task * step.tasks;
    if (*step.gpus < *reading.gpus_per_task * step.tasks) {
      return fail(Code::usage, fmt::format("{} GPUs are too few for {} tasks with {} each",
                                           *step.gpus, step.tasks, *reading.gpus_per_task));
    }
    step.gpus = *reading.gpus_per_task * step.tasks;
  }
  return std::move(step);
}

}  // namespace almanac::stand_in
