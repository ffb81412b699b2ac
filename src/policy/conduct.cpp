// SPDX-License-Identifier: Apache-2.0
#include "policy/conduct.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/registry.h"

namespace almanac::policy {
namespace {

/// A trait that is a need, in a word and in a sentence.
struct Need {
  Trait trait;
  const char* word;
  const char* sentence;
};

constexpr Need kNeeds[] = {
    {Trait::told_truth, "true run times",
     "Uses true run times, which are known only when a past log is simulated: an oracle, for "
     "comparison only. With +learned or +rolling it uses predictions that a real cluster can "
     "make."},
    {Trait::reads_predictions, "predictions", "Uses the log's predictions (predicted_s)."},
    {Trait::reads_deadlines, "deadlines",
     "Uses deadlines (deadline_s); has no effect on jobs without one."},
    {Trait::reads_tenants, "tenants",
     "Uses the guarantees of tenants ([[tenant]] in the cluster file), if there are any."},
    {Trait::reads_speeds, "speeds", "Uses speed profiles (--speed), if there are any."},
    {Trait::reads_training, "training",
     "Uses what elastic jobs report about their training (--elastic); other jobs run on the GPUs "
     "that they request."},
    {Trait::reads_groups, "trials",
     "Compares the trials of a sweep (group, metric), if there are any."},
    {Trait::reads_signals, "signals",
     "Uses a signal, such as the price of power (--signal), if there is one."},
};

struct Deed {
  Trait trait;
  const char* word;
};

constexpr Deed kDeeds[] = {
    {Trait::stops_jobs, "stops jobs"},
    {Trait::stops_marked, "stops marked jobs"},
    {Trait::moves_jobs, "moves jobs"},
    {Trait::resizes_jobs, "resizes jobs"},
    {Trait::chooses_gpus, "chooses GPUs"},
    {Trait::chooses_cores, "chooses cores"},
    {Trait::gives_cores, "gives cores"},
    {Trait::shares_gpus, "shares GPUs"},
    {Trait::sleeps_nodes, "turns nodes off"},
    {Trait::ends_trials, "ends trials"},
    {Trait::limits_power, "limits power"},
    {Trait::paces_traffic, "paces traffic"},
    {Trait::yields_gpus, "lets jobs yield GPUs"},
};

/// Whether the policy needs jobs that resume where they were stopped.
bool needs_checkpoints(const TraitSet& traits) {
  return traits.any_of({Trait::stops_jobs, Trait::moves_jobs, Trait::resizes_jobs});
}

}  // namespace

bool is_bound(const TraitSet& traits) { return traits.has(Trait::told_truth); }

std::vector<std::string> needs_of(const TraitSet& traits) {
  std::vector<std::string> words;
  for (const Need& need : kNeeds) {
    if (traits.has(need.trait)) words.emplace_back(need.word);
  }
  if (needs_checkpoints(traits)) words.emplace_back("checkpoints");
  return words;
}

std::vector<std::string> deeds_of(const TraitSet& traits) {
  std::vector<std::string> words;
  for (const Deed& deed : kDeeds) {
    if (traits.has(deed.trait)) words.emplace_back(deed.word);
  }
  return words;
}

std::vector<std::string> sentences_of(const Composition& composition) {
  const TraitSet traits = registry().traits(composition);
  std::vector<std::string> sentences;
  for (const Need& need : kNeeds) {
    if (traits.has(need.trait)) sentences.emplace_back(need.sentence);
  }
  std::vector<std::string_view> clauses;
  for (const Deed& deed : kDeeds) {
    if (traits.has(deed.trait)) clauses.push_back(clause(deed.trait));
  }
  if (traits.has(Trait::reads_queues))
    clauses.emplace_back("preempts running jobs only where field preemption of a queue allows it");
  sentences.push_back(clauses.empty()
                          ? "It gives each job what it requests and never interrupts it."
                          : fmt::format("It {}.", fmt::join(clauses, ", ")));
  if (needs_checkpoints(traits)) {
    sentences.emplace_back("Jobs must be able to resume from a checkpoint.");
  }
  if (!composition.whole.name.empty()) return sentences;
  for (const Registry::Slot& slot : registry().slots()) {
    const Choice& choice = composition.*slot.choice;
    if (choice.name.empty()) continue;
    const Entry& entry = slot.choices->at(choice);
    if (!entry.explain) continue;
    const std::vector<std::string> own = entry.explain(composition);
    sentences.insert(sentences.end(), own.begin(), own.end());
  }
  return sentences;
}

std::string example_with(std::string_view name) {
  for (const char* const base : {"easy", "qssf", "srtf", "fifo", "promise", "las+lease"}) {
    // A pass in place of the one that gives the policy its name would be a riddle.
    if (registry().passes.find(name) != nullptr && registry().passes.find(base) != nullptr)
      continue;
    std::string made = fmt::format("{}+{}", base, name);
    if (registry().compose(made)) return made;
  }
  return fmt::format("POLICY+{}", name);
}

}  // namespace almanac::policy
