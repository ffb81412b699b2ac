// SPDX-License-Identifier: Apache-2.0
#include "kube/parse.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kube/plain.h"

namespace almanac::kube {
namespace {

using nlohmann::json;

/// Deeper values of an object become null; none of Kubernetes' objects has them.
constexpr std::size_t kDeepest = 64;

/// Lists and objects of these names are left out. A label of such a name is text, and stays.
constexpr std::string_view kUnread[] = {"args",
                                        "command",
                                        "env",
                                        "envFrom",
                                        "images",
                                        "lifecycle",
                                        "livenessProbe",
                                        "nodeInfo",
                                        "podAffinity",
                                        "podAntiAffinity",
                                        "ports",
                                        "readinessProbe",
                                        "securityContext",
                                        "startupProbe",
                                        "volumeDevices",
                                        "volumeMounts",
                                        "volumes",
                                        "volumesAttached",
                                        "volumesInUse"};

bool is_unread(std::string_view key) {
  // Who wrote which field: "f:spec", "k:{...}".
  if (key.size() > 1 && key[1] == ':') return key != "f:spec" && key != "f:priority";
  return std::binary_search(std::begin(kUnread), std::end(kUnread), key);
}

using TakeItem = std::function<void(const json&)>;

/// Builds the value as the parser meets its parts.
class Builder final : public nlohmann::json_sax<json> {
 public:
  /// With `take_item`, the items of a list are passed to it and dropped.
  explicit Builder(TakeItem take_item = {}) : take_item_(std::move(take_item)) {}

  json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override {
    if (unread_ > 0) return true;
    if (has_control(value)) value = without_control(value);
    return put(std::move(value));
  }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& value) override {
    if (unread_ > 0) return true;
    if (has_control(value)) value = without_control(value);
    is_unread_ = is_unread(value);
    if (open_.size() == 1) is_in_items_ = value == "items";
    key_ = std::move(value);
    return true;
  }
  bool start_object(std::size_t) override { return start(json::object()); }
  bool end_object() override { return end(); }
  bool start_array(std::size_t) override { return start(json::array()); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

 private:
  bool put(json value) {
    if (unread_ > 0) return true;
    add(open_.size() > kDeepest ? json() : std::move(value));
    pass_item();
    return true;
  }
  json* add(json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& parent = *open_.back();
    if (parent.is_array()) {
      auto& items = parent.get_ref<json::array_t&>();
      return &items.emplace_back(std::move(value));
    }
    json& place = parent.get_ref<json::object_t&>()[std::move(key_)];
    place = std::move(value);
    return &place;
  }
  bool start(json empty) {
    if (unread_ > 0) {
      ++unread_;
      return true;
    }
    const bool is_in_object = !open_.empty() && open_.back()->is_object();
    if (is_in_object && std::exchange(is_unread_, false)) {
      unread_ = 1;
    } else if (open_.size() > kDeepest) {
      add(nullptr);
      unread_ = 1;
    } else {
      open_.push_back(add(std::move(empty)));
    }
    return true;
  }
  bool end() {
    if (unread_ > 0) {
      --unread_;
    } else {
      open_.pop_back();
      pass_item();
    }
    return true;
  }
  /// Passes the value that is complete, if it is an item.
  void pass_item() {
    if (!take_item_ || !is_in_items_ || open_.size() != 2 || !open_.back()->is_array()) return;
    auto& items = open_.back()->get_ref<json::array_t&>();
    take_item_(items.back());
    items.pop_back();
  }

  TakeItem take_item_;
  json root_{};
  std::vector<json*> open_{};  ///< From the root to the innermost object or list.
  std::string key_{};
  bool is_in_items_ = false;  ///< The last key of the root is "items".
  bool is_unread_ = false;    ///< The value of the last key, if it is a list or an object.
  std::size_t unread_ = 0;    ///< How deep in a part that is left out.
};

json built(std::string_view text, Builder builder) {
  const bool is_json = json::sax_parse(text.begin(), text.end(), &builder);
  return is_json ? builder.take() : json(json::value_t::discarded);
}

}  // namespace

json parse_objects(std::string_view text) { return built(text, Builder()); }

json parse_list(std::string_view text, const TakeItem& take) { return built(text, Builder(take)); }

}  // namespace almanac::kube
