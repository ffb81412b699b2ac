// SPDX-License-Identifier: Apache-2.0

/// \file
/// Leaves a report on disk: the page to look at, and the numbers to go on with.
#pragma once

#include <string>

#include "base/result.h"
#include "figure/document.h"

namespace almanac::report {

/// Makes the folder, or empties it of an earlier report of this kind, whose `<kind>.json` names its
/// files; what else lies there stays. Fails with conflict when the folder holds other things and no
/// such report.
Result<void> open_document_directory(const std::string& folder, const std::string& kind);

/// Writes `<id>.csv` and `<id>.json` of each figure, report.html where this build has a page, and
/// last `<kind>.json`, which lists findings and figures.
Result<void> write_document(const std::string& folder, const figure::Document& document);

/// Writes `<folder>/report.html`; does nothing where this build has no page.
Result<void> write_page(const std::string& folder, const figure::Document& document);

}  // namespace almanac::report
