import { describe, expect, test } from 'vitest'
import { createBackOff } from './link/link.ts'
import { readSettings } from './settings.ts'

const env = { CRUX_URL: 'https://crux.example.com', CRUX_NODE_ID: 'node-1' }

describe('readSettings', () => {
  test('uses the data directory also as the path that the engine sees unless another one is set', () => {
    expect(readSettings({ ...env, CRUX_DATA_DIR: '/srv/a/' })).toMatchObject({
      dataDir: '/srv/a',
      dataMountPath: '/srv/a',
      dockerHost: 'unix:///var/run/docker.sock',
    })
    expect(readSettings({ ...env, CRUX_DATA_DIR: '/srv/a', DATA_MOUNT_PATH: '/host/a' }).dataMountPath).toBe('/host/a')
  })

  test('sends no token in plain text to another machine unless a setting allows it', () => {
    expect(() => readSettings({ ...env, CRUX_URL: 'http://crux.example.com' })).toThrow(
      'CRUX_URL would send the token in plain text',
    )
    expect(readSettings({ ...env, CRUX_URL: 'http://crux.example.com', CRUX_INSECURE: 'true' }).insecure).toBe(true)
    expect(readSettings({ ...env, CRUX_URL: 'http://localhost:8000/x' }).server).toBe('http://localhost:8000')
  })

  test('reads the namespaces that an agent of a cluster is limited to, and refuses what is no name of one', () => {
    const cluster = { ...env, CRUX_ENGINE: 'kubernetes' }
    expect(readSettings(cluster).cluster).toEqual({
      kubeconfig: undefined,
      stateNamespace: undefined,
      namespaces: undefined,
    })
    expect(readSettings({ ...cluster, CRUX_NAMESPACES: 'shop, shop-staging,shop' }).cluster?.namespaces).toEqual([
      'shop',
      'shop-staging',
    ])
    for (const list of ['shop,', 'Shop', 'shop/../x'])
      expect(() => readSettings({ ...cluster, CRUX_NAMESPACES: list })).toThrow(/^CRUX_NAMESPACES/)
  })

  test('names the variable that is missing or wrong and never its value', () => {
    expect(() => readSettings({})).toThrow(/^CRUX_URL is required/)
    expect(() => readSettings({ ...env, CRUX_TOKEN: 'a-secret' })).toThrow(/^CRUX_TOKEN is not valid(?!.*a-secret)/)
  })
})

describe('the back-off of reconnects', () => {
  test('makes five attempts in the first second and never waits much longer than ten seconds', () => {
    const backOff = createBackOff({ random: () => 0.5 })
    const waits = Array.from({ length: 12 }, () => backOff.next())
    expect(waits.slice(0, 5)).toEqual([50, 100, 200, 400, 800])
    expect(waits.at(-1)).toBe(10_000)
    backOff.reset()
    expect(backOff.next()).toBe(50)
  })

  test('adds jitter to its waits', () => {
    expect(createBackOff({ random: () => 0 }).next()).toBe(38)
    expect(createBackOff({ random: () => 1 }).next()).toBe(63)
  })
})
