// Losses of one row, as functions of its target and what is predicted; the formulas of
// scikit-learn's metrics. They are not finite where those refuse a prediction.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

namespace fasttree {

// y log(x), zero for y = 0 whatever x.
inline double x_log_y(double y, double x) { return y == 0.0 ? 0.0 : y * std::log(x); }

// A loss by its number, that of _LOSSES in _tuning.pyx; `parameter` is the level of a
// pinball loss or the power of a Tweedie deviance. Calls use(loss).
template <class Use>
void with_loss(int number, double parameter, const Use& use) {
    switch (number) {
    case 0: return use([](double y, double p) { return (y - p) * (y - p); });
    case 1: return use([](double y, double p) { return std::fabs(y - p); });
    case 2: return use([](double y, double p) { return y - p; });
    case 3:
        return use([](double y, double p) {
            const double error = std::log1p(y) - std::log1p(p);
            return error * error;
        });
    case 4:
        return use([](double y, double p) {
            constexpr double LEAST = std::numeric_limits<double>::epsilon();
            return std::fabs(p - y) / std::max(std::fabs(y), LEAST);
        });
    case 5:
        return use([parameter](double y, double p) {
            return y >= p ? parameter * (y - p) : -(1.0 - parameter) * (y - p);
        });
    }
    const auto with_deviance = [&](const auto& deviance) {
        use([&](double y, double p) {
            return p > 0.0 ? 2.0 * deviance(y, p) : std::numeric_limits<double>::infinity();
        });
    };
    if (parameter == 1.0)
        with_deviance([](double y, double p) { return x_log_y(y, y / p) - y + p; });
    else if (parameter == 2.0)
        with_deviance([](double y, double p) { return std::log(p / y) + y / p - 1.0; });
    else
        with_deviance([parameter](double y, double p) {
            const double q = 1.0 - parameter, r = 2.0 - parameter;
            return std::pow(std::max(y, 0.0), r) / (q * r) - y * std::pow(p, q) / q
                   + std::pow(p, r) / r;
        });
}

}  // namespace fasttree
