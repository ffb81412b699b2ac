// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the commands of `almanac inference` ask alike: requests, a service, an objective.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/list_options.h"
#include "inference/placed.h"
#include "inference/request_log.h"
#include "inference/service.h"

namespace almanac::cli {

struct InferenceOptions {
  std::string requests;
  std::string model;
  std::string plan;
  std::vector<std::string> not_of_plans;  ///< Options that were told and do not go with a plan.
  bool by_model = false;  ///< No one model answers all: requests name what they ask for.
  std::string board = "h100";
  std::string profile;
  int gpus = 1;
  int stages = 1;
  std::string former = "chunked";
  std::string router = "shortest_queue";
  int sequences = 256;
  int tokens = 2048;
  int kv_blocks = 0;
  std::string wait = "0s";
  int prefill = 0;
  double link_gbps = 200;
  double swap_gib = 0;
  int adapters = 8;
  int adapter_rank = 16;
  bool prefix_cache = false;
  double rate = 1;
  std::string from = "0s";
  std::string until;
  std::string column_map;
  std::string first_token;
  std::string per_token;
  ListOptions list;
};

/// Adds the options to a command, all but the number of replicas.
std::shared_ptr<InferenceOptions> add_inference_options(CLI::App& command);
/// Adds --from and --until, and says what they mean.
void add_log_part(CLI::App& command, std::string& from, std::string& until);
Result<inference::LogPart> log_part(const std::string& from, const std::string& until);
/// Adds --columns, for a log of no known format.
void add_log_columns(CLI::App& command, std::string& column_map);
/// Reads a log of requests, for one model unless `by_model`. Its notes go to stderr.
Result<inference::Requests> load_requests(const std::string& path, const inference::LogPart& part,
                                          const std::string& column_map, bool by_model);
/// Lets a plan of several models stand in place of the one model and of what goes with it.
void add_plan_option(CLI::App& command, InferenceOptions& options);

/// What the options mean.
struct InferenceCase {
  inference::Requests requests{};
  inference::Service service{};
  inference::Objective objective{};
  std::optional<inference::Plan> plan{};  ///< In place of the service's model and GPUs.
};
Result<InferenceCase> inference_case(const InferenceOptions& options);

}  // namespace almanac::cli
