import fc from 'fast-check'

type Query = Record<string, string | string[]>
type JsonSchema = { [key: string]: unknown }
/** The input of an endpoint; schemas in the format of `z.toJSONSchema(..., { io: 'input', unrepresentable: 'any' })`. */
export type Endpoint = {
  method: string
  /** With `:parameters`. */
  path: string
  query?: JsonSchema | undefined
  body?: JsonSchema | undefined
}

/** A malformed request, and its parts. */
export type FuzzRequest = {
  method: string
  /** As it is sent. */
  target: string
  headers: Record<string, string>
  body: string | undefined
  /** Parameters of the path that do not exist. */
  unknown: string[]
  params: Record<string, string>
  query: Query
}

/**
 * Requests to an endpoint with arbitrary content: parameters of the path, query, headers, bodies that are similar to the schema or not, truncated
 * JSON, other content types.
 *
 * @param options.known values of existing parameters; they are used more often than not, so that requests reach the inner code
 * @param options.words strings that are valid in the endpoint, such as ids; they are mixed into queries and bodies
 */
export function fuzzRequests(
  endpoint: Endpoint,
  options: { known?: Record<string, string>; words?: readonly string[]; headers?: Record<string, string> } = {},
): fc.Arbitrary<FuzzRequest> {
  const { known = {}, words = [] } = options
  const names = [...endpoint.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '')
  const params = fc.record(
    Object.fromEntries(names.map((name) => [name, name in known ? mostly(known[name] ?? '', oddSegment) : oddSegment])),
  )
  const hasBody = endpoint.method !== 'GET' && endpoint.method !== 'HEAD'
  return fc
    .record({
      params,
      query: malformedQuery(endpoint.query, words),
      headers: oddHeaders,
      body: hasBody ? malformedBody(endpoint.body, words) : fc.constant({ text: undefined, type: undefined }),
    })
    .map(({ params: chosen, query, headers, body }) => ({
      method: endpoint.method,
      target: endpoint.path.replace(/:(\w+)/g, (_, name: string) => chosen[name] ?? '') + queryText(query),
      headers: { ...headers, ...options.headers, ...(body.type === undefined ? {} : { 'content-type': body.type }) },
      body: body.text,
      unknown: names.filter((name) => chosen[name] !== known[name]),
      params: chosen,
      query,
    }))
}

/** Text for a JSON parameter of this schema: similar to the schema, different, or invalid JSON. */
export function arbitraryJson(schema: JsonSchema, words: readonly string[] = []): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 5, arbitrary: nearlyFitting(schema, words, 0).map(serialised) },
    { weight: 2, arbitrary: malformedValue.map(serialised) },
    { weight: 1, arbitrary: fc.constantFrom(...brokenBodies) },
  )
}

const serialised = (value: unknown) => JSON.stringify(value) ?? 'null'

const mostly = <T>(value: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other })

const oddTexts = [
  '',
  ' ',
  '-',
  '--rm',
  '.',
  '..',
  '../../etc/passwd',
  '/',
  '%',
  '%2e%2e%2f',
  '$(id)',
  '`id`',
  "' or 1=1 --",
  '<script>alert(1)</script>',
  '{{constructor}}',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  'true',
  '0',
  '-1',
  '1e309',
  '9'.repeat(40),
  '2026-02-30T25:61:61Z',
  '0000-00-00',
  '00000000-0000-0000-0000-000000000000',
  'http://[::1',
  'http://169.254.169.254/latest',
  'a@b',
  'a\tb\r\nc',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u202e',
  'é'.repeat(300),
  '😀'.repeat(80),
  'x'.repeat(2_000),
  '[',
  '(((((((((((((((((((((((a+)+)+)+',
]
const oddText = fc.oneof(fc.constantFrom(...oddTexts), fc.string({ unit: 'binary', maxLength: 40 }), fc.uuid())
const malformedValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: oddText },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      0.5,
      1e21,
      2 ** 53,
      -(2 ** 31) - 1,
      [],
      {},
      [[]],
      [null],
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)

/** One path segment, as it is sent in a request line. */
const oddSegment: fc.Arbitrary<string> = fc.oneof(
  fc.uuid(),
  oddText.filter((text) => text !== '').map(encoded),
  fc.constantFrom(
    '%00',
    '%zz',
    '%',
    '%C0%AF',
    '%E0%A4%A',
    '%ff%fe',
    'a'.repeat(600),
    '..;',
    '*',
    '%2F',
    '~',
    ':id',
    '@',
    'a%20b',
  ),
)

