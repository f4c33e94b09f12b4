#include "dist/row_store.h"

#include <ATen/ATen.h>

#include "dist/accumulation_type.h"
#include "dist/select_rows.h"

namespace ut::dist {

void RowStore::put(const at::Tensor& rows, const at::Tensor& slot) {
  if (!rows_.defined()) rows_ = at::zeros({slots_, rows.size(1)}, rows.options());
  copy_rows(rows_, slot, rows.detach(), {});
}

at::Tensor& RowStore::gradients() {
  if (!gradients_.defined()) gradients_ = at::zeros_like(in_accumulation_type(rows_));
  return gradients_;
}

at::Tensor RowStore::take_gradients(const at::Tensor& slot) {
  const at::Tensor taken = gradients().index_select(0, slot).to(rows_.scalar_type());
  gradients_.index_fill_(0, slot, 0);
  return taken;
}

}  // namespace ut::dist
