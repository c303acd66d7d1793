import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Bindings, type ChildLoggerOptions, type DestinationStream, type Logger, pino } from 'pino'
import { redact, redactFields, redactText } from './redact.ts'

export type { Logger } from 'pino'
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/**
 * The logger of a process. All of its output passes `redact` here, so that no caller can forget it.
 *
 * @param options.destination where lines are written; standard output when absent
 */
export function createLogger(options: { name: string; level?: LogLevel; destination?: DestinationStream }): Logger {
  const logger = pino(
    {
      name: options.name,
      level: options.level ?? 'info',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        bindings: ({ hostname, ...bindings }) => redactFields(bindings),
        log: redactEntry,
      },
      serializers: {
        err: (err: unknown) => err,
        req: showRequest,
        request: showRequest,
        res: showReply,
        reply: showReply,
      },
      hooks: {
        logMethod(args, method) {
          Reflect.apply(
            method,
            this,
            args.map((arg) => (typeof arg === 'string' ? redactText(arg) : arg)),
          )
        },
      },
    },
    // Writes are synchronous, so that the last lines of a process that dies are not lost.
    options.destination ?? pino.destination({ fd: 1, sync: true }),
  )
  // pino passes only the fields of the first logger to `formatters.bindings`, so those of child loggers are redacted here.
  const child = logger.child
  return Object.assign(logger, {
    child(this: Logger, bindings: Bindings, childOptions?: ChildLoggerOptions) {
      return Reflect.apply(child, this, [redactEntry(bindings), childOptions])
    },
  })
}

/** The id under which a request is logged and answered: the caller's `x-request-id` when it is a plain word, otherwise a new one. */
export function requestIdFrom(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w-]{8,64}$/.test(given) ? given : randomUUID()
}

/** Fields that the serializers below handle. Traversing a live request or response object would be slow and log too much. */
const serialized = new Set(['req', 'res', 'request', 'reply'])

function redactEntry(fields: Record<string, unknown>): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) (serialized.has(name) ? shown : rest)[name] = value
  return { ...redactFields(rest), ...shown }
}

function showRequest(request: unknown): unknown {
  if (typeof request !== 'object' || request === null) return redact(request)
  const { id, method, url, ip }: { id?: unknown; method?: unknown; url?: unknown; ip?: unknown } = request
  return { id, method, url: typeof url === 'string' ? redactText(url) : undefined, ip }
}

function showReply(reply: unknown): unknown {
  if (typeof reply !== 'object' || reply === null) return redact(reply)
  return { statusCode: 'statusCode' in reply ? reply.statusCode : undefined }
}
