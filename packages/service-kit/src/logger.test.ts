import { describe, expect, test } from 'vitest'
import { createLogger, requestIdFrom } from './logger.ts'

function makeLogger() {
  const lines: string[] = []
  const log = createLogger({ name: 'test', level: 'trace', destination: { write: (line) => void lines.push(line) } })
  return { log, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown>, text: () => lines.join('') }
}

describe('createLogger', () => {
  test('hides secrets by field name at any depth, in lists and in child fields', () => {
    const { log, text } = makeLogger()
    const secret = 'hunter2-hunter2'
    log.child({ installToken: secret }).info({
      password: secret,
      headers: { Authorization: secret, 'set-cookie': [secret] },
      deep: [{ registry: { credentials: { user: 'u', password: secret } } }],
      ENCRYPTION_SECRET_KEY: secret,
    })
    expect(text()).not.toContain(secret)
    expect(text()).toContain('[redacted]')
  })

  test('hides credentials inside messages, addresses and errors with causes', () => {
    const { log, text } = makeLogger()
    const cause = new Error('connect postgres://crux:hunter2@db/crux failed')
    log.error(
      { err: new Error('Bearer hunter2.hunter2', { cause }) },
      'GET /x?code=hunter2&flow=1&invitation=hunter2 %s',
      'smtp://a:hunter2@b',
    )
    expect(text()).not.toContain('hunter2')
    expect(text()).toContain('flow=1')
  })

  test('hides tokens of Crux anywhere in a text', () => {
    const { log, text } = makeLogger()
    const tokens = [`crux_${'aB3-_'.repeat(9).slice(0, 43)}`, `ory_st_${'x9'.repeat(16)}`]
    for (const token of tokens) log.info({ note: `I pasted ${token}, sorry`, name: token }, token)
    for (const token of tokens) expect(text()).not.toContain(token.slice(12))
    log.info({ container: 'crux_shop_web-1' })
    expect(text()).toContain('crux_shop_web-1')
  })

  test('keeps values that are not secret: flags, counts, types and stacks of errors', () => {
    const { log, last } = makeLogger()
    log.info({ hasPassword: true, tokens: 3, tokenType: 'install', err: new TypeError('bad') })
    expect(last()).toMatchObject({
      hasPassword: true,
      tokens: 3,
      tokenType: 'install',
      err: { type: 'TypeError', message: 'bad' },
    })
  })

  test('omits the objects that libraries attach to their errors', () => {
    const { log, last } = makeLogger()
    const err = Object.assign(new AggregateError([new Error('inner')], 'outer'), {
      code: 'E1',
      client: { user: 'u', _events: {} },
    })
    log.error({ err })
    expect(last().err).toMatchObject({ message: 'outer', code: 'E1', errors: [{ message: 'inner' }] })
    expect(last().err).not.toHaveProperty('client')
  })

  test('logs only id, method and address of a request', () => {
    const { log, last } = makeLogger()
    log.info({ req: { id: '1', method: 'GET', url: '/a?token=abc', headers: { cookie: 'x' }, ip: '::1' } })
    expect(last().req).toEqual({ id: '1', method: 'GET', url: '/a?token=[redacted]', ip: '::1' })
  })
})

describe('requestIdFrom', () => {
  test('accepts a plain id of the caller and replaces anything else', () => {
    expect(requestIdFrom({ 'x-request-id': 'abc-12345' })).toBe('abc-12345')
    expect(requestIdFrom({ 'x-request-id': 'a\nb' })).toMatch(/^[0-9a-f-]{36}$/)
    expect(requestIdFrom({})).not.toBe(requestIdFrom({}))
  })
})
