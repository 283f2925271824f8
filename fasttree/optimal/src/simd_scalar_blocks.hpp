// Transposition of 8 x 8 blocks of counters in plain C++.

template <class T>
inline void transpose_block(const T* from, T* to, ptrdiff_t stride) {
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) to[j * stride + i] = from[i * stride + j];
}
