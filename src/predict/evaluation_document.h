// SPDX-License-Identifier: Apache-2.0

/// \file
/// An evaluation as a report: estimators side by side, error by group, calibration.
#pragma once

#include "figure/document.h"
#include "predict/evaluate.h"

namespace almanac::predict {

/// Version and command of its provenance are left to the caller.
figure::Document evaluation_document(const trace::Trace& trace, const Evaluation& evaluation);

}  // namespace almanac::predict
