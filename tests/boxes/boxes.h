// SPDX-License-Identifier: Apache-2.0

/// \file
/// A head and its boxes in one process, with real shepherds.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/wall_clock.h"
#include "boxes/box.h"
#include "boxes/head.h"
#include "shepherd/folder.h"
#include "shepherd/run.h"
#include "support/temporary_folder.h"

namespace almanac::boxes {

using RunOnBoxes = shepherd::Run;

inline std::string content_of(const std::string& path) {
  return shepherd::read_file(path).value_or("");
}

class BoxesTest : public testing::Test {
 protected:
  BoxesTest() {
    std::filesystem::create_directories(state() + "/runs");
    begin_head();
  }
  ~BoxesTest() override {
    // A head that knows no run has its boxes end them.
    loses_request_ = loses_answer_ = {};
    for (const auto& each : std::filesystem::directory_iterator(state() + "/runs"))
      std::filesystem::remove_all(each.path());
    for (auto& [name, box] : boxes_) {
      EXPECT_TRUE(comes_true([&] { return !step(name) || box->size() == 0; }))
          << "something runs on";
    }
  }

  std::string state() const { return folder_ / "head"; }
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

  void begin_head() {
    head_ = Head::open(state(),
                       {.since_boot = [this] { return since_boot_; },
                        .wall = [this] { return wall_clock() - head_is_behind_; }},
                       [this](const std::string& line) { said_ += line + "\n"; })
                .value();
  }
  /// Also after an earlier process of the box, as if that had been killed.
  Box& join(const std::string& name, const std::string& folder = "",
            const std::string& hardware = "") {
    boxes_[name].reset();
    boxes_[name] = Box::open({.state = folder_ / (folder.empty() ? name : folder),
                              .name = name,
                              .hardware = hardware.empty() ? "hardware of " + name : hardware,
                              .ask = [this](const std::string& path,
                                            const std::string& body) { return ask(path, body); },
                              .wall = wall_clock},
                             [this](const std::string& line) { said_ += line + "\n"; })
                       .value();
    return *boxes_[name];
  }
  Result<std::string> ask(const std::string& path, const std::string& body) {
    ++asked_;
    const auto no_answer = [] { return fail(Code::unavailable, "no answer"); };
    if (loses_request_ && loses_request_(asked_)) return no_answer();
    const std::string rest = path.substr(std::string("/v1/boxes/").size());
    const std::string box = rest.substr(0, rest.find('/'));
    Result<std::string> answer;
    const auto value = [&](const std::string& name) {
      const auto at = rest.find(name + "=") + name.size() + 1;
      return rest.substr(at, rest.find('&', at) - at);
    };
    if (rest.ends_with("/report")) {
      answer = head_->take(box, body);
    } else if (rest.find("/logs?") != std::string::npos) {
      answer = head_->open_logs(box, value("key"));
    } else {
      answer = head_->append(box, value("key"), value("stream"), std::stoll(value("offset")), body)
                   .map([](std::int64_t taken) { return std::to_string(taken); });
    }
    if (loses_answer_ && loses_answer_(asked_)) return no_answer();
    return answer;
  }
  Result<void> step(const std::string& name) { return boxes_.at(name)->step(); }

  /// A run of shell commands, one on each box.
  RunOnBoxes start(const std::vector<std::pair<std::string, std::string>>& scripts,
                   const std::string& id = "1.1") {
    std::vector<shepherd::Part> parts;
    for (const auto& [box, script] : scripts) {
      shepherd::Spec spec;
      spec.id = id;
      spec.argv = {"sh", "-c", script};
      spec.environment = {"PATH=/usr/bin:/bin", "HERE=" + (folder_ / ".")};
      spec.directory = folder_ / ".";
      spec.out = log_.empty() ? id + ".out" : log_;
      if (::geteuid() == 0) {
        spec.uid = 0;
        spec.gid = 0;
      }
      parts.push_back({box, spec});
    }
    return RunOnBoxes::start_on_boxes(state() + "/runs/" + id, parts).value();
  }
  /// Steps all boxes until it has ended.
  shepherd::Outcome end_of(RunOnBoxes& run) {
    for (int tries = 0; tries < 6000; ++tries) {
      for (auto& [name, box] : boxes_) static_cast<void>(step(name));
      shepherd::Outcome outcome = run.exited();
      if (outcome.kind != shepherd::Outcome::Kind::lives) {
        EXPECT_TRUE(run.has_news());
        return outcome;
      }
      pause();
    }
    ADD_FAILURE() << "the run does not end; " << said_;
    return {};
  }
  bool comes_true(const std::function<bool()>& fact) const {
    for (int tries = 0; tries < 6000; ++tries) {
      if (fact()) return true;
      pause();
    }
    return false;
  }
  std::string file(const std::string& name) const { return content_of(folder_ / name); }

  TemporaryFolder folder_;
  Duration since_boot_ = 1h;
  Duration head_is_behind_{0};
  std::unique_ptr<Head> head_;
  std::map<std::string, std::unique_ptr<Box>> boxes_;
  std::function<bool(int)> loses_request_, loses_answer_;
  int asked_ = 0;
  std::string said_;
  std::string log_;  // of jobs that start; "" = by their number
};

}  // namespace almanac::boxes
