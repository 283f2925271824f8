#include "kernels.hpp"
#include "simd_portable.hpp"

namespace fasttree::optimal {
namespace portable {

#include "kernels_impl.hpp"

}  // namespace portable

const Kernels* portable_kernels() { return portable::kTable; }

}  // namespace fasttree::optimal
