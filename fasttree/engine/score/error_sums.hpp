// Absolute errors by place: of the first i rows, or of a category. Those of a single output are
// integers, whose sums are exact: splits that are equally good tie.
#pragma once
#include <cstddef>
#include <vector>

#include "engine/core/impurity.hpp"

namespace fasttree {

class ErrorSums {
    bool is_whole_ = true;
    std::vector<wide_t> whole_;
    std::vector<double> scaled_;  // of several outputs, summed over them

public:
    void clear(size_t n_places, int n_outputs) {
        is_whole_ = n_outputs == 1;
        if (is_whole_) whole_.assign(n_places, 0);
        else scaled_.assign(n_places, 0.0);
    }
    void add(size_t place, wide_t error, double scale) {
        if (is_whole_) whole_[place] += error;
        else scaled_[place] += to_double(error) * scale;
    }
    double at(size_t place) const {
        return is_whole_ ? to_double(whole_[place]) : scaled_[place];
    }
    double sum_at(size_t place, const ErrorSums& other) const {
        return is_whole_ ? to_double(whole_[place] + other.whole_[place])
                         : scaled_[place] + other.scaled_[place];
    }
    // Of one place of others, in its own first place.
    void take(const ErrorSums& others, size_t place) {
        if (is_whole_) whole_[0] = others.whole_[place];
        else scaled_[0] = others.scaled_[place];
    }
};

}  // namespace fasttree
