import { Agent, type ClientRequest, type IncomingMessage } from 'node:http'
import { inspect } from 'node:util'
import { guarded } from '@crux/service-kit'
import Docker from 'dockerode'
import { guardedTimer } from '../../../concurrency/pause.ts'

/** The Engine API version that this driver uses; an engine that no longer supports it is addressed with its own oldest version. */
const apiVersion = '1.41'

/** How long the engine may take to answer: it may hold a container locked indefinitely, and callers would wait as long. */
export interface CallLimits {
  readMs: number
  changeMs: number
}
const usualLimits: CallLimits = { readMs: 60_000, changeMs: 5 * 60_000 }

/** The engine accepted a call and did not answer it in time. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'
  readonly code = 'ETIMEDOUT'
}

/**
 * @param dockerHost `unix:///path` or `tcp://host:port`
 *
 * Sockets stay open between requests: on a unix socket a new connection costs more than most requests.
 */
export async function openDocker(
  dockerHost: string,
  limits: CallLimits = usualLimits,
): Promise<{ docker: Docker; close: () => void }> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 32, timeout: 0 })
  // docker-modem formats each request for debug output, even when debugging is off: with all sockets of the pool that costs more than the
  // request.
  Object.assign(agent, { [inspect.custom]: () => 'Agent' })
  failCutAnswers(agent)
  handleSocketErrors(agent)
  const make = (version?: string) => {
    // The types of dockerode leave the agent out.
    const options = { ...getAddress(dockerHost), agent, ...(version && { version }) }
    const docker = new Docker(options)
    limitCalls(docker, limits)
    return docker
  }
  const offered: { MinAPIVersion?: string } = await make().version()
  return { docker: make(`v${newer(apiVersion, offered.MinAPIVersion ?? apiVersion)}`), close: () => agent.destroy() }
}

/** docker-modem waits indefinitely for the end of an answer when the engine ends in the middle of it, so the request must fail. */
function failCutAnswers(agent: Agent): void {
  type Add = (request: ClientRequest, ...more: unknown[]) => void
  // Node calls it with each request; its types leave it out.
  const add: Add = Reflect.get(agent, 'addRequest')
  const addRequest: Add = (request, ...more) => {
    request.once(
      'response',
      guarded('an answer of the engine', (response: IncomingMessage) => {
        response.once(
          'error',
          guarded('an answer of the engine', (error) => void request.emit('error', error)),
        )
      }),
    )
    add.call(agent, request, ...more)
  }
  Object.assign(agent, { addRequest })
}

/** Node fails a socket without a listener where a request is aborted between the last byte of its answer and the end. */
function handleSocketErrors(agent: Agent): void {
  const create = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = create(options, callback)
    // The request or the pool learns of it too.
    socket?.on(
      'error',
      guarded('a connection to the engine', () => undefined),
    )
    return socket
  }
}

/** Streams continue for as long as they are read, and callers that pass a signal set their own limit. */
function limitCalls({ modem }: Docker, { readMs, changeMs }: CallLimits): void {
  type Call = { method: string; isStream?: boolean; abortSignal?: AbortSignal }
  type Dial = (call: Call, answered: (error: unknown, result: unknown) => void) => void
  const original = modem.dial
  const dial: Dial = (call, answered) => Reflect.apply(original, modem, [call, answered])
  const limited: Dial = (call, answered) => {
    if (call.isStream || call.abortSignal) return dial(call, answered)
    const ms = call.method === 'GET' || call.method === 'HEAD' ? readMs : changeMs
    const late = new AbortController()
    const timer = guardedTimer('the time limit of a call', ms, () => late.abort())
    dial({ ...call, abortSignal: late.signal }, (error, result) => {
      clearTimeout(timer)
      if (error && late.signal.aborted) answered(new NoAnswerError(`no answer within ${ms / 1_000} s`), result)
      else answered(error, result)
    })
  }
  Object.assign(modem, { dial: limited })
}

function getAddress(dockerHost: string): Docker.DockerOptions {
  const url = new URL(dockerHost)
  if (url.protocol === 'unix:') return { socketPath: url.pathname }
  return { protocol: 'http', host: url.hostname, port: Number(url.port || 2375) }
}

function newer(left: string, right: string): string {
  const minor = (version: string) => Number(version.split('.')[1] ?? 0)
  return minor(right) > minor(left) ? right : left
}
