// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lists the attributes of a submission for one audience. Private to this room.
#pragma once

#include "serve/fields.h"
#include "store/ask.h"

namespace almanac::serve {

template <typename Fields, typename Submission>
void list_asked(Fields& fields, Submission& of, store::Audience audience) {
  store::each_ask([&](const auto& ask) {
    if (ask.audience != audience) return;
    auto& value = of.*ask.member;
    ask.always ? fields.field(ask.name, value) : fields.sparse(ask.name, value);
    if (*ask.formerly != '\0') fields.formerly(ask.formerly, value);
  });
}

}  // namespace almanac::serve
