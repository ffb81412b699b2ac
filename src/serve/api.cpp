// SPDX-License-Identifier: Apache-2.0
#include "serve/api.h"

#include <chrono>
#include <utility>

#include "serve/answers.h"
#include "serve/page_policy.h"

namespace almanac::serve {

Api::Api(service::Service& service, Tokens& tokens, Guard guard, std::string page)
    : service_(service),
      tokens_(tokens),
      guard_(std::move(guard)),
      page_(std::move(page)),
      page_policy_(page_policy(page_)),
      studies_(service) {
  add_page();
  add_jobs();
  add_log();
  add_machine();
  add_history();
  add_study();
  add_tokens();
  add_maintenance();
  add_sweeps();
}

void Api::on(const char* method, const char* path, Answerer answerer) {
  router_.add(method, path,
              [this, method, path, answerer = std::move(answerer)](const Ask& ask,
                                                                   const std::string& part) {
                const auto begun = std::chrono::steady_clock::now();
                Answer answer = answerer(ask, part);
                const std::chrono::duration<double> taken =
                    std::chrono::steady_clock::now() - begun;
                metrics_.count(method, path, answer.status, taken.count());
                return answer;
              });
}

Answer Api::answer(const Ask& ask) const {
  if (auto refused = guard_.refuses(ask)) return *std::move(refused);
  return router_.answer(ask);
}

}  // namespace almanac::serve
