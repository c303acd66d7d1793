import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogChunkLine, LogRequest } from '../../engine.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Api } from './api.ts'
import { translateLog } from './errors.ts'
import { toObjectPath } from './kinds.ts'
import { LogLines } from './log-lines.ts'

type LoggedContainer = Parameters<Cluster['readLog']>[0]

/** Lines in batches, as the node delivers them; it sends no faster than the caller reads. Both outputs of a program arrive as one. */
export async function* readLog(
  api: Api,
  { container, name, namespace, previous }: LoggedContainer,
  { follow, signal, since, take }: LogRequest,
): AsyncGenerator<LogChunkLine[]> {
  const asked = { verb: 'get', kind: 'Pod', namespace, name } as const
  const lines = new LogLines()
  try {
    const answer = await api.stream({
      path: `${toObjectPath(asked)}/log`,
      query: {
        container,
        timestamps: 'true',
        ...(follow && { follow: 'true' }),
        ...(previous && { previous: 'true' }),
        ...(take !== undefined && { tailLines: String(take) }),
        ...(since && { sinceTime: toTime(since) }),
      },
      signal,
    })
    try {
      for await (const chunk of answer) {
        const all = lines.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk))
        const batch = since ? all.filter((line) => isAtOrAfter(line, since)) : all
        if (batch.length > 0) yield batch
        // Everything that the connection has received by then is the next chunk. A flood of lines would come in chunks of a few otherwise.
        await nextTurn()
      }
    } finally {
      answer.destroy()
    }
  } catch (error) {
    if (signal?.aborted) return
    const translated = translateLog(error, asked)
    if (translated !== 'empty') throw translated
  }
  const rest = lines.end().filter((line) => isAtOrAfter(line, since))
  if (rest.length > 0) yield rest
}

/** Nodes compare whole seconds at most, so lines of the same second that are older arrive too. */
const isAtOrAfter = (line: LogChunkLine, since: LogRequest['since']): boolean =>
  !since || line.seconds > since.seconds || (line.seconds === since.seconds && line.nanos >= since.nanos)

const toTime = ({ nanos, seconds }: { seconds: bigint; nanos: number }): string =>
  new Date(Number(seconds) * 1_000).toISOString().replace('.000Z', `.${String(nanos).padStart(9, '0')}Z`)
