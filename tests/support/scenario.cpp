// SPDX-License-Identifier: Apache-2.0
#include "support/scenario.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "text/duration.h"
#include "text/number.h"

namespace almanac {
namespace {

/// A statement that is wrong; caught where the line is known.
struct Wrong {
  std::string message;
};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t from = line.find_first_not_of(" \t", at);
    if (from == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t", from), line.size());
    words.emplace_back(line.substr(from, at - from));
  }
  return words;
}

/// The words of a statement, taken one by one.
class Words {
 public:
  explicit Words(std::string_view line) : words_(words_of(line)) {}

  bool empty() const { return at_ == words_.size(); }
  const std::string& peek() const { return words_[at_]; }
  const std::string& take(std::string_view what) {
    if (empty()) throw Wrong{fmt::format("expected {} at the end of the line", what)};
    return words_[at_++];
  }
  bool skip(std::string_view word) {
    if (empty() || words_[at_] != word) return false;
    ++at_;
    return true;
  }
  void need(std::string_view word) {
    const std::string& found = take(word);
    if (found != word) throw Wrong{fmt::format("expected {}: {}", word, found)};
  }
  int number(std::string_view what) {
    const std::string& word = take(what);
    const auto value = text::parse_whole(word);
    if (!value || *value < 0 || *value > 1'000'000) {
      throw Wrong{fmt::format("expected {}, a whole number: {}", what, word)};
    }
    return static_cast<int>(*value);
  }
  float part(std::string_view what) {
    const std::string& word = take(what);
    const auto value = text::parse_decimal(word);
    if (!value || *value <= 0 || *value > 1) {
      throw Wrong{fmt::format("expected {}, above 0 and up to 1: {}", what, word)};
    }
    return static_cast<float>(*value);
  }
  Duration duration(std::string_view what) { return parse(take(what), what); }

  static Duration parse(const std::string& word, std::string_view what) {
    const bool negative = word.starts_with('-');
    const auto value = text::parse_duration(std::string_view(word).substr(negative ? 1 : 0));
    if (!value) throw Wrong{fmt::format("expected {}, a time like 90s: {}", what, word)};
    return negative ? -*value : *value;
  }

 private:
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  explicit Parser(Scenario& scenario) : made_(scenario) {}

  void comment(std::string_view text) {
    for (auto [key, field] : {std::pair{"name:", &made_.name},
                              {"description:", &made_.description},
                              {"source:", &made_.source}}) {
      if (text.starts_with(key)) {
        text.remove_prefix(std::string_view(key).size());
        *field = text.substr(std::min(text.find_first_not_of(' '), text.size()));
      }
    }
  }

