import { describe, expect, it } from 'vitest'
import { portChanges, volumeChanges } from './side-effects.ts'

const web = { id: 'a', internal: 8080 }
const admin = { id: 'b', internal: 9000 }
const image = { kind: 'image', nodeType: null } as const
const data = { id: 'c', name: 'data', path: '/data' }

describe('deleting a row', () => {
  it('clears the route and the metrics of a deleted port', () => {
    const own = { ports: [web, admin], routing: { domain: 'shop', port: 8080 }, metrics: { enabled: true, port: 9000 } }
    expect(portChanges({ ...image, own, parent: null }, [admin])).toEqual([
      { field: 'ports', value: [admin] },
      { field: 'routing', value: { domain: 'shop', port: null } },
    ])
    expect(portChanges({ ...image, own, parent: null }, [web]).map((change) => change.field)).toEqual([
      'ports',
      'metrics',
    ])
  })

  it('keeps the route and the metrics if a lower layer has the port, or the port was not from this layer', () => {
    const own = { ports: [web], routing: { port: 8080 } }
    expect(portChanges({ ...image, own, parent: { ports: [{ internal: 8080 }] } }, [])).toHaveLength(1)
    expect(portChanges({ ...image, own: { routing: { port: 8080 } }, parent: null }, [admin])).toHaveLength(1)
  })

  it('clears the import into a deleted volume, and keeps it if the volume only changed', () => {
    const own = { volumes: [data], storage: { storageId: 's', bucket: 'b', path: 'data' } }
    expect(volumeChanges({ own, parent: null }, [])[1]).toEqual({
      field: 'storage',
      value: { storageId: 's', bucket: 'b', path: null },
    })
    expect(volumeChanges({ own, parent: null }, [{ ...data, path: '/srv' }])).toHaveLength(1)
  })
})

describe('the first published port', () => {
  const instance = { kind: 'instance', nodeType: 'docker', own: {}, parent: null } as const
  const published = { ...web, external: 80 }
  const gate = { field: 'portGate', value: { enabled: true } }

  it('proposes to keep ports open on an instance of a Docker node', () => {
    expect(portChanges(instance, [published])).toContainEqual(gate)
  })

  it('proposes nothing for other layers and nodes, UDP, a second port, or if a layer sets it', () => {
    for (const [layers, port] of [
      [{ ...instance, kind: 'image', nodeType: null }, published],
      [{ ...instance, nodeType: 'k8s' }, published],
      [instance, web],
      [instance, { ...published, protocol: 'udp' }],
      [{ ...instance, parent: { ports: [{ internal: 443, external: 443 }] } }, published],
      [{ ...instance, own: { portGate: { enabled: false } } }, published],
      [{ ...instance, parent: { portGate: { enabled: false } } }, published],
    ] as unknown as [Parameters<typeof portChanges>[0], typeof published][])
      expect(portChanges(layers, [port])).not.toContainEqual(gate)
  })
})
