// SPDX-License-Identifier: Apache-2.0

/// \file
/// Source   sbatch(1) of Slurm 23.02.
/// Differs  A job has GPUs, not nodes: what Slurm applies to each node is added up, and the
///          job gets its GPUs on as few nodes as possible.
#include <algorithm>

#include <fmt/format.h>

#include "submission/apply.h"

namespace almanac::submission {
namespace {

using Text = std::string_view;

Result<void> set_output(std::string& field, Draft& draft, Text text) {
  // %% is one of them: it stands for itself.
  for (std::size_t at = text.find('%'); at < text.size(); at = text.find('%', at + 2)) {
    const char what = at + 1 < text.size() ? text[at + 1] : '\0';
    if (Text("jAaxu%").find(what) != Text::npos && what != '\0') continue;
    draft.notes.push_back(fmt::format(
        "{} in a file name is kept as it is: known are %j %A %a %x %u", text.substr(at, 2)));
  }
  return put(field, read_text(text));
}

/// As set_gpus(), for each node.
Result<void> set_gpus_per_node(Draft& draft, Text text) {
  auto done = set_gpus(draft, text);
  if (done) draft.gpus_per_node = draft.asked.gpus;
  return done;
}

/// "gpu:2", "gpu:a100:2,nvme:1", "none".
Result<void> set_gres(Draft& draft, Text text) {
  if (text == "none") return {};
  for (Text part : split(text, ',')) {
    if (part.starts_with("gres/")) part.remove_prefix(5);
    const auto colon = part.find(':');
    if (part.substr(0, colon) != "gpu") {
      draft.notes.push_back(fmt::format("--gres={} is not supported here: only gpu is", part));
      continue;
    }
    Text count = colon == Text::npos ? "1" : part.substr(colon + 1);
    count = count.substr(0, count.find('('));  // "(S:0)": sockets
    const bool is_type = count.find_first_not_of("0123456789:") != Text::npos;
    const std::string one =
        is_type && count.find(':') == Text::npos ? std::string(count) + ":1" : std::string(count);
    if (auto done = set_gpus_per_node(draft, one); !done) {
      return fail(Code::invalid, "GPUs, such as gpu:2 or gpu:a100:2");
    }
  }
  return {};
}

/// "1", "1-4": the least counts.
Result<void> set_nodes(Draft& draft, Text text) {
  const auto least = read_count(text.substr(0, text.find('-')), 1);
  if (!least) return fail(Code::invalid, "a number of nodes, such as 1 or 1-4");
  draft.nodes = *least;
  if (*least > 1) {
    draft.notes.push_back(
        fmt::format("--nodes={0}: GPUs, cores and memory of {0} nodes are added up, and the job "
                    "gets them on as few nodes as possible",
                    *least));
  }
  return {};
}

Result<void> set_partition(Draft& draft, Text text) {
  const auto parts = split(text, ',');
  if (parts.size() > 1) {
    draft.notes.push_back(
        fmt::format("only the first of several partitions is used: {}", parts[0]));
  }
  return put(draft.asked.vc, read_text(parts[0]));
}

Result<void> set_memory(Draft& draft, Text text) {
  const auto memory = read_memory(text, BareMemory::is_mib);
  if (!memory) return tl::unexpected(memory.error());
  draft.memory_gb_per_cpu.reset();
  draft.memory_gb_per_gpu.reset();
  if (*memory == 0) {
    draft.memory_gb_per_node.reset();
    draft.asked.memory_gb.reset();
    draft.notes.emplace_back("--mem=0 means no limit here, not all memory");
  } else {
    draft.memory_gb_per_node = *memory;
  }
  return {};
}

Result<void> set_segment(Draft& draft, Text text) {
  return put(draft.segment_nodes, read_count(text, 1));
}

/// What Slurm knows and we do not do.
Option left_out(Text name, char letter, Argument argument, Text instead = {}) {
  return {.name = name, .letter = letter, .argument = argument, .instead = instead};
}

/// What means the same as the option `own` of ours.
Option as_own(Text own, Text name = {}) {
  const auto& options = own_options();
  Option option = *std::find_if(options.begin(), options.end(),
                                [&](const Option& each) { return each.name == own; });
  if (!name.empty()) option.name = name;
  return option;
}

}  // namespace

const std::vector<Option>& slurm_options() {
  using enum Argument;
  static const std::vector<Option> options{
      as_own("name", "job-name"),
      {"partition", 'p', needed, set_partition},
      as_own("comment"),
      as_own("qos"),
      {"time", 't', needed,
       [](Draft& d, Text t) { return put(d.asked.time_limit, read_limit(t, 1min)); }},
      {"nodes", 'N', needed, set_nodes},
      {"ntasks", 'n', needed, [](Draft& d, Text t) { return put(d.tasks, read_count(t, 1)); }},
      {"ntasks-per-node", '\0', needed,
       [](Draft& d, Text t) { return put(d.tasks_per_node, read_count(t, 1)); }},
      {"cpus-per-task", 'c', needed,
       [](Draft& d, Text t) { return put(d.cpus_per_task, read_count(t, 1)); }},
      {"cpus-per-gpu", '\0', needed,
       [](Draft& d, Text t) { return put(d.cpus_per_gpu, read_count(t, 1)); }},
      {"mem", '\0', needed, set_memory},
      {"mem-per-cpu", '\0', needed,
       [](Draft& d, Text t) {
         d.memory_gb_per_node.reset();
         return put(d.memory_gb_per_cpu, read_memory(t, BareMemory::is_mib));
       }},
      {"mem-per-gpu", '\0', needed,
       [](Draft& d, Text t) {
         d.memory_gb_per_node.reset();
         return put(d.memory_gb_per_gpu, read_memory(t, BareMemory::is_mib));
       }},
      {"gres", '\0', needed, set_gres},
      as_own("gpus"),
      {"segment", '\0', needed, set_segment},
      {"gpus-per-node", '\0', needed, set_gpus_per_node},
      {"gpus-per-task", '\0', needed,
       [](Draft& d, Text t) {
         auto done = set_gpus(d, t);
         if (done) d.gpus_per_task = d.asked.gpus;
         return done;
       }},
      {"output", 'o', needed, [](Draft& d, Text t) { return set_output(d.asked.out, d, t); }},
      {"error", 'e', needed, [](Draft& d, Text t) { return set_output(d.asked.err, d, t); }},
      as_own("directory", "chdir"),
      as_own("array"),
      as_own("dependency"),
      as_own("requeue"),
      as_own("no-requeue"),
      as_own("begin"),
      as_own("hold"),
      as_own("export"),
      as_own("signal"),

      left_out("account", 'A', needed),
      left_out("acctg-freq", '\0', needed),
      left_out("batch", '\0', needed),
      left_out("bb", '\0', needed),
      left_out("bbf", '\0', needed),
      left_out("clusters", 'M', needed),
      left_out("constraint", 'C', needed, "--gpus=TYPE:N requests a type"),
      left_out("container", '\0', needed),
      left_out("contiguous", '\0', none),
      left_out("core-spec", 'S', needed),
      left_out("cores-per-socket", '\0', needed),
      left_out("cpu-freq", '\0', needed),
      left_out("deadline", '\0', needed, "#ALMANAC --deadline is a goal, and does not end the job"),
      left_out("delay-boot", '\0', needed),
      left_out("distribution", 'm', needed),
      left_out("exclude", 'x', needed),
      left_out("exclusive", '\0', optional),
      left_out("export-file", '\0', needed),
      left_out("extra-node-info", 'B', needed),
      left_out("get-user-env", '\0', optional),
      left_out("gid", '\0', needed),
      left_out("gpu-bind", '\0', needed),
      left_out("gpu-freq", '\0', needed),
      left_out("gpus-per-socket", '\0', needed),
      left_out("gres-flags", '\0', needed),
      left_out("hint", '\0', needed),
      left_out("ignore-pbs", '\0', none),
      left_out("input", 'i', needed),
      left_out("kill-on-invalid-dep", '\0', needed),
      left_out("licenses", 'L', needed),
      left_out("mail-type", '\0', needed),
      left_out("mail-user", '\0', needed),
      left_out("mcs-label", '\0', needed),
      left_out("mem-bind", '\0', needed),
      left_out("mincpus", '\0', needed),
      left_out("network", '\0', needed),
      left_out("nice", '\0', optional),
      left_out("no-kill", 'k', optional),
      left_out("nodefile", 'F', needed),
      left_out("nodelist", 'w', needed),
      left_out("ntasks-per-core", '\0', needed),
      left_out("ntasks-per-gpu", '\0', needed),
      left_out("ntasks-per-socket", '\0', needed),
      left_out("open-mode", '\0', needed),
      left_out("overcommit", 'O', none),
      left_out("oversubscribe", 's', none),
      left_out("parsable", '\0', optional),
      left_out("power", '\0', needed),
      left_out("prefer", '\0', needed),
      left_out("priority", '\0', needed),
      left_out("profile", '\0', needed),
      left_out("propagate", '\0', optional),
      left_out("quiet", 'Q', none),
      left_out("reboot", '\0', none),
      left_out("reservation", '\0', needed),
      left_out("sockets-per-node", '\0', needed),
      left_out("spread-job", '\0', none),
      left_out("switches", '\0', needed),
      left_out("test-only", '\0', none),
      left_out("thread-spec", '\0', needed),
      left_out("threads-per-core", '\0', needed),
      left_out("time-min", '\0', needed),
      left_out("tmp", '\0', needed),
      left_out("tres-per-task", '\0', needed),
      left_out("uid", '\0', needed),
      left_out("use-min-nodes", '\0', none),
      left_out("verbose", 'v', none),
      left_out("wait", 'W', none),
      left_out("wait-all-nodes", '\0', needed),
      left_out("wckey", '\0', needed),
      left_out("wrap", '\0', needed, "the script is what runs"),
  };
  return options;
}

}  // namespace almanac::submission
