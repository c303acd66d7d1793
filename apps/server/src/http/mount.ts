import { Readable } from 'node:stream'
import { type CruxError, contract, type EndpointSpec, type Operation, type ResponseInput } from '@crux/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor, AuthResult, Guard } from '../access/index.ts'
import { toCruxError } from './errors.ts'
import type { Handlers, Input } from './handlers.ts'
import { parse, parseInput } from './parse.ts'
import { writerOf } from './response-writer.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The guard sets it before the body is read. */
    passed?: AuthResult
    crux?: {
      operation: Operation
      row: EndpointSpec
      /** True when the handler chose the status itself. */
      status?: boolean
      /** True when the audit entry is written. */
      recorded?: boolean
      /** The data that the handler adds to the audit entry. */
      audited?: Record<string, unknown>
    }
  }
}
type AnyHandler = (input: Input<Operation>) => Promise<ResponseInput<Operation>>

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
  for (const operation of Object.keys(contract) as Operation[]) {
    const row: EndpointSpec = contract[operation]
    const { response } = row
    const handle = handlers[operation] as AnyHandler
    http.route({
      method: row.method,
      url: row.path,
      ...(row.bodyBytesMax && { bodyLimit: row.bodyBytesMax }),
      ...(response && {
        schema: { response: { '2xx': response } },
        serializerCompiler: () => (value: unknown) => writerOf(response)(value),
      }),
      onRequest: async (request) => {
        request.crux = { operation, row }
        request.passed = await guard(row, request)
      },
      handler: async (request, reply) => {
        const answer = await handle(inputOf(recordAudit, row, request, reply))
        await record(recordAudit, request, answer)
        return send(row, request, reply, answer, () => guard(row, request))
      },
    })
  }
  http.addHook('onError', async (request, _reply, error) => {
    if (request.crux) await record(recordAudit, request, undefined, toCruxError(error))
  })
}

function inputOf(
  recordAudit: RecordAudit,
  row: EndpointSpec,
  request: FastifyRequest,
  reply: FastifyReply,
): Input<Operation> {
  const input = {
    params: row.params && parse(row.params, request.params),
    query: row.query && parse(row.query, request.query),
    body: row.body && parseInput(row, row.body, request.body),
    team: request.passed?.team,
    actor: request.passed?.actor,
    requestId: request.id,
    headers: request.headers,
    address: request.ip,
    recorded: () => record(recordAudit, request, undefined),
    audited: (data: Record<string, unknown>) => {
      if (request.crux) request.crux.audited = { ...request.crux.audited, ...data }
    },
    reply: {
      header: (name: string, value: string | string[]) => void reply.header(name, value),
      status: (code: number) => {
        if (request.crux) request.crux.status = true
        reply.code(code)
      },
      onClose: (fn: () => void) => void reply.raw.once('close', fn),
    },
  }
  // The endpoint that parsed the request is the endpoint of the operation's type.
  return input as unknown as Input<Operation>
}

function send(
  row: EndpointSpec,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
  passAgain: () => Promise<unknown>,
) {
  if (!request.crux?.status) reply.code(row.status)
  if (row.status === 201 && !reply.hasHeader('location')) reply.header('location', locationOf(request, answer))
  if (row.contentType) {
    reply.type(row.contentType)
    return typeof answer === 'string' || answer instanceof Uint8Array
      ? reply.send(answer)
      : reply.send(Readable.from(whilePassing(answer as AsyncIterable<Uint8Array>, passAgain)))
  }
  return row.response ? reply.send(answer) : reply.send()
}

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
function locationOf(request: FastifyRequest, answer: unknown): string {
  const path = request.url.split('?')[0] ?? ''
  // A part that was put below a resource is visible at the resource: .../deployments/{id}/token.
  if (request.method === 'PUT') return path.replace(/\/[^/]+$/, '').replace(/^\/api(?=\/)/, '')
  const id = typeof answer === 'object' && answer !== null && 'id' in answer ? String(answer.id) : undefined
  // An action on one resource creates its sibling: .../versions/{id}/increase leads to .../versions/{new id}.
  const siblings = /\/:\w+\/(increase|copy)$/.test(request.crux?.row.path ?? '')
  const base = (siblings ? path.replace(/\/[^/]+\/[^/]+$/, '') : path).replace(/^\/api(?=\/)/, '')
  const prefix = request.headers['x-forwarded-prefix']
  return `${typeof prefix === 'string' && /^(\/[\w.~-]+)+$/.test(prefix) ? prefix : ''}${base}${id ? `/${id}` : ''}`
}

/** Records every change of a team and every refused attempt. Attempts of unknown users go only to the server's log. */
async function record(
  recordAudit: RecordAudit,
  request: FastifyRequest,
  answer: unknown,
  refusal?: CruxError,
): Promise<void> {
  const { passed, crux } = request
  if (!crux || crux.recorded || crux.row.audit === false || crux.row.method === 'GET' || !passed?.actor) return
  // The audit log is deleted with its team; it still records a refused deletion.
  if (crux.operation === 'teams.delete' && !refusal) return
  const teamId = passed.team?.id ?? (crux.operation === 'teams.create' ? idOf(answer) : undefined)
  if (!teamId) return
  crux.recorded = true
  const { teamSlug: _slug, teamId: _id, ...params } = request.params as Record<string, string>
  await recordAudit({
    teamId,
    actor: passed.actor,
    context: 'http',
    method: crux.row.method.toLowerCase() as 'post' | 'put' | 'patch' | 'delete',
    event: `${crux.row.audit} ${crux.operation}`,
    accepted: refusal === undefined,
    data: {
      ...(Object.keys(params).length > 0 && { params }),
      ...(crux.row.auditBody !== false && request.body !== undefined && { body: request.body }),
      ...crux.audited,
      ...(refusal && { refused: { error: refusal.code, property: refusal.property } }),
    },
  })
}

const idOf = (answer: unknown) =>
  typeof answer === 'object' && answer !== null && 'id' in answer ? String(answer.id) : undefined
