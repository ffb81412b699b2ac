// SPDX-License-Identifier: Apache-2.0
#include "policy/conduct.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
     "It uses true run times, which only a simulation of the past knows: what it reaches is a "
     "bound for others. With +learned or +rolling it believes what a cluster can know."},
    {Trait::reads_predictions, "predictions", "It reads the log's predictions (predicted_s)."},
    {Trait::reads_deadlines, "deadlines",
     "It reads deadlines (deadline_s): where no job has one, that part of it has nothing to do."},
    {Trait::reads_tenants, "tenants",
     "It reads the guarantees of tenants ([[tenant]] in the cluster file): without, that part of "
     "it has nothing to do."},
    {Trait::reads_speeds, "speeds",
     "It reads how fast jobs run with what (--speed): without, that part of it has nothing to do."},
    {Trait::reads_training, "training",
     "It reads what jobs tell of their training (--elastic): without, that part of it has nothing "
     "to "
     "do."},
    {Trait::reads_groups, "trials",
     "It compares trials of sweeps (group, metric): without, that part of it has nothing to do."},
    {Trait::reads_signals, "signals",
     "It reads a signal, such as the price of power (--incidents): without, that part of it has "
     "nothing to do."},
};

struct Deed {
  Trait trait;
  const char* word;
};

constexpr Deed kDeeds[] = {
    {Trait::stops_jobs, "stops jobs"},       {Trait::moves_jobs, "moves jobs"},
    {Trait::resizes_jobs, "resizes jobs"},   {Trait::chooses_gpus, "chooses GPUs"},
    {Trait::chooses_cores, "chooses cores"}, {Trait::gives_cores, "gives cores"},
    {Trait::shares_gpus, "shares GPUs"},     {Trait::sleeps_nodes, "turns nodes off"},
    {Trait::ends_trials, "ends trials"},     {Trait::limits_power, "limits power"},
    {Trait::paces_traffic, "paces traffic"}, {Trait::yields_gpus, "lets jobs yield GPUs"},
};

/// Whether jobs have to go on where they were stopped.
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

std::vector<std::string> sentences_of(const TraitSet& traits) {
  std::vector<std::string> sentences;
  for (const Need& need : kNeeds) {
    if (traits.has(need.trait)) sentences.emplace_back(need.sentence);
  }
  std::vector<std::string_view> clauses;
  for (const Deed& deed : kDeeds) {
    if (traits.has(deed.trait)) clauses.push_back(clause(deed.trait));
  }
  sentences.push_back(clauses.empty() ? "It starts jobs as they ask and lets them run to their end."
                                      : fmt::format("It {}.", fmt::join(clauses, ", ")));
  if (needs_checkpoints(traits)) {
    sentences.emplace_back("Jobs have to be able to go on from a checkpoint.");
  }
  return sentences;
}

}  // namespace almanac::policy
