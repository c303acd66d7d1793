import { Readable } from 'node:stream'
import { type CruxError, contract, type EndpointSpec, type Operation } from '@crux/contract'
import { getKeys } from '@crux/service-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor, AuthResult, Guard, TeamContext } from '../access/index.ts'
import { toCruxError } from './errors.ts'
import type { Handlers, Input } from './handlers.ts'
import { parse, parseInput } from './parse.ts'
import { createWriter } from './response-writer.ts'
import { verifySignedBody } from './signed-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The guard sets it before the body is read. */
    passed?: AuthResult
    /** True when a body whose signature the guard requires has it. */
    bodyVerified?: boolean
    crux?: {
      operation: Operation
      endpoint: EndpointSpec
      /** True when the handler chose the status itself. */
      status?: boolean
      /** True when the audit entry is written. */
      recorded?: boolean
      /** The data that the handler adds to the audit entry. */
      audited?: Record<string, unknown>
    }
  }
}
type AnyHandler = (input: unknown) => Promise<unknown>

/** Records that a change of a team was made or refused. */
export type RecordAudit = (entry: {
  teamId: string
  actor: Actor
  context: 'http'
  method: 'post' | 'put' | 'patch' | 'delete'
  event: string
  accepted: boolean
  data: Record<string, unknown>
}) => Promise<void>
export type Endpoints = { guard: Guard; handlers: Handlers; recordAudit: RecordAudit }

/**
 * Mounts every endpoint of the contract on the server. The guard runs before a body is read; zod validates the request,
 * a compiled serialiser writes the response.
 */
export function mountContract(http: FastifyInstance, { guard, handlers, recordAudit }: Endpoints): void {
  for (const operation of getKeys(contract)) {
    const endpoint: EndpointSpec = contract[operation]
    const { response } = endpoint
    // The endpoint that parses the request is the endpoint of the handler's type.
    const handle = handlers[operation] as AnyHandler
    http.route({
      method: endpoint.method,
      url: endpoint.path,
      ...(endpoint.bodyBytesMax && { bodyLimit: endpoint.bodyBytesMax }),
      ...(response && {
        schema: { response: { '2xx': response } },
        serializerCompiler: () => (value: unknown) => createWriter(response)(value),
      }),
      onRequest: async (request) => {
        request.crux = { operation, endpoint }
        request.passed = await guard(endpoint, request)
      },
      handler: async (request, reply) => {
        // A request without a body has not been verified yet.
        if (request.passed?.verifyBody && !request.bodyVerified) await verifySignedBody(request, '')
        const answer = await handle(getInput(recordAudit, endpoint, request, reply))
        await record(recordAudit, request, answer)
        return send(endpoint, request, reply, answer, () => guard(endpoint, request))
      },
    })
  }
  http.addHook('onError', async (request, _reply, error) => {
    if (request.crux) await record(recordAudit, request, undefined, toCruxError(error))
  })
}

function getInput(recordAudit: RecordAudit, endpoint: EndpointSpec, request: FastifyRequest, reply: FastifyReply) {
  const { team, actor } = request.passed ?? {}
  return {
    params: endpoint.params && parse(endpoint.params, request.params),
    query: endpoint.query && parse(endpoint.query, request.query),
    body: endpoint.body && parseInput(endpoint, endpoint.body, request.body),
    team,
    actor,
    caller: { team, actor },
    requestId: request.id,
    headers: request.headers,
    address: request.ip,
    recorded: () => record(recordAudit, request, undefined),
    audited: (data: Record<string, unknown>) => {
      if (request.crux) request.crux.audited = { ...request.crux.audited, ...data }
    },
    actsIn: (inTeam: TeamContext) => {
      request.passed = { ...request.passed, team: inTeam }
    },
    reply: {
      header: (name: string, value: string | string[]) => void reply.header(name, value),
      status: (code: number) => {
        if (request.crux) request.crux.status = true
        reply.code(code)
      },
      onClose: (fn: () => void) => void reply.raw.once('close', fn),
    },
  } satisfies Record<keyof Input<Operation>, unknown>
}

function send(
  endpoint: EndpointSpec,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
  passAgain: () => Promise<unknown>,
) {
  if (!request.crux?.status) reply.code(endpoint.status)
  if (endpoint.status === 201 && !reply.hasHeader('location'))
    reply.header('location', getLocation(request, endpoint, answer))
  if (endpoint.contentType) {
    reply.type(endpoint.contentType)
    return reply.send(isStream(answer) ? Readable.from(whilePassing(answer, passAgain)) : answer)
  }
  return endpoint.response ? reply.send(answer) : reply.send()
}

const isStream = (answer: unknown): answer is AsyncIterable<Uint8Array> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer

/**
 * A caller that reads slowly may lose the right meanwhile. Each part is sent only if a new request would be allowed
 * now; otherwise the response breaks off.
 */
async function* whilePassing(parts: AsyncIterable<Uint8Array>, passAgain: () => Promise<unknown>) {
  for await (const part of parts) {
    await passAgain()
    yield part
  }
}

/** The address of the new resource without `/api`, below the path prefix of a proxy. */
function getLocation({ url, headers }: FastifyRequest, { location }: EndpointSpec, answer: unknown): string {
  const prefix = headers['x-forwarded-prefix']
  const base = typeof prefix === 'string' && /^(\/[\w.~-]+)+$/.test(prefix) ? prefix : ''
  const path = (url.split('?')[0] ?? '').replace(/^\/api(?=\/)/, '').split('/')
  const above =
    location === 'deployment'
      ? [...path.slice(0, 2), 'deployments']
      : location
        ? path.slice(0, location === 'sibling' ? -2 : -1)
        : path
  const id = location === 'part' ? undefined : getId(answer)
  return [`${base}${above.join('/')}`, ...(id ? [id] : [])].join('/')
}

/** Records every change of a team and every refused attempt. Attempts of unknown users go only to the server's log. */
async function record(
  recordAudit: RecordAudit,
  request: FastifyRequest,
  answer: unknown,
  refusal?: CruxError,
): Promise<void> {
  const { passed, crux } = request
  if (!crux || crux.recorded || !passed?.actor) return
  const { auditTeam, audit, method } = crux.endpoint
  if (!audit) return
  if (auditTeam === 'deleted' && !refusal) return
  const teamId = auditTeam === 'created' ? getId(answer) : passed.team?.id
  if (!teamId) return
  crux.recorded = true
  const params = Object.entries(request.params ?? {}).filter(([name]) => name !== 'teamSlug' && name !== 'teamId')
  await recordAudit({
    teamId,
    actor: passed.actor,
    context: 'http',
    method: auditMethods[method],
    event: `${audit} ${crux.operation}`,
    accepted: refusal === undefined,
    data: {
      ...(params.length > 0 && { params: Object.fromEntries(params) }),
      ...(crux.endpoint.auditBody !== false && request.body !== undefined && { body: request.body }),
      ...crux.audited,
      ...(refusal && { refused: { error: refusal.code, property: refusal.property } }),
    },
  })
}

const auditMethods = { POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const

const getId = (answer: unknown) =>
  typeof answer === 'object' && answer !== null && 'id' in answer ? String(answer.id) : undefined
