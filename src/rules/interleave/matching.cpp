// SPDX-License-Identifier: Apache-2.0
#include "rules/interleave/matching.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "base/check.h"

namespace almanac::interleave {
namespace {

/// The primal-dual method. Vertices and blossoms (odd cycles shrunk to one) have a dual each; edges
/// without slack form alternating trees that grow from free vertices, and when they can no longer
/// grow, the duals change by the least slack. Numbers are doubled so that halves stay whole.
class Matcher {
 public:
  explicit Matcher(const Weights& weight)
      : n_(static_cast<int>(weight.size())), size_(n_ + n_ / 2 + 1) {
    const auto size = static_cast<std::size_t>(size_);
    edges_.assign(size, std::vector<Edge>(size));
    dual_.assign(size, 0);
    mate_.assign(size, kNone);
    slack_.assign(size, kNone);
    top_.assign(size, kNone);
    parent_.assign(size, kNone);
    label_.assign(size, Label::free);
    cycle_.assign(size, {});
    through_.assign(size, std::vector<int>(static_cast<std::size_t>(n_), kNone));
    std::int64_t heaviest = 0;
    for (int a = 0; a < n_; ++a) {
      for (int b = 0; b < n_; ++b) {
        const std::int64_t w = std::max<std::int64_t>(at(weight, a, b), 0);
        edge(a, b) = {a, b, w};
        heaviest = std::max(heaviest, w);
      }
      top(a) = a;
      through(a, a) = a;
    }
    for (int a = 0; a < n_; ++a) dual(a) = heaviest;
    used_ = n_;
  }

  std::vector<int> solve() {
    while (augment()) {
    }
    std::vector<int> mates(static_cast<std::size_t>(n_), kNone);
    for (int a = 0; a < n_; ++a) {
      if (mate(a) != kNone) mates[static_cast<std::size_t>(a)] = mate(a);
    }
    return mates;
  }

 private:
  static constexpr int kNone = -1;
  enum class Label : std::uint8_t { free, outer, inner };
  /// Between two vertices; of a blossom, the one of least slack.
  struct Edge {
    int from = 0;
    int to = 0;
    std::int64_t weight = 0;
  };