  void statement(Words& words) {
    const std::string kind = words.take("a statement");
    if (kind == "cluster") {
      nodes("all", words);
      made_.input.cluster.takes_every_job = true;
    } else if (kind == "vc") {
      const std::string name = words.take("the virtual cluster's name");
      nodes(name, words);
    } else if (kind == "switch") {
      const std::string path = words.take("the path of a switch");
      words.need("uplink");
      made_.input.cluster.switches.push_back(
          {path, static_cast<double>(words.number("its link in Gb/s"))});
    } else if (kind == "storage") {
      cluster::Storage& storage = made_.input.cluster.storage;
      words.need("remote");
      storage.remote_gbs = words.number("GB/s from afar");
      if (words.skip("cache")) storage.cache_gb = words.number("GB of cache");
    } else if (kind == "capacity") {
      capacity(words);
    } else if (kind == "node") {
      incident(words);
    } else if (kind == "closed") {
      sim::Closure made{.from = Time{words.duration("when a maintenance window begins")}};
      words.need("to");
      made.to = Time{words.duration("when it ends")};
      if (words.skip("node")) {
        const int node = words.number("the number of the node that it is for");
        made.nodes.push_back(NodeId{static_cast<std::uint32_t>(node)});
      }
      made_.input.options.closures.push_back(made);
    } else if (kind == "signal") {
      signal(words);
    } else if (kind == "quota") {
      quota(words);
    } else if (kind == "tenant") {
      tenant(words);
    } else if (kind == "qos") {
      const std::string name = words.take("a QOS");
      words.need("tier");
      made_.input.cluster.qos.push_back(
          {.name = name, .priority_tier = words.number("the priority tier of its jobs")});
    } else if (kind == "job") {
      job(words);
    } else if (kind == "policy") {
      made_.policies.push_back(words.take("a policy"));
      if (words.skip("profile")) made_.input.profile = words.take("a profile");
    } else if (kind == "restart") {
      schedule::RestartCost& cost = made_.input.options.restart;
      cost.one_gpu = cost.up_to_8_gpus = cost.more_gpus = words.duration("the cost");
      if (!words.empty()) cost.up_to_8_gpus = words.duration("the cost of up to 8 GPUs");
      if (!words.empty()) cost.more_gpus = words.duration("the cost of more than 8 GPUs");
    } else if (kind == "speed") {
      words.need("linear");
      made_.input.speed = "linear";
    } else if (kind == "elastic") {
      made_.input.elastic = words.take("a file of tests/support");
    } else if (kind == "believes") {
      made_.input.believed = words.take("a file of tests/support, or learned");
    } else if (kind == "launch") {
      made_.input.options.restart.launch = words.duration("the launch time");
    } else if (kind == "seed") {
      made_.input.options.seed = static_cast<std::uint64_t>(words.number("a seed"));
    } else if (kind == "expect") {
      while (!words.empty()) expect(words);
    } else if (kind == "waits") {
      wait(words);
    } else {
      throw Wrong{fmt::format("no statement is called {}", kind)};
    }
    if (!words.empty()) throw Wrong{fmt::format("nothing more is expected: {}", words.peek())};
  }

  void finish() {
    if (made_.name.empty() || made_.description.empty()) {
      throw Wrong{"a scenario needs # name: and # description:"};
    }
    if (made_.policies.empty()) throw Wrong{"a scenario needs a policy"};
    if (made_.input.incidents) {
      std::stable_sort(made_.input.incidents->all.begin(), made_.input.incidents->all.end(),
                       [](const auto& a, const auto& b) { return a.at < b.at; });
    }
    std::stable_sort(made_.jobs.begin(), made_.jobs.end(),
                     [](const ExpectedJob& a, const ExpectedJob& b) { return a.job < b.job; });
    for (std::size_t at = 0; at < made_.input.trace.jobs.size(); ++at) {
      if (at >= made_.jobs.size() || index(made_.jobs[at].job) != at) {
        throw Wrong{fmt::format("expect says nothing, or too much, of job {}",
                                made_.input.trace.id(made_.input.trace.jobs[at].id))};
      }
    }
  }

 private:
  void tenant(Words& words) {
    cluster::Cluster& machines = made_.input.cluster;
    cluster::Tenant made{.name = words.take("a tenant")};
    while (!words.empty()) {
      if (words.skip("guarantee")) {
        made.guarantee = words.number("its guarantee in GPUs");
      } else if (words.skip("limit")) {
        made.limit = words.number("its limit in GPUs");
      } else if (words.skip("borrows")) {
        words.need("no");
        made.may_borrow = false;
      } else if (words.skip("priority")) {
        made.priority = words.number("the priority of its jobs");
      } else if (words.skip("tier")) {
        made.priority_tier = words.number("the priority tier of its jobs");
      } else if (words.skip("owns")) {
        const int cells = words.number("how many cells it owns");
        made.cells.push_back({.kind = words.take("a kind of cells"), .cells = cells});
      } else if (words.skip("pins")) {
        const std::string kind = words.take("node or rack");
        made.cells.push_back({.kind = kind, .pinned = words.take("a node or rack")});
      } else {
        words.need("parent");
        const std::string parent = words.take("its parent");
        const TenantId found = machines.find_tenant(parent);
        if (found == kNoTenant) throw Wrong{fmt::format("no tenant is called {}", parent)};
        made.parent = static_cast<std::int32_t>(index(found));
      }
    }
    machines.tenants.push_back(std::move(made));
  }

