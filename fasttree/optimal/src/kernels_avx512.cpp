#include "kernels.hpp"
#include "simd_avx512.hpp"

namespace fasttree::optimal {
namespace avx512 {

#include "kernels_impl.hpp"

}  // namespace avx512

const Kernels* avx512_kernels() { return avx512::kTable; }

}  // namespace fasttree::optimal
