// SPDX-License-Identifier: Apache-2.0

/// \file
/// An evaluation as a report: comparison of estimators, error by group, calibration.
#pragma once

#include "figure/document.h"
#include "predict/evaluate.h"

namespace almanac::predict {

/// Returns the report; the caller fills in the version and command of its provenance.
figure::Document evaluation_document(const trace::Trace& trace, const Evaluation& evaluation);

}  // namespace almanac::predict
