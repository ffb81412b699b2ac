// SPDX-License-Identifier: Apache-2.0

/// \file
/// The routes by which boxes report to a head (boxes/head.h). They are the protocol between two
/// programs of one release, not part of the API: openapi.json does not have them.
#include "boxes/head.h"
#include "serve/answers.h"
#include "serve/api.h"
#include "serve/fields.h"
#include "serve/query.h"

namespace almanac::serve {

void Api::add_boxes(boxes::Head& head) {
  on("POST", "/v1/boxes/{name}/report", [&head](const Ask& ask, const std::string& box) {
    auto answer = head.take(box, ask.body);
    return answer ? json(*std::move(answer)) : problem(answer.error());
  });
  on("POST", "/v1/boxes/{name}/logs", [&head](const Ask& ask, const std::string& box) {
    if (const auto known = knows(ask, {"key"}); !known) return problem(known.error());
    auto answer = head.open_logs(box, word(ask, "key"));
    return answer ? json(*std::move(answer)) : problem(answer.error());
  });
  on("POST", "/v1/boxes/{name}/output", [&head](const Ask& ask, const std::string& box) {
    const auto known = knows(ask, {"key", "stream", "offset"});
    const auto offset = whole(ask, "offset", 0);
    if (!known) return problem(known.error());
    if (!offset) return problem(offset.error());
    const std::string stream = word(ask, "stream");
    if (stream != "out" && stream != "err") return problem(400, "stream must be out or err");
    const auto taken = head.append(box, word(ask, "key"), stream, *offset, ask.body);
    return taken ? json(std::to_string(*taken)) : problem(taken.error());
  });
  on("POST", "/v1/boxes/{name}/gone", [this, &head](const Ask& ask, const std::string& box) {
    const service::Caller caller = guard_.caller(ask);
    if (!caller.may_all) {
      return problem(403, "only the user who runs the service can declare a box gone");
    }
    const auto done = head.declare_gone(box);
    return done ? json(dumped({{"gone", box}})) : problem(done.error());
  });
}

}  // namespace almanac::serve
