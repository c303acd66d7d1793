import { describe, expect, it } from 'vitest'
import { collectProblems } from './config-problem.ts'
import { finalConfig } from './final-config.ts'
import { getRoutes, normalizeHost, reportRepeatedRoutes, routesOverlap } from './routes.ts'

const route = (text: string) => {
  const slash = text.indexOf('/')
  return { host: normalizeHost(text.slice(0, slash)), path: text.slice(slash) }
}
const exposed = (name: string, domain: string, path?: string) => ({
  config: finalConfig({
    image: { name, expose: 'expose', routing: { domain, path } },
    layers: [],
    imageName: name,
    versionName: '1',
  }).config,
})

describe('normalizeHost', () => {
  it.each([
    ['App.Example.COM', 'app.example.com'],
    ['app.example.com.', 'app.example.com'],
    ['app.example.com:8443', 'app.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
    ['*.Example.com', '*.example.com'],
  ])('converts %s to %s', (host, normal) => expect(normalizeHost(host)).toBe(normal))
})

describe('routesOverlap', () => {
  it.each([
    ['a.example/', 'A.example./'],
    ['a.example/', 'a.example/deep/down'],
    ['a.example/a', 'a.example/a/b'],
    ['a.example/a', 'a.example/ab'],
    ['*.example/', 'a.example/'],
    ['*.example/', 'a.b.example/'],
    ['*.example/', '*.b.example/x'],
  ])('is true for %s and %s, in either order', (left, right) => {
    expect(routesOverlap(route(left), route(right))).toBe(true)
    expect(routesOverlap(route(right), route(left))).toBe(true)
  })

  it.each([
    ['a.example/', 'b.example/'],
    ['a.example/a', 'a.example/b'],
    ['*.example/', 'example/'],
    ['*.a.example/', 'b.example/'],
    ['*.example/', 'aexample/'],
  ])('is false for %s and %s', (left, right) => {
    expect(routesOverlap(route(left), route(right))).toBe(false)
    expect(routesOverlap(route(right), route(left))).toBe(false)
  })

  it('is true for a route without a host name and any other route with the path', () => {
    expect(routesOverlap({ host: null, path: '/api' }, route('a.example/'))).toBe(true)
    expect(routesOverlap({ host: null, path: '/api' }, route('a.example/web'))).toBe(false)
  })
})

describe('getRoutes', () => {
  it('returns one route per host, the default host if none is listed, and no routes if nothing is exposed', () => {
    expect(getRoutes({ expose: 'expose', routing: { domain: 'a.x, B.x', path: '/p' } }, 'd.x')).toEqual([
      { host: 'a.x', path: '/p' },
      { host: 'b.x', path: '/p' },
    ])
    expect(getRoutes({ expose: 'exposeWithTls' }, 'd.x')).toEqual([{ host: 'd.x', path: '/' }])
    expect(getRoutes({ expose: 'expose', routing: { path: '/p' } }, undefined)).toEqual([{ host: null, path: '/p' }])
    expect(getRoutes({ expose: 'none', routing: { domain: 'a.x' } }, 'd.x')).toEqual([])
  })
})

describe('reportRepeatedRoutes', () => {
  it('reports two instances with the same host name and path, and allows a longer path beside a shorter one', () => {
    const instances = [
      exposed('web', 'app.example.com'),
      exposed('api', 'app.example.com', '/api'),
      exposed('other', 'b.example.com,App.Example.com', '/'),
    ]
    expect(collectProblems((report) => reportRepeatedRoutes(instances, report))).toEqual([
      {
        property: 'instances[2].config.routing.domain',
        error: 'routesAreUnique',
        description: 'app.example.com/ is routed to web too: choose another host name or path',
      },
    ])
  })
})
