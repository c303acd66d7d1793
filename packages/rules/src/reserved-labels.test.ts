import { describe, expect, it } from 'vitest'
import { labelDangers, reservedLabelProblems } from './reserved-labels.ts'

const labels = (...keys: string[]) => ({ dockerLabels: keys.map((key) => ({ key, value: 'x' })) })

describe('reservedLabelProblems', () => {
  it.each(['dev.crux.team', 'Dev.Crux.node', 'com.docker.compose.project', 'org.dyrectorio.cap', 'ORG.dyrectorio.x'])(
    'refuses %s for everybody',
    (key) =>
      expect(reservedLabelProblems(labels('a', key))).toEqual([
        expect.objectContaining({ property: 'dockerLabels[1].key', error: 'reserved' }),
      ]),
  )

  it('lets a row remove a reserved label that a weaker layer sets', () => {
    expect(reservedLabelProblems({ dockerLabels: [{ key: 'dev.crux.team', value: null }] })).toEqual([])
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
    'leaves the label %s to everybody',
    (key) => expect(labelDangers(labels(key))).toEqual([]),
  )

  it('lets a row remove a label that a weaker layer sets', () => {
    expect(labelDangers({ dockerLabels: [{ key: 'traefik.enable', value: null }] })).toEqual([])
  })

  it('reserves variables by which a proxy routes to admins, as variables and as secrets', () => {
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