  void nodes(const std::string& vc, Words& words) {
    cluster::Cluster& machines = made_.input.cluster;
    if (machines.vcs.empty() || machines.vcs.back().name != vc) machines.add_vc(vc);
    const int count = words.number("the number of nodes");
    words.need("x");
    cluster::NodeClass make{.gpus = words.number("GPUs per node")};
    std::string rack;
    words.need("gpu");
    while (!words.empty()) {
      if (words.skip("cpus")) {
        make.cpus = words.number("its cores");
      } else if (words.skip("memory")) {
        make.memory_gb = words.number("its memory in GB");
      } else if (words.skip("bandwidth")) {
        make.bandwidth_gbs = words.number("its memory bandwidth in GB/s");
      } else if (words.skip("limit")) {
        make.gpu_power_limit_w = words.number("the power limit of its GPUs in watts");
      } else if (words.skip("uplink")) {
        make.uplink_gbps = words.number("its link in Gb/s");
      } else if (words.skip("mig")) {
        const std::string board = words.take("a board");
        make.sharing = cluster::Sharing::mig;
        make.board = slices::find_board(board);
        if (make.board == nullptr) throw Wrong{fmt::format("no board is called {}", board)};
        make.gpu_memory_gb = make.board->memory_gib;
        make.instance_s = 0;
      } else if (words.skip("instance")) {
        make.instance_s = seconds(words.duration("how long an instance takes"));
      } else if (words.skip("mps")) {
        make.sharing = cluster::Sharing::mps;
      } else if (words.skip("turns")) {
        make.sharing = cluster::Sharing::time;
      } else if (words.skip("gpu_memory")) {
        make.gpu_memory_gb = words.number("the memory of its GPUs in GB");
      } else if (words.skip("sockets")) {
        make.sockets = words.number("the number of its sockets");
      } else if (words.skip("nvlink")) {
        make.connections.push_back(nvlink(words.take("GPUs: 0+3, with two links 0+3:2")));
      } else if (words.skip("rack")) {
        rack = words.take("the name of a rack");
      } else if (words.skip("nvlink_domain")) {
        words.need("rack");
        make.nvlink_domain = cluster::NvlinkDomain::rack;
      } else {
        make.gpu_type = words.take("a GPU type");
      }
    }
    machines.add_nodes(make, static_cast<std::uint32_t>(count), {}, rack);
  }

  static cluster::Connection nvlink(const std::string& text) {
    cluster::Connection made{.by = cluster::Between::nvlink};
    std::istringstream numbers(text);
    for (int gpu = 0; numbers >> gpu;) {
      made.gpus.push_back(gpu);
      if (numbers.get() == ':') numbers >> made.links;
    }
    return made;
  }

  void capacity(Words& words) {
    const std::string& name = words.take("the virtual cluster");
    cluster::CapacityChange change{.vc = made_.input.cluster.find_vc(name)};
    if (change.vc == kNoVc) throw Wrong{fmt::format("no virtual cluster is called {}", name)};
    change.nodes = words.number("the number of nodes");
    words.need("nodes");
    words.need("at");
    change.at = words.skip("start") ? Time::min() : Time{words.duration("when")};
    made_.input.cluster.changes.push_back(change);
  }

  void incident(Words& words) {
    using Kind = cluster::Incident::Kind;
    const cluster::Cluster& machines = made_.input.cluster;
    const std::string& name = words.take("a node");
    cluster::Incident made;
    while (made.subject < machines.nodes.size() &&
           machines.node_label(NodeId{made.subject}) != name) {
      ++made.subject;
    }
    if (made.subject == machines.nodes.size()) {
      throw Wrong{fmt::format("no node is called {}", name)};
    }
    if (words.skip("notice")) {
      made.kind = Kind::notice;
      made.value = seconds(words.duration("how long before"));
    } else if (words.skip("up")) {
      made.kind = Kind::up;
    } else {
      words.need("down");
      made.kind = Kind::down;
    }
    happens(made, words);
  }

