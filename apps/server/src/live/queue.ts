/**
 * What is read for one key is read one after the other: two events in a moment would be two reads at once, and the older answer,
 * sent last, would stay on the page.
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
