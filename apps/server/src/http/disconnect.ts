import type { IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { CruxError } from '@crux/contract'
import { getField } from '@crux/service-kit'
import type { FastifyRequest } from 'fastify'

/** Errors of streams and sockets when the other side of a request ends it. */
const abortCodes = new Set(['ECONNRESET', 'EPIPE', 'ABORT_ERR', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'])

/**
 * Whether an error only means that the client disconnected before the response. Any client can cause that, so it must
 * not fill the log with errors. Another error that coincides with a lost connection is still an error.
 */
export function isClientAbort(request: FastifyRequest, error: CruxError): boolean {
  if (!hasDisconnected(request.raw)) return false
  return error.code !== 'internalError' || abortCodes.has(getCode(error.cause))
}

function hasDisconnected(raw: IncomingMessage & { stream?: ServerHttp2Stream }): boolean {
  // An HTTP/2 connection carries other requests as well, so that only the stream's state counts.
  if (raw.stream) return raw.stream.aborted || raw.stream.destroyed
  return raw.socket.destroyed
}

const getCode = (error: unknown) => String(getField(error, 'code') ?? '')
