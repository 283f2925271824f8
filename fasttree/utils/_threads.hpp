// What the OpenMP run time knows about threads; one thread when built without OpenMP.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

namespace fasttree {

inline int thread_num() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

// Respects OMP_NUM_THREADS and threadpoolctl's limits.
inline int max_threads() noexcept {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

inline bool with_openmp() noexcept {
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

}  // namespace fasttree