  static std::int64_t at(const Weights& weight, int a, int b) {
    return weight[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  }
  Edge& edge(int a, int b) {
    return edges_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  }
  std::int64_t& dual(int a) { return dual_[static_cast<std::size_t>(a)]; }
  int& mate(int a) { return mate_[static_cast<std::size_t>(a)]; }
  int& slack(int a) { return slack_[static_cast<std::size_t>(a)]; }
  int& top(int a) { return top_[static_cast<std::size_t>(a)]; }
  int& parent(int a) { return parent_[static_cast<std::size_t>(a)]; }
  Label& label(int a) { return label_[static_cast<std::size_t>(a)]; }
  std::vector<int>& cycle(int a) { return cycle_[static_cast<std::size_t>(a)]; }
  /// The member of blossom `b` that holds vertex `v`.
  int& through(int b, int v) {
    return through_[static_cast<std::size_t>(b)][static_cast<std::size_t>(v)];
  }

  std::int64_t gap(const Edge& e) { return dual(e.from) + dual(e.to) - 2 * at_vertices(e); }
  std::int64_t at_vertices(const Edge& e) { return edge(e.from, e.to).weight; }

  void keep_slack(int from, int blossom) {
    if (slack(blossom) == kNone || gap(edge(from, blossom)) < gap(edge(slack(blossom), blossom))) {
      slack(blossom) = from;
    }
  }
  void find_slack(int blossom) {
    slack(blossom) = kNone;
    for (int v = 0; v < n_; ++v) {
      if (edge(v, blossom).weight > 0 && top(v) != blossom && label(top(v)) == Label::outer) {
        keep_slack(v, blossom);
      }
    }
  }
  void enqueue(int b) {
    if (b < n_) {
      queue_.push_back(b);
    } else {
      for (const int member : cycle(b)) enqueue(member);
    }
  }
  void set_top(int b, int blossom) {
    top(b) = blossom;
    if (b < n_) return;
    for (const int member : cycle(b)) set_top(member, blossom);
  }
  /// The place of `member` in the cycle of `blossom`, which is turned so that it is even.
  int even_place(int blossom, int member) {
    std::vector<int>& all = cycle(blossom);
    const auto place = static_cast<int>(std::find(all.begin(), all.end(), member) - all.begin());
    if (place % 2 == 0) return place;
    std::reverse(all.begin() + 1, all.end());
    return static_cast<int>(all.size()) - place;
  }
  void match(int a, int b) {
    mate(a) = edge(a, b).to;
    if (a < n_) return;
    const int member = through(a, edge(a, b).from);
    const int place = even_place(a, member);
    for (int i = 0; i < place; ++i) {
      match(cycle(a)[static_cast<std::size_t>(i)], cycle(a)[static_cast<std::size_t>(i ^ 1)]);
    }
    match(member, b);
    std::rotate(cycle(a).begin(), cycle(a).begin() + place, cycle(a).end());
  }
  void flip_path(int a, int b) {
    for (;;) {
      const int before = mate(a) == kNone ? kNone : top(mate(a));
      match(a, b);
      if (before == kNone) return;
      match(before, top(parent(before)));
      a = top(parent(before));
      b = before;
    }
  }
  int common_ancestor(int a, int b) {
    std::vector<char> seen(static_cast<std::size_t>(size_), 0);
    for (; a != kNone || b != kNone; std::swap(a, b)) {
      if (a == kNone) continue;
      if (seen[static_cast<std::size_t>(a)] != 0) return a;
      seen[static_cast<std::size_t>(a)] = 1;
      a = mate(a) == kNone ? kNone : top(mate(a));
      if (a != kNone) a = top(parent(a));
    }
    return kNone;
  }

  void shrink(int a, int root, int b) {
    int blossom = n_;
    while (blossom < used_ && top(blossom) != kNone) ++blossom;
    if (blossom == used_) ++used_;
    ALMANAC_CHECK(blossom < size_, "{} blossoms of {} vertices", blossom - n_, n_);
    dual(blossom) = 0;
    label(blossom) = Label::outer;
    mate(blossom) = mate(root);
    cycle(blossom) = {root};
    const auto climb = [&](int from) {
      for (int each = from; each != root;) {
        cycle(blossom).push_back(each);
        const int inner = top(mate(each));
        cycle(blossom).push_back(inner);
        enqueue(inner);
        each = top(parent(inner));
      }
    };
    climb(a);
    std::reverse(cycle(blossom).begin() + 1, cycle(blossom).end());
    climb(b);
    set_top(blossom, blossom);
    for (int other = 0; other < used_; ++other) {
      edge(blossom, other).weight = edge(other, blossom).weight = 0;
    }
    std::fill(through_[static_cast<std::size_t>(blossom)].begin(),
              through_[static_cast<std::size_t>(blossom)].end(), kNone);
    for (const int member : cycle(blossom)) {
      for (int other = 0; other < used_; ++other) {
        if (other == blossom || edge(member, other).weight == 0) continue;
        if (edge(blossom, other).weight == 0 ||
            gap(edge(member, other)) < gap(edge(blossom, other))) {
          edge(blossom, other) = edge(member, other);
          edge(other, blossom) = edge(other, member);
        }
      }
      for (int v = 0; v < n_; ++v) {
        if (through(member, v) != kNone) through(blossom, v) = member;
      }
    }
    find_slack(blossom);
  }

  void expand(int blossom) {
    for (const int member : cycle(blossom)) set_top(member, member);
    const int entry = through(blossom, edge(blossom, parent(blossom)).from);
    const int place = even_place(blossom, entry);
    const std::vector<int>& all = cycle(blossom);
    for (int i = 0; i < place; i += 2) {
      const int outer_side = all[static_cast<std::size_t>(i)];
      const int next = all[static_cast<std::size_t>(i + 1)];
      parent(outer_side) = edge(next, outer_side).from;
      label(outer_side) = Label::inner;
      label(next) = Label::outer;
      slack(outer_side) = kNone;
      find_slack(next);
      enqueue(next);
    }
    label(entry) = Label::inner;
    parent(entry) = parent(blossom);
    for (std::size_t i = static_cast<std::size_t>(place) + 1; i < all.size(); ++i) {
      label(all[i]) = Label::free;
      find_slack(all[i]);
    }
    top(blossom) = kNone;
  }

  /// An edge without slack leads out of a tree. True = the matching has grown.
  bool take_edge(const Edge& e) {
    const int a = top(e.from);
    const int b = top(e.to);
    if (label(b) == Label::free) {
      parent(b) = e.from;
      label(b) = Label::inner;
      const int next = top(mate(b));
      slack(b) = slack(next) = kNone;
      label(next) = Label::outer;
      enqueue(next);
    } else if (label(b) == Label::outer) {
      const int root = common_ancestor(a, b);
      if (root == kNone) {
        flip_path(a, b);
        flip_path(b, a);
        return true;
      }
      shrink(a, root, b);
    }
    return false;
  }

  bool grow_trees() {
    while (!queue_.empty()) {
      const int v = queue_.front();
      queue_.pop_front();
      if (label(top(v)) == Label::inner) continue;
      for (int other = 0; other < n_; ++other) {
        if (edge(v, other).weight == 0 || top(v) == top(other)) continue;
        if (gap(edge(v, other)) == 0) {
          if (take_edge(edge(v, other))) return true;
        } else {
          keep_slack(v, top(other));
        }
      }
    }
    return false;
  }

  /// Grows the matching by an edge; false = it is the heaviest.
  bool augment() {
    queue_.clear();
    for (int b = 0; b < used_; ++b) {
      parent(b) = slack(b) = kNone;
      label(b) = Label::free;
      if (top(b) == b && mate(b) == kNone) {
        label(b) = Label::outer;
        enqueue(b);
      }
    }
    if (queue_.empty()) return false;
    for (;;) {
      if (grow_trees()) return true;
      std::int64_t step = std::numeric_limits<std::int64_t>::max();
      for (int b = n_; b < used_; ++b) {
        if (top(b) == b && label(b) == Label::inner) step = std::min(step, dual(b) / 2);
      }
      for (int b = 0; b < used_; ++b) {
        if (top(b) != b || slack(b) == kNone || label(b) == Label::inner) continue;
        const std::int64_t left = gap(edge(slack(b), b));
        step = std::min(step, label(b) == Label::outer ? left / 2 : left);
      }
      for (int v = 0; v < n_; ++v) {
        if (label(top(v)) == Label::outer && dual(v) <= step) return false;
      }
      for (int v = 0; v < n_; ++v) {
        if (label(top(v)) == Label::outer) {
          dual(v) -= step;
        } else if (label(top(v)) == Label::inner) {
          dual(v) += step;
        }
      }
      for (int b = n_; b < used_; ++b) {
        if (top(b) != b) continue;
        if (label(b) == Label::outer) dual(b) += 2 * step;
        if (label(b) == Label::inner) dual(b) -= 2 * step;
      }
      queue_.clear();
      for (int b = 0; b < used_; ++b) {
        if (top(b) != b || slack(b) == kNone || top(slack(b)) == b) continue;
        const Edge e = edge(slack(b), b);
        if (gap(e) == 0 && take_edge(e)) return true;
      }
      for (int b = n_; b < used_; ++b) {
        if (top(b) == b && label(b) == Label::inner && dual(b) == 0) expand(b);
      }
    }
  }

  int n_;
  int size_;
  int used_ = 0;
  std::vector<std::vector<Edge>> edges_;
  std::vector<std::int64_t> dual_;
  std::vector<int> mate_;
  std::vector<int> slack_;
  std::vector<int> top_;
  std::vector<int> parent_;
  std::vector<Label> label_;
  std::vector<std::vector<int>> cycle_;
  std::vector<std::vector<int>> through_;
  std::deque<int> queue_;
};

}  // namespace

std::vector<int> heaviest_matching(const Weights& weight) {
  if (weight.empty()) return {};
  return Matcher(weight).solve();
}

}  // namespace almanac::interleave