/** Lone surrogates have no percent encoding. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function malformedQuery(schema: JsonSchema | undefined, words: readonly string[]): fc.Arbitrary<Query> {
  const properties = Object.entries((schema?.properties ?? {}) as Record<string, JsonSchema>)
  const getText = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
  const named = Object.fromEntries(
    properties.map(([name, property]) => {
      const one = fc.oneof(nearlyFitting(property, words, 0), malformedValue).map(getText)
      return [
        name,
        fc.oneof(
          { weight: 6, arbitrary: one },
          { weight: 1, arbitrary: fc.array(one, { minLength: 2, maxLength: 3 }) },
        ),
      ]
    }),
  )
  const others = fc.dictionary(
    fc.constantFrom('a', 'skip', '__proto__', 'constructor', 'a[b]', 'a.b', ''),
    oddText as fc.Arbitrary<string | string[]>,
    { maxKeys: 1 },
  )
  const some = fc.record(named, { requiredKeys: [] }) as fc.Arbitrary<Query>
  return fc.tuple(some, others).map(([known, other]) => ({ ...other, ...known }))
}

function queryText(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encoded(name)}=${encoded(one)}`),
  )
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

const oddHeaders = fc.record(
  {
    accept: fc.constantFrom('application/json', 'text/html', '*/*', '', ';;;', 'x'.repeat(3_000)),
    cookie: fc.constantFrom('', ';', '=;=;', 'a', 'ory_kratos_session=', 'ory_kratos_session=%00', 'csrf_token=a=b=c'),
    'x-request-id': fc.constantFrom('', ' ', '../..', 'x'.repeat(500)),
    'x-forwarded-prefix': fc.constantFrom('//evil', '/ok', '%', '/a b'),
    'x-forwarded-for': fc.constantFrom('', 'unknown', '::1, ,', "1' or 1"),
    'if-none-match': fc.constantFrom('*', '"'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>

const brokenBodies = [
  '{',
  '[1,',
  '"text',
  'nul',
  '\u0000',
  '{"a":1,}',
  "{'a':1}",
  '{"a":'.repeat(3_000),
  '['.repeat(3_000) + ']'.repeat(3_000),
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{}}}',
  '{"a":1e999}',
  '\ufeff{}',
  'a=1&b=2',
  '<?xml version="1.0"?><a/>',
]

type MalformedBody = { text: string | undefined; type: string | undefined }

function malformedBody(schema: JsonSchema | undefined, words: readonly string[]): fc.Arbitrary<MalformedBody> {
  const json = fc.constantFrom('application/json', 'application/json; charset=utf-8')
  const types = fc.constantFrom(
    'application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'multipart/form-data',
    'text/plain',
    'application/json; charset=utf-16',
    'application/',
    '/',
    '*',
  )
  return fc.oneof(
    {
      weight: schema ? 6 : 1,
      arbitrary: fc.record({ text: nearlyFitting(schema ?? {}, words, 0).map(serialised), type: json }),
    },
    { weight: 2, arbitrary: fc.record({ text: malformedValue.map(serialised), type: json }) },
    { weight: 2, arbitrary: fc.record({ text: fc.constantFrom(...brokenBodies), type: json }) },
    { weight: 1, arbitrary: fc.record({ text: fc.oneof(fc.string(), fc.constantFrom(...brokenBodies)), type: types }) },
    { weight: 1, arbitrary: fc.record({ text: fc.constant(undefined), type: fc.constantFrom(undefined) }) },
  )
}

/** Values that match the schema, with some deviations. */
function nearlyFitting(schema: JsonSchema, words: readonly string[], depth: number): fc.Arbitrary<unknown> {
  const wanted = fitting(schema, words, depth)
  return fc.oneof({ weight: depth === 0 ? 20 : 6, arbitrary: wanted }, { weight: 1, arbitrary: malformedValue })
}

function fitting(schema: JsonSchema, words: readonly string[], depth: number): fc.Arbitrary<unknown> {
  if (depth > 6) return fc.constant(null)
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
  if (choices) return fc.oneof(...choices.map((choice) => nearlyFitting(choice, words, depth + 1)))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]))
  switch (schema.type) {
    case 'object':
      return fittingObject(schema, words, depth)
    case 'array':
      return fc.array(nearlyFitting((schema.items ?? {}) as JsonSchema, words, depth + 1), { maxLength: 4 })
    case 'integer':
    case 'number':
      return fc.oneof(fc.integer({ min: -5, max: 70_000 }), fc.constantFrom(schema.minimum ?? 0, schema.maximum ?? 1))
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return fittingText(schema, words)
    default:
      return fc.oneof(malformedValue, fittingText(schema, words))
  }
}

function fittingObject(schema: JsonSchema, words: readonly string[], depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  if (properties.length === 0) {
    const values = (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {}) as JsonSchema
    return fc.dictionary(oddText, nearlyFitting(values, words, depth + 1), { maxKeys: 3 })
  }
  const required = (schema.required ?? []) as string[]
  const all = Object.fromEntries(
    properties.map(([name, property]) => [name, nearlyFitting(property, words, depth + 1)]),
  )
  return fc.oneof(
    { weight: 4, arbitrary: fc.record(all, { requiredKeys: required }) },
    { weight: 1, arbitrary: fc.record(all, { requiredKeys: [] }) },
  )
}

// Each arbitrary is created once, because fast-check examines every dangerous string when it creates one, which takes longer than a request.
const emailAddress = fc.emailAddress()
const plainName = fc.stringMatching(/^[a-z][a-z0-9-]{2,20}$/)
const textLengthMax = 64
const texts = new Map<number, fc.Arbitrary<string>>()

function textFrom(minLength: number): fc.Arbitrary<string> {
  const text = texts.get(minLength) ?? fc.string({ minLength, maxLength: textLengthMax })
  texts.set(minLength, text)
  return text
}

function fittingText(schema: JsonSchema, words: readonly string[]): fc.Arbitrary<string> {
  const known = words.length > 0 ? [fc.constantFrom(...words)] : []
  if (schema.format === 'uuid') return fc.oneof(...known, fc.uuid())
  if (schema.format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  if (schema.format === 'email') return emailAddress
  return fc.oneof(
    ...known,
    plainName,
    textFrom(Math.min(Number(schema.minLength ?? 0), textLengthMax)),
    fc.constantFrom('1.0.0', 'web', 'nginx:1', 'http://localhost:1', '127.0.0.1:1', 'ada@example.com'),
  )
}
