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
  const at::Tensor taken = gradients().index_select(0, slot);
  copy_rows(gradients_, slot, at::zeros_like(taken), {});  // index_fill_ takes several times as long
  return taken.to(rows_.scalar_type());
}

}  // namespace ut::dist
