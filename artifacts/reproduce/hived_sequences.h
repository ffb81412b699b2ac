// SPDX-License-Identifier: Apache-2.0

/// \file
/// Steps as the tests of HiveD's program take them, pod by pod: `golden/hived/*_sequences.csv`.
/// Private to the recipe `hived`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cells/scheduler.h"
#include "reproduce/hived_layouts.h"

namespace almanac::reproduce::hived {

struct Step {
  std::string action{};
  std::string subject{};    ///< A pod, a node or the edits of a layout.
  std::string suggested{};  ///< "all", "all except N;N", "N;N"; empty = all.
  std::string expected{};
};

/// Plays the steps of one sequence.
class Play {
 public:
  using Pods = std::map<std::string, PodRequest>;
  using Sequences = std::map<std::string, std::vector<Step>>;

  Play(cells::Layout layout, const Pods& pods, const Sequences& sequences)
      : layout_(std::move(layout)), pods_(pods), sequences_(sequences) {}

  /// False if something that is expected is not so; nothing if nothing is expected. Throws
  /// Malformed where the step is not understood.
  std::optional<bool> step(const Step& step);

  /// The pod's place as of the last step; null unless that bound one.
  const cells::Pod* place() const { return place_ ? &*place_ : nullptr; }
  /// Pods that the last step wants gone.
  const std::vector<std::string>& victims() const { return victims_; }

 private:
  void act(const Step& step);
  void build();
  void schedule(const Step& step);
  void remove(const std::string& pod);
  void give_up(const std::string& pod);
  void rerun(const std::string& subject);
  bool holds(const std::string& clause);
  bool says(cells::Decision::What what) const { return decision_.what == what; }
  cells::Nodes suggested(const std::string& text) const;
  const PodRequest& request(const std::string& pod) const;
  const cells::Group* group(const std::string& name) const { return scheduler_->find(name); }

  struct Bound {
    std::string pod;
    cells::Decision decision;
  };

  cells::Layout layout_;
  const Pods& pods_;
  const Sequences& sequences_;
  std::optional<cells::Scheduler> scheduler_{};
  std::string refused_{};       // why the layout cannot be built
  std::vector<Bound> bound_{};  // in the order of binding
  std::vector<std::string> preempting_{};
  cells::Decision decision_{};
  std::optional<cells::Pod> place_{};
  std::vector<std::string> victims_{};
  std::vector<const cells::Cell*> claimed_{};  // by the subject's group before the step
  std::string chain_{};                        // that was spoken of last
};

}  // namespace almanac::reproduce::hived
