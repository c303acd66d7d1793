import { guarded } from '@crux/service-kit'

/** Lets at most `count` pieces of work run at once; the others wait in order. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /**
   * @param work may leave its slot before its end, when the rest of it costs nothing
   * @param signal work that is aborted no longer waits: it starts without a slot, so that it can end
   */
  async run<T>(work: (leave: () => void) => Promise<T>, signal?: AbortSignal): Promise<T> {
    let has = this.#free > 0
    if (has) this.#free -= 1
    else has = await this.#turn(signal)
    const leave = () => {
      if (!has) return
      has = false
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
    try {
      return await work(leave)
    } finally {
      leave()
    }
  }

  /** @returns whether it got a slot */
  #turn(signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const take = () => {
        signal?.removeEventListener('abort', give)
        resolve(true)
      }
      const give = guarded('a slot that is given up', () => {
        const at = this.#waiting.indexOf(take)
        if (at >= 0) this.#waiting.splice(at, 1)
        resolve(false)
      })
      if (signal?.aborted) return resolve(false)
      signal?.addEventListener('abort', give, { once: true })
      this.#waiting.push(take)
    })
  }
}