  void signal(Words& words) {
    const std::string& name = words.take("a signal");
    if (!made_.input.incidents) made_.input.incidents.emplace();
    std::vector<std::string>& known = made_.input.incidents->signals;
    const auto found = std::find(known.begin(), known.end(), name);
    cluster::Incident made{.kind = cluster::Incident::Kind::signal,
                           .subject = static_cast<std::uint32_t>(found - known.begin()),
                           .value = static_cast<double>(words.number("its value"))};
    if (found == known.end()) known.push_back(name);
    happens(made, words);
  }

  void happens(cluster::Incident& made, Words& words) {
    words.need("at");
    made.at = Time{words.duration("when")};
    if (!made_.input.incidents) made_.input.incidents.emplace();
    made_.input.incidents->all.push_back(made);
  }

  void quota(Words& words) {
    if (!made_.input.quotas) made_.input.quotas.emplace();
    made_.input.quotas->add(words.number("its GPUs"));
    words.need("users");
    members_.push_back(words.take("who counts for it"));
  }

  /// What a job of `user` claims.
  ClaimId claim(std::string_view user, int gpus) {
    policy::Quotas::Claim made{.gpus = gpus};
    for (std::uint32_t at = 0; at < members_.size(); ++at) {
      if (fmt::format(",{},", members_[at]).find(fmt::format(",{},", user)) == std::string::npos) {
        continue;
      }
      made.counted.push_back(at);
    }
    made.asked = made.counted;
    return made_.input.quotas->claim(made);
  }

  void job(Words& words) {
    const std::string id = words.take("the job's name");
    if (find(id)) throw Wrong{fmt::format("two jobs are called {}", id)};
    JobSpec spec{.id = id};
    std::vector<std::string> texts;
    texts.reserve(16);  // the spec looks at them
    while (!words.empty()) {
      const std::string key = words.take("a field");
      if (key == "submit") {
        spec.submit = words.duration("when it is submitted");
      } else if (key == "gpus") {
        spec.gpus = words.number("its GPUs");
      } else if (key == "run") {
        spec.run = words.duration("how long it runs");
      } else if (key == "limit") {
        spec.limit = words.duration("its time limit");
      } else if (key == "predicted") {
        spec.predicted = words.duration("its prediction");
      } else if (key == "deadline") {
        spec.deadline = words.duration("when it is to have ended");
      } else if (key == "worthless_at") {
        spec.worthless_at = words.duration("when its value has fallen to nothing");
      } else if (key == "checkpoint") {
        spec.checkpoint = words.duration("the work between two checkpoints");
      } else if (key == "tier") {
        spec.tier = words.number("its priority tier");
      } else if (key == "requeue") {
        const std::string& word = words.take("yes or no");
        const auto said = trace::parse_requeue(word);
        if (!said) throw Wrong{fmt::format("expected yes or no: {}", word)};
        spec.requeue = *said;
      } else if (key == "max_gpus") {
        spec.max_gpus = words.number("the most GPUs that it may run on");
      } else if (key == "min_gpus") {
        spec.min_gpus = words.number("the fewest GPUs that it may run on");
      } else if (key == "plan_gpus") {
        spec.plan_gpus = words.number("the GPUs of one copy of its model");
      } else if (key == "nvlink_gpus") {
        spec.nvlink_gpus = words.number("the GPUs that must share an NVLink domain");
      } else if (key == "batch") {
        spec.batch = words.number("the samples of a step");
      } else if (key == "steps") {
        spec.steps = words.number("its steps");
      } else if (key == "cpus") {
        spec.cpus = static_cast<float>(words.number("its cores"));
      } else if (key == "memory") {
        spec.memory_gb = static_cast<float>(words.number("its memory in GB"));
      } else if (key == "share") {
        spec.gpu_share = words.part("its part of the GPU");
      } else if (key == "gpu_memory") {
        spec.gpu_memory_gb = static_cast<float>(words.number("memory of a GPU in GB"));
      } else if (key == "reference_cpus") {
        spec.reference_cpus = static_cast<float>(words.number("the cores it was recorded with"));
      } else if (key == "bandwidth") {
        spec.bandwidth_gbs = static_cast<float>(words.number("its memory traffic in GB/s"));
      } else if (key == "sends") {
        spec.network_s = static_cast<float>(seconds(words.duration("for how long it sends")));
        words.need("of");
        spec.step_s = static_cast<float>(seconds(words.duration("the length of a step")));
        if (words.skip("at")) {
          spec.network_gbps = static_cast<float>(words.number("what it sends in Gb/s"));
        }
      } else if (key == "reads") {
        spec.read_gbs = static_cast<float>(words.number("what it reads in GB/s"));
        words.need("of");
        spec.data_set = texts.emplace_back(words.take("its data set"));
        spec.data_gb = static_cast<float>(words.number("the size of that in GB"));
      } else if (std::string_view JobSpec::*const field = text_field(key)) {
        spec.*field = texts.emplace_back(words.take(key));
      } else {
        throw Wrong{fmt::format("a job has no {}", key)};
      }
    }
    const std::vector<trace::Job>& jobs = made_.input.trace.jobs;
    if (!jobs.empty() && Time{spec.submit} < jobs.back().request.submit) {
      throw Wrong{fmt::format("jobs stand in order of submission: {}", id)};
    }
    if (made_.input.quotas) {
      const JobId next{static_cast<std::uint32_t>(jobs.size())};
      made_.input.quotas->put(next, claim(spec.user, spec.gpus));
    }
    add_job(made_.input.trace, spec);
  }

