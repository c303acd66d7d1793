const hidden = '[redacted]'
const depthMax = 8
const entriesMax = 200

/** Names of fields whose values never leave the process, compared without case and separators. */
const secretNames =
  /^(authorization|proxyauthorization|cookie|cookies|setcookie|.*password|passwd|.*token|.*secret|.*secrets|.*secretkey|secretaccesskey|credential|credentials|.*apikey|.*privatekey|encryptionkey|totpcode|otp|codeverifier)$/

/** Values of flags, which only have the name of a secret. */
const harmless = (value: unknown) => value === null || value === undefined || typeof value === 'boolean'

/** A copy of `value` without secrets: by field name at any depth, and inside texts as in redactText. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= depthMax) return '[too deep]'
  if (value instanceof Date || ArrayBuffer.isView(value)) return ArrayBuffer.isView(value) ? '[binary]' : value
  if (Array.isArray(value)) return value.slice(0, entriesMax).map((entry) => redact(entry, depth + 1))
  if (value instanceof Error) return redactError(value, depth)
  const shown: unknown = 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value
  if (typeof shown !== 'object' || shown === null) return redact(shown, depth + 1)
  return redactFields(shown, depth)
}

/** A copy of an object without secrets. */
export function redactFields(fields: object, depth = 0): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const [name, entry] of Object.entries(fields).slice(0, entriesMax)) {
    copy[name] = isSecretName(name) && !harmless(entry) ? hidden : redact(entry, depth + 1)
  }
  return copy
}

/** Removes credentials inside a text: tokens of Crux, and those in addresses, bearer headers and query parameters. */
export function redactText(text: string): string {
  if (!/[:=]|bearer|basic|crux_|ory_/i.test(text)) return text
  return text
    .replace(/\b(crux_(?=[\w-]{43})|ory_[a-z]+_(?=\w{32}))[\w-]+/g, `$1${hidden}`)
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${hidden}@`)
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${hidden}`)
    .replace(
      /([?&](?:code|token|invitation|state|secret|password|access_token|id_token|csrf_token)=)[^&\s#"']+/gi,
      `$1${hidden}`,
    )
}

function isSecretName(name: string): boolean {
  return secretNames.test(name.toLowerCase().replace(/[-_\s]/g, ''))
}

/** Libraries attach sockets, clients and whole requests to their errors, so only plain values of other fields are kept. */
function redactError(error: Error, depth: number): unknown {
  const plain = Object.entries(error).filter(
    ([, value]) => value !== null && typeof value !== 'object' && typeof value !== 'function',
  )
  const inner = 'errors' in error && Array.isArray(error.errors) ? { errors: redact(error.errors, depth + 1) } : {}
  return {
    ...redactFields(Object.fromEntries(plain), depth + 1),
    ...inner,
    type: error.name,
    message: redactText(error.message),
    ...(error.stack ? { stack: redactText(error.stack) } : {}),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  }
}
