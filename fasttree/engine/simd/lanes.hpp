// 16 features of a node, a lane each.
#pragma once
#include <cstdint>

namespace fasttree {

constexpr uint32_t LANES = 16;

struct LaneDraws {
    uint32_t varies;               // lanes that are not constant
    uint32_t missing;              // lanes in which a value is missing
    float low[LANES], high[LANES];
    double thresholds[LANES];
    float tops[LANES];             // the largest floats up to them
    int32_t n_left[LANES];         // rows that go left
};

}  // namespace fasttree