  static std::string_view JobSpec::*text_field(std::string_view key) {
    if (key == "profile") return &JobSpec::gpu_profile;
    if (key == "reference") return &JobSpec::reference_profile;
    if (key == "vc") return &JobSpec::vc;
    if (key == "user") return &JobSpec::user;
    if (key == "qos") return &JobSpec::qos;
    if (key == "name") return &JobSpec::name;
    if (key == "type") return &JobSpec::gpu_type;
    if (key == "model") return &JobSpec::model;
    if (key == "kind") return &JobSpec::kind;
    if (key == "alternatives") return &JobSpec::alternatives;
    if (key == "group") return &JobSpec::group;
    if (key == "metric") return &JobSpec::metric;
    return nullptr;
  }

  std::optional<JobId> find(const std::string& id) {
    const std::vector<trace::Job>& jobs = made_.input.trace.jobs;
    for (std::uint32_t at = 0; at < jobs.size(); ++at) {
      if (made_.input.trace.id(jobs[at].id) == id) return JobId{at};
    }
    return std::nullopt;
  }

  JobId known(const std::string& id) {
    const auto job = find(id);
    if (!job) throw Wrong{fmt::format("no job is called {}", id)};
    return *job;
  }

  static std::pair<Time, Time> stretch(const std::string& word) {
    const std::size_t dots = word.find("..");
    if (dots == std::string::npos) throw Wrong{fmt::format("expected FROM..UNTIL: {}", word)};
    const std::string until = word.substr(dots + 2);
    return {Time{Words::parse(word.substr(0, dots), "the beginning")},
            until == "never" ? kNever : Time{Words::parse(until, "the end")}};
  }

  void expect(Words& words) {
    ExpectedJob expected{.job = known(words.take("a job"))};
    if (words.skip("never")) {
      expected.never = words.take("a reason");
    } else if (!words.skip("waits")) {
      do {
        const auto [start, end] = stretch(words.take("FROM..UNTIL"));
        expected.runs.push_back({.start = start, .end = end});
        if (words.skip("at")) expected.runs.back().place = words.take("node:gpus");
      } while (!words.empty() && words.peek().find("..") != std::string::npos);
    }
    made_.jobs.push_back(std::move(expected));
  }

