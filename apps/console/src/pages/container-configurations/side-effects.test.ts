import { describe, expect, it } from 'vitest'
import { portChanges, volumeChanges } from './side-effects.ts'

const web = { id: 'a', internal: 8080 }
const admin = { id: 'b', internal: 9000 }
const data = { id: 'c', name: 'data', path: '/data' }

describe('what a removed row takes along', () => {
  it('clears the route and the metrics of a port that is gone', () => {
    const own = { ports: [web, admin], routing: { domain: 'shop', port: 8080 }, metrics: { enabled: true, port: 9000 } }
    expect(portChanges({ own, parent: null }, [admin])).toEqual([
      { field: 'ports', value: [admin] },
      { field: 'routing', value: { domain: 'shop', port: null } },
    ])
    expect(portChanges({ own, parent: null }, [web]).map((change) => change.field)).toEqual(['ports', 'metrics'])
  })

  it('leaves them where the layer below still has the port, or never had it from here', () => {
    const own = { ports: [web], routing: { port: 8080 } }
    expect(portChanges({ own, parent: { ports: [{ internal: 8080 }] } }, [])).toHaveLength(1)
    expect(portChanges({ own: { routing: { port: 8080 } }, parent: null }, [admin])).toHaveLength(1)
  })

  it('clears the import into a volume that is gone, and keeps one that was only changed', () => {
    const own = { volumes: [data], storage: { storageId: 's', bucket: 'b', path: 'data' } }
    expect(volumeChanges({ own, parent: null }, [])[1]).toEqual({
      field: 'storage',
      value: { storageId: 's', bucket: 'b', path: null },
    })
    expect(volumeChanges({ own, parent: null }, [{ ...data, path: '/srv' }])).toHaveLength(1)
  })
})
