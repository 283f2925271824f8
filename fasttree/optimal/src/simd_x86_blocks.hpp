// Transposition of 8 x 8 blocks of counters by SSE2 unpacking. Included inside the namespace of
// an x86 instruction set.

inline void transpose_block(const int8_t* from, int8_t* to, ptrdiff_t stride) {
    __m128i row[8];
    for (int r = 0; r < 8; ++r)
        row[r] = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + r * stride));
    __m128i pair[4], quad[4], out[4];
    for (int k = 0; k < 4; ++k) pair[k] = _mm_unpacklo_epi8(row[2 * k], row[2 * k + 1]);
    for (int k = 0; k < 2; ++k) {
        quad[2 * k] = _mm_unpacklo_epi16(pair[2 * k], pair[2 * k + 1]);
        quad[2 * k + 1] = _mm_unpackhi_epi16(pair[2 * k], pair[2 * k + 1]);
    }
    for (int k = 0; k < 2; ++k) {
        out[2 * k] = _mm_unpacklo_epi32(quad[k], quad[2 + k]);
        out[2 * k + 1] = _mm_unpackhi_epi32(quad[k], quad[2 + k]);
    }
    for (int k = 0; k < 4; ++k) {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 2 * k * stride), out[k]);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to + (2 * k + 1) * stride),
                         _mm_unpackhi_epi64(out[k], out[k]));
    }
}

inline void transpose_block(const int16_t* from, int16_t* to, ptrdiff_t stride) {
    __m128i a[8], b[8];
    for (int r = 0; r < 8; ++r)
        a[r] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + r * stride));
    for (int k = 0; k < 4; ++k) {
        b[k] = _mm_unpacklo_epi16(a[2 * k], a[2 * k + 1]);
        b[4 + k] = _mm_unpackhi_epi16(a[2 * k], a[2 * k + 1]);
    }
    for (int half = 0; half < 2; ++half) {
        const __m128i* pair = b + 4 * half;
        const __m128i quad[4] = {
            _mm_unpacklo_epi32(pair[0], pair[1]), _mm_unpackhi_epi32(pair[0], pair[1]),
            _mm_unpacklo_epi32(pair[2], pair[3]), _mm_unpackhi_epi32(pair[2], pair[3])};
        for (int k = 0; k < 2; ++k) {
            int16_t* out = to + (4 * half + 2 * k) * stride;
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                             _mm_unpacklo_epi64(quad[k], quad[2 + k]));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + stride),
                             _mm_unpackhi_epi64(quad[k], quad[2 + k]));
        }
    }
}

inline void transpose_block(const int32_t* from, int32_t* to, ptrdiff_t stride) {
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
        const int i = quadrant / 2 * 4, j = quadrant % 2 * 4;
        __m128i row[4];
        for (int r = 0; r < 4; ++r)
            row[r] = _mm_loadu_si128(
                reinterpret_cast<const __m128i*>(from + (i + r) * stride + j));
        const __m128i pair[4] = {
            _mm_unpacklo_epi32(row[0], row[1]), _mm_unpackhi_epi32(row[0], row[1]),
            _mm_unpacklo_epi32(row[2], row[3]), _mm_unpackhi_epi32(row[2], row[3])};
        for (int k = 0; k < 2; ++k) {
            int32_t* out = to + (j + 2 * k) * stride + i;
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                             _mm_unpacklo_epi64(pair[k], pair[2 + k]));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + stride),
                             _mm_unpackhi_epi64(pair[k], pair[2 + k]));
        }
    }
}
