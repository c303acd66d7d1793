/**
 * Repeats a deletion of at most `batch` rows until one finds fewer, or until `end`: small transactions, for which
 * others do not have to wait.
 *
 * @returns how many rows were deleted
 */
export async function deleteInBatches(batch: number, end: number, deleteSome: () => Promise<number>): Promise<number> {
  let deleted = 0
  let count = batch
  while (count === batch && Date.now() < end) {
    count = await deleteSome()
    deleted += count
  }
  return deleted
}
