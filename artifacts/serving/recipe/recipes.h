// SPDX-License-Identifier: Apache-2.0

/// \file
/// The comparisons with published figures that this room can make. Each takes every file of its
/// layout that it finds, and fails where an input is not there or breaks its format.
#pragma once

#include "serving/recipe/comparison.h"

namespace almanac::inference {

/// Iterations, engine runs and sessions of inference-sim.
Result<Comparison> compare_blis(const Shared& shared);
/// Requests through the simulator of DistServe (Zhong et al., OSDI'24).
Result<Comparison> compare_distserve(const Shared& shared);
/// Requests through the simulator of Splitwise (Patel et al., ISCA'24).
Result<Comparison> compare_splitwise(const Shared& shared);
/// Blocks found in a pool, on the conversations of Mooncake (Qin et al., FAST'25).
Result<Comparison> compare_mooncake(const Shared& shared);
/// Requests, placements and the alignment experiment of AlpaServe (Li et al., OSDI'23).
Result<Comparison> compare_alpaserve(const Shared& shared);
/// Sessions and plans of Nexus (Shen et al., SOSP'19).
Result<Comparison> compare_nexus(const Shared& shared);
/// Plans of MArk (Zhang et al., ATC'19).
Result<Comparison> compare_mark(const Shared& shared);
/// Plans of gpulet (Choi et al., ATC'22).
Result<Comparison> compare_gpulet(const Shared& shared);
/// Plans and predictions of iGniter (Xu et al., TPDS'22).
Result<Comparison> compare_igniter(const Shared& shared);
/// Requests drawn from the clients of ServeGen (Xiang et al., 2025).
Result<Comparison> compare_servegen(const Shared& shared);
/// Measured runs of vLLM servers, and how far the roofline is off.
Result<Comparison> compare_vllm(const Shared& shared);
/// States of a GPU in instances, and operations on it.
Result<Comparison> compare_mig(const Shared& shared);

}  // namespace almanac::inference
