/** Repeats a round of work. Rounds run one at a time, and what failed is tried again in the next one. */
export function createRounds(options: {
  intervalMs: number
  round: () => Promise<void>
  failed: (error: unknown) => void
}) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  /** Runs a round now, or waits for the one that runs. */
  function run(): Promise<void> {
    running ??= options
      .round()
      .catch(options.failed)
      .finally(() => {
        running = undefined
      })
    return running
  }

  return {
    run,
    start() {
      timer = setInterval(() => void run(), options.intervalMs)
    },
    /** Waits for the round that runs. */
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
