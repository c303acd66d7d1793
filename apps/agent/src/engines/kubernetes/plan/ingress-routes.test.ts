import { describe, expect, test } from 'vitest'
import { listIngressRoutes } from './ingress-routes.ts'

const toSpec = (host: string | undefined, ...paths: string[]) => ({
  rules: [{ ...(host !== undefined && { host }), http: { paths: paths.map((path) => ({ path })) } }],
})

describe('listIngressRoutes', () => {
  test('reads hosts and paths, and every host name where there is none', () => {
    expect(listIngressRoutes(toSpec('A.Example.com', '/', '/a.b'))).toEqual([
      { host: 'a.example.com', path: '/' },
      { host: 'a.example.com', path: '/a.b' },
    ])
    expect(listIngressRoutes(toSpec(undefined, '/x'))).toEqual([{ host: null, path: '/x' }])
    expect(listIngressRoutes({ rules: [{ host: 'a.example.com' }] })).toEqual([{ host: 'a.example.com', path: '/' }])
  })

  test('takes a default backend for every host name', () => {
    expect(listIngressRoutes({ defaultBackend: { service: { name: 'web' } } })).toEqual([{ host: null, path: '/' }])
  })

  test.each([
    ['/a\\.b(/|$)(.*)', '/a.b'],
    ['/shop.*', '/shop'],
    ['/v[0-9]+/x', '/v'],
    ['^/x', '/'],
    ['(a|b)', '/'],
  ])('counts only the plain beginning of the pattern %s', (pattern, path) => {
    expect(listIngressRoutes(toSpec('a.example.com', pattern))).toEqual([{ host: 'a.example.com', path }])
  })

  test('has no routes of what is no spec', () => {
    for (const spec of [undefined, 'x', { rules: 3 }]) expect(listIngressRoutes(spec)).toEqual([])
  })
})
