// SPDX-License-Identifier: Apache-2.0

/// \file
/// Where an API server is, and as whom Almanac speaks to it: a kubeconfig, the service account of a
/// pod, or the URL of `kubectl proxy`.
///
/// Source   Kubernetes documentation, "Organizing Cluster Access Using kubeconfig Files",
///          "Accessing the Kubernetes API from a Pod".
#pragma once

#include <string>

#include "base/result.h"
#include "kube/credential.h"

namespace almanac::kube {

struct Access {
  std::string server{};            ///< "https://10.0.0.1:6443", perhaps with a path.
  std::string authorities{};       ///< PEM. This and the file empty: those of the system.
  std::string authorities_file{};  ///< Read for each new connection.
  std::string server_name{};       ///< Name in the server's certificate; "" = the host's.
  bool checks_server = true;
  std::string proxy{};  ///< "http://proxy:3128"; "" = none.
  Credential credential{};
  std::string from{};  ///< "context prod of /home/u/.kube/config", for messages.
};

struct AccessOptions {
  std::string kubeconfig{};  ///< Files, separated by colons; "" = $KUBECONFIG, ~/.kube/config.
  std::string context{};     ///< "" = the current one.
  std::string url{};         ///< Of an API server without credentials, such as a proxy.
};

/// Chooses the URL, the kubeconfig that is named, the pod's service account, or the user's own
/// kubeconfig, in this order. Fails with usage if none is there, and with the file's name if one
/// cannot be read. Refuses a kubeconfig with an exec plugin that other users may write.
Result<Access> find_access(const AccessOptions& options);

/// The service account of a pod, whose files are in `folder`. `host` and `port` as in
/// $KUBERNETES_SERVICE_HOST and $KUBERNETES_SERVICE_PORT.
Access in_cluster(const std::string& folder, const std::string& host, const std::string& port);

/// Reads kubeconfig files, separated by colons. The first file that says something counts; files
/// that are missing are passed over if there is another.
Result<Access> read_kubeconfig(const std::string& files, const std::string& context);

}  // namespace almanac::kube
