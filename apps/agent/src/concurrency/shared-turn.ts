/**
 * Runs work one after another. Calls that come while a turn waits share that turn, so each caller gets a run that started after its call,
 * and any number of callers cause at most two runs.
 */
export function sharedTurn<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve()
  let waiting: Promise<T> | undefined
  return () => {
    waiting ??= running.then(() => {
      waiting = undefined
      const turn = run()
      running = turn.catch(() => undefined)
      return turn
    })
    return waiting
  }
}
