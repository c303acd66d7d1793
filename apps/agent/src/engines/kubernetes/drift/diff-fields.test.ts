import { describe, expect, test } from 'vitest'
import { diffFields } from './diff-fields.ts'

const toContainers = (...items: object[]) => ({ spec: { containers: items } })

describe('the fields that an apply would change', () => {
  test('are named by the keys of labels and of list items, in any order of the items', () => {
    const found = {
      metadata: { labels: { 'example.com/x': 'other' } },
      ...toContainers({ name: 'side', image: 'proxy' }, { name: 'web', image: 'other', args: ['a'] }),
    }
    const applied = {
      metadata: { labels: { 'example.com/x': 'wanted' } },
      ...toContainers({ name: 'web', image: 'wanted', args: ['a', 'b'] }, { name: 'side', image: 'proxy' }),
    }
    expect(diffFields(found, applied, undefined)).toEqual([
      { path: 'metadata.labels[example.com/x]', wanted: 'wanted', found: 'other' },
      { path: 'spec.containers[web].image', wanted: 'wanted', found: 'other' },
      { path: 'spec.containers[web].args', wanted: ['a', 'b'], found: ['a'] },
    ])
  })

  test('are named where they are missing, once for everything below them', () => {
    const applied = toContainers({ name: 'web', resources: { limits: { memory: '64Mi' } } })
    expect(diffFields(toContainers({ name: 'web' }), applied, toContainers({ name: 'web' }))).toEqual([
      { path: 'spec.containers[web].resources', wanted: { limits: { memory: '64Mi' } }, found: undefined },
    ])
    expect(diffFields({ spec: {} }, applied, undefined)).toHaveLength(1)
  })

  test('are none where the agent itself has set or added them', () => {
    const found = { replicas: 0, annotations: { 'dev.crux.replicas': '2', other: 'x' } }
    const applied = { replicas: 2, annotations: { other: 'x' } }
    expect(diffFields(found, applied, found)).toEqual([])
    expect(diffFields(found, applied, { annotations: { 'dev.crux.replicas': '2' } })).toEqual([
      { path: 'replicas', wanted: 2, found: 0 },
    ])
  })

  test('of ports are distinguished by number and protocol', () => {
    const toPorts = (...ports: object[]) => ({ ports })
    const dns = { port: 53, protocol: 'UDP', targetPort: 53 }
    const found = toPorts({ port: 53, protocol: 'TCP', targetPort: 1 }, dns)
    const applied = toPorts(dns, { port: 53, protocol: 'TCP', targetPort: 53 })
    expect(diffFields(found, applied, undefined)).toEqual([{ path: 'ports[53/TCP].targetPort', wanted: 53, found: 1 }])
  })

  test('are none of a selector that an earlier agent has set, and the whole one where another program has changed it', () => {
    const toSpec = (selector: object) => ({ spec: { selector } })
    const [earlier, today] = [toSpec({ name: 'web' }), toSpec({ name: 'web', project: 'one' })]
    expect(diffFields(earlier, today, earlier)).toEqual([])
    expect(diffFields(earlier, today, { spec: {} })).toEqual([
      { path: 'spec.selector', wanted: { name: 'web', project: 'one' }, found: { name: 'web' } },
    ])
  })
})
