/**
 * Reads for one key run one after another: two concurrent reads could finish in the wrong order, and the page would
 * keep the older result.
 */
export function createQueue() {
  const tails = new Map<string, Promise<void>>()
  return (key: string, work: () => Promise<void>): Promise<void> => {
    const mine = (tails.get(key) ?? Promise.resolve()).then(work)
    const tail = mine
      .catch(() => undefined)
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key)
      })
    tails.set(key, tail)
    return mine
  }
}
