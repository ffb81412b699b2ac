// SPDX-License-Identifier: Apache-2.0
#include "cli/job_list.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace almanac::cli {

namespace {

/// All pages of `path`; `from` is the key that says where one begins, "0" = at the first.
Result<std::vector<serve::ListedJob>> list_pages(serve::Client& client, const std::string& path,
                                                 serve::Client::Query query, const char* from) {
  std::vector<serve::ListedJob> all;
  query.emplace_back(from, "0");
  for (;;) {
    const auto said = client.get(path, query);
    if (!said) return tl::unexpected(said.error());
    auto page = serve::read_jobs(said->body);
    if (!page) return tl::unexpected(page.error());
    std::move(page->jobs.begin(), page->jobs.end(), std::back_inserter(all));
    if (!page->next) return all;
    query.back().second = std::to_string(static_cast<std::int64_t>(*page->next));
  }
}

}  // namespace

Result<nlohmann::ordered_json> ask_json(serve::Client& client, const std::string& path,
                                        const serve::Client::Query& query) {
  const auto said = client.get(path, query);
  if (!said) return tl::unexpected(said.error());
  auto json = nlohmann::ordered_json::parse(said->body, nullptr, false);
  if (json.is_discarded()) {
    return fail(Code::unavailable, "the service's answer is not JSON", {},
                "the server there may not be Almanac");
  }
  return json;
}

Result<std::vector<serve::ListedJob>> list_jobs(serve::Client& client, serve::Client::Query query) {
  return list_pages(client, "/v1/jobs", std::move(query), "after");
}

Result<std::vector<serve::ListedJob>> list_ended(serve::Client& client,
                                                 serve::Client::Query query) {
  return list_pages(client, "/v1/history", std::move(query), "below");
}

Result<int> relay_answer(serve::Client& client, const std::string& path,
                         const serve::Client::Query& query) {
  const auto json = ask_json(client, path, query);
  if (!json) return tl::unexpected(json.error());
  fmt::print("{}\n", json->dump(2));
  return kDone;
}

Result<nlohmann::ordered_json> ask_jobs(serve::Client& client, serve::Client::Query query) {
  query.emplace_back("after", "0");
  nlohmann::ordered_json all;
  for (;;) {
    auto page = ask_json(client, "/v1/jobs", query);
    if (!page) return page;
    const std::int64_t next = page->value("next", std::int64_t{0});
    page->erase("next");
    if (all.is_null()) {
      all = *std::move(page);
    } else {
      for (auto& each : page->at("jobs")) all["jobs"].push_back(std::move(each));
    }
    if (next == 0) return all;
    query.back().second = std::to_string(next);
  }
}

Result<int> relay_jobs(serve::Client& client, serve::Client::Query query) {
  const auto all = ask_jobs(client, std::move(query));
  if (!all) return tl::unexpected(all.error());
  fmt::print("{}\n", all->dump(2));
  return kDone;
}

}  // namespace almanac::cli