  void wait(Words& words) {
    ExpectedWait expected{.job = known(words.take("a job"))};
    const auto [from, until] = stretch(words.take("FROM..UNTIL"));
    expected.text =
        fmt::format("{}..{} {}", time_text(from), time_text(until), words.take("a reason"));
    if (!words.empty()) expected.text += " " + words.take("the other job");
    while (!words.empty()) expected.text += " " + words.take("what puts the other job first");
    made_.waits.push_back(std::move(expected));
  }

  Scenario& made_;
  std::vector<std::string> members_;  // of each quota, separated by commas
};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

std::string id_of(const Scenario& scenario, JobId job) {
  return scenario.input.trace.id(scenario.input.trace.jobs[index(job)].id);
}

std::string run_text(Time start, Time end, const std::string& place) {
  return fmt::format("  {}..{}{}{}", time_text(start), time_text(end), place.empty() ? "" : " at ",
                     place);
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, const std::string& file) {
  Scenario scenario;
  Parser parser(scenario);
  std::int64_t line_number = 0;
  try {
    while (!text.empty()) {
      ++line_number;
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      const std::size_t hash = line.find('#');
      if (hash != std::string_view::npos) {
        std::string_view comment = line.substr(hash + 1);
        comment.remove_prefix(std::min(comment.find_first_not_of(' '), comment.size()));
        parser.comment(comment);
        line = line.substr(0, hash);
      }
      Words words(line);
      if (!words.empty()) parser.statement(words);
    }
    parser.finish();
  } catch (const Wrong& wrong) {
    return fail(Code::invalid, wrong.message, {.file = file, .line = line_number});
  }
  return scenario;
}

std::string expected_timeline(const Scenario& scenario) {
  std::string text;
  for (const ExpectedJob& job : scenario.jobs) {
    text += id_of(scenario, job.job);
    if (!job.never.empty()) text += "  never " + job.never;
    for (const ExpectedRun& run : job.runs) text += run_text(run.start, run.end, run.place);
    text += '\n';
  }
  return text;
}

std::string actual_timeline(const Scenario& scenario, const Played& played) {
  std::string text;
  for (const ExpectedJob& job : scenario.jobs) {
    text += id_of(scenario, job.job);
    for (const auto& [never, reason] : played.result.never) {
      if (never == job.job) text += "  never " + lower(policy::name(reason.kind));
    }
    std::size_t at = 0;
    for (const Run& run : played.runs) {
      if (run.job != job.job) continue;
      const bool place_matters = at < job.runs.size() && !job.runs[at].place.empty();
      const bool gpus_matter = place_matters && job.runs[at].place.find('[') != std::string::npos;
      ++at;
      text += run_text(run.begin, run.end,
                       gpus_matter     ? placed_on_text(scenario.input.cluster, run.grants)
                       : place_matters ? placed_text(scenario.input.cluster, run.grants)
                                       : "");
    }
    text += '\n';
  }
  return text;
}

std::string actual_waits(const Scenario& scenario, const sim::Schedule& result) {
  std::string text;
  for (const sim::Wait& wait : result.waits) {
    text += fmt::format("{}..{} {}", time_text(wait.from), time_text(wait.until),
                        lower(policy::name(wait.reason.kind)));
    if (wait.reason.other != kNoJob) text += " " + id_of(scenario, wait.reason.other);
    const std::string why = policy::to_string(wait.reason.precedence);
    if (!why.empty()) text += " because " + why;
    if (wait.reason.stop_gpu_s > 0) text += fmt::format(" for {:g} GPU-s", wait.reason.stop_gpu_s);
    text += '\n';
  }
  return text;
}

}  // namespace almanac
