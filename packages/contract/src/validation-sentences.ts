import type { z } from 'zod'

type Issue = Parameters<NonNullable<z.core.$ZodConfig['localeError']>>[0]

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  bigint: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a date',
}

const formats: Readonly<Record<string, string>> = {
  uuid: 'This is not a valid id',
  email: 'Enter an e-mail address such as ada@example.com',
  url: 'Enter an address such as https://example.com',
  ipv4: 'Enter an IPv4 address such as 10.0.0.5',
  ipv6: 'Enter an IPv6 address such as fd00::5',
  datetime: 'Enter a time such as 2026-01-31T12:00:00Z',
  date: 'Enter a date such as 2026-01-31',
}

/**
 * A sentence for users about one validation issue. Schemas with a message of their own keep it; this function replaces the texts of the schema
 * library, which contain types and operators.
 */
export function validationSentence(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'This is required' : `This must be ${kinds[issue.expected] ?? issue.expected}`
    case 'too_small':
      return tooSmall(issue.origin, Number(issue.minimum), issue.inclusive !== false)
    case 'too_big':
      return tooBig(issue.origin, Number(issue.maximum), issue.inclusive !== false)
    case 'invalid_format':
      return formats[issue.format] ?? 'The format of this value is not valid'
    case 'not_multiple_of':
      return `This must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `${issue.keys.join(', ')}: not known here. Remove it, or check the spelling`
    case 'invalid_value':
      return issue.values.length === 1
        ? `This must be ${String(issue.values[0])}`
        : `Use one of: ${issue.values.map(String).join(', ')}`
    case 'invalid_key':
      return 'This name is not valid'
    default:
      return 'This value is not valid'
  }
}

function tooSmall(origin: string, minimum: number, inclusive: boolean): string {
  if (origin === 'string') return minimum === 1 ? 'This must not be empty' : `Use at least ${minimum} characters`
  if (origin === 'array' || origin === 'set')
    return minimum === 1 ? 'This list must not be empty' : `At least ${minimum} entries are needed`
  return inclusive ? `Use ${minimum} or more` : `Use more than ${minimum}`
}

function tooBig(origin: string, maximum: number, inclusive: boolean): string {
  if (origin === 'string') return `Use at most ${maximum} characters`
  if (origin === 'array' || origin === 'set') return `At most ${maximum} entries are possible`
  return inclusive ? `Use ${maximum} or less` : `Use less than ${maximum}`
}
