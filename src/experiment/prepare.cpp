// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads and checks the inputs of a run.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "energy/power_file.h"
#include "experiment/apply_failures.h"
#include "experiment/experiment.h"
#include "experiment/fitted_failures.h"
#include "experiment/impossible_jobs.h"
#include "experiment/log_speeds.h"
#include "experiment/run_notes.h"
#include "experiment/shares_of_cluster.h"
#include "experiment/site_of_log.h"
#include "experiment/warm_up.h"
#include "faults/model_file.h"
#include "kueue/logged_jobs.h"
#include "kueue/read.h"
#include "perf/catalogue_file.h"
#include "policy/contract/power_limits.h"
#include "policy/registry.h"
#include "predict/model_file.h"
#include "schedule/speed_book.h"
#include "slurmctld/jobs/logged_jobs.h"
#include "table/digest.h"
#include "text/datetime.h"
#include "text/human.h"

namespace almanac::experiment {
namespace {

bool asks_all(const Experiment& experiment) {
  return experiment.policies == std::vector<std::string>{"all"};
}

bool asks_quick(const Experiment& experiment) {
  return experiment.policies == std::vector<std::string>{"quick"};
}

Result<Prepared::Run> compose_run(const Experiment& experiment, const std::string& text) {
  if (text != "-") {
    Result<policy::Composition> composition = policy::registry().compose(text);
    if (!composition) return tl::unexpected(composition.error());
    return Prepared::Run{.composition = std::move(*composition), .restart = experiment.restart};
  }
  if (!experiment.guest) {
    return fail(Code::usage,
                "policy - is decided by another program, and only almanac simulate can run one", {},
                "simulate it again (docs/guide/script_policies.md)");
  }
  return Prepared::Run{.composition = experiment.guest->composition,
                       .restart = experiment.restart,
                       .talk = experiment.guest->talk};
}

Result<std::vector<Prepared::Run>> compose_runs(const Experiment& experiment) {
  if (experiment.policies.empty()) {
    return fail(Code::usage, "no policy is named", {}, "almanac policy list shows them");
  }
  std::vector<Prepared::Run> runs;
  const auto names = asks_all(experiment)     ? all_policies()
                     : asks_quick(experiment) ? quick_policies()
                                              : experiment.policies;
  for (const std::string& text : names) {
    Result<Prepared::Run> composed = compose_run(experiment, text);
    if (!composed) return tl::unexpected(composed.error());
    Prepared::Run& run = *composed;
    const auto applied = apply_profile(experiment.profile, run);
    if (!applied) return tl::unexpected(applied.error());
    const bool twice = std::any_of(runs.begin(), runs.end(), [&](const Prepared::Run& other) {
      return other.composition.name == run.composition.name;
    });
    if (twice) {
      return fail(Code::usage, fmt::format("policy {} is named twice", run.composition.name));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

/// Policies that are made for data of which this log and this run have none, by what is lacking.
using Idle = std::vector<std::pair<std::string, std::vector<std::string>>>;
Idle idle_policies(const Prepared& made) {
  using policy::Trait;
  const auto& jobs = made.trace.jobs;
  const bool has_deadlines = std::any_of(jobs.begin(), jobs.end(), [&](const trace::Job& job) {
    return job.request.deadline != kNoTime && sim::is_simulated(job.request, made.cluster);
  });
  const bool has_trials = std::any_of(jobs.begin(), jobs.end(), [](const trace::Job& job) {
    return job.request.group != kNoName && job.outcome.metric != kNoName;
  });
  struct Data {
    Trait trait;
    bool is_there;
    const char* lack;
  };
  const bool has_signals = made.incidents != nullptr && !made.incidents->signals.empty();
  const bool has_speeds = !made.experiment.speed.empty();
  const bool has_shared = made.cluster.has_links() || made.cluster.storage.remote_gbs > 0;
  const bool tells_traffic = schedule::tells_traffic(made.trace, made.cluster);
  const std::array<Data, 7> kinds = {
      {{Trait::reads_deadlines, has_deadlines, "no job has a deadline"},
       {Trait::paces_traffic, tells_traffic || (has_speeds && has_shared),
        "no job shares a link or storage (columns step_s and network_s, or --speed, with "
        "uplink_gbps of the cluster; read_gbs with [storage])"},
       {Trait::reads_speeds, has_speeds || tells_traffic, "no speed profiles are given (--speed)"},
       {Trait::reads_training, !made.applications.empty(), "no job is elastic (--elastic)"},
       {Trait::reads_groups, has_trials, "no job is a trial of a sweep (group, metric)"},
       {Trait::reads_signals, has_signals, "no signal is given (--signal)"},
       {Trait::reads_tenants, !made.cluster.tenants.empty(), "the cluster has no tenants"}}};
  std::map<unsigned, std::vector<std::string>> by_lack;  // by the bits of what they lack
  for (const Prepared::Run& run : made.runs) {
    const policy::TraitSet traits = policy::registry().traits(run.composition);
    unsigned lacks = 0;
    bool has_any = false;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      if (!traits.has(kinds[kind].trait)) continue;
      // The traffic of jobs is all that such a policy reads of speeds.
      if (kinds[kind].trait == Trait::reads_speeds && traits.has(Trait::paces_traffic)) continue;
      has_any = has_any || kinds[kind].is_there;
      lacks |= 1U << kind;
    }
    if (lacks != 0 && !has_any) by_lack[lacks].push_back(run.composition.name);
  }
  Idle idle;
  for (const auto& [lacks, names] : by_lack) {
    std::vector<std::string> why;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      if ((lacks >> kind & 1U) != 0) why.emplace_back(kinds[kind].lack);
    }
    idle.emplace_back(fmt::format("{}", fmt::join(why, " and ")), names);
  }
  return idle;
}

/// Their rows would not show what they are for.
void leave_out_idle(Prepared& made) {
  for (const auto& [lack, names] : idle_policies(made)) {
    made.left_out.push_back(fmt::format("left out because {}: {}", lack, fmt::join(names, ", ")));
    std::erase_if(made.runs, [&out = names](const Prepared::Run& run) {
      return std::find(out.begin(), out.end(), run.composition.name) != out.end();
    });
  }
  made.experiment.policies.clear();
  for (const Prepared::Run& run : made.runs) {
    made.experiment.policies.push_back(run.composition.name);
  }
}

/// Fails if a policy names a signal by a number that this run does not have.
Result<void> check_signals(const Prepared& made) {
  if (made.incidents == nullptr || made.incidents->signals.empty()) return {};
  const std::vector<std::string>& given = made.incidents->signals;
  for (const Prepared::Run& run : made.runs) {
    const auto told = run.composition.whole.told.find("signal");
    if (told == run.composition.whole.told.end()) continue;
    const auto number = static_cast<std::size_t>(told->second.front());
    if (number <= given.size()) continue;
    return fail(Code::usage,
                fmt::format("policy {} reads signal {}, and {} given: {}", run.composition.name,
                            number, text::counted(given.size(), "signal is", "signals are"),
                            fmt::join(given, ", ")),
                {}, "signals are numbered in the order of --signal and --incidents");
  }
  return {};
}

/// Notes the policies that run without the data that they need.
void note_idle(Prepared& made) {
  for (const auto& [lack, names] : idle_policies(made)) {
    made.notes.push_back(
        fmt::format("{} cannot use all of its features: {}", fmt::join(names, ", "), lack));
  }
}

/// Notes the policies that choose between contracts which no GPU type of the cluster has.
void note_contracts(Prepared& made) {
  const std::vector<std::string> types = made.cluster.gpu_types();
  const auto any = [&](auto&& is) { return std::any_of(types.begin(), types.end(), is); };
  const bool has_reserved =
      made.incidents != nullptr && any([&](const std::string& type) {
        const std::vector<std::string>& given = made.incidents->signals;
        return std::find(given.begin(), given.end(), "reserved/" + type) != given.end();
      });
  const bool has_spot = any([](const std::string& type) { return type.ends_with("-spot"); });
  for (const Prepared::Run& run : made.runs) {
    const policy::Entry* const whole = policy::registry().wholes.find(run.composition.whole.name);
    if (whole == nullptr || policy::find_parameter(whole->parameters, "buys") == nullptr) continue;
    const std::string buys =
        policy::Parameters(whole->parameters, run.composition.whole).word("buys");
    if (buys == "reserved" && !has_reserved) {
      made.notes.push_back(
          fmt::format("{} finds nothing reserved: no signal reserved/TYPE names a "
                      "GPU type of the cluster",
                      run.composition.name));
    }
    if (buys == "spot" && !has_spot) {
      made.notes.push_back(
          fmt::format("{} finds no spot GPUs: no GPU type ends with -spot", run.composition.name));
    }
  }
}

/// Returns the speeds of `name`: a catalogue, the log itself, or nothing yet.
Result<perf::Catalogue> catalogue_of(const std::string& name, Prepared& made) {
  if (name == kLearnedSpeeds) return perf::Catalogue{};
  if (name != kLogSpeeds) return perf::read_catalogue(name);
  LogSpeeds log = speeds_by_log(made.trace);
  made.notes.insert(made.notes.end(), log.notes.begin(), log.notes.end());
  return std::move(log.catalogue);
}

/// Returns the digest of a speed model, which is a preset or a file.
Result<std::string> digest_of(const std::string& speed) {
  if (speed == kLogSpeeds || speed == kLearnedSpeeds) return speed;
  const auto presets = perf::presets();
  const auto preset = std::find_if(presets.begin(), presets.end(),
                                   [&](const text::Preset& each) { return each.name == speed; });
  return preset == presets.end() ? table::sha256_file(speed) : table::sha256(preset->text);
}

Result<void> read_applications(const std::string& path, Prepared& made) {
  if (path.empty()) return {};
  auto read = elastic::read_elastic(path);
  if (!read) return tl::unexpected(read.error());
  const auto& names = made.trace.names;
  const auto elastic =
      std::count_if(made.trace.jobs.begin(), made.trace.jobs.end(), [&](const trace::Job& job) {
        return job.request.model != kNoName &&
               read->contains(std::string(names[job.request.model]));
      });
  if (elastic == 0) {
    std::vector<std::string> known;
    for (const auto& [name, application] : *read) known.push_back(name);
    return fail(Code::usage, "no job's model is an elastic application", {.file = path},
                fmt::format("the elastic applications are {}", fmt::join(known, ", ")));
  }
  made.applications = std::move(*read);
  namespace fs = std::filesystem;
  const fs::path published = fs::path(path) / "elastic" / "pollux" / "applications.json";
  const auto digest = table::sha256_file(fs::is_directory(path) ? published.string() : path);
  if (!digest) return tl::unexpected(digest.error());
  made.elastic_digest = *digest;
  return {};
}

/// The model that learned estimates begin with. It must not know anything that lies ahead.
Result<std::shared_ptr<const predict::StoredModel>> read_model(
    const std::string& path, const trace::Trace& trace, const std::vector<Prepared::Run>& runs) {
  if (path.empty()) return nullptr;
  const bool used = std::any_of(runs.begin(), runs.end(), [](const Prepared::Run& run) {
    return policy::registry().traits(run.composition).has(policy::Trait::reads_model);
  });
  if (!used) {
    return fail(Code::usage, "none of the policies uses a learned estimate", {.file = path},
                "qssf and gittins do; so does easy+learned_90");
  }
  auto read = predict::read_model(path);
  if (!read) return tl::unexpected(read.error());
  const Time first = trace.jobs.empty() ? kNever : trace.jobs.front().request.submit;
  if (read->training.to >= first) {
    return fail(Code::usage,
                fmt::format("the model was trained on jobs that ended until {}, but the trace "
                            "begins at {}: the model would know the future",
                            text::format_datetime(read->training.to), text::format_datetime(first)),
                {.file = path}, "train it with --until that time or earlier");
  }
  return std::make_shared<const predict::StoredModel>(std::move(*read));
}

Result<void> check_any_job_is_simulated(const trace::Trace& trace,
                                        const cluster::Cluster& cluster) {
  const bool any = std::any_of(trace.jobs.begin(), trace.jobs.end(), [&](const trace::Job& job) {
    return sim::is_simulated(job.request, cluster);
  });
  if (any || trace.jobs.empty()) return {};
  return fail(Code::invalid, "no job requests a GPU, and the cluster does not count cores",
              {.file = trace.path},
              "add cpus to its nodes in a --cluster file to simulate CPU jobs");
}

/// Makes all nodes one virtual cluster if no job names one.
void merge_virtual_clusters(Prepared& made) {
  const auto& jobs = made.trace.jobs;
  const bool any_vc = std::any_of(jobs.begin(), jobs.end(), [&](const trace::Job& job) {
    return sim::is_simulated(job.request, made.cluster) && job.request.vc != kNoName;
  });
  if (!any_vc && !made.cluster.takes_every_job) {
    made.cluster = cluster::merged(made.cluster);
    made.notes.emplace_back(
        "no job names a virtual cluster, so all nodes form one that takes every job");
  }
  made.notes.insert(made.notes.end(), made.cluster.notes.begin(), made.cluster.notes.end());
}

bool has(const Prepared::Run& run, policy::Trait trait) {
  return policy::registry().traits(run.composition).has(trait);
}

/// Notes what policy slurm does not know of its site, and what it assumes of jobs.
void note_slurm_site(Prepared& made) {
  for (const Prepared::Run& run : made.runs) {
    if (run.site == nullptr || !has(run, policy::Trait::reads_site)) continue;
    made.notes.insert(made.notes.end(), run.site->unknown.begin(), run.site->unknown.end());
    const auto notes = slurmctld::notes_on_lacks(*run.site, made.trace, false);
    made.notes.insert(made.notes.end(), notes.begin(), notes.end());
    return;
  }
}

/// Fails if a job would span more nodes than a simulation counts of a job.
Result<void> check_widths(const Prepared& made) {
  constexpr int kMostNodes = std::numeric_limits<std::uint16_t>::max();
  int most = 0;
  for (const cluster::NodeClass& each : made.cluster.classes) most = std::max(most, each.gpus);
  for (const trace::Job& job : made.trace.jobs) {
    if (most == 0 || (job.request.gpus - 1) / most < kMostNodes) continue;
    return fail(Code::invalid,
                fmt::format("job {} requests {} GPUs, more than {} nodes of {} GPUs have",
                            made.trace.id(job.id), job.request.gpus, kMostNodes, most),
                {}, "no job spans more nodes: correct the log");
  }
  return {};
}

/// Gives policies the queues of a Kueue site, which share all nodes. Fails if no policy reads them.
Result<void> read_queues(Prepared& made) {
  const std::string& file = made.experiment.queues;
  if (file.empty()) return {};
  const bool used = std::any_of(made.runs.begin(), made.runs.end(), [](const Prepared::Run& run) {
    return has(run, policy::Trait::reads_queues);
  });
  if (!used) {
    return fail(Code::usage, "--queues requires policy kueue, and none of the policies is it",
                {.file = file}, "add it: --policy kueue,easy");
  }
  auto objects = kueue::read_objects(file);
  if (!objects) return tl::unexpected(objects.error());
  auto notes = kueue::notes_on_jobs(*objects, made.trace);
  if (!notes) {
    notes.error().where.file = file;
    return tl::unexpected(notes.error());
  }
  made.notes.insert(made.notes.end(), notes->begin(), notes->end());
  if (!made.cluster.takes_every_job) {
    made.cluster = cluster::merged(made.cluster);
    made.notes.emplace_back("the queues share all nodes, so they form one virtual cluster");
  }
  const auto shared = std::make_shared<const kueue::Objects>(std::move(*objects));
  for (Prepared::Run& run : made.runs) run.queues = shared;
  return {};
}

Result<void> read_incidents(Prepared& made) {
  const std::string& file = made.experiment.incidents;
  const std::vector<std::string>& signals = made.experiment.signals;
  if (file.empty() && signals.empty()) return {};
  if (made.experiment.load != 1) {
    return fail(Code::usage, "--load would move the jobs but not the incidents or signals",
                {.file = file}, "leave out --load, or --incidents and --signal");
  }
  auto incidents = file.empty() ? Result<cluster::Incidents>(cluster::Incidents{})
                                : cluster::read_incidents(file, made.cluster);
  if (!incidents) return tl::unexpected(incidents.error());
  if (const auto added = cluster::add_signals(signals, made.cluster, *incidents); !added) {
    return tl::unexpected(added.error());
  }
  note_assumptions(*incidents, made.cluster, made.trace, made.notes);
  made.incidents = std::make_shared<const cluster::Incidents>(std::move(*incidents));
  return {};
}

/// Fits the failure model to the log.
Result<faults::Model> fit_model(Prepared& made) {
  const auto text = fitted_failures(made.trace, made.cluster);
  if (!text) return tl::unexpected(text.error());
  made.notes.push_back(fit_in_words(faults::fit(runs_of(made.trace, made.cluster))));
  return faults::parse_model(*text, kFitted);
}

/// Reads the failure model, and checks it against the cluster.
Result<void> read_failures(Prepared& made) {
  const std::string& name = made.experiment.failures;
  if (name.empty()) return {};
  auto model = name == kFitted ? fit_model(made) : faults::read_model(name);
  if (!model) return tl::unexpected(model.error());
  using Kind = cluster::Incident::Kind;
  const bool any_down = made.incidents != nullptr &&
                        std::any_of(made.incidents->all.begin(), made.incidents->all.end(),
                                    [](const auto& each) { return each.kind == Kind::down; });
  if (any_down || !made.cluster.changes.empty()) {
    return fail(Code::usage,
                fmt::format("--failures draws which nodes fail, and {} says it too",
                            any_down ? "--incidents" : "the cluster file"),
                {}, "leave out --failures, or the nodes there");
  }
  const auto& vcs = made.cluster.vcs;
  const auto spares = static_cast<std::uint32_t>(model->spares);
  if (spares > 0 &&
      std::all_of(vcs.begin(), vcs.end(), [&](const auto& vc) { return spares >= vc.num_nodes; })) {
    return fail(Code::invalid,
                fmt::format("spares = {}, but no virtual cluster has more nodes than that", spares),
                {.file = name}, "spares are nodes of each virtual cluster; give fewer");
  }
  note_failures(*model, made.cluster, made.trace, made.notes);
  made.failures = std::make_shared<const faults::Model>(std::move(*model));
  return {};
}

/// Replaces "all" and "quick" by the policies that will run.
void name_policies(Prepared& made) {
  if (asks_all(made.experiment)) {
    leave_out_idle(made);
  } else if (asks_quick(made.experiment)) {
    made.experiment.policies = quick_policies();
  } else {
    note_idle(made);
  }
  made.notes.insert(made.notes.end(), made.left_out.begin(), made.left_out.end());
}

Result<policy::PowerLimits> power_limits(Prepared& made) {
  const auto setter = std::find_if(made.runs.begin(), made.runs.end(), [](const auto& run) {
    return policy::registry().traits(run.composition).has(policy::Trait::limits_power);
  });
  auto limits = setter == made.runs.end()
                    ? policy::PowerLimits::of(made.cluster, made.power)
                    : policy::PowerLimits::of_jobs_too(made.cluster, made.power);
  if (!limits) {
    Error error = limits.error();
    error.where.file = made.experiment.cluster;
    return tl::unexpected(error);
  }
  if (setter != made.runs.end() && !limits->may_be_set()) {
    made.notes.push_back(fmt::format(
        "{} sets no power limits: the power model {} only knows how a limit affects a {}, and not "
        "all GPUs of the cluster are of that type (choose another model with --power)",
        setter->composition.name, made.power.name, made.power.gpu_type));
  }
  return limits;
}

Result<void> check_speeds(const Experiment& experiment) {
  if (experiment.speed.empty() && !experiment.believed_speed.empty()) {
    return fail(Code::usage, "--believed-speed requires simulated speeds", {},
                "add --speed with the models that determine how fast jobs run");
  }
  if (experiment.speed == kLearnedSpeeds) {
    return fail(
        Code::usage,
        "--speed learned is not possible: jobs cannot run at speeds that are still to be learned",
        {},
        "use --believed-speed learned for what policies believe; --speed determines how jobs run");
  }
  return {};
}

/// Reads the speeds that policies believe, and the true ones.
Result<void> read_speeds(Prepared& made, const policy::PowerLimits& limits) {
  const Experiment& experiment = made.experiment;
  if (experiment.believed_speed == kLearnedSpeeds) {
    for (Prepared::Run& run : made.runs) run.learns_types = true;
    made.notes.emplace_back(
        "policies start without speed profiles; those that choose GPU types learn how fast the "
        "jobs of each user and name run on each type");
  }
  if (!experiment.believed_speed.empty()) {
    auto believed = catalogue_of(experiment.believed_speed, made);
    if (!believed) return tl::unexpected(believed.error());
    const Result<std::string> content = digest_of(experiment.believed_speed);
    if (!content) return tl::unexpected(content.error());
    made.catalogue = *content;
    made.believed = std::make_shared<schedule::SpeedBook>(made.cluster, made.trace,
                                                          std::move(*believed), limits);
  }
  if (!experiment.speed.empty()) {
    auto catalogue = catalogue_of(experiment.speed, made);
    if (!catalogue) return tl::unexpected(catalogue.error());
    const Result<std::string> content = digest_of(experiment.speed);
    if (!content) return tl::unexpected(content.error());
    made.catalogue = made.catalogue.empty() ? *content : *content + " " + made.catalogue;
    made.speeds = std::make_shared<schedule::SpeedBook>(made.cluster, made.trace,
                                                        std::move(*catalogue), limits);
    made.notes.insert(made.notes.end(), made.speeds->notes().begin(), made.speeds->notes().end());
  }
  return {};
}

/// Simulates speeds without --speed if trace or cluster say at what rate jobs run on what they take
/// instead, how they train, what they send and read, or how they share GPUs.
void add_told_speeds(Prepared& made, const policy::PowerLimits& limits) {
  const bool tells_rates =
      !made.applications.empty() ||
      std::any_of(made.trace.jobs.begin(), made.trace.jobs.end(), [](const trace::Job& job) {
        return job.request.alternatives != kNoName || job.outcome.metric != kNoName;
      });
  if (made.speeds == nullptr && (tells_rates || schedule::tells_traffic(made.trace, made.cluster) ||
                                 schedule::tells_sharing(made.trace, made.cluster))) {
    made.speeds =
        std::make_shared<schedule::SpeedBook>(made.cluster, made.trace, perf::Catalogue{}, limits);
    made.notes.insert(made.notes.end(), made.speeds->notes().begin(), made.speeds->notes().end());
  }
  if (made.speeds == nullptr && limits.any()) {
    made.notes.emplace_back("power limits of GPUs have no effect without --speed or --elastic");
  }
}

Result<void> check_policies(const Prepared& made) {
  for (const Prepared::Run& run : made.runs) {
    if (const auto fitted = fit_profile(run, made.speeds != nullptr); !fitted) return fitted;
    if (const auto policy = make_policy(run, made.trace, made.model); !policy) {
      return tl::unexpected(policy.error());
    }
  }
  return {};
}

}  // namespace

Result<Prepared> prepare(const Experiment& experiment) {
  // Policies first: a wrong name should not cost the time to read a trace.
  if (const auto runs = compose_runs(experiment); !runs) return tl::unexpected(runs.error());
  Result<trace::Trace> trace = trace::read_trace(experiment.trace, experiment.reading);
  if (!trace) return tl::unexpected(trace.error());
  std::shared_ptr<const site::Site> site;
  Result<cluster::Cluster> cluster = read_cluster_of(*trace, experiment.cluster, &site);
  if (!cluster) return tl::unexpected(cluster.error());
  share_gpus_by(*cluster, *trace);
  note_impossible_jobs(*cluster, *trace);
  return prepare(experiment, std::move(*trace), std::move(*cluster), std::move(site));
}

Result<Prepared> prepare(const Experiment& experiment, trace::Trace trace, cluster::Cluster cluster,
                         std::shared_ptr<const site::Site> site) {
  Result<std::vector<Prepared::Run>> runs = compose_runs(experiment);
  if (!runs) return tl::unexpected(runs.error());
  if (const auto any = check_any_job_is_simulated(trace, cluster); !any) {
    return tl::unexpected(any.error());
  }
  Result<energy::PowerModel> power = energy::read_power(experiment.power);
  if (!power) return tl::unexpected(power.error());
  Prepared made{.experiment = experiment,
                .trace = std::move(trace),
                .cluster = std::move(cluster),
                .incidents = nullptr,
                .power = std::move(*power),
                .runs = std::move(*runs),
                .speeds = nullptr,
                .believed = nullptr,
                .applications = {},
                .elastic_digest = {},
                .catalogue = {},
                .model = nullptr,
                .left_out = {},
                .notes = {}};
  for (Prepared::Run& run : made.runs) run.site = site;
  auto model = read_model(experiment.model, made.trace, made.runs);
  if (!model) return tl::unexpected(model.error());
  made.model = std::move(*model);
  made.notes = made.trace.notes;
  merge_virtual_clusters(made);
  if (const auto fits = check_widths(made); !fits) return tl::unexpected(fits.error());
  if (const auto read = read_queues(made); !read) return tl::unexpected(read.error());
  if (const auto read = read_incidents(made); !read) return tl::unexpected(read.error());
  if (const auto read = read_failures(made); !read) return tl::unexpected(read.error());
  scale_load(made.trace, experiment.load);
  if (const auto fine = check_warm_up(experiment.warm_up, made.trace); !fine)
    return tl::unexpected(fine.error());
  if (const auto read = read_applications(experiment.elastic, made); !read) {
    return tl::unexpected(read.error());
  }
  if (const auto fine = check_signals(made); !fine) return tl::unexpected(fine.error());
  name_policies(made);
  note_contracts(made);
  note_slurm_site(made);
  note_what_is_left_out(made.trace, made.cluster, made.notes);
  note_capacity_changes(made, made.notes);
  const auto limits = power_limits(made);
  if (!limits) return tl::unexpected(limits.error());
  if (const auto fit = check_speeds(experiment); !fit) return tl::unexpected(fit.error());
  if (const auto read = read_speeds(made, *limits); !read) return tl::unexpected(read.error());
  note_sharing(made);
  add_told_speeds(made, *limits);
  if (const auto fit = check_policies(made); !fit) return tl::unexpected(fit.error());
  return made;
}

}  // namespace almanac::experiment
