import type { IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { CruxError } from '@crux/contract'
import type { FastifyRequest } from 'fastify'

/** What streams and sockets throw when the other side of a request ends it. */
const abortCodes = new Set(['ECONNRESET', 'EPIPE', 'ABORT_ERR', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'])

/**
 * Whether a failure is only that the client went away before it was answered. Anyone can do that as often as they like, so it must
 * not fill the log with errors. A fault of ours that happens to meet a lost connection is still a fault.
 */
export function isClientAbort(request: FastifyRequest, error: CruxError): boolean {
  if (!hasDisconnected(request.raw)) return false
  return error.code !== 'internalError' || abortCodes.has(codeOf(error.cause))
}

function hasDisconnected(raw: IncomingMessage & { stream?: ServerHttp2Stream }): boolean {
  // HTTP/2: the connection carries other requests, so only the stream tells.
  if (raw.stream) return raw.stream.aborted || raw.stream.destroyed
  return raw.socket.destroyed
}

const codeOf = (error: unknown) => String((error as { code?: unknown } | undefined)?.code ?? '')
