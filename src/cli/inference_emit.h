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

/// Returns the fleet in one of these formats. Every number is the one that the fleet was simulated
/// with; limits that vLLM counts for each GPU of data-parallel attention are a GPU's part. Comments
/// at the top say what is left to do. Fails with not_found for an unknown format. Fails with usage
/// for pipeline stages with "kserve", which starts each in a pod of its own, for boards of other
/// vendors than NVIDIA with "dynamo", and for replicas with more GPUs than a node where a replica
/// is a pod ("llm-d", "dynamo", "kserve").
///
/// Source   names of flags and fields: docs.vllm.ai (serve), docs.sglang.ai (server arguments),
///          llm-d-modelservice (values.yaml), docs.nvidia.com/dynamo (DynamoGraphDeployment,
///          nvidia.com/v1alpha1), kserve.github.io (LLMInferenceService,
///          serving.kserve.io/v1alpha1; its admission webhook and the templates of its pods, which
///          expand VLLM_ADDITIONAL_ARGS in a shell). Limits for each data-parallel rank:
///          docs.vllm.ai (data parallel deployment).
Result<std::string> deployment_text(const std::string& format, const inference::Service& service);

/// Returns what that text leaves to the user, in a phrase each: "replace IMAGE with ...".
std::vector<std::string> left_to_do(const std::string& format, const inference::Service& service);

}  // namespace almanac::cli
