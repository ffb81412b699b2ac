// SPDX-License-Identifier: Apache-2.0

/// \file
/// Step times by tables of measured kernels, as AIConfigurator records them.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "inference/profile/board.h"
#include "inference/profile/model.h"
#include "inference/profile/roofline.h"
#include "inference/step_time.h"

namespace almanac::inference {

/// Returns the path without the name of a table: "tables/h100_sxm" for itself and for
/// "tables/h100_sxm_gemm.csv.gz". Returns "" if there is no such table.
std::string find_kernel_tables(const std::string& path);

/// Reads PREFIX_gemm, _context_attention, _generation_attention, and as needed _moe,
/// _custom_allreduce, _mla_context_module and _mla_generation_module (.csv or .csv.gz;
/// milliseconds), and composes the step times of a model whose
/// layers the GPUs of `layout` divide (tensor parallelism, or expert parallelism of its experts).
///
/// A step is the sum of its kernels. Times between the token counts of a matrix are interpolated; a
/// matrix of other sizes takes the utilization of the four nearest by logarithm of its sizes.
/// Prompt attention is interpolated by the root of its time, and a prefix in the cache shortens it
/// by the part of the square. Elementwise kernels take 3 us and their bytes at 0.8 of the
/// bandwidth. Experts are those of distribution power_law_1.2.
///
/// Layers with latent attention (MLA) of DeepSeek-V3's sizes take the time of the whole block. As
/// in AIConfigurator their experts are those of power_law_1.01, shared experts cost nothing in a
/// step without prompts if the others take longer, and with experts GPUs exchange four sums, two
/// more than in other layers and in vLLM's program.
///
/// Source   AIConfigurator 0.11, sdk/perf_interp and sdk/operations.
/// Differs  Prompts of one step share the batch that their number makes. Beyond a table, times grow
///          in proportion.
///
/// Fails with `not_found`, and with `invalid` if a table lacks the kernels of the model, naming
/// table and kernel. Costs a second; a step takes O(prefills).
Result<std::shared_ptr<const StepTime>> read_kernel_tables(const std::string& prefix,
                                                           const Model& model, const Board& board,
                                                           const Layout& layout,
                                                           const Launch& launch);

}  // namespace almanac::inference
