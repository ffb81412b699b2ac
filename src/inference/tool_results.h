// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the requests of a load test from the result files of load tools. Requests without an
/// answer are left out, with a note.
#pragma once

#include <string>

#include "base/result.h"
#include "inference/request.h"

namespace almanac::inference {

/// Reads per_request_lifecycle_metrics.json of inference-perf: a list of objects with start_time in
/// seconds, and token counts under info. Fails with `not_found`, and with `invalid` naming the
/// request (from 1) and the field.
Result<Requests> read_inference_perf(const std::string& path);
/// Reads a JSON report of GuideLLM, all benchmarks in the order of their times, with a note if
/// there are several; successful requests only. Fails likewise.
Result<Requests> read_guidellm(const std::string& path);
/// Reads profile_export.jsonl of aiperf: one object per line, with nanoseconds under metadata and
/// token counts under metrics. Fails likewise.
Result<Requests> read_aiperf(const std::string& path);
/// Reads the result of `vllm bench serve --save-detailed`: lists start_times in seconds, input_lens
/// and output_lens in tokens, and errors, which are empty for requests that were answered. Fails
/// likewise.
Result<Requests> read_vllm_bench(const std::string& path);

}  // namespace almanac::inference
