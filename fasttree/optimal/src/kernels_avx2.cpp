#include "kernels.hpp"
#include "simd_avx2.hpp"

namespace fasttree::optimal {
namespace avx2 {

#include "kernels_impl.hpp"

}  // namespace avx2

const Kernels* avx2_kernels() { return avx2::kTable; }

}  // namespace fasttree::optimal
