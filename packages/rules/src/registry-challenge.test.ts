import { describe, expect, test } from 'vitest'
import { getToken, parseChallenge, tokenUrl } from './registry-challenge.ts'

describe('the challenge of a registry', () => {
  test.each([
    ['Basic realm="x"', { scheme: 'basic', parameters: { realm: 'x' } }],
    [
      'Bearer realm="https://auth.io/token",service="reg",scope="repository:a/b:pull"',
      {
        scheme: 'bearer',
        parameters: { realm: 'https://auth.io/token', service: 'reg', scope: 'repository:a/b:pull' },
      },
    ],
    ['bearer realm=plain', { scheme: 'bearer', parameters: { realm: 'plain' } }],
    ['Bearer realm="a\\"b"', { scheme: 'bearer', parameters: { realm: 'a"b' } }],
    ['Negotiate', undefined],
    [undefined, undefined],
  ])('is parsed from %j', (header, expected) => expect(parseChallenge(header)).toEqual(expected))

  test('is the first one that is supported', () => {
    expect(parseChallenge(['Negotiate', 'Basic realm="x"'])).toMatchObject({ scheme: 'basic' })
  })
})

describe('the token address of a registry', () => {
  const registry = { hostname: 'registry.example.com', isPlain: false }
  const url = (
    realm: string,
    options: { hasCredentials?: boolean; target?: typeof registry & { tokenOrigin?: string } } = {},
  ) => {
    const challenge = { scheme: 'bearer', parameters: { realm, service: 'reg', scope: 'theirs' } }
    const found = tokenUrl(challenge, options.target ?? registry, {
      hasCredentials: options.hasCredentials ?? true,
      scope: 'ours',
    })
    return found.ok ? found.url.href : found.problem
  }

  test('contains the service and the requested scope', () => {
    expect(url('https://auth.example.com/token')).toBe('https://auth.example.com/token?service=reg&scope=ours')
  })

  test.each([
    ['%%', 'a place that is no address'],
    ['https://user@registry.example.com/', 'a place that is not allowed'],
    ['file:///etc/passwd', 'a place that is not allowed'],
    ['https://collector.net/', 'collector.net, which is another site: the credentials are not sent there'],
    ['http://auth.example.com/', 'auth.example.com without encryption: the credentials are not sent there'],
  ])('is refused where it is %s', (realm, problem) => expect(url(realm)).toBe(problem))

  test('may be on another site where there are no credentials to send, and http where the registry itself is http', () => {
    expect(url('https://collector.net/t', { hasCredentials: false })).toContain('https://collector.net/t')
    expect(url('http://registry.example.com/t', { target: { ...registry, isPlain: true } })).toContain(
      'http://registry',
    )
  })

  test('may be on another site when the owner of the credentials named that origin, and only then', () => {
    const target = { ...registry, tokenOrigin: 'https://gitlab.example.net' }
    expect(url('https://gitlab.example.net/jwt/auth', { target })).toContain('https://gitlab.example.net/jwt/auth')
    expect(url('http://gitlab.example.net/jwt/auth', { target })).toContain('another site')
    expect(url('https://gitlab.example.net.evil.org/', { target })).toContain('another site')
  })

  test('returns a token under either of its two names', () => {
    expect([getToken({ token: 'a' }), getToken({ access_token: 'b' }), getToken({ token: 1 })]).toEqual([
      'a',
      'b',
      undefined,
    ])
  })
})
