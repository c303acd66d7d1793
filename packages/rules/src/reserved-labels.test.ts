import { describe, expect, it } from 'vitest'
import { collectProblems } from './config-problem.ts'
import { checkReservedLabels, labelDangers } from './reserved-labels.ts'

const labels = (...keys: string[]) => ({ dockerLabels: keys.map((key) => ({ key, value: 'x' })) })

describe('checkReservedLabels', () => {
  it.each(['dev.crux.team', 'Dev.Crux.node', 'com.docker.compose.project', 'org.dyrectorio.cap', 'ORG.dyrectorio.x'])(
    'refuses %s for all roles',
    (key) =>
      expect(collectProblems((report) => checkReservedLabels(labels('a', key), report))).toEqual([
        expect.objectContaining({ property: 'dockerLabels[1].key', error: 'reserved' }),
      ]),
  )

  it('allows a row to remove a reserved label of a weaker layer', () => {
    const removed = { dockerLabels: [{ key: 'dev.crux.team', value: null }] }
    expect(collectProblems((report) => checkReservedLabels(removed, report))).toEqual([])
  })
})

describe('labelDangers', () => {
  it.each([
    'traefik.http.routers.x.rule',
    'Traefik.enable',
    'traefik',
    'caddy',
    'caddy_0.reverse_proxy',
    'com.centurylinklabs.watchtower.enable',
    'com.docker.swarm.task.id',
    'io.podman.annotations',
    'coolify.managed',
    'diun.enable',
    'ofelia.job-local.x.command',
    'co.elastic.logs/paths',
  ])('reserves the label %s to admins', (key) =>
    expect(labelDangers(labels('app.example/colour', key)).map(({ property }) => property)).toEqual([
      'dockerLabels[1].key',
    ]),
  )

  it.each(['com.example.traefik', 'traefikish', 'org.opencontainers.image.title', 'autoheal', 'tier'])(
    'allows the label %s to all members',
    (key) => expect(labelDangers(labels(key))).toEqual([]),
  )

  it('allows a row to remove a label of a weaker layer', () => {
    expect(labelDangers({ dockerLabels: [{ key: 'traefik.enable', value: null }] })).toEqual([])
  })

  it('reserves variables that a proxy reads for its routes to admins, as variables and as secrets', () => {
    expect(
      labelDangers({
        environment: [
          { key: 'VIRTUAL_HOST', value: 'a.example.com' },
          { key: 'HOST', value: 'a.example.com' },
        ],
        secrets: [{ key: 'LETSENCRYPT_HOST', required: false }],
      }).map(({ property }) => property),
    ).toEqual(['environment[0].key', 'secrets[0].key'])
  })
})
