import { CruxError, type ErrorCode } from '@crux/contract'

/** An answer of the identity service that is passed on unchanged, in addition to the fields of our own errors. */
export class RelayedRefusal extends CruxError {
  readonly relayedStatus: number
  readonly relayed: Record<string, unknown>

  constructor(status: number, body: unknown) {
    const relayed = typeof body === 'object' && body !== null ? { ...body } : {}
    super(getCode(status), { description: getMessage(relayed), value: relayed })
    this.relayedStatus = status
    this.relayed = relayed
  }
}

function getCode(status: number): ErrorCode {
  if (status >= 500) return 'serviceUnavailable'
  const codes: Record<number, ErrorCode> = {
    401: 'unauthorized',
    403: 'forbidden',
    404: 'notFound',
    409: 'alreadyExists',
    410: 'notFound',
    413: 'payloadTooLarge',
    429: 'tooManyRequests',
  }
  return codes[status] ?? 'invalidArgument'
}

type Message = { text?: unknown }
type Shown = {
  ui?: { messages?: Message[]; nodes?: { messages?: Message[] }[] }
  error?: { reason?: unknown; message?: unknown }
}

/** The first message of the flow; its fields may have more. */
function getMessage(body: Shown): string | undefined {
  const all = [...(body.ui?.messages ?? []), ...(body.ui?.nodes ?? []).flatMap((node) => node.messages ?? [])]
  const text = [...all.map((message) => message.text), body.error?.reason, body.error?.message]
  return text.find((entry): entry is string => typeof entry === 'string' && entry !== '')
}
