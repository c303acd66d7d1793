/**
 * Claims work until nothing is due. What becomes due during a claim is found too, because a call during one leads to
 * another one after it.
 *
 * @param claim claims what is due, as far as there is room for it, and starts it; returns how much it claimed
 */
export function createClaimLoop(claim: () => Promise<number>) {
  let running: Promise<void> | undefined
  let again = false
  let stopped = false

  async function claimAll() {
    while (again && !stopped) {
      again = false
      if ((await claim()) > 0) again = true
    }
  }

  return {
    /** Rejects when a claim fails. Does nothing after `stop`. */
    run(): Promise<void> {
      again = true
      running ??= claimAll().finally(() => {
        running = undefined
      })
      return running
    },
    /** Waits for the claim that runs. */
    async stop() {
      stopped = true
      await running?.catch(() => undefined)
    },
  }
}
