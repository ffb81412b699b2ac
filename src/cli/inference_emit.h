// SPDX-License-Identifier: Apache-2.0

/// \file
/// A sized fleet as what deploys it: flags of an engine, or a file for Kubernetes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "inference/service.h"

namespace almanac::cli {

/// "vllm", "sglang", "llm-d", "dynamo" and "kserve".
const std::vector<std::string>& deployment_formats();

/// Returns the fleet in one of these formats, for a model that `repository` holds
/// ("meta-llama/llama-3.1-8b"). Every number is the one that the fleet was simulated with. Fails
/// with not_found for an unknown format.
///
/// Source   names of flags and fields: docs.vllm.ai (serve), docs.sglang.ai (server arguments),
///          llm-d-modelservice (values.yaml), docs.nvidia.com/dynamo (DynamoGraphDeployment,
///          nvidia.com/v1alpha1), kserve.github.io (LLMInferenceService,
///          serving.kserve.io/v1alpha1).
Result<std::string> deployment_text(const std::string& format, const inference::Service& service,
                                    const std::string& repository);

}  // namespace almanac::cli
