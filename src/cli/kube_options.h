// SPDX-License-Identifier: Apache-2.0

/// \file
/// The options of the commands that read a Kubernetes cluster.
#pragma once

#include <set>
#include <string>

#include "cli/program.h"
#include "kube/access.h"
#include "kube/client.h"
#include "kube/outlook.h"
#include "kube/picture.h"

namespace almanac::cli {

/// --kubeconfig, --context and --server.
struct KubeOptions {
  kube::AccessOptions access{};

  void add_to(CLI::App& command);
  /// Fails like kube::find_access().
  Result<kube::Client> client() const;
};

/// The name of a namespace or of a ClusterQueue: lower-case letters, digits, "-" and ".".
CLI::Validator kube_name();
/// Names separated by commas.
CLI::Validator kube_names();
/// Returns the names of such a text; none of "".
std::set<std::string> names_in(const std::string& text);

/// The noun that the commands belong to.
CLI::App& kube_noun(Program& program);

/// Prints the notes of a picture on standard error: the first few, and how many there are.
void say_notes(const kube::Picture& picture);

/// Options of the commands that say when workloads are expected to start.
struct OutlookOptions {
  KubeOptions kube{};
  std::string log{};  ///< Of almanac kube record: more runs to learn from.
  bool is_fair = false;

  void add_to(CLI::App& command);
  Result<kube::Picture> picture() const;
  /// Of all workloads of the picture that hold no quota.
  Result<std::vector<kube::Outlook>> outlook(const kube::Picture& picture) const;
};

/// Returns why a workload waits, a clause: the obstacle, the quota that is short, or its turn.
std::string reason_text(const kube::Outlook& outlook);

}  // namespace almanac::cli
