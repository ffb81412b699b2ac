// SPDX-License-Identifier: Apache-2.0

/// \file
/// The options that the commands of `almanac inference` share: requests, a service, an objective.
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
  std::vector<std::string> not_of_plans;  ///< Given options that exclude --plan.
  bool by_model = false;                  ///< Each request names the model that it needs.
  std::string board = "h100";
  std::string times = "measured";
  std::string profile;
  int gpus = 1;
  bool data_attention = false;
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
  std::string end_to_end;
  int drafts = 0;
  double acceptance = 0.7;
  bool whole_experts = false;
  ListOptions list;
};

/// Adds the options to a command, except the number of replicas.
std::shared_ptr<InferenceOptions> add_inference_options(CLI::App& command);
/// Adds --from and --until.
void add_log_part(CLI::App& command, std::string& from, std::string& until);
Result<inference::LogPart> log_part(const std::string& from, const std::string& until);
/// Adds --columns, for a log of an unknown format.
void add_log_columns(CLI::App& command, std::string& column_map);
/// Reads a request log, for one model unless `by_model`, and prints its notes on stderr.
Result<inference::Requests> load_requests(const std::string& path, const inference::LogPart& part,
                                          const std::string& column_map, bool by_model);
/// Adds --plan, which replaces --model and its options by a plan of several models.
void add_plan_option(CLI::App& command, InferenceOptions& options);

/// The parsed options.
struct InferenceCase {
  inference::Requests requests{};
  inference::Service service{};
  inference::Objective objective{};
  std::optional<inference::Plan> plan{};  ///< In place of the service's model and GPUs.
};
Result<InferenceCase> inference_case(const InferenceOptions& options);

}  // namespace almanac::cli
