import { ImageRun } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { createRequestKey, findImageProblem, getErrorFields, runImageSchema, toPortList } from './run-image-values.ts'

const values = { image: 'nginx:1.29', nodeId: '01a1fe69-35bc-702a-a798-000000000000', prefix: 'web', environment: '' }
const row = (internal: string, external: string) => ({ internal, external, protocol: 'tcp' as const })

describe('the form for running an image', () => {
  it('sends ports as numbers, and none for a row that publishes nothing', () => {
    expect(runImageSchema.parse({ ...values, ports: [row('80', '8080'), row('81', '')] }).ports).toEqual([
      { internal: 80, external: 8_080, protocol: 'tcp' },
      { internal: 81, external: null, protocol: 'tcp' },
    ])
  })

  it.each([
    ['', ''],
    ['0', '80'],
    ['80', '70000'],
    ['x', '80'],
  ])('refuses the ports "%s" and "%s"', (internal, external) => {
    expect(runImageSchema.safeParse({ ...values, ports: [row(internal, external)] }).success).toBe(false)
  })

  it('reads one variable per line, and refuses a line without a name', () => {
    const parse = (environment: string) => runImageSchema.safeParse({ ...values, ports: [], environment })
    expect(parse('A=1\r\n\n B = x=y').data?.environment).toEqual([
      { key: 'A', value: '1' },
      { key: 'B', value: ' x=y' },
    ])
    for (const text of ['A', '=1', 'A B=1']) expect(parse(text).success).toBe(false)
  })

  it('accepts references with a tag or a digest, and refuses other texts', () => {
    expect(findImageProblem('ghcr.io/acme/shop:2.0')).toBeNull()
    expect(findImageProblem(`nginx@sha256:${'a'.repeat(64)}`)).toBeNull()
    expect(findImageProblem('Not an image')).toMatch(/not the name of an image/)
  })

  it('finds the field of a port or a variable that the server names', () => {
    expect(getErrorFields([row('80', '8080')], 'environment.MODE')).toMatchObject({
      'ports[0].external': 'ports.0.external',
      'environment.MODE': 'environment',
    })
  })

  it('writes ports as the proposal reads them', () => {
    expect(
      toPortList([
        { internal: 80, protocol: 'tcp' },
        { internal: 53, protocol: 'udp' },
      ]),
    ).toBe('80,53/udp')
  })

  it('makes keys that the contract accepts, each of them different', () => {
    const keys = Array.from({ length: 100 }, createRequestKey)
    expect(new Set(keys).size).toBe(100)
    for (const key of keys) expect(ImageRun.shape.key.safeParse(key).success).toBe(true)
  })
})
