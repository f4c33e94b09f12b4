#pragma once

#include "launcher/cost/machine_numbers.h"

namespace ut::launcher {

/// Predicts the seconds of operations on one rank. Each function adds them to the `part` of an update that they belong
/// to.
class WorkCost {
 public:
  /// `slowdown`: by what factor a rank has less of its cores than when `machine` was measured. `number_bytes`: bytes of
  /// a number; products of numbers wider than float32 are slower in proportion.
  WorkCost(const MachineNumbers& machine, double slowdown, double number_bytes);

  /// [rows, inner] x [inner, columns], `count` times.
  void product(double rows, double inner, double columns, double count, double& part);
  /// `matrices` products of [rows, inner] x [inner, columns] at once, `count` times.
  void batched_product(double matrices, double rows, double inner, double columns, double count, double& part);
  /// Element-wise operations that together read or write `elements` numbers `times` times.
  void add_element_wise(double elements, double times, double& part);
  void random_numbers(double count, double& part) const;
  void exponentials(double count, double& part) const;
  void row_moves(double count, double& part) const;
  /// Counts operations other than products, which count themselves.
  void operations(double count) { operations_ += count; }
  void repeat(double times) { operations_ *= times; }

  /// Seconds that the operations' fixed costs add to `work_seconds`. If operations are queued, the work hides them.
  double operations_beside(double work_seconds) const;

 private:
  const MachineNumbers& machine_;
  double slowdown_;
  double number_bytes_;
  double operations_ = 0;
};

}  // namespace ut::launcher
