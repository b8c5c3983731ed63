#pragma once

// Code shared by all levels, over a vector type `V`. Only kernels_*.h include it, inside the region that enables a level's instructions. It
// therefore includes nothing itself and is in an anonymous namespace: no other file may link a copy that uses instructions its machine
// lacks.
//
// V has: Float and Int (vectors of kLanes), load, store, broadcast, multiply_add, maximum, minimum, sum, largest, smallest, round (to an
// integer, ties to even), times_power_of_two (for integers from -126 to 0), keep_first.
namespace footnote::nn {
namespace {

#define FOOTNOTE_INLINE inline __attribute__((always_inline))
#define FOOTNOTE_INLINE_LAMBDA __attribute__((always_inline))

// Unrolls by template: g++ keeps an array of accumulators in registers only when no loop indexes it.
template <class Body, std::size_t... kIndex>
FOOTNOTE_INLINE void unroll(std::index_sequence<kIndex...>, Body&& body) {
  (body(std::integral_constant<std::size_t, kIndex>{}), ...);
}

template <class V, std::size_t kTerms>
FOOTNOTE_INLINE typename V::Float polynomial(typename V::Float x, const float (&coefficients)[kTerms]) {
  typename V::Float value = V::broadcast(coefficients[kTerms - 1]);
  for (std::size_t i = kTerms - 1; i-- > 0;) value = V::multiply_add(value, x, V::broadcast(coefficients[i]));
  return value;
}

// 2^x for x <= 0, by a polynomial on [-1/2, 1/2]; below -126 the result is practically 0.
template <class V, std::size_t kTerms>
FOOTNOTE_INLINE typename V::Float exp2_of_negative(typename V::Float x, const float (&terms)[kTerms]) {
  const typename V::Float bounded = V::maximum(x, V::broadcast(-126.0F));
  const typename V::Float whole = V::round(bounded);
  return V::times_power_of_two(polynomial<V>(bounded - whole, terms), whole);
}

// ln(2)^k / k!
constexpr float kExp2Terms[] = {1.0F, 0.693147182F, 0.240226507F, 0.0555041087F, 0.00961812911F, 0.00133335581F, 0.000154035304F};
constexpr float kExp2FewTerms[] = {1.0F, 0.693147182F, 0.240226507F, 0.0555041087F, 0.00961812911F};

// x * Phi(x), where Phi - 1/2 is an odd polynomial on |x| <= 3.9 and constant beyond: the error is below 1.5e-4 * max(1, x), less than
// these levels round. The constants are read through a pointer that is opaque to the compiler; otherwise it keeps them in registers across
// a multiplication and spills its accumulators.
constexpr float kPhiTerms[] = {0.398086041F,    -0.0648701414F,   0.00891411304F, -0.000844584079F,
                               5.12452280e-05F, -1.77092181e-06F, 2.62803468e-08F};
constexpr float kGeluMinimum = -0.1702F;

template <class V>
FOOTNOTE_INLINE typename V::Float quick_gelu(typename V::Float x) {
  using Float = typename V::Float;
  const float(*terms)[7] = &kPhiTerms;
  asm volatile("" : "+r"(terms));
  // Phi is slightly above 0 for very negative x: clamp x, or the product would be large.
  const Float bounded = V::maximum(x, V::broadcast(-3.9F));
  const Float clamped = V::minimum(bounded, V::broadcast(3.9F));
  return bounded * V::multiply_add(clamped, polynomial<V>(clamped * clamped, *terms), V::broadcast(0.5F));
}

// Calls body(first row, kRows) for blocks of at most kMost rows of about equal height: 16 rows are split into 8 and 8 rather than 12 and 4.
template <std::size_t kMost, class Body>
FOOTNOTE_INLINE void pick_height(std::size_t first, std::size_t rows, Body&& body) {
  if constexpr (kMost > 0) {
    if (rows == kMost) return body(first, std::integral_constant<std::size_t, kMost>{});
    pick_height<kMost - 1>(first, rows, body);
  }
}

template <std::size_t kMost, class Body>
FOOTNOTE_INLINE void for_row_blocks(std::size_t rows, Body&& body) {
  const std::size_t blocks = (rows + kMost - 1) / kMost;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t first = rows * i / blocks;
    pick_height<kMost>(first, rows * (i + 1) / blocks - first, body);
  }
}

// Mean and 1 / standard deviation of several consecutive rows. Two accumulators each, so that an addition need not wait for the previous
// one.
template <class V, std::size_t kRows>
FOOTNOTE_INLINE void measure_rows(const float* rows, std::size_t width, float epsilon, typename V::Float (&mean)[kRows],
                                  typename V::Float (&factor)[kRows]) {
  using Float = typename V::Float;
  constexpr auto kEach = std::make_index_sequence<kRows>{};
  const float share = 1.0F / static_cast<float>(width);
  Float even[kRows], odd[kRows];
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA { even[row] = odd[row] = V::broadcast(0.0F); });
  for (std::size_t k = 0; k < width; k += 2 * V::kLanes) {
    unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
      even[row] = even[row] + V::load(rows + row * width + k);
      odd[row] = odd[row] + V::load(rows + row * width + k + V::kLanes);
    });
  }
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
    mean[row] = V::broadcast(V::sum(even[row] + odd[row]) * share);
    even[row] = odd[row] = V::broadcast(0.0F);
  });
  for (std::size_t k = 0; k < width; k += 2 * V::kLanes) {
    unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
      const Float first = V::load(rows + row * width + k) - mean[row], second = V::load(rows + row * width + k + V::kLanes) - mean[row];
      even[row] = V::multiply_add(first, first, even[row]);
      odd[row] = V::multiply_add(second, second, odd[row]);
    });
  }
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
    factor[row] = V::broadcast(1.0F / __builtin_sqrtf(V::sum(even[row] + odd[row]) * share + epsilon));
  });
}

template <class V>
FOOTNOTE_INLINE void measure_row(const float* row, std::size_t width, float epsilon, typename V::Float& mean, typename V::Float& factor) {
  typename V::Float means[1], factors[1];
  measure_rows<V>(row, width, epsilon, means, factors);
  mean = means[0];
  factor = factors[0];
}

}  // namespace
}  // namespace footnote::nn
