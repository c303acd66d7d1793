import type { TeamContext } from '../access/index.ts'
import type { LogBatch } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { getScope } from './actions.ts'
import { toLogText } from './container-view.ts'

/**
 * The whole log of a container as text, in parts. The agent sends a part when the previous one was read, so that a slow
 * reader slows the engine down and memory stays bounded.
 *
 * @param onClose registers a callback for the end of the reading
 * @returns when the first part is there, so that a container that cannot be read is an answer of its own and no broken
 *   file
 * @throws CruxError of the agent's failure; while the parts are read also when the agent's link ends
 */
export async function downloadLog(
  app: App,
  { team }: { team: Pick<TeamContext, 'id'> },
  nodeId: string,
  { container, pod }: { container: { prefix: string; name: string }; pod?: string | undefined },
  onClose: (closed: () => void) => void,
): Promise<AsyncIterable<Uint8Array>> {
  const scope = await getScope(app, team, nodeId)
  const parts = new Handover<LogBatch>()
  const stream = await app.links.followLog(
    nodeId,
    { container, scope, take: 0, whole: true, pod: pod ?? '' },
    { message: (batch) => parts.give(batch), ended: (error) => parts.end(error) },
  )
  onClose(() => {
    parts.leave()
    stream.close()
  })
  const first = await parts.take()
  async function* texts(): AsyncGenerator<Uint8Array> {
    for (let part = first; part; part = await parts.take()) yield getText(part)
  }
  return texts()
}

function getText({ lines }: LogBatch): Uint8Array {
  let text = ''
  for (const line of lines) text += `${toLogText(line)}\n`
  return Buffer.from(text)
}

/** Passes values one by one from a producer to a consumer; each waits for the other. */
class Handover<T> {
  #offered: { value: T; taken: () => void } | undefined
  #wake: (() => void) | undefined
  #end: { error: Error | undefined } | undefined
  #isLeft = false

  /** Resolves when the value was taken, or the consumer has left. */
  give(value: T): Promise<void> {
    if (this.#isLeft) return Promise.resolve()
    return new Promise((taken) => {
      this.#offered = { value, taken }
      this.#wake?.()
    })
  }

  end(error?: Error): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  /** Ends the reading; a waiting producer continues. */
  leave(): void {
    this.#isLeft = true
    this.#offered?.taken()
    this.end()
  }

  /** @returns undefined at the end. @throws the error that it ended with */
  async take(): Promise<T | undefined> {
    for (;;) {
      const offered = this.#offered
      if (offered) {
        this.#offered = undefined
        offered.taken()
        return offered.value
      }
      if (this.#end?.error) throw this.#end.error
      if (this.#end) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
