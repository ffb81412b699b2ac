// SPDX-License-Identifier: Apache-2.0

/// \file
/// Source   Slurm 22.05, sbatch/opt.c, common/slurm_opt.c (slurm_opt_create_job_desc).
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "slurmctld/jobs/submission.h"
#include "text/datetime.h"
#include "text/duration.h"
#include "text/host_list.h"

namespace almanac::slurmctld {
namespace {

/// Sets the memory of each node or task of a job that gives it per GPU. Leaves out a job whose GPUs
/// may be spread over nodes in any way.
void set_memory_per_gpu(int mb, NodeRequest& ask) {
  const int nodes = ask.min_nodes;
  if (ask.gpu_scope == GpuScope::node) ask.memory_per_node_mb = mb * ask.gpus;
  if (ask.gpu_scope == GpuScope::task) ask.memory_per_task_mb = mb * ask.gpus;
  if (ask.gpu_scope == GpuScope::job && ask.max_nodes == nodes) {
    ask.memory_per_node_mb = mb * ((ask.gpus + nodes - 1) / nodes);
  }
}

/// Options with one letter, and their long names.
const std::map<char, std::string_view>& letters() {
  static const std::map<char, std::string_view> kLetters{{'n', "ntasks"},
                                                         {'N', "nodes"},
                                                         {'c', "cpus-per-task"},
                                                         {'w', "nodelist"},
                                                         {'x', "exclude"},
                                                         {'C', "constraint"},
                                                         {'p', "partition"},
                                                         {'t', "time"},
                                                         {'J', "job-name"},
                                                         {'q', "qos"},
                                                         {'A', "account"},
                                                         {'d', "dependency"},
                                                         {'L', "licenses"},
                                                         {'a', "array"},
                                                         {'H', "hold"},
                                                         {'b', "begin"},
                                                         {'G', "gpus"},
                                                         {'o', "output"},
                                                         {'e', "error"},
                                                         {'i', "input"},
                                                         {'D', "chdir"},
                                                         {'M', "clusters"},
                                                         {'B', "extra-node-info"},
                                                         {'F', "nodefile"},
                                                         {'S', "core-spec"},
                                                         {'m', "distribution"},
                                                         {'s', "oversubscribe"},
                                                         {'O', "overcommit"},
                                                         {'v', "verbose"},
                                                         {'Q', "quiet"},
                                                         {'W', "wait"},
                                                         {'k', "no-kill"},
                                                         {'Z', "no-allocate"},
                                                         {'h', "help"},
                                                         {'u', "usage"},
                                                         {'V', "version"}};
  return kLetters;
}

/// Long options whose value, if any, follows "=".
bool takes_no_word(std::string_view option) {
  static const std::set<std::string_view> kFlags{
      "hold",       "oversubscribe", "overcommit", "verbose",    "quiet",        "wait",
      "no-kill",    "no-allocate",   "help",       "usage",      "version",      "exclusive",
      "contiguous", "requeue",       "no-requeue", "nice",       "parsable",     "test-only",
      "spread-job", "use-min-nodes", "reboot",     "ignore-pbs", "get-user-env", "propagate",
      "share",      "no-shell",      "pty",        "x11"};
  return kFlags.contains(option);
}

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// No count, time or size of a submission is larger; products of it with units fit 64 bits.
constexpr std::int64_t kMost = 1'000'000'000;

std::optional<std::int64_t> whole(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  if (value > kMost || value < -kMost) return std::nullopt;
  return value;
}

std::optional<int> positive(std::string_view text) {
  const auto value = whole(text);
  if (!value || *value < 0 || *value > 1'000'000'000) return std::nullopt;
  return static_cast<int>(*value);
}

/// Returns MiB: "4000", "4000M", "4G".
std::optional<int> memory(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t unit = 1024;  // of a KiB
  switch (std::toupper(static_cast<unsigned char>(text.back()))) {
    case 'K':
      unit = 1;
      break;
    case 'M':
      break;
    case 'G':
      unit = std::int64_t{1} << 20;
      break;
    case 'T':
      unit = std::int64_t{1} << 30;
      break;
    default:
      unit = 0;
  }
  if (unit > 0) text.remove_suffix(1);
  const auto value = whole(text);
  if (!value || *value < 0) return std::nullopt;
  const std::int64_t mib = (*value * (unit == 0 ? 1024 : unit) + 1023) / 1024;
  return mib > kMost ? std::nullopt : std::optional(static_cast<int>(mib));
}

/// Returns seconds: a number alone is minutes. 0 and UNLIMITED ask for no limit.
std::optional<Seconds> limit(std::string_view text) {
  if (const auto minutes = whole(text)) {
    if (*minutes < 0) return std::nullopt;
    return *minutes == 0 ? kYear : *minutes * 60;
  }
  const auto length = text::parse_duration(text);
  if (!length) return std::nullopt;
  if (*length == text::kUnlimited) return kYear;
  return static_cast<Seconds>(seconds(*length));
}

constexpr int kMostFactor = 46'340;

/// Slurm's largest MaxArraySize.
constexpr int kMostTasks = 4'000'001;

class Reader {
 public:
  explicit Reader(const NodeTable& table) : table_(table) {}

  Result<Submission> read(std::string_view line) {
    const std::vector<std::string_view> words = split(line, " \t");
    if (!words.empty()) {
      const std::string_view program = words[0].substr(words[0].rfind('/') + 1);
      job_.is_interactive = program == "srun" || program == "salloc";
    }
    for (std::size_t at = 1; at < words.size(); ++at) {
      std::string_view word = words[at];
      if (!word.starts_with('-') || word == "-") break;  // the script
      std::string_view option;
      std::string_view value;
      bool has_value = false;
      if (word.starts_with("--")) {
        const std::size_t equals = word.find('=');
        option = word.substr(2, equals == std::string_view::npos ? equals : equals - 2);
        has_value = equals != std::string_view::npos;
        if (has_value) value = word.substr(equals + 1);
      } else {
        const auto known = letters().find(word[1]);
        if (known == letters().end()) continue;
        option = known->second;
        has_value = word.size() > 2;
        if (has_value) value = word.substr(word[2] == '=' ? 3 : 2);
      }
      if (option == "wrap") break;
      if (!has_value && !takes_no_word(option) && at + 1 < words.size()) value = words[++at];
      if (!apply(option, value)) {
        return fail(
            Code::invalid,
            fmt::format("option --{} of a submission: unexpected value \"{}\"", option, value));
      }
    }
    // Products of two of these must fit an int.
    for (const int each : {job_.request.tasks, job_.request.min_nodes, job_.request.cpus_per_task,
                           job_.request.tasks_per_node, job_.request.gpus, tasks_per_gpu_}) {
      if (each > kMostFactor) {
        return fail(Code::invalid,
                    fmt::format("a submission requests {} nodes, tasks, CPUs or GPUs, more than {}",
                                each, kMostFactor));
      }
    }
    complete();
    return std::move(job_);
  }

 private:
  bool set(int& member, std::string_view value) {
    const auto number = positive(value);
    if (number) member = *number;
    return number.has_value();
  }
  bool set(Seconds& member, const std::optional<Seconds>& value) {
    if (value) member = *value;
    return value.has_value();
  }

  bool apply(std::string_view option, std::string_view value) {
    NodeRequest& ask = job_.request;
    if (option == "ntasks") return ask.tasks_given = true, set(ask.tasks, value);
    if (option == "nodes") return read_nodes(value);
    if (option == "cpus-per-task") return set(ask.cpus_per_task, value);
    if (option == "ntasks-per-node") return set(ask.tasks_per_node, value);
    if (option == "ntasks-per-socket") return set(ask.tasks_per_socket, value);
    if (option == "ntasks-per-gpu") return set(tasks_per_gpu_, value);
    if (option == "mincpus") return set(ask.least_cpus_per_node, value);
    if (option == "cores-per-socket") return set(ask.cores_per_socket, value);
    if (option == "sockets-per-node") return sockets_given_ = set(ask.sockets_per_node, value);
    if (option == "ntasks-per-core") {
      if (value == "1") ask.one_thread_per_core = ask.charges_idle_threads = true;
      return true;
    }
    if (option == "threads-per-core") {
      if (value == "1") ask.one_thread_per_core = true;
      return true;
    }
    if (option == "hint") {
      if (value == "nomultithread") ask.one_thread_per_core = true;
      return true;
    }
    if (option == "cpus-per-gpu") return set(ask.cpus_per_gpu, value);
    if (option == "exclusive") {
      ask.exclusive = value.empty();
      return true;
    }
    if (option == "contiguous") return ask.contiguous = true;
    return apply_memory_or_gpus(option, value) && apply_terms(option, value);
  }

  bool apply_memory_or_gpus(std::string_view option, std::string_view value) {
    NodeRequest& ask = job_.request;
    if (option == "mem" || option == "mem-per-cpu" || option == "mem-per-gpu") {
      const auto mb = memory(value);
      if (!mb) return false;
      if (*mb == 0) ask.whole_memory = true;
      if (option == "mem") ask.memory_per_node_mb = *mb;
      if (option == "mem-per-cpu") ask.memory_per_cpu_mb = *mb;
      if (option == "mem-per-gpu") memory_per_gpu_mb_ = *mb;
      return true;
    }
    if (option == "gres" || option == "gpus-per-node") return read_gpus(value, GpuScope::node);
    if (option == "gpus") return read_gpus(value, GpuScope::job);
    if (option == "gpus-per-task") return read_gpus(value, GpuScope::task);
    if (option == "gpus-per-socket") return read_gpus(value, GpuScope::socket);
    if (option == "nodelist") return read_node_list(value, ask.required);
    if (option == "exclude") return read_node_list(value, ask.excluded);
    if (option == "constraint") return read_features(value);
    return true;
  }

  bool apply_terms(std::string_view option, std::string_view value) {
    if (option == "partition") {
      for (const std::string_view each : split(value, ",")) job_.partitions.emplace_back(each);
      return true;
    }
    if (option == "job-name") job_.name = value;
    if (option == "qos") job_.qos = value;
    if (option == "account") job_.account = value;
    if (option == "uid") job_.user = value;
    if (option == "reservation") job_.reservation = value;
    if (option == "hold") job_.held = true;
    if (option == "requeue") job_.requeue = true;
    if (option == "no-requeue") job_.requeue = false;
    if (option == "time") return set(job_.time_limit, limit(value));
    if (option == "time-min") return set(job_.time_min, limit(value));
    if (option == "begin") return read_begin(value);
    if (option == "dependency") return read_dependency(value);
    if (option == "licenses") return read_licenses(value);
    if (option == "array") return read_array(value);
    if (option == "nice" || option == "priority") {
      const auto number = value.empty() ? std::optional<std::int64_t>{100} : whole(value);
      if (!number) return false;
      if (option == "nice") job_.nice = *number;
      if (option == "priority") job_.priority = *number;
    }
    return true;
  }

  bool read_nodes(std::string_view value) {
    const auto parts = split(value, "-");
    NodeRequest& ask = job_.request;
    if (parts.empty() || parts.size() > 2 || !set(ask.min_nodes, parts[0])) return false;
    ask.max_nodes = ask.min_nodes;
    nodes_given_ = true;
    ask.is_range = parts.size() == 2;
    return !ask.is_range || set(ask.max_nodes, parts[1]);
  }

  /// "gpu:a100:4", "gres/gpu=4", "a100:4", "4"; other resources than GPUs are ignored.
  bool read_gpus(std::string_view value, GpuScope scope) {
    for (std::string_view each : split(value, ",")) {
      if (each.starts_with("gres:") || each.starts_with("gres/")) each.remove_prefix(5);
      std::vector<std::string_view> parts = split(each, ":=");
      if (parts.empty()) return false;
      if (parts.front() == "gpu") {
        parts.erase(parts.begin());
      } else if (scope == GpuScope::node && each.find("gpu") == std::string_view::npos &&
                 !whole(parts.front()) && !table_.find_gpu_type(parts.front())) {
        continue;
      }
      int count = 1;
      if (!parts.empty() && whole(parts.back())) {
        if (!set(count, parts.back())) return false;
        parts.pop_back();
      }
      if (!parts.empty()) {
        const auto type = table_.find_gpu_type(parts.front());
        if (!type) return false;
        job_.request.gpu_type = *type;
      }
      if (count == 0) continue;
      job_.request.gpu_scope = scope;
      job_.request.gpus = count;
    }
    return true;
  }

  bool read_node_list(std::string_view value, std::vector<NodeAt>& nodes) {
    const auto names = text::expand_hosts(value);
    if (!names) return false;
    for (const std::string& name : *names) {
      const auto at = table_.find_node(name);
      if (!at) return false;
      nodes.push_back(*at);
    }
    std::sort(nodes.begin(), nodes.end());
    return true;
  }

  bool read_features(std::string_view value) {
    std::string text(value);
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    if (open != std::string::npos && close != std::string::npos && open < close) {
      if (!read_one_of(std::string_view(text).substr(open + 1, close - open - 1))) return false;
      text.erase(open, close - open + 1);
    }
    std::erase_if(text, [](char each) {
      return each == '[' || each == ']' || each == '(' || each == ')' || each == '"' ||
             each == '\'';
    });
    for (const std::string_view term : split(text, "&,")) {
      FeatureTerm any;
      for (std::string_view each : split(term, "|")) {
        each = each.substr(0, each.find('*'));
        const auto feature = table_.find_feature(each);
        if (!feature) return false;
        any.any_of.push_back(*feature);
      }
      job_.request.features.push_back(std::move(any));
    }
    return true;
  }

  /// "a|b" of "[a|b]": all nodes have one of them, and the same one.
  bool read_one_of(std::string_view value) {
    for (std::string_view each : split(value, "|")) {
      const auto feature = table_.find_feature(each.substr(0, each.find('*')));
      if (!feature) return false;
      job_.request.one_of.push_back(*feature);
    }
    return true;
  }

  bool read_begin(std::string_view value) {
    if (!value.starts_with("now")) {
      const auto at = text::parse_datetime(value);
      if (at) job_.begin = static_cast<Seconds>(seconds(*at));
      return at.has_value();
    }
    value.remove_prefix(3);
    if (value.empty()) return true;
    static const std::array<std::pair<std::string_view, Seconds>, 5> kUnits{
        {{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86400}, {"weeks", 604800}}};
    Seconds unit = 1;
    for (const auto& [word, length] : kUnits) {
      for (std::string_view name : {word, word.substr(0, word.size() - 1)}) {
        if (!value.ends_with(name)) continue;
        unit = length;
        value.remove_suffix(name.size());
      }
    }
    const auto number = whole(value);
    if (number) job_.begin_delay = *number * unit;
    return number.has_value();
  }

  bool read_dependency(std::string_view value) {
    static const std::map<std::string_view, DependencyKind> kKinds{
        {"after", DependencyKind::after},          {"afterany", DependencyKind::after_any},
        {"afterok", DependencyKind::after_ok},     {"afternotok", DependencyKind::after_not_ok},
        {"aftercorr", DependencyKind::after_corr}, {"singleton", DependencyKind::singleton}};
    job_.any_dependency = value.find('?') != std::string_view::npos;
    for (const std::string_view term : split(value, ",?")) {
      const auto parts = split(term, ":");
      if (parts.empty()) return false;
      const auto kind = kKinds.find(parts.front());
      if (kind == kKinds.end()) return false;
      if (kind->second == DependencyKind::singleton) {
        job_.dependencies.push_back({.kind = kind->second});
      }
      for (std::size_t at = 1; at < parts.size(); ++at) {
        const auto words = split(parts[at], "+");
        if (words.empty()) return false;
        Dependency each{.kind = kind->second};
        int job = 0;
        if (!set(job, words.front().substr(0, words.front().find('_')))) return false;
        each.job = static_cast<std::uint32_t>(job);
        if (words.size() > 1) {
          const auto minutes = whole(words[1]);
          if (!minutes) return false;
          each.delay = *minutes * 60;
        }
        job_.dependencies.push_back(each);
      }
    }
    return true;
  }

  bool read_licenses(std::string_view value) {
    for (const std::string_view each : split(value, ",;")) {
      const auto parts = split(each, ":=");
      if (parts.empty()) return false;
      int count = 1;
      if (parts.size() > 1 && !set(count, parts[1])) return false;
      job_.licenses.emplace_back(parts.front(), count);
    }
    return true;
  }

  bool read_array(std::string_view value) {
    const auto parts = split(value, "%");
    if (parts.empty() || (parts.size() > 1 && !set(job_.most_tasks, parts[1]))) return false;
    for (const std::string_view range : split(parts.front(), ",")) {
      const auto stepped = split(range, ":");
      if (stepped.empty()) return false;
      const auto ends = split(stepped.front(), "-");
      if (ends.empty()) return false;
      const auto first = positive(ends.front());
      const auto last = positive(ends.back());
      const auto step = stepped.size() > 1 ? positive(stepped[1]) : std::optional<int>{1};
      if (!first || !last || !step || *step == 0 || *last >= kMostTasks) return false;
      for (int task = *first; task <= *last; task += *step) job_.tasks.push_back(task);
    }
    return true;
  }

  /// Derives what follows from other options.
  void complete() {
    NodeRequest& ask = job_.request;
    ask.cpus_per_task = std::max(1, ask.cpus_per_task);
    ask.min_nodes = std::max({1, ask.min_nodes, static_cast<int>(ask.required.size())});
    if (ask.max_nodes > 0) ask.max_nodes = std::max(ask.max_nodes, ask.min_nodes);
    if (!ask.tasks_given) {
      if (ask.tasks_per_node > 0) {
        ask.tasks = ask.tasks_per_node * ask.min_nodes;
      } else if (tasks_per_gpu_ > 0 && ask.gpu_scope == GpuScope::job) {
        ask.tasks = tasks_per_gpu_ * ask.gpus;
        ask.tasks_given = true;
      } else if (nodes_given_ && !ask.is_range) {
        ask.tasks = ask.min_nodes * (sockets_given_ ? ask.sockets_per_node : 1) *
                    std::max(1, sockets_given_ ? ask.cores_per_socket : 1);
      }
    }
    if (memory_per_gpu_mb_ > 0) set_memory_per_gpu(memory_per_gpu_mb_, ask);
  }

  const NodeTable& table_;
  Submission job_;
  bool nodes_given_ = false;
  bool sockets_given_ = false;
  int tasks_per_gpu_ = 0;
  int memory_per_gpu_mb_ = 0;
};

}  // namespace

Result<Submission> parse_command_line(std::string_view line, const NodeTable& table) {
  return Reader(table).read(line);
}

bool gives_memory(const NodeRequest& ask) {
  return ask.whole_memory || ask.memory_per_cpu_mb > 0 || ask.memory_per_node_mb > 0 ||
         ask.memory_per_task_mb > 0;
}

void apply_defaults(Submission& submission, const site::Partition& partition,
                    const site::Config& config) {
  NodeRequest& ask = submission.request;
  const auto either = [](auto own, auto other) { return own != 0 ? own : other; };
  const site::JobDefaults& own = partition.job_defaults;
  const site::JobDefaults& all = config.job_defaults;
  if (ask.cpus_per_gpu == 0 && ask.gpu_scope != GpuScope::none) {
    ask.cpus_per_gpu = either(own.cpus_per_gpu, all.cpus_per_gpu);
  }
  if (!gives_memory(ask)) {
    const bool of_partition =
        own.memory_per_cpu_mb != 0 || own.memory_per_node_mb != 0 || own.memory_per_gpu_mb != 0;
    const site::JobDefaults& from = of_partition ? own : all;
    ask.memory_per_cpu_mb = static_cast<int>(from.memory_per_cpu_mb);
    if (ask.memory_per_cpu_mb == 0)
      ask.memory_per_node_mb = static_cast<int>(from.memory_per_node_mb);
    if (!gives_memory(ask)) set_memory_per_gpu(static_cast<int>(from.memory_per_gpu_mb), ask);
    ask.whole_memory = !gives_memory(ask);
  }
  if (!config.select.memory) {
    ask.memory_per_cpu_mb = ask.memory_per_node_mb = ask.memory_per_task_mb = 0;
    ask.whole_memory = false;
  }
  if (submission.time_limit == kNoSeconds && partition.default_time != kNoDuration &&
      partition.default_time != text::kUnlimited) {
    submission.time_limit = static_cast<Seconds>(seconds(partition.default_time));
  }
}

}  // namespace almanac::slurmctld
