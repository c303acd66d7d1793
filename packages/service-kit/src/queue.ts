/** Work for one key runs one after another, in the order of the calls; work for different keys runs side by side. */
export function createQueue() {
  const tails = new Map<string, Promise<void>>()
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const mine = (tails.get(key) ?? Promise.resolve()).then(work)
    const tail: Promise<void> = mine
      .catch(() => undefined)
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key)
      })
    tails.set(key, tail)
    return mine
  }
}
