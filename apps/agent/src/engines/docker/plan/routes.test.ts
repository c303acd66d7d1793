import { create } from '@bufbuild/protobuf'
import { ReleaseSchema } from '@crux/agent-protocol'
import type { Route } from '@crux/rules'
import { describe, expect, test } from 'vitest'
import { label, ownerLabels } from '../../labels.ts'
import type { ContainerSummary } from '../containers/container-engine.ts'
import { refuseRouteClashes, routesOfLabels } from './routes.ts'

const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'shop' }
const other = { ...owner, teamId: 'other' }
const rule = (text: string) => ({ 'traefik.http.routers.x.rule': text })

describe('routesOfLabels', () => {
  test.each<[string, Route[]]>([
    ['Host(`a.x`)', [{ host: 'a.x', path: '/' }]],
    ['Host(`a.x`) && PathPrefix(`/p`)', [{ host: 'a.x', path: '/p' }]],
    [
      '(Host(`A.x`) || Host(`b.x`)) && PathPrefix(`/p`)',
      [
        { host: 'a.x', path: '/p' },
        { host: 'b.x', path: '/p' },
      ],
    ],
    [
      'Host(`a.x`, "b.x:443")',
      [
        { host: 'a.x', path: '/' },
        { host: 'b.x', path: '/' },
      ],
    ],
    // Only one of the two hosts has the path, so both count with all paths.
    [
      'Host(`a.x`) || Host(`b.x`) && PathPrefix(`/p`)',
      [
        { host: 'a.x', path: '/' },
        { host: 'b.x', path: '/' },
      ],
    ],
    ['Host(`a.x`) && !PathPrefix(`/p`)', [{ host: 'a.x', path: '/' }]],
    ['PathPrefix(`/p`)', []],
    ['HostRegexp(`.+`)', []],
  ])('reads the rule %s of a container without an owner', (text, routes) =>
    expect(routesOfLabels(rule(text))).toEqual(routes),
  )

  test('reads a rule of our container without a host name, the old form of rules and names for TLS', () => {
    expect(routesOfLabels({ ...ownerLabels(owner), ...rule('PathPrefix(`/p`)') })).toEqual([{ host: null, path: '/p' }])
    expect(routesOfLabels({ 'traefik.frontend.rule': 'Host:a.x,b.x' })).toEqual([
      { host: 'a.x', path: '/' },
      { host: 'b.x', path: '/' },
    ])
    expect(routesOfLabels({ 'traefik.tcp.routers.db.rule': 'HostSNI(`db.x`)' })).toEqual([{ host: 'db.x', path: '/' }])
    expect(routesOfLabels({ 'traefik.tcp.routers.db.rule': 'HostSNI(`*`)' })).toEqual([])
  })

  test("returns no route where an image's own rule was emptied", () => {
    expect(routesOfLabels({ ...ownerLabels(owner), ...rule('') })).toEqual([])
  })

  test('returns no route where a label disables the proxy for the container', () => {
    expect(routesOfLabels({ ...rule('Host(`a.x`)'), 'traefik.enable': 'false' })).toEqual([])
  })
})

describe('refuseRouteClashes', () => {
  const release = create(ReleaseSchema, { owner, key: { deploymentId: 'd', number: 1 } })
  const instance = (full: string, path = '/') => ({ instanceId: full, full, routes: [{ host: 'a.x', path }] })
  const container = (labels: Record<string, string>): ContainerSummary => ({
    id: 'id',
    name: 'secret-name',
    labels,
    imageId: '',
    running: false,
    published: [],
    gated: [],
    hostNetwork: false,
  })
  const judge = (labels: Record<string, string>, leaving: string[] = []) =>
    refuseRouteClashes(
      { changing: [instance('shop-web', '/p')], staying: [] },
      [container(labels)],
      new Set(leaving),
      release,
    )
  const inUse = 'a.x/p is in use on this node: choose another host name or path'

  test('refuses a route of another owner or other software, running or stopped, and names neither', () => {
    expect(() => judge({ ...ownerLabels(other), ...rule('Host(`a.x`)') })).toThrow(inUse)
    expect(() => judge({ ...ownerLabels({ ...owner, prefix: 'b' }), ...rule('Host(`a.x`)') })).toThrow(inUse)
    expect(() => judge(rule('Host(`a.x`) && PathPrefix(`/p/deep`)'))).toThrow(inUse)
    expect(() => judge({ ...ownerLabels(other), ...rule('PathPrefix(`/`)') })).toThrow(inUse)
  })

  test('allows another path of the host and the routes of containers that the release replaces or created', () => {
    judge({ ...ownerLabels(other), ...rule('Host(`a.x`) && PathPrefix(`/q`)') })
    judge({ ...ownerLabels(other), ...rule('Host(`a.x`)') }, ['id'])
    judge({ ...ownerLabels(owner), [label.deployment]: 'd', [label.release]: '1', ...rule('Host(`a.x`)') })
  })

  test('lets containers of one owner share a host name with different paths and names the one with the same path', () => {
    judge({ ...ownerLabels(owner), ...rule('Host(`a.x`)') })
    expect(() => judge({ ...ownerLabels(owner), ...rule('Host(`a.x`) && PathPrefix(`/p`)') })).toThrow(
      'a.x/p is routed to secret-name',
    )
  })

  test('refuses two instances of a release with the same route whether they change or stay', () => {
    const changing = [instance('shop-web')]
    const refuse = (more: Parameters<typeof refuseRouteClashes>[0]) => () =>
      refuseRouteClashes(more, [], new Set(), release)
    const message = 'a.x/ is routed to shop-api of the same release too'
    expect(refuse({ changing: [...changing, instance('shop-api')], staying: [] })).toThrow(message)
    expect(refuse({ changing, staying: [instance('shop-api')] })).toThrow(message)
    refuse({ changing, staying: [instance('shop-api', '/api')] })()
  })
})
