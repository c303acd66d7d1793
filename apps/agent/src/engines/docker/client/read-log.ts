import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { EngineError } from '../../../errors.ts'
import { createRedactor } from '../../../secrets/redaction.ts'
import type { LogChunkLine, LogRequest } from '../../engine.ts'
import { translate, translating } from './errors.ts'
import { secretValues } from './inspection.ts'
import { LogParser } from './log-parser.ts'

/** Lines in batches, as the engine delivers them, without the values of the container's secrets. */
export async function* readLog(docker: Docker, id: string, request: LogRequest): AsyncGenerator<LogChunkLine[]> {
  if (request.pod !== undefined) throw new EngineError('not-found', 'Containers of Docker have no pods')
  const info = await translating('read the log of the container', () => docker.getContainer(id).inspect())
  const parser = new LogParser({ framed: !info.Config.Tty })
  const values = secretValues(info)
  const redact = createRedactor(values)
  // A program that prints its secrets would reveal them to all readers of its log.
  const shown = (lines: LogChunkLine[]) =>
    values.length === 0 ? lines : lines.map((line) => ({ ...line, text: redact(line.text) }))
  const stream = await openLog(docker, id, request)
  try {
    for await (const chunk of stream) {
      const lines = parser.push(chunk)
      if (lines.length > 0) yield shown(lines)
    }
  } catch (error) {
    if (request.signal?.aborted) return
    throw translate(error, 'read the log of the container')
  } finally {
    stream.destroy()
  }
  const rest = parser.end()
  if (rest.length > 0) yield shown(rest)
}

/** Does not use `container.logs`: without `follow` that call collects the whole log in memory first. */
function openLog(docker: Docker, id: string, request: LogRequest): Promise<Readable> {
  const { since, take } = request
  const call = {
    path: `/containers/${id}/logs?`,
    method: 'GET',
    isStream: true,
    abortSignal: request.signal,
    statusCodes: { 200: true, 404: 'no such container', 409: 'not readable', 500: 'server error', 501: 'not readable' },
    options: {
      follow: request.follow,
      stdout: true,
      stderr: true,
      timestamps: true,
      tail: take === undefined ? 'all' : String(take),
      ...(since ? { since: `${since.seconds}.${String(since.nanos).padStart(9, '0')}` } : {}),
    },
  }
  return translating(
    'read the log of the container',
    () =>
      new Promise<Readable>((resolve, reject) => {
        const answered = (error: unknown, stream: unknown) =>
          stream instanceof Readable && !error ? resolve(stream) : reject(error)
        // The types of docker-modem do not include abortSignal and text for status codes, its code does.
        docker.modem.dial(Object.assign<{ path: string }, object>({ path: call.path }, call), answered)
      }),
  )
}
