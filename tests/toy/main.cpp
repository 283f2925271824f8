// Reads a node's rows and targets, prints the best split of its features by the example of
// engine/score/accumulator.hpp, which a line of the registry makes known.
//
// Input: n rows, n classes, n weights or zeros, and for each row its class, its weight, its value.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "engine/criteria/registry.hpp"
#include "engine/criteria/searcher_of.hpp"

namespace fasttree {
EXAMPLE
// What would be criteria/misclassification.cpp.
Searcher make_misclassification(const Targets& t) {
    if (t.weights) return make_searcher<Misclassification<SampleWeights>>(t);
    return make_searcher<Misclassification<UnitWeights>>(t);
}
}  // namespace fasttree

using namespace fasttree;

void search(const Targets& t, const std::vector<float>& x) {
    const uint32_t n = t.n_rows;
    std::vector<uint32_t> rows(n), entries(n);
    std::iota(rows.begin(), rows.end(), 0);
    entries = rows;
    std::stable_sort(entries.begin(), entries.end(),
                     [&](uint32_t a, uint32_t b) { return x[a] < x[b]; });
    std::vector<uint32_t> flagged = entries;
    for (uint32_t p = 1; p < n; ++p) {
        if (x[entries[p]] != x[entries[p - 1]]) flagged[p] |= BOUNDARY;
    }
    const Searcher searcher = make_searcher_by("misclassification", t);
    Scanner& scanner = *searcher.scanner;
    scanner.begin_node(rows.data(), n, {});
    NodeStats stats;
    scanner.node_stats(rows.data(), n, stats);
    Candidate best;
    best.score = MINUS_INFINITY;
    const Limits limits{1, 0.0, 0, 0.0, 0.0, false, false, false};
    const bool found = scanner.scan(Runs{flagged.data(), n, 0, x.data(), 1}, limits, best);
    std::printf("%.17g %d %u %.17g\n", stats.impurity, found, found ? best.n_left : 0,
                found ? best.score : 0.0);
}

int main() {
    uint32_t n;
    int n_classes, is_weighted;
    while (std::scanf("%u %d %d", &n, &n_classes, &is_weighted) == 3) {
        std::vector<uint8_t> y(n);
        std::vector<int64_t> w(n);
        std::vector<float> x(n);
        for (uint32_t i = 0; i < n; ++i) {
            long long weight;
            if (std::scanf("%hhu %lld %f", &y[i], &weight, &x[i]) != 3) return 1;
            w[i] = weight;
        }
        const int64_t sizes[1] = {n_classes};
        Targets t{};
        t.n_rows = n;
        t.n_outputs = 1;
        t.max_n_classes = n_classes;
        t.n_classes = sizes;
        t.classes = y.data();
        t.weights = is_weighted ? w.data() : nullptr;
        t.weight_unit = 1.0;
        search(t, x);
    }
}
